"""One loop for all: a file is one stratum, or several, and every stratum is protected by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.algebra.decomposition import UnevenStack
from suffice.algebra.moments import Spread
from suffice.design.design import Design
from suffice.design.profile import Matrices
from suffice.errors import InfeasibleError, InputError, count_of
from suffice.method.isometric import Isometric
from suffice.method.method import Method
from suffice.protection.aligned import AlignedBlock, BlockMeasure, Looks, StratumMeasure
from suffice.protection.protected import Protected, ReleasedColumns, Stratum
from suffice.protection.small import SMALL, SmallStrata
from suffice.protection.steps import SAMPLED, Original
from suffice.protection.strata import Chunk, Places, Strata
from suffice.rows.arrow import as_float
from suffice.rows.bridge import arrow
from suffice.rows.derived import COMPANION, RELEASED, Beside, aligned
from suffice.rows.rows import Block, Product, Rows
from suffice.rows.spool import HELD, Spool
from suffice.statistics.standing import Standing

STACK = 2**16
"""Records of strata that are solved at once."""

Made = tuple[Stratum, Array, Mapping[str, NDArray[np.int64]]]
"""A stratum, its released values, and the columns that the method made."""


def protected(original: Original, method: Method, start: Rows | None, strata: Strata | None, looks: Looks) -> Protected:
    """All records protected; `start`: the row-aligned data set that the first step of the method is given."""
    design = original.design
    if strata is None:
        done = original.outcome(method, start, looks, SAMPLED)
        seen, released = done.stratum.seen, done.released
        found: tuple[Stratum, ...] = (done.stratum,)
        rows, standing, labels = done.rows, done.original, done.labels
    else:
        loop = _Loop(original, method, start, strata, looks)
        released, labels = loop.values(), loop.labels
        rows = original.rows if start is None else aligned(original.rows, start, design.confidential)
        standing, seen = looked(original, released, looks)
        found = tuple(loop.found[number] for number in sorted(loop.found))
    known = design, original.profile, original.stream, original.centre
    return Protected(rows, released, found, *known, standing, seen, labels)


def looked(original: Original, released: ReleasedColumns, looks: Looks) -> tuple[Standing, Mapping[str, Any]]:
    """Statistics of the original, and what is seen of all strata together: far values, copies, signs."""
    design, centre = original.design, original.centre
    spread = original.profile.spread.columns(slice(design.m, design.m + design.k))
    measures = looks.file(spread, spread.constant)

    def of(block: Block) -> Product:
        W, both = design.matrix(block, centre=centre), AlignedBlock.read(block, design)
        return Product(Standing.of(block, design, W), *(measure.of(both) for measure in measures.values()))

    columns = (*design.columns, *(RELEASED + name for name in design.confidential))
    standing, *seen = original.rows.with_columns(released.under(RELEASED)).fold(of, columns, "looking")
    return standing, dict(zip(measures, seen, strict=True))


@dataclass(frozen=True)
class _Within:
    """What is seen of one stratum of several: the rest is seen of all of them together."""

    looks: Looks

    def stratum(self, hat: Array) -> Mapping[str, StratumMeasure]:
        return self.looks.stratum(hat)

    def file(self, spread: Spread, still: Flags) -> Mapping[str, BlockMeasure]:
        return {}


class _Loop:
    """Every stratum protected by itself; the cells that a stratum lacks stay missing."""

    def __init__(self, original: Original, method: Method, start: Rows | None, strata: Strata, looks: Looks) -> None:
        self.original, self.method, self.strata, self.looks = original, method, strata, _Within(looks)
        self.started, self.refusals = start is not None, _Refusals(strata.count)
        rows = original.rows
        self.beside = rows if start is None else aligned(rows, start, original.design.confidential)
        self.found: dict[int, Stratum] = {}
        self.labels: dict[str, NDArray[np.int64]] = {}

    def values(self) -> ReleasedColumns:
        """Released values in the order of the rows: in memory, or set aside where they are many."""
        rows, names, ready = self.original.rows, self.original.design.confidential, 0
        room = _Room(rows, names)
        columns = Matrices(self.original.design, self.started).columns
        for chunk in self.strata.chunks(self.beside, columns):
            for number, places, made in self._chunk(chunk):
                if made is not None:
                    room.put(places, self.strata.confidential[number], made[1])
                    self._keep(number, places, made)
                else:
                    room.put(places, (), np.empty((len(places), 0)))
                ready += len(places)
                if rows.progress is not None:
                    rows.progress("protecting groups", ready, rows.n)
        self.refusals.complain()
        return ReleasedColumns(names, room.close())

    def _keep(self, number: int, places: Places, made: Made) -> None:
        stratum, _, labels = made
        if self.strata.method:
            said = f"{count_of(len(places), 'record')} protected by {self._method(number).name}"
            stratum = replace(stratum, remarks=(said, *stratum.remarks))
        self.found[number] = stratum
        for name, own in labels.items():  # numbers of different groups are different
            column = self.labels.setdefault(name, np.full(self.original.rows.n, -1))
            column[places] = own + column.max() + 1

    def _method(self, number: int) -> Method:
        method = self.method.apart_of[self.strata.method[number]] if self.strata.method else self.method
        own, names = self.strata.confidential[number], self.original.design.confidential
        return method if own == names else method.for_columns([names.index(name) for name in own], len(names))

    def _chunk(self, chunk: Chunk) -> Iterator[tuple[int, Places, Made | None]]:
        small = self._small(chunk)
        stacked = self._stacked(small)
        for number, places, part in chunk:
            made = stacked.get(number)
            if made is None and self.strata.confidential[number]:
                with self.refusals.noted(number, len(places)):
                    made = self._solved(number, *small[number]) if number in small else self._alone(number, part())
            yield number, places, made

    def _alone(self, number: int, part: Rows) -> Made:
        """One stratum, as if it were the file."""
        names, original = self.strata.confidential[number], self.original
        design, part.coding = weighing(original.design.part(names), part), original.rows.coding
        limits = None if original.limits is None else original.limits.part(names)
        profile = Matrices(design, self.started).profile(part)
        own = Original(part, design, profile, limits, original.stream.child(f"group {number}"), original.finish)
        start = part.with_columns({name: Beside(part, COMPANION + name) for name in names}) if self.started else None
        done = own.outcome(self._method(number), start, self.looks, self._sampled(part.n))
        columns = done.rows.with_columns(done.released.under(RELEASED)).gather([RELEASED + name for name in names])
        return done.stratum, np.column_stack(list(columns.values())), done.labels

    def _sampled(self, n: int) -> int:
        return max(2, SAMPLED * n // self.original.rows.n)

    def _small(self, chunk: Chunk) -> Mapping[int, tuple[SmallStrata, int]]:
        """Those strata of a chunk that a formula is solved for on their rows."""
        roles = self.original.design.roles
        if self.started or roles.integer:
            return {}
        filled = [
            number for number in chunk.numbers.tolist() if self.strata.confidential[number]
        ]  # else all is missing
        formulas = {number for number in filled if isinstance(self._method(number), Isometric)}
        return small_strata(chunk, self.strata, self.original.design, formulas)

    def _stacked(self, small: Mapping[int, tuple[SmallStrata, int]]) -> dict[int, Made]:
        """Small strata of one size at once, where the formula takes stacks of them."""
        alike: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for number, (strata, place) in small.items():
            method = self._method(number)
            if isinstance(method, Isometric) and method.stacks:
                alike.setdefault((id(strata), int(strata.sizes[place])), []).append((number, place))
        found: dict[int, Made] = {}
        for (_, size), members in alike.items():
            most = max(1, STACK // size)
            for first in range(0, len(members), most):
                found |= self._one_stack(small[members[0][0]][0], members[first : first + most], size)
        return found

    def _one_stack(self, small: SmallStrata, members: list[tuple[int, int]], size: int) -> dict[int, Made]:
        method = self._method(members[0][0])
        assert isinstance(method, Isometric)
        streams = [self.original.stream.child(f"group {number}") for number, _ in members]
        places = np.array([place for _, place in members])
        try:
            made = small.stacked(method, places, streams, self.looks, self._sampled(size))
        except (UnevenStack, InfeasibleError):  # one by one, each with what is to be said of it
            return {}
        return {number: (*each, {}) for (number, _), each in zip(members, made, strict=True)}

    def _solved(self, number: int, small: SmallStrata, place: int) -> Made:
        method = self._method(number)
        assert isinstance(method, Isometric)
        stream = self.original.stream.child(f"group {number}")
        try:
            return (*small.solved(place, method, stream, self.looks, self._sampled(int(small.sizes[place]))), {})
        except InfeasibleError as problem:
            named = getattr(problem, "named", None)  # a method knows columns by position only
            raise (named(small.design.confidential) if named else problem) from None


def small_strata(chunk: Chunk, strata: Strata, design: Design, wanted: set[int]) -> dict[int, tuple[SmallStrata, int]]:
    """Those strata of a chunk that are small and plain, by number: where they stand among those of their columns."""
    if len(chunk.numbers) == 1 or design.absorbed:
        return {}
    sizes = np.diff(chunk.ends, prepend=0)
    alike: dict[tuple[str, ...], list[int]] = {}
    for i, number in enumerate(chunk.numbers.tolist()):
        if number in wanted and strata.confidential[number] and sizes[i] <= SMALL:
            alike.setdefault(strata.confidential[number], []).append(i)
    found: dict[int, tuple[SmallStrata, int]] = {}
    for names, members in alike.items():
        part, block = design.part(names), Block(0, _rows_of(chunk, members))
        ends = np.cumsum(sizes[members])
        small = SmallStrata(part, part.matrix(block), part.weights(block), ends - sizes[members], ends)
        found |= {int(chunk.numbers[members[place]]): (small, int(place)) for place in np.flatnonzero(small.plain())}
    return found


def _rows_of(chunk: Chunk, members: list[int]) -> dict[str, Any]:
    """The columns of some strata of a chunk, one behind the other."""
    columns = chunk.rows.gather(list(chunk.rows.kinds))
    if len(members) == len(chunk.numbers):
        return columns
    starts = np.concatenate([[0], chunk.ends[:-1]])
    at = np.concatenate([np.arange(starts[i], chunk.ends[i]) for i in members])
    return {name: values.take(at) for name, values in columns.items()}


class _Room:
    """Room for released values, stratum by stratum: in memory, or in a nameless file where they are many."""

    def __init__(self, rows: Rows, names: tuple[str, ...]) -> None:
        self.rows, self.names = rows, names
        self.held = np.full((rows.n, len(names)), np.nan, order="F") if rows.held or rows.n <= HELD else None
        schema = pa.schema({"place": pa.int64(), **dict.fromkeys(names, pa.float64())})
        kinds: dict[str, Any] = {"place": "integer", **dict.fromkeys(names, "float")}
        self.spool = None if self.held is not None else Spool(schema, kinds, rows.threads)

    def put(self, places: Places, names: tuple[str, ...], values: Array) -> None:
        if self.held is not None:
            if names:
                self.held[places[:, None], [self.names.index(name) for name in names]] = values
            return
        assert self.spool is not None
        columns = dict(zip(names, values.T, strict=True))
        none = np.full(len(places), np.nan)
        arrays = [arrow(places), *(arrow(columns.get(name, none)) for name in self.names)]
        self.spool.write(pa.RecordBatch.from_arrays(arrays, names=["place", *self.names]))

    def close(self) -> Array | Rows:
        """All of it in the order of the rows."""
        if self.held is not None:
            return self.held
        assert self.spool is not None
        self.spool.close()
        return self.spool.sorted("place", self.names)


def weighing(design: Design, part: Rows) -> Design:
    """Records of weight zero count in no statistic; a group of nothing else is protected as if they were alike."""
    weight = design.roles.weight
    if weight is None or part.fold(lambda block: float(np.abs(as_float(block.columns[weight])).sum()), (weight,), ""):
        return design
    return replace(design, roles=replace(design.roles, weight=None))


class _Refusals:
    """Groups that cannot be protected, by number and size: a level may be confidential."""

    def __init__(self, count: int) -> None:
        self.count, self.groups, self.first = count, 0, ""

    @contextmanager
    def noted(self, number: int, size: int) -> Iterator[None]:
        """What has no solution is counted, so that all such groups are known at once; other errors end it here."""
        where = f"In group {number + 1} of {self.count} ({count_of(size, 'record')}): "
        try:
            yield
        except InfeasibleError as problem:
            self.first = self.first or f"{where}{problem}"
            self.groups += 1
        except InputError as problem:
            raise InputError(f"{where}{problem}") from None

    def complain(self) -> None:
        if self.groups:
            raise InfeasibleError(
                f"{self.first}\n{self.groups} of {count_of(self.count, 'group')} without a solution.\n"
                "Where they are small, join or drop them: small_groups."
            )
