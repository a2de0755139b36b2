"""What a method that needs all rows wants of them beside X and Y: columns of terms, and labels of groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.decomposition import Array
from suffice.coding import Category
from suffice.design import Design
from suffice.division import codes_of, learnt
from suffice.method import Whole
from suffice.rows import Block, Rows


@dataclass(frozen=True)
class Wanted:
    """Columns of a record beyond those that every method has."""

    designs: Mapping[str, Design]
    groupings: Mapping[str, tuple[Category, ...]]

    @classmethod
    def of(cls, method: Whole, rows: Rows, design: Design) -> Wanted:
        roles = replace(design.roles, groups=(), labels=(), keep=(), identifiers=(), edits=())
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
