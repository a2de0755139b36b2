"""Columns in the order of their values, and back: in memory, or dealt and sorted by parts where rows are many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.rows.arrow import as_float
from suffice.rows.bridge import arrow
from suffice.rows.derived import Beside, Computation
from suffice.rows.rows import Block, Kind, Rows, Run
from suffice.rows.shuffle import dealt
from suffice.rows.spool import Spool
from suffice.seed import Stream

TOGETHER = 2**20
"""Ranks that are worked on together, at most: of more, each is dealt to one of several parts at random."""

Ranked = Callable[[NDArray[np.int64], Array, Array, np.random.Generator], Array]
"""New values of some records in the order of a column: of their ranks, its values, and those of another there."""


def parts_of(n: int) -> int:
    """Into how many parts the ranks of n records are dealt."""
    return -(-n // TOGETHER)


def by_rank(rows: Rows, by: str, other: str, of: Ranked, stream: Stream) -> Any:
    """A column that follows from ranks, for `Rows.with_columns`.

    `of` sees records in the order of `by`, equal ones in an order of their own, beside the values of `other` in *its*
    order: at each rank the value that has this rank there.
    """
    if parts_of(rows.n) <= 1:
        y = as_float(rows.gather([by])[by])
        order = np.argsort(y, kind="stable")
        values, made, draws = y[order], np.empty(rows.n), stream.generator("ranks")
        theirs = values if other == by else np.sort(as_float(rows.gather([other])[other]))
        made[_mixed(order, values, draws)] = of(np.arange(rows.n), values, theirs, draws)
        return made
    return Beside(_far(rows, by, other, of, stream), by)


def _far(rows: Rows, by: str, other: str, of: Ranked, stream: Stream) -> Rows:
    """The same where ranks are dealt to parts: a part has some of the ranks, evenly spread, and is held in memory."""
    place, rank, theirs = (f"{by} {word}" for word in ("place", "rank", "theirs"))  # neither is the column itself
    beside: dict[str, Any] = {rank: _numbers(rank, by), theirs: _copied(theirs, by)}
    if other != by:
        beside[theirs] = Beside(rows.with_columns({theirs: Beside(rows, other)}).sorted(theirs, [theirs]), theirs)
    ranked = rows.with_columns({place: _numbers(place, by)}).sorted(by, [by, place]).with_columns(beside)
    names, count = [place, rank, by, theirs], parts_of(rows.n)
    parts = ranked.deal(lambda start, batch: dealt(stream, start, start + len(batch), count), count, names, "sorting")
    kinds: dict[str, Kind] = {place: "float", by: "float"}
    spool = Spool(pa.schema(dict.fromkeys(kinds, pa.float64())), kinds, rows.threads)
    for number, part in enumerate(parts):
        at, ranks, values, others = (as_float(each) for each in part.gather(names).values())
        draws = stream.generator("part", number)
        made = _mixed(at, values, draws), of(ranks.astype(np.int64), values, others, draws)
        spool.write(pa.RecordBatch.from_arrays([arrow(column) for column in made], names=[*kinds]))
        part.empty()  # nothing is read from it any more
    spool.close()
    return spool.sorted(place, [by])


def _numbers(name: str, beside: str) -> Computation:
    """The number of each row; a column stands beside it, since rows without one are none."""

    def of(block: Block) -> Array:
        return np.arange(block.start, block.start + len(block), dtype=np.float64)[:, None]

    return Computation((beside,), of, (name,))


def _copied(name: str, of: str) -> Computation:
    return Computation((of,), lambda block: as_float(block.columns[of])[:, None], (name,))


def _mixed(places: NDArray[Any], values: Array, draws: np.random.Generator) -> NDArray[Any]:
    """Places of values that are in order, those of equal values in random order: that of the file tells something."""
    first = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    if len(first) == len(values):
        return places
    run = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(values))))
    tied = np.flatnonzero(np.diff(np.append(first, len(values)))[run] > 1)
    mixed = places.copy()
    mixed[tied] = places[tied[np.lexsort((draws.random(len(tied)), run[tied]))]]
    return mixed


def middles(ranks: NDArray[np.int64], values: Array) -> Array:
    """Ranks of values that are in order, counted from a half; equal ones share the middle of theirs.

    >>> middles(np.arange(4), np.array([3.0, 5.0, 5.0, 9.0])).tolist()
    [0.5, 2.0, 2.0, 3.5]
    """
    first = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    if len(first) == len(values):
        return np.asarray(ranks + 0.5, dtype=np.float64)
    count = np.diff(np.append(first, len(values)))
    return np.asarray(np.repeat(np.add.reduceat(ranks + 0.5, first) / count, count))


def some_values(rows: Rows, name: str, most: int) -> Array:
    """Values of a column, in order: of rows evenly spread over the file, or of all where they are few."""
    step = max(1, rows.n // most)

    def of(run: Run) -> Array:
        return np.concatenate([as_float(block.columns[name])[-block.start % step :: step] for block in run])

    return np.sort(np.concatenate(list(rows.map(of, [name], "learning"))))
