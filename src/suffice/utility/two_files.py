"""Two files one below the other: what tells them apart, and what they have in common, is asked of both at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.measure.pair import Columns, FilePair
from suffice.rows.arrow import as_float

GROUPS = 5
"""Groups, about equally large, that a column of numbers is cut into for a table."""

Codes = NDArray[np.intp]


@dataclass(frozen=True, repr=False)
class TwoFiles:
    """Numbers (missing: NaN) and codes of categories, whose last level is for missing cells, the original's first.

    released: 1 for a released record, 0 for an original one

    >>> files = TwoFiles.of({"r": pa.array(["a", None])}, {"r": pa.array(["b", "a", None])})
    >>> files.codes["r"].tolist(), files.counts(["r"])
    ([0, 2, 1, 0, 2], (array([1., 0., 1.]), array([1., 1., 1.])))
    """

    names: tuple[str, ...]
    numbers: Mapping[str, Array]
    codes: Mapping[str, Codes]
    released: Array

    @classmethod
    def of(cls, original: Columns, released: Columns, categories: Sequence[str] = ()) -> Self:
        """The columns that both files have, in the order of the original.

        categories: columns of numbers that are levels
        """
        names = tuple(name for name in original if name in released)
        text = [name for name in names if isinstance(original[name], pa.Array) or name in categories]
        codes = {name: _coded(original[name], released[name]) for name in text}
        numbers = {
            name: np.concatenate([as_float(original[name]), as_float(released[name])])
            for name in names
            if name not in codes
        }
        rows = [len(next(iter(each.values()))) for each in (original, released)]
        return cls(names, numbers, codes, np.repeat([0.0, 1.0], rows))

    @classmethod
    def of_pair(cls, pair: FilePair) -> Self:
        """The confidential numbers and the categories of an original and of its first release."""
        names = dict.fromkeys((*pair.numbers, *pair.categories))
        before, after = ({name: file[name] for name in names} for file in (pair.before, pair.after[0]))
        return cls.of(before, after, pair.categories)

    @classmethod
    def in_levels(cls, pair: FilePair) -> Self:
        """The same of all records, numbers in groups: a column at a time, each code as short as it can be."""
        names = tuple(dict.fromkeys((*pair.numbers, *pair.categories)))
        codes = {name: short_codes(pair, name) for name in names}
        return cls(names, {}, codes, np.repeat([0.0, 1.0], [rows.n for rows in (pair.holed or pair.all_rows)[:2]]))

    @property
    def n(self) -> int:
        return len(self.released)

    def levels(self, name: str, groups: int = GROUPS) -> Codes:
        """A category's codes; a number's group, between quantiles of both files, and one for missing cells."""
        if name in self.codes:
            return self.codes[name]
        values = self.numbers[name]
        hole = np.isnan(values)
        there = values[~hole]
        cuts = np.unique(np.quantile(there, np.arange(1, groups) / groups)) if len(there) else np.empty(0)
        return np.where(hole, len(cuts) + 1, np.searchsorted(cuts, values, side="right"))

    def counts(self, names: Sequence[str], groups: int = GROUPS) -> tuple[Array, Array]:
        """Original and released records in every cell of a table that one of them has."""
        place = reduce(_crossed, (self.levels(name, groups) for name in names))
        before, after = (np.bincount(place[self.released == side], minlength=place.max() + 1) for side in (0, 1))
        there = before + after > 0
        return before[there].astype(np.float64), after[there].astype(np.float64)


def short_codes(pair: FilePair, name: str) -> Codes:
    """Those of a category, or of groups of a number, as short as they can be: of all records, the original's first."""
    found = TwoFiles.of(*pair.whole(name, holes=True), pair.categories).levels(name)
    return found.astype(np.min_scalar_type(int(found.max(initial=0))))


def column_terms(values: Array, coded: bool, most: int | None = None) -> Callable[[Array], Array]:
    """How a column of both files is put in terms: a category's dummies, less one; a number, 0 where it is missing, and
    where it is missing.

    most: dummies of a category; of more levels the most frequent have one each, and the others none

    >>> column_terms(np.array([1.0, np.nan, 3.0]), False)(np.array([3.0, np.nan])).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    if coded:
        levels, counts = np.unique(values, return_counts=True)
        if most is not None and len(levels) - 1 > most:
            levels = np.concatenate([[-1], np.sort(levels[np.argsort(-counts, kind="stable")[:most]])])
        return lambda codes: np.asarray(codes[:, None] == levels[1:], dtype=np.float64)
    there = values[np.isfinite(values)]
    centre, spread = (there.mean(), there.std() or 1.0) if len(there) else (0.0, 1.0)
    holes = len(there) < len(values)

    def terms(numbers: Array) -> Array:
        hole = ~np.isfinite(numbers)
        return np.column_stack([np.where(hole, 0.0, (numbers - centre) / spread), *([hole] if holes else [])])

    return terms


def _crossed(one: Codes, two: Codes) -> Codes:
    """A code for every pair, or for every one that is there, so that codes never exceed the number of records."""
    size = int(two.max(initial=0)) + 1
    place = one.astype(np.intp) * size + two
    return place if place.max(initial=0) < len(place) else np.unique(place, return_inverse=True)[1]


def _coded(before: Any, after: Any) -> Codes:
    if not isinstance(before, pa.Array):
        return np.unique(np.concatenate([as_float(before), as_float(after)]), return_inverse=True)[1]
    both = pa.concat_arrays([before.cast(pa.string()), after.cast(pa.string())]).dictionary_encode()
    names = both.dictionary.to_pylist()
    place = np.empty(len(names) + 1, dtype=np.intp)
    place[np.argsort(np.array(names, dtype=object), kind="stable")] = np.arange(len(names))
    place[-1] = len(names)
    return np.asarray(place[both.indices.fill_null(len(names)).to_numpy(zero_copy_only=False)])
