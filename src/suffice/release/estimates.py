"""Estimates of one file, from a formula's fit, a pair of arrays, or a fit of another package."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np

from suffice.errors import UsageError, count_of
from suffice.utility.analysis import Estimates


def applied(analysis: Any) -> Callable[[Any], Any]:
    if not callable(analysis):
        raise UsageError(f"The analysis is {type(analysis).__name__}. Write a formula, a function, or a list of fits.")
    return analysis  # type: ignore[no-any-return]


def as_named(found: Estimates, names: tuple[str, ...]) -> Estimates:
    still = np.where(found.converged, 1.0, np.nan)
    return Estimates(
        names,
        found.estimates,
        found.errors * still,
        found.records,
        found.aic,
        True,
        found.covariance * still,
        found.freedom,
    )


def estimates_of(fit: Any) -> Estimates:
    """Of a pair (estimates, variances or covariance), or of a fit that has both."""
    if hasattr(fit, "params") and hasattr(fit, "cov_params"):
        q, U = fit.params, fit.cov_params()
        freedom = getattr(fit, "df_resid", inf) if getattr(fit, "use_t", True) else inf
    elif isinstance(fit, tuple | list) and len(fit) == 2:
        (q, U), freedom = fit, inf
    else:
        raise UsageError(f"A fit is {type(fit).__name__}. Give (estimates, variances), or params and cov_params().")
    index = getattr(q, "index", None)
    b, V = np.atleast_1d(np.asarray(q, dtype=float)), np.asarray(U, dtype=float)
    names = (
        tuple(map(str, index))
        if index is not None and not callable(index)
        else tuple(f"q{i + 1}" for i in range(b.size))
    )
    V = V if V.ndim == 2 else np.diag(np.atleast_1d(V))
    if b.ndim != 1 or V.shape != (len(b), len(b)):
        raise UsageError(
            f"{count_of(b.size, 'estimate')} and variances of shape {V.shape}: give one for each, or a square."
        )
    if (np.diag(V) < 0).any():
        raise UsageError("A variance is negative. Give variances, not standard errors or a precision.")
    return Estimates(names, b, np.sqrt(np.diag(V)), 0, np.nan, True, V, float(freedom))
