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
        found = cls(*cls._named(rows, sample))
        if beside is not None and beside.n:
            held = {name: [_words(sample.block, (name,)), *_all_words(beside, (name,))] for name in found.identifiers}
            found = replace(found, identifiers=tuple(name for name, words in held.items() if _alone(words) == 1.0))
            words = _all_words(beside, sample.design.columns)
            found = replace(found, left=beside.n, left_alone=round(_alone(words) * beside.n))
        if not found.columns or not (len(sample) == rows.n or rows.held or sample.kept):
            return found
        few, others = found.columns, [] if beside is None or not beside.n else [beside]
        every = rows.n + sum(each.n for each in others)
        own = [_words(sample.block, few, every)] if len(sample) == rows.n else []
        for each in others if own else [rows, *others]:  # whoever leaves as they are hides others too
            own += _all_words(each, few, every)
        return replace(found, share=_alone(own))

    @staticmethod
    def _named(rows: Rows, sample: LeavingSample) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Identifiers, and columns of few values."""
        design, n = sample.design, len(sample)
        names = [*dict.fromkeys(name for name in (*design.fixed, *sample.kept) if name != design.roles.weight)]
        levels = {name: _different(sample.block.columns[name]) for name in names if n and rows.kinds[name] != "float"}
        own = tuple(name for name, count in levels.items() if count == n >= LEAST and name in sample.kept)
        return own, tuple(name for name, count in levels.items() if 1 < count <= n / 10)


def _different(column: Any) -> int:
    return int(pc.count_distinct(column).as_py()) if isinstance(column, pa.Array) else len(np.unique(column))


def _words(block: Block, names: tuple[str, ...], n: int = 0) -> Words:
    """Fingerprints; of many records those of a part of all combinations, which are a part of the records."""
    columns = [block.columns[name] for name in names]
    found = fingerprints(len(block), [text_words(c) if isinstance(c, pa.Array) else number_words(c) for c in columns])
    return found if n <= HELD else found[found < np.uint64(2**64 * HELD // n)]


def _all_words(rows: Rows, names: tuple[str, ...], n: int = 0) -> list[Words]:
    return rows.fold(lambda block: [_words(block, names, n)], names, "looking")


def _alone(words: list[Words]) -> float:
    counts = np.unique(np.concatenate(words), return_counts=True)[1]
    return float((counts == 1).sum() / max(1, counts.sum()))
