"""Terms and roles -> numbers: the matrix [X Y] of every block, with levels learnt once and then fixed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from math import prod

import numpy as np

from suffice.algebra.levels import Census, Levels
from suffice.coding import Array, Category, Codes, Expansion, as_float, coding
from suffice.errors import InputError
from suffice.formula import Factor, Term, label
from suffice.roles import Roles
from suffice.rows import Block, Kind, Rows
from suffice.trouble import Inspection, misspelt, mostly_numbers

WIDEST = 4000
"""Columns of X. Its Gram matrix and three more of that size then take half a gigabyte."""


@dataclass(frozen=True)
class Design:
    """X and Y of any block of rows: the given terms in treatment coding, then the confidential columns.

    A factor of a term loses its first level where the term without that factor is in the model, so the
    columns span what full dummies would; an interaction is the product of its factors' columns.

    **Promises** that names, notes and errors hold no level: small ones are confidential.

    roles: the columns' roles
    categories: what was learnt of each categorical column
    expansions: how each term becomes columns
    notes: which levels were joined, as counts

    >>> import pyarrow as pa
    >>> from suffice.engines.memory import MemoryRows
    >>> rows = MemoryRows(pa.table({"region": ["north", "south", "north"], "y": [1.0, 2.0, 4.0]}))
    >>> design = Design.learn(rows, Roles(confidential=["y"], given="region - 1"))
    >>> design.names
    ('1', 'region[2]')
    >>> rows.fold(lambda block: design.given(block).sum(axis=0), design.columns, "adding").tolist()
    [3.0, 1.0]
    """

    roles: Roles
    intercept: bool
    categories: Mapping[str, Category]
    expansions: tuple[Expansion, ...]
    inspection: Inspection
    notes: tuple[str, ...] = ()

    @classmethod
    def learn(cls, rows: Rows, roles: Roles) -> Design:
        """Learns the levels in one pass over the categorical columns, or in none where there are none."""
        if rows.n == 0:
            raise InputError("The file has column names and no records.")
        _check_roles(rows, roles)
        terms = _settle(roles.terms.terms, rows.kinds)
        inspection = Inspection.of(roles, terms)
        found = _census(rows, terms)
        _check_numbers(rows, roles, found)
        if any(levels.missing for levels in found.values()):
            inspection.complain(rows)
        categories = {name: Category.of(name, levels, roles.merge_below) for name, levels in found.items()}
        intercept = roles.terms.intercept or any(all(f.transform == "C" for f in term) for term in terms)
        _check_width(intercept, terms, categories)
        expansions = coding(terms, intercept, {name: category.size for name, category in categories.items()})
        notes = tuple(category.note for category in categories.values() if category.note)
        return cls(roles, intercept, categories, expansions, inspection, notes)

    @property
    def confidential(self) -> tuple[str, ...]:
        return tuple(self.roles.confidential)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that a block must hold for `matrix` and `weights`."""
        weight = () if self.roles.weight is None else (self.roles.weight,)
        return (*self.roles.terms.columns, *self.confidential, *weight)

    @cached_property
    def fixed(self) -> tuple[str, ...]:
        """The columns that leave as they are: given ones and the weight."""
        return tuple(name for name in self.columns if name not in self.roles.confidential)

    @property
    def terms(self) -> tuple[str, ...]:
        return tuple(label(expansion.term) for expansion in self.expansions)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of X's columns: a dummy is named by the position of its level, never by the level."""
        ones = ("1",) if self.intercept else ()
        return ones + tuple(name for expansion in self.expansions for name in expansion.names)

    @property
    def term_of(self) -> tuple[int, ...]:
        """For every column of X the index of its term; -1 is the intercept."""
        ones = (-1,) if self.intercept else ()
        return ones + tuple(i for i, expansion in enumerate(self.expansions) for _ in range(expansion.width))

    @cached_property
    def m(self) -> int:
        return int(self.intercept) + sum(expansion.width for expansion in self.expansions)

    @property
    def k(self) -> int:
        return len(self.roles.confidential)

    def matrix(self, block: Block, room: int = 0) -> Array:
        """[X Y], one column after the other in memory. Numbers are not looked at: see `complain`.

        room: columns to leave free behind them
        """
        out = np.empty((len(block), self.m + self.k + room), order="F")
        self._fill(out, block)
        for j, name in enumerate(self.roles.confidential, self.m):
            out[:, j] = block.columns[name]
        return out

    def given(self, block: Block) -> Array:
        """X alone."""
        out = np.empty((len(block), self.m), order="F")
        self._fill(out, block)
        return out

    def weights(self, block: Block) -> Array | None:
        return None if self.roles.weight is None else as_float(block.columns[self.roles.weight])

    def cells(self, block: Block) -> Codes:
        """A number for each record that tells apart those that differ in a category; 0 without categories."""
        found = np.zeros(len(block), dtype=np.intp)
        for category in self.categories.values():
            found = found * category.size + category.codes(block)
        return found

    def complain(self, rows: Rows) -> None:
        """Refuses with all that is wrong with any value; slow, for when sums have come out wrong."""
        self.inspection.complain(rows)

    def _fill(self, out: Array, block: Block) -> None:
        codes = {name: category.codes(block) for name, category in self.categories.items()}
        if self.intercept:
            out[:, 0] = 1.0
        first = int(self.intercept)
        for expansion in self.expansions:
            expansion.fill(out[:, first : first + expansion.width], block, codes)
            first += expansion.width


def _check_roles(rows: Rows, roles: Roles) -> None:
    """Refuses columns that cannot have their roles; where numbers are text, with the cells that are none."""
    transformed = [f.column for term in roles.terms.terms for f in term if f.transform not in (None, "C")]
    try:
        roles.check(rows.kinds)
    except InputError as problem:
        numbers = [*roles.confidential, *([roles.weight] if roles.weight else []), *transformed]
        raise InputError("\n".join([str(problem), *misspelt(rows, numbers)])) from None


def _check_numbers(rows: Rows, roles: Roles, found: Mapping[str, Levels]) -> None:
    """Refuses a given column that is text by mistake; C() says that it is meant."""
    bare = [f.column for term in roles.terms.terms for f in term if f.transform is None]
    doubtful = [name for name in bare if name in found and mostly_numbers(found[name])]
    if doubtful:
        meant = "Where it is a category all the same, write `given` as a formula with C()."
        raise InputError("\n".join([*misspelt(rows, doubtful), meant]))


def _settle(terms: tuple[Term, ...], kinds: Mapping[str, Kind]) -> tuple[Term, ...]:
    """Text is a category with or without C(): write it with, and drop what is then said twice."""

    def settle(factor: Factor) -> Factor:
        return Factor(factor.column, "C") if kinds[factor.column] == "category" else factor

    settled = [tuple(dict.fromkeys(map(settle, term))) for term in terms]
    return tuple({frozenset(term): term for term in settled}.values())


def _census(rows: Rows, terms: tuple[Term, ...]) -> Mapping[str, Levels]:
    names = tuple(dict.fromkeys(f.column for term in terms for f in term if f.transform == "C"))
    return rows.fold(partial(_count, names=names), names, "learning levels").columns if names else {}


def _count(block: Block, names: tuple[str, ...]) -> Census:
    return Census({name: Levels.of(block.columns[name], block.start) for name in names})


def _check_width(intercept: bool, terms: tuple[Term, ...], categories: Mapping[str, Category]) -> None:
    """Full dummies bound the width from above, and are counted before anything is built."""
    widths = {
        label(term): prod(categories[factor.column].size for factor in term if factor.transform == "C")
        for term in terms
    }
    if (total := int(intercept) + sum(widths.values())) > WIDEST:
        widest = max(widths, key=lambda term: widths[term])
        raise InputError(
            f"The given terms need up to {total:,} columns and {WIDEST:,} are allowed.\n"
            f"  {widest} alone needs {widths[widest]:,}\n"
            "Drop it, group its levels, or join small ones with merge_below."
        )
