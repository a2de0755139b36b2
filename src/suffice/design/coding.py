"""Categories, dates and whole numbers as numbers while they are protected, and what they were when they leave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from suffice.algebra.array import Array
from suffice.design.groups import learnt
from suffice.design.roles import Roles
from suffice.errors import UsageError
from suffice.rows.arrow import as_float, counted_in
from suffice.rows.bridge import arrow, numbers
from suffice.rows.derived import Computation
from suffice.rows.rows import Block, Kind, Rows


@dataclass(frozen=True, repr=False)
class Coding:
    """Confidential columns that are no plain numbers, and how each becomes one and is brought back.

    A category is the number of its level, from 1, in the order of the levels' names; a date counts days, or what its
    type counts, from its type's own beginning. Only kinds that the method says it can release are coded: others stay as
    they are, and are refused as every method for numbers refuses them.

    levels: of each category; types: what each coded column leaves as
    holes: the number of a missing cell, in columns where the method draws which cells are missing
    """

    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    types: Mapping[str, Any] = field(default_factory=dict)
    holes: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def learn(cls, rows: Rows, roles: Roles, kinds: Sequence[Kind], holes: bool = False) -> Coding:
        """One pass over the categories, if there are any; and one for holes."""
        if rows.n == 0:
            return cls()
        coded = [name for name in roles.confidential if rows.kinds.get(name) in kinds and rows.kinds[name] != "float"]
        if not coded and not holes:
            return cls()
        categories = [name for name in coded if rows.kinds[name] == "category"]
        levels = {each.name: tuple(each.texts) for each in learnt(rows, categories)}
        types = next(iter(rows.batches(coded))).schema if coded else None
        found = cls(levels, {} if types is None else {name: types.field(name).type for name in coded})
        return replace(found, holes=found._holes(rows, roles.confidential)) if holes else found

    def with_others(self, other: Coding) -> Coding:
        """Both, of different columns."""
        return Coding(*({**getattr(self, name), **getattr(other, name)} for name in ("levels", "types", "holes")))

    def without(self, names: Sequence[str]) -> Coding:
        """That of all other columns."""
        every: tuple[Mapping[str, Any], ...] = (self.levels, self.types, self.holes)
        levels, types, holes = ({name: each[name] for name in each if name not in names} for each in every)
        return Coding(levels, types, holes)

    def _holes(self, rows: Rows, names: Sequence[str]) -> dict[str, float]:
        """A number near the middle that no cell has, for columns with missing cells; 0 for categories."""
        own = [name for name in names if rows.kinds.get(name) in ("float", "integer", "date")]
        if not own:
            return dict.fromkeys([name for name in names if name in self.levels], 0.0)

        def of(block: Block) -> Array:
            Y = np.column_stack([as_float(block.columns[name]) for name in own])
            return np.stack([np.isnan(Y).sum(axis=0), np.nansum(Y, axis=0)])

        missing, sums = self.encoded(rows).fold(of, own, "looking for missing cells")
        means = sums / np.maximum(rows.n - missing, 1)
        found = {name: 0.0 for name in names if name in self.levels}
        found |= {name: _unlike(mean) for name, mean, gone in zip(own, means, missing, strict=True) if gone}
        return found

    @property
    def dates(self) -> tuple[str, ...]:
        """Columns whose numbers count from a beginning that means nothing."""
        whole = (name for name, kind in self.types.items() if name not in self.levels and not pa.types.is_integer(kind))
        return tuple(whole)

    def encoded(self, rows: Rows) -> Rows:
        """The rows with numbers in place of what is coded: made once where they are in memory."""
        made: dict[str, Any] = {}
        for name in dict.fromkeys((*self.types, *self.holes)):
            of = _Numbers(name, self.levels.get(name), self.holes.get(name))
            if rows.held:
                made[name] = of(Block(0, rows.gather([name])))[:, 0]
            else:
                made[name] = Computation((name,), of, (name,))
        return rows.with_columns(made) if made else rows

    def decoded(self, columns: Mapping[str, Array]) -> dict[str, Any]:
        """Columns that were made, with what is coded brought back to its type."""
        coded = {*self.types, *self.holes}
        return {name: self._decode(name, values) if name in coded else values for name, values in columns.items()}

    def restored(self, table: pa.Table) -> pa.Table:
        """A table of numbers with what is coded brought back to its type."""
        for name in dict.fromkeys((*self.types, *self.holes)):
            if name in table.column_names:
                values = self._decode(name, as_float(numbers(table[name].combine_chunks())))
                values = arrow(values) if isinstance(values, np.ndarray) else values
                table = table.set_column(table.column_names.index(name), name, values)
        return table

    def _decode(self, name: str, values: Array) -> Any:
        hole = np.isnan(values) | (values == self.holes.get(name, np.nan))
        if name not in self.types:
            return np.where(hole, np.nan, values)
        kind = self.types[name]
        whole = np.where(hole, 0.0, np.rint(values)).astype(np.int64)
        if name in self.levels:
            levels = self.levels[name]
            if ((whole < 1) | (whole > len(levels)))[~hole].any():
                raise UsageError(f"The method gave {name!r} a number that is no level of it: levels count from 1.")
            found = pa.array([None, *levels], pa.string()).take(arrow(whole))
            return found.cast(kind) if not pa.types.is_dictionary(kind) else found.dictionary_encode()
        counts = arrow(np.where(hole, np.nan, whole)) if hole.any() else arrow(whole)
        try:
            return counts.cast(pa.int64(), safe=False).cast(_counts(kind)).cast(counted_in(kind)).cast(kind)
        except pa.ArrowException:  # it quotes the number
            raise UsageError(f"The method gave {name!r} a number that its type cannot hold.") from None


@dataclass(frozen=True, repr=False)  # no level is printed
class _Numbers:
    """One column of a block as numbers."""

    name: str
    levels: tuple[str, ...] | None
    hole: float | None = None

    def __call__(self, block: Block) -> Array:
        column = block.columns[self.name]
        if self.levels is not None:
            found = pc.index_in(column, value_set=pa.array(self.levels, pa.string())).cast(pa.float64())
            column = numbers(found) + 1  # no level is nothing, as a zero may be
        found = as_float(column)[:, None]
        return found if self.hole is None else np.where(np.isnan(found), self.hole, found)


def _unlike(middle: float) -> float:
    """A number near this one, with digits that no cell is likely to have."""
    return float(np.floor(middle)) + 0.41421356237


def _counts(of: Any) -> Any:
    """The whole numbers that a date's type counts with."""
    return pa.int32() if pa.types.is_date32(of) or pa.types.is_time32(of) else pa.int64()
