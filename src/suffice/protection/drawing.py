"""A release with a number of records of its own: the moments of each group, and new records that have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import CONSTANT, Array
from suffice.algebra.decomposition import gqr
from suffice.design.profile import Matrices
from suffice.errors import InfeasibleError, InputError
from suffice.method.synthetic import Synthetic
from suffice.protection.aligned import AlignedBlock, Looks
from suffice.protection.protected import Drawing, Protected, ReleasedColumns, Stratum
from suffice.protection.runner import small_strata, weighing
from suffice.protection.steps import Original
from suffice.protection.strata import Strata
from suffice.rows.rows import Block
from suffice.rows.shuffle import shuffled
from suffice.statistics.standing import stand

Counts = NDArray[np.int64]


def redrawn(original: Original, method: Synthetic, strata: Strata | None, looks: Looks) -> Protected:
    """m records in place of those of the file, the groups in proportion to theirs."""
    if strata is None:
        stratum, standing = original.learnt()
        found: tuple[Stratum, ...] = (stratum,)
    else:
        found = tuple(_learnt(original, strata))
        standing = stand(original.rows, original.design, original.centre)
    _check_weights(found)
    moments = [moments_of(stratum) for stratum in found]
    sizes = np.array([stratum.spread.weight for stratum in found])
    counts = dealt_out(method.records, sizes, np.array([len(R) + 1 for _, R in moments]))
    values, order = _values(original, method, moments, counts), shuffled(original.stream, method.records)
    groups = np.repeat(np.arange(len(counts)), counts)
    frame = _frame(original, strata, values[order], groups[order])
    drawn = Drawing(frame, method.records, _proportional(counts, sizes), notes(original, counts, sizes))
    known = original.design, original.profile, original.stream, original.centre, standing
    seen = _seen(original, values, looks)
    released = ReleasedColumns(original.design.confidential, np.empty((0, original.design.k)))
    return Protected(original.rows, released, found, *known, seen, {}, drawn)


def _learnt(original: Original, strata: Strata) -> Iterator[Stratum]:
    """Every stratum as it is, in order."""
    design, wanted = original.design, {*range(strata.count)}
    for chunk in strata.chunks(original.rows, design.columns):
        small = small_strata(chunk, strata, design, wanted)
        for number, _, part in chunk:
            if number in small:
                yield small[number][0].learnt(small[number][1])
            else:
                own = weighing(design, part)
                profile = Matrices(own, False).profile(part)
                yield Original(part, own, profile, None, original.stream).learnt()[0]


def moments_of(stratum: Stratum) -> tuple[Array, Array]:
    """Mean and R of the records protected together, S = R'R; the mean of a constant is that constant."""
    spread = stratum.spread
    return np.where(spread.low == spread.high, spread.low, spread.mean), gqr(stratum.E).R / np.sqrt(spread.rows)


def _seen(original: Original, values: Array, looks: Looks) -> Mapping[str, Any]:
    """No record is that of anyone, so that none can be given away; signs are seen in the records that were drawn."""
    design = original.design
    spread = original.profile.spread.columns(slice(design.m, design.m + design.k))
    measures = looks.file(spread, spread.constant)
    none = np.zeros_like(values)
    apart = np.broadcast_to(spread.mean, values.shape)  # what the records drawn are far from is nobody's value
    return {
        name: measure.of(AlignedBlock(Block(0, {}), apart, none + np.inf, values)) for name, measure in measures.items()
    }


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


def _values(original: Original, method: Synthetic, moments: Sequence[tuple[Array, Array]], counts: Counts) -> Array:
    """The records of each group, one group below the other; each group has random numbers of its own."""
    drawn = []
    for number, ((mean, R), count) in enumerate(zip(moments, counts, strict=True)):
        Z = original.stream.child(f"resize {number}").normals(0, int(count), len(R))
        drawn.append(method.draw(mean, R, Z))
    return np.vstack(drawn)


def notes(original: Original, counts: Counts, sizes: Array) -> tuple[str, ...]:
    """What a reader of the release must know of its records."""
    found = [
        f"{counts.sum():,} records drawn anew in place of {original.rows.n:,}: "
        "none of them stands for one of the original",
        "variances and covariances are those with the number of records as divisor (n, not n - 1), in both files",
    ]
    weight = original.design.roles.weight
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


def _check_weights(strata: tuple[Stratum, ...]) -> None:
    """Refuses groups of which there is nothing to keep."""
    empty = sum(stratum.effective is None for stratum in strata)
    if 0 < empty < len(strata):
        raise InputError(
            f"All records have weight zero in {empty} of {len(strata)} groups: they have no moments to be kept.\n"
            "Leave these groups out."
        )


def _frame(original: Original, division: Strata | None, values: Array, groups: Counts) -> Any:
    """New records as the kind of frame that came in; what tells their group is as it was."""
    roles, rows = original.design.roles, original.rows
    leaving = [name for name in rows.kinds if name in (*roles.groups, *roles.confidential)]
    made = {name: np.ascontiguousarray(values[:, j]) for j, name in enumerate(roles.confidential)}
    first = np.zeros(1, dtype=np.int64) if division is None else np.unique(division.labels, return_index=True)[1]
    return rows.frame(leaving, made, first[groups])
