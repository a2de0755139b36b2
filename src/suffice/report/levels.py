"""Categories before and after: records by level, by one pass over each file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from suffice.rows.rows import Block, Rows

MOST = 24
"""Levels that are shown; the others are added up."""
FEWEST = 10
"""Records that a level has at least, to be named in a page for everybody."""


@dataclass(frozen=True, repr=False)
class LevelCounts:
    """One column whose cells are numbers of levels, from 1: records by level in each file; those without come last."""

    name: str
    levels: tuple[str, ...]
    counts: tuple[NDArray[np.int64], ...]

    @classmethod
    def of(cls, files: Sequence[Rows], levels: Mapping[str, tuple[str, ...]]) -> tuple[Self, ...]:
        """Of every column that has levels."""

        def tally(block: Block) -> NDArray[np.int64]:
            return np.stack([_tally(block, name, len(own), widest) for name, own in levels.items()])

        widest = max(map(len, levels.values()), default=0)
        found = [rows.fold(tally, list(levels), "report") for rows in files] if levels else []
        return tuple(
            cls(name, own, tuple(each[j][: len(own) + 1] for each in found))
            for j, (name, own) in enumerate(levels.items())
        )

    def lines(self, fewest: int = 0) -> list[tuple[str, list[str]]]:
        """The levels with most records, and all others together; records of each file.

        fewest: records that a level has in the last file, to be named
        """
        known = np.array([count[:-1] for count in self.counts])
        order = np.lexsort((-known[-1], -known[0]))
        named = [j for j in order if known[-1][j] >= fewest][:MOST]
        others = known.sum(axis=1) - known[:, named].sum(axis=1)
        missing = np.array([count[-1] for count in self.counts])
        told = [(self.levels[j], known[:, j]) for j in named]
        told += [(f"{len(self.levels) - len(named)} others", others)] if len(named) < len(self.levels) else []
        told += [("missing cells", missing)] if missing.any() else []
        return [(name, [f"{value:,}" for value in values]) for name, values in told]


def _tally(block: Block, name: str, own: int, widest: int) -> NDArray[np.int64]:
    """Records by level; behind the column's last one those without."""
    codes = np.nan_to_num(np.asarray(block.columns[name], dtype=np.float64)).astype(np.int64)
    places = np.where((codes >= 1) & (codes <= own), codes - 1, own)
    return np.bincount(places, minlength=widest + 1)
