"""Mera's general transformation: fewer or more records with the same means and covariances."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from suffice.algebra.array import Array
from suffice.algebra.decomposition import new_directions
from suffice.errors import InfeasibleError, UsageError
from suffice.method.parameter import Count, Number, parameter
from suffice.method.synthetic import Synthetic, exact_step
from suffice.seed import Stream

MOST = 2**20
"""Records that are drawn at most: they are held in memory."""


@dataclass(frozen=True)
class ShareRule:
    """How records are dealt to groups."""

    allowed: str = (
        "one of size, exact, equal, or a number for each group (on the command line with commas between them)"
    )

    def read(self, value: object) -> str | tuple[float, ...]:
        if isinstance(value, str) and value in ("size", "exact", "equal"):
            return value
        numbers = () if isinstance(value, str) or not isinstance(value, Iterable) else tuple(map(Number(0).read, value))
        if not numbers or not sum(numbers):  # type: ignore[arg-type]
            raise ValueError
        return numbers  # type: ignore[return-value]

    def parse(self, text: str) -> str | tuple[float, ...]:
        parts = text.split(",")
        return self.read(text.strip() if len(parts) == 1 else [Number(0).parse(part) for part in parts])


@dataclass(frozen=True)
class Resize(Synthetic):
    """Draw m new records that have the means and the covariance matrix of the original ones.

    Y* = 1 mean' + sqrt(m) T* R,   R'R = S,   T*'T* = I,   T*'1 = 0         (3)-(4)

    **Promises** means, and variances and covariances with divisor n of the original and m of the release (so with n
    - 1 and m - 1 they are off by a factor), hence every regression among the columns. Nothing of the original but
    these is left: S has divisor n, and T* are the scores of m rows of normal numbers, secret directions uniform
    over all that exist. This is `Ipso` about the mean, drawn for m rows. With groups, all this in each of them, and
    overall exactly where every group has exactly its share of the records (`shares`). With weights, weighted moments
    are kept as plain ones: the records drawn all count alike. Columns change together: a number is confidential or
    left out, a category can only be a group; given and kept columns, bounds, whole numbers and edits are refused.

    m: how many records to draw, in each group one more than the independent columns of deviations at least
    shares: of the groups in these: by size, to the nearest record; exact, or a refusal that names an m that has them;
        equal; or a number for each group, in the order of the groups' values (these are shares, or records if they add
        up to m).

    Mera (1997), Theorem 3, with T = sqrt(m/n) H for m < n too: the printed sqrt(n/m) multiplies (3) by n/m and (4) by
    its square. The theorem asks for m >= p; where 1 is not in the span of the columns it takes m >= p + 1 = rank [1 Y]
    (one record has no variance). Its H "as in the proof" follows from n and m, so anyone can redo it: here it is drawn.

    >>> rng = np.random.default_rng(1)
    >>> Y = rng.exponential(size=(50, 2))
    >>> from suffice.seed import Seed
    >>> R = np.linalg.cholesky(np.cov(Y.T, bias=True)).T
    >>> Ystar = Resize(m=7).draw(Y.mean(axis=0), R, None, 7, Seed.for_tests(1).derive())
    >>> np.allclose(Ystar.mean(axis=0), Y.mean(axis=0)), np.allclose(np.cov(Ystar.T, bias=True), np.cov(Y.T, bias=True))
    (True, True)
    """

    keeps: ClassVar = ("mean", "covariance")
    independent: ClassVar = True
    references: ClassVar = ("Mera (1997), Theorem 3", "Langsrud (2019), equations (2)-(4)")

    m: int = parameter(Count(), f"how many records to draw, {MOST:,} at most")
    shares: str | tuple[float, ...] = parameter(
        ShareRule(), "which share of the records each group has", "size", added=True
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.m > MOST:
            raise UsageError(
                f"resize draws {MOST:,} records at most and m is {self.m:,}.\n"
                "Make several releases: together they have the same means and covariances."
            )

    @property
    def records(self) -> int:
        return self.m

    def portions(self, sizes: Array) -> Array:
        step = exact_step(sizes)
        if self.shares == "exact" and (step is None or self.m % step):
            near = (
                [] if step is None else [each for each in (self.m // step * step, (self.m // step + 1) * step) if each]
            )
            raise InfeasibleError(
                f"{len(sizes):,} groups cannot have exactly their shares of {self.m:,} records.\n"
                + (f"Ask for m = {' or '.join(f'{each:,}' for each in near)}, or" if near else "With weights, ask")
                + " for shares = size, which are exact to a record."
            )
        if isinstance(self.shares, str):
            return np.ones_like(sizes) if self.shares == "equal" else sizes
        if len(self.shares) != len(sizes):
            raise UsageError(
                f"resize has {len(self.shares)} shares and there are {len(sizes)} groups. Give one for each."
            )
        return np.array(self.shares)

    def least(self, mean: Array, R: Array) -> int:
        return len(R) + 1

    def draw(self, mean: Array, R: Array, model: None, count: int, stream: Stream) -> Array:
        return resized(mean, R, stream.normals(0, count, len(R)))

    @classmethod
    def examples(cls) -> tuple[Resize, ...]:
        return cls(m=40), cls(m=400), cls(m=80, shares="equal")


def resized(mean: Array, R: Array, Z: Array) -> Array:
    """len(Z) records with this mean and the covariance matrix R'R.

    Y* = 1 mean' + sqrt(m) T* R                                       (3)-(4)

    >>> Y = resized(np.array([5.0]), np.array([[2.0]]), np.array([[0.3], [-1.0], [2.2]]))
    >>> float(Y.mean().round(12)), float(Y.std().round(12))
    (5.0, 2.0)
    """
    m, r = len(Z), len(R)
    if Z.shape[1] < r:
        raise UsageError(f"resize needs {r} random columns and Z has {Z.shape[1]}.")
    T = new_directions(Z[:, :r], np.ones((m, 1))) if m else np.empty((0, 0))
    if T.shape[1] < r:
        raise InfeasibleError(
            f"Resize needs {r + 1} records at least and {m} are asked for.\n"
            f"  columns {len(mean)} . independent deviations from the mean {r}\n"
            "Ask for more records, merge small groups, or leave columns out."
        )
    return np.asarray(mean + np.sqrt(m) * T @ R)
