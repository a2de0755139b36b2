"""Estimates from m releases as one (Raab, Nowok & Dibben 2016; Reiter 2003)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from suffice.errors import UsageError
from suffice.utility.analysis import Estimates

Aim = Literal["original", "population", "partial"]


def combined(found: Sequence[Estimates], records: float, aim: Aim = "original") -> Estimates:
    """The mean q of the m estimates; its standard error from the mean u of their variances and their variance b.

    n records in the original, k in each release:

    - original: what the original's analysis would give, sqrt(u k / n);
    - population: of a release all of whose columns were drawn anew, sqrt(u (k / n + 1 / m));
    - partial: some of whose columns were drawn anew, sqrt(u + b / m); for two releases and more.

    records: n

    >>> two = [Estimates(("x",), np.array([b]), np.array([1.0]), 10, 0.0) for b in (1.0, 3.0)]
    >>> [float(each) for each in combined(two, 10, "partial").errors**2]
    [2.0000000000000004]
    """
    m = len(found)
    if aim == "partial" and m < 2:
        raise UsageError("The variance between releases needs two of them.")
    estimates = np.array([each.estimates for each in found])
    within, k = np.mean([each.errors**2 for each in found], axis=0), np.mean([each.records for each in found])
    variance = {
        "original": lambda: within * k / records,
        "population": lambda: within * (k / records + 1 / m),
        "partial": lambda: within + estimates.var(axis=0, ddof=1) / m,
    }[aim]()
    aic = float(np.mean([each.aic for each in found]))
    converged = all(each.converged for each in found)
    return Estimates(found[0].names, estimates.mean(axis=0), np.sqrt(variance), round(k), aic, converged)
