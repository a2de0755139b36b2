"""What is wrong with the values of a file: one slow pass that finds all of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self

import numpy as np

from suffice.design.formula import Factor, Term, label
from suffice.design.levels import Levels, missing
from suffice.design.roles import Roles
from suffice.design.term import multiplied, number, numbers_in
from suffice.errors import InputError, escaped
from suffice.rows.arrow import NUMBER, as_float, not_numbers
from suffice.rows.rows import Block, Product, Rows
from suffice.rows.sightings import Sightings

LARGEST_INTEGER = 2**53
LARGEST = 1e150
"""Squares of larger numbers, and sums of these, leave the range of a float."""

ADVICE = {
    "missing": "Drop or impute these records first, or ask for missing='drop' (--missing drop), "
    "or 'patterns' where the method can.",
    "infinite": "Drop or correct these records first.",
    "a whole number beyond 2^53": "A float64 cannot hold it: divide the column, or is it an identifier?",
    "too large to be squared": "Divide the column by a constant first.",
    "negative": "A weight must be 0 or more.",
    "outside the domain": "Shift the column first, or drop the transform.",
}


@dataclass(frozen=True)
class Troubles:
    """Sightings by (column or factor, what is wrong); `+` merges."""

    seen: Mapping[tuple[str, str], Sightings]

    def __add__(self, other: Self) -> Self:
        keys = dict.fromkeys([*self.seen, *other.seen])
        none = Sightings()
        return type(self)({key: self.seen.get(key, none) + other.seen.get(key, none) for key in keys})


@dataclass(frozen=True)
class Inspection:
    """Which columns are looked at, and for what."""

    categories: tuple[str, ...]
    numbers: tuple[str, ...]
    holed: tuple[str, ...]
    """Of these columns a missing cell is no trouble."""
    transformed: tuple[Factor, ...]
    products: tuple[Term, ...]
    weight: str | None

    @classmethod
    def of(cls, roles: Roles, terms: tuple[Term, ...]) -> Self:
        factors = tuple(dict.fromkeys(factor for term in terms for factor in term))
        numbers = [factor.column for factor in factors if factor.transform != "C"]
        weight = [] if roles.weight is None else [roles.weight]
        coded = [factor.column for factor in factors if factor.transform == "C"]
        return cls(
            tuple(dict.fromkeys([*coded, *roles.groups])),
            tuple(dict.fromkeys([*roles.confidential, *numbers, *weight])),
            (*roles.confidential, *(name for name in coded if name not in numbers))
            if roles.missing == "patterns"
            else (),
            tuple(factor for factor in factors if factor.transform not in (None, "C")),
            tuple(numbers for numbers in map(numbers_in, terms) if len(numbers) > 1),
            roles.weight,
        )

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self.numbers, *self.categories]))

    def complain(self, rows: Rows) -> None:
        """Refuses with every trouble in the file; returns where there is none."""
        found = rows.fold(self.look, self.columns, "looking for trouble").seen
        lines = [f"{escaped(who)}: {what} in {sightings}." for (who, what), sightings in found.items()]
        if found:
            raise InputError("\n".join([*lines, *dict.fromkeys(ADVICE[what] for _, what in found)]))

    def look(self, block: Block) -> Troubles:
        ways = (self._categories, self._numbers, self._transforms, self._products, self._weight)
        found = chain.from_iterable(way(block) for way in ways)
        seen = {(who, what): Sightings.of(where, block.start) for who, what, where in found if np.any(where)}
        return Troubles(seen)

    def _categories(self, block: Block) -> Iterator[tuple[str, str, Any]]:
        for name in self.categories:
            if name not in self.holed:
                yield name, "missing", missing(block.columns[name])

    def _numbers(self, block: Block) -> Iterator[tuple[str, str, Any]]:
        for name in self.numbers:
            column = block.columns[name]
            values = as_float(column)
            size = np.abs(values)
            if name not in self.holed:
                yield name, "missing", np.isnan(values)
            yield name, "infinite", np.isinf(values)
            yield name, "too large to be squared", (size > LARGEST) & (size < np.inf)
            if column.dtype.kind in "iu":
                yield name, "a whole number beyond 2^53", _beyond(column)

    def _transforms(self, block: Block) -> Iterator[tuple[str, str, Any]]:
        for factor in self.transformed:
            values = as_float(block.columns[factor.column])
            fine = np.abs(values) <= LARGEST
            result = as_float(number(factor, block))
            usable = np.isfinite(result)
            yield str(factor), "outside the domain", fine & ~usable
            yield str(factor), "too large to be squared", fine & usable & (np.abs(result) > LARGEST)

    def _products(self, block: Block) -> Iterator[tuple[str, str, Any]]:
        for factors in self.products:
            fine = np.logical_and.reduce([np.abs(as_float(number(f, block))) <= LARGEST for f in factors])
            yield (
                label(factors),
                "too large to be squared",
                fine & (np.abs(multiplied(factors, block)) > LARGEST),
            )

    def _weight(self, block: Block) -> Iterator[tuple[str, str, Any]]:
        if self.weight is not None:
            yield self.weight, "negative", as_float(block.columns[self.weight]) < 0


def misspelt(rows: Rows, names: Sequence[str]) -> list[str]:
    """Of text columns that should be numbers, and mostly are: which cells are none. One slow pass."""
    text = [name for name in dict.fromkeys(names) if rows.kinds.get(name) == "category"]

    def look(block: Block) -> Product:
        columns = {name: block.columns[name] for name in text}
        seen = Troubles({(name, ""): not_numbers(column, block.start) for name, column in columns.items()})
        return Product(seen, np.array([len(column) - column.null_count for column in columns.values()]))

    if not text:
        return []
    found, there = rows.fold(look, text, "looking for trouble")
    pairs = zip(found.seen.items(), there.tolist(), strict=True)
    return [_misspelt(name, seen) for ((name, _), seen), cells in pairs if 2 * seen.count < cells]


def _misspelt(name: str, seen: Sightings) -> str:
    if not seen:
        return f"Column {name!r} holds numbers that are stored as text. Store them as numbers."
    return f"Column {name!r} is text because of cells that are not numbers: {seen}. Correct these cells."


def mostly_numbers(levels: Levels) -> bool:
    """Whether nine tenths of the records of a category, and not all of them, are numbers."""
    numbers = sum(count for level, count in levels.counts.items() if re.match(NUMBER, str(level)))
    return 0.9 * (total := sum(levels.counts.values())) <= numbers < total


def _beyond(column: Any) -> Any:
    """Compared as whole numbers: |-2^63| has no int64."""
    return (column > LARGEST_INTEGER) | (column < -LARGEST_INTEGER)
