"""What can be promised of the cells of a table: claims from two arrays, cells x values, whoever made the second."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from scipy import sparse

from suffice.algebra.array import EPS, Array, Flags
from suffice.statistics.statistic import BOUND, Claim

ALIKE = 1e-9
"""Of a value: what lies nearer to it is the value."""


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class CellPromise(ABC):
    """Something that the cells that leave have; cells that they do not show are not a number."""

    @abstractmethod
    def claim(self, before: Array, after: Array) -> Claim:
        """How exactly the second table has it."""


def within(statistic: str, sentence: str, errors: Array, bound: float, names: Sequence[str]) -> Claim:
    """The claim at the worst of relative errors, kept up to a bound."""
    return Claim.worst(statistic, sentence, errors, np.full(errors.shape, bound / (BOUND * EPS)), names)


def whole(statistic: str, sentence: str, wrong: Flags, names: Sequence[str]) -> Claim:
    """A claim that holds in every cell or not at all."""
    bad = np.flatnonzero(wrong)
    lost = inf if len(bad) else 0.0
    return Claim(statistic, sentence, lost, lost, names[int(bad[0])] if len(bad) else "")


@dataclass(frozen=True, repr=False)
class Additivity(CellPromise):
    """T x = 0, in every equation all of whose cells are there."""

    relations: sparse.csr_array
    names: Sequence[str]
    """Of the cells that are totals, equation by equation."""
    bound: float = ALIKE

    def claim(self, before: Array, after: Array) -> Claim:
        known, there = ~np.isnan(after), np.nan_to_num(after)
        full = (abs(self.relations) @ ~known) == 0
        off = np.abs(self.relations @ there) / _size(abs(self.relations) @ np.abs(there))
        said = "totals are the sums of their parts"
        return within("additivity", said, np.where(full, off, 0.0).max(axis=1), self.bound, self.names)


@dataclass(frozen=True, repr=False)
class PublishedCells(CellPromise):
    """Cells that are published are those of the original: to the last bit where the file has them.

    stored: cells that the file has; others are sums of these
    size: of the absolute cells that are added up, for each cell that is a sum
    """

    published: Flags
    stored: Flags
    size: Array
    names: Sequence[str]

    def claim(self, before: Array, after: Array) -> Claim:
        errors = np.abs(after - before) / _size(self.size)
        errors = np.where(np.isnan(errors), inf, errors)
        errors = np.where(self.stored[:, None] & (errors > 0), inf, errors)[self.published].max(axis=1, initial=0.0)
        here = [name for name, flag in zip(self.names, self.published, strict=True) if flag]
        said = "published cells are those of the original"
        sums = (self.published & ~self.stored).any()
        return within("published", said, errors, 1e-12, here) if sums else whole("published", said, errors > 0, here)


@dataclass(frozen=True, repr=False)
class SuppressedCells(CellPromise):
    """Cells that are suppressed have no value in the file, or another one."""

    suppressed: Flags
    names: Sequence[str]

    def claim(self, before: Array, after: Array) -> Claim:
        there = (np.abs(after - before) <= ALIKE * np.abs(before)).any(axis=1)  # not a number is like none
        return whole("suppressed", "no suppressed cell has its value", self.suppressed & there, self.names)


def _size(cells: Array) -> Array:
    return np.where(cells > 0, cells, 1.0)
