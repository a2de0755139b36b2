"""Terms and roles -> numbers: the matrix [X Y] of every block, with levels learnt once and then fixed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np

from suffice.algebra.array import Array
from suffice.design.category import Category
from suffice.design.formula import Factor, Term, label
from suffice.design.inspection import Inspection, misspelt, mostly_numbers
from suffice.design.levels import Levels, census
from suffice.design.local_levels import StratumKeys, merged
from suffice.design.roles import Roles
from suffice.design.term import Codes, Expansion, coding
from suffice.errors import InputError
from suffice.rows.arrow import as_float
from suffice.rows.rows import Block, Kind, Rows

WIDEST = 4000
"""Columns of X. Its Gram matrix and three more of that size then take half a gigabyte."""
ABSORB = 64
"""A factor with more dummies than this is absorbed: one pass more over the rows is then cheaper than its columns."""
EXPANDED = 1000
"""Columns of X where a factor of many levels must be expanded: in an interaction, or for a method that works on X."""
TABLE = 2**31
"""Bytes that the means within the levels of an absorbed factor may take."""


@dataclass(frozen=True)
class Design:
    """X and Y of any block of rows: the given terms in treatment coding, then the confidential columns.

    A factor of a term loses its first level where the term without that factor is in the model, so the
    columns span what full dummies would; an interaction is the product of its factors' columns. The largest factor
    of many levels is absorbed: its dummies are no columns of X, and every column is taken about its means in the
    factor's levels instead (Frisch, Waugh and Lovell).

    **Promises** that names, notes and errors hold no level: small ones are confidential.

    roles: the columns' roles
    categories: what was learnt of each categorical column
    expansions: how each term becomes columns
    notes: which levels were joined, as counts
    absorbed: the column of the factor that is absorbed

    >>> import pyarrow as pa
    >>> from suffice.rows.memory import MemoryRows
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
    absorbed: str | None = None
    groupings: tuple[Category, ...] = ()
    """The columns that tell groups."""

    @classmethod
    def learn(cls, rows: Rows, roles: Roles, absorb: bool = True) -> Design:
        """Learns the levels in one pass over the categorical columns, or in none where there are none.

        Whole numbers are rounded with all of X at hand, so nothing is absorbed where there are any.

        absorb: whether a factor of many levels may be absorbed; a method that works on X itself needs its columns
        """
        if rows.n == 0:
            raise InputError("The file has column names and no records.")
        _check_roles(rows, roles)
        terms = _settle(roles.terms.terms, rows.kinds)
        inspection = Inspection.of(roles, terms)
        found = census(rows, (*_categorical(terms), *roles.groups), "learning levels")
        _check_numbers(rows, roles, found)
        if any(levels.missing and name not in inspection.holed for name, levels in found.items()):
            inspection.complain(rows)
        groupings = tuple(Category.of(name, found[name], 0) for name in roles.groups)
        categories = _categories(rows, roles, {name: found[name] for name in _categorical(terms)}, groupings)
        intercept = roles.terms.intercept or any(all(f.transform == "C" for f in term) for term in terms)
        absorb = absorb and not roles.integer
        absorbed = _absorbed(terms, categories) if absorb else None
        columns = tuple(term for term in terms if absorbed is None or term != (Factor(absorbed, "C"),))
        crossed = any(_interactions(name, terms) for name in categories if categories[name].size - 1 > ABSORB)
        allowed = EXPANDED if crossed or not absorb else WIDEST
        _check_width(intercept, columns, categories, allowed, _advice(terms, categories, absorb))
        expansions = coding(columns, intercept, {name: category.size for name, category in categories.items()})
        notes = tuple(note for category in categories.values() for note in category.notes)
        design = cls(roles, intercept, categories, expansions, inspection, notes, absorbed, groupings)
        return design if absorbed is None else design._absorbing(rows.n)

    def _absorbing(self, n: int) -> Design:
        """The same design, with a note of what is absorbed; refuses an identifier, and a table that is too large."""
        levels, term = self.levels, self.terms[-1]
        if levels > WIDEST and 2 * levels > n:
            raise InputError(
                f"{term} has {levels:,} levels in {n:,} records. An identifier among the categories?\n"
                "Name it in `identifiers`, group its levels, or join small ones with merge_below."
            )
        width = self.m + 3 * self.k  # with a companion and random numbers
        if (size := 8 * levels * width) > TABLE:
            raise InputError(
                f"The means in the levels of {term} need {size / 2**30:.1f} GB and {TABLE / 2**30:.1f} are allowed.\n"
                f"  {levels:,} levels x {width:,} columns\n"
                "Use fewer given terms, group its levels, or join small ones with merge_below."
            )
        return replace(self, notes=(*self.notes, f"{term} is absorbed: {levels:,} levels"))

    def part(self, confidential: Sequence[str]) -> Design:
        """The same design for some of the confidential columns; what was learnt stays.

        Bounds, whole numbers and edits are those of these columns alone.
        """
        if tuple(confidential) == self.confidential:
            return self
        gone, roles = {*self.roles.confidential} - {*confidential}, self.roles.part(confidential)
        numbers = tuple(name for name in self.inspection.numbers if name not in gone)
        categories = self.categories
        if any(each.local for each in categories.values()):
            categories = {name: each.without(gone) for name, each in categories.items()}
        return replace(self, roles=roles, categories=categories, inspection=replace(self.inspection, numbers=numbers))

    @cached_property
    def confidential(self) -> tuple[str, ...]:
        return tuple(self.roles.confidential)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that a block must hold for `matrix`, `labels` and `weights`, and those that tell groups."""
        weight = () if self.roles.weight is None else (self.roles.weight,)
        return (*self.roles.terms.columns, *self.roles.groups, *self.roles.labels, *self.confidential, *weight)

    @cached_property
    def fixed(self) -> tuple[str, ...]:
        """The columns that leave as they are: given ones, groups and the weight."""
        return tuple(name for name in self.columns if name not in self.roles.confidential)

    @property
    def terms(self) -> tuple[str, ...]:
        """As a formula writes them; what is absorbed stands last."""
        absorbed = () if self.absorbed is None else (str(Factor(self.absorbed, "C")),)
        return (*(label(expansion.term) for expansion in self.expansions), *absorbed)

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

    @property
    def levels(self) -> int:
        """Levels of the absorbed factor; 0 where none is."""
        return 0 if self.absorbed is None else self.categories[self.absorbed].size

    @property
    def width(self) -> int:
        """Columns of X if nothing were absorbed."""
        return self.m + max(self.levels - 1, 0)

    def matrix(self, block: Block, room: int = 0, centre: Array | None = None) -> Array:
        """[X Y], one column after the other in memory. Numbers are not looked at: see `complain`.

        room: columns to leave free behind them
        centre: what is subtracted from each column on its way
        """
        out = np.empty((len(block), self.m + self.k + room), order="F")
        middle = np.zeros(self.m + self.k) if centre is None else centre
        self._fill(out, block, middle)
        self._put(out[:, self.m :], block, middle[self.m :])
        return out

    def given(self, block: Block) -> Array:
        """X alone."""
        out = np.empty((len(block), self.m), order="F")
        self._fill(out, block, np.zeros(self.m))
        return out

    def values(self, block: Block) -> Array:
        """Y alone."""
        out = np.empty((len(block), self.k), order="F")
        self._put(out, block, np.zeros(self.k))
        return out

    def _put(self, out: Array, block: Block, centre: Array) -> None:
        for j, name in enumerate(self.roles.confidential):
            np.subtract(block.columns[name], centre[j], out=out[:, j])

    def weights(self, block: Block) -> Array | None:
        return None if self.roles.weight is None else as_float(block.columns[self.roles.weight])

    def labels(self, block: Block) -> Codes | None:
        """The level of every record in the absorbed factor, counted from 0."""
        return None if self.absorbed is None else self.categories[self.absorbed].codes(block)

    def cells(self, block: Block) -> Codes:
        """A number for each record that tells apart those that differ in a category; 0 without categories."""
        found = np.zeros(len(block), dtype=np.intp)
        for category in self.categories.values():
            found = found * category.size + category.codes(block)
        return found

    def complain(self, rows: Rows) -> None:
        """Refuses with all that is wrong with any value; slow, for when sums have come out wrong."""
        self.inspection.complain(rows)

    @cached_property
    def _expanded(self) -> tuple[str, ...]:
        return _categorical(tuple(expansion.term for expansion in self.expansions))

    def _fill(self, out: Array, block: Block, centre: Array) -> None:
        codes = {name: self.categories[name].codes(block) for name in self._expanded}
        if self.intercept:
            out[:, 0] = 1.0 - centre[0]
        first = int(self.intercept)
        for expansion in self.expansions:
            here = slice(first, first + expansion.width)
            expansion.fill(out[:, here], block, codes, centre[here])
            first = here.stop


def inspection(rows: Rows, roles: Roles) -> Inspection:
    """What is looked at in a file whose records are not all usable yet."""
    _check_roles(rows, roles)
    return Inspection.of(roles, _settle(roles.terms.terms, rows.kinds))


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


def _categorical(terms: tuple[Term, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f.column for term in terms for f in term if f.transform == "C"))


def _categories(
    rows: Rows, roles: Roles, found: Mapping[str, Levels], groupings: tuple[Category, ...]
) -> Mapping[str, Category]:
    """Small levels are joined in the file, or in every group and pattern of missing cells by itself."""
    holes = tuple(roles.confidential) if roles.missing == "patterns" else ()
    apart = roles.merge_below > 0 and bool(groupings or holes or roles.unit)
    made = {name: Category.of(name, levels, 0 if apart else roles.merge_below) for name, levels in found.items()}
    if not apart or not made:
        return made
    return merged(rows, tuple(made.values()), StratumKeys(groupings, holes), roles.merge_below, roles.unit)


def _absorbed(terms: tuple[Term, ...], categories: Mapping[str, Category]) -> str | None:
    """The largest factor that stands for itself and in no interaction, if it has many levels."""
    alone = [name for name in categories if _interactions(name, terms) == () and (Factor(name, "C"),) in terms]
    large = max(alone, key=lambda name: categories[name].size, default=None)
    return large if large is not None and categories[large].size - 1 > ABSORB else None


def _interactions(name: str, terms: tuple[Term, ...]) -> tuple[Term, ...]:
    return tuple(term for term in terms if len(term) > 1 and Factor(name, "C") in term)


def _advice(terms: tuple[Term, ...], categories: Mapping[str, Category], absorb: bool) -> str:
    """Why a design that is too wide was not made narrower."""
    if not absorb:
        return "The method, or rounding to whole numbers, works on X itself, so that no factor is absorbed. "
    large = max(categories, key=lambda name: categories[name].size, default=None)
    crossed = () if large is None else _interactions(large, terms)
    if large is None or not crossed or (Factor(large, "C"),) not in terms:
        return ""
    return f"{Factor(large, 'C')} is not absorbed while it stands in an interaction: drop {label(crossed[0])}. "


def _check_width(
    intercept: bool, terms: tuple[Term, ...], categories: Mapping[str, Category], allowed: int, advice: str
) -> None:
    """Full dummies bound the width from above, and are counted before anything is built."""
    widths = {
        label(term): prod(categories[factor.column].size for factor in term if factor.transform == "C")
        for term in terms
    }
    if (total := int(intercept) + sum(widths.values())) > allowed:
        widest = max(widths, key=lambda term: widths[term])
        raise InputError(
            f"The given terms need up to {total:,} columns and {allowed:,} are allowed.\n"
            f"  {widest} alone needs {widths[widest]:,}\n"
            f"{advice}Drop it, group its levels, or join small ones with merge_below."
        )
