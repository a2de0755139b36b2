"""k-anonymity: records that share their categories with too few others (Samarati & Sweeney 1998)."""

from __future__ import annotations

import numpy as np

from suffice.measure.measure import SHARE, Measure, Value
from suffice.measure.pair import FilePair
from suffice.risk.keys import KeyCounts, key_counts, keyed


def k_anonymity(counts: KeyCounts, k: int = 3) -> float:
    """The share of records whose categories fewer than k records have: 0 in a k-anonymous file.

    >>> k_anonymity(KeyCounts(np.array([1.0, 3.0, 3.0, 3.0]), np.ones(4)))
    0.25
    """
    return float(np.mean(counts.sample < k)) if len(counts.sample) else 0.0


def _measured(pair: FilePair) -> Value:
    counts = key_counts([released for _, released in keyed(pair)])
    return Value(k_anonymity(counts), {"alone": k_anonymity(counts, 2), "fewest": float(counts.sample.min())})


MEASURES = (
    Measure(
        "k-anonymity",
        _measured,
        frozenset({"categories"}),
        SHARE,
        "higher is riskier",
        "share of released records whose known categories fewer than 3 records have, a missing one agreeing with all; "
        "alone: fewer than 2; fewest: the least number that any combination has",
        "Samarati & Sweeney (1998)",
        whole=True,
    ),
)
