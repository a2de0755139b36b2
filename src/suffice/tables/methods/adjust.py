"""Changed cells in place of suppressed ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

import numpy as np

from suffice.algebra.array import Flags
from suffice.errors import UsageError
from suffice.method.parameter import Choice, Names, Number, Switch, parameter
from suffice.progress import Progress
from suffice.seed import Seed
from suffice.tables.adjust.adjust import KEEPS, OBJECTIVES, SIGNS, SIZES, adjust
from suffice.tables.adjust.adjustment import Adjustment
from suffice.tables.publication import Publication, TableMethod
from suffice.tables.sensitivity import Sensitivity
from suffice.tables.table import Table

PENDING = "judged by the release"
DONE = (
    "Cells were changed so that none tells too much; all totals are the sums of their parts. No cell is to be read as "
    "the original's."
)


@dataclass(frozen=True)
class Adjust(TableMethod):
    """Move sensitive cells to safe values and the others as little as can be, so that all sums hold."""

    keeps: ClassVar = ("additivity of all cells", "means, variances and covariances where asked")
    independent: ClassVar = False
    audited: ClassVar = False
    references: ClassVar = ("Cox, Kelly and Patil (2005)",)

    objective: Literal["l1", "relative", "l2", "largest"] = parameter(
        Choice(OBJECTIVES), "what is to be small: the sum of changes, of shares, of squares, or the largest", "l1"
    )
    keep: Literal["none", "means", "slope", "moments"] = parameter(
        Choice(("none", *KEEPS)), "statistics that stay: slope and moments exclude each other", "none"
    )
    planes: tuple[str, ...] | None = parameter(
        Names(), "a dimension and codes of it, whose inner cells each have these statistics; none: all cells", None
    )
    sizes: Literal["drawn", "least"] = parameter(
        Choice(SIZES), "changes of sensitive cells: drawn from the level up, or the level itself, which stops", "drawn"
    )
    signs: Literal["best", "ordering", "blocks"] = parameter(
        Choice(SIGNS), "their directions: by a programme, by Cox's ordering, or few at a time", "best"
    )
    q: float = parameter(Number(1), "times its level: what a sensitive cell changes by at most", 2.0)
    capacity: float = parameter(Number(0), "share of its value: what any other cell changes by at most", 1.0)
    whole: bool = parameter(Switch(), "whole numbers, with statistics near and not exact", False)
    gap: float = parameter(Number(0, 1), "share by which the changes may exceed the least that are possible", 0.0)
    seconds: float = parameter(Number(0, closed=False), "for each programme, at most", 60.0)

    def publish(
        self,
        table: Table,
        suppressed: Flags,
        values: tuple[str, ...],
        seed: Seed,
        sensitivity: Mapping[str, Sensitivity],
        progress: Progress | None = None,
    ) -> Publication:
        """The adjusted table; cells that are sensitive are changed, and none is suppressed."""
        bare = [name for name in values if name not in sensitivity]
        if bare:
            raise UsageError(f"Nothing says which cells of {', '.join(bare)} are sensitive.\nGive rules or levels.")
        given = [sensitivity[name] for name in values]
        made = self._adjusted(table, given, seed, progress)
        none = np.zeros(len(table), dtype=bool)
        facts = {"least": float(self.sizes == "least"), "one_way": float(made.one_way), "at_level": made.at_level}
        facts |= {"bits_left": made.bits_left, "reach": made.reach}
        if self.signs != "ordering" and any(int(each.sensitive.sum()) > 1 for each in given):
            facts["least_cost"] = 1.0
        check = ["--protection", ",".join(["LEVELS"] * len(values))]  # columns of the original file
        check += [] if self.keep == "none" else ["--keep", self.keep]
        check += (
            ["--planes", f"{self.planes[0]}={','.join(self.planes[1:])}"] if self.planes and self.keep != "none" else []
        )
        return Publication(
            table,
            values,
            none,
            made.frame(),
            DONE,
            made.promises,
            published=none,
            facts=facts,
            told=made.text(),
            check=tuple(check),
        )

    def _adjusted(
        self, table: Table, given: Sequence[Sensitivity], seed: Seed, progress: Progress | None
    ) -> Adjustment:
        return adjust(
            table,
            given,
            objective=self.objective,
            signs=self.signs,
            sizes=self.sizes,
            q=self.q,
            capacity=self.capacity,
            keep=None if self.keep == "none" else self.keep,
            sets=slices(table, self.planes[0], self.planes[1:]) if self.planes else None,
            whole=self.whole,
            seed=seed,
            seconds=self.seconds,
            gap=self.gap,
            accept={"least-sizes": PENDING} if self.sizes == "least" else None,
            progress=progress,
        )

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        return cls(), cls(objective="relative", keep="means")


def slices(table: Table, dimension: str, codes: Sequence[str]) -> dict[str, list[int]]:
    """For each code of a dimension its inner cells, the k-th of all codes alike in the other dimensions.

    >>> table = Table.of_records({"a": list("xxyy"), "b": list("uvuv"), "n": [1, 2, 3, 4]}, ["a", "b"], frequency="n")
    >>> {code: [table.label(cell) for cell in cells] for code, cells in slices(table, "a", []).items()}
    {'x': ['a=x, b=u', 'a=x, b=v'], 'y': ['a=y, b=u', 'a=y, b=v']}
    """
    axes = [axis.name for axis in table.grid.axes]
    if dimension not in axes:
        raise UsageError(f"The table has no dimension {dimension!r}; it has {', '.join(axes)}.")
    number = axes.index(dimension)
    axis = table.grid.axes[number]
    wrong = [code for code in codes if code not in axis.place]
    if wrong:
        raise UsageError(f"{dimension} has no code {wrong[0]!r}.")
    leaf = ~table.hidden
    for k, other in enumerate(table.grid.axes):
        leaf &= (k == number) | np.isin(table.grid.codes[:, k], other.leaves)
    found: dict[str, dict[tuple[int, ...], int]] = {}
    for code in codes or [axis.codes[leaf_] for leaf_ in axis.leaves]:
        here = np.flatnonzero(leaf & (table.grid.codes[:, number] == axis.place[code]))
        found[code] = {tuple(np.delete(table.grid.codes[cell], number).tolist()): int(cell) for cell in here}
    shared = set.intersection(*(set(each) for each in found.values()))
    return {code: [each[key] for key in sorted(shared)] for code, each in found.items()}
