"""Rows as a multiset: a fingerprint that does not depend on their order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.rows.bridge import numbers
from suffice.rows.rows import Block

Words = NDArray[np.uint64]

ODD = np.random.default_rng(0).integers(2**64, size=4001, dtype=np.uint64) | np.uint64(1)
"""One multiplier per column: the same values in other columns are another row."""


@dataclass(frozen=True, repr=False)
class Multiset:
    """Sums over rows of two 64-bit mixtures of each row's values: equal multisets have equal sums.

    >>> a = Multiset.of(Block(0, {"x": np.array([1.0, 2.0])}), ["x"])
    >>> b = Multiset.of(Block(0, {"x": np.array([2.0])}), ["x"]) + Multiset.of(Block(1, {"x": np.array([1.0])}), ["x"])
    >>> a == b
    True
    """

    rows: int
    one: int
    two: int

    @classmethod
    def of(cls, block: Block, names: Iterable[str], holes: Iterable[str] = ()) -> Multiset:
        """names: columns whose values make a record; holes: columns of which only the missing cells do."""
        missing = (hole_words(block.columns[name]) for name in holes)
        state = np.zeros(len(block), dtype=np.uint64)
        term = np.empty_like(state)
        with np.errstate(all="ignore"):
            for place, words in enumerate(chain((_words(block.columns[name]) for name in names), missing)):
                np.right_shift(words, np.uint64(32), out=term)  # no linear function: changes of two cells of a record,
                term ^= words  # in their first bits or in their last, do not cancel
                term *= ODD[place % len(ODD)]
                state += term
        one = _mixed(state)
        two = _mixed(one ^ ODD[0])
        return cls(len(block), int(one.sum(dtype=np.uint64)), int(two.sum(dtype=np.uint64)))

    def __add__(self, other: Self) -> Multiset:
        return Multiset(self.rows + other.rows, (self.one + other.one) % 2**64, (self.two + other.two) % 2**64)


def fingerprints(rows: int, columns: Iterable[Words]) -> Words:
    """One word for each row, of one word for each of its cells."""
    state = np.zeros(rows, dtype=np.uint64)
    product = np.empty_like(state)
    for place, words in enumerate(columns):
        # numbers differ in their first bits most: put these last (a cast swaps bytes faster than byteswap)
        np.copyto(product, words.view(words.dtype.newbyteorder()))
        product *= ODD[place % len(ODD)]
        state += product
    return _mixed(state)


def _words(values: Any) -> Words:
    """A word for each cell: the bits of a number."""
    if not isinstance(values, np.ndarray):
        return text_words(values)
    rest = _beyond(values) if values.dtype.kind in "iu" else None
    values = np.ascontiguousarray(values, dtype=np.float64)
    if np.isnan(np.dot(values, values)):  # a sum of squares: not a number where one is missing, and only there
        values = np.where(np.isnan(values), np.nan, values)  # one that is missing, whatever its sign
    words = values.view(np.uint64)
    return np.asarray(words if rest is None else words + rest)


def _beyond(values: Any) -> Words | None:
    """What a float would lose of whole numbers beyond 2^53, mixed; None where it holds them all."""
    with np.errstate(invalid="ignore"):  # the float of 2^63 - 1 is no whole number of 64 bits
        rest = values - values.astype(np.float64).astype(values.dtype)
    return rest.astype(np.uint64) * ODD[-2] if rest.any() else None


def text_words(values: Any) -> Words:
    """A word for each cell of an Arrow text column; a missing one is 0."""
    coded = values.dictionary_encode()
    levels = coded.dictionary
    codes = numbers(coded.indices, len(levels))
    return np.asarray(np.append(_texts(levels), np.uint64(0))[codes])


def _texts(levels: Any) -> Words:
    """Sums of the bytes of each text, each times the multiplier of its place, with no loop over texts."""
    data, ends = _bytes(levels)
    lengths = np.diff(ends)
    place = np.arange(len(data)) - np.repeat(ends[:-1] - ends[0], lengths)
    terms = (data.astype(np.uint64) + np.uint64(1)) * ODD[place % len(ODD)]  # plus one: a zero byte is a byte
    total = np.concatenate([[np.uint64(0)], np.cumsum(terms, dtype=np.uint64)])
    return _mixed(total[ends[1:] - ends[0]] - total[ends[:-1] - ends[0]])


def _bytes(levels: Any) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes of an Arrow text array, and where each text begins; the last entry is the end of all."""
    wide = levels.cast(pa.large_string())
    _, offsets, data = wide.buffers()
    if data is None or not data.size:  # no text, or none with a byte
        return np.empty(0, dtype=np.uint8), np.zeros(len(wide) + 1, dtype=np.int64)
    ends = np.frombuffer(offsets, dtype=np.int64)[wide.offset : wide.offset + len(wide) + 1]
    return np.frombuffer(data, dtype=np.uint8)[ends[0] : ends[-1]], ends


def number_words(values: Any) -> Words:
    """A word for each number, the same whether a whole number is stored as an integer or as a float.

    Small whole numbers differ in their last bits only: mixed, so that sums over several columns do not meet.
    """
    if values.dtype.kind in "iu":
        return _mixed(np.asarray(values.astype(np.int64, copy=False)).view(np.uint64))
    values = np.ascontiguousarray(values, dtype=np.float64)
    whole = (np.trunc(values) == values) & (np.abs(values) < 2.0**63)
    words = np.where(whole, np.where(whole, values, 0.0).astype(np.int64).view(np.uint64), values.view(np.uint64))
    return _mixed(words)


def hole_words(values: Any) -> Words:
    """A word for each cell: whether it is missing."""
    return _mixed(np.isnan(values).astype(np.uint64))


def _mixed(x: Words) -> Words:
    """The finaliser of SplitMix64: every bit of the result depends on every bit of x."""
    with np.errstate(over="ignore"):
        x = np.asarray(x + np.uint64(0x9E3779B97F4A7C15))
        shifted = np.empty_like(x)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
            np.right_shift(x, np.uint64(shift), out=shifted)
            x ^= shifted
            x *= np.uint64(factor)
        return x
