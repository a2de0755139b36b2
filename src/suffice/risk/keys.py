"""How many records share a record's categories: in the file, and in the population by their weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.measure.pair import FilePair
from suffice.rows.arrow import as_float

Levels = NDArray[np.int64]
"""A number for every value of a column; -1 where none is there."""


@dataclass(frozen=True, repr=False)
class KeyCounts:
    """For each record: `sample`, the records with its categories; `population`, the sum of their weights."""

    sample: Array
    population: Array


def levels(*columns: Any) -> tuple[Levels, ...]:
    """Numbers for the values of arrow columns, the same in all of them.

    >>> levels(pa.array(["b", "a", None, "b"]))[0].tolist()
    [0, 1, -1, 0]
    """
    parts = [pa.chunked_array([each]) if isinstance(each, pa.Array) else each for each in columns]
    parts = [each.cast(each.type.value_type) if pa.types.is_dictionary(each.type) else each for each in parts]
    if len({each.type for each in parts}) > 1:
        plain = all(pa.types.is_floating(each.type) or pa.types.is_integer(each.type) for each in parts)
        parts = [each.cast(pa.float64() if plain else pa.string()) for each in parts]
    joined = pa.chunked_array([chunk for each in parts for chunk in each.chunks], type=parts[0].type)
    found = joined.combine_chunks().dictionary_encode().indices
    numbers = np.asarray(pc.fill_null(found, -1), dtype=np.int64)
    return tuple(np.split(numbers, np.cumsum([len(each) for each in parts])[:-1]))


def joint(columns: Sequence[Levels], n: int) -> Levels:
    """One number for every combination of levels that is there, missing being a level."""
    found = np.zeros(n, dtype=np.int64)
    for each in columns:
        found = _dense(found * (each.max(initial=-1) + 2) + each + 1)
    return found


def _dense(codes: Levels) -> Levels:
    """Numbers in the same order without gaps; where they are not far apart without sorting."""
    top = int(codes.max(initial=-1)) + 1
    if top > 4 * len(codes) + 2**16:
        return np.unique(codes, return_inverse=True)[1].astype(np.int64)
    there = np.zeros(top, dtype=np.bool_)
    there[codes] = True
    return np.asarray(np.cumsum(there) - 1)[codes]


def key_counts(columns: Sequence[Levels], weights: Array | None = None, alpha: float = 1.0) -> KeyCounts:
    """Records that agree in every key; a missing cell agrees with all.

    alpha: what a record counts for another that has a value where it has none itself; 1 where nothing is missing
    (Templ, Kowarik & Meindl 2015, section 2.3)

    >>> a, b = np.array([0, 0, 1, -1]), np.array([5, 5, 5, 5])
    >>> key_counts([a, b]).sample.tolist(), key_counts([a, b], alpha=0.5).sample.tolist()
    ([3.0, 3.0, 2.0, 4.0], [2.5, 2.5, 1.5, 4.0])
    """
    n = len(columns[0])
    w = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    patterns, pattern = np.unique(np.column_stack([each < 0 for each in columns]), axis=0, return_inverse=True)
    places = [np.flatnonzero(pattern.ravel() == number) for number in range(len(patterns))]
    sample, population = np.zeros(n), np.zeros(n)
    for hole, own in zip(patterns, places, strict=True):
        for theirs, others in zip(patterns, places, strict=True):
            both = np.concatenate([own, others])
            shared = [each[both] for each, a, b in zip(columns, hole, theirs, strict=True) if not (a or b)]
            key = joint(shared, len(both))
            mine, found = key[: len(own)], key[len(own) :]
            share = alpha if (theirs & ~hole).any() else 1.0
            size = int(key.max(initial=0)) + 1
            sample[own] += share * np.bincount(found, minlength=size)[mine]
            population[own] += share * np.bincount(found, w[others], minlength=size)[mine]
    return KeyCounts(sample, population)


def keyed(pair: FilePair) -> list[tuple[Levels, Levels]]:
    """The categories that an intruder may know, of the original and of the release; all if none is given."""
    return [_numbered(pair, name) for name in pair.known or pair.categories]


def _numbered(pair: FilePair, name: str) -> tuple[Levels, Levels]:
    one, two = levels(*(pair.table(each)[name] for each in pair.whole(name)))
    return one, two


def combined(pair: FilePair) -> tuple[Levels, Levels]:
    """Combinations of these categories, by number, of the original and of the release."""
    n, columns = pair.all_rows[0].n, [np.concatenate(each) for each in keyed(pair)]
    both = joint(columns, len(columns[0]))
    return both[:n], both[n:]


def secrets(pair: FilePair) -> Iterator[tuple[str, tuple[Levels, Levels]]]:
    """The values of every confidential column of the original and of the release: by number, or by tenths."""
    for name in (name for name in pair.roles.confidential if name in pair.before):
        number = name in pair.numbers
        yield name, tenths(*(as_float(f[name]) for f in pair.whole(name))) if number else _numbered(pair, name)


def tenths(y: Array, released: Array) -> tuple[Levels, Levels]:
    """Between which deciles of both files numbers lie; -1 where none is there.

    >>> tenths(np.arange(5.0), np.array([np.nan, 4.0, 0.0]))
    (array([1, 3, 5, 6, 9]), array([-1,  9,  1]))
    """
    both = np.concatenate([y, released])
    there = np.isfinite(both)
    cuts = np.unique(np.quantile(both[there], np.arange(1, 10) / 10)) if there.any() else both[:0]
    place = np.where(there, np.searchsorted(cuts, both, "right"), -1).astype(np.int64)
    return place[: len(y)], place[len(y) :]


def released_weight(pair: FilePair) -> Array | None:
    """The weights that stand beside the released records; without alignment those of the original are not theirs."""
    name = pair.roles.weight
    if name is not None and name in pair.after[0]:
        return as_float(pair.all_rows[1].gather([name])[name])
    there = pair.aligned and name is not None and name in pair.before
    return as_float(pair.all_rows[0].gather([name])[name]) if there and name is not None else None
