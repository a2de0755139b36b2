"""Covariances of residuals and slopes in clusters, recomputed from two files by plain regressions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from math import inf
from typing import ClassVar, Literal

import numpy as np

from suffice.algebra.array import EPS, Array
from suffice.algebra.group_moments import Grouping
from suffice.statistics.crossed_regression import CrossedFit, CrossedRegression
from suffice.statistics.statistic import SMALLEST, Claim, Promise, Statistic
from suffice.statistics.sums import Look, Reference, Sums

ROUNDING = 64 * EPS
"""Residuals below this share of the largest value are nothing: a regression explains all of it."""


@dataclass(frozen=True)
class CrossedSums(Sums):
    """A file with a crossed regression fitted to it."""

    crossing: CrossedRegression

    def before(self, reference: Reference) -> Look:
        designs = self.crossing.designs(reference.rows, reference.design)
        return CrossedFit.look(reference.design, self.crossing, designs)

    def after(self, known: CrossedFit, reference: Reference) -> Look:
        return CrossedFit.look(reference.design, self.crossing, known.designs)


@dataclass(frozen=True)
class AroundRegression(Statistic):
    """Something of what a crossed regression leaves, in its clusters or in groups of them."""

    crossing: CrossedRegression
    place: Literal["clusters", "groups"]

    weighted: ClassVar = True
    sentence: ClassVar[str]

    def sums(self, beside: Sequence[Promise]) -> Sums:
        return CrossedSums(self.crossing)

    def claim(self, promise: Promise, before: CrossedFit, after: CrossedFit, reference: Reference) -> Claim:
        """At the worst group."""
        groups, others = before.groupings[self.place], after.groupings[self.place]
        same = np.array_equal(groups.labels, others.labels) and np.array_equal(groups.counts, others.counts)
        if not same:
            found = Claim(self.name, self.sentence, inf, inf, "records of the groups")
        else:
            found = Claim.worst(self.name, self.sentence, *self.compared(before, after))
            found = replace(found, where=f"{found.where}, group {found.group} of {len(groups.labels)}")
        return replace(found, level=promise.domain.said(len(groups.labels)))

    @abstractmethod
    def compared(self, before: CrossedFit, after: CrossedFit) -> tuple[Array, Array, Sequence[str]]:
        """Errors, lost digits and names."""


class ResidualCovariance(AroundRegression):
    """Of the residuals E_3 + E_4 of the whole regression."""

    name: ClassVar = "residual-covariance"
    sentence: ClassVar = "covariances of residuals around the overall regression"

    def compared(self, before: CrossedFit, after: CrossedFit) -> tuple[Array, Array, Sequence[str]]:
        return _covariances(before.whole, after.whole, before, after, self.place)


class OwnResidualCovariance(AroundRegression):
    """Of the residuals E_4 of each cluster's own regression."""

    name: ClassVar = "own-residual-covariance"
    sentence: ClassVar = "covariances of residuals around each group's own regression"

    def compared(self, before: CrossedFit, after: CrossedFit) -> tuple[Array, Array, Sequence[str]]:
        return _covariances(before.own, after.own, before, after, self.place)


class EqualSlopes(AroundRegression):
    """What a group's own slopes change in its fit, in standard deviations of its residuals: nothing."""

    name: ClassVar = "equal-slopes"
    sentence: ClassVar = "each group's own slopes, made those of the overall regression"

    def compared(self, before: CrossedFit, after: CrossedFit) -> tuple[Array, Array, Sequence[str]]:
        groups = after.groupings[self.place]
        sd, lost = _scale(before.whole, before, after, self.place)
        weight = _weight(after, groups)
        own = [whole - rest for whole, rest in zip(after.whole, after.own, strict=True)]
        sizes = [np.sqrt(groups.total(E3 * E3) / weight) for E3 in own]
        return np.array(sizes) / sd, lost, before.design.confidential


def _covariances(
    one: Sequence[Array], two: Sequence[Array], before: CrossedFit, after: CrossedFit, place: str
) -> tuple[Array, Array, list[str]]:
    """|S* - S| / (sd sd) of residuals, for every two confidential columns in every group."""
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
