"""How far released residuals follow the original ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algebra.canonical import null
from suffice.algebra.decomposition import gqr, split
from suffice.algebra.factor import RFactor
from suffice.design.design import Design
from suffice.design.roles import Roles
from suffice.errors import InputError
from suffice.measure.measure import SHARE, Measure, Value
from suffice.measure.numbers import sample_places, stacked
from suffice.measure.pair import FilePair
from suffice.protection.protected import Protected
from suffice.risk.freedom import Freedom
from suffice.risk.ranks import rank_ends
from suffice.risk.residuals import ResidualPair, stacked_residuals
from suffice.risk.weights import WeightSummary
from suffice.rows.derived import RELEASED, all_beside
from suffice.rows.rows import Block

WORTH = 0.7
"""A canonical correlation below this is no finding, so its null is not needed."""
ROWS = 100_000
"""Records that a null is of, at most."""
LARGE, FEWEST = 200, 50
"""Degrees of freedom of a stratum that is looked at by itself, and of smaller ones together, to tell from chance."""


@dataclass(frozen=True)
class Resemblance:
    """Correlations of original and released residuals, column by column and of combinations."""

    canonical: float = 0.0
    """The largest canonical correlation."""
    null: float = 0.0
    """The 99.9 % point over random permutations of the released rows."""
    correlations: tuple[float, ...] = ()
    """One for each confidential column: of all records or, if that is larger, of those protected by themselves."""
    kept_scores: int = 0
    scores: int = 0
    altered_share: float = 1.0
    """Share of the residual variance in scores that are not kept."""
    columns: tuple[str, ...] = ()
    """Those in which residuals are most alike."""
    ranked: tuple[float, ...] = ()
    """Of what keeps ranks: correlations of the ranks of residuals, in the sampled records of every stratum."""

    @classmethod
    def of(cls, done: Protected, pair: ResidualPair, freedom: Freedom, ranks: bool = False) -> Self:
        E, Estar = pair.E, pair.Estar
        canonical, kept, altered, columns = _alike(E, Estar, done.design.confidential)
        chance = _null(done, pair, freedom) if canonical > WORTH else 0.0
        alike = np.array(_correlations(E, Estar))
        parts = _in_parts(done) if len(done.strata) > 1 else np.zeros((0, len(alike)))
        worst = np.vstack([alike, parts])
        told = worst[np.abs(worst).argmax(axis=0), np.arange(len(alike))].tolist()
        return cls(
            canonical,
            chance,
            tuple(told),
            kept,
            freedom.residual_rank,
            altered,
            columns,
            _ranked(pair) if ranks else (),
        )


def _alike(E: Array, Estar: Array, names: tuple[str, ...]) -> tuple[float, int, float, tuple[str, ...]]:
    """The largest canonical correlation, how many are one, the share of variance apart from those, and its columns."""
    Q, Qstar = gqr(E).Q, gqr(Estar).Q
    if not Q.size or not Qstar.size:
        return 0.0, 0, 1.0, ()
    U, s, _ = np.linalg.svd(Q.T @ Qstar)
    kept, norms = int((s > 1 - 1e-9).sum()), np.linalg.norm(E, axis=0)
    unit = E[:, norms > 0] / norms[norms > 0]
    share = float((((Q @ U[:, :kept]).T @ unit) ** 2).sum() / unit.shape[1]) if kept else 0.0
    first = np.abs((Q @ U[:, 0]) @ E) / np.where(norms > 0, norms, 1.0)
    columns = tuple(name for name, value in zip(names, first, strict=True) if value >= 0.5 * first.max())
    return float(min(s[0], 1.0)), kept, 1.0 - share, columns


def _correlations(E: Array, Estar: Array) -> tuple[float, ...]:
    inner, norms = (E * Estar).sum(axis=0), np.linalg.norm(E, axis=0) * np.linalg.norm(Estar, axis=0)
    return tuple(np.where(norms > 0, inner / np.where(norms > 0, norms, 1.0), 0.0).tolist())


def _ranked(pair: ResidualPair) -> tuple[float, ...]:
    """Spearman's correlations: a giant that goes elsewhere hides from Pearson's that all others stay near."""
    scores = [[_scores(A) for A in some] for some in pair.sample if len(some[0])]
    return _correlations(*(np.vstack(side) for side in zip(*scores, strict=True))) if scores else ()


def _scores(A: Array) -> Array:
    """Ranks of every column about their middle, as shares of the records; equal values share theirs."""
    first, last = rank_ends(np.sort(A, axis=0), A)
    return np.asarray((first + last + 1) / (2 * len(A)) - 0.5)


def _in_parts(done: Protected) -> Array:
    """Correlations in every large stratum, and in all small ones of about one size, each in its own scale."""
    names = done.design.confidential
    inner, weight = (np.zeros((0, len(names))) for _ in range(2))
    part = np.zeros(0, dtype=np.int64)
    for strata, E, Estar in stacked_residuals(done.strata):
        size = np.linalg.norm(E, axis=1) * np.linalg.norm(Estar, axis=1)
        found, there = np.zeros((2, len(strata), len(names)))
        own = [[names.index(name) for name in stratum.design.confidential] for stratum in strata]
        np.put_along_axis(found, np.array(own), (E * Estar).sum(axis=1) / np.where(size > 0, size, 1.0), axis=1)
        np.put_along_axis(there, np.array(own), (size > 0).astype(float), axis=1)
        nu = np.array([stratum.nu for stratum in strata])
        alone = len(part) + np.arange(len(strata))
        part = np.concatenate(
            [part, np.where(nu >= LARGE, alone, -1 - np.log2(np.maximum(nu, 1)).astype(np.int64) // 2)]
        )
        inner, weight = np.vstack([inner, nu[:, None] * found]), np.vstack([weight, nu[:, None] * there])
    sums = [np.stack([A[part == each].sum(axis=0) for each in np.unique(part)]) for A in (inner, weight)]
    return np.where(sums[1] >= FEWEST, sums[0] / np.maximum(sums[1], 1.0), 0.0)


def _null(done: Protected, pair: ResidualPair, freedom: Freedom) -> float:
    """What unrelated residuals reach, in the rows that were sampled; of the effective number of rows, with weights."""
    Q, Qstar = (gqr(np.vstack([some[side] for some in pair.sample])).Q for side in (0, 1))
    records = WeightSummary.of(done.profile).records(freedom.n)
    return null(Q, Qstar, records - freedom.rank, done.stream.generator("null"))


def canonical_correlation(E: Array, Estar: Array, rank: int = 1) -> tuple[float, float]:
    """The largest canonical correlation of aligned residuals, and its null: the 99.9 % point of unrelated ones.

    rank: degrees of freedom that the residuals lost; of the mean alone 1
    """
    chance = null(gqr(E).Q, gqr(Estar).Q, len(E) - rank, np.random.default_rng(1))
    return _alike(E, Estar, tuple(map(str, range(E.shape[1]))))[0], chance


@dataclass(frozen=True, repr=False)
class GroupFactors:
    """R of the records of every group."""

    found: Mapping[int, RFactor]

    @classmethod
    def of(cls, group: NDArray[np.int64], W: Array) -> GroupFactors:
        return cls({int(each): RFactor.of(W[group == each]) for each in np.unique(group)})

    def __add__(self, other: Self) -> GroupFactors:
        both = dict(self.found)
        for group, factor in other.found.items():
            both[group] = both[group] + factor if group in both else factor
        return GroupFactors(both)


def _beside_given(pair: FilePair, roles: Roles) -> Value:
    """Of residuals of both files beside the given columns of the original, within its groups, as the guards see them.

    The null is that of residuals of some of the records.
    """
    (before, after, *_), k, weight = pair.all_rows, len(pair.numbers), pair.roles.weight
    design = Design.learn(before, roles, absorb=False)
    marks = tuple(RELEASED + name for name in pair.numbers)
    beside = all_beside(after, pair.numbers).values()
    weights = [weight] if weight is not None and weight in before.kinds else []
    columns = [*pair.numbers, *marks, *roles.terms.columns, *roles.groups, *weights]

    def seen(block: Block) -> tuple[NDArray[np.int64], Array]:
        w = np.sqrt(stacked(block, weights)) if weights else np.ones((len(block), 1))
        group = np.zeros(len(block), dtype=np.int64)
        for each in design.groupings:
            group = group * each.size + each.codes(block)
        return group, np.hstack([design.given(block), stacked(block, (*pair.numbers, *marks))]) * w

    rows = before.with_columns(dict(zip(marks, beside, strict=True)))
    factors = rows.fold(lambda block: GroupFactors.of(*seen(block)), list(dict.fromkeys(columns)), "measuring").found
    slopes, left, rank = {}, [], 0
    for group, factor in factors.items():
        X, both = factor.R[:, : -2 * k], factor.R[:, -2 * k :]
        slopes[group] = np.linalg.lstsq(X, both, rcond=None)[0]
        left.append(split(both, X)[1])
        rank += gqr(X).rank
    places = sample_places(rows.n, ROWS)

    def rest(block: Block) -> list[Array]:
        first, last = np.searchsorted(places, [block.start, block.start + len(block)])
        (group, W), some = seen(block), places[first:last] - block.start
        group, X, E = group[some], W[some, : -2 * k], W[some, -2 * k :]
        for own in np.unique(group):
            E[group == own] -= X[group == own] @ slopes[own]
        return [E]

    E, rows_left = np.vstack(left), np.vstack(rows.fold(rest, list(dict.fromkeys(columns)), "measuring"))
    chance = null(gqr(rows_left[:, :k]).Q, gqr(rows_left[:, k:]).Q, rows.n - rank, np.random.default_rng(1))
    return Value(_alike(E[:, :k], E[:, k:], pair.numbers)[0], {"null": chance}, chance)


def _beside_its_null(pair: FilePair) -> Value:
    roles = pair.roles
    try:
        plain = Roles(pair.numbers, roles.given, groups=roles.groups, merge_below=roles.merge_below)
        return _beside_given(pair, plain)
    except (InputError, KeyError):  # given columns that the files lack, or with missing cells
        found = _beside_given(pair, Roles(pair.numbers))
        return replace(found, said="beside the mean alone: the given columns cannot be used")


def _by_ranks(pair: FilePair) -> Value:
    found, chance = canonical_correlation(_scores(pair.Y), _scores(pair.Ystar))
    return Value(found, {"null": chance}, chance)


MEASURES = (
    Measure(
        "canonical-correlation",
        _beside_its_null,
        frozenset({"aligned rows", "numbers"}),
        SHARE,
        "higher is riskier",
        "largest correlation of a combination of the original's columns with one of the release's, of residuals beside "
        "the given columns, within groups, weighted where there is a weight; null: the 99.9 % point where both "
        "are unrelated",
        "Hotelling (1936); Johnstone (2008)",
        whole=True,
    ),
    Measure(
        "rank-correlation",
        _by_ranks,
        frozenset({"aligned rows", "numbers"}),
        SHARE,
        "higher is riskier",
        "canonical correlation of the ranks, which tells a file turned upside down where few large values decide the "
        "other one; null: the 99.9 % point where both are unrelated",
        "Spearman (1904); Hotelling (1936)",
        most=ROWS,
    ),
)
