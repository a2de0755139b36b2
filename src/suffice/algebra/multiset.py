"""Rows as a multiset: a fingerprint that does not depend on their order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.rows import Block

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
    def of(cls, block: Block, names: Iterable[str]) -> Multiset:
        state = np.zeros(len(block), dtype=np.uint64)
        product = np.empty_like(state)
        for place, name in enumerate(names):
            words = _words(block.columns[name]).byteswap()  # numbers differ in their first bits most: put these last
            state += np.multiply(words, ODD[place % len(ODD)], out=product)
        one = _mixed(state)
        two = _mixed(one ^ ODD[0])
        return cls(len(block), int(one.sum(dtype=np.uint64)), int(two.sum(dtype=np.uint64)))

    def __add__(self, other: Self) -> Multiset:
        return Multiset(self.rows + other.rows, (self.one + other.one) % 2**64, (self.two + other.two) % 2**64)


def _words(values: Any) -> Words:
    if isinstance(values, np.ndarray):
        return np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)
    coded = values.dictionary_encode()
    levels = [hashlib.sha256(str(level).encode()).digest()[:8] for level in coded.dictionary.to_pylist()]
    table = np.frombuffer(b"".join([*levels, bytes(8)]), dtype=np.uint64)
    codes = coded.indices.fill_null(len(levels)).to_numpy(zero_copy_only=False)
    return np.asarray(table[codes])


def _mixed(x: Words) -> Words:
    """The finaliser of SplitMix64: every bit of the result depends on every bit of x."""
    with np.errstate(over="ignore"):
        x = (x + np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))
