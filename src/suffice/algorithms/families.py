"""Distributions fitted to a column by maximum likelihood, and how far each is from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import product
from typing import Any

import numpy as np

from suffice.algebra.array import Array
from suffice.algorithms.frequencies import CLOSE, INTERVALS, round_ends, round_step

CRITERIA = ("kolmogorov-smirnov", "chi-square", "anderson-darling")
LARGEST = 10_000
"""Of whole numbers that a distribution of counts is fitted to."""
TRIALS = 100
"""Of a distribution of counts, at most: so many times the largest."""


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
    step = round_step(float(x.min()))
    scale = step * np.floor(x.min() / step)
    return s.pareto(len(x) / np.log(x / scale).sum(), scale=scale)


def _binomial(x: Array, s: Any) -> Any:
    """With as many trials as are likeliest; without an end to that, where the variance is not below the mean."""
    values, many = np.unique(x, return_counts=True)
    top, mean = int(x.max()), float(x.mean())

    def likelihood(place: tuple[int, ...]) -> float:
        (n,) = place
        return float((many * s.binom.logpmf(values, n, mean / n)).sum()) if top <= n <= TRIALS * top else -np.inf

    n = _climbed(likelihood, (max(top, 1),))[0]
    return s.binom(n, mean / n)


def _hypergeometric(x: Array, s: Any) -> Any:
    """As many good and drawn as are likeliest, of as many as have the mean; the likelihood is nearly flat along it."""
    values, many = np.unique(x, return_counts=True)
    top, mean = max(1, int(x.max())), max(float(x.mean()), CLOSE)

    def of(place: tuple[int, ...], more: int) -> tuple[int, ...]:
        return max(place[0], round(place[0] * place[1] / mean) + more), *place

    def at(law: tuple[int, ...]) -> float:
        return float((many * s.hypergeom.logpmf(values, *law)).sum())

    def likelihood(place: tuple[int, ...]) -> float:
        good, n = place
        return at(of(place, 0)) if top <= n <= good <= TRIALS * top else -np.inf  # these two may change places

    starts = [(round(size * more * top), round(size * top)) for size in (1, 1.5, 3) for more in (1, 2, 5)]
    found = max((_climbed(likelihood, each) for each in starts), key=likelihood)
    return s.hypergeom(*max((of(found, more) for more in range(-2, 3)), key=at))


def _climbed(likelihood: Callable[[tuple[int, ...]], float], place: tuple[int, ...]) -> tuple[int, ...]:
    """The likeliest whole numbers, by steps along all diagonals that are halved where none leads up."""
    ways = [way for way in product((-1, 0, 1), repeat=len(place)) if any(way)]
    step, here = 2 ** max(place).bit_length(), likelihood(place)
    while step:
        near = [tuple(each + step * one for each, one in zip(place, way, strict=True)) for way in ways]
        found = [likelihood(each) for each in near]
        best = int(np.argmax(found))
        if found[best] > here:
            place, here = near[best], found[best]
        else:
            step //= 2
    return place


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
ONE = ("triangular", "exponential", "pareto", "poisson", "geometric")
FREE = {"uniform": 0, **dict.fromkeys(ONE, 1), "hypergeometric": 3}
"""Parameters that follow from the column, where they are not two: ends are round numbers."""


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
                statistics, p = _compared(x, law, family, s)
        except (ValueError, RuntimeError, ArithmeticError):  # a likelihood without a maximum
            continue
        if np.isfinite(statistics[by]):
            found.append(FamilyFit(family, law, statistics, p))
    if len(_KNOWN) >= REMEMBERED:
        _KNOWN.clear()
    _KNOWN[asked] = sorted(found, key=lambda fit: fit.statistics[by])
    return _KNOWN[asked]


def _compared(x: Array, law: Any, family: str, s: Any) -> tuple[dict[str, float], dict[str, float]]:
    """The three distances, each with its p, or at least that; for the first and the last parameters count as known."""
    x, n, counts = np.sort(x), len(x), family in COUNTS
    values, first = np.unique(x, return_index=True)
    at, above = law.cdf(values), np.append(first[1:], n) / n
    before = law.cdf(values - 1) if counts else at  # a count has its own step
    ks = float(max(np.abs(above - at).max(), np.abs(before - first / n).max()))
    ad = _gap_of_counts(x, law) if counts else _gap(law.cdf(x))
    classes = int(np.clip(round(n / 5), 2, INTERVALS[1]))
    ends = np.unique(law.ppf(np.arange(1, classes) / classes))
    expected = n * np.diff(law.cdf(ends), prepend=0.0, append=1.0)
    seen = np.bincount(np.searchsorted(ends, x, "left"), minlength=len(ends) + 1)
    chi = float(((seen - expected) ** 2 / np.maximum(expected, CLOSE)).sum())
    free = max(1, len(expected) - 1 - FREE.get(family, 2))
    p = float(s.kstwo.sf(ks, n)), float(s.chi2.sf(chi, free)), _anderson_darling(ad)
    return dict(zip(CRITERIA, (ks, chi, ad), strict=True)), dict(zip(CRITERIA, p, strict=True))


def _gap(u: Array) -> float:
    """Anderson and Darling's statistic; u: values in order, each the share of the law below it."""
    u, places = np.clip(u, 1e-300, 1 - 1e-16), np.arange(1, len(u) + 1)
    return float(-len(u) - ((2 * places - 1) * (np.log(u) + np.log1p(-u[::-1]))).mean())


def _gap_of_counts(x: Array, law: Any) -> float:
    """The same of whole numbers in order, by its integral over their steps (Choulakian, Lockhart & Stephens 1994)."""
    numbers = np.arange(max(x[-1], law.ppf(1 - CLOSE)))
    share, below = law.pmf(numbers), law.cdf(numbers)
    off = (np.searchsorted(x, numbers, "right") / len(x) - below) ** 2
    open_ = (below > 0) & (below < 1)
    return float(len(x) * (share[open_] * off[open_] / (below[open_] * (1 - below[open_]))).sum())


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
