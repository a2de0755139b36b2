"""What tables that a draw goes by tell of single records, and how many rare combinations come back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations

import numpy as np

from suffice.algebra.array import Flags
from suffice.algorithms.margins import Codes, branches, cell_numbers, largest
from suffice.method.method import Method
from suffice.protection.protected import Protected
from suffice.risk.nested_tables import nested_tables
from suffice.risk.replicated_uniques import replicated_uniques
from suffice.rows.arrow import as_float
from suffice.rows.derived import RELEASED
from suffice.rows.multiset import Words, fingerprints, number_words, text_words

Tables = tuple[tuple[str, ...], ...]
RARE = 2
"""A cell of so many records, or fewer, is rare."""


@dataclass(frozen=True)
class RareCells:
    """Counts of cells and of records.

    tables: by the names of its columns, how many cells of a table are rare, and how many records it tells: those that
        share all columns but one with no others than share that one, too
    released: records that are alone with their values in the release
    again: of these, how many are those of a record that is alone in the original, too
    chance: the share that would be, if every column were dealt by itself
    instead: tables of fewer columns that tell nobody, in place of all of these, where some do
    columns: those of tables of two columns and more: categories, if they be numbers
    alike: by the names of a table's columns, records whose last one it tells though they are not rare: all who share
        the others, three and more, share that one, which not everybody has
    nested: by the names of two tables, records that are the difference of their cells
    """

    tables: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    released: int = 0
    again: int = 0
    chance: float = 0.0
    instead: tuple[tuple[str, ...], ...] = ()
    columns: tuple[str, ...] = ()
    alike: Mapping[str, int] = field(default_factory=dict)
    nested: Mapping[str, int] = field(default_factory=dict)

    @property
    def beyond(self) -> float:
        """Of what chance would leave, the share that comes back."""
        share = self.again / max(1, self.released)
        return max(0.0, share - self.chance) / max(1e-9, 1 - self.chance)


def rare_cells(done: Protected, method: Method) -> RareCells:
    """Of the tables that a method goes by, and of records drawn from models; of other methods nothing."""
    tables, names = method.tables(done.design), done.design.confidential
    if not any(len(table) > 1 for table in tables) and not method.learns:
        return RareCells()
    wanted = dict.fromkeys([*names, *(name for table in tables for name in table)])
    codes = cache(lambda name: _codes(done.rows.gather([name])[name]))
    telling = cache(lambda table: _told([codes(name) for name in table]))
    seen = {" x ".join(table): telling(table) for table in tables if len(table) > 1}
    found, alike = {name: each[:2] for name, each in seen.items()}, {name: each[2] for name, each in seen.items()}
    joint = tuple(dict.fromkeys(name for table in tables if len(table) > 1 for name in table))
    fixed = tuple(name for name in wanted if name not in names)
    asked = any(told for _, told in found.values()) and hasattr(method, "keep")  # it takes tables by their columns
    instead = _smaller(tables, lambda table: len(table) > 1 and telling(table)[1], fixed) if asked else ()
    before = [number_words(as_float(done.rows.gather([name])[name])) for name in names]
    after = done.aligned.gather([RELEASED + name for name in names]) if done.drawn is None else done.drawn.columns
    rng, own = np.random.default_rng(1), fingerprints(done.rows.n, before)
    released = fingerprints(len(next(iter(after.values()))), (number_words(as_float(y)) for y in after.values()))
    real = _again(own, released)
    dealt = _again(own, fingerprints(done.rows.n, (rng.permutation(words) for words in before)))
    nested = nested_tables(tables, names, codes)
    return RareCells(found, *real, dealt[1] / max(1, dealt[0]), instead, joint, alike, nested)


def _smaller(tables: Tables, told: Callable[[tuple[str, ...]], int], fixed: tuple[str, ...]) -> Tables:
    """Each table that tells somebody cut into two of a column less, those that tell fewest, until none does."""
    while (wrong := next((table for table in tables if told(table)), None)) is not None:
        parts = [tuple(name for name in wrong if name != one) for one in wrong]
        others = [table for table in tables if table != wrong]
        ways = [largest([*others, *pair]) for pair in combinations(parts, 2)]
        ways = [way for way in ways if branches(way, fixed) is not None] or [
            largest([*others, *combinations(wrong, 1)])
        ]
        tables = tuple(min(ways, key=lambda way: sum(map(told, way))))
    return tuple(tables)


def _again(own: Words, released: Words) -> tuple[int, int]:
    number = np.unique(np.concatenate([own, released]), return_inverse=True)[1]
    found = replicated_uniques(number[: len(own)], number[len(own) :])
    return found.released, found.replicated


def _told(columns: list[Codes]) -> tuple[int, int, int]:
    """Cells that are rare, records that are told by one, and records that are told as one of several."""
    n = len(columns[0])
    size = _sizes(columns, n)
    told: Flags = np.zeros(n, dtype=bool)
    alike: Flags = np.zeros(n, dtype=bool)
    for left_out in range(len(columns)):
        others = _sizes(columns[:left_out] + columns[left_out + 1 :], n)
        told |= (others <= RARE) & (size == others)
        if columns[left_out].any():  # of one level there is nothing to tell
            alike |= (others > RARE) & (size == others)
    return round(float((1 / size[size <= RARE]).sum())), int(told.sum()), int(alike.sum())


def _sizes(columns: list[Codes], n: int) -> Codes:
    """For each record how many there are in its cell."""
    _, number, counts = np.unique(cell_numbers(columns, n), return_inverse=True, return_counts=True)
    return np.asarray(counts[number])


def _codes(column: object) -> Codes:
    values = column if isinstance(column, np.ndarray) else text_words(column)
    return np.asarray(np.unique(values, return_inverse=True)[1])
