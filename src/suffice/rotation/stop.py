"""When a walk has gone far enough: how much the records still follow the original, and how much is chance."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.decomposition import RANK, split
from suffice.guards.canonical_correlation import chance
from suffice.task import Task

Array = NDArray[np.float64]

WINDOW, PATIENCE, FALL = 20, 200, 0.05
"""A correlation, averaged over WINDOW sweeps, that fell by less than FALL in PATIENCE sweeps has stopped."""
SAMPLE, LINKED = 2000, 2
"""Of so many records, this many linked ones are at most twice what chance links."""
SHUFFLES, WORK = 999, 2e7
"""At most so many permutations for the null, fewer where rows times permutations would be above WORK."""


@dataclass(frozen=True, repr=False)
class Likeness:
    """How released records follow the original after the given columns: canonical and plain correlations.

    sqrt(w) (Y - Yhat) = T W  of the original; a release with the same moments has T* = sqrt(w) Y* W^+, up to what T
    does not see, so that the canonical correlations are the singular values of T'T* = (T' sqrt(w) Y*) W^+.
    """

    root: Array
    T: Array
    weighed: Array
    W: Array
    inverse: Array
    rank: int
    sample: NDArray[np.int64]
    fitted: Array
    residual: Array

    @classmethod
    def of(cls, task: Task) -> Likeness:
        root = np.ones(task.n) if task.w is None else np.sqrt(task.w)
        Yhat, E = split(root[:, None] * task.original, root[:, None] * task.X)
        sample = np.linspace(0, task.n - 1, min(task.n, SAMPLE)).astype(np.int64)
        size = np.linalg.norm(E, axis=0)
        size[size == 0] = 1.0
        Q, R = np.linalg.qr(E / size)
        U, s, Vt = np.linalg.svd(R)
        p = int((s > RANK * s.max(initial=0.0)).sum())
        W = s[:p, None] * Vt[:p] * size
        inverse = Vt[:p].T / s[:p] / size[:, None]
        T = Q @ U[:, :p]
        weighed = T if task.w is None else root[:, None] * T
        return cls(root, T, weighed, W, inverse, task.X.shape[1], sample, Yhat[sample], E[sample])

    def against(self, Y: Array) -> Array:
        """T'T*: the correlations of every original score with every released one."""
        return np.asarray(self.weighed.T @ Y @ self.inverse)

    def canonical(self, Y: Array) -> float:
        """The largest canonical correlation of original and released residuals."""
        return float(np.linalg.svd(self.against(Y), compute_uv=False).max(initial=0.0))

    def correlations(self, Y: Array) -> Array:
        """Per confidential column: the correlation of its original and released residuals."""
        size = (self.W * self.W).sum(axis=0)
        followed = (self.W * (self.against(Y) @ self.W)).sum(axis=0)
        return np.asarray(np.divide(followed, size, out=np.zeros_like(size), where=size > 0))

    def linked(self, Y: Array) -> int:
        """Of sampled records: those whose nearest released residuals, in standard deviations, are their own."""
        size = np.linalg.norm(self.W, axis=0)
        size[size == 0] = np.inf
        A = self.residual / size
        B = (self.root[self.sample, None] * Y[self.sample] - self.fitted) / size
        away = (B * B).sum(axis=1) - 2.0 * A @ B.T  # squared distances, up to what a row has in common
        return int((away.argmin(axis=1) == np.arange(len(A))).sum())

    def null(self, generator: np.random.Generator) -> float:
        """What unrelated records reach: permutations of the original, or new residuals, whichever is more."""
        n = len(self.T)
        shuffles = int(np.clip(WORK // max(n, 1), 20, SHUFFLES))
        reached = (self.T.T @ self.T[generator.permutation(n)] for _ in range(shuffles))
        most = max((float(np.linalg.svd(C, compute_uv=False).max(initial=0.0)) for C in reached), default=0.0)
        return max(most, chance(self.T.shape[1], n - self.rank))

    def rigid(self, Y: Array, above: float) -> tuple[tuple[int, ...], ...]:
        """For every direction that the release still follows: the columns that it consists of, most first."""
        U, s, _ = np.linalg.svd(self.against(Y))
        size = np.linalg.norm(self.W, axis=0)
        parts = np.abs(U.T @ self.W) / np.where(size > 0, size, 1.0)
        return tuple(_leading(part) for part, each in zip(parts, s, strict=True) if each > above)


def _leading(part: Array) -> tuple[int, ...]:
    order = np.argsort(-part, kind="stable")
    return tuple(int(j) for j in order if part[j] >= 0.7 * part.max())


@dataclass
class Course:
    """The canonical correlation and the linked records after every sweep, and whether the walk has arrived.

    It has arrived when both are at chance, after twice the sweeps that brought the correlation inside its null; or
    when the correlation has stopped falling.
    """

    null: float
    canonical: list[float] = field(default_factory=list)

    def note(self, canonical: float) -> None:
        """After one more sweep."""
        self.canonical.append(canonical)

    @property
    def sweeps(self) -> int:
        return len(self.canonical)

    @property
    def inside(self) -> int | None:
        """The first sweep after which the correlation was inside its null."""
        return next((i for i, each in enumerate(self.canonical, 1) if each <= self.null), None)

    def reason(self, likeness: Likeness, Y: Array) -> str | None:
        """Why to stop at Y, or None."""
        if self._inside_for_long() and likeness.linked(Y) <= LINKED:
            return "the original is followed by chance only"
        if self._stalled():
            return "the canonical correlation has stopped falling"
        return None

    def _inside_for_long(self) -> bool:
        inside = self.inside
        return inside is not None and self.sweeps >= 2 * inside and self.canonical[-1] <= self.null

    def _stalled(self) -> bool:
        if self.sweeps < WINDOW + PATIENCE:
            return False
        before = self.canonical[-WINDOW - PATIENCE : -PATIENCE]
        return sum(self.canonical[-WINDOW:]) > (1 - FALL) * sum(before)
