"""Covariances of residuals and slopes in clusters, recomputed from two files by plain regressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from math import inf
from typing import Literal

import numpy as np

from suffice.algebra.array import EPS, Array
from suffice.algebra.group_moments import Grouping
from suffice.design.design import Design
from suffice.rows.rows import Rows
from suffice.statistics.crossed_regression import CrossedFit, CrossedRegression
from suffice.statistics.domain import Domain
from suffice.statistics.statistic import SMALLEST, Claim

What = Literal["residual covariance", "own residual covariance", "equal slopes"]

ROUNDING = 64 * EPS
"""Residuals below this share of the largest value are nothing: a regression explains all of it."""
SENTENCES: dict[What, str] = {
    "residual covariance": "covariances of residuals around the overall regression",
    "own residual covariance": "covariances of residuals around each group's own regression",
    "equal slopes": "each group's own slopes, made those of the overall regression",
}


@dataclass(frozen=True)
class Residuals:
    """What is kept of residuals and slopes: for each level the statistics, and whether its groups are clusters."""

    crossing: CrossedRegression
    kept: tuple[tuple[Domain, Literal["clusters", "groups"], tuple[What, ...]], ...]

    @property
    def levels(self) -> tuple[Domain, ...]:
        return tuple(level for level, _, _ in self.kept)

    def standing(self, rows: Rows, design: Design) -> ResidualStanding:
        """The original's side."""
        designs = self.crossing.designs(rows, design)
        return ResidualStanding(self, designs, CrossedFit.to(rows, design, self.crossing, designs))


@dataclass(frozen=True, repr=False)
class ResidualStanding:
    """The regression fitted to a file, and how to fit it to another."""

    residuals: Residuals
    designs: dict[str, Design]
    fitted: CrossedFit

    def of(self, rows: Rows) -> ResidualStanding:
        """The same of other rows."""
        return replace(self, fitted=CrossedFit.to(rows, self.fitted.design, self.residuals.crossing, self.designs))

    def claims(self, after: ResidualStanding, level: Domain) -> tuple[Claim, ...]:
        """One claim for each statistic kept at a level, at its worst group."""
        found: list[Claim] = []
        for where, place, what in self.residuals.kept:
            if where == level:
                found += [_claim(each, self.fitted, after.fitted, place, level) for each in what]
        return tuple(found)


def _claim(what: What, before: CrossedFit, after: CrossedFit, place: str, level: Domain) -> Claim:
    groups, others = before.groupings[place], after.groupings[place]
    count, name = len(groups.labels), what.replace(" ", "-")
    same = np.array_equal(groups.labels, others.labels) and np.array_equal(groups.counts, others.counts)
    if not same:
        found = Claim(name, SENTENCES[what], inf, inf, "records of the groups")
    else:
        errors, lost, names = (_slopes if what == "equal slopes" else _covariances)(what, before, after, place)
        found = Claim.worst(name, SENTENCES[what], errors, lost, names)
        found = replace(found, where=f"{found.where}, group {found.group} of {count}")
    return replace(found, level=level.said(count))


def _covariances(what: What, before: CrossedFit, after: CrossedFit, place: str) -> tuple[Array, Array, list[str]]:
    """|S* - S| / (sd sd) of residuals, for every two confidential columns in every group."""
    one, two = (each.own if what == "own residual covariance" else each.whole for each in (before, after))
    groups, others = before.groupings[place], after.groupings[place]
    sd, lost = _scale(one, before, after, place)
    pairs = list(combinations_with_replacement(range(len(one)), 2))
    weight = _weight(before, groups)
    gaps = [np.abs(others.total(two[i] * two[j]) - groups.total(one[i] * one[j])) / weight for i, j in pairs]
    with np.errstate(over="ignore"):
        errors = [gap / (sd[i] * sd[j]) for gap, (i, j) in zip(gaps, pairs, strict=True)]
    names = before.design.confidential
    return (
        np.array(errors),
        np.array([np.maximum(lost[i], lost[j]) for i, j in pairs]),
        [f"{names[i]}, {names[j]}" for i, j in pairs],
    )


def _slopes(_: What, before: CrossedFit, after: CrossedFit, place: str) -> tuple[Array, Array, Sequence[str]]:
    """What a group's own slopes change in its fit, in standard deviations of its residuals: nothing."""
    groups = after.groupings[place]
    sd, lost = _scale(before.whole, before, after, place)
    weight = _weight(after, groups)
    own = [whole - rest for whole, rest in zip(after.whole, after.own, strict=True)]
    sizes = [np.sqrt(groups.total(E3 * E3) / weight) for E3 in own]
    return np.array(sizes) / sd, lost, before.design.confidential


def _scale(E: Sequence[Array], before: CrossedFit, after: CrossedFit, place: str) -> tuple[Array, Array]:
    """Standard deviations of residuals in every group, and max(1, max|y|/sd).

    Residuals that are rounding are measured by it, so that rounding is a small error and all else a large one.
    """
    groups, others = before.groupings[place], after.groupings[place]
    weight = _weight(before, groups)
    spread = np.array([np.sqrt(groups.total(e * e) / weight) for e in E])
    largest = [np.maximum(groups.largest(y), others.largest(z)) for y, z in zip(before.Y, after.Y, strict=True)]
    size = np.array(largest) / np.sqrt(weight / groups.counts)
    sd = np.maximum(np.where(spread <= ROUNDING * size, np.sqrt(ROUNDING) * size, spread), SMALLEST)
    return sd, np.maximum(1.0, size / sd)


def _weight(fitted: CrossedFit, groups: Grouping) -> Array:
    total = groups.total(fitted.root * fitted.root)
    return np.where(total > 0, total, 1.0)
