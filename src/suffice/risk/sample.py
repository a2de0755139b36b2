"""Some records before and after, side by side: enough to see how near released values are to their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.protection.aligned import AlignedBlock
from suffice.protection.strata import Strata

MOST, WHOLE = 2000, 8192
"""Records of a part that are looked at, and of a stratum that is taken whole: who knows it looks in no other."""

Piece = tuple[Array, Array, NDArray[np.int64], NDArray[np.int64]]
"""Values before and after, parts and strata of the sampled records of a block."""


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
    where a large one does. Small strata are taken whole, so that records can be looked for in their own.
    """

    places: NDArray[np.int64]
    parts: NDArray[np.int64]
    strata: NDArray[np.int64]
    """The number of a stratum that was taken whole, -1 elsewhere."""

    @classmethod
    def of_file(cls, n: int, strata: Strata | None) -> Self:
        """Of a file of n records: all of a small part, some of a large one."""
        if strata is None:
            places = np.sort(np.random.default_rng(n).choice(n, min(n, MOST), replace=False, shuffle=False))
            return cls(places, *(np.full(len(places), each, dtype=np.int64) for each in (0, -1)))
        sizes, rng = np.bincount(strata.labels, minlength=strata.count), np.random.default_rng(n)
        method = np.array(strata.method or [0] * strata.count)
        part = 64 * method + np.log2(np.maximum(sizes, 1)).astype(np.int64) // 2
        chosen = np.sort(np.concatenate([_chosen(strata.labels, sizes, part == each, rng) for each in np.unique(part)]))
        own = strata.labels[chosen]
        return cls(chosen, part[own], np.where(sizes[own] <= WHOLE, own, -1).astype(np.int64))

    def of(self, aligned: AlignedBlock) -> Pieces:
        first, last = np.searchsorted(self.places, [aligned.start, aligned.start + len(aligned.Y)])
        if first == last:
            return Pieces()
        rows = self.places[first:last] - aligned.start
        Y, Ystar = aligned.Y[rows], aligned.Ystar[rows]
        if aligned.hole is not None:
            Y, Ystar = (np.where(aligned.hole[rows], np.nan, A) for A in (Y, Ystar))
        return Pieces(((Y, Ystar, self.parts[first:last], self.strata[first:last]),))


def _chosen(
    labels: NDArray[np.int32], sizes: NDArray[np.int64], inside: Flags, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Records of some strata: small strata whole, until they are enough; some of the records of all large ones."""
    small, found = np.flatnonzero(inside & (sizes <= WHOLE)), np.zeros(0, dtype=np.intp)
    if len(small):
        order = rng.permutation(small)
        taken = np.zeros(len(sizes), dtype=bool)
        taken[order[: np.searchsorted(np.cumsum(sizes[order]), MOST) + 1]] = True
        found = np.flatnonzero(taken[labels])
    large = np.flatnonzero((inside & (sizes > WHOLE))[labels])
    return np.concatenate([found, rng.choice(large, min(len(large), MOST), replace=False)])


@dataclass(frozen=True, repr=False)
class RecordSample:
    """Sampled records: values before and after (nan where missing), columns that move, part and stratum of each."""

    names: tuple[str, ...]
    Y: Array
    Ystar: Array
    parts: NDArray[np.int64]
    told: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, names: tuple[str, ...], found: Sequence[Piece]) -> Self:
        """Columns that nothing changes are left out: another rule speaks of these."""
        none: Array = np.empty((0, len(names)))
        Y = np.vstack([none, *(piece[0] for piece in found)])
        Ystar = np.vstack([none, *(piece[1] for piece in found)])
        moves = np.flatnonzero(((Ystar != Y) & ~np.isnan(Y)).any(axis=0))
        labels = [np.concatenate([np.zeros(0, dtype=np.int64), *(piece[at] for piece in found)]) for at in (2, 3)]
        return cls(tuple(names[j] for j in moves), Y[:, moves], Ystar[:, moves], *labels)

    @property
    def strata(self) -> NDArray[np.int64]:
        """The stratum of each record that was taken whole, -1 elsewhere."""
        return np.full(len(self.Y), -1) if self.told is None else self.told

    def inside(self, stratum: int) -> RecordSample:
        """The records of one stratum, or with -1 of all that were not taken whole."""
        own = self.strata == stratum
        return replace(self, Y=self.Y[own], Ystar=self.Ystar[own], parts=self.parts[own], told=self.strata[own])

    def shifted(self, by: int = 1) -> RecordSample:
        """With every released record beside an original one some places further: what chance finds."""
        return replace(self, Ystar=np.roll(self.Ystar, by, axis=0))

    def columns(self) -> Iterator[tuple[str, int, Array, Array]]:
        """Every column in every part: its name, the part, and values before and after that are there."""
        for part in np.unique(self.parts):
            inside = self.parts == part
            for j, name in enumerate(self.names):
                there = inside & ~np.isnan(self.Y[:, j])
                yield name, int(part), self.Y[there, j], self.Ystar[there, j]
