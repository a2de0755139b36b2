"""Bounds and linear edits that hold in every record of the original, and must hold in every one released."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from suffice.algebra.array import Array, Flags
from suffice.design.bounds import by_column, observed, whole
from suffice.design.design import Design
from suffice.design.edits import Edit
from suffice.design.inspection import Troubles
from suffice.errors import InputError, UsageError, escaped
from suffice.rows.arrow import as_float
from suffice.rows.rows import Block, Kind, Product, Rows
from suffice.rows.sightings import Sightings

CLOSE = 16 * float(np.finfo(np.float64).eps)
"""An edit holds up to this share of the size of its terms: what adding them up may cost."""
DRIFT = 1e-12
"""A released equality holds up to this share of the largest terms of the original: records that were turned
together share their rounding."""


@dataclass(frozen=True, repr=False)
class Limits:
    """What no record may leave: low <= y_i <= high and C y_i <= rhs_i; and A y_i = b_i, which no rotation can leave.

    **Promises** that bounds are judged without tolerance, edits up to the rounding of their terms.

    low, high: of each confidential column, infinite where there is none
    C: coefficients of the edits; those written >= are negated
    rhs: a row for each record, since edits may name given columns; no rows until `beside` fills them
    names: of the edits, then of the columns with bounds
    edits: those of C, as they were written
    equalities: edits with ==, verified and not constrained
    b: their right-hand side, as rhs
    scale: the size of their terms in the largest record of the original; 0 while that is not known

    >>> limits = Limits(np.array([0.0]), np.array([np.inf]), np.empty((0, 1)), np.empty((2, 0)), ("bounds of y",))
    >>> limits.violations(np.array([[0.0], [-1e-18]]))
    {'bounds of y': 1}
    """

    low: Array
    high: Array
    C: Array
    rhs: Array
    names: tuple[str, ...]
    edits: tuple[Edit, ...] = ()
    equalities: tuple[Edit, ...] = ()
    confidential: tuple[str, ...] = ()
    b: Array = field(default_factory=lambda: np.empty((0, 0)))
    scale: Array | float = 0.0
    pinned: tuple[str, ...] = ()
    """Columns of the original that stand at one of two bounds in every record: their mean and variance allow no other
    value, since (y - low) (high - y) is never negative and has the mean 0."""
    holes: tuple[float, ...] = ()
    """The number of a missing cell in each column, where missing cells are coded."""

    @classmethod
    def learn(cls, rows: Rows, design: Design) -> Limits | None:
        """The limits that the roles ask for, or None; refuses an original that leaves them, with counts."""
        roles = design.roles
        if not (roles.bounds or roles.edits or roles.integer):
            return None
        if rows.coding is not None and (gone := [name for name in roles.integer if name in rows.coding.holes]):
            raise InputError(
                f"Cells of {gone[0]!r} are missing, and it is to hold whole numbers (integer).\n"
                "Leave it out there: what is drawn has the digits of the original, whole numbers where all are."
            )
        _check_equalities(design, rows.kinds)
        limits = cls.of(design.confidential, *_ends(rows, design), roles.conditions)
        if rows.coding is not None:
            limits = replace(limits, holes=tuple(rows.coding.holes.get(name, np.nan) for name in design.confidential))

        def of(block: Block) -> Product:
            with np.errstate(all="ignore"):  # what is missing or infinite is found elsewhere, with its place
                Y, b = _confidential(block, design.confidential), limits.equal_to(block)
                sizes, free = limits._sizes(Y, b), np.not_equal(Y, limits.low) & np.not_equal(Y, limits.high)
                largest = (_Largest(np.fmax.reduce(each, axis=0)) for each in (sizes, (free & ~np.isnan(Y)) * 1.0))
                return Product(limits._look(block, roles.integer), *largest)

        troubles, largest, free = rows.fold(of, design.columns, "checking limits")
        if troubles.seen:
            raise _left(troubles.seen)
        still = np.isfinite(limits.low) & np.isfinite(limits.high) & (free.values == 0) & (limits.low < limits.high)
        pinned = tuple(name for name, stands in zip(design.confidential, still, strict=True) if stands)
        return replace(limits, scale=largest.values, pinned=pinned) if limits.names or limits.equalities else None

    @classmethod
    def of(cls, confidential: Sequence[str], low: Array, high: Array, conditions: Sequence[Edit]) -> Limits:
        """Limits without their right-hand sides."""
        edits = tuple(edit for edit in conditions if not edit.equality)
        equalities = tuple(edit for edit in conditions if edit.equality)
        C = np.array([edit.of(confidential) for edit in edits]).reshape(len(edits), len(confidential))
        bounded = np.isfinite(low) | np.isfinite(high)
        columns = [name for name, is_bounded in zip(confidential, bounded, strict=True) if is_bounded]
        names = (*(edit.name for edit in edits), *(f"bounds of {name}" for name in columns))
        return cls(low, high, C, np.empty((0, len(edits))), names, edits, equalities, tuple(confidential))

    def part(self, confidential: Sequence[str]) -> Limits | None:
        """The limits on some of the columns: an edit that names another one cannot be asked of them."""
        if tuple(confidential) == self.confidential:
            return self
        at, gone = [self.confidential.index(name) for name in confidential], {*self.confidential} - {*confidential}
        edits = [edit for edit in (*self.edits, *self.equalities) if not gone & {*edit.columns}]
        found = Limits.of(confidential, self.low[at], self.high[at], edits)
        scale = np.broadcast_to(self.scale, len(self.equalities))
        kept = [size for size, edit in zip(scale, self.equalities, strict=True) if edit in edits]
        holes = tuple(self.holes[place] for place in at) if self.holes else ()
        return replace(found, scale=np.array(kept), holes=holes) if found.names or found.equalities else None

    @property
    def A(self) -> Array:
        """Coefficients of the equalities."""
        found = [edit.of(self.confidential) for edit in self.equalities]
        return np.array(found).reshape(len(found), len(self.low))

    def beside(self, rows: Rows, design: Design) -> Limits:
        """The same limits with the right-hand side of every record, for rows that fit in memory."""

        def of(run: Sequence[Block]) -> Array:
            return np.vstack([np.hstack([self.rhs_of(block), self.equal_to(block)]) for block in run])

        both = np.vstack(list(rows.map(of, design.columns, "limits")))
        return replace(self, rhs=both[:, : len(self.edits)], b=both[:, len(self.edits) :])

    def rhs_of(self, block: Block) -> Array:
        """The right-hand side of the edits, a row for each record of a block, less sharp by its own rounding."""
        return self._right(self.edits, block) + self._rounding(self.edits, block)

    def equal_to(self, block: Block) -> Array:
        """The right-hand side b of the equalities, a row for each record of a block."""
        return self._right(self.equalities, block)

    def _right(self, edits: Sequence[Edit], block: Block) -> Array:
        out = np.empty((len(block), len(edits)))
        for column, edit in zip(out.T, edits, strict=True):
            column[:] = float(edit.constant)
            for c, x in self._given(edit, block):
                column -= c * x
        return out

    def _rounding(self, edits: Sequence[Edit], block: Block) -> Array:
        """What adding up the given columns may cost: 0 where an edit names none."""
        out = np.zeros((len(block), len(edits)))
        for column, edit in zip(out.T, edits, strict=True):
            for c, x in self._given(edit, block):
                column += CLOSE * np.abs(c * x)
        return out

    def _given(self, edit: Edit, block: Block) -> Iterator[tuple[float, Array]]:
        for name, c in edit.coefficients:
            if name not in self.confidential:
                yield float(c), as_float(block.columns[name])

    def broken(self, Y: Array, rhs: Array | None = None) -> Flags:
        """For each record and each of `names` whether it is left."""
        rhs = self.rhs if rhs is None else rhs
        over = Y @ self.C.T - rhs > CLOSE * (np.abs(Y) @ np.abs(self.C.T) + np.abs(rhs))
        bounded = np.isfinite(self.low) | np.isfinite(self.high)
        out = np.less(Y, self.low) | np.greater(Y, self.high)
        return np.hstack([over, out[:, bounded]])

    def violations(self, Y: Array, rhs: Array | None = None, hole: Flags | None = None) -> dict[str, int]:
        """How many records leave each limit; one with a missing cell leaves none that names it."""
        broken = self.broken(Y, rhs)
        if hole is None and self.holes:
            hole = self._hole(Y)
        if hole is not None:
            bounded = np.isfinite(self.low) | np.isfinite(self.high)
            broken &= ~np.hstack([hole.astype(np.float64) @ np.abs(self.C.T) > 0, hole[:, bounded]])
        return dict(zip(self.names, broken.sum(axis=0).tolist(), strict=True))

    def gaps(self, Y: Array, b: Array) -> Array:
        """|A y_i - b_i| of each equality."""
        return np.abs(Y @ self.A.T - b)

    def _sizes(self, Y: Array, b: Array) -> Array:
        return np.abs(Y) @ np.abs(self.A.T) + np.abs(b)

    def unequal(self, Y: Array, b: Array, rounding: Array | float = 0.0) -> Flags:
        """For each record and each equality whether it fails by more than rounding; `rounding`: that of b."""
        allowed = np.maximum(CLOSE * self._sizes(Y, b) + rounding, DRIFT * np.asarray(self.scale))
        return np.greater(self.gaps(Y, b), allowed)

    def left(self, block: Block) -> Counter[str]:
        """How many records leave each limit, an equality among them."""
        return Counter({name: int(flags.sum()) for name, flags in self._flags(block).items() if flags.any()})

    def _flags(self, block: Block) -> dict[str, Flags]:
        """For each limit and each equality the records of a block that leave it; a missing cell leaves none."""
        Y, b = _confidential(block, self.confidential), self.equal_to(block)
        hole = self._hole(Y)
        Y = np.where(hole, 0.0, Y)
        unequal = self.unequal(Y, b, self._rounding(self.equalities, block))
        names = (*self.names, *(edit.name for edit in self.equalities))
        seen = np.hstack([self.broken(Y, self.rhs_of(block)), unequal])
        if hole.any():
            bounded = np.isfinite(self.low) | np.isfinite(self.high)
            over, equal = (hole.astype(np.float64) @ np.abs(each.T) > 0 for each in (self.C, self.A))
            seen &= ~np.hstack([over, hole[:, bounded], equal])
        return dict(zip(names, seen.T, strict=True))

    def _hole(self, Y: Array) -> Flags:
        """Which cells are missing."""
        return np.isnan(Y) | np.equal(Y, self.holes) if self.holes else np.isnan(Y)

    def _look(self, block: Block, integer: Sequence[str]) -> Troubles:
        seen = {(name, "does not hold"): flags for name, flags in self._flags(block).items()}
        for name in integer:
            y = as_float(block.columns[name])
            seen[name, "is not a whole number"] = np.isfinite(y) & (y != np.rint(y))
        return Troubles({key: Sightings.of(flags, block.start) for key, flags in seen.items() if flags.any()})

    def __repr__(self) -> str:
        return f"Limits({', '.join([*self.names, *(edit.name for edit in self.equalities)])})"


@dataclass(frozen=True, repr=False)
class _Largest:
    """The largest value of each column: a fold."""

    values: Array

    def __add__(self, other: _Largest) -> _Largest:
        return _Largest(np.fmax(self.values, other.values))


def _confidential(block: Block, names: Sequence[str]) -> Array:
    return np.column_stack([as_float(block.columns[name]) for name in names])


def _ends(rows: Rows, design: Design) -> tuple[Array, Array]:
    """low and high of each column; whole numbers keep to the whole numbers between them."""
    names, roles = design.confidential, design.roles
    low, high = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    if observed(roles.bounds):
        lowest = rows.fold(
            lambda b: _Largest(-np.fmin.reduce(_confidential(b, names), axis=0)), names, "looking at signs"
        )
        low = np.where(lowest.values <= 0, 0.0, -np.inf)
    for name, written in by_column(roles.bounds).items():
        j = names.index(name)
        span = whole(written) if name in roles.integer else written
        low[j] = -np.inf if span[0] is None else span[0]
        high[j] = np.inf if span[1] is None else span[1]
    return low, high


def _check_equalities(design: Design, kinds: Mapping[str, Kind]) -> None:
    """An equality is kept by every rotation where its right-hand side lies in the span of X, else by none."""
    mistakes = [line for edit in design.roles.conditions if edit.equality for line in _outside(edit, design, kinds)]
    if mistakes:
        raise UsageError("\n".join(mistakes))


def _outside(edit: Edit, design: Design, kinds: Mapping[str, Kind]) -> Iterator[str]:
    terms = [term[0] for term in design.roles.terms.terms if len(term) == 1]
    plain = {factor.column for factor in terms if factor.transform is None and kinds[factor.column] != "category"}
    for name in edit.columns:
        if name not in plain and name not in design.confidential:
            yield f"Equality {edit.name!r} names {name!r}, which is no term of its own in `given`. Add it there."
    if edit.constant and not design.intercept:
        yield f"Equality {edit.name!r} has a constant and there is no intercept. Put the intercept back, or drop it."


def _left(found: Mapping[tuple[str, str], Sightings]) -> InputError:
    lines = [f"  {escaped(name)} {what} in {sightings}." for (name, what), sightings in found.items()]
    return InputError(
        "\n".join(["The original leaves its own limits:", *lines, "Correct these records, or drop the limit."])
    )
