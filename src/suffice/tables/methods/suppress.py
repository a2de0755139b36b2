"""Crosses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from suffice.algebra.array import Flags
from suffice.progress import Progress
from suffice.seed import Seed
from suffice.tables.methods.pattern import PatternMethod
from suffice.tables.publication import Publication
from suffice.tables.sensitivity import Sensitivity
from suffice.tables.table import Table


@dataclass(frozen=True)
class Suppress(PatternMethod):
    """Publish the cells that are not suppressed, and nothing in place of the others."""

    keeps: ClassVar = ("published cells", "their sums")
    independent: ClassVar = True
    references: ClassVar = ("Fischetti and Salazar-Gonzalez (2001)", "Cox, Kelly and Patil (2005), section 1")

    def publish(
        self,
        table: Table,
        suppressed: Flags,
        values: tuple[str, ...],
        seed: Seed,
        sensitivity: Mapping[str, Sensitivity],
        progress: Progress | None = None,
    ) -> Publication:
        shown = {name: np.where(suppressed, np.nan, table.values[name]) for name in values}
        frame = table.frame({name: [None if np.isnan(x) else x for x in each] for name, each in shown.items()})
        names = [*(axis.name for axis in table.grid.axes), *values]
        return Publication(table, values, suppressed, frame.select(names), "Suppressed cells are left empty.")

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        return cls(), cls(search="auto", cost="count")
