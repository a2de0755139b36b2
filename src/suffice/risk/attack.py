"""Attacks with a control: how often they succeed on records behind a release, on others, and by guessing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.measure.measure import Value
from suffice.measure.pair import Columns, FilePair
from suffice.risk.keys import levels

SURE = 1.959963984540054
NEAR = 0.05
"""A guess of a number is right within this share of the truth."""
ROOM = 2**22
TRIED = 2_000
"""Records that an attack is tried on, at most."""


@dataclass(frozen=True)
class Rate:
    """Successes of so many trials."""

    found: int
    of: int

    @property
    def share(self) -> float:
        return self.found / self.of if self.of else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's, of 95 %.

        >>> tuple(round(end, 4) for end in Rate(5, 50).interval)
        (0.0435, 0.2136)
        """
        if not self.of:
            return 0.0, 1.0
        p, n, z = self.share, self.of, SURE
        middle, half = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        low, high = (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)
        return max(0.0, min(low, p)), min(1.0, max(high, p))

    @classmethod
    def of_trials(cls, right: Flags) -> Rate:
        return cls(int(np.sum(right)), len(right))


@dataclass(frozen=True)
class AttackRates:
    """An attack on records behind a release, on records of a hold-out, and guesses made without the release.

    risk: what the attack finds beyond what it finds of those whose records the release does not hold: 0 is none, 1 all
    (Giomi et al. 2023, (4)); what holds of the hold-out as well is knowledge of the population, not of the records.

    >>> AttackRates(Rate(75, 100), Rate(50, 100), Rate(1, 100)).risk
    0.5
    """

    attack: Rate
    control: Rate
    guess: Rate

    @property
    def risk(self) -> float:
        return _beyond(self.attack.share, self.control.share)

    @property
    def interval(self) -> tuple[float, float]:
        """The risk at the ends of both rates' intervals that are against it, and for it."""
        (low, high), (few, many) = self.attack.interval, self.control.interval
        return _beyond(low, many), _beyond(high, few)


def _beyond(a: float, c: float) -> float:
    return max(0.0, (a - c) / (1 - c)) if c < 1 else 0.0


@dataclass(frozen=True, repr=False)
class MixedRecords:
    """Numbers and categories of records: columns of numbers, and levels by number.

    dates: places of numbers that count days: guesses are right within a share of their standard deviation
    """

    numbers: Array
    levels: NDArray[np.int64]
    dates: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.numbers)

    def rows(self, places: NDArray[np.intp] | slice) -> MixedRecords:
        return MixedRecords(self.numbers[places], self.levels[places])

    def columns(self, chosen: NDArray[np.intp]) -> MixedRecords:
        """Some of the columns, numbers being counted first."""
        p = self.numbers.shape[1]
        return MixedRecords(self.numbers[:, chosen[chosen < p]], self.levels[:, chosen[chosen >= p] - p])

    @property
    def width(self) -> int:
        return int(self.numbers.shape[1] + self.levels.shape[1])


def nearest_mixed(records: MixedRecords, released: MixedRecords, k: int = 1) -> NDArray[np.intp]:
    """For each record the k nearest released ones: |a - b| / sd of the released column, and 1 for another category.

    >>> one = MixedRecords(np.array([[0.0], [9.0]]), np.array([[1], [1]]))
    >>> nearest_mixed(one, MixedRecords(np.array([[8.0], [1.0]]), np.array([[1], [1]])))[:, 0].tolist()
    [1, 0]
    """
    n, k = len(released), min(k, len(released))
    sd = released.numbers.std(axis=0)
    scale = np.where(sd > 0, sd, 1.0)
    found = np.empty((len(records), k), dtype=np.intp)
    step = max(1, ROOM // max(1, n))
    for some in (slice(i, i + step) for i in range(0, len(records), step)):
        each = records.rows(some)
        distance = np.zeros((len(each), n))
        for a, b, s in zip(each.numbers.T, released.numbers.T, scale, strict=True):
            distance += np.abs(a[:, None] - b) / s
        for c, d in zip(each.levels.T, released.levels.T, strict=True):
            distance += c[:, None] != d
        found[some] = distance.argmin(axis=1)[:, None] if k == 1 else np.argpartition(distance, k - 1)[:, :k]
    return found


def right(guess: Array, truth: Array, size: Array | float | None) -> Flags:
    """Whether a guess is the category (no size), or within 5 % of a size: the truth's, so that zero is guessed as zero,
    or for dates the standard deviation."""
    return np.asarray(guess == truth if size is None else np.abs(guess - truth) <= NEAR * np.abs(size))


def tried(n: int, most: int = TRIED) -> NDArray[np.intp]:
    """Places of the records that are tried, spread over the file."""
    return np.linspace(0, n - 1, min(n, most)).astype(np.intp)


def mixed(pair: FilePair) -> tuple[MixedRecords, MixedRecords, MixedRecords]:
    """Original, hold-out and release: confidential numbers, and the categories that all three have."""
    assert pair.aside is not None
    one, two, three = of_files(pair, (pair.before, pair.aside, pair.after[0]), shared_categories(pair))
    return one, two, three


def shared_categories(pair: FilePair) -> list[str]:
    """Categories that the hold-out has too."""
    return [name for name in pair.categories if pair.aside is not None and name in pair.aside]


def of_files(pair: FilePair, files: Sequence[Columns], names: Sequence[str]) -> list[MixedRecords]:
    """The numbers of files, and these categories, by the same numbers in all of them."""
    tables = [pair.table(each, names) for each in files]
    coded = [levels(*(table[name] for table in tables)) for name in names]
    found = []
    for i, Y in enumerate(map(pair.matrix, files)):
        C = np.stack([column[i] for column in coded], axis=1) if coded else np.zeros((len(Y), 0), dtype=np.int64)
        found.append(MixedRecords(Y, C, tuple(j for j, name in enumerate(pair.numbers) if name in pair.dates)))
    return found


def said(rates: AttackRates) -> Value:
    """The risk of an attack, with the rates that it is made of."""
    low, high = rates.interval
    parts = {"low": low, "high": high, "attack": rates.attack.share, "hold-out": rates.control.share}
    return Value(rates.risk, {**parts, "guess": rates.guess.share}, said=f"{rates.attack.of:,} trials")


RISK = "(a - c) / (1 - c), or 0, a the share of originals and c of hold-out records "
