"""Special uniques: by how few categories a record is told from all others (Elliot, Manning & Ford 2002)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import factorial

import numpy as np

from suffice.algebra.array import Array
from suffice.measure.measure import SHARE, Measure, Value
from suffice.measure.pair import FilePair
from suffice.risk.keys import Levels, joint, keyed, released_weight

SAMPLED, KEYS = 0.01, 10
"""The share of the population that a file is taken for where nothing is said; keys of which all sets are looked at."""


@dataclass(frozen=True, repr=False)
class SpecialUniques:
    """For each record: its score, each key's share of that, and the chance that a match is right (DIS-SUDA)."""

    scores: Array
    contributions: Array
    dis: Array


def special_uniques(columns: Sequence[Levels], sampled: float = SAMPLED) -> SpecialUniques:
    """Sum over the minimal sets of m keys, of M, in which a record is alone, of (M - m)!.

    Minimal: it is alone in no part of the set; a smaller set weighs more. DIS (Elliot 2000), with U unique records, P
    in pairs and a share s of the population: d = U s / (U s + P (1 - s)), spread over records by score^q,
    q = 1 + (8 - M) / 20: 1 / (1 + (U / d - U) / (score^q A)), A the sum of score^-q.

    >>> found = special_uniques([np.array([0, 0, 1]), np.array([3, 4, 4])])
    >>> found.scores.tolist(), found.contributions[0].tolist()
    ([1.0, 1.0, 1.0], [0.0, 1.0])
    """
    n, keys = len(columns[0]), len(columns)
    every = joint(columns, n)
    size = np.bincount(every)[every]
    alone = np.flatnonzero(size == 1)  # who is alone by some keys is alone by all
    scores, shares = np.zeros(len(alone)), np.zeros((len(alone), keys))
    unique: dict[tuple[int, ...], np.ndarray[tuple[int], np.dtype[np.bool_]]] = {}
    for m in range(1, keys + 1):
        known, unique = unique, {}
        for chosen in combinations(range(keys), m):
            key = joint([columns[j] for j in chosen], n)
            unique[chosen] = (np.bincount(key)[key] == 1)[alone]
            minimal = unique[chosen].copy()
            for part in combinations(chosen, m - 1):
                minimal &= ~known[part] if part else True
            weight = minimal * float(factorial(keys - m))
            scores += weight
            shares[:, chosen] += weight[:, None]
    found, contributions = np.zeros(n), np.zeros((n, keys))
    found[alone] = scores
    contributions[alone] = shares / np.maximum(scores, 1)[:, None]
    return SpecialUniques(found, contributions, _dis(found, len(alone), int((size == 2).sum()), keys, sampled))


def _dis(scores: Array, alone: int, pairs: int, keys: int, sampled: float) -> Array:
    there, q = scores > 0, 1 + (8 - keys) / 20
    dis = np.zeros(len(scores))
    if there.any():
        spread = float((scores[there] ** -q).sum())
        wrong = pairs * (1 - sampled) / sampled  # U / d - U
        dis[there] = 1 / (1 + wrong / (scores[there] ** q * spread))
    return dis


def _measured(pair: FilePair) -> Value:
    columns = [released for _, released in keyed(pair)]
    weights = released_weight(pair)
    some = sorted(columns, key=lambda each: -len(np.unique(each)))[:KEYS]
    sampled = SAMPLED if weights is None else min(0.999, len(some[0]) / max(float(weights.sum()), 1.0))
    found = special_uniques(some, sampled)
    parts = {"unique": float((found.scores > 0).mean()), "largest": float(found.dis.max(initial=0.0))}
    said = "" if len(some) == len(columns) else f"the {KEYS} keys with most levels are looked at"
    return Value(float(found.dis.mean()), parts, said=said)


MEASURES = (
    Measure(
        "special-uniques",
        _measured,
        frozenset({"categories"}),
        SHARE,
        "higher is riskier",
        "mean DIS-SUDA score: the chance that a match with a released record that is alone is right, larger where few "
        "categories tell it; the file is the share of the population that the weights say, or 1 %; unique: share of "
        "records that are alone",
        "Elliot, Manning & Ford (2002); Elliot (2000)",
        most=200_000,
    ),
)
