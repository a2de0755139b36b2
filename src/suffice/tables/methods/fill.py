"""Decimal numbers in place of crosses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

import numpy as np
import pyarrow as pa

from suffice.algebra.array import Flags
from suffice.method.parameter import Choice, Count, Number, parameter
from suffice.progress import Progress
from suffice.seed import Seed
from suffice.tables.decimals import decimals
from suffice.tables.methods.pattern import PatternMethod
from suffice.tables.publication import MARK, Publication
from suffice.tables.sensitivity import Sensitivity
from suffice.tables.table import Table

PENDING = "judged by the release"


@dataclass(frozen=True)
class Fill(PatternMethod):
    """Fill suppressed cells with decimal numbers that add up to everything published, and store the lowest cells."""

    keeps: ClassVar = ("published cells", "their sums", "additivity of all cells")
    independent: ClassVar = True
    references: ClassVar = ("Langsrud (2019), section 7",)

    spread: float = parameter(Number(0, closed=False), "root mean square of the residuals, which no cell tells", 1.0)
    modulo: int | None = parameter(
        Count("no division", 2), "fit what counts leave after division by it: it stops", None
    )
    store: Literal["inner", "all"] = parameter(Choice(("inner", "all")), "the lowest cells, or totals as well", "inner")

    @classmethod
    def word(cls) -> str:
        return "decimals"

    def publish(
        self,
        table: Table,
        suppressed: Flags,
        values: tuple[str, ...],
        seed: Seed,
        sensitivity: Mapping[str, Sensitivity],
        progress: Progress | None = None,
    ) -> Publication:
        made = decimals(
            table,
            suppressed,
            values,
            seed=seed,
            spread=self.spread,
            modulo=self.modulo,
            accept={"modulo": PENDING} if self.modulo else None,
        )
        if self.store == "all":
            cells = made.cells.reshape(len(table), -1)
            true = np.column_stack([table.values[name] for name in values])
            cells = np.where(made.suppressed[:, None], cells, true)
            told = {name: cells[:, k].tolist() for k, name in enumerate(values)}
            frame = table.frame({**told, MARK: made.suppressed.tolist()})
            frame = frame.select([*(axis.name for axis in table.grid.axes), *values, MARK])
        else:
            frame = made.frame().append_column(MARK, pa.array((made.suppressed | table.hidden)[made.inner]))
        about = (
            "Suppressed cells hold decimal numbers that add up to what is published and tell no more than that does."
        )
        return Publication(table, values, made.suppressed, frame, about, decimals=made)

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        return cls(), cls(spread=2.0)
