"""Confidence intervals of regression coefficients: how much those of a release and of the original overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from suffice.algebra.array import Array
from suffice.errors import InputError
from suffice.measure.measure import Measure, Value
from suffice.measure.pair import Columns, FilePair
from suffice.rows.rows import Rows
from suffice.utility.analysis import Analysis, Estimates, ModelMatrix, analyses_of
from suffice.utility.combination import combined
from suffice.utility.two_files import Codes

NORMAL = 1.959963984540054
"""The 97.5 % quantile of a standard normal number."""
NEAR = 1e-9
"""Coefficients of fits without residuals are the same within this."""


def interval_overlap(before: Estimates, after: Estimates) -> Array:
    """For each coefficient half the sum of the overlap over the length of each of its two 95 % intervals.

    1 where they are the same, 0 where they touch, negative where they are apart (Karr et al. 2006).

    >>> one, two = (Estimates(("x",), np.array([b]), np.array([1.0]), 9, 0.0) for b in (0.0, 1.959963984540054))
    >>> interval_overlap(one, two)
    array([0.5])
    """
    low = np.maximum(*(each.estimates - NORMAL * each.errors for each in (before, after)))
    high = np.minimum(*(each.estimates + NORMAL * each.errors for each in (before, after)))
    with np.errstate(all="ignore"):
        found = (high - low) * sum(1 / (2 * NORMAL * each.errors) for each in (before, after)) / 2
    size = float(np.abs(np.nan_to_num(before.estimates)).max(initial=0.0))
    near = np.isclose(before.estimates, after.estimates, rtol=NEAR, atol=NEAR * size)
    same = (before.errors == after.errors) & ((before.estimates == after.estimates) | (near & (before.errors == 0)))
    exact = same | (before.errors == 0) | (after.errors == 0)  # a fit without residuals: the same, or not
    return np.asarray(np.where(exact, same.astype(float), found))


@dataclass(frozen=True)
class AnalysisLoss:
    """One analysis in the original and in m releases, coefficient by coefficient; m estimates are combined to one.

    A coefficient that the original does not tell is left out; one that the release does not tell has overlap 0.
    """

    analysis: str
    before: Estimates
    after: Estimates

    @classmethod
    def of(cls, analysis: Analysis, original: Columns | Rows, released: Sequence[Columns | Rows]) -> AnalysisLoss:
        files = [original, *released]
        model = ModelMatrix.of(analysis, files)
        before, *after = (model.coefficients(file) for file in files)
        return cls(analysis.text, before, combined(after, before.records))

    @property
    def told(self) -> Codes:
        """The places of the coefficients that the original tells."""
        return np.flatnonzero(np.isfinite(self.before.errors))

    @property
    def overlaps(self) -> Array:
        return np.asarray(np.nan_to_num(interval_overlap(self.before, self.after), nan=0.0)[self.told])

    @property
    def overlap(self) -> float:
        return float(self.overlaps.mean()) if len(self.told) else float("nan")

    @property
    def differences(self) -> Array:
        """(b* - b) / se, of the original."""
        with np.errstate(all="ignore"):
            return np.asarray(((self.after.estimates - self.before.estimates) / self.before.errors)[self.told])


def _overlaps(pair: FilePair) -> Value:
    analyses, weighted = analyses_of(pair)
    found = [AnalysisLoss.of(each, pair.all_rows[0], pair.all_rows[1:]) for each in analyses]
    if none := [each.analysis for each in found if not len(each.told)]:
        raise InputError(
            f"The analysis {none[0]!r} has a coefficient for every complete record of the original, and no error."
            "\nUse fewer terms or levels."
        )
    told = [(each, j, overlap) for each in found for j, overlap in zip(each.told, each.overlaps, strict=True)]
    parts = {f"{each.analysis}, {each.before.names[j]}": float(overlap) for each, j, overlap in told}
    apart = max(float(np.abs(each.differences).max(initial=0.0)) for each in found)
    said = [f"the largest difference is {apart:.3g} standard errors of the original"]
    lost = [each.analysis for each in found if not (each.before.converged and each.after.converged)]
    said += [
        f"the fit of {analysis} did not come to stand (separation): its intervals say nothing" for analysis in lost
    ]
    exact = [each.analysis for each in found if (each.before.errors[each.told] == 0).any()]
    said += [f"{analysis} leaves no residual: a coefficient is the same, or not" for analysis in exact]
    said += [weighted] if weighted else []
    return Value(float(np.mean([each.overlap for each in found])), parts, said="; ".join(said))


MEASURES = (
    Measure(
        "interval-overlap",
        _overlaps,
        frozenset({"a formula"}),
        (-inf, 1.0),
        "higher is better",
        "mean over analyses, and in each over coefficients, of half the sum of the overlap of their 95 % intervals in "
        "the two files over the length of each; of several releases the mean of the estimates, with the mean of their "
        "variances; standard errors of a release of k records are multiplied by sqrt(k / n), as if it had the "
        "original's n",
        "Karr et al. (2006); Raab, Nowok & Dibben (2016)",
        together=True,
        whole=True,
    ),
)
