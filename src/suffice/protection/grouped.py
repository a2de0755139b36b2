"""Groups: each is a file of its own to the method, and all of them are one release."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.design.design import Design
from suffice.design.profile import Matrices, centre_of, companion_columns
from suffice.errors import InfeasibleError, InputError
from suffice.method.method import Method
from suffice.protection.protected import SAMPLED, Protected, Stratum
from suffice.protection.steps import Original
from suffice.protection.strata import Strata
from suffice.protection.super_blocks import SUPER, stored
from suffice.protection.watch import Giants, Watch, copies, negatives, outliers
from suffice.rows.arrow import as_float
from suffice.rows.derived import COMPANION, Joined
from suffice.rows.memory import ArrayRows
from suffice.rows.rows import Block, Rows
from suffice.statistics.standing import stand


def grouped(work: Original, method: Method, start: Rows | None, division: Strata) -> Protected:
    """Every group protected by itself; the cells that a group lacks stay missing."""
    design, rows = work.design, work.rows
    beside = rows if start is None else Joined(rows, start, design.confidential)
    values = room(rows, design.k)
    values[:] = np.nan
    pieces, refused, ready = [], Refused(division.count), 0
    labels: dict[str, NDArray[np.int64]] = {}
    for number, places, part in division.parts(beside, Matrices(design, start is not None).columns):
        names = division.confidential[number]
        if names:
            with refused.noted(number, part.n):
                chosen = method.apart_of[division.method[number]] if division.method else method
                piece, Ystar, made = _piece(work, chosen, part, start is not None, names, number)
                for name, ystar in zip(names, Ystar.T, strict=True):
                    values[places, design.confidential.index(name)] = ystar
                if division.method:
                    piece = replace(piece, remarks=(f"{part.n} records protected by {chosen.name}", *piece.remarks))
                pieces.append(piece)
                for name, own in made.items():  # numbers of different groups are different
                    column = labels.setdefault(name, np.full(rows.n, -1))
                    column[places] = own + column.max() + 1
        ready += part.n
        if rows.progress is not None:
            rows.progress("protecting groups", ready, rows.n)
    refused.complain()
    return _together(work, tuple(pieces), values, method, labels)


def _piece(
    work: Original, method: Method, part: Rows, started: bool, names: tuple[str, ...], number: int
) -> tuple[Stratum, Array, Mapping[str, NDArray[np.int64]]]:
    """One group protected, as if it were the file."""
    design = _weighing(work.design.part(names), part)
    limits = None if work.limits is None else work.limits.part(names)
    profile = Matrices(design, started).profile(part)
    own = Original(part, design, profile, limits, work.stream.child(f"group {number}"), work.finish)
    solved = own.solved(method, Companion(part, names) if started else None)
    Ystar = room(part, design.k)
    share = max(2, SAMPLED * part.n // work.rows.n)
    watch = own.mapped(solved.rows, solved.solution, True, Ystar, share)
    return Stratum(solved.solution, watch, solved.unmoved, solved.remarks), Ystar, solved.labels


def _weighing(design: Design, part: Rows) -> Design:
    """Records of weight zero count in no statistic; a group of nothing else is protected as if they were alike."""
    weight = design.roles.weight
    if weight is None or part.fold(lambda block: float(np.abs(as_float(block.columns[weight])).sum()), (weight,), ""):
        return design
    return replace(design, roles=replace(design.roles, weight=None))


def _together(
    work: Original, pieces: tuple[Stratum, ...], values: Array, method: Method, labels: Mapping[str, NDArray[np.int64]]
) -> Protected:
    design, rows = work.design, work.rows
    made = stored(rows, iter([values]), design.confidential)
    both = Joined(rows, made, design.confidential)
    columns = Matrices(design, True).columns
    centre = centre_of(design, work.profile.spread)[: design.m + design.k]

    def released(block: Block) -> Array:
        return companion_columns(block, design)

    return Protected(
        both,
        columns,
        released,
        pieces,
        values if isinstance(rows, ArrayRows) else None,
        design,
        work.profile,
        work.stream,
        centre,
        stand(rows, design, centre),
        _watched(work, both, columns, pieces, method.independent),
        labels,
    )


def _watched(
    work: Original, rows: Rows, columns: Sequence[str], pieces: tuple[Stratum, ...], independent: bool
) -> Watch:
    """Leverages and residuals are a group's own; values that lie far out, copies and signs are seen in the whole."""
    design = work.design
    spread = work.profile.spread.columns(slice(design.m, design.m + design.k))
    constant = spread.constant
    leverage = reduce(add, (piece.watch.leverage for piece in pieces))
    highest = max(piece.watch.highest for piece in pieces)

    def of(block: Block) -> Watch:
        Y = np.column_stack([np.asarray(block.columns[name], dtype=np.float64) for name in design.confidential])
        Ystar, hole = companion_columns(block, design), np.isnan(Y)
        far, farstar = np.where(hole, spread.mean, Y), np.where(hole, spread.mean, Ystar)
        Y, Ystar = np.where(hole, 0.0, Y), np.where(hole, 0.0, Ystar)
        seen = slice(0, 0) if independent else slice(None)  # where nothing is carried over, no giant can be
        return Watch(
            np.zeros_like(leverage),
            highest,
            copies(spread, constant, Y, Ystar - Y, block.start),
            *outliers(spread, constant, far, Ystar - Y),
            negatives(spread, constant, Ystar),
            (),
            (Giants.of(spread, constant, far[seen]), Giants.of(spread, constant, farstar[seen])),
        )

    seen = rows.fold(of, columns, "watching")
    sample = tuple(pair for piece in pieces for pair in piece.samples(design.confidential))
    return Watch(
        leverage,
        highest,
        seen.copies,
        seen.outlying,
        seen.outlying_near,
        seen.negative,
        sample,
        seen.giants,
    )


def room(rows: Rows, k: int) -> Array:
    """Room for released values: in memory where the rows are, or in a nameless file where they are many."""
    if isinstance(rows, ArrayRows) or rows.n <= SUPER:
        return np.empty((rows.n, k), order="F")
    with tempfile.TemporaryFile() as file:
        return np.memmap(file, dtype=np.float64, mode="w+", shape=(rows.n, k))


class Refused:
    """Groups that cannot be protected, by number and size: a level may be confidential."""

    def __init__(self, count: int) -> None:
        self.count, self.groups, self.first = count, 0, ""

    @contextmanager
    def noted(self, number: int, size: int) -> Iterator[None]:
        """What has no solution is counted, so that all such groups are known at once; other errors end it here."""
        where = f"In group {number + 1} of {self.count} ({size} records): "
        try:
            yield
        except InfeasibleError as problem:
            self.first = self.first or f"{where}{problem}"
            self.groups += 1
        except InputError as problem:
            raise InputError(f"{where}{problem}") from None

    def complain(self) -> None:
        if self.groups:
            raise InfeasibleError(f"{self.first}\n{self.groups} of {self.count} groups have no solution.")


class Companion(Rows):
    """The companion's columns of rows that hold both, under their own names."""

    def __init__(self, rows: Rows, names: Sequence[str]) -> None:
        self.rows, self.n, self.threads = rows, rows.n, rows.threads
        self.kinds = dict.fromkeys(names, "float")

    def runs(self, columns: Sequence[str]) -> Iterator[Sequence[Block]]:
        for run in self.rows.runs([COMPANION + name for name in columns]):
            yield [Block(block.start, {name: block.columns[COMPANION + name] for name in columns}) for block in run]
