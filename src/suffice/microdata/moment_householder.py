"""Mera's reflection with third moments and bounds kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from suffice.algebra.array import Array
from suffice.algebra.decomposition import gqr, scores, split
from suffice.algorithms.reflection.direction import aimed
from suffice.algorithms.reflection.equations import ThirdEquations, solved
from suffice.errors import InfeasibleError
from suffice.method.masked import Masked
from suffice.method.parameter import Number, parameter
from suffice.method.records import Records
from suffice.method.recordwise import Recordwise
from suffice.progress import Progress
from suffice.seed import Stream

STARTS = 20
"""Random starts before the data are found to allow none."""
LEAST, WIDE = 0.01, 2.0
"""A record at a limit may go so far, and one that no limit is near, in standard deviations of epsilon."""


@dataclass(frozen=True)
class MomentHouseholder(Recordwise):
    """Reflect the residuals across a secret direction that leaves third moments, and all bounds, as they are.

    y*_ij = y_ij - lambda_j eps_i,   sum_i y*_ij y*_ik y*_il = sum_i y_ij y_ik y_il       Remark 2

    The projection of eps on the residuals is drawn first, so that every column changes by at least `change`: it decides
    lambda. The p (p + 1) (p + 2) / 6 equations, of which p (p + 1) / 2 are then left, are solved for the rest of eps
    by Gauss-Newton from random starts.

    **Promises** means, covariances, every regression on the given columns, and third moments of the confidential
    columns: regressions among these with squares and interactions. Bounds and edits hold in every record. Means stay
    without an intercept too, as third moments are about them. Third moments with given columns are not promised.
    What `Householder` gives away this gives away too. It starts from the original: after a method whose rows have
    other third moments, the certificate does not hold.

    change: how far every column moves at least, root mean square, in residual standard deviations; what can be asked
        for is said at `Householder`

    Mera (1997), Theorem 1, Remark 2 and section 3.5.

    >>> from suffice.seed import Seed
    >>> y = np.random.default_rng(1).exponential(size=(60, 1))
    >>> records, stream = Records(np.ones((60, 1)), y, y), Seed.for_tests(1).derive("doctest")
    >>> made = MomentHouseholder(change=0.5).mask(records, stream).Ystar
    >>> [bool(np.isclose((made**power).mean(), (y**power).mean())) for power in (1, 2, 3, 4)]
    [True, True, True, False]
    >>> bool(np.std(made - y) >= 0.5 * np.std(y))
    True
    """

    keeps: ClassVar = ("mean", "covariance", "fit", "third-moment", "limits")
    references: ClassVar = ("Mera (1997), Remark 2",)

    change: float = parameter(
        Number(0, 2**0.5, closed=False), "how far every column moves at least, in residual standard deviations", 0.5
    )

    def mask(self, records: Records, stream: Stream, progress: Progress | None = None) -> Masked:
        found = self.reflect(records, stream, progress)
        return Masked(found.Ystar, found.remarks())

    def reflect(self, records: Records, stream: Stream, progress: Progress | None = None) -> Reflection:
        """The release, and how many starts it took."""
        mirror = Mirror.of(records)
        if not mirror.E.any():
            return Reflection(records.Y.copy(), 0, 0, ())
        mirror.check()
        lost = left = 0
        for start in range(STARTS):
            eps = self._reflected(mirror, stream.generator("start", start))
            if progress is not None:
                progress("reflecting", start + 1, STARTS)
            if eps is None:
                lost += 1
                continue
            Ystar = mirror.release(eps)
            if records.limits is None or not records.limits.broken(Ystar).any():
                return Reflection(Ystar, lost, left, mirror.change(Ystar))
            left += 1
        raise self._none(mirror, lost, left)

    def _reflected(self, mirror: Mirror, generator: np.random.Generator) -> Array | None:
        a = aimed(mirror.W, generator.standard_normal(len(mirror.W)), self.change)
        equations = mirror.equations(a)
        toward, room = mirror.T @ a, mirror.room(a)
        noise = generator.standard_normal(len(room)) if mirror.records.limits is None else _either(generator, len(room))
        noise = noise * room
        rest = np.sqrt((1 - a @ a) / np.average(noise**2, weights=mirror.w))
        return solved(equations, toward + rest * noise, room)

    def _none(self, mirror: Mirror, lost: int, left: int) -> InfeasibleError:
        return InfeasibleError(
            f"{type(self).__name__} found no reflection in {STARTS} starts.\n"
            f"  third moments not reached {lost} . bounds or edits left {left} . records {mirror.records.n}\n"
            "Ask for a smaller change, mask fewer variables together, or use rotate, which keeps bounds."
        )

    @classmethod
    def examples(cls) -> tuple[MomentHouseholder, ...]:
        return cls(change=0.3), cls(change=0.35)


@dataclass(frozen=True, repr=False)
class Reflection:
    """A release by reflection: how many starts did not arrive, or left the limits, and how far each column moved."""

    Ystar: Array
    lost: int
    left: int
    change: tuple[float, ...]

    def remarks(self) -> tuple[str, ...]:
        said = f"Start {self.lost + self.left + 1} of {STARTS} at most; before it {self.lost} did not reach the third "
        moved = ", ".join(f"{each:.3f}" for each in self.change)
        return (
            said + f"moments and {self.left} left bounds or edits.",
            f"change of the residuals in their standard deviations, variable by variable: {moved}",
        )


@dataclass(frozen=True, repr=False)
class Mirror:
    """A records in the coordinates of the equations: means over records are means by weight.

    X, T: the given columns and 1, orthogonal, of mean square one, and the scores of the residuals E = T W
    S: centred columns, uncorrelated and of mean square one
    w: weights that add up to one
    """

    records: Records
    w: Array
    X: Array
    E: Array
    T: Array
    W: Array
    S: Array

    @classmethod
    def of(cls, records: Records) -> Mirror:
        w = np.full(records.n, 1 / records.n) if records.w is None else records.w / records.w.sum()
        root = np.sqrt(w)[:, None]
        per = np.where(root > 0, root, np.inf)  # a record of weight zero counts nowhere
        X = gqr(np.hstack([root, root * records.X])).Q  # means stay, intercept or not: third moments are about them
        E = split(root * records.Y, X)[1]
        T, W = scores(E[:, E.any(axis=0)])
        return cls(records, w, X / per, E, T / per, W, gqr(split(root * records.Y, root)[1]).Q / per)

    def check(self) -> None:
        """Refuses data with more equations than free directions."""
        p = self.S.shape[1]
        free, needed = int((self.w > 0).sum()) - self.X.shape[1] - self.T.shape[1] - 1, p * (p + 1) // 2
        if free < needed:
            raise InfeasibleError(
                f"Third moments are {needed} equations and the data leave {max(free, 0)} free directions.\n"
                f"  records {self.records.n} . independent columns of X {self.X.shape[1]} . confidential "
                f"{self.records.Y.shape[1]}\nMask fewer variables together, or use fewer given terms."
            )

    def equations(self, a: Array) -> ThirdEquations:
        """What eps must satisfy when its projection on the residuals is a."""
        mu = 2 * (self.S * self.w[:, None]).T @ (self.T @ a)
        turn = np.linalg.qr(np.column_stack([mu, np.eye(len(mu))]))[0]  # the first axis along mu
        s, c = self.S @ (mu / np.linalg.norm(mu)), float(np.linalg.norm(mu))
        S = self.S @ turn[:, 1:]
        k, l = np.triu_indices(S.shape[1])  # noqa: E741
        L = np.hstack([self.X, self.T, c * S[:, k] * S[:, l]])
        b = np.concatenate([np.zeros(self.X.shape[1]), a, np.zeros(len(k))])
        return ThirdEquations(L, b, s, S, c, self.w)

    def room(self, a: Array) -> Array:
        """How far eps_i may go from (T a)_i to either side before a limit is met."""
        if self.records.limits is None:
            return np.ones(self.records.n)
        limits, Y = self.records.limits, self.records.Y
        toward, lam = self.T @ a, np.zeros(Y.shape[1])
        lam[self.E.any(axis=0)] = 2 * a @ self.W
        now = Y - toward[:, None] * lam
        gaps = [now - limits.low, limits.high - now, limits.rhs - now @ limits.C.T]
        steps = [np.abs(lam), np.abs(lam), np.abs(limits.C @ lam)]
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.hstack([np.where(each > 0, gap / each, np.inf) for gap, each in zip(gaps, steps, strict=True)])
        return np.asarray(np.clip(shares.min(axis=1), LEAST, WIDE))

    def release(self, eps: Array) -> Array:
        """Y* = Y - eps lambda' with eps made orthogonal to X, and of mean square one, to the last digit."""
        root = np.sqrt(self.w)[:, None]
        u = split(root * eps[:, None], root * self.X)[1]
        u = u / np.linalg.norm(u)
        lam = 2 * u.T @ self.E
        moved = np.divide(u, root, out=np.zeros_like(u), where=root > 0)
        still = eps[:, None]  # weight zero: moved all the same
        return np.asarray(self.records.Y - np.where(root > 0, moved, still) * lam)

    def change(self, Ystar: Array) -> tuple[float, ...]:
        """How far each column that varies moved, in residual standard deviations."""
        varying = self.E.any(axis=0)
        moved = np.linalg.norm(np.sqrt(self.w)[:, None] * (Ystar - self.records.Y)[:, varying], axis=0)
        return tuple((moved / np.linalg.norm(self.E[:, varying], axis=0)).tolist())


def _either(generator: np.random.Generator, n: int) -> Array:
    """Up or down, a little uneven: of all noise of one size this stays nearest."""
    return np.where(generator.random(n) < 0.5, -1.0, 1.0) * generator.uniform(0.7, 1.0, n)
