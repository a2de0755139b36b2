"""How values are known again without holding one: a sum and a sample of keyed words, in any order of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.rows.arrow import as_float
from suffice.rows.multiset import Words, fingerprints, number_words, text_words

LIMIT = 96
"""Different words that are kept; of more, every second one, and so on."""
DIGITS = 9
"""Significant digits that count: the last ones change with the unit."""


LOWEST = 300
POWERS = 10.0 ** np.arange(-LOWEST, 309)
"""Powers of ten, from the smallest that is looked at."""


def value_words(values: Any) -> Words:
    """A word for each cell, the same in any unit that is a power of ten away; 0 for a zero and a missing cell.

    >>> value_words(np.array([35.91, 0.0])).tolist() == value_words(np.array([35910, 0])).tolist()
    True
    """
    if not isinstance(values, np.ndarray):
        return text_words(values)
    y = as_float(values)
    there = np.isfinite(y) & (y != 0)
    y = np.where(there, y, 1.0)
    size = np.abs(y)
    power = np.maximum(np.floor(np.log10(size)), -LOWEST).astype(np.intp)
    digits = np.rint(y / POWERS[power + LOWEST] * 10.0 ** (DIGITS - 1))
    digits[np.abs(digits) >= 10.0**DIGITS] /= 10
    words = digits.astype(np.int64).view(np.uint64)
    numbered = (size >= 10.0**DIGITS) & (np.trunc(y) == y)  # the number of something: all digits count
    if numbered.any():
        words[numbered] = number_words(y[numbered])
    words[~there] = 0
    return words


@dataclass(frozen=True, repr=False)
class Fingerprint:
    """The sum of keyed words, and some of the words with how often each is there: a fold.

    Which words are kept follows from the words alone, so that a file with a record less keeps nearly the same ones.

    cells: that are neither zero nor missing
    bits: every word that begins with so many zeros is kept
    """

    rows: int
    total: int
    cells: int
    bits: int
    words: Words
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, words: Words, key: int) -> Self:
        mixed = fingerprints(len(words), [words ^ np.uint64(key)])
        there = mixed[words != 0]
        bits = max(0, (len(there) // LIMIT).bit_length() - 1)  # where all differ, so many are too few or just enough
        kept, counts = _begun(there, bits)
        while bits and len(kept) <= LIMIT:
            bits -= 1
            kept, counts = _begun(there, bits)
        return cls(len(words), int(mixed.sum(dtype=np.uint64)), len(there), *_thinned(bits, kept, counts))

    def __add__(self, other: Self) -> Fingerprint:
        kept, place = np.unique(np.concatenate([self.words, other.words]), return_inverse=True)
        counts = np.bincount(place, np.concatenate([self.counts, other.counts]), len(kept)).astype(np.int64)
        thin = _thinned(max(self.bits, other.bits), kept, counts)
        total = (self.total + other.total) % 2**64
        return Fingerprint(self.rows + other.rows, total, self.cells + other.cells, *thin)


def _begun(words: Words, bits: int) -> tuple[Words, NDArray[np.int64]]:
    """The words that begin with so many zeros, and how often each is there."""
    found, counts = np.unique(words[words < np.uint64(2 ** (64 - bits))] if bits else words, return_counts=True)
    return found, counts.astype(np.int64)


def _thinned(bits: int, words: Words, counts: NDArray[np.int64]) -> tuple[int, Words, NDArray[np.int64]]:
    kept = int(np.searchsorted(words, np.uint64(2 ** (64 - bits) - 1), side="right"))  # they are sorted
    while kept > LIMIT:
        bits += 1
        kept = int(np.searchsorted(words, np.uint64(2 ** (64 - bits)), side="left"))
    return bits, words[:kept], counts[:kept]


class Fingerprints(dict[Any, Fingerprint]):
    """Several by name, in one pass."""

    def __add__(self, other: Self) -> Fingerprints:
        return Fingerprints({name: own + other[name] for name, own in self.items()})
