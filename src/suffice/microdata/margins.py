"""Categories drawn anew from all that have the kept tables of the original."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from suffice.algebra.array import Array
from suffice.algorithms.margins import Branch, Codes, branches, dealt_below, lacking, largest
from suffice.design.design import Design
from suffice.design.roles import Roles
from suffice.errors import InfeasibleError, UsageError, suggest
from suffice.method.masked import MaskedColumns
from suffice.method.parameter import parameter
from suffice.method.rowwise import Rowwise
from suffice.rows.arrow import as_float
from suffice.rows.multiset import text_words
from suffice.rows.rows import Rows
from suffice.seed import Stream
from suffice.statistics.statistic import Promise
from suffice.statistics.table import counted

Tables = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class TableRule:
    """Tables by their columns."""

    allowed: str = (
        "lists of columns, one for each table (on the command line sex*edu + edu*region), or none (each column's own)"
    )

    def read(self, value: object) -> Tables | None:
        if value is None:
            return None
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise ValueError
        tables = tuple((each,) if isinstance(each, str) else tuple(each) for each in value)
        if not tables or not all(table and all(isinstance(name, str) and name for name in table) for table in tables):
            raise ValueError
        return tables

    def parse(self, text: str) -> Tables | None:
        if text.strip().lower() == "none":
            return None
        return self.read([[name.strip() for name in table.split("*")] for table in text.split("+")])


@dataclass(frozen=True)
class Margins(Rowwise):
    """Draw categories anew from all files that have the kept tables of the original, to the last count.

    x_B* | x_S*  =  x_B | x_S in random order,   S what a table shares with those before it, B its other columns

    **Promises** every kept table: as many records with each combination of its columns as there were. What is not in
    a kept table follows from those: columns of no common table are independent given what joins them. Kept tables
    must be decomposable - one below the other, each meeting those before it in one of them - so that a draw is a
    permutation within each value of S; others are refused, with the table that is missing. Given columns stay with
    their records, above all others. Counts are those of records, whatever their weights. No record is followed; what
    a table tells of a cell of one stays.

    keep: the tables, each by its columns, confidential or given; a column of none is permuted by itself

    After Fienberg, Makov & Steele (1998); Dobra (2003) on decomposable tables.

    >>> from suffice.algorithms.margins import branches, dealt_below
    >>> rng = np.random.default_rng(1)
    >>> x = {name: rng.integers(3, size=90) for name in "abc"}
    >>> made = dealt_below(x, branches([("a", "b"), ("b", "c")]), rng)
    >>> all(np.array_equal(np.bincount(3 * x[i] + x[j]), np.bincount(3 * made[i] + made[j])) for i, j in ("ab", "bc"))
    True
    """

    keeps: ClassVar = ("distribution",)
    kinds: ClassVar = ("category", "integer", "date")
    independent: ClassVar = True
    references: ClassVar = ("Fienberg, Makov & Steele (1998)", "Dobra (2003)")

    keep: Tables | None = parameter(TableRule(), "the tables that are kept, each by its columns", None)

    @property
    def takes(self) -> Tables:
        return self.keep or ()

    def given(self, roles: Roles) -> Roles:
        return check_tables(self.name, self.keep, roles)

    def tables(self, design: Design) -> Tables:
        return kept_tables(self.keep, design)

    def promises(self, design: Design) -> tuple[Promise, ...]:
        joint = [table for table in self.tables(design) if len(table) > 1]
        return (*super().promises(design), *counted(joint, design))

    def columns(self, rows: Rows, design: Design, stream: Stream) -> MaskedColumns:
        names, tables = design.confidential, self.tables(design)
        steps = in_branches(self.name, tables, fixed_among(tables, names))
        coded = {name: levels_of(rows, name) for name in dict.fromkeys([*names, *(n for each in tables for n in each)])}
        made = dealt_below({name: codes for name, (_, codes) in coded.items()}, steps, stream.generator("margins"))
        joint = [" x ".join(step.table) for step in steps if len(step.table) > 1]
        said = f"margins: drawn given {', '.join(joint) or 'no table of two columns'}."
        return MaskedColumns({name: coded[name][0][made[name]] for name in names}, (said,), "synthetic")

    @classmethod
    def examples(cls) -> tuple[Margins, ...]:
        return (cls(),)


def check_tables(method: str, keep: Tables | None, roles: Roles) -> Roles:
    """The roles, if all tables are of columns that they name."""
    names = (*roles.confidential, *roles.terms.columns, *roles.groups)
    asked = dict.fromkeys(name for table in keep or () for name in table)
    if other := [name for name in asked if name not in names]:
        raise UsageError(
            f"{method}: {', '.join(map(repr, other))} of keep {'is' if len(other) == 1 else 'are'} neither "
            f"confidential nor given.{suggest(other[0], names)} Tables are of such columns."
        )
    return roles


def kept_tables(keep: Tables | None, design: Design) -> Tables:
    """The kept tables that are no part of another one; a confidential column of none has its own."""
    names = {*design.confidential, *design.roles.terms.columns, *design.roles.groups}
    there = ([name for name in table if name in names] for table in keep or ())  # a pattern of missing cells lacks some
    drawn = (table for table in there if {*table} & {*design.confidential})
    return tuple(largest([*drawn, *([name] for name in design.confidential)]))


def fixed_among(tables: Tables, drawn: Sequence[str]) -> tuple[str, ...]:
    """Columns of the tables that are given, and stay with their records."""
    return tuple(dict.fromkeys(name for table in tables for name in table if name not in drawn))


def in_branches(method: str, tables: Tables, fixed: tuple[str, ...] = ()) -> list[Branch]:
    """The tables one below the other, or a refusal that names those that are missing."""
    steps = branches(tables, fixed)
    if steps is None:
        more = ", ".join("[" + ", ".join(each) + "]" for each in lacking(tables, fixed))
        raise InfeasibleError(
            f"{method}: the kept tables are not decomposable: they join columns in a ring, and no order of draws has "
            f"them all exactly.\nKeep {more} too, or leave one of the tables out; loglinear draws from any model."
        )
    return steps


def levels_of(rows: Rows, name: str) -> tuple[Array, Codes]:
    """The values of a column in order, and for every record the number of its own, in few bytes."""
    column = rows.gather([name])[name]
    values = column if isinstance(column, np.ndarray) else text_words(column)
    levels, codes = np.unique(values, return_inverse=True)
    return as_float(levels), codes.astype(np.min_scalar_type(max(len(levels) - 1, 1)))
