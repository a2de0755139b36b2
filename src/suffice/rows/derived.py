"""Rows with columns that they did not come with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from suffice.errors import InputError
from suffice.rows.arrow import batch_of, blocks
from suffice.rows.rows import BLOCK, NO_LABELS, Block, Kind, Labels, Rows, Run

if TYPE_CHECKING:
    from suffice.algebra.array import Flags
    from suffice.seed import Stream

COMPANION = "companion\0"
"""Marks the columns of a row-aligned data set that a method was given."""
ORIGINAL = "original\0"
"""Marks original values that stand beside those of an earlier step."""
RELEASED = "released\0"
"""Marks released values that stand beside the original ones."""


@dataclass(frozen=True)
class Beside:
    """A column of rows that are aligned with others."""

    rows: Rows
    name: str


def all_beside(rows: Rows, names: Sequence[str]) -> dict[str, Any]:
    """Columns of aligned rows, for `Rows.with_columns`: arrays where these are in memory."""
    return rows.gather(names) if rows.held else {name: Beside(rows, name) for name in names}


@dataclass(frozen=True, eq=False)
class Computation:
    """Columns of numbers computed from a block, by its columns `needs` as the rows have them that it is put beside.

    stream: whose numbers the computation draws; it stays here, and every block is sent with its own key
    """

    needs: tuple[str, ...]
    of: Callable[[Block], Any]
    names: tuple[str, ...]
    """Of the columns of the array that `of` gives."""
    stream: Stream | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "stream": None}


@dataclass(frozen=True)
class Assembly:
    """A run as it is sent to a worker, made into the run that was asked for."""

    columns: tuple[str, ...]
    computed: Mapping[Computation, Sequence[str]]
    """With the names that are wanted of each: another column may have replaced the others."""

    @property
    def needs(self) -> list[str]:
        return [name for column in self.computed for name in column.needs]

    def __call__(self, run: Run) -> Run:
        return [self._block(block) for block in run]

    def _block(self, block: Block) -> Block:
        made: dict[str, Any] = {}
        for number, (column, wanted) in enumerate(self.computed.items()):
            values = column.of(replace(block, key=block.columns.get(_key(number))))
            made |= {name: own for name, own in zip(column.names, values.T, strict=True) if name in wanted}
        return replace(block, columns={n: made[n] if n in made else block.columns[n] for n in self.columns})


def _key(number: int) -> str:
    """Where a block that is sent carries the key of a computation."""
    return f"key\0{number}"


class Derived(Rows):
    """Rows with columns added or replaced: arrays in row order, columns of aligned rows, or computed from others."""

    def __init__(self, rows: Rows, made: Mapping[str, Any]) -> None:
        apart = {name: column for name, column in made.items() if isinstance(column, Computation)}
        if not _same({}, made):  # replaced beside a computation that needs the original
            rows, made = Derived(rows, apart), {name: column for name, column in made.items() if name not in apart}
        self.rows, self.made = rows, dict(made)
        if isinstance(rows, Derived) and _same(rows.made, made):  # one layer is enough
            self.rows, self.made = rows.rows, {**rows.made, **made}
        self.n, self.threads, self.progress, self.notes = rows.n, rows.threads, rows.progress, rows.notes
        self.coding = rows.coding
        self.held, self.ahead = rows.held, rows.ahead  # type: ignore[method-assign]  # worked on where the source is
        self.kinds = {**self.rows.kinds, **{name: _kind(column) for name, column in self.made.items()}}

    def runs(self, columns: Sequence[str]) -> Iterator[Run]:
        runs, assembly = self.sources(columns)
        return map(assembly, runs)

    def sources(self, columns: Sequence[str]) -> tuple[Iterator[Run], Callable[[Run], Run]]:
        assembly = self._assembly(columns)
        own, others = self._own(columns, assembly), self._others(columns, assembly)
        return self._sent(self.rows.runs(own), columns, assembly, others), assembly

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """Columns of the source as it has them; what is made of a batch is made ahead, as in a pass."""
        made = [name for name in columns if name in self.made]
        if not made:
            yield from self.rows.batches(columns)
            return
        assembly, names = self._assembly(made), tuple(columns)
        own, others = self._own(made, assembly), self._others(made, assembly)
        read = list(dict.fromkeys([*(name for name in columns if name not in self.made), *own]))

        def of(item: tuple[Any, Run]) -> Any:  # these rows stay here: whoever works on a batch has no use for them
            batch, run = item[0], assembly(item[1])
            fresh = batch_of(run, made)
            arrays = [(fresh if name in made else batch).column(name) for name in names]
            return pa.RecordBatch.from_arrays(arrays, names=names)

        def items() -> Iterator[tuple[Any, Run]]:
            held: list[Any] = []  # one batch: `tee` would keep dozens
            for run in self._sent(_cut(self.rows.batches(read), own, held), made, assembly, others):
                yield held.pop(), run

        yield from self.ahead(of, items())

    def _assembly(self, columns: Sequence[str]) -> Assembly:
        computed: dict[Computation, list[str]] = {}
        for name in columns:
            if isinstance(column := self.made.get(name), Computation):
                computed.setdefault(column, []).append(name)
        return Assembly(tuple(columns), computed)

    def _own(self, columns: Sequence[str], assembly: Assembly) -> list[str]:
        """Columns of the source that are needed: one at least, since it tells how many rows there are."""
        found = [name for name in assembly.needs if _given(self.made, name) is None]
        found += [name for name in columns if name not in self.made]
        kinds = self.rows.kinds
        return list(dict.fromkeys(found)) or sorted(kinds, key=lambda name: kinds[name] in ("date", "other"))[:1]

    def _others(self, columns: Sequence[str], assembly: Assembly) -> list[tuple[Rows, list[tuple[str, str]]]]:
        """Aligned rows, with their columns that are needed and the names that these have here."""
        found: dict[int, tuple[Rows, list[tuple[str, str]]]] = {}
        for name in dict.fromkeys([*columns, *assembly.needs]):
            if isinstance(column := self.made.get(name), Beside):
                found.setdefault(id(column.rows), (column.rows, []))[1].append((column.name, name))
        return list(found.values())

    def _sent(
        self,
        runs: Iterator[Run],
        columns: Sequence[str],
        assembly: Assembly,
        others: Sequence[tuple[Rows, list[tuple[str, str]]]],
    ) -> Iterator[Run]:
        """Runs of the source with all that a worker needs beside them."""
        wanted = {*columns, *assembly.needs}
        arrays = {name: self.made[name] for name in wanted if isinstance(self.made.get(name), np.ndarray)}
        aligned = [rows.runs([theirs for theirs, _ in names]) for rows, names in others]
        for run, *beside in zip(runs, *aligned, strict=True):
            sent = []
            for block, *more in zip(run, *beside, strict=True):
                held = dict(block.columns)
                held.update({name: values[block.start : block.start + len(block)] for name, values in arrays.items()})
                for other, (_, names) in zip(more, others, strict=True):
                    held.update({own: other.columns[theirs] for theirs, own in names})
                for number, column in enumerate(assembly.computed):
                    if column.stream is not None:
                        held[_key(number)] = column.stream.block(block.start // BLOCK)
                sent.append(replace(block, columns=held))
            yield sent

    def gather(self, columns: Sequence[str]) -> dict[str, Any]:
        """An array in row order is there already."""
        held = {name: self.made[name] for name in columns if isinstance(self.made.get(name), np.ndarray)}
        rest = [name for name in columns if name not in held]
        found = {**held, **(super().gather(rest) if rest else {})}
        return {name: found[name] for name in columns}

    def select(
        self, kept: Flags, columns: Sequence[str], blank: Mapping[str, Flags], labels: Labels = NO_LABELS
    ) -> Rows:
        """What is computed is computed of the rows that are left; columns of aligned rows are set aside with them."""
        if {*blank, *labels} & self.made.keys() or any(isinstance(each, Beside) for each in self.made.values()):
            return super().select(kept, columns, blank, labels)
        needs = [name for column in self.made.values() if isinstance(column, Computation) for name in column.needs]
        wanted = {*(name for name in columns if name not in self.made), *needs}
        own = [name for name in self.rows.kinds if name in wanted]  # in the order in which a release has them
        left = {name: column if isinstance(column, Computation) else column[kept] for name, column in self.made.items()}
        return self.rows.select(kept, own, blank, labels).with_columns(left)

    def frame(self, names: Sequence[str], made: Mapping[str, Any], places: Any) -> Any:
        own = [name for name in names if name in self.made and name not in made]
        moved = {name: values.take(places) for name, values in self.gather(own).items()} if own else {}
        return self.rows.frame(names, {**moved, **made}, places)


def _given(made: Mapping[str, Any], name: str) -> Any:
    """What a computation is given in place of the source's column, if anything: never what is computed."""
    return None if isinstance(column := made.get(name), Computation) else column


def _same(below: Mapping[str, Any], above: Mapping[str, Any]) -> bool:
    """Whether every computation still sees what it saw, if two layers of columns are made one."""
    both, fresh = {**below, **above}, [column for column in above.values() if isinstance(column, Computation)]
    computed = [*fresh, *(column for column in below.values() if isinstance(column, Computation))]
    hidden = any(isinstance(below.get(name), Computation) for column in fresh for name in column.needs)
    return not hidden and all(_given(both, n) is _given(below, n) for column in computed for n in column.needs)


def _kind(column: Any) -> Kind:
    if isinstance(column, Beside):
        return column.rows.kinds[column.name]
    return "integer" if isinstance(column, np.ndarray) and column.dtype.kind in "iu" else "float"


def _cut(batches: Iterable[Any], columns: Sequence[str], held: list[Any]) -> Iterator[Run]:
    """Each batch as blocks; `held` has the batch itself."""
    start = 0
    for batch in batches:
        held.append(batch)
        yield blocks(batch, columns, start)
        start += len(batch)


def aligned(rows: Rows, other: Rows, names: Sequence[str], prefix: str = COMPANION) -> Rows:
    """Rows beside a row-aligned data set, whose columns have a prefix."""
    check_aligned(rows, other, names)
    return rows.with_columns({prefix + name: Beside(other, name) for name in names})


def check_aligned(rows: Rows, other: Rows, columns: Sequence[str]) -> None:
    """Refuses a data set that cannot stand beside the rows."""
    if rows.n != other.n:
        raise InputError(
            f"The candidate has {other.n} rows and the data {rows.n}.\nBoth must have the same rows in the same order."
        )
    missing = [name for name in columns if other.kinds.get(name) not in ("float", "integer")]
    if missing:
        raise InputError(f"The candidate lacks numeric columns {', '.join(map(repr, missing))}.")
