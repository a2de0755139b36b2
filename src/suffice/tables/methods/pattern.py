"""Methods that leave cells out, and look for those that must be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from suffice.algebra.array import Flags
from suffice.errors import UsageError
from suffice.method.parameter import Choice, Number, Switch, parameter
from suffice.seed import Seed
from suffice.tables.publication import TableMethod
from suffice.tables.sensitivity import Sensitivity
from suffice.tables.suppress.suppression import COSTS, SEARCHES, Suppression, suppress
from suffice.tables.table import Table


@dataclass(frozen=True)
class PatternMethod(TableMethod):
    """A method on suppressed cells: those that it is given, or those that it finds."""

    search: Literal["given", "auto", "exact", "fast"] = parameter(
        Choice(("given", *SEARCHES)),
        "the pattern as it is given; or found: by an exact search, a fast one, or whichever the table's size allows",
        "given",
        added=True,
    )
    cost: Literal["logarithm", "value", "count", "records", "given"] = parameter(
        Choice(COSTS),
        "of a cell that is suppressed: the logarithm of its value, its value, 1, its records, what is laid down",
        "logarithm",
        added=True,
    )
    keep_zeros: bool = parameter(Switch(), "cells that are zero are published; impossible ones always", False, True)
    gap: float = parameter(Number(0, 1), "share by which the cost may exceed the least one", 0.0, added=True)
    seconds: float = parameter(Number(0, closed=False), "for an exact search, at most", 60.0, added=True)

    def pattern(
        self,
        table: Table,
        suppressed: Flags,
        seed: Seed,
        sensitivity: Mapping[str, Sensitivity],
        **how: Any,
    ) -> Suppression | None:
        """The sensitive cells, those that are given, and what must be suppressed besides."""
        if self.search == "given":
            return None
        if not sensitivity:
            raise UsageError("Nothing says which cells are sensitive.\nGive rules or levels.")
        return suppress(
            table,
            list(sensitivity.values()),
            search=self.search,
            cost=self.cost,
            suppressed=suppressed,
            keep_zeros=self.keep_zeros,
            gap=self.gap,
            seconds=self.seconds,
            seed=seed,
            **how,
        )
