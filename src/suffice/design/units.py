"""Whose records they are: words for units, and which levels have few of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.design.levels import missing, small
from suffice.rows.multiset import Words, fingerprints, number_words, text_words
from suffice.rows.rows import Block


def exact_words(values: Any) -> Words:
    """A word for each cell: of what tells groups every digit counts."""
    return number_words(values) if isinstance(values, np.ndarray) else text_words(values)


def unit_words(block: Block, unit: str) -> Words:
    """A word for each record, the same for those of a unit; one that names none is a unit by itself."""
    values = block.columns[unit]
    alone = number_words(np.arange(block.start, block.start + len(block), dtype=np.float64) + 0.5)
    return np.where(missing(values), alone, exact_words(values))


def once(places: NDArray[np.int64], units: Words) -> NDArray[np.intp]:
    """The first record of each unit in each place."""
    words = fingerprints(len(units), [places.view(np.uint64), units])
    return np.asarray(np.unique(words, return_index=True)[1])


def few_units(places: NDArray[Any], units: Words, below: int) -> NDArray[np.bool_]:
    """Which places to join so that each has `below` units; every unit is named once in each of its places.

    >>> few_units(np.array([0, 0, 1, 2, 2, 2]), np.array([1, 2, 1, 3, 4, 5], dtype=np.uint64), 3).tolist()
    [True, True, True]
    """
    counts, by_unit = np.bincount(places), np.argsort(units, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(units[by_unit]) != 0))

    def together(order: NDArray[np.intp]) -> NDArray[np.intp]:
        """A unit that is in several places counts once: in the first of them."""
        ranks = np.argsort(order)[places][by_unit]
        return np.asarray(np.cumsum(np.bincount(np.minimum.reduceat(ranks, starts), minlength=len(order))))

    return small(counts, below, together)
