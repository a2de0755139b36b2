"""Files of other programs, which say themselves what their columns are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from suffice.errors import UsageError
from suffice.tables.table import Table


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class CellFile:
    """Cells or records, and what their columns are.

    roles: dims, values, whether these are counts, total and hierarchies of the table; frequency, largest, holding,
        weight and asked behind it; suppressed, sensitive, lower, upper and impossible of the pattern; low and high:
        what everybody knows of a cell
    """

    frame: pa.Table
    roles: Mapping[str, Any] = field(default_factory=dict)
    records: bool = False

    def table(self, value: str | None = None) -> Table:
        """The table of one value: the one that is named, or the first."""
        values = [value] if value is not None else list(self.roles["values"][:1])
        if not values and not self.records:
            raise UsageError("The file does not say which of its columns is a value.\nName one.")
        given = {name: self.roles[name] for name in ("total", "hierarchies") if name in self.roles}
        if self.records:
            people = ("frequency", "holding", "weight", "asked")
            given |= {name: self.roles[name] for name in people if name in self.roles}
            return Table.of_records(self.frame, self.roles["dims"], values, **given)
        behind = {"records": self.roles.get("frequency"), "largest": self.roles.get("largest", ())}
        behind |= {"impossible": self.roles.get("impossible"), "counts": values if self.roles.get("counts") else ()}
        return Table.of_cells(self.frame, self.roles["dims"], values, **given, **behind)
