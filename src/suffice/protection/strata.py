"""Records that are protected together: groups, and patterns of missing cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.design.category import Category
from suffice.design.design import Design
from suffice.design.groups import codes_of, learnt
from suffice.errors import InputError
from suffice.rows.arrow import as_float, columns_of
from suffice.rows.bridge import arrow
from suffice.rows.derived import Joined
from suffice.rows.memory import ArrayRows
from suffice.rows.parquet import ArrowRows
from suffice.rows.rows import Block, Rows
from suffice.rows.spool import Spool

Labels = NDArray[np.int32]

TOGETHER = 2**20
"""Records of groups that are held in memory at a time, at most; a larger group is read from its own file."""


@dataclass(frozen=True, repr=False)
class Strata:
    """The group of every record, and the confidential columns that the records of each group have.

    A group is a value of the group columns with a pattern of holes. Groups are numbered in the order of their values.
    """

    labels: Labels
    confidential: tuple[tuple[str, ...], ...]
    method: tuple[int, ...] = ()
    """Which of several methods protects each group; empty where there is one."""

    @classmethod
    def of(cls, rows: Rows, design: Design) -> Strata | None:
        """None where all records are protected together."""
        roles = design.roles
        holes = roles.confidential if roles.missing == "patterns" else ()
        if not roles.groups and not holes:
            return None
        names = (*roles.groups, *holes)
        categories = learnt(rows, roles.groups)

        def of(run: Sequence[Block]) -> NDArray[np.int64]:
            return np.vstack([_keys(block, categories, holes) for block in run])

        keys = np.vstack(list(rows.map(of, names, "finding groups")))
        found, labels = np.unique(keys, axis=0, return_inverse=True)
        patterns = found[:, 1:].astype(np.uint8)
        absent = np.unpackbits(patterns, axis=1, count=len(holes)).astype(bool)
        present = tuple(
            tuple(name for name, gone in zip(holes, flags, strict=True) if not gone) if holes else design.confidential
            for flags in absent
        )
        if 2 * len(present) > rows.n:
            raise InputError(
                f"There are {len(present):,} groups by {', '.join(names)} in {rows.n:,} records.\n"
                "An identifier among the groups? Name it in `identifiers`, or join small groups."
            )
        return cls(labels.ravel().astype(np.int32), present)

    @classmethod
    def crossed(cls, division: Strata | None, apart: NDArray[np.int64], design: Design) -> Strata:
        """Groups divided once more: each part is protected by another method."""
        outer = np.zeros(len(apart), dtype=np.int64) if division is None else division.labels.astype(np.int64)
        found, labels = np.unique(2**8 * outer + apart, return_inverse=True)
        names = [design.confidential] if division is None else division.confidential
        return cls(labels.astype(np.int32), tuple(names[key >> 8] for key in found), tuple((found & 255).tolist()))

    @property
    def count(self) -> int:
        return len(self.confidential)

    def parts(self, rows: Rows, columns: Sequence[str]) -> Iterator[tuple[int, NDArray[np.intp], Rows]]:
        """Each group with the places of its records, in order, and its rows."""
        sizes = np.bincount(self.labels, minlength=self.count)
        if rows.n <= TOGETHER or isinstance(_source(rows), ArrayRows):
            yield from self._in_memory(_held(rows, columns), np.arange(rows.n), rows)
            return
        box = _boxes(sizes)
        for number, spool in enumerate(self._spooled(rows, columns, box)):
            places = np.flatnonzero(box[self.labels] == number)
            if (box == number).sum() == 1:
                yield int(np.flatnonzero(box == number)[0]), places, spool
            else:
                yield from self._in_memory(_held(spool, columns), places, rows)

    def _in_memory(
        self, columns: dict[str, Any], places: NDArray[np.intp], rows: Rows
    ) -> Iterator[tuple[int, NDArray[np.intp], Rows]]:
        labels = self.labels[places]
        order = np.argsort(labels, kind="stable")
        sorted_ = {name: values.take(order) for name, values in columns.items()}
        groups, first = np.unique(labels[order], return_index=True)
        for group, a, b in zip(groups, first, [*first[1:], len(order)], strict=True):
            chosen = {name: values[a:b] for name, values in sorted_.items()}
            yield int(group), places[order[a:b]], ArrayRows(chosen, rows.kinds, rows.threads)

    def _spooled(self, rows: Rows, columns: Sequence[str], box: NDArray[np.intp]) -> list[Spool]:
        """The rows dealt to files, of several small groups or of one large one."""
        spools: list[Spool] = []
        start = 0
        for run in rows.runs(columns):
            batch = _batch(run, columns)
            where = box[self.labels[start : start + len(batch)]]
            spools = spools or [Spool(batch.schema, rows.kinds, rows.threads) for _ in range(box.max() + 1)]
            order = np.argsort(where, kind="stable")
            ends = np.cumsum(np.bincount(where, minlength=len(spools)))
            moved = batch.take(arrow(order))
            for spool, a, b in zip(spools, [0, *ends[:-1]], ends, strict=True):
                if b > a:
                    spool.write(moved.slice(a, b - a))
            start += len(batch)
        for spool in spools:
            spool.close()
        return spools


def _keys(block: Block, categories: Sequence[Category], holes: Sequence[str]) -> NDArray[np.int64]:
    """One number for the group columns, and the pattern of holes as bytes."""
    flags = [np.isnan(as_float(block.columns[name])) for name in holes]
    pattern = np.packbits(np.column_stack(flags), axis=1) if flags else np.empty((len(block), 0))
    return np.column_stack([codes_of(block, categories), pattern]).astype(np.int64)


def _boxes(sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    """A file for each group: neighbours share one while they fit in memory together."""
    box, held, number = np.zeros(len(sizes), dtype=np.intp), 0, 0
    for group, size in enumerate(sizes):
        if held and held + size > TOGETHER:
            number, held = number + 1, 0
        box[group] = number
        held += size
    return box


def _source(rows: Rows) -> Rows:
    return rows.rows if isinstance(rows, Joined) else rows


def _batch(run: Sequence[Block], columns: Sequence[str]) -> Any:
    return pa.RecordBatch.from_pydict({name: _joined([block.columns[name] for block in run]) for name in columns})


def _joined(parts: Sequence[Any]) -> Any:
    return np.concatenate(parts) if isinstance(parts[0], np.ndarray) else pa.concat_arrays(parts)


def _held(rows: Rows, columns: Sequence[str]) -> dict[str, Any]:
    """Columns in memory, as blocks hold them."""
    if isinstance(rows, ArrayRows):
        return {name: rows.columns[name] for name in columns}
    if isinstance(rows, ArrowRows):
        return columns_of(pa.Table.from_batches(list(rows.batches(columns))), columns)
    batches = [_batch(run, columns) for run in rows.runs(columns)]
    return columns_of(pa.Table.from_batches(batches), columns)
