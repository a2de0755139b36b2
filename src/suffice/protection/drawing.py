"""A release with a number of records of its own: the moments of each group, and new records that have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.algebra.array import CONSTANT, Array
from suffice.algebra.decomposition import gqr, split
from suffice.errors import InfeasibleError, InputError
from suffice.method.isometric import Isometric
from suffice.method.synthetic import Synthetic
from suffice.protection.grouped import grouped
from suffice.protection.protected import Drawn, Protected, Stratum
from suffice.protection.steps import Original
from suffice.protection.strata import Strata
from suffice.protection.watch import Watch, negatives
from suffice.rows.arrow import released_schema
from suffice.rows.memory import MemoryRows
from suffice.rows.parquet import ArrowRows
from suffice.rows.shuffle import shuffled

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class _Explained(Isometric):
    """What X explains: nothing is drawn, and the residuals are looked at alone."""

    def draws(self, k: int) -> int:
        return 0

    def solve(self, X: Array, Y: Array, Z: Array, n: int | None = None) -> Array:
        return split(Y, X)[0]

    @classmethod
    def examples(cls) -> tuple[_Explained, ...]:
        return ()


def redrawn(work: Original, method: Synthetic, division: Strata | None) -> Protected:
    """m records in place of those of the file, the groups in proportion to theirs."""
    known = work.done(_Explained(), None) if division is None else grouped(work, _Explained(), None, division)
    pieces = tuple(replace(piece, remarks=()) for piece in known.pieces)
    _check_weights(pieces)
    moments = [moments_of(piece) for piece in pieces]
    sizes = np.array([piece.solution.profile.spread.weight for piece in pieces])
    counts = dealt_out(method.records, sizes, np.array([len(R) + 1 for _, R in moments]))
    values, order = _values(work, method, moments, counts), shuffled(work.stream, method.records)
    groups = np.repeat(np.arange(len(counts)), counts)
    frame = _frame(work, division, values[order], groups[order])
    return replace(
        known,
        pieces=pieces,
        Ystar=None,
        watch=_watched(work, known, values),
        drawn=Drawn(frame, method.records, _proportional(counts, sizes), notes(work, counts, sizes)),
    )


def moments_of(piece: Stratum) -> tuple[Array, Array]:
    """Mean and R of the records protected together, S = R'R; the mean of a constant is that constant."""
    solution = piece.solution
    spread = solution.profile.spread.columns(solution.confidential)
    return np.where(spread.low == spread.high, spread.low, spread.mean), gqr(solution.E).R / np.sqrt(spread.rows)


def dealt_out(m: int, sizes: Array, least: Counts) -> Counts:
    """Records for each group: in proportion to its size, by largest remainders, and never fewer than it needs.

    >>> dealt_out(10, np.array([60.0, 30.0, 1.0]), np.array([2, 2, 2])).tolist()
    [5, 3, 2]
    """
    if m < least.sum():
        raise InfeasibleError(
            f"Resize needs {least.sum():,} records at least and {m:,} are asked for.\n"
            f"  groups {len(least):,} . each needs one more than it has independent columns, {least.max():,} at most\n"
            f"Ask for m = {least.sum():,} or more, join small groups, or leave columns out."
        )
    counts = least.copy()
    free = np.ones(len(sizes), dtype=bool)
    while True:
        left = m - counts[~free].sum()
        share = np.where(free, left * sizes / max(sizes[free].sum(), 1e-300), counts)
        short = free & (share < least)
        if not short.any():
            break
        free &= ~short
    counts = np.where(free, np.floor(share + 1e-9).astype(np.int64), counts)
    rest = np.where(free, np.round(share - counts, 9), -1.0)  # equal remainders are equal in every engine
    counts[np.argsort(-rest, kind="stable")[: m - counts.sum()]] += 1
    return counts


def _values(work: Original, method: Synthetic, moments: Sequence[tuple[Array, Array]], counts: Counts) -> Array:
    """The records of each group, one group below the other; each group has random numbers of its own."""
    drawn = []
    for number, ((mean, R), count) in enumerate(zip(moments, counts, strict=True)):
        Z = work.stream.child(f"resize {number}").normals(0, int(count), len(R))
        drawn.append(method.draw(mean, R, Z))
    return np.vstack(drawn)


def notes(work: Original, counts: Counts, sizes: Array) -> tuple[str, ...]:
    """What a reader of the release must know of its records."""
    found = [
        f"{counts.sum():,} records drawn anew in place of {work.rows.n:,}: none of them stands for one of the original",
        "variances and covariances are those with the number of records as divisor (n, not n - 1), in both files",
    ]
    weight = work.design.roles.weight
    if weight is not None:
        found += [f"what is kept are moments weighted by {weight}; the records drawn have no weight, all count alike"]
    if not _proportional(counts, sizes):
        found += [
            "the groups have about the share of records that they had, so that means and covariances of all groups "
            "together are near those of the original and not equal to them"
        ]
    return tuple(found)


def _proportional(counts: Counts, sizes: Array) -> bool:
    """Whether every group has exactly its share, so that what is kept in each is kept overall."""
    return bool((np.abs(counts * sizes.sum() - counts.sum() * sizes) <= CONSTANT * counts.sum() * sizes.sum()).all())


def _check_weights(pieces: tuple[Stratum, ...]) -> None:
    """Refuses groups of which there is nothing to keep."""
    empty = sum(piece.solution.profile.effective is None for piece in pieces)
    if 0 < empty < len(pieces):
        raise InputError(
            f"All records have weight zero in {empty} of {len(pieces)} groups: they have no moments to be kept.\n"
            "Leave these groups out."
        )


def _frame(work: Original, division: Strata | None, values: Array, groups: Counts) -> Any:
    """New records as the kind of frame that came in; what tells their group is as it was."""
    roles, rows = work.design.roles, work.rows
    leaving = [name for name in rows.kinds if name in (*roles.groups, *roles.confidential)]
    made = {name: np.ascontiguousarray(values[:, j]) for j, name in enumerate(roles.confidential)}
    first = np.zeros(1, dtype=np.int64) if division is None else np.unique(division.labels, return_index=True)[1]
    if isinstance(rows, MemoryRows):
        return rows.assembled(leaving, made, first[groups])
    assert isinstance(rows, ArrowRows)
    return _labels(rows, first, list(roles.groups)).assembled(leaving, made, groups)


def _labels(rows: ArrowRows, places: Counts, names: list[str]) -> MemoryRows:
    """The columns that tell groups, in the records at some places, as a release of the file has them."""
    if not names:
        return MemoryRows(pa.table({}))
    schema = released_schema(rows.schema, names, ())
    order, taken, start = np.argsort(places), [], 0
    for batch in rows.batches(names):
        here = places[order][(places[order] >= start) & (places[order] < start + len(batch))]
        taken.append(pa.Table.from_batches([batch.take(pa.array(here - start))]).cast(schema))
        start += len(batch)
    return MemoryRows(pa.concat_tables(taken).take(pa.array(np.argsort(order))))


def _watched(work: Original, known: Protected, values: Array) -> Watch:
    """No record is that of anyone, so that none can be given away; signs are seen in the records that were drawn."""
    design = work.design
    spread = work.profile.spread.columns(slice(design.m, design.m + design.k))
    return replace(known.watch, copies=(), outlying_near=0, negative=negatives(spread, spread.constant, values))
