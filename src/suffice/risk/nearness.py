"""How many records are released near their own value: by value, and by rank."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from suffice.algebra.array import Array
from suffice.measure.measure import SHARE, Measure, Value
from suffice.measure.pair import FilePair
from suffice.risk.matches import Matches, near
from suffice.risk.sample import RecordSample

RANKS = 0.02
"""Near by rank: within this share of the ranks."""
FEWEST = 20
"""Records of a part that tell something."""

Nearness = dict[tuple[str, str, int], Matches]
"""By column, by what it was compared ("value", "rank"), by part."""


def nearness(sample: RecordSample, dates: Sequence[str] = ()) -> Nearness:
    """Every column of every part. Exact zeros are aside: another rule speaks of those; no date is zero."""
    found: Nearness = {}
    for name, part, y, released in sample.columns():
        date = name in dates
        there = (y != 0) | date
        if there.sum() >= FEWEST:
            y, released = y[there], released[there]
            found[name, "value", part] = matches(y, released, near(y, date))
            window = np.full(len(y), max(RANKS * len(y), 1.0))
            found[name, "rank", part] = matches(_ranks(y), _ranks(released), window)
    return found


def matches(y: Array, released: Array, reach: Array) -> Matches:
    """Records released within reach of their own value, and the mean number over all orders of the released ones."""
    inorder = np.sort(released)
    high, low = np.searchsorted(inorder, y + reach, "right"), np.searchsorted(inorder, y - reach, "left")
    return Matches(len(y), int((np.abs(released - y) <= reach).sum()), float((high - low).mean()))


def _ranks(values: Array) -> Array:
    """Equal values share the rank in their middle."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(count) - (count - 1) / 2)[place])


def _near(pair: FilePair, kind: str) -> Value:
    parts, found = np.zeros(len(pair.original), dtype=np.int64), Nearness()
    for name, y, z in zip(pair.numbers, pair.original.columns(), pair.release.columns(), strict=True):
        found |= nearness(RecordSample((name,), y[:, None], z[:, None], parts), pair.dates)
    excess = {name: max(0.0, each.excess) for (name, compared, _), each in found.items() if compared == kind}
    said = "" if excess else f"no column has {FEWEST} values other than zero"
    return Value(max(excess.values(), default=0.0), excess, said=said)


MEASURES = (
    Measure(
        "nearness",
        partial(_near, kind="value"),
        frozenset({"aligned rows", "numbers"}),
        SHARE,
        "higher is riskier",
        "share of records released within 5 % of their own value and a tenth of the standard deviation, beyond chance "
        "(found - chance)/(1 - chance): the largest over columns; zeros aside; dates by the standard deviation alone",
        whole=True,
    ),
    Measure(
        "rank-nearness",
        partial(_near, kind="rank"),
        frozenset({"aligned rows", "numbers"}),
        SHARE,
        "higher is riskier",
        "share of records released within 2 % of the ranks of their own, beyond chance: the largest over columns; "
        "zeros aside",
        whole=True,
    ),
)
