"""Small strata by formulas: all of them at once as far as sums go, then each on its own rows.

Many small groups would spend their time on passes and factors of their own. Here the moments of all of them are taken
in one go, and a formula is given the rows of each, with X made orthonormal there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags, constant
from suffice.algebra.decomposition import GQR, RANK, gqr, rest
from suffice.algebra.isometry import NOISE
from suffice.algebra.moments import Spread
from suffice.design.design import Design
from suffice.design.profile import COARSE, HUGE, TINY
from suffice.method.isometric import Isometric
from suffice.method.masked import finite
from suffice.protection.aligned import AlignedBlock, Looks
from suffice.protection.protected import Stratum
from suffice.rows.rows import BLOCK, Block
from suffice.seed import Stream

SMALL = BLOCK
"""Records of a small stratum, at most."""


@dataclass(frozen=True, repr=False)
class SmallStrata:
    """Strata of one design, one behind the other: W = [X Y], the weights, and where each begins and ends."""

    design: Design
    W: Array
    w: Array | None
    first: NDArray[np.intp]
    last: NDArray[np.intp]

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        return self.last - self.first

    @cached_property
    def _label(self) -> NDArray[np.intp]:
        return np.repeat(np.arange(len(self.first)), self.sizes)

    def _total(self, A: Array) -> Array:
        return np.add.reduceat(A, self.first)

    @cached_property
    def low(self) -> Array:
        return np.minimum.reduceat(self.W, self.first)

    @cached_property
    def high(self) -> Array:
        return np.maximum.reduceat(self.W, self.first)

    @cached_property
    def weight(self) -> Array:
        return self.sizes.astype(np.float64) if self.w is None else self._total(self.w)

    @cached_property
    def mean(self) -> Array:
        sums = self._total(self.W if self.w is None else self.W * self.w[:, None])
        return np.clip(sums / self.weight[:, None], self.low, self.high)

    @cached_property
    def apart(self) -> Array:
        """W about the means of each stratum, or about zero where 1 is not in the span of X."""
        if not self.design.intercept:
            return self.W
        centre = self.mean.copy()
        centre[:, 0] = 0.0
        return self.W - centre[self._label]

    @cached_property
    def squares(self) -> Array:
        about = self.W - self.mean[self._label]
        about *= about
        return self._total(about if self.w is None else about * self.w[:, None])

    @cached_property
    def scale(self) -> Array:
        """Root mean squares about the centre; infinite for what does not vary."""
        sd = np.sqrt(self.squares / self.weight[:, None])
        centre = self.mean if self.design.intercept else np.zeros_like(self.mean)
        shift = self.mean - centre
        if self.design.intercept:
            shift[:, 0] = self.mean[:, 0]
        about = np.sqrt(sd**2 + shift**2)
        return np.where(constant(about, self._size), np.inf, about)

    @property
    def _size(self) -> Array:
        return np.maximum(np.abs(self.low), np.abs(self.high))

    def plain(self) -> Flags:
        """Strata whose numbers leave no doubt; the others are looked at one by one, and refused with their reason."""
        m = self.design.m
        with np.errstate(all="ignore"):
            fine = np.isfinite(self.low + self.high).all(axis=1) & (self._size < HUGE).all(axis=1)
            fine &= np.isfinite(self.squares).all(axis=1)
            wide = self.high - self.low
            fine &= ~((wide > 0) & (wide < TINY)).any(axis=1)
            sd = np.sqrt(self.squares / self.weight[:, None])[:, m:]
            digits = np.where(wide[:, m:] == 0, 0.0, np.finfo(np.float64).eps * self._size[:, m:] / sd)
            fine &= (digits <= COARSE).all(axis=1)
        if self.w is not None:
            fine &= np.minimum.reduceat(self.w, self.first) > 0
        return np.asarray(fine & (self.sizes > 1))

    def spread(self, i: int) -> Spread:
        """Of the confidential columns of a stratum."""
        of = slice(self.design.m, None)
        known = self.mean[i, of], self.squares[i, of], self.low[i, of], self.high[i, of]
        return Spread(int(self.sizes[i]), float(self.weight[i]), *known)

    def frame(self, i: int) -> tuple[Array, Array, Array | None, GQR]:
        """Y about its means, root weights and the orthonormal X of one stratum, rows times their root weights."""
        n, m, rows = int(self.sizes[i]), self.design.m, slice(self.first[i], self.last[i])
        root = None if self.w is None else np.sqrt(self.w[rows] * (n / self.weight[i]))[:, None]
        scale = self.scale[i, :m]
        A, Y = self.apart[rows, :m] / scale, self.apart[rows, m:]
        if root is not None:
            A, Y = A * root, Y * root
        units = np.where(np.isinf(scale), 1.0, scale)
        noise = NOISE * np.maximum(1.0, self._size[i, :m] / units)
        found = gqr(A, np.maximum(RANK, noise))
        return found.R * units, Y, root, found

    def learnt(self, i: int) -> Stratum:
        """One stratum as it is: nothing is released of it."""
        given, Y, _, found = self.frame(i)
        return self._stratum(i, given, found, rest(Y, found.Q), np.zeros_like(Y), slice(0, 0))

    def solved(self, i: int, method: Isometric, stream: Stream, looks: Looks, sampled: int) -> tuple[Stratum, Array]:
        """One stratum: the formula on its own rows, and Y*."""
        given, Yc, root, found = self.frame(i)
        n, X = len(Yc), found.Q
        Z = stream.normals(0, n, method.draws(self.design.k))
        made = method.mask(X, Yc, Z if root is None else Z * root, n)
        finite(made.Ystar, Yc.shape, method.name)
        E, Estar = rest(Yc, X), rest(made.Ystar, X)
        change = np.where(E.any(axis=0), made.Ystar - Yc, 0.0)  # what X explains, and constants, stay bit for bit
        change, U, w = (change, X, None) if root is None else (change / root, X / root, root[:, 0] ** 2)
        Y = self.W[self.first[i] : self.last[i], self.design.m :]
        both = AlignedBlock(Block(0, {}), Y, change, Y + change, U, w)
        seen = {name: measure.of(both) for name, measure in looks.stratum(np.eye(X.shape[1])).items()}
        some = np.sort(stream.generator("sample").choice(n, min(n, sampled), replace=False))
        return replace(self._stratum(i, given, found, E, Estar, some), seen=seen, remarks=made.remarks), Y + change

    def stacked(
        self, method: Isometric, places: NDArray[np.intp], streams: Sequence[Stream], looks: Looks, sampled: int
    ) -> list[tuple[Stratum, Array]]:
        """Several strata of one size at once, if their columns of X and Y are plainly independent in each."""
        m, n, g = self.design.m, int(self.sizes[places[0]]), len(places)
        rows = self.first[places][:, None] + np.arange(n)
        scale, root = self.scale[places, None, :m], None
        A, Yc, Y = self.apart[rows, :m] / scale, self.apart[rows, m:], self.W[rows, m:]
        Z = np.stack([stream.normals(0, n, method.draws(self.design.k)) for stream in streams])
        if self.w is not None:
            root = np.sqrt(self.w[rows] * (n / self.weight[places])[:, None])[..., None]
            A, Yc, Z = A * root, Yc * root, Z * root
        noise = NOISE * np.maximum(1.0, self._size[places, :m] / scale[:, 0])
        found = gqr(A, np.maximum(RANK, noise))
        X = found.Q
        Ystar = finite(method.solve(X, Yc, Z, n), Yc.shape, method.name)
        E, Estar = rest(Yc, X), rest(Ystar, X)
        change = Ystar - Yc if root is None else (Ystar - Yc) / root
        U, w = (X, None) if root is None else (X / root, (root * root).reshape(-1))
        released = Y + change
        before, moved, after, U = (each.reshape(g * n, -1) for each in (Y, change, released, U))
        both = AlignedBlock(Block(0, {}), before, moved, after, U, w)
        small = np.linalg.qr(np.concatenate([E, Estar], axis=-1), mode="r") if n > 2 * self.design.k else None
        given, k = found.R * scale, self.design.k
        made = []
        for i, place in enumerate(places):
            one = E[i], Estar[i]
            some = np.sort(streams[i].generator("sample").choice(n, min(n, sampled), replace=False))
            known = self.spread(place), self._effective(place), found.rank, found.pivots, given[i]
            small_E, small_Estar = one if small is None else (small[i][:, :k], small[i][:, k:])
            sample = one[0][some], one[1][some]
            made.append((Stratum(self.design, *known, small_E, small_Estar, sample, {}), released[i]))
        for name, measure in looks.stratum(np.eye(m)).items():  # the whole stack's, told by the stratum of its peak
            value = measure.of(both)
            for i, share in enumerate(measure.parts(value, g, n)):
                made[i][0].seen[name] = share  # type: ignore[index]
        return made

    def _effective(self, i: Any) -> float | None:
        if self.w is None:
            return None
        w = self.w[self.first[i] : self.last[i]]
        return float(w.sum() ** 2 / (w @ w))

    def _stratum(self, i: int, given: Array, found: GQR, E: Array, Estar: Array, some: Any) -> Stratum:
        known = self.spread(i), self._effective(i), found.rank, found.pivots, given
        return Stratum(self.design, *known, *_small(E, Estar), (E[some], Estar[some]), {})


def _small(E: Array, Estar: Array) -> tuple[Array, Array]:
    """The factor of both residuals together, where they have more rows than columns."""
    k = E.shape[1]
    if len(E) <= 2 * k:
        return E, Estar
    R = np.asarray(np.linalg.qr(np.hstack([E, Estar]), mode="r"))
    return R[:, :k], R[:, k:]
