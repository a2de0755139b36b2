"""The first pass over rows: the spread of every column, digests, and whether the values can be worked with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from suffice.algebra.array import EPS, Array
from suffice.algebra.isometry import Sample
from suffice.algebra.moments import Spread
from suffice.design.design import Design
from suffice.errors import InputError, escaped
from suffice.rows.derived import COMPANION
from suffice.rows.digest import Digest
from suffice.rows.rows import BLOCK, Block, Product, Rows

HUGE, TINY = 1e150, 1e-140
"""Values that can be squared, and differences that can."""
COARSE = 1e-4
"""A column whose last digit is worth more than this share of its standard deviation cannot be protected."""
SAMPLES = 8
"""Blocks from which the coordinates are chosen."""


@dataclass(frozen=True, repr=False)
class Profile:
    """The first pass: spread of every column, blocks to choose coordinates from, digests."""

    spread: Spread
    sample: Sample
    digest: Digest
    unweighted: int
    heaviness: float
    """Sum of squared weights; 0 without weights."""

    @property
    def effective(self) -> float | None:
        """Kish's effective number of records; None without weights."""
        return self.spread.weight**2 / self.heaviness if self.heaviness else None

    def __add__(self, other: Self) -> Profile:
        return Profile(
            self.spread + other.spread,
            self.sample + other.sample,
            self.digest + other.digest,
            self.unweighted + other.unweighted,
            self.heaviness + other.heaviness,
        )


@dataclass(frozen=True)
class Matrices:
    """The numeric side of a block: W = [X Y G] and the weights, G being a companion's columns."""

    design: Design
    companion: bool

    @property
    def columns(self) -> tuple[str, ...]:
        names = self.design.confidential if self.companion else ()
        return (*self.design.columns, *(COMPANION + name for name in names))

    def matrix(self, block: Block, room: int = 0, centre: Array | None = None) -> Array:
        """W, less a centre if there is one, and columns left free behind it."""
        if not self.companion:
            return self.design.matrix(block, room, centre)
        k, first = self.design.k, self.design.m + self.design.k
        W, companion = self.design.matrix(block, k + room, centre), companion_columns(block, self.design)
        W[:, first : first + k] = companion if centre is None else companion - centre[first:]
        return W

    def profile(self, rows: Rows) -> Profile:
        blocks = -(-rows.n // BLOCK)
        chosen = {int(i) * BLOCK for i in np.linspace(0, blocks - 1, min(SAMPLES, blocks)).round()}

        def of(block: Block) -> Profile:
            with np.errstate(all="ignore"):  # what is not finite is found below, with its place
                W, w = self.matrix(block), self.design.weights(block)
                spread = Spread.of(W, w)
                sane = bool(np.isfinite(spread.squares).all())
                sample = Sample.of(W, w) if block.start in chosen and sane else Sample()
                zero = 0 if w is None else int((w == 0).sum())
                heaviness = 0.0 if w is None else float(w @ w)
                return Profile(spread, sample, Digest.of(block, self.columns), zero, heaviness)

        with np.errstate(all="ignore"):
            found = rows.fold(of, self.columns, "reading")
        self._check(rows, found)
        return found

    def _check(self, rows: Rows, found: Profile) -> None:
        spread = found.spread
        names = (*self.design.names, *self.design.confidential)
        p = len(names)
        if not np.isfinite(spread.low + spread.high).all() or _beyond(rows, self.design, spread):
            self.design.complain(rows)
        if self.design.roles.weight is not None:
            usable = 0 < spread.weight < 1e150
            if not usable or _negative_weights(rows, self.design):
                self.design.complain(rows)
            if not usable:
                raise InputError("The weights add up to 0, or to more than can be squared.\nScale them to a sum of n.")
        if not np.isfinite(spread.squares[:p]).all() or (spread.size[:p] > HUGE).any():
            wide = [name for name, size in zip(names, spread.size, strict=False) if not size < HUGE]
            raise InputError(
                f"Values too large to be squared in {escaped(', '.join(wide))}.\nDivide the column by a power of ten."
            )
        tiny = np.flatnonzero((spread.high[:p] > spread.low[:p]) & (spread.high[:p] - spread.low[:p] < TINY))
        if len(tiny):
            small = escaped(", ".join(names[j] for j in tiny))
            raise InputError(f"Values too small to be squared in {small}.\nMultiply the column by a power of ten.")
        coarse = [
            n
            for n, d in zip(names[-self.design.k :], precision(spread.columns(slice(self.design.m, p))), strict=True)
            if d > COARSE
        ]
        if coarse:
            raise InputError(
                f"Too few digits are left to protect {escaped(', '.join(coarse))}: "
                "its values differ only in their last digits, or in records of weight zero alone.\n"
                "Subtract an offset, drop these records, or drop the column."
            )
        if not np.isfinite(spread.low + spread.high).all():
            raise InputError("The candidate has missing or infinite values in confidential columns.\nFill them first.")


def _beyond(rows: Rows, design: Design, spread: Spread) -> bool:
    return any(
        rows.kinds[name] == "integer" and size > 2.0**53
        for name, size in zip(design.confidential, spread.size[design.m :], strict=False)
    )


def _negative_weights(rows: Rows, design: Design) -> bool:
    def lowest(block: Block) -> Spread:
        w = design.weights(block)
        assert w is not None
        return Spread.of(w[:, None])

    assert design.roles.weight is not None
    found = rows.fold(lowest, (design.roles.weight,), "reading")
    return not found.low[0] >= 0


def companion_columns(block: Block, design: Design) -> Array:
    """The confidential columns of the row-aligned data set beside a block."""
    return np.column_stack([block.columns[COMPANION + name] for name in design.confidential])


def precision(spread: Spread) -> Array:
    """eps max|y| / sd: the share of a standard deviation that the last digit is worth."""
    constant = spread.low == spread.high
    with np.errstate(divide="ignore"):  # values that differ and have no spread left: nothing of them can be protected
        return np.where(constant, 0.0, EPS * spread.size / np.where(constant, 1.0, spread.sd))


def centre_of(design: Design, spread: Spread) -> Array:
    """The means, where 1 lies in the span of X; the column of ones itself stays."""
    return (
        np.where(np.arange(len(spread.mean)) > 0, spread.mean, 0.0) if design.intercept else np.zeros(len(spread.mean))
    )


def profiled(rows: Rows, matrices: Matrices) -> Profile:
    """The first pass over rows that may have holes: the spread of a column is that of the cells it has."""
    if matrices.design.roles.missing != "patterns":
        return matrices.profile(rows)
    design = matrices.design

    def ends(block: Block) -> Product:
        found = Ends.of(matrices.matrix(block), design.weights(block), 0.0)
        return Product(found, Digest.of(block, matrices.columns))

    first, digest = rows.fold(ends, matrices.columns, "reading")
    mean = first.mean
    second = rows.fold(
        lambda block: Ends.of(matrices.matrix(block), design.weights(block), mean), matrices.columns, "reading"
    )
    weight = float(first.total)
    variance = second.squares / np.maximum(second.weight, 1e-300)
    spread = Spread(first.rows, weight, mean, weight * variance, first.low, first.high)
    return Profile(spread, Sample(), digest, first.unweighted, first.heaviness)


@dataclass(frozen=True, repr=False)
class Ends:
    """Weights, sums, squares and ends of the cells that columns have: a fold."""

    rows: int
    unweighted: int
    heaviness: float
    total: float
    weight: Array
    sums: Array
    squares: Array
    low: Array
    high: Array

    @classmethod
    def of(cls, W: Array, w: Array | None, centre: Array | float) -> Ends:
        there, weights = ~np.isnan(W), np.ones(len(W)) if w is None else w
        apart = np.where(there, W - centre, 0.0)
        return cls(
            int((weights > 0).sum()),
            int((weights == 0).sum()),
            0.0 if w is None else float(w @ w),
            float(weights.sum()),
            weights @ there,
            weights @ np.where(there, W, 0.0),
            weights @ apart**2,
            np.where(there, W, np.inf).min(axis=0),
            np.where(there, W, -np.inf).max(axis=0),
        )

    @property
    def mean(self) -> Array:
        return np.clip(self.sums / np.maximum(self.weight, 1e-300), self.low, self.high)

    def __add__(self, other: Self) -> Ends:
        return Ends(
            self.rows + other.rows,
            self.unweighted + other.unweighted,
            self.heaviness + other.heaviness,
            self.total + other.total,
            self.weight + other.weight,
            self.sums + other.sums,
            self.squares + other.squares,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )
