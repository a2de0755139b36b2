"""l-diversity: how many values of a secret stand behind the same categories (Machanavajjhala et al. 2007)."""

from __future__ import annotations

import numpy as np

from suffice.algebra.array import Array
from suffice.measure.measure import SHARE, Measure, Value
from suffice.measure.pair import FilePair
from suffice.risk.keys import Levels, combined, joint, secrets


def l_diversity(key: Levels, secret: Levels) -> tuple[Array, Array]:
    """For each record: how many secrets the records with its key have, and exp of their entropy, which is no more.

    A missing secret is a value of its own.

    >>> distinct, entropy = l_diversity(np.array([0, 0, 0, 1]), np.array([7, 7, 8, 7]))
    >>> distinct.tolist(), entropy.round(4).tolist()
    ([2.0, 2.0, 2.0, 1.0], [1.8899, 1.8899, 1.8899, 1.0])
    """
    n = len(key)
    if not n:
        return np.zeros(0), np.zeros(0)
    group = joint([key], n)
    _, first, count = np.unique(joint([group, secret], n), return_index=True, return_counts=True)
    of = group[first]
    p = count / np.bincount(group)[of]
    distinct, entropy = np.bincount(of), np.bincount(of, -p * np.log(p))
    return distinct[group].astype(np.float64), np.exp(entropy)[group]


def too_alike(key: Levels, secret: Levels, least: int = 2) -> float:
    """The share of records behind whose categories stand fewer than l secrets: of l = 2, those whose secret is told."""
    return float(np.mean(l_diversity(key, secret)[0] < least)) if len(key) else 0.0


def _measured(pair: FilePair) -> Value:
    key = combined(pair)[1]
    found = {name: too_alike(key, released) for name, (_, released) in secrets(pair)}
    return Value(max(found.values()), found)


MEASURES = (
    Measure(
        "l-diversity",
        _measured,
        frozenset({"known categories"}),
        SHARE,
        "higher is riskier",
        "share of released records behind whose known categories stands one value of a confidential column, numbers by "
        "tenths of both files, missing being a value: of the column where it is largest",
        "Machanavajjhala et al. (2007)",
        whole=True,
    ),
)
