"""How much the records of a walk still follow the original, and how much of that is chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algebra.canonical import null
from suffice.algebra.decomposition import RANK, split
from suffice.method.records import Records

SAMPLE = 2000
"""Records among which nearest ones are looked for."""
AT_ONCE = 128
"""Of which so many are compared at once, so that distances stay near the processor."""
DRAWS = 30
"""Files of new residuals, for the records that chance links."""


@dataclass(frozen=True, repr=False)
class Likeness:
    """How released records follow the original after the given columns: correlations, and records linked.

    sqrt(w) (Y - Yhat) = T W  of the original; a release with the same moments has T* = sqrt(w) Y* W^+, up to what T
    does not see, so that the canonical correlations are the singular values of T'T* = (T' sqrt(w) Y*) W^+.

    sample, values, fitted: rows among which records are linked, their original values in standard deviations, and the
    part of these that the given columns tell.
    """

    T: Array
    weighed: Array
    W: Array
    inverse: Array
    nu: int
    sample: NDArray[np.int64]
    values: Array
    fitted: Array
    sd: Array

    @classmethod
    def of(cls, task: Records) -> Likeness:
        root = np.ones(task.n) if task.w is None else np.sqrt(task.w)
        Yhat, E = split(root[:, None] * task.original, root[:, None] * task.X)
        size = np.linalg.norm(E, axis=0)
        size[size == 0] = 1.0
        Q, R = np.linalg.qr(E / size)
        U, s, Vt = np.linalg.svd(R)
        p = int((s > RANK * s.max(initial=0.0)).sum())
        W = s[:p, None] * Vt[:p] * size
        inverse = Vt[:p].T / s[:p] / size[:, None]
        T = Q @ U[:, :p]
        weighed = T if task.w is None else root[:, None] * T
        sample = _spread(np.flatnonzero(root > 0))
        sd = task.original.std(axis=0)
        sd[sd == 0] = np.inf
        fitted = Yhat[sample] / root[sample, None] / sd
        return cls(T, weighed, W, inverse, _nu(task), sample, task.original[sample] / sd, fitted, sd)

    def against(self, Y: Array) -> Array:
        """T'T*: the correlations of every original score with every released one."""
        return np.asarray(self.weighed.T @ Y @ self.inverse)

    def canonical(self, Y: Array) -> float:
        """The largest canonical correlation of original and released residuals."""
        return float(np.linalg.svd(self.against(Y), compute_uv=False).max(initial=0.0))

    def null(self, generator: np.random.Generator) -> float:
        """The canonical correlation that unrelated residuals stay below."""
        return null(self.T, self.T, self.nu, generator)

    def correlations(self, Y: Array) -> Array:
        """Per confidential column: the correlation of its original and released residuals."""
        size, followed = self.sizes, (self.W * (self.against(Y) @ self.W)).sum(axis=0)
        return np.asarray(np.divide(followed, size, out=np.zeros_like(size), where=size > 0))

    @property
    def sizes(self) -> Array:
        """Per column: the sum of its squared residuals."""
        return np.asarray((self.W * self.W).sum(axis=0))

    def linked(self, Y: Array) -> int:
        """Of sampled records: those whose nearest released record, in standard deviations, is their own."""
        return self._own(Y[self.sample] / self.sd)

    def chance(self, generator: np.random.Generator) -> int:
        """How many records new residuals link, about: the kept fit alone links some."""
        new = self.W / self.sd / np.sqrt(max(len(self.T), 1))
        drawn = (generator.standard_normal((len(self.sample), len(new))) @ new for _ in range(DRAWS))
        return round(sum(self._own(self.fitted + E) for E in drawn) / DRAWS)

    def _own(self, B: Array) -> int:
        """How many of these records are the nearest to their own original values, some rows at a time."""
        half, across, own = 0.5 * (B * B).sum(axis=1), np.ascontiguousarray(B.T), 0
        for first in range(0, len(B), AT_ONCE):
            part = self.values[first : first + AT_ONCE]
            away = half - part @ across  # half the squared distances, up to what a row has in common
            own += int((away.argmin(axis=1) == np.arange(first, first + len(part))).sum())
        return own

    def rigid(self, Y: Array, above: float) -> tuple[tuple[int, ...], ...]:
        """For every direction that the release still follows: the columns that it consists of, most first."""
        U, s, _ = np.linalg.svd(self.against(Y))
        size = np.linalg.norm(self.W, axis=0)
        parts = np.abs(U.T @ self.W) / np.where(size > 0, size, 1.0)
        return tuple(_leading(part) for part, each in zip(parts, s, strict=True) if each > above)


def _leading(part: Array) -> tuple[int, ...]:
    order = np.argsort(-part, kind="stable")
    return tuple(int(j) for j in order if part[j] >= 0.7 * part.max())


def _spread(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """At most SAMPLE of these rows, evenly."""
    return rows[np.linspace(0, len(rows) - 1, min(len(rows), SAMPLE)).astype(np.int64)] if len(rows) else rows


def _nu(task: Records) -> int:
    """Dimensions that the given columns leave, of the effective number of records."""
    records = task.n
    if task.w is not None:
        squares = float(task.w @ task.w)
        records = int(float(task.w.sum()) ** 2 / squares) if squares else 0
    return records - int(task.X.shape[1])
