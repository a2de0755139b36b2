"""A digest of columns' values in row order: the same whatever the file, the engine or the block size."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from suffice.rows.bridge import numbers
from suffice.rows.rows import Block


@dataclass(frozen=True)
class Digest:
    """SHA-256 of every logical block of every column; a keyed digest of these decides the random numbers."""

    columns: dict[str, tuple[bytes, ...]]

    @classmethod
    def of(cls, block: Block, names: Iterable[str]) -> Digest:
        return cls({name: (_hash(block.columns[name]),) for name in names})

    def __add__(self, other: Self) -> Digest:
        return Digest({name: parts + other.columns[name] for name, parts in self.columns.items()})

    def column(self, name: str) -> str:
        return hashlib.sha256(b"".join(self.columns[name])).hexdigest()

    def __repr__(self) -> str:  # a plain hash of values can be searched for the values
        return f"Digest({len(self.columns)} columns)"


def _hash(values: Any) -> bytes:
    if isinstance(values, np.ndarray):
        return hashlib.sha256(np.ascontiguousarray(values, dtype=np.float64).data).digest()
    coded = values.dictionary_encode()  # codes in order of first appearance: decided by the values alone
    found = hashlib.sha256(numbers(coded.indices, -1).astype(np.int32))
    for text in coded.dictionary.to_pylist():
        found.update(b"\0" + str(text).encode())
    return found.digest()
