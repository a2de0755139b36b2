"""Some records before and after, side by side: enough to see how near released values are to their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.protection.aligned import AlignedBlock
from suffice.protection.strata import Strata

MOST = 2000
"""Records of a part that are looked at."""

Piece = tuple[Array, Array, NDArray[np.int64]]
"""Values before and after, and parts, of the sampled records of a block."""


@dataclass(frozen=True, repr=False)
class Pieces:
    """Sampled records of some blocks."""

    found: tuple[Piece, ...] = ()

    def __add__(self, other: Self) -> Pieces:
        return Pieces(self.found + other.found)


@dataclass(frozen=True, repr=False)
class SampleMeasure:
    """Takes the records at some places, whatever the key; `parts`: what each was protected with.

    A part is one of the methods for parts of the records, on strata of about one size: a small group may hardly move
    where a large one does.
    """

    places: NDArray[np.int64]
    parts: NDArray[np.int64]

    @classmethod
    def of_file(cls, n: int, strata: Strata | None) -> Self:
        """Of a file of n records: all of a small part, some of a large one."""
        if strata is None:
            places = np.sort(np.random.default_rng(n).choice(n, min(n, MOST), replace=False, shuffle=False))
            return cls(places, np.zeros(len(places), dtype=np.int64))
        sizes = np.bincount(strata.labels, minlength=strata.count)
        method = np.array(strata.method or [0] * strata.count)
        part = (64 * method + np.log2(np.maximum(sizes, 1)).astype(np.int64) // 2)[strata.labels]
        order = np.random.default_rng(n).permutation(n)
        chosen = np.sort(np.concatenate([order[part[order] == each][:MOST] for each in np.unique(part)]))
        return cls(chosen, part[chosen])

    def of(self, aligned: AlignedBlock) -> Pieces:
        first, last = np.searchsorted(self.places, [aligned.start, aligned.start + len(aligned.Y)])
        if first == last:
            return Pieces()
        rows = self.places[first:last] - aligned.start
        Y, Ystar = aligned.Y[rows], aligned.Ystar[rows]
        if aligned.hole is not None:
            Y, Ystar = (np.where(aligned.hole[rows], np.nan, A) for A in (Y, Ystar))
        return Pieces(((Y, Ystar, self.parts[first:last]),))


@dataclass(frozen=True, repr=False)
class RecordSample:
    """Sampled records: values before and after (nan where missing), columns that move, and the part of each."""

    names: tuple[str, ...]
    Y: Array
    Ystar: Array
    parts: NDArray[np.int64]

    @classmethod
    def of(cls, names: tuple[str, ...], found: Sequence[Piece]) -> Self:
        """Columns that nothing changes are left out: another rule speaks of these."""
        none: Array = np.empty((0, len(names)))
        Y = np.vstack([none, *(piece[0] for piece in found)])
        Ystar = np.vstack([none, *(piece[1] for piece in found)])
        moves = np.flatnonzero(((Ystar != Y) & ~np.isnan(Y)).any(axis=0))
        parts = np.concatenate([np.zeros(0, dtype=np.int64), *(piece[2] for piece in found)])
        return cls(tuple(names[j] for j in moves), Y[:, moves], Ystar[:, moves], parts)

    def columns(self) -> Iterator[tuple[str, int, Array, Array]]:
        """Every column in every part: its name, the part, and values before and after that are there."""
        for part in np.unique(self.parts):
            inside = self.parts == part
            for j, name in enumerate(self.names):
                there = inside & ~np.isnan(self.Y[:, j])
                yield name, int(part), self.Y[there, j], self.Ystar[there, j]
