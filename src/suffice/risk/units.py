"""Records that belong to one unit - a firm, a person - and are judged together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algebra.group_moments import Grouping
from suffice.design.roles import Roles
from suffice.design.units import exact_words
from suffice.risk.dominance import Concentration
from suffice.rows.fingerprint import Fingerprint, Fingerprints
from suffice.rows.multiset import Words, fingerprints
from suffice.rows.rows import Block, Rows

OFTEN = 1.1
"""Records of an identifier, on average, from which it tells units and not records."""


@dataclass(frozen=True, repr=False)
class UnitTotals:
    """Sums over the records of every unit in every group of some kind; a unit in two groups is two."""

    groups: NDArray[Any]
    """A word for each unit in a group."""
    within: NDArray[Any]
    """That of the group."""
    sizes: NDArray[np.int64]
    total: Array

    @classmethod
    def of(cls, within: Words, units: Words, Y: Array) -> UnitTotals:
        """Y: one row a record; a missing cell counts nothing, nor does a record without any."""
        there = ~np.isnan(Y).all(axis=1)
        within, units = within[there], units[there]
        pairs = fingerprints(len(units), [within, units])
        return cls._merged(pairs, within, np.ones(len(units)), np.nan_to_num(Y[there]))

    @classmethod
    def _merged(cls, pairs: NDArray[Any], within: NDArray[Any], sizes: Array, total: Array) -> UnitTotals:
        if not len(pairs):
            return cls(pairs, within, sizes.astype(np.int64), total)
        groups = Grouping.of(pairs)
        sums = np.array([groups.total(y) for y in total.T]).T
        return cls(groups.labels, within[groups.order][groups.starts], groups.total(sizes).astype(np.int64), sums)

    @classmethod
    def together(cls, parts: Sequence[UnitTotals]) -> UnitTotals:
        tables = ([getattr(part, name) for part in parts] for name in ("groups", "within", "sizes", "total"))
        pairs, within, sizes, total = (np.concatenate(table) for table in tables)
        return cls._merged(pairs, within, sizes.astype(np.float64), total)

    def concentration(self) -> Concentration:
        """Groups whose records are units."""
        return Concentration.of(self.within, self.total)


def repeated_identifiers(rows: Rows, roles: Roles) -> Mapping[str, float]:
    """Identifiers that several records have, where no unit is named: how many records each has on average."""
    names = [name for name in roles.identifiers if rows.kinds.get(name) in ("integer", "category")]
    if roles.unit or not names:
        return {}

    def of(block: Block) -> Fingerprints:
        return Fingerprints({name: Fingerprint.of(exact_words(block.columns[name]), 0) for name in names})

    found = rows.fold(of, names, "looking at identifiers")
    often = {name: float(each.counts.mean()) for name, each in found.items() if len(each.counts)}
    return {name: records for name, records in often.items() if records >= OFTEN}
