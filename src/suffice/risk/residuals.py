"""Residuals before and after: what is left beside all that is kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Self

import numpy as np

from suffice.algebra.array import Array
from suffice.algebra.decomposition import RANK, split
from suffice.algebra.factor import RFactor
from suffice.algebra.group_moments import Cells, Grouping, Pairs, looked_up
from suffice.design.design import Design
from suffice.method.method import Method
from suffice.protection.aligned import AlignedBlock
from suffice.protection.protected import Protected, Stratum
from suffice.protection.steps import SAMPLED
from suffice.rows.derived import RELEASED
from suffice.rows.multiset import Words
from suffice.rows.rows import Block, Product, Run
from suffice.statistics.domain import Domain
from suffice.statistics.promise import domains


@dataclass(frozen=True, repr=False)
class ResidualPair:
    """Original and released residuals: a small factor of both together, and those of some records."""

    E: Array
    Estar: Array
    sample: tuple[tuple[Array, Array], ...]

    @classmethod
    def of(cls, done: Protected, method: Method) -> Self:
        """Of all strata, one below the other; where a method keeps means in groups of its own, about these."""
        own, names = domains(method.own_promises(done.design)), done.design.confidential
        if own:
            return cls(*_within(done, own[-1]))
        some = [stratum.among(names, *stratum.sample) for stratum in done.strata]
        return cls(*pooled(done), tuple((before, after) for before, after in some))


def pooled(done: Protected) -> tuple[Array, Array]:
    """Those of all strata, one below the other; columns that one lacks are zero there."""
    pairs = [stratum.among(done.design.confidential, stratum.E, stratum.Estar) for stratum in done.strata]
    return np.vstack([E for E, _ in pairs]), np.vstack([Estar for _, Estar in pairs])


def stacked_residuals(strata: Iterable[Stratum]) -> Iterator[tuple[list[Stratum], Array, Array]]:
    """Strata whose residuals have the same shape together, with these residuals one behind the other."""
    alike: dict[tuple[int, ...], list[Stratum]] = {}
    for stratum in strata:
        alike.setdefault(stratum.E.shape, []).append(stratum)
    for found in alike.values():
        yield found, np.stack([stratum.E for stratum in found]), np.stack([stratum.Estar for stratum in found])


def _within(done: Protected, level: Domain) -> tuple[Array, Array, tuple[tuple[Array, Array], ...]]:
    """Residuals beside means of groups and all given columns, in two passes: means first."""
    rows, columns, m, k = done.aligned, _Columns.of(done, level), done.design.m, done.design.k
    cells = reduce(add, rows.map(columns.sums, columns.needed, "looking at groups"))
    labels, mean = cells.labels, cells.moments(cells.labels, Pairs.none(m + 2 * k)).mean
    some = done.stream.generator("sample").permutation(rows.n)[:SAMPLED]
    places, ones = np.sort(some), int(done.design.intercept)  # the column of ones is nothing beside the means

    def of(run: Run) -> Product:
        words, W = columns.read(run)
        groups = Grouping.of(words)
        W -= mean[:, looked_up(groups.labels, labels)[0][groups.place]]
        wanted = places[(places >= run[0].start) & (places < run[0].start + W.shape[1])] - run[0].start
        cuts = np.cumsum([len(block) for block in run])[:-1]
        return Product(reduce(add, map(RFactor.of, np.split(W[ones:].T, cuts))), [W[ones:, wanted].T])

    factor, chosen = reduce(add, rows.map(of, columns.needed, "looking at groups"))
    R = np.where(np.linalg.norm(factor.R, axis=0) > RANK * np.sqrt(rows.n), factor.R, 0.0)  # else it is rounding
    X, both = R[:, : m - ones], R[:, m - ones :]
    E, Estar = (split(part, X)[1] for part in (both[:, :k], both[:, k:]))
    sample = np.vstack(chosen)[np.argsort(np.argsort(some))]
    apart = sample[:, m - ones :] - sample[:, : m - ones] @ np.linalg.pinv(X) @ both
    return E, Estar, ((apart[:, :k], apart[:, k:]),)


@dataclass(frozen=True, repr=False)
class _Columns:
    """X, Y and Y* in units of their spread, and the groups of a level."""

    design: Design
    level: Domain
    centre: Array
    scale: Array

    @classmethod
    def of(cls, done: Protected, level: Domain) -> Self:
        spread = done.profile.spread.columns(slice(0, done.design.m + done.design.k))
        return cls(done.design, level, spread.mean, np.where(spread.sd > 0, spread.sd, 1.0))

    @property
    def needed(self) -> tuple[str, ...]:
        released = [RELEASED + name for name in self.design.confidential]
        return tuple(dict.fromkeys([*self.level.by, *self.design.columns, *released]))

    def sums(self, run: Run) -> Cells:
        words, W = self.read(run)
        return Cells.of(W, Grouping.of(words), sized=False)

    def read(self, run: Run) -> tuple[Words, Array]:
        """Labels of groups, and one row a column."""
        ends = np.cumsum([0, *map(len, run)])
        W = np.empty((self.design.m + 2 * self.design.k, ends[-1]))
        words = [self._fill(W[:, a:b], block) for block, a, b in zip(run, ends, ends[1:], strict=False)]
        return np.concatenate(words), W

    def _fill(self, out: Array, block: Block) -> Words:
        m, p = self.design.m, self.design.m + self.design.k
        W, after = self.design.matrix(block, centre=self.centre), AlignedBlock.read(block, self.design).Ystar
        words = self.level.labels(block, W[:, m:].T, self.design)
        np.divide(W.T, self.scale[:, None], out=out[:p])
        np.subtract(after.T, self.centre[m:, None], out=out[p:])
        out[p:] /= self.scale[m:, None]
        hole = np.isnan(W[:, m:].T)
        if hole.any():  # a missing cell is one in all of its group
            out[m:][np.vstack([hole, hole])] = 0.0
        return words
