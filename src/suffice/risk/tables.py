"""What is known of a table that is to be published, for its guards: counts and names, no value."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from suffice.algebra.array import Flags
from suffice.errors import FileError
from suffice.ledger import Entry
from suffice.seed import Seed
from suffice.tables.audit import Audit
from suffice.tables.connected import parts_of
from suffice.tables.decimals import DENSE, WHOLE
from suffice.tables.publication import Publication, TableMethod

SAME = 0.5
"""Of the cells that two tables have in common: the share with one value, where both are of the same data."""
MOST = 2**16
"""Cells that the ledger remembers of a release."""


@dataclass(frozen=True)
class FormerTable:
    """An earlier release of cells of the same data.

    opened: cells that it published and that are suppressed now
    holds: whether the audit holds with what both publish
    audited: whether it published cells as they are, or left them out
    crossed: whether each has cells that the other has not, and some are suppressed: what both tell is in no audit
    """

    method: str
    opened: int
    holds: bool
    audited: bool = True
    crossed: bool = False


@dataclass(frozen=True)
class TableRisk:
    """The results that the guards of tables judge.

    audits: of every value; None: not audited
    freedom: of each set of suppressed lowest cells that hang together, the dimensions that published cells leave it
    rounded: after a modulo operation: cells that are true when rounded, that are without it, and all; else None
    wholes: suppressed counts that are filled with a whole number
    negative: suppressed cells that are filled with a negative number although no cell is negative
    names: of dimensions, codes and values
    facts: what else the method says of itself
    """

    method: TableMethod
    audits: Mapping[str, Audit | None]
    freedom: tuple[int, ...] = ()
    rounded: tuple[int, int, int] | None = None
    wholes: int = 0
    negative: int = 0
    seed: str = "entropy"
    ledger: bool = False
    earlier: tuple[FormerTable, ...] = ()
    names: tuple[str, ...] = field(default=(), repr=False)
    facts: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        made: Publication,
        method: TableMethod,
        audits: Mapping[str, Audit | None],
        seed: Seed,
        ledger: bool,
        earlier: Sequence[FormerTable],
    ) -> TableRisk:
        table = made.table
        names = [*made.values, *(axis.name for axis in table.grid.axes), *(c for a in table.grid.axes for c in a.codes)]
        wholes = negative = 0
        if made.decimals is not None:
            cells = made.decimals.cells.reshape(len(table), -1)[made.suppressed]
            whole = [name in table.counts for name in made.values]
            wholes = int((np.abs(cells - np.rint(cells)) <= WHOLE)[:, whole].any(axis=1).sum())
            negative = int((cells < 0)[:, (made.before >= 0).all(axis=0)].any(axis=1).sum())
        return cls(
            method,
            audits,
            tuple(freedom_of(made)) if method.audited else (),
            None if made.decimals is None else made.decimals.rounded,
            wholes,
            negative,
            seed.source,
            ledger,
            tuple(earlier),
            tuple(names),
            made.facts,
        )


def freedom_of(made: Publication) -> Iterator[int]:
    """Dimensions of the suppressed cells that hang together, given all published ones; large sets are not counted."""
    table, gaps = made.table, made.suppressed | made.table.hidden
    for rows, cells in parts_of(table.relations, gaps):
        if len(cells) <= 2 * DENSE and made.suppressed[cells].any():
            yield len(cells) - int(np.linalg.matrix_rank(table.relations[rows][:, cells].toarray()))


@dataclass(frozen=True, repr=False)
class CellMemory:
    """Which cells a release is of, the value of each and whether it is suppressed: keyed words, sealed in the ledger.

    places: of the words in the table at hand: value and cell
    """

    words: Mapping[str, tuple[str, bool]]
    places: Mapping[str, tuple[str, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, made: Publication, seed: Seed) -> CellMemory:
        """A cell is known by its codes, totals aside: a margin is the same cell in tables of more dimensions."""
        grid, words, places = made.table.grid, dict[str, tuple[str, bool]](), dict[str, tuple[str, int]]()
        for cell in np.flatnonzero(~made.table.hidden)[:MOST].tolist():
            at = zip(grid.axes, grid.codes[cell], strict=True)
            codes = sorted(f"{axis.name}\0{axis.codes[p]}" for axis, p in at if axis.codes[p] != axis.total)
            for k, name in enumerate(made.values):
                word = seed.digest("cell", name, *codes)[:10]
                value = seed.digest("cell value", word, f"{made.before[cell, k]:.10g}")[:8]
                words[word], places[word] = (value, bool(made.suppressed[cell])), (name, cell)
        return cls(words, places)

    @classmethod
    def opened(cls, entry: Entry, seed: Seed) -> CellMemory | None:
        """What an entry remembers; None where it is not of a table."""
        if not entry.cells:
            return None
        try:
            words = json.loads(zlib.decompress(seed.unseal(entry.cells)))
        except (ValueError, zlib.error):
            raise FileError(
                "The ledger beside the key file is damaged, or was made with another key.\n"
                "Restore it from a backup; without it earlier releases cannot be judged."
            ) from None
        return cls({word: (value, hidden) for word, (value, hidden) in words.items()})

    def sealed(self, seed: Seed) -> str:
        return seed.seal(zlib.compress(json.dumps(self.words).encode()))

    def of_the_same(self, other: CellMemory) -> bool:
        """Whether most cells that both have are equal."""
        common = self.words.keys() & other.words.keys()
        return bool(common) and sum(self.words[w][0] == other.words[w][0] for w in common) >= SAME * len(common)

    def crosses(self, other: CellMemory) -> bool:
        """Whether each has cells that the other has not, and suppressed ones are among all."""
        apart = self.words.keys() - other.words.keys() and other.words.keys() - self.words.keys()
        return bool(apart) and any(hidden for each in (self, other) for _, hidden in each.words.values())

    def opened_by(self, other: CellMemory, size: int) -> dict[str, Flags]:
        """Cells that are suppressed here and published there, for each value."""
        found = {name: np.zeros(size, dtype=bool) for name, _ in self.places.values()}
        for word, (name, cell) in self.places.items():
            found[name][cell] = self.words[word][1] and word in other.words and not other.words[word][1]
        return found
