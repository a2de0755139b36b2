"""Records that are protected together: groups, and patterns of missing cells. A file without either is one stratum."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.design.category import Category
from suffice.design.design import Design
from suffice.design.groups import codes_of
from suffice.errors import InputError, escaped
from suffice.rows.arrow import as_float
from suffice.rows.memory import ArrayRows
from suffice.rows.rows import Block, Rows, Run

Labels = NDArray[np.int32]
Places = NDArray[np.intp]

TOGETHER = 2**20
"""Records of groups that are held in memory at a time, at most; a larger group is read from its own file."""


@dataclass(frozen=True, repr=False)
class Chunk:
    """Some strata whole, one behind the other; `rows` are in memory where there are several.

    numbers: which strata they are; ends: where each ends in `rows`; places: of the records in the file
    """

    rows: Rows
    numbers: NDArray[np.intp]
    ends: NDArray[np.intp]
    places: Places

    def __iter__(self) -> Iterator[tuple[int, Places, Callable[[], Rows]]]:
        """Each stratum with the places of its records, in order, and a way to its rows."""
        for number, first, last in zip(self.numbers.tolist(), [0, *self.ends[:-1]], self.ends, strict=True):
            yield number, self.places[first:last], partial(self.part, first, last)

    def part(self, first: int, last: int) -> Rows:
        """Some of the rows."""
        if len(self.numbers) == 1:
            return self.rows
        chosen = {name: values[first:last] for name, values in self.rows.gather(list(self.rows.kinds)).items()}
        return ArrayRows(chosen, self.rows.kinds, self.rows.threads)


@dataclass(frozen=True, repr=False)
class Strata:
    """The stratum of every record, and the confidential columns that the records of each have.

    A stratum is a value of the group columns with a pattern of holes. They are numbered in the order of their values.
    """

    labels: Labels
    confidential: tuple[tuple[str, ...], ...]
    method: tuple[int, ...] = ()
    """Which of several methods protects each stratum; empty where there is one."""

    @classmethod
    def of(cls, rows: Rows, design: Design) -> Strata | None:
        """None where all records are protected together."""
        roles = design.roles
        holes = roles.confidential if roles.missing == "patterns" else ()
        if not roles.groups and not holes:
            return None
        names = (*roles.groups, *holes)

        def of(run: Run) -> NDArray[np.int64]:
            return np.vstack([_keys(block, design.groupings, holes) for block in run])

        keys = np.vstack(list(rows.map(of, names, "finding groups")))
        found, labels = _numbered(keys)
        patterns = found[:, 1:].astype(np.uint8)
        absent = np.unpackbits(patterns, axis=1, count=len(holes)).astype(bool)
        present = tuple(
            tuple(name for name, gone in zip(holes, flags, strict=True) if not gone) if holes else design.confidential
            for flags in absent
        )
        if 2 * len(present) > rows.n:
            raise InputError(
                f"There are {len(present):,} groups by {escaped(', '.join(names))} in {rows.n:,} records.\n"
                "An identifier among the groups? Name it in `identifiers`, or join small groups."
            )
        return cls(labels.ravel().astype(np.int32), present)

    @classmethod
    def crossed(cls, strata: Strata | None, apart: NDArray[np.int64], design: Design) -> Strata:
        """Strata divided once more: each part is protected by another method."""
        outer = np.zeros(len(apart), dtype=np.int64) if strata is None else strata.labels.astype(np.int64)
        found, labels = np.unique(2**8 * outer + apart, return_inverse=True)
        names = [design.confidential] if strata is None else strata.confidential
        return cls(labels.astype(np.int32), tuple(names[key >> 8] for key in found), tuple((found & 255).tolist()))

    @property
    def count(self) -> int:
        return len(self.confidential)

    def chunks(self, rows: Rows, columns: Sequence[str]) -> Iterator[Chunk]:
        """All strata, those together that fit in memory together."""
        if rows.n <= TOGETHER or rows.held:
            yield self._sorted(rows.gather(columns), np.arange(rows.n), rows)
            return
        box = boxes(np.bincount(self.labels, minlength=self.count))

        def label(start: int, batch: Any) -> NDArray[np.intp]:
            return np.asarray(box[self.labels[start : start + len(batch)]])

        for number, part in enumerate(rows.deal(label, int(box.max()) + 1, columns, "dealing groups")):
            places, inside = np.flatnonzero(box[self.labels] == number), np.flatnonzero(box == number)
            if len(inside) == 1:
                yield Chunk(part, inside, np.array([part.n]), places)
            else:
                yield self._sorted(part.gather(columns), places, rows)

    def _sorted(self, columns: dict[str, Any], places: Places, rows: Rows) -> Chunk:
        labels = self.labels[places]
        order = np.argsort(labels, kind="stable")
        numbers, first = np.unique(labels[order], return_index=True)
        moved = ArrayRows({n: values.take(order) for n, values in columns.items()}, _kinds(columns, rows), rows.threads)
        return Chunk(moved, numbers.astype(np.intp), np.array([*first[1:], len(order)]), places[order])


def _numbered(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """The keys there are, in order, and for every record which it has."""
    if keys.shape[1] > 1:
        found, labels = np.unique(keys, axis=0, return_inverse=True)
        return found, labels
    codes = keys[:, 0]
    if len(codes) and codes.max() >= 4 * len(codes) + 1024:
        found, labels = np.unique(codes, return_inverse=True)
        return found[:, None], labels
    there = np.bincount(codes) > 0  # the numbers are dense, and sorting them takes longer
    return np.flatnonzero(there)[:, None], (np.cumsum(there) - 1)[codes]


def _kinds(columns: dict[str, Any], rows: Rows) -> dict[str, Any]:
    return {name: rows.kinds[name] for name in columns}


def _keys(block: Block, categories: Sequence[Category], holes: Sequence[str]) -> NDArray[np.int64]:
    """One number for the group columns, and the pattern of holes as bytes."""
    flags = [np.isnan(as_float(block.columns[name])) for name in holes]
    pattern = np.packbits(np.column_stack(flags), axis=1) if flags else np.empty((len(block), 0))
    return np.column_stack([codes_of(block, categories), pattern]).astype(np.int64)


def boxes(sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    """A file for each stratum: neighbours share one while they fit in memory together."""
    box, held, number = np.zeros(len(sizes), dtype=np.intp), 0, 0
    for stratum, size in enumerate(sizes):
        if held and held + size > TOGETHER:
            number, held = number + 1, 0
        box[stratum] = number
        held += size
    return box
