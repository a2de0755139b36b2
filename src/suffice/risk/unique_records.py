"""How many records the columns that leave unchanged tell apart."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from suffice.risk.leaving import LeavingSample
from suffice.rows.multiset import Words, fingerprints, number_words, text_words
from suffice.rows.rows import Block, Rows

LEAST = 20
"""Records, at least, of which all must differ for a column to name them."""
HELD = 2**17
"""Fingerprints of records that are held: of all records, or of those that a part of all combinations has."""


@dataclass(frozen=True)
class UniqueRecords:
    """identifiers: columns of text or whole numbers that leave and are different in every record
    columns: categories and other columns of few values that leave as they are
    share: of the records that are alone with theirs; of a large file without kept columns it is not counted, since
        that would take a pass
    left: records that leave as they are, confidential values too, where a method replaces others only
    left_alone: those of them that no other one is like
    """

    identifiers: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    share: float = 0.0
    left: int = 0
    left_alone: int = 0

    @classmethod
    def of(cls, rows: Rows, sample: LeavingSample, beside: Rows | None = None) -> Self:
        """beside: records that leave as they are"""
        if beside is not None and beside.n:
            leaving = sample.design.columns
            words = beside.fold(lambda block: [_words(block, leaving)], leaving, "looking")
            return replace(cls.of(rows, sample), left=beside.n, left_alone=round(_alone(words) * beside.n))
        design, n = sample.design, len(sample)
        if not n:
            return cls()
        names = [*dict.fromkeys(name for name in (*design.fixed, *sample.kept) if name != design.roles.weight)]
        levels = {name: _different(sample.block.columns[name]) for name in names if rows.kinds[name] != "float"}
        few = tuple(name for name, count in levels.items() if 1 < count <= n / 10)
        own = tuple(name for name, count in levels.items() if count == n >= LEAST and name in sample.kept)
        if not few:
            return cls(own)
        if n == rows.n:
            return cls(own, few, _alone([_words(sample.block, few)]))
        if not (rows.held or sample.kept):
            return cls(own, few)
        every = rows.n
        return cls(own, few, _alone(rows.fold(lambda block: [_words(block, few, every)], few, "looking")))


def _different(column: Any) -> int:
    return int(pc.count_distinct(column).as_py()) if isinstance(column, pa.Array) else len(np.unique(column))


def _words(block: Block, names: tuple[str, ...], n: int = 0) -> Words:
    """Fingerprints; of many records those of a part of all combinations, which are a part of the records."""
    columns = [block.columns[name] for name in names]
    found = fingerprints(len(block), [text_words(c) if isinstance(c, pa.Array) else number_words(c) for c in columns])
    return found if n <= HELD else found[found < np.uint64(2**64 * HELD // n)]


def _alone(words: list[Words]) -> float:
    counts = np.unique(np.concatenate(words), return_counts=True)[1]
    return float((counts == 1).sum() / max(1, counts.sum()))
