"""Singling out: conditions that one released record meets, and then one original (Giomi et al. 2023, section 3.1)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.measure.measure import SHARE, Measure
from suffice.risk.attack import AttackRates, MixedRecords, Rate, mixed, said, tried
from suffice.risk.inference import column

GUESSES, COLUMNS, FILE = 500, 3, 10_000


def singling_out(original: MixedRecords, control: MixedRecords, released: MixedRecords) -> AttackRates:
    """Conditions are made of three columns of a released record, drawn at random: as far from the median or farther,
    or the same category; those that only that record meets are put to as many originals as there are in the hold-out.
    A guess is a condition made of three values that are drawn from different released records."""
    size = min(len(original), len(control), FILE)
    files = [records.rows(tried(len(records), size)) for records in (original, control)]
    released = released.rows(tried(len(released), FILE))
    middle, rng = np.median(released.numbers, axis=0), np.random.default_rng(1)
    wide, p = min(COLUMNS, released.width), released.numbers.shape[1]

    def met(records: MixedRecords, chosen: NDArray[np.intp], values: Array) -> Flags:
        there = np.ones(len(records), dtype=np.bool_)
        for j, value in zip(chosen, values, strict=True):
            y = column(records, int(j))
            there &= (y == value) if j >= p else (y >= value) if value >= middle[j] else (y <= value)
        return there

    def conditions(any_of: bool) -> Iterator[tuple[NDArray[np.intp], Array]]:
        seen: set[tuple[int, ...]] = set()
        for _ in range(4 * GUESSES):
            chosen = rng.choice(released.width, wide, replace=False)
            rows = rng.integers(len(released), size=wide) if any_of else np.repeat(rng.integers(len(released)), wide)
            values = np.array([column(released, int(j))[i] for j, i in zip(chosen, rows, strict=True)])
            if any_of or int(met(released, chosen, values).sum()) == 1:
                name = (*sorted(chosen.tolist()), *rows.tolist())
                if name not in seen:
                    seen.add(name)
                    yield chosen, values
            if len(seen) == GUESSES:
                return

    guesses, blind = list(conditions(False)), list(conditions(True))

    def alone(records: MixedRecords, asked: list[tuple[NDArray[np.intp], Array]]) -> Rate:
        return Rate(sum(int(met(records, *each).sum()) == 1 for each in asked), len(asked))

    return AttackRates(alone(files[0], guesses), alone(files[1], guesses), alone(files[0], blind))


MEASURES = (
    Measure(
        "singling-out",
        lambda pair: said(singling_out(*mixed(pair))),
        frozenset({"hold-out", "numbers"}),
        SHARE,
        "higher is riskier",
        "(a - c) / (1 - c), or 0: of conditions on three columns that one released record meets, a the share that one "
        "original meets, and c that one record of the hold-out meets",
        "Giomi et al. (2023)",
        most=10_000,
    ),
)
