"""Rows of a confidential file, and what an engine does with them: fold, map, deal."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.progress import Progress
from suffice.rows.threads import ahead

if TYPE_CHECKING:
    from suffice.algebra.array import Flags
    from suffice.seed import BlockKey, Stream

BLOCK = 8192
"""Rows in a logical block. Random numbers belong to these, so neither engine nor batch size changes a release."""

RUN = 16
"""Blocks folded one after the other before their results are merged: fixed, so threads do not change a digit."""

Kind = Literal["float", "integer", "category", "date", "other"]
Labels = Mapping[str, tuple[NDArray[np.bool_], str | int]]
"""Columns whose cells get a label: which, and the label."""
NO_LABELS: Labels = {}


@dataclass(frozen=True, repr=False)
class Block:
    """Some consecutive rows. Floats and integers are NumPy arrays (missing: NaN), categories Arrow string arrays."""

    start: int
    columns: Mapping[str, Any]
    key: BlockKey | None = None
    """Of the block's own random numbers, where a pass has any."""

    def __len__(self) -> int:
        return next((len(column) for column in self.columns.values()), 0)


Run = Sequence[Block]


class Monoid(Protocol):
    """A value that a fold can merge: an associative `+`."""

    def __add__(self, other: Any, /) -> Any: ...


F = TypeVar("F", bound=Monoid)
S = TypeVar("S")
T = TypeVar("T")


class Product(tuple[Any, ...]):
    """Several folds in one pass: the product of monoids."""

    def __new__(cls, *parts: Any) -> Self:
        return super().__new__(cls, parts)

    def __add__(self, other: Product) -> Product:  # type: ignore[override]  # merged, not joined
        return Product(*(one + two for one, two in zip(self, other, strict=True)))

    def __reduce__(self) -> tuple[Any, ...]:
        return Product, tuple(self)


class Rows(ABC):
    """A source that gives the same rows in the same order every time.

    An engine supplies `runs`, `batches` where it has columns that blocks do not hold (dates and the like), and `ahead`
    where its work is done elsewhere: all that is sent there can be pickled, and no key of a release is in it. The verbs
    follow.
    """

    n: int
    kinds: Mapping[str, Kind]
    threads: int = 1
    progress: Progress | None = None
    notes: Sequence[str] = ()
    """How the rows were read, where a reader should know."""
    paths: Sequence[Path] = ()
    """Files that the rows are read from: a release replaces none of them."""
    behind: Sequence[str] = ()
    """Columns that the source has and these rows, which are some of its rows, have not."""
    coding: Any = None
    """How confidential columns that are no plain numbers were coded, where that was noted."""
    held: bool = False
    """Whether all rows are in memory: what has as many rows may then be kept there as well."""

    @abstractmethod
    def runs(self, columns: Sequence[str]) -> Iterator[Run]:
        """All rows in order, cut at multiples of BLOCK rows, RUN blocks at a time."""

    def sources(self, columns: Sequence[str]) -> tuple[Iterator[Run], Callable[[Run], Run]]:
        """Runs as they are sent to workers, and how each becomes the run that was asked for."""
        return self.runs(columns), _as_it_is

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """The same rows as Arrow batches, with the types that the source has."""
        from suffice.rows.arrow import batch_of

        return (batch_of(run, columns) for run in self.runs(columns))

    def ahead(self, of: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
        """`of(item)` in order: where the work of a pass is done. In memory there is nothing to read ahead."""
        return map(of, items) if self.held and self.threads == 1 else ahead(of, items, self.threads)

    def fold(self, of: Callable[[Block], F], columns: Sequence[str], stage: str, stream: Stream | None = None) -> F:
        """The sum of `of(block)` over all blocks, merged in row order."""
        return reduce(add, self.map(lambda run: reduce(add, map(of, run)), columns, stage, stream))

    def map(
        self, of: Callable[[Run], T], columns: Sequence[str], stage: str, stream: Stream | None = None
    ) -> Iterator[T]:
        """`of(run)` for every run of blocks, in row order.

        stream: whose numbers the blocks are to have; each carries its own key, and no worker sees another
        """
        runs, made = self.sources(columns)
        if stream is not None:
            runs = ([replace(block, key=stream.block(block.start // BLOCK)) for block in run] for run in runs)
        done = 0
        for result, rows in self.ahead(lambda run: (of(made(run)), sum(map(len, run))), runs):
            done += rows
            if self.progress is not None:
                self.progress(stage, done, self.n)
            yield result

    def gather(self, columns: Sequence[str]) -> dict[str, Any]:
        """Columns in memory, as blocks hold them."""
        from suffice.rows.arrow import concatenated

        runs = list(self.runs(columns))
        return {name: concatenated([block.columns[name] for run in runs for block in run]) for name in columns}

    def select(
        self, kept: Flags, columns: Sequence[str], blank: Mapping[str, Flags], labels: Labels = NO_LABELS
    ) -> Rows:
        """Some of the rows, in order; `blank`: cells made missing; `labels`: cells of a column that get a label."""
        from suffice.rows.spool import selected

        return selected(self, kept, columns, blank, labels)

    def deal(
        self,
        label: Callable[[int, Any], NDArray[Any]],
        count: int,
        columns: Sequence[str],
        stage: str,
        folder: str | None = None,
    ) -> Sequence[Rows]:
        """The rows dealt to `count` parts, each with its rows in order.

        label: the part of every row of an Arrow batch, given the number of its first row
        folder: where the parts lie, if that must be said
        """
        from suffice.rows.spool import dealt

        return dealt(self, label, count, columns, stage, folder)

    def empty(self) -> None:
        """They are not needed any longer: room that was taken for them is given back."""
        return

    def sorted(self, by: str, columns: Sequence[str]) -> Rows:
        """The rows in the order of a numeric column, missing numbers last, equal ones in the order they had."""
        from suffice.rows.spool import in_order

        return in_order(self, by, columns)

    def with_columns(self, made: Mapping[str, Any]) -> Rows:
        """The rows with columns added or replaced: arrays in row order, columns of aligned rows, or computed ones.

        A computation sees these rows, as they are without the columns that it is put beside.
        """
        from suffice.rows.derived import Derived

        return Derived(self, made)

    def frame(self, names: Sequence[str], made: Mapping[str, NDArray[Any]], places: NDArray[np.int64]) -> Any:
        """The rows at `places` as a table of the kind that came in; what was `made` has that order already."""
        import pyarrow as pa

        from suffice.rows.arrow import taken, undictionaried
        from suffice.rows.bridge import arrow

        kept = [name for name in names if name not in made]
        columns = {name: v if isinstance(v, pa.Array) else arrow(v) for name, v in made.items()}
        if kept:
            table = taken(self.batches(kept), places)
            columns |= {name: table[name] for name in kept}
        return undictionaried(pa.table({name: columns[name] for name in names}))


def _as_it_is(run: Run) -> Run:
    return run


def per_run() -> int:
    """Rows in a run."""
    return BLOCK * RUN


def spans(start: int, stop: int, size: int = BLOCK) -> Iterator[tuple[int, int]]:
    """The first and last row (exclusive) of every block of `size` rows."""
    for first in range(start, stop, size):
        yield first, min(first + size, stop)
