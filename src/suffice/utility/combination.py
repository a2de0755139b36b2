"""Estimates from m releases as one: the variance that their mean has, and how well that variance is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from suffice.algebra.array import Array, Flags
from suffice.utility.analysis import Estimates

LEAST_FREEDOM = 1.0
"""Of T_f and T_M: with less, the interval of one near zero has no end that a number can hold."""


@dataclass(frozen=True, repr=False)
class Combination:
    """The mean of m estimates, its variance T, and the degrees of freedom of that: each estimand by itself."""

    mean: Array
    variance: Array
    freedom: Array
    raised: Flags
    """Where T was not positive and stands raised."""


Rule = Callable[[Array, Array, float, float], Combination]
"""Of estimates and variances, the first axis being the releases; k / n; and the most degrees of freedom."""


def _parts(q: Array, u: Array) -> tuple[Array, Array, Array]:
    """q-bar, u-bar and b."""
    b = q.var(axis=0, ddof=1) if len(q) > 1 else np.full(q.shape[1:], np.nan)
    return q.mean(axis=0), u.mean(axis=0), b


def _capped(freedom: Array, most: float) -> Array:
    return np.minimum(np.where(np.isnan(freedom), most, freedom), most)


def partial(q: Array, u: Array, share: float = 1.0, most: float = inf) -> Combination:
    """Where n records, or some cells of them, were drawn anew given what stays, or all from the sample alone.

    T_p = u k/n + b/m,   nu_p = (m - 1) (1 + u k/n / (b/m))^2               Reiter (2003)

    share: k / n, records of a release over those of the original; u is that of k records
    most: nu_p is at most the degrees of freedom of the analysis itself; at b = 0 it is these

    >>> float(partial(np.array([1.0, 3.0]), np.array([1.0, 1.0])).variance)
    2.0
    """
    m, (mean, within, b) = len(q), _parts(q, u)
    within = within * share
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = (m - 1) * (1 + within / (b / m)) ** 2
    return Combination(mean, within + b / m, _capped(freedom, most), np.zeros(mean.shape, dtype=bool))


def full(q: Array, u: Array, share: float = 1.0, most: float = inf) -> Combination:
    """Where samples were drawn from populations made with parameters drawn from their posterior.

    T_f = (1 + 1/m) b - u,   nu_f = (m - 1) (1 - u / ((1 + 1/m) b))^2       Raghunathan, Reiter & Rubin (2003)
    T_f* = u k/n where T_f is not positive                                  Reiter (2002)

    >>> float(full(np.array([1.0, 3.0]), np.array([1.0, 1.0])).variance)
    2.0
    """
    m, (mean, within, b) = len(q), _parts(q, u)
    T = (1 + 1 / m) * b - within
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = (m - 1) * (1 - within / ((1 + 1 / m) * b)) ** 2
    raised = ~(T > 0)
    freedom = np.maximum(np.where(raised, m - 1, freedom), LEAST_FREEDOM)
    return Combination(mean, np.where(raised, within * share, T), _capped(freedom, most), raised)


def simple(q: Array, u: Array, share: float = 1.0, most: float = inf) -> Combination:
    """Where all columns were drawn with the fitted parameters: no b, so that one release is enough.

    T_s = u (k/n + 1/m)                                                     Raab, Nowok & Dibben (2016)

    >>> float(simple(np.array([1.0]), np.array([1.0])).variance)
    2.0
    """
    mean, within = q.mean(axis=0), u.mean(axis=0)
    none = np.zeros(mean.shape, dtype=bool)
    return Combination(mean, within * (share + 1 / len(q)), np.full(mean.shape, most), none)


def simple_drawn(q: Array, u: Array, share: float = 1.0, most: float = inf) -> Combination:
    """As T_s where the parameters were drawn too: their variance is that of the original's estimates, u k/n.

    T_d = u (k/n + (1 + k/n)/m)                                             Raab, Nowok & Dibben (2016)

    >>> float(simple_drawn(np.array([1.0]), np.array([1.0])).variance)
    3.0
    """
    added = u.mean(axis=0) * share / len(q)
    found = simple(q, u, share, most)
    return Combination(found.mean, found.variance + added, found.freedom, found.raised)


def alone(q: Array, u: Array, share: float = 1.0, most: float = inf) -> Combination:
    """Where every release has the original's own value: T_o = u, which is T_p at b = 0, and one release is enough."""
    mean = q.mean(axis=0)
    return Combination(mean, u.mean(axis=0) * share, np.full(mean.shape, most), np.zeros(mean.shape, dtype=bool))


def two_stage(q: Array, u: Array, share: float = 1.0, most: float = inf) -> Combination:
    """Where missing cells were imputed m times and each file made partially synthetic r times; two axes of releases.

    T_M = (1 + 1/m) B - b/r + u,   b of releases of one imputation, B of the means of imputations
    1/nu_M = ((1 + 1/m) B / T_M)^2 / (m - 1) + (b/r / T_M)^2 / (m (r - 1))   Reiter (2004)

    Where T_M is not positive, b/r is left out.
    """
    m, r = q.shape[:2]
    mean, within = q.mean(axis=(0, 1)), u.mean(axis=(0, 1)) * share
    b, B = q.var(axis=1, ddof=1).mean(axis=0) / r, (1 + 1 / m) * q.mean(axis=1).var(axis=0, ddof=1)
    raised = ~(B - b + within > 0)
    b = np.where(raised, 0.0, b)
    T = B - b + within
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = T**2 / (B**2 / (m - 1) + b**2 / (m * (r - 1)))
    return Combination(mean, T, _capped(np.maximum(freedom, LEAST_FREEDOM), most), raised)


RULES: Mapping[str, Rule] = {
    "T_p": partial,
    "T_f": full,
    "T_s": simple,
    "T_d": simple_drawn,
    "T_o": alone,
    "T_M": two_stage,
}


@dataclass(frozen=True)
class JointTest:
    """Whether k estimands are all zero: F with its degrees of freedom and p; or why that is not defined."""

    statistic: float = np.nan
    estimands: int = 0
    freedom: float = np.nan
    p: float = np.nan
    why: str = ""


def joint_test(rule: str, q: Array, U: Array, share: float = 1.0, most: float = inf) -> JointTest:
    """The test that k estimands are zero, from m releases x k estimates and m covariance matrices of them.

    r = c tr(B U^-1) / k;   S = q' U^-1 q / (k d) as F with k and w degrees of freedom, t = k (m - 1),
    w = 4 + (t - 4) (1 + s (1 - 2/t) / r)^2, or t (1 + 1/k) (1 + s / r)^2 / 2 where t <= 4.

    T_p: c = 1/m, d = 1 + r, s = 1. T_f: c = 1 + 1/m, d = r - 1, s = -1, undefined where r <= 1. T_s: d = 1 +
    n / (k m), T_d: d = 1 + (1 + n/k) / m, T_o: d = 1, and w that of the analysis. Reiter (2005), section 3.
    """
    from scipy.special import fdtrc

    (m, k), mean, within = q.shape, q.mean(axis=0), U.mean(axis=0) * (1.0 if rule == "T_f" else share)
    if rule == "T_M":
        return JointTest(estimands=k, why="no joint test is known here for files of two stages")
    scale = np.sqrt(np.abs(np.diag(within)))  # the units of the columns decide nothing
    scale = np.where(scale > 0, scale, 1.0)
    q, mean, within = q / scale, mean / scale, within / np.outer(scale, scale)
    if not k or not np.isfinite(within).all() or np.linalg.matrix_rank(within, hermitian=True) < k:
        return JointTest(estimands=k, why="the covariance matrix of the estimates has no inverse")
    size = float(mean @ np.linalg.solve(within, mean)) / k
    if rule in ("T_s", "T_d", "T_o"):
        d, w = 1 + {"T_s": 1 / share, "T_d": 1 + 1 / share, "T_o": 0.0}[rule] / m, most
    else:
        c, s = (1 + 1 / m, -1.0) if rule == "T_f" else (1 / m, 1.0)
        between = (q - mean).T @ (q - mean) / (m - 1)
        r, t = c * float(np.trace(np.linalg.solve(within, between))) / k, k * (m - 1)
        if rule == "T_f" and r <= 1:
            return JointTest(
                estimands=k, why="r_f is not above 1, where the test is not defined: more releases may help"
            )
        d = 1 + r if s > 0 else r - 1
        over = s / r if r else inf
        w = 4 + (t - 4) * (1 + (1 - 2 / t) * over) ** 2 if t > 4 else t * (1 + 1 / k) * (1 + over) ** 2 / 2
        w = min(w, most)
    F = size / d
    p = float(fdtrc(k, min(w, 1e9), F))  # beyond, F is chi-squared to all digits
    return JointTest(F, k, float(w), p)


def combined(found: Sequence[Estimates], records: float) -> Estimates:
    """What the analysis of the original would give, expected from m releases: the mean of estimates, sqrt(u k / n).

    records: n of the original

    >>> two = [Estimates(("x",), np.array([b]), np.array([1.0]), 10, 0.0) for b in (1.0, 3.0)]
    >>> combined(two, 20).errors.round(3).tolist()
    [0.707]
    """
    within, k = np.mean([each.errors**2 for each in found], axis=0), np.mean([each.records for each in found])
    mean = np.mean([each.estimates for each in found], axis=0)
    aic, still = float(np.mean([each.aic for each in found])), all(each.converged for each in found)
    return Estimates(found[0].names, mean, np.sqrt(within * k / records), round(k), aic, still)
