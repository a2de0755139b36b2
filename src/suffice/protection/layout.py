"""What a method that needs all rows wants of them beside X and Y: columns of terms, and labels of groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algebra.isometry import Basis
from suffice.design.category import Category
from suffice.design.design import Design
from suffice.design.groups import codes_of, learnt
from suffice.design.limits import Limits
from suffice.design.profile import Matrices, Profile, centre_of, companion_columns
from suffice.method.records import Records
from suffice.method.recordwise import Recordwise
from suffice.protection.fold import NONE, refined
from suffice.protection.solution import Regression
from suffice.rows.rows import Block, Rows


@dataclass(frozen=True)
class Extras:
    """Columns of a record beyond those that every method has."""

    designs: Mapping[str, Design]
    groupings: Mapping[str, tuple[Category, ...]]

    @classmethod
    def of(cls, method: Recordwise, rows: Rows, design: Design) -> Extras:
        alone = replace(design.roles, groups=(), small_groups="stop", smallest_group=None)
        roles = replace(alone, labels=(), keep=(), identifiers=(), edits=())
        designs = {
            name: Design.learn(rows, replace(roles, given=formula), absorb=False)
            for name, formula in method.matrices(design.roles).items()
        }
        groupings = {name: tuple(learnt(rows, columns)) for name, columns in method.groupings().items()}
        return cls(designs, groupings)

    @property
    def width(self) -> int:
        return sum(design.m for design in self.designs.values()) + len(self.groupings)

    def records(self, block: Block) -> Array:
        """A row for each record: the columns of every design, then one number for each grouping."""
        parts = [design.given(block) for design in self.designs.values()]
        parts += [codes_of(block, categories)[:, None].astype(np.float64) for categories in self.groupings.values()]
        return np.hstack(parts) if parts else np.empty((len(block), 0))

    def matrices(self, records: Array) -> dict[str, Array]:
        return dict(self._split(records))

    def _split(self, records: Array) -> Iterator[tuple[str, Array]]:
        first = 0
        for name, design in self.designs.items():
            yield name, np.ascontiguousarray(records[:, first : first + design.m])
            first += design.m

    def labels(self, records: Array) -> dict[str, NDArray[np.int64]]:
        first = sum(design.m for design in self.designs.values())
        return {name: records[:, first + i].astype(np.int64) for i, name in enumerate(self.groupings)}


@dataclass(frozen=True, repr=False)
class Layout:
    """One record as a row of numbers: its place, X, original Y, Y where it is now, weight, cell, right-hand sides."""

    regression: Regression
    limits: Limits | None
    started: bool
    """Whether the walk starts from other rows than the original."""
    wanted: Extras

    @classmethod
    def of(
        cls, rows: Rows, design: Design, profile: Profile, limits: Limits | None, started: bool, wanted: Extras
    ) -> Layout:
        matrices, spread = Matrices(design, False), profile.spread
        basis = Basis.choose(profile.sample, spread, centre_of(design, spread))
        isometry, original = refined(rows, matrices, basis, NONE, spread, times=1)
        return cls(Regression(matrices, profile, isometry, original), limits, started, wanted)

    @property
    def design(self) -> Design:
        return self.regression.design

    @cached_property
    def given(self) -> list[int]:
        """Independent columns of X."""
        return [j for j in self.regression.isometry.pivots if j < self.design.m]

    @property
    def names(self) -> tuple[str, ...]:
        """Of a record's numbers, the place first."""
        return ("place", *(f"number {j}" for j in range(1, self.width)))

    @property
    def edits(self) -> int:
        return 0 if self.limits is None else len(self.limits.C) + len(self.limits.equalities)

    @property
    def width(self) -> int:
        return 3 + len(self.given) + 2 * self.design.k + self.edits + self.wanted.width

    @property
    def now(self) -> slice:
        """Where a record's Y is."""
        first = 1 + len(self.given) + self.design.k
        return slice(first, first + self.design.k)

    def records(self, block: Block) -> Array:
        r, k = len(self.given), self.design.k
        out = np.empty((len(block), self.width))
        A = self.design.matrix(block)
        out[:, 0] = np.arange(block.start, block.start + len(block))
        out[:, 1 + r : 1 + r + k] = A[:, self.design.m :]
        out[:, self.now] = companion_columns(block, self.design) if self.started else A[:, self.design.m :]
        basis = self.regression.isometry.basis
        A -= basis.centre
        basis.divide(A)
        out[:, 1 : 1 + r] = A[:, self.given]
        w = self.design.weights(block)
        out[:, self.now.stop] = 1.0 if w is None else w / self.regression.mean_weight
        out[:, self.now.stop + 1] = self.design.cells(block)
        if self.limits is not None:
            edits = slice(self.now.stop + 2, self.now.stop + 2 + self.edits)
            out[:, edits] = np.hstack([self.limits.rhs_of(block), self.limits.equal_to(block)])
        out[:, self.width - self.wanted.width :] = self.wanted.records(block)
        return out

    def task(self, records: Array) -> Records:
        r, k, last = len(self.given), self.design.k, self.now.stop
        limits = self.limits
        if limits is not None:
            rhs, b = np.split(records[:, last + 2 : last + 2 + self.edits], [len(limits.C)], axis=1)
            limits = replace(limits, rhs=np.ascontiguousarray(rhs), b=np.ascontiguousarray(b))
        return Records(
            np.ascontiguousarray(records[:, 1 : 1 + r]),
            np.ascontiguousarray(records[:, self.now]),
            np.ascontiguousarray(records[:, 1 + r : 1 + r + k]),
            None if self.design.roles.weight is None else np.ascontiguousarray(records[:, last]),
            limits,
            records[:, last + 1].astype(np.int64) if self.design.categories else None,
            self.design.confidential,
            prod(category.size for category in list(self.design.categories.values())[1:]),
            self.wanted.matrices(records[:, self.width - self.wanted.width :]),
            self.wanted.labels(records[:, self.width - self.wanted.width :]),
            self.started,
        )
