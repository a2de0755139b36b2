"""What is known of one column while records are drawn: its levels or numbers, its holes, its bins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.rows.arrow import as_float
from suffice.rows.bridge import numbers

BINS = 64
"""Groups, about equally large, that a number of more distinct values is cut into; one more is for holes."""
LEVELS = 253
"""Levels of a category that are told apart: the most frequent ones."""
SHARED = 10
"""A value of fewer records is some record's own, and is not handed on."""
GRIDS = tuple(10.0**e for e in range(15, -16, -1))
DIGITS = 1e9
"""Steps of a grid of parts to the largest number, at most: numbers of more digits have none."""
WHOLE = 2.0**53
"""Whole numbers below are exact."""


@dataclass(frozen=True, repr=False)
class Variable:
    """One column, as numbers: a category is the place of its level, from 1, and 0 where it is missing.

    hole: the number that stands for a missing cell; None where there is none
    levels: how many a category has; 0 for numbers
    """

    name: str
    levels: int
    hole: float | None
    values: Array
    """Those of numbers that there are, in order, holes aside; the levels of a category, the most frequent first."""
    counts: NDArray[np.int64]
    """Records that have each."""
    texts: Any = None
    """The levels of a given category."""
    different: NDArray[np.int64] | None = None
    """Different records that have each, where some are copies of others."""

    @classmethod
    def learn(cls, name: str, column: Any, levels: int, hole: float | None, known: Any = None) -> Variable:
        """column: as blocks hold it; levels: of a confidential category, coded; known: levels of a given one"""
        texts = None
        if isinstance(column, pa.Array):
            texts = pc.unique(column if known is None else known).drop_null().sort()
            levels = max(len(texts), 1)
        found = cls(name, levels, hole, np.empty(0), np.empty(0, dtype=np.int64), texts)
        y = found.numbers(column)
        values, counts = np.unique(y if levels or hole is None else y[y != hole], return_counts=True)
        order = np.argsort(-counts, kind="stable") if levels else np.arange(len(values))
        return cls(name, levels, hole, values[order], counts[order], texts)

    def numbers(self, column: Any) -> Array:
        """The column of a block as numbers."""
        if self.texts is None:
            return as_float(column)
        return as_float(numbers(pc.index_in(column, value_set=self.texts).cast(pa.float64()))).copy() + 1

    @cached_property
    def edges(self) -> Array:
        """The largest value of every bin but the last."""
        if len(self.values) <= BINS:
            return self.values[:-1]
        at = np.searchsorted(np.cumsum(self.counts), np.arange(1, BINS) / BINS * self.counts.sum())
        return np.unique(self.values[at])

    def bins(self, y: Array) -> NDArray[np.uint8]:
        """The bin of every value: a hole is one of its own, and so is every level of a category."""
        if self.levels:
            place = np.full(self.levels + 1, LEVELS + 1, dtype=np.uint8)
            shown = self.values[:LEVELS].astype(np.int64)
            place[shown] = np.arange(len(shown))
            return np.asarray(place[np.nan_to_num(y).astype(np.int64)])
        found = 1 + np.searchsorted(self.edges, y, "left")
        return np.where(self.holes(y), 0, found).astype(np.uint8)

    def holes(self, y: Array) -> Flags:
        return np.zeros(len(y), dtype=bool) if self.hole is None or self.levels else np.asarray(y == self.hole)

    @cached_property
    def grid(self) -> float | None:
        """The largest number that all are multiples of, in whole powers of ten; None where they have many digits."""
        if not len(size := np.abs(self.values[self.values != 0])):
            return 1.0
        if size.max() < WHOLE and (size == np.rint(size)).all():  # also where they are all far from zero
            return float(np.gcd.reduce(size.astype(np.int64)))
        possible = (step for step in GRIDS if size.max() < DIGITS * step and size.min() > 0.5 * step)
        step = next((each for each in possible if _are_multiples(size / each)), None)
        return None if step is None else step * int(np.gcd.reduce(np.rint(size / step).astype(np.int64)))

    @cached_property
    def own(self) -> Flags:
        """Which values are those of a few records only."""
        return np.asarray((self.counts if self.different is None else self.different) < SHARED)

    def ends(self, draws: np.random.Generator) -> Array:
        """A number for every value, between the middles of it and its neighbours; the outer ones move inside.

        They are drawn once for all files: however many records are drawn between two of them, they show, and not the
        values.
        """
        y = self.values
        if self.levels or len(y) < 4:
            return y
        middle = (y[1:] + y[:-1]) / 2
        low, high = np.concatenate([y[:2], middle[1:]]), np.concatenate([middle[:-1], y[-2:]])
        high[:2], low[-2:] = y[1:3], y[-3:-1]
        return self.on_grid(low + draws.random(len(y)) * (high - low))

    def counted(self, y: Array, once: Array) -> Variable:
        """The same, where only some records count."""
        if self.levels or not len(self.values):
            return self
        places = np.searchsorted(self.values, y[once > 0]).clip(max=len(self.values) - 1)
        real = places[self.values[places] == y[once > 0]]
        return replace(self, different=np.bincount(real, minlength=len(self.values)))

    def on_grid(self, y: Array) -> Array:
        if self.grid is None:
            return y
        step, parts = self.grid, round(1 / self.grid)  # so that .1 is the decimal .1
        fine = step < 1 and abs(parts * step - 1) < 1e-9
        return np.asarray(np.rint(y * parts) / parts if fine else np.rint(y / step) * step)


def _are_multiples(parts: Array) -> bool:
    """Up to rounding, which is small beside each."""
    return bool((np.abs(parts - np.rint(parts)) < 1e-9 * np.minimum(parts, 1e3)).all())


@dataclass(frozen=True, repr=False)
class Board:
    """Columns side by side as numbers, with their bins made once."""

    variables: Mapping[str, Variable]
    values: dict[str, Array] = field(default_factory=dict)
    _bins: dict[str, NDArray[np.uint8]] = field(default_factory=dict)

    def put(self, name: str, values: Array) -> None:
        self.values[name] = values
        self._bins.pop(name, None)

    def bins(self, names: Sequence[str], rows: Any = slice(None)) -> NDArray[np.uint8]:
        self.bin(names)
        found = (
            np.column_stack([self._bins[name] for name in names]) if names else np.zeros((len(self), 0), dtype=np.uint8)
        )
        return np.asarray(found[rows])

    def bin(self, names: Sequence[str]) -> None:
        """Makes the bins of columns, which parts of the board then have."""
        for name in names:
            if name not in self._bins:
                self._bins[name] = self.variables[name].bins(self.values[name])

    def __len__(self) -> int:
        return len(next(iter(self.values.values()), ()))

    def at(self, rows: Any) -> Board:
        """Some of the records, with the bins that are known."""
        bins = {name: values[rows] for name, values in self._bins.items()}
        return Board(self.variables, {name: values[rows] for name, values in self.values.items()}, bins)
