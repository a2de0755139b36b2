"""A release with a number of records of its own: the moments of each group, and new records that have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import CONSTANT, Array
from suffice.design.design import Design
from suffice.design.profile import Matrices
from suffice.errors import InfeasibleError, InputError
from suffice.method.masked import MaskedColumns, finite
from suffice.method.synthetic import Synthetic, exact_step
from suffice.protection.aligned import AlignedBlock, Looks
from suffice.protection.protected import Drawing, Protected, ReleasedColumns, Stratum
from suffice.protection.runner import small_strata, weighing
from suffice.protection.steps import Original
from suffice.protection.strata import Strata
from suffice.rows.rows import Block, Rows
from suffice.rows.shuffle import shuffled
from suffice.seed import Stream
from suffice.statistics.standing import Standing

Counts = NDArray[np.int64]


def redrawn(original: Original, method: Synthetic, strata: Strata | None, looks: Looks) -> Protected:
    """New records in place of those of the file, the groups in proportion to theirs."""
    standing: Standing | None
    if strata is None:
        stratum, standing = original.learnt()
        known = [(stratum, method.learn(original.rows, original.design))]
    else:
        known, standing = list(_learnt(original, method, strata)), None
    found = tuple(replace(stratum, remarks=method.said(model, original.design)) for stratum, model in known)
    _check_weights(found)
    models = [(*stratum.moments, model) for stratum, model in known]
    sizes = np.array([stratum.spread.weight for stratum in found])
    records = original.rows.n if method.records is None else method.records
    portions = method.portions(sizes)
    counts = dealt_out(records, portions, np.array([method.least(mean, R) for mean, R, _ in models]))
    values, order = _values(original, method, models, counts), shuffled(original.stream, records)
    groups = np.repeat(np.arange(len(counts)), counts)
    columns, places = _columns(original, strata, values[order], groups[order])
    drawn = Drawing(columns, places, records, _proportional(counts, sizes), notes(original, method, counts, sizes))
    released = ReleasedColumns(original.design.confidential, np.empty((0, original.design.k)))
    about = original.design, original.profile, original.stream, original.centre, standing
    return Protected(original.rows, released, found, *about, _seen(original, values, looks), {}, drawn)


class DrawingModels(Protocol):
    """A method that draws the confidential columns of records whose given ones are those of some of the file."""

    @property
    def records(self) -> int | None: ...

    def population(self, rows: Rows, design: Design) -> Rows | None:
        """Units whose given columns are known, of which samples are drawn; None: those of the file."""
        ...

    def made(self, rows: Rows, design: Design, stream: Stream, places: Counts) -> MaskedColumns: ...


def from_models(original: Original, method: Any, looks: Looks) -> Protected:
    """Records whose given columns are those of records drawn from the file, and all others follow from models."""
    models: DrawingModels = method
    design, rows, count = original.design, original.rows, models.records or original.rows.n
    stratum, standing = original.learnt()
    population, draws = models.population(rows, design), original.stream.generator("places")
    if population is not None and population.n < count:
        raise InputError(
            f"The frame has {population.n:,} units, and {count:,} are to be drawn.\nAsk for fewer `records`."
        )
    places = (
        draws.integers(rows.n, size=count)
        if population is None
        else draws.choice(population.n, count, replace=False, shuffle=True)
    )
    made = models.made(rows, design, original.stream, places)
    stratum = replace(stratum, remarks=made.remarks, anew=True, makes=made.makes, facts=made.facts)
    values = np.column_stack([made.columns[name] for name in design.confidential])
    said = f"{count:,} records drawn anew in place of {rows.n:,}: none of them stands for one of the original"
    drawn = Drawing(dict(made.columns), places, count, False, (said,))
    if population is not None:  # no column is that of a record of the file
        given = population.gather(sorted({*design.roles.terms.columns}))
        beside = {name: column.take(places) for name, column in given.items()}
        drawn = replace(drawn, places=np.zeros_like(places), beside=beside)
    released = ReleasedColumns(design.confidential, np.empty((0, design.k)))
    about = design, original.profile, original.stream, original.centre, standing
    return Protected(rows, released, (stratum,), *about, _seen(original, values, looks), {}, drawn)


def _learnt(original: Original, method: Synthetic, strata: Strata) -> Iterator[tuple[Stratum, Any]]:
    """Every stratum as it is, in order."""
    design, wanted = original.design, {*range(strata.count)}
    for chunk in strata.chunks(original.rows, design.columns):
        small = small_strata(chunk, strata, design, wanted)
        for number, _, part in chunk:
            held = part()
            held.coding = original.rows.coding
            model = method.learn(held, design) if method.learns else None
            if number in small:
                yield small[number][0].learnt(small[number][1]), model
            else:
                own = weighing(design, held)
                profile = Matrices(own, False).profile(held)
                yield Original(held, own, profile, None, original.stream).learnt()[0], model


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


def _values(original: Original, method: Synthetic, models: Sequence[tuple[Array, Array, Any]], counts: Counts) -> Array:
    """The records of each group, one group below the other; each group has random numbers of its own."""
    return np.vstack(
        [
            finite(
                method.draw(*known, int(count), original.stream.child(f"resize {number}")),
                (int(count), original.design.k),
                method.name,
            )
            for number, (known, count) in enumerate(zip(models, counts, strict=True))
        ]
    )


def notes(original: Original, method: Synthetic, counts: Counts, sizes: Array) -> tuple[str, ...]:
    """What a reader of the release must know of its records."""
    found = [
        f"{counts.sum():,} records drawn anew in place of {original.rows.n:,}: "
        "none of them stands for one of the original",
        *method.noted(original.design),
    ]
    if "covariance" not in method.kept:
        return tuple(found)
    found += [
        "variances and covariances are those with the number of records as divisor (n, not n - 1), in both files",
    ]
    weight = original.design.roles.weight
    if weight is not None:
        found += [f"what is kept are moments weighted by {weight}; the records drawn have no weight, all count alike"]
    if not _proportional(counts, sizes):
        found += [
            "the groups have about the share of records that they had, so that means and covariances of all groups "
            f"together are near those of the original and not equal to them{_better(counts, sizes)}"
            if np.array_equal(method.portions(sizes), sizes)
            else "the groups have the shares that were asked for and not those that they had, so that means and "
            "covariances hold in each of them and not overall"
        ]
    return tuple(found)


def _better(counts: Counts, sizes: Array) -> str:
    """The nearest number of records with which every group has exactly its share."""
    step = exact_step(sizes)
    return "" if step is None else f"; with {max(step, round(counts.sum() / step) * step):,} records they would be"


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


def _columns(
    original: Original, strata: Strata | None, values: Array, groups: Counts
) -> tuple[dict[str, Array], Counts]:
    """The columns of new records, and for each a record of the original that is of its group."""
    names = original.design.confidential
    first = np.zeros(1, dtype=np.int64) if strata is None else np.unique(strata.labels, return_index=True)[1]
    made = {name: np.ascontiguousarray(values[:, j]) for j, name in enumerate(names)}
    return made, np.asarray(first[groups])
