"""Rows beside a row-aligned data set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from suffice.errors import InputError
from suffice.rows.rows import Block, Rows


class Joined(Rows):
    """Rows beside a row-aligned data set: the runs of both are cut at the same rows."""

    def __init__(self, rows: Rows, other: Rows, columns: Sequence[str]) -> None:
        check_aligned(rows, other, columns)
        self.rows, self.other = rows, other
        self.n, self.threads, self.progress = rows.n, rows.threads, rows.progress
        self.kinds = rows.kinds

    def runs(self, columns: Sequence[str]) -> Iterator[Sequence[Block]]:
        own = [name for name in columns if not name.startswith(COMPANION)]
        theirs = [name.removeprefix(COMPANION) for name in columns if name.startswith(COMPANION)]
        if not theirs:
            yield from self.rows.runs(own)
            return
        for mine, other in zip(self.rows.runs(own), self.other.runs(theirs), strict=True):
            yield [
                Block(a.start, {**a.columns, **{COMPANION + name: column for name, column in b.columns.items()}})
                for a, b in zip(mine, other, strict=True)
            ]


def check_aligned(rows: Rows, other: Rows, columns: Sequence[str]) -> None:
    """Refuses a data set that cannot stand beside the rows."""
    if rows.n != other.n:
        raise InputError(
            f"The candidate has {other.n} rows and the data {rows.n}.\nBoth must have the same rows in the same order."
        )
    missing = [name for name in columns if other.kinds.get(name) not in ("float", "integer")]
    if missing:
        raise InputError(f"The candidate lacks numeric columns {', '.join(map(repr, missing))}.")


COMPANION = "companion\0"
"""Marks the columns of a row-aligned data set that a method was given."""
