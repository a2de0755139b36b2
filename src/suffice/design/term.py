"""Categories and terms as columns of X: treatment coding, dummies and their products."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

import numpy as np

from suffice.algebra.array import Array
from suffice.design.formula import Factor, Term
from suffice.rows.arrow import as_float
from suffice.rows.rows import Block

Codes = np.ndarray[Any, np.dtype[np.intp]]

TRANSFORM: Mapping[str, Callable[[Any], Any]] = {
    "log": np.log,
    "log1p": np.log1p,
    "log10": np.log10,
    "sqrt": np.sqrt,
    "square": np.square,
}


def number(factor: Factor, block: Block) -> Any:
    """A numeric factor's values; outside the transform's domain not finite, for a fold to notice."""
    column = block.columns[factor.column]
    if factor.transform is None:
        return column
    with np.errstate(all="ignore"):
        return TRANSFORM[factor.transform](as_float(column))


def numbers_in(term: Term) -> Term:
    return tuple(factor for factor in term if factor.transform != "C")


def multiplied(factors: Term, block: Block) -> Array:
    """The product of numeric factors; it may overflow, for a fold to notice."""
    with np.errstate(all="ignore"):
        return np.asarray(np.multiply.reduce([as_float(number(factor, block)) for factor in factors]))


@dataclass(frozen=True)
class Expansion:
    """One term as columns: dummies of its levels' combinations, times its numbers.

    term: the factors
    sizes: for each categorical factor the levels that it has
    dropped: for each categorical factor 1 where its first level has no dummy, else 0
    """

    term: Term
    sizes: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()

    @cached_property
    def widths(self) -> tuple[int, ...]:
        return tuple(size - drop for size, drop in zip(self.sizes, self.dropped, strict=True))

    @cached_property
    def width(self) -> int:
        return prod(self.widths)

    @property
    def names(self) -> tuple[str, ...]:
        """`region[2]:log(employees)`: a level is named by its position, counted from 1."""
        return self.named({})

    def named(self, levels: Mapping[str, Sequence[Any]]) -> tuple[str, ...]:
        """With levels by their own names, where these may be said: of a file that is public."""
        parts, category = [], iter(zip(self.sizes, self.dropped, strict=True))
        for factor in self.term:
            if factor.transform == "C":
                size, drop = next(category)
                told = levels.get(factor.column, range(1, size + 1))
                parts.append([f"{Factor(factor.column)}[{told[i]}]" for i in range(drop, size)])
            else:
                parts.append([str(factor)])
        return tuple(":".join(name) for name in product(*parts))

    def fill(self, out: Any, block: Block, codes: Mapping[str, Codes], centre: Array) -> None:
        """Writes the term's columns, less the centre, into `out`: columns of a Fortran-ordered matrix."""
        if not self.sizes:  # one number is by far the most frequent, and needs no copy
            values = number(self.term[0], block) if len(self.term) == 1 else multiplied(self.term, block)
            np.subtract(values, centre[0], out=out[:, 0])
            return
        numbers = numbers_in(self.term)
        self._scatter(out, multiplied(numbers, block) if numbers else np.ones(len(out)), codes)
        if centre.any():
            out -= centre

    def _scatter(self, out: Any, values: Array, codes: Mapping[str, Codes]) -> None:
        n = len(out)
        place, seen = np.zeros(n, dtype=np.intp), np.ones(n, dtype=bool)
        categories = (codes[factor.column] for factor in self.term if factor.transform == "C")
        for code, width, drop in zip(categories, self.widths, self.dropped, strict=True):
            place = place * width + (code - drop)
            seen &= code >= drop
        rows = np.flatnonzero(seen)
        out[:] = 0.0
        out[rows, place[rows]] = values[rows]


def coding(terms: tuple[Term, ...], intercept: bool, sizes: Mapping[str, int]) -> tuple[Expansion, ...]:
    """Every term with its dummies: a factor loses its first level where the term without it is in the model.

    What is lost lies in the span of that smaller term, by induction on the number of factors.
    """
    model = {frozenset(term) for term in terms} | ({frozenset[Factor]()} if intercept else set())
    expansions = []
    for term in terms:
        categories = [factor for factor in term if factor.transform == "C"]
        dropped = tuple(int(frozenset(term) - {factor} in model) for factor in categories)
        expansions.append(Expansion(term, tuple(sizes[factor.column] for factor in categories), dropped))
    return tuple(expansions)
