"""Individual risk: the chance that a record's categories find it in the population (Benedetti & Franconi 1998)."""

from __future__ import annotations

import numpy as np
from scipy.special import hyp2f1

from suffice.algebra.array import Array
from suffice.measure.measure import SHARE, Measure, Value
from suffice.measure.pair import FilePair
from suffice.risk.keys import KeyCounts, key_counts, keyed, released_weight

LARGE, TERMS = 20.0, 100


def individual_risk(counts: KeyCounts) -> Array:
    """E(1 / F | f) where F given f is negative binomial with success probability p = f / estimated F.

    r = (p^f / f) 2F1(f, f; f + 1; 1 - p) = (p / f) 2F1(1, 1; f + 1; 1 - p);       (Polettini 2003, (8); Euler)
    of f = 1 that is p / (1 - p) log(1 / p), of a sampled population (p = 1) 1 / f.

    >>> individual_risk(KeyCounts(np.array([1.0, 2.0, 2.0]), np.array([17.0, 110.0, 2.0]))).round(6).tolist()
    [0.177076, 0.017144, 0.5]
    """
    f = counts.sample
    p = np.clip(f / np.maximum(counts.population, f), 0.0, 1.0)
    series, term = np.ones_like(f), np.ones_like(f)
    for k in range(TERMS):  # of large f, where SciPy has no answer, a few terms are all
        term = term * (k + 1) / (f + k + 1) * (1 - p)
        series += term
    return np.asarray(p / f * np.where(f < LARGE, hyp2f1(1.0, 1.0, np.minimum(f, LARGE) + 1, 1 - p), series))


def _measured(pair: FilePair) -> Value:
    risks = individual_risk(key_counts([released for _, released in keyed(pair)], released_weight(pair)))
    return Value(float(risks.mean()), {"largest": float(risks.max()), "expected": float(risks.sum())})


MEASURES = (
    Measure(
        "individual-risk",
        _measured,
        frozenset({"categories", "weights"}),
        SHARE,
        "higher is riskier",
        "mean over the released records of E(1 / F | f): f records have its known categories, F in the population, "
        "negative binomial with success probability f / (sum of their weights); expected: the sum",
        "Benedetti & Franconi (1998); Polettini (2003)",
        whole=True,
    ),
)
