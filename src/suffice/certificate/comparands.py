"""What two files are to be compared by, as it is written: statistics, tables and means in levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from suffice.statistics.promise import COMPARED

LEVELS = "mean by "


@dataclass(frozen=True)
class Comparands:
    """Statistics by name; tables of counts, each by its columns; columns in whose levels means are compared.

    >>> asked = Comparands.of(["mean", "sex", "sex*region", "mean by sex"], ["sex", "region"])
    >>> asked.statistics, asked.tables, asked.levels
    (('mean',), (('sex',), ('sex', 'region')), ('sex',))
    >>> asked.written()
    ['mean', 'sex', 'sex*region', 'mean by sex']
    """

    statistics: tuple[str, ...]
    tables: tuple[tuple[str, ...], ...] = ()
    levels: tuple[str, ...] = ()

    @classmethod
    def of(cls, names: Sequence[str], columns: Sequence[str]) -> Self:
        """A column is the table of itself, unless it is called as a statistic is."""
        told = dict.fromkeys(names)
        tables = [name for name in told if name not in COMPARED and ("*" in name or name in columns)]
        levels = [name for name in told if name not in tables and name.startswith(LEVELS)]
        rest = [name for name in told if name not in (*tables, *levels, *COMPARED)]
        return cls(
            (*(name for name in COMPARED if name in told), *rest),
            tuple((name,) if name in columns else tuple(each.strip() for each in name.split("*")) for name in tables),
            tuple(name.removeprefix(LEVELS).strip() for name in levels),
        )

    def written(self) -> list[str]:
        """As it is read again; what is called so that it would be read as something else is left out."""
        plain = [table for table in self.tables if not any({*"*,"} & {*name} for name in table)]
        named = ["*".join(table) for table in plain if len(table) > 1 or table[0] not in COMPARED]
        return [*self.statistics, *named, *(LEVELS + name for name in self.levels if "," not in name)]
