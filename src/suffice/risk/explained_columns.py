"""Confidential columns without a residual, in the file or in groups: there is nothing to change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.protection.aligned import AlignedBlock
from suffice.protection.protected import Protected
from suffice.risk.residuals import stacked_residuals


@dataclass(frozen=True)
class ExplainedColumns:
    """Columns that are a function of the given ones, constant ones, and other ones that are constant in groups."""

    explained: tuple[str, ...] = ()
    constant: tuple[str, ...] = ()
    within: Mapping[str, int] = field(default_factory=dict)
    """In how many groups a column is constant and not zero."""
    empty: Mapping[str, int] = field(default_factory=dict)
    """In how many it is zero, though fewer than half of the others are: nobody would have guessed it."""
    nothing: Mapping[str, int] = field(default_factory=dict)
    """In how many it is zero otherwise, or one value in a pattern of missing cells."""
    unchanged: tuple[str, ...] = ()
    """Other columns of which no cell has changed, though the method carries nothing of single records over."""

    @classmethod
    def of(cls, done: Protected, zeros: Array, changed: NDArray[np.int64] | None = None) -> Self:
        """Where X leaves no degree of freedom it explains everything, and other rules speak.

        zeros: cells of every column, and how many of these are zero; changed: cells
        """
        found: Counter[tuple[str, str]] = Counter()
        for strata, E, _ in stacked_residuals(each for each in done.strata if each.nu > 0):
            still: Flags = (E == 0).all(axis=1)
            for i in np.flatnonzero(still.any(axis=1)):
                spread, names = strata[i].spread, strata[i].design.confidential
                groups = bool(strata[i].design.roles.groups)  # a pattern of holes is made by what does not apply
                among = np.array([done.design.confidential.index(name) for name in names])
                told = groups & unusual(spread.rows, *zeros[:, among])
                kind = np.where(
                    spread.constant,
                    np.where((spread.size > 0) & groups, "one value", np.where(told, "empty", "nothing")),
                    "explained",
                )
                found.update((names[j], str(kind[j])) for j in np.flatnonzero(still[i]))
        names, flat = done.design.confidential, done.spread.constant
        others = [name for name, constant in zip(names, flat, strict=True) if not constant]
        same = [] if changed is None else [names[j] for j in np.flatnonzero(changed == 0)]
        return cls(
            tuple(name for name in others if found[name, "explained"]),
            tuple(name for name in names if name not in others),
            {name: found[name, "one value"] for name in others if found[name, "one value"]},
            {name: found[name, "empty"] for name in others if found[name, "empty"]},
            {name: found[name, "nothing"] for name in others if found[name, "nothing"]},
            tuple(name for name in same if name in others and not found[name, "explained"]),
        )


def unusual(here: Array | int, cells: Array, zeros: Array) -> Flags:
    """Whether zeros in all of so many cells are news: fewer than half of the others are zero."""
    return np.asarray(2 * (zeros - here) < cells - here)


@dataclass(frozen=True, repr=False)
class ChangeMeasure:
    """Cells that have changed, column by column."""

    def of(self, aligned: AlignedBlock) -> NDArray[np.int64]:
        return np.array([np.count_nonzero(change != 0) for change in aligned.change.T])
