"""Smaller sizes, drawn nearer to the levels, where exact moments have no room for those that were drawn first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np

from suffice.algebra.array import Array
from suffice.errors import InfeasibleError
from suffice.tables.adjust.problem import Problem, Signs
from suffice.tables.adjust.search import AdjustmentSearch
from suffice.tables.adjust.signs import Directions
from suffice.tables.solver import NoAnswer

REACHES = (1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64)
"""Of what sizes are drawn from: the part, from the level up, that they are drawn from instead."""

ALL = 6
"""Sensitive cells up to which all directions are tried."""


def with_room(search: AdjustmentSearch) -> tuple[AdjustmentSearch, Problem, Directions, Array, dict[str, int]]:
    """Changes of sizes that are drawn, and of smaller ones where second moments have no room for these.

    First it is found whether the levels themselves have room: that the key does not say. Then sizes are drawn from
    the first part whose largest ones have room all together: what its key draws there has room as well.
    """
    asked = search.asked
    try:
        return search, *search.found()
    except InfeasibleError as error:
        if asked.keep != "moments" or asked.sizes != "drawn" or isinstance(error, NoAnswer):
            raise
        first = error
    start = _at_levels(_reaching(search, 0.0))
    if start is None:
        raise first
    for reach in REACHES:
        smaller = _reaching(search, reach)
        try:
            return smaller, *smaller.found(_reaching(search, reach, largest=True).exact_near(start))
        except InfeasibleError:
            continue
    raise InfeasibleError(
        "No adjustment was found whose moments are exact and whose sizes are drawn: there is one that changes "
        "sensitive cells by no more than their levels, which would tell them.\n"
        "Raise q or the capacities, fix fewer cells, or keep fewer statistics."
    ) from first


def _at_levels(search: AdjustmentSearch) -> Array | None:
    """Exact changes of sizes from the levels up; where those that cost least have none, in any other directions."""
    try:
        return search.found()[2]
    except InfeasibleError:
        for signs in _directions(search):
            try:
                return search.exact_near(search.nearest_in(signs))
            except InfeasibleError:
                continue
    return None


def _directions(search: AdjustmentSearch) -> Iterator[Signs]:
    """All of them, of few sensitive cells, or some, in the order of the key."""
    secret = np.concatenate([each.sensitive & ~search.asked.table.hidden for each in search.asked.given])
    count, generator = int(secret.sum()), search.asked.stream.generator("all directions")
    every = generator.choice((-1, 1), (2**ALL, count)) if count > ALL else np.array([*product((-1, 1), repeat=count)])
    for signs in generator.permutation(every):
        found = np.zeros(len(secret), dtype=np.int8)
        found[secret] = signs
        yield found


def _reaching(search: AdjustmentSearch, reach: float, largest: bool = False) -> AdjustmentSearch:
    return replace(search, asked=replace(search.asked, reach=reach, largest=largest))
