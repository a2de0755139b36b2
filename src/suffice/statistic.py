"""A statistic: promised by a method, demanded by a user, checked by the certificate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.moments import Moments
from suffice.algebra.multiset import Multiset
from suffice.design import Design
from suffice.rows import Block

Array = NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)
BOUND = 30.0
"""A promise holds while e / (eps max(1, max|y|/sd)) is at most this."""
CONSTANT = 4 * EPS
"""A column whose standard deviation is at most this share of its largest value is constant."""
SMALLEST = 1e-150
"""Standard deviation of a column of zeros: its square is still a number."""


@dataclass(frozen=True)
class Claim:
    """One statistic, how far the released rows are from it, and what the digits of the data allow."""

    statistic: str
    sentence: str
    error: float
    ratio: float
    where: str
    promised: bool = True
    """Where not, the error was reached and is told; nothing depends on it."""

    @property
    def holds(self) -> bool:
        return not self.promised or self.ratio <= BOUND

    @classmethod
    def worst(cls, statistic: str, sentence: str, errors: Array, lost: Array, names: Sequence[str]) -> Claim:
        """The claim at its worst entry; `lost` is max(1, max|y|/sd) of each."""
        if not errors.size:
            return cls(statistic, sentence, 0.0, 0.0, "")
        errors = np.where(np.isfinite(errors), errors, np.inf)
        with np.errstate(over="ignore"):  # a column of zeros that is no longer one
            ratios = errors / (EPS * lost)
        top = int(ratios.argmax())
        return cls(statistic, sentence, float(errors.max()), float(ratios.flat[top]), names[top])


@dataclass(frozen=True)
class Standing:
    """What a certificate compares, as a fold: moments of [X Y] about a centre, and the given records as a multiset."""

    moments: Moments
    given: Multiset

    @classmethod
    def of(cls, block: Block, design: Design, W: Array) -> Standing:
        """W: the block's columns, centred already."""
        return cls(Moments.of(W, design.weights(block)), Multiset.of(block, design.fixed))

    def __add__(self, other: Self) -> Standing:
        return Standing(self.moments + other.moments, self.given + other.given)


@dataclass(frozen=True, repr=False)
class Pair:
    """The same moments of the original and of the released rows, about one centre: X first, then Y."""

    original: Moments
    released: Moments
    size: Array
    """The largest absolute value of each original column."""
    given: tuple[str, ...]
    confidential: tuple[str, ...]
    same_given: bool
    """Whether the given columns and the weights are the same multiset of records, bit for bit."""
    spans_one: bool
    """Whether 1 lies in the span of X: if not, means are not promised and second moments are raw."""

    broken: Mapping[str, int] | None = None
    """Released records that leave each bound or edit; None where there are none to leave."""

    @classmethod
    def of(
        cls, before: Standing, after: Standing, size: Array, design: Design, broken: Mapping[str, int] | None = None
    ) -> Pair:
        same = before.given == after.given
        return cls(
            before.moments, after.moments, size, design.names, design.confidential, same, design.intercept, broken
        )

    @property
    def names(self) -> tuple[str, ...]:
        return self.given + self.confidential

    @cached_property
    def _spread(self) -> Array:
        second = self.original.covariance if self.spans_one else self.original.products / self.original.weight
        return np.sqrt(np.maximum(np.diagonal(second), 0.0))

    @cached_property
    def constant(self) -> NDArray[np.bool_]:
        """Columns that do not vary; the column of ones is one of them."""
        return self._spread <= CONSTANT * self.size

    @cached_property
    def sd(self) -> Array:
        """A constant column is measured by its last digits, so that any change of it shows."""
        sd = np.maximum(np.where(self.constant, CONSTANT * self.size, self._spread), SMALLEST)
        if self.spans_one:
            sd[0] = np.inf  # the column of ones is made, not read
        return sd

    @cached_property
    def lost(self) -> Array:
        """max(1, max|y|/sd); given columns leave bit for bit, so an offset of theirs costs no digits."""
        exact = (np.arange(len(self.sd)) < len(self.given)) & ~self.constant
        return np.where(exact, 1.0, np.maximum(1.0, self.size / self.sd))

    @cached_property
    def mean_errors(self) -> Array:
        with np.errstate(over="ignore"):
            return np.abs(self.released.mean - self.original.mean) / self.sd

    @cached_property
    def product_errors(self) -> Array:
        """Scaled differences of covariances, or of raw products where 1 is not in the span of X."""
        if self.spans_one:
            gap = self.released.covariance - self.original.covariance
        else:
            gap = self.released.products / self.released.weight - self.original.products / self.original.weight
        with np.errstate(over="ignore"):
            return np.abs(gap) / np.outer(self.sd, self.sd)

    def block(self, rows: slice, columns: slice) -> tuple[Array, Array, list[str]]:
        """Errors, lost digits and names of one block of the products."""
        errors = self.product_errors[rows, columns]
        lost = np.maximum(self.lost[rows, None], self.lost[None, columns])
        names = [f"{a}, {b}" for a in self.names[rows] for b in self.names[columns]]
        return errors, lost, names


class Statistic(ABC):
    """Something that can be recomputed from two files and compared."""

    name: str

    @abstractmethod
    def claim(self, pair: Pair) -> Claim:
        """How exactly the released rows have it."""
