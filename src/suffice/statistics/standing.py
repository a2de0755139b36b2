"""What a certificate compares of two whole files: moments about one centre, and the given records as a multiset."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from suffice.algebra import array
from suffice.algebra.array import CONSTANT, Array
from suffice.algebra.group_moments import GroupMoments
from suffice.algebra.moments import Moments
from suffice.design.design import Design
from suffice.rows.multiset import Multiset
from suffice.rows.rows import Block
from suffice.statistics.statistic import SMALLEST, Claim, Codes
from suffice.statistics.sums import Fold, Look, Reference, Sums


@dataclass(frozen=True)
class Standing:
    """What a certificate compares, as a fold: moments of [X Y] about a centre, and the given records as a multiset.

    Where missing cells stay, which cells of a record are missing is part of what is given.
    """

    moments: Moments
    given: Multiset

    @classmethod
    def of(cls, block: Block, design: Design, W: Array) -> Standing:
        """W: the block's columns, centred already."""
        holes = design.confidential if design.roles.missing == "patterns" else ()
        return cls(Moments.of(W, design.weights(block)), Multiset.of(block, design.fixed, holes))

    def __add__(self, other: Self) -> Standing:
        return Standing(self.moments + other.moments, self.given + other.given)

    def worst(self, compared: Callable[[Pair], Claim], after: Standing, reference: Reference) -> Claim:
        """A claim about the whole file."""
        return compared(Pair.of(self, after, reference))


@dataclass(frozen=True, repr=False)
class Pair:
    """The same moments of the original and of the released rows, about one centre: X first, then Y.

    Of a whole file, or of every group: then the last axis of every array is the groups.
    """

    original: Moments | GroupMoments
    released: Moments | GroupMoments
    size: Array
    """The largest absolute value of each original column."""
    given: tuple[str, ...]
    confidential: tuple[str, ...]
    spans_one: bool
    """Whether 1 lies in the span of X: if not, means are not promised and second moments are raw."""
    made: int = 0
    """Columns of X that are made, not read: the column of ones."""

    @classmethod
    def of(cls, before: Standing, after: Standing, reference: Reference) -> Pair:
        design, one = reference.design, reference.design.intercept
        return cls(before.moments, after.moments, reference.size, design.names, design.confidential, one, int(one))

    @property
    def names(self) -> tuple[str, ...]:
        return self.given + self.confidential

    @property
    def whole(self) -> tuple[Moments, Moments]:
        """The moments of both files, where they are not those of groups."""
        assert isinstance(self.original, Moments)
        assert isinstance(self.released, Moments)
        return self.original, self.released

    def second(self, moments: Moments | GroupMoments, one: Codes, two: Codes) -> Array:
        """Covariances of columns, or raw products where 1 is not in the span of X."""
        raw = moments.second(one, two)
        return raw - moments.mean[one] * moments.mean[two] if self.spans_one else raw

    @cached_property
    def _spread(self) -> Array:
        every = np.arange(len(self.size))
        return np.sqrt(np.maximum(self.second(self.original, every, every), 0.0))

    @cached_property
    def constant(self) -> NDArray[np.bool_]:
        """Columns that do not vary; the column of ones is one of them."""
        return array.constant(self._spread, self.size)

    @cached_property
    def sd(self) -> Array:
        """A constant column is measured by its last digits, so that any change of it shows."""
        sd = np.maximum(np.where(self.constant, CONSTANT * self.size, self._spread), SMALLEST)
        sd[: self.made] = np.inf
        return sd

    @cached_property
    def lost(self) -> Array:
        """max(1, max|y|/sd); given columns leave bit for bit, so an offset of theirs costs no digits."""
        lost, m = np.maximum(1.0, self.size / self.sd), len(self.given)
        lost[:m] = np.where(self.constant[:m], lost[:m], 1.0)
        return lost

    @cached_property
    def mean_errors(self) -> Array:
        with np.errstate(over="ignore"):
            return np.asarray(np.abs(self.released.mean - self.original.mean) / self.sd)

    def products(self, one: Codes, two: Codes) -> tuple[Array, Array, list[str]]:
        """Scaled errors, lost digits and names of products of columns."""
        gap = np.abs(self.second(self.released, one, two) - self.second(self.original, one, two))
        with np.errstate(over="ignore"):
            errors = gap / (self.sd[one] * self.sd[two])
        names = [f"{self.names[i]}, {self.names[j]}" for i, j in zip(one, two, strict=True)]
        return errors, np.maximum(self.lost[one], self.lost[two]), names

    @property
    def within(self) -> tuple[Codes, Codes]:
        """Every two confidential columns."""
        one, two = np.triu_indices(len(self.confidential))
        return one + len(self.given), two + len(self.given)

    @property
    def across(self) -> tuple[Codes, Codes]:
        """Every given and every confidential column."""
        m, k = len(self.given), len(self.confidential)
        return np.repeat(np.arange(m), k), m + np.tile(np.arange(k), m)


def _look(design: Design, centre: Array) -> Look:
    def of(block: Block) -> Standing:
        return Standing.of(block, design, design.matrix(block, centre=centre))

    return (yield Fold.by_block(of, design.columns))


@dataclass(frozen=True)
class WholeFile(Sums):
    """What stands of a file as a whole."""

    def before(self, reference: Reference) -> Look:
        return _look(reference.design, reference.centre)

    def after(self, known: Standing, reference: Reference) -> Look:
        return _look(reference.outgoing, reference.centre)


WHOLE_FILE = WholeFile()
