"""Categories and terms as columns of X: treatment coding, dummies and their products."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa

from suffice.algebra.levels import Levels, integers, missing
from suffice.algebra.sightings import Sightings
from suffice.errors import InputError
from suffice.formula import Factor, Term
from suffice.rows import Block

Array = np.ndarray[Any, np.dtype[np.float64]]
Codes = np.ndarray[Any, np.dtype[np.intp]]

TRANSFORM: Mapping[str, Callable[[Any], Any]] = {
    "log": np.log,
    "log1p": np.log1p,
    "log10": np.log10,
    "sqrt": np.sqrt,
    "square": np.square,
}


def as_float(values: Any) -> Array:
    """A numeric column as float64, without a copy where it is so already."""
    return np.asarray(values, dtype=np.float64)


def number(factor: Factor, block: Block) -> Any:
    """A numeric factor's values; outside the transform's domain not finite, for a fold to notice."""
    column = block.columns[factor.column]
    if factor.transform is None:
        return column
    with np.errstate(all="ignore"):
        return TRANSFORM[factor.transform](as_float(column))


def numbers_in(term: Term) -> Term:
    return tuple(factor for factor in term if factor.transform != "C")


def multiplied(factors: Term, block: Block) -> Array:
    """The product of numeric factors; it may overflow, for a fold to notice."""
    with np.errstate(all="ignore"):
        return np.asarray(np.multiply.reduce([as_float(number(factor, block)) for factor in factors]))


@dataclass(frozen=True)
class Category:
    """The levels of one column, each with the position that its dummies have.

    name: the column
    texts: the position of each level, where levels are text
    numbers: the levels in order, where they are whole numbers
    positions: the position of each of these
    absent: the position of missing cells, where these are a level; else -1
    size: how many positions there are
    notes: which levels were joined, and how many cells are missing, as counts
    """

    name: str
    texts: Mapping[str, int] = field(repr=False)
    numbers: np.ndarray[Any, np.dtype[np.int64]] = field(repr=False)
    positions: Codes = field(repr=False)
    absent: int
    size: int
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, levels: Levels, merge_below: int) -> Category:
        """Small levels are joined - and, where together they are still small, the next smallest with them."""
        ordered = sorted(levels.counts)  # all text or all whole numbers
        holes = [levels.missing.count] if levels.missing else []
        counts = np.array([*(levels.counts[level] for level in ordered), *holes], dtype=np.intp)
        small = _small(counts, merge_below)
        positions = (np.cumsum(~small) - 1).astype(np.intp)
        positions[small] = (~small).sum()
        size = int((~small).sum() + small.any())
        absent = int(positions[-1]) if holes else -1
        text = bool(ordered) and isinstance(ordered[0], str)
        texts = dict(zip(map(str, ordered), positions.tolist(), strict=False)) if text else {}
        numbers = integers([] if text else ordered)
        return cls(name, texts, numbers, positions[: len(numbers)], absent, size, _notes(name, counts[small], holes))

    def codes(self, block: Block) -> Codes:
        """Position of every row's level; a level that was not learnt is an error."""
        column = block.columns[self.name]
        found = self._find_text(column) if isinstance(column, pa.Array) else self._find_number(column)
        if (found < 0).any():
            raise InputError(
                f"Column {self.name!r} is missing, or has a level that was not learnt: "
                f"{Sightings.of(found < 0, block.start)}.\nLearn from a file that has every level."
            )
        return found

    def _find_text(self, column: Any) -> Codes:
        """Only the block's own levels are looked up: there may be a million others."""
        coded = column.dictionary_encode()
        places = [self.texts.get(level, -1) for level in coded.dictionary.to_pylist()]
        indices = coded.indices.fill_null(len(places)).to_numpy(zero_copy_only=False)
        return np.asarray(np.array([*places, self.absent], dtype=np.intp)[indices])

    def _find_number(self, column: Any) -> Codes:
        absent = missing(column)
        values = integers(np.where(absent, 0, column)) if absent.any() else integers(column)
        if not len(self.numbers):
            return np.where(absent, self.absent, -1)
        found = np.searchsorted(self.numbers, values).clip(max=len(self.numbers) - 1)
        known = np.where(self.numbers[found] == values, self.positions[found], -1)
        return np.where(absent, self.absent, known)


def _notes(name: str, joined: Codes, holes: list[int]) -> tuple[str, ...]:
    told = [f"{name}: missing in {count} records, which are a level of their own" for count in holes]
    if len(joined):
        told.append(f"{name}: {len(joined)} small levels ({joined.sum()} records) joined")
    return tuple(told)


def _small(counts: Codes, below: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which levels to join: none if none is small, else the smallest ones until they have `below` records."""
    if not (counts < below).any():
        return np.zeros(len(counts), dtype=bool)
    order = np.argsort(counts, kind="stable")
    enough = np.searchsorted(np.cumsum(counts[order]), below) + 1
    joined = np.zeros(len(counts), dtype=bool)
    joined[order[: max(enough, (counts < below).sum())]] = True
    return joined


@dataclass(frozen=True)
class Expansion:
    """One term as columns: dummies of its levels' combinations, times its numbers.

    term: the factors
    sizes: for each categorical factor the levels that it has
    dropped: for each categorical factor 1 where its first level has no dummy, else 0
    """

    term: Term
    sizes: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()

    @cached_property
    def widths(self) -> tuple[int, ...]:
        return tuple(size - drop for size, drop in zip(self.sizes, self.dropped, strict=True))

    @cached_property
    def width(self) -> int:
        return prod(self.widths)

    @property
    def names(self) -> tuple[str, ...]:
        """`region[2]:log(employees)`: a level is named by its position, counted from 1."""
        parts, category = [], iter(zip(self.sizes, self.dropped, strict=True))
        for factor in self.term:
            if factor.transform == "C":
                size, drop = next(category)
                parts.append([f"{Factor(factor.column)}[{i + 1}]" for i in range(drop, size)])
            else:
                parts.append([str(factor)])
        return tuple(":".join(name) for name in product(*parts))

    def fill(self, out: Any, block: Block, codes: Mapping[str, Codes]) -> None:
        """Writes the term's columns into `out`, the columns of a Fortran-ordered matrix."""
        numbers = numbers_in(self.term)
        if len(self.term) == 1 and numbers:
            out[:, 0] = number(numbers[0], block)  # by far the most frequent, and without a copy
        elif not self.sizes:
            out[:, 0] = multiplied(numbers, block)
        else:
            self._scatter(out, multiplied(numbers, block) if numbers else np.ones(len(out)), codes)

    def _scatter(self, out: Any, values: Array, codes: Mapping[str, Codes]) -> None:
        n = len(out)
        place, seen = np.zeros(n, dtype=np.intp), np.ones(n, dtype=bool)
        categories = (codes[factor.column] for factor in self.term if factor.transform == "C")
        for code, width, drop in zip(categories, self.widths, self.dropped, strict=True):
            place = place * width + (code - drop)
            seen &= code >= drop
        rows = np.flatnonzero(seen)
        out[:] = 0.0
        out[rows, place[rows]] = values[rows]


def coding(terms: tuple[Term, ...], intercept: bool, sizes: Mapping[str, int]) -> tuple[Expansion, ...]:
    """Every term with its dummies: a factor loses its first level where the term without it is in the model.

    What is lost lies in the span of that smaller term, by induction on the number of factors.
    """
    model = {frozenset(term) for term in terms} | ({frozenset[Factor]()} if intercept else set())
    expansions = []
    for term in terms:
        categories = [factor for factor in term if factor.transform == "C"]
        dropped = tuple(int(frozenset(term) - {factor} in model) for factor in categories)
        expansions.append(Expansion(term, tuple(sizes[factor.column] for factor in categories), dropped))
    return tuple(expansions)
