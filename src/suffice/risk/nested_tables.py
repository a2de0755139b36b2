"""What two kept tables tell together: the classes of one lie inside those of the other but for a record or two."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache
from itertools import permutations

import numpy as np

from suffice.algorithms.margins import Codes, cell_numbers

RARE = 2
"""The difference of two totals is told of so many records, or fewer."""
CHANCE = 1e-6
"""Classes that lie inside another one more often than that by chance are not known to: nobody subtracts them."""


def nested_tables(
    tables: Collection[tuple[str, ...]], confidential: Collection[str], codes: Callable[[str], Codes]
) -> Mapping[str, int]:
    """Records that are told, by the two tables: up to 30 years less up to 29, both by illness, are those of 30."""
    left = cache(lambda whole, part: _left(*(_classes([codes(name) for name in names]) for names in (whole, part))))
    found = {}
    for whole, part in permutations([table for table in tables if len(table) > 1], 2):
        shared = [name for name in whole if name in part]
        outer, inner = (tuple(name for name in table if name not in shared) for table in (whole, part))
        told = any(name in confidential and codes(name).any() for name in shared)
        if told and outer and inner and (records := left(outer, inner)):
            found[f"{' x '.join(whole)} less {' x '.join(part)}"] = records
    return found


def _classes(columns: list[Codes]) -> Codes:
    """Numbered from 0 on, none left out, as those of one column are."""
    if len(columns) == 1:
        return columns[0]
    return np.asarray(np.unique(cell_numbers(columns, len(columns[0])), return_inverse=True)[1])


def _left(own: Codes, within: Codes) -> int:
    """Records of classes of the whole, where these less the classes of the part inside them are one record or two."""
    n_own, n_within = np.bincount(own), np.bincount(within)
    first = np.zeros(len(n_within), dtype=np.int64)
    first[within] = own  # the class of one of its records
    same = np.bincount(within, own == first[within]) == n_within
    known = same & (n_within * np.log(n_own[first] / len(own)) < np.log(CHANCE))
    left = n_own - np.bincount(first[known], n_within[known], len(n_own))
    return int(left[(left < n_own) & (left > 0) & (left <= RARE)].sum())
