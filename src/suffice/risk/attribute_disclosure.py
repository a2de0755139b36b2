"""Secrets that the released records with the same keys agree on (Taub, Elliot et al. 2018; Raab et al. 2024)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.measure.measure import SHARE, Measure, Value
from suffice.measure.pair import FilePair
from suffice.risk.keys import Levels, combined, secrets


@dataclass(frozen=True)
class AttributeDisclosure:
    """Shares of the original records.

    present: their keys are in the release
    told: there, all with these keys have one secret
    right: and it is theirs (DiSCO)
    revealed: and with these keys the original has one secret too
    before: with their keys the original has one secret
    """

    present: float
    told: float
    right: float
    revealed: float
    before: float


def attribute_disclosure(key: Levels, secret: Levels, released: Levels, guess: Levels) -> AttributeDisclosure:
    """key, secret: of the original records; released, guess: of the released ones; the same value has the same number.

    >>> attribute_disclosure(np.array([0, 0, 1, 2]), np.array([5, 6, 5, 7]), np.array([0, 1]), np.array([5, 5]))
    AttributeDisclosure(present=0.75, told=0.75, right=0.5, revealed=0.25, before=0.5)
    """
    size = int(max(key.max(initial=0), released.max(initial=0))) + 1
    told, first = _agreed(released, guess, size)
    before = _agreed(key, secret, size)[0]
    right = told[key] & (first[key] == secret)
    found = (np.bincount(released, minlength=size)[key] > 0, told[key], right, right & before[key], before[key])
    return AttributeDisclosure(*(float(each.mean()) if len(key) else 0.0 for each in found))


def _agreed(key: Levels, secret: Levels, size: int) -> tuple[NDArray[np.bool_], Levels]:
    """Whether all records with a key have one secret, and a secret of theirs."""
    first = np.zeros(size, dtype=np.int64)
    first[key] = secret
    differ = np.bincount(key, secret != first[key], minlength=size)
    return (differ == 0) & (np.bincount(key, minlength=size) > 0), first


def _measured(pair: FilePair) -> Value:
    key, released = combined(pair)
    each = {name: attribute_disclosure(key, *s[:1], released, *s[1:]) for name, s in secrets(pair)}
    worst = max(each, key=lambda name: each[name].right)
    parts = {name: found.right for name, found in each.items()}
    return Value(each[worst].right, {**parts, "told before": each[worst].before})


MEASURES = (
    Measure(
        "attribute-disclosure",
        _measured,
        frozenset({"known categories"}),
        SHARE,
        "higher is riskier",
        "share of original records with whose known categories all released records have one value of a confidential "
        "column, numbers by tenths of both files, which is theirs (DiSCO): of the column where it is largest; told "
        "before: with whose categories the original has one value",
        "Taub et al. (2018); Raab, Nowok & Dibben (2024)",
        whole=True,
    ),
)
