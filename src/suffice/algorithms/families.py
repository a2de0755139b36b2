"""Distributions fitted to a column by maximum likelihood, how far each is from it, and frequencies in their place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array

FEW = 20
"""Different values, at most, of a column that is drawn by its frequencies."""
OWN = 3
"""A value of fewer records is somebody's own, and is not handed on."""
RARE = 0.05
"""Records with such values, at most, of a column that is drawn by its frequencies."""
INTERVALS = (8, 20)
"""Of a column that no family fits: at least, and at most."""
CRITERIA = ("kolmogorov-smirnov", "chi-square", "anderson-darling")
CLOSE = 1e-12
LARGEST = 10_000
"""Of whole numbers that a distribution of counts is fitted to."""


@dataclass(frozen=True, repr=False)
class FamilyFit:
    """A family with the parameters of most likelihood, and how far it is from the column.

    statistics, p: by criterion, and how often a sample of it is as far
    """

    family: str
    law: Any
    statistics: Mapping[str, float]
    p: Mapping[str, float]

    def draw(self, count: int, draws: np.random.Generator) -> Array:
        return np.asarray(self.law.rvs(size=count, random_state=draws), dtype=np.float64)


@dataclass(frozen=True, repr=False)
class Frequencies:
    """Values, or intervals between `low` and `high`, with their shares; overflow of an interval is discarded."""

    low: Array
    high: Array
    share: Array

    def draw(self, count: int, draws: np.random.Generator) -> Array:
        exact = self.share * count
        many = np.floor(exact + CLOSE).astype(np.int64)
        rest = count - int(many.sum())
        many[np.argsort(many - exact, kind="stable")[:rest]] += 1
        place = np.repeat(np.arange(len(many)), many)
        values = self.low[place] + draws.random(count) * (self.high - self.low)[place]
        return np.asarray(draws.permutation(values))


def _weibull(x: Array, s: Any) -> Any:
    from scipy.optimize import brentq

    logs = np.log(x / x.max())

    def slope(c: float) -> float:
        powers = np.exp(c * logs)
        return float((powers * logs).sum() / powers.sum() - logs.mean() - 1 / c)

    c = brentq(slope, 1e-3, 1e3)
    return s.weibull_min(c, scale=x.max() * np.mean(np.exp(c * logs)) ** (1 / c))


def _gamma(x: Array, s: Any) -> Any:
    from scipy.optimize import brentq
    from scipy.special import digamma

    gap = np.log(x.mean()) - np.log(x).mean()
    a = brentq(lambda a: np.log(a) - digamma(a) - gap, 1e-4, 1e8)
    return s.gamma(a, scale=x.mean() / a)


def _beta(x: Array, s: Any) -> Any:
    """Between round ends outside all values: at the values themselves there is no likelihood."""
    low, high = round_ends(x, beyond=True)
    return s.beta(*s.beta.fit(x, floc=low, fscale=high - low))


def _triangular(x: Array, s: Any) -> Any:
    """Between the same ends; the mode of most likelihood is one of the values."""
    low, high = round_ends(x, beyond=True)
    u = np.sort((x - low) / (high - low))
    modes = u[:: max(1, len(u) // 200)]
    at = [np.log(np.where(u < c, u / c, (1 - u) / (1 - c))).sum() for c in modes]
    return s.triang(modes[int(np.argmax(at))], low, high - low)


def _uniform(x: Array, s: Any) -> Any:
    low, high = round_ends(x)
    return s.uniform(low, high - low)


def _pareto(x: Array, s: Any) -> Any:
    """From a round number at or below the smallest value on."""
    step = _round_step(float(x.min()))
    scale = step * np.floor(x.min() / step)
    return s.pareto(len(x) / np.log(x / scale).sum(), scale=scale)


def round_ends(x: Array, beyond: bool = False) -> tuple[float, float]:
    """Round numbers around all values, which do not tell the largest: a twentieth to an eighth of the range apart.

    Ends at the values themselves, or at a known distance from them, would leave with enough draws.

    >>> round_ends(np.array([0.0, 3.0, 93.7]))
    (0.0, 100.0)
    """
    step = _round_step(float(np.ptp(x)))
    low, high = step * np.floor(x.min() / step), step * np.ceil(x.max() / step)
    return float(low - step * (beyond and low == x.min())), float(high + step * (beyond and high == x.max()))


def _round_step(size: float) -> float:
    """1, 2 or 5 times a power of ten, a twentieth to an eighth of a size."""
    power = 10.0 ** np.floor(np.log10(size / 8))
    return float(power * max(digit for digit in (1, 2, 5) if digit * power <= size / 8 * (1 + CLOSE)))


def _binomial(x: Array, s: Any) -> Any:
    top, mean = int(x.max()), float(x.mean())
    tried = {top, *(round(top * more) for more in (1.1, 1.25, 1.5, 2, 3, 5, 10))}
    return max((s.binom(n, mean / n) for n in tried), key=lambda law: law.logpmf(x).sum())


def _hypergeometric(x: Array, s: Any) -> Any:
    top, mean = int(x.max()), float(x.mean())
    tried = []
    for n in {top, round(1.25 * top), round(1.5 * top), 2 * top}:
        for population in {2 * n, 3 * n, 5 * n, 10 * n}:
            good = max(top, round(mean * population / n))
            tried += [s.hypergeom(population, good, n)] if good <= population else []
    return max(tried, key=lambda law: law.logpmf(x).sum())


FAMILIES: Mapping[str, Callable[[Array, Any], Any]] = {
    "normal": lambda x, s: s.norm(x.mean(), x.std()),
    "triangular": _triangular,
    "exponential": lambda x, s: s.expon(scale=x.mean()),
    "lognormal": lambda x, s: s.lognorm(np.log(x).std(), scale=np.exp(np.log(x).mean())),
    "weibull": _weibull,
    "uniform": _uniform,
    "beta": _beta,
    "gamma": _gamma,
    "logistic": lambda x, s: s.logistic(*s.logistic.fit(x)),
    "pareto": _pareto,
    "extreme-value": lambda x, s: s.gumbel_r(*s.gumbel_r.fit(x)),
    "binomial": _binomial,
    "poisson": lambda x, s: s.poisson(x.mean()),
    "geometric": lambda x, s: s.geom(1 / (1 + x.mean()), -1),
    "hypergeometric": _hypergeometric,
}
"""How each is fitted to a column, with scipy.stats, which is imported where it is used."""
REMEMBERED = 1024
_KNOWN: dict[tuple[bytes, tuple[str, ...], str], list[FamilyFit]] = {}
"""Fits by a digest of their column: trial releases fit the same ones again."""
POSITIVE = ("lognormal", "weibull", "gamma", "pareto")
COUNTS = ("binomial", "poisson", "geometric", "hypergeometric")


def fitted(x: Array, families: Sequence[str], by: str) -> list[FamilyFit]:
    """Families that can have such values, the nearest first.

    >>> x = np.array([186.0, 693, 830, 1177, 1219, 1428, 1902, 1903, 2496, 3406])
    >>> best = fitted(x, ["normal", "extreme-value"], "kolmogorov-smirnov")[0]
    >>> best.family, round(best.statistics["kolmogorov-smirnov"], 4), [round(float(p), 2) for p in best.law.args]
    ('extreme-value', 0.1138, [1105.78, 732.43])
    """
    import scipy.stats as s

    asked = blake2b(np.ascontiguousarray(x).tobytes()).digest(), tuple(families), by
    if asked in _KNOWN:
        return _KNOWN[asked]
    counts = bool((x == np.rint(x)).all() and x.min() >= 0 and x.max() <= LARGEST)
    found = []
    for family in families:
        beyond = (family in POSITIVE and x.min() <= 0) or (family == "exponential" and x.min() < 0)
        if beyond or (family in COUNTS and not counts):
            continue
        try:
            with np.errstate(all="ignore"):
                law = FAMILIES[family](x, s)
                statistics, p = _compared(x, law, family in COUNTS, s)
        except (ValueError, RuntimeError, FloatingPointError, ZeroDivisionError):  # a likelihood without a maximum
            continue
        if np.isfinite(statistics[by]):
            found.append(FamilyFit(family, law, statistics, p))
    if len(_KNOWN) >= REMEMBERED:
        _KNOWN.clear()
    _KNOWN[asked] = sorted(found, key=lambda fit: fit.statistics[by])
    return _KNOWN[asked]


def _compared(x: Array, law: Any, counts: bool, s: Any) -> tuple[dict[str, float], dict[str, float]]:
    """The three distances, each with its p; for the first and the last the parameters count as known."""
    x, n = np.sort(x), len(x)
    values, first = np.unique(x, return_index=True)
    at, above = law.cdf(values), np.append(first[1:], n) / n
    before = law.cdf(values - 1) if counts else at  # a count has its own step
    ks = float(max(np.abs(above - at).max(), np.abs(before - first / n).max()))
    u = np.clip(law.cdf(x), 1e-300, 1 - 1e-16)
    places = np.arange(1, n + 1)
    ad = float(-n - ((2 * places - 1) * (np.log(u) + np.log1p(-u[::-1]))).mean())
    classes = int(np.clip(round(n / 5), 2, INTERVALS[1]))
    ends = np.unique(law.ppf(np.arange(1, classes) / classes))
    expected = n * np.diff(law.cdf(ends), prepend=0.0, append=1.0)
    seen = np.bincount(np.searchsorted(ends, x, "left"), minlength=len(ends) + 1)
    chi = float(((seen - expected) ** 2 / np.maximum(expected, CLOSE)).sum())
    free = max(1, len(expected) - 1 - len(law.args) - len(law.kwds))
    p = float(s.kstwo.sf(ks, n)), float(s.chi2.sf(chi, free)), _anderson_darling(ad)
    return dict(zip(CRITERIA, (ks, chi, ad), strict=True)), dict(zip(CRITERIA, p, strict=True))


def _anderson_darling(z: float) -> float:
    """How often Anderson and Darling's statistic of many records is larger (Marsaglia & Marsaglia 2004).

    >>> [round(_anderson_darling(z), 3) for z in (1.933, 2.492, 3.857)]
    [0.1, 0.05, 0.01]
    """
    if not 0 < z < 40:
        return 1.0 if z <= 0 else 0.0
    if z < 2:
        bent = 2.00012 + (0.247105 - (0.0649821 - (0.0347962 - (0.011672 - 0.00168691 * z) * z) * z) * z) * z
        return float(1 - np.exp(-1.2337141 / z) / np.sqrt(z) * bent)
    bent = 1.0776 - (2.30695 - (0.43424 - (0.082433 - (0.008056 - 0.0003146 * z) * z) * z) * z) * z
    return float(-np.expm1(-np.exp(bent)))


def of_few_values(x: Array) -> bool:
    """Whether nearly all records share one of few values."""
    many = np.unique(x, return_counts=True)[1]
    return bool(len(many) <= FEW and many[many < OWN].sum() <= RARE * len(x))


def shares(x: Array) -> Frequencies | None:
    """Those of the levels of a category; levels of one or two records are left out, and none may be left."""
    values, many = np.unique(x, return_counts=True)
    there = many >= OWN
    return Frequencies(values[there], values[there], many[there] / many[there].sum()) if there.any() else None


def frequencies(x: Array) -> Frequencies:
    """The values of a column of few, those of one or two records as the nearest other; else shares of intervals.

    The interval with most records times its width is halved, until there are as many as n tells, 8 to 20; one with one
    or two records, which would tell where these are, is then joined to its neighbours.

    >>> frequencies(np.array([0.0] * 50 + [10.0] * 49 + [700.0])).share.tolist()
    [0.5, 0.5]
    """
    if of_few_values(x):
        values, many = np.unique(x, return_counts=True)
        shared = values[many >= OWN]
        nearest = np.abs(values[:, None] - shared).argmin(axis=1)
        return Frequencies(shared, shared, np.bincount(nearest, many) / len(x))
    count = int(np.clip(np.ceil(1 + np.log2(len(x))), *INTERVALS))
    inorder = np.sort(x)
    for more in range(count, 4 * INTERVALS[1], 4):
        ends, place = _joined(inorder, _halved(inorder, more))
        if len(ends) > INTERVALS[0]:
            break
    return Frequencies(ends[:-1], ends[1:], np.diff(place) / len(x))


def _halved(x: Array, count: int) -> Array:
    """Ends of intervals, of which always the one with most records times its width was halved; x: in order."""
    ends = np.array(round_ends(x))
    while len(ends) <= count:
        widest = int(np.argmax(np.diff(np.searchsorted(x, ends)) * np.diff(ends)))
        ends = np.insert(ends, widest + 1, ends[widest : widest + 2].mean())
    return ends


def _joined(x: Array, ends: Array) -> tuple[Array, NDArray[np.int64]]:
    """The same without intervals of one or two records, and how many records are below each end."""
    place = np.append(np.searchsorted(x, ends[:-1]), len(x))  # the largest value is inside
    while len(few := np.flatnonzero((np.diff(place) > 0) & (np.diff(place) < OWN))) and len(place) > 2:
        gone = int(few[-1]) or 1  # where an interval begins that is joined to the one below; the first, to that above
        ends, place = np.delete(ends, gone), np.delete(place, gone)
    return ends, place


def by_ranks(x: Array, drawn: Array, draws: np.random.Generator) -> Array:
    """The values that were drawn, each in the place of the one that has its rank; equal ones in random order."""
    order: NDArray[np.intp] = np.lexsort((draws.random(len(x)), x))
    made = np.empty(len(x))
    made[order] = np.sort(drawn)
    return made
