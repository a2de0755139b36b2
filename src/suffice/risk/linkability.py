"""Linkability: whether a release joins the two halves of a record's columns (Giomi et al. 2023, section 3.2)."""

from __future__ import annotations

import numpy as np

from suffice.measure.measure import SHARE, Measure
from suffice.risk.attack import RISK, AttackRates, MixedRecords, Rate, mixed, nearest_mixed, said, tried


def linkability(original: MixedRecords, control: MixedRecords, released: MixedRecords, k: int = 1) -> AttackRates:
    """A record is linked where one of the k released records nearest in every other column is one of those nearest in
    the rest; a guess is k records of either half at random."""
    halves = np.arange(released.width)[::2], np.arange(released.width)[1::2]

    def linked(records: MixedRecords) -> Rate:
        some = records.rows(tried(len(records)))
        one, two = (nearest_mixed(some.columns(half), released.columns(half), k) for half in halves)
        return Rate.of_trials((one[:, :, None] == two[:, None, :]).any(axis=(1, 2)))

    if released.width < 2:
        return AttackRates(Rate(0, 0), Rate(0, 0), Rate(0, 0))  # there are no two halves
    n, attack = len(released), linked(original)
    missed = np.prod(1 - k / (n - np.arange(min(k, n)))) if k < n else 0.0
    return AttackRates(attack, linked(control), Rate(round(attack.of * float(1 - missed)), attack.of))


MEASURES = (
    Measure(
        "linkability",
        lambda pair: said(linkability(*mixed(pair))),
        frozenset({"hold-out", "numbers"}),
        SHARE,
        "higher is riskier",
        RISK + "for which the released record nearest in every other column is also the nearest in the rest",
        "Giomi et al. (2023)",
        most=10_000,
    ),
)
