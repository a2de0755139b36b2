"""Identification risk of partially synthetic files (Reiter & Mitra 2009; Drechsler & Reiter 2008)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from suffice.algebra.array import Array, Flags
from suffice.measure.measure import SHARE, Measure, Value
from suffice.measure.pair import FilePair
from suffice.risk.attack import MixedRecords, of_files, tried

RADIUS, MOST = 0.1, 1_000


@dataclass(frozen=True)
class Identification:
    """expected: sum over targets of T / c, over their number; right: share of targets with one match that is theirs;
    wrong: share of the single matches that are another's"""

    expected: float
    right: float
    wrong: float
    targets: int


def identification(
    original: MixedRecords,
    releases: Sequence[MixedRecords],
    weights: Array | None = None,
    radius: float = RADIUS,
    reach: Array | None = None,
) -> Identification:
    """Target j is matched with released records that have its categories and numbers within 10 % of its own.

    Each of m releases gives a match 1 over the number of them; probabilities are averaged over the releases, and the c
    records with the largest are the matches; T = 1 if the target's is one. Record i of every file is the same unit.
    weights: where the file is a sample whose members the intruder does not know: c is no less than the sum of the
    weights of the originals that match the target. Of more than 1,000 targets 1,000 are tried.
    reach: for each number of the targets; 10 % of it, or `radius`, unless told

    >>> one = MixedRecords(np.array([[1.0], [1.05], [9.0]]), np.zeros((3, 1), dtype=np.int64))
    >>> identification(one, [one])
    Identification(expected=0.6666666666666666, right=0.3333333333333333, wrong=0.0, targets=3)
    """
    targets = tried(len(original), MOST)
    reach = radius * np.abs(original.numbers) if reach is None else reach
    expected = right = single = 0.0
    for j in targets:
        chance = np.zeros(len(original))
        for released in releases:
            match = _like(released, original, j, reach[j])
            chance += match / max(1, match.sum())
        best = chance.max()
        if not best:
            continue
        matches = chance >= best * (1 - 1e-9)
        c = float(matches.sum())
        if weights is not None:
            c = max(c, float(weights[_like(original, original, j, reach[j])].sum()))
        expected += matches[j] / c
        single += c == 1
        right += matches[j] and c == 1  # c T = 1
    n = max(1, len(targets))
    return Identification(float(expected / n), float(right / n), float((single - right) / max(single, 1)), len(targets))


def _like(records: MixedRecords, original: MixedRecords, j: int, reach: Array) -> Flags:
    """Which records have the categories of original j, and numbers near its own."""
    left = np.arange(len(records))
    for level, own in zip(records.levels.T, original.levels[j], strict=True):
        left = left[level[left] == own]
    for y, own, far in zip(records.numbers.T, original.numbers[j], reach, strict=True):
        left = left[np.abs(y[left] - own) <= far]
    found = np.zeros(len(records), dtype=np.bool_)
    found[left] = True
    return found


def _measured(pair: FilePair) -> Value:
    original, *releases = of_files(pair, (pair.before, *pair.after), pair.known)
    found = identification(original, releases, pair.weight, reach=pair.reach(RADIUS))
    said = "" if found.targets == len(pair.Y) else f"{found.targets:,} targets are tried"
    return Value(found.expected, {"right": found.right, "wrong": found.wrong}, said=said)


MATCHED = (
    "mean over targets of T / c: c released records have the target's known categories and its numbers within 10 % "
    "(dates: of the standard deviation), T says whether its own is one of them; right: share of targets with c T = 1; "
    "wrong: share of single matches that are another's; with weights c is no less than the matches in the population"
)
MEASURES = (
    Measure(
        "identification-risk",
        _measured,
        frozenset({"aligned rows", "numbers"}),
        SHARE,
        "higher is riskier",
        MATCHED,
        "Reiter & Mitra (2009); Drechsler & Reiter (2008)",
        most=200_000,
    ),
    Measure(
        "identification-risk-joint",
        _measured,
        frozenset({"aligned rows", "numbers", "several releases"}),
        SHARE,
        "higher is riskier",
        f"{MATCHED}; the probabilities of a match are averaged over the releases before the largest is taken",
        "Reiter & Mitra (2009); Drechsler & Reiter (2008)",
        most=200_000,
    ),
)
