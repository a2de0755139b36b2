"""Over which records a total is, known by sums of powers: a difference of up to four of them is seen as what it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from suffice.design.formula import parse
from suffice.design.units import exact_words
from suffice.ledger import Scheme
from suffice.rows.fingerprint import value_words
from suffice.rows.multiset import Words, fingerprints
from suffice.rows.rows import Block

CELLS = 1024
"""PowerSums of a release that are remembered: of its cells, times its columns."""
MOST = 4
"""Records in a difference that are looked for."""
FORM = np.dtype([("cell", "<u8"), ("column", "<u4"), ("sums", "<u8", (2 * MOST + 1,))])
POOL = (1024, 64, 12, 10)
"""Earlier totals of one cell of which one is added or subtracted; of one column as well, two to four; at most."""
By = tuple[str, ...]


@dataclass(frozen=True, repr=False)
class PowerSums:
    """Of every cell and confidential column the number of records and the sums of u, u² to u⁸, where u is a keyed
    word of a record's value and weight: a fold, modulo 2^64.

    sums: by the columns that tell cells; a word for each cell, sums of (cell, column)
    """

    sums: Mapping[By, tuple[Words, Words]]

    @classmethod
    def of(cls, block: Block, cells: Sequence[By], confidential: Sequence[str], weight: str, key: int) -> Self:
        beside = [exact_words(block.columns[weight])] if weight else []
        own = [value_words(block.columns[name]) ^ np.uint64(key) for name in confidential]
        u = np.column_stack([fingerprints(len(block), [each, *beside]) for each in own])
        powers = np.cumprod(np.stack([np.ones_like(u), *[u] * (2 * MOST)], axis=2), axis=2, dtype=np.uint64)
        return cls({by: _added(_words(block, by), powers) for by in cells})

    def __add__(self, other: Self) -> PowerSums:
        both = [(by, self.sums[by], other.sums[by]) for by in self.sums if by in other.sums]
        few = [each for each in both if len(each[1][0]) <= CELLS]  # of more none is remembered
        return PowerSums({by: _added(*map(np.concatenate, zip(one, two, strict=True))) for by, one, two in few})

    def rows(self, confidential: Sequence[str], least: int) -> NDArray[Any]:
        """A row for each cell and column, those of the fewest cells first; cells with fewer records were joined."""
        made, columns = [np.zeros(0, FORM)], [crc32(name.encode()) for name in confidential]
        for words, sums in sorted(self.sums.values(), key=lambda each: len(each[0])):
            table = np.zeros(sums.shape[:2], FORM)
            table["cell"], table["column"], table["sums"] = words[:, None], columns, sums
            made.append(table[sums[:, 0, 0] >= least].ravel() if len(words) > 1 else table.ravel())
        ends = np.cumsum([len(each) for each in made])
        return np.concatenate([each for each, end in zip(made, ends, strict=True) if end <= CELLS])


def cells_of(scheme: Scheme) -> list[By]:
    """The columns that tell cells whose totals are kept; none are the whole file."""
    made = {name for name, _ in scheme.made}
    found: set[By] = {()} if scheme.parts else set()
    for by, given in scheme.parts:
        terms = [term for text in given for term in parse(text).terms]
        cells = [[f.column for f in term] for term in terms if all(f.transform == "C" for f in term)]
        found |= {tuple(sorted({*by, *names})) for names in ([], *cells)}
    return sorted(by for by in found if not made & {*by})


def singled_out(own: NDArray[Any], earlier: Iterable[NDArray[Any]], telling: Sequence[str] = ()) -> tuple[int, int]:
    """How many totals, with up to four earlier ones of their cell added or subtracted, are of one record or two; how
    many of three or four, of columns whose values tell the records."""
    tables = [table for table in earlier if len(table)]
    if not tables or not len(own):
        return 0, 0
    pool, found = np.unique(np.concatenate(tables)), [0, 0]
    known_by = [crc32(name.encode()) for name in telling]
    for mine in own[np.isin(own["cell"], pool["cell"])]:
        there = pool[pool["cell"] == mine["cell"]]
        alike = there["sums"][there["column"] == mine["column"]]
        known = (there["sums"] == mine["sums"]).all(axis=1).any()  # it is out already
        if known:
            continue
        chosen = zip((there["sums"], alike, alike, alike), (1, 2, 3, 4), POOL, strict=True)
        ways = [mine["sums"] + _ways(sums, count) for sums, count, most in chosen if len(sums) <= most]
        few = any(_few(each).any() for each in ways)
        found[0] += few
        found[1] += not few and mine["column"] in known_by and any(_several(each).any() for each in ways)
    return found[0], found[1]


def _ways(sums: Words, count: int) -> Words:
    """All sums of so many, each added or subtracted."""
    chosen = np.array(list(combinations(range(len(sums)), count)), dtype=np.intp).reshape(-1, count)
    signs = np.array(list(product([1, 2**64 - 1], repeat=count)), dtype=np.uint64)
    return np.asarray((sums[chosen][:, None] * signs[:, :, None]).sum(axis=2, dtype=np.uint64)).reshape(
        -1, sums.shape[1]
    )


def _few(sums: Words) -> NDArray[np.bool_]:
    """Which are sums of one record, of two, or of one less another: identities of power sums, in any ring."""
    negative = sums[:, 0] >= np.uint64(2**63)
    n, s, t, c = np.where(negative[:, None], np.uint64(0) - sums[:, :4], sums[:, :4]).T
    two, three, four = np.uint64(2), np.uint64(3), np.uint64(4)
    one = (n == 1) & (t == s * s) & (c == s * t)
    pair = (n == 2) & (two * c == three * s * t - s * s * s)
    other = (n == 0) & (four * s * c == three * t * t + s * s * s * s) & ((s != 0) | (t != 0) | (c != 0))
    return np.asarray(one | pair | other)


def _several(sums: Words) -> NDArray[np.bool_]:
    """Which are of up to four records, added or taken away: so is the rank of the Hankel matrix of their power sums."""
    near = np.flatnonzero((sums[:, 0] + np.uint64(MOST) <= 2 * MOST) & sums.any(axis=1))
    found = np.zeros(len(sums), dtype=bool)
    places = np.arange(MOST + 1)
    found[near] = _determinant(sums[near][:, places[:, None] + places]) == 0
    return found


def _determinant(A: Words) -> Words:
    """Of a stack of square matrices, modulo 2^64: there is no division."""
    if A.shape[1] == 1:
        return A[:, 0, 0]
    columns = np.arange(A.shape[1])
    parts = [A[:, 0, j] * _determinant(A[:, 1:, columns != j]) for j in columns]
    return np.asarray(sum(parts[::2], np.zeros_like(parts[0])) - sum(parts[1::2], np.zeros_like(parts[0])))


def _words(block: Block, by: By) -> Words:
    return fingerprints(len(block), [exact_words(block.columns[name]) ^ np.uint64(crc32(name.encode())) for name in by])


def _added(words: Words, sums: Words) -> tuple[Words, Words]:
    order = np.argsort(words, kind="stable")
    found, first = np.unique(words[order], return_index=True)
    return found, np.add.reduceat(sums[order], first, axis=0)
