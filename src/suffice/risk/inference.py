"""Inference: a record's secret taken from the released record that is nearest in all else (Giomi et al. 2023, 3.3)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from suffice.algebra.array import Array
from suffice.measure.measure import SHARE, Measure
from suffice.measure.pair import FilePair
from suffice.risk.attack import (
    RISK,
    AttackRates,
    MixedRecords,
    Rate,
    mixed,
    nearest_mixed,
    right,
    said,
    shared_categories,
    tried,
)

Attack = Callable[[MixedRecords, MixedRecords, MixedRecords, int], AttackRates]


def inference(original: MixedRecords, control: MixedRecords, released: MixedRecords, secret: int) -> AttackRates:
    """The guess of column `secret` is that of the nearest released record in the other columns: right where the
    category is, or the number within 5 % of the truth; without the release it is that of any released record."""
    known = np.delete(np.arange(released.width), secret)
    seen = released.columns(known)

    def guessed(records: MixedRecords) -> Array:
        return column(released, secret)[nearest_mixed(records.columns(known), seen)[:, 0]]

    return compared(original, control, released, secret, guessed)


def compared(
    original: MixedRecords,
    control: MixedRecords,
    released: MixedRecords,
    secret: int,
    guessed: Callable[[MixedRecords], Array],
) -> AttackRates:
    """The rates of a way of guessing a column, beside those of any released record's value."""

    def judged(guess: Array, truth: Array) -> Rate:
        spread = float(column(original, secret).std()) if secret in original.dates else truth
        return Rate.of_trials(right(guess, truth, None if secret >= released.numbers.shape[1] else spread))

    rates = []
    for records in (original, control):
        some = records.rows(tried(len(records)))
        rates.append(judged(guessed(some), column(some, secret)))
    some = original.rows(tried(len(original)))
    any_of = np.random.default_rng(1).integers(len(released), size=len(some))
    return AttackRates(rates[0], rates[1], judged(column(released, secret)[any_of], column(some, secret)))


def column(records: MixedRecords, number: int) -> Array:
    """A column by its place, numbers being counted first."""
    p = records.numbers.shape[1]
    return np.asarray(records.numbers[:, number] if number < p else records.levels[:, number - p], dtype=np.float64)


def worst(pair: FilePair, attack: Attack) -> AttackRates:
    """The rates of the confidential column of which an attack tells most."""
    files = mixed(pair)
    names = enumerate(shared_categories(pair), len(pair.numbers))
    own = [place for place, name in names if name in pair.roles.confidential]
    alone = files[2].width < 2  # a lone column: nothing else is known of a record
    rates = [] if alone else [attack(*files, secret) for secret in (*range(len(pair.numbers)), *own)]
    return max(rates, key=lambda each: each.risk, default=AttackRates(Rate(0, 0), Rate(0, 0), Rate(0, 0)))


MEASURES = (
    Measure(
        "inference",
        lambda pair: said(worst(pair, inference)),
        frozenset({"hold-out", "numbers"}),
        SHARE,
        "higher is riskier",
        RISK
        + "for which the released record nearest in all other columns has the value of a confidential column, or one "
        "within 5 %: of the column where it is largest",
        "Giomi et al. (2023)",
        most=5_000,
    ),
)
