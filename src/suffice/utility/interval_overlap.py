"""Confidence intervals of regression coefficients: how much those of a release and of the original overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from suffice.algebra.array import Array
from suffice.measure.pair import Columns
from suffice.utility.analysis import Analysis, Estimates, ModelMatrix
from suffice.utility.combination import combined
from suffice.utility.model_choice import chosen_terms
from suffice.utility.two_files import Codes

NORMAL = 1.959963984540054
"""The 97.5 % quantile of a standard normal number."""


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
    exact = (before.errors == 0) | (after.errors == 0)  # a fit without residuals: the same, or not
    return np.asarray(np.where(exact, (before.estimates == after.estimates).astype(float), found))


@dataclass(frozen=True)
class AnalysisLoss:
    """One analysis in the original and in m releases, coefficient by coefficient; m estimates are combined to one.

    A coefficient that the original does not tell is left out; one that the release does not tell has overlap 0.
    """

    analysis: str
    before: Estimates
    after: Estimates
    chosen: tuple[str, ...]
    same_choice: float
    """The share of releases in which AIC, terms dropped one by one, keeps the terms that it keeps in the original."""

    @classmethod
    def of(cls, analysis: Analysis, original: Columns, released: Sequence[Columns]) -> AnalysisLoss:
        files = [original, *released]
        model = ModelMatrix.of(analysis, files)
        before, *after = (model.coefficients(file) for file in files)
        chosen, *choices = (chosen_terms(analysis, file, files) for file in files)
        same = float(np.mean([choice == chosen for choice in choices]))
        return cls(analysis.text, before, combined(after, before.records), chosen, same)

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
