"""Trees: a record gets the value of one of those that are alike in the columns before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from suffice.algebra.array import Array
from suffice.algorithms.trees.tree import Tree, in_classes, in_fixed_point
from suffice.method.parameter import Count, Number, Switch, parameter
from suffice.synthesis.model import ModelFit, Places, SynthesisModel
from suffice.synthesis.variable import Board, Variable

NEIGHBOURS = 6
"""Different values of a column, at least, for one to be drawn between others."""


@dataclass(frozen=True)
class Cart(SynthesisModel):
    """A tree of splits that tell something; a value drawn from the records of a leaf, and smoothed where few have it.

    least: records of a leaf, at least; the smaller, the more an attacker learns of members
    gain: a split must lower the sum of squares of its node by so many of its variances (2: Akaike's criterion); with 0
        every tree goes down to its least leaves, whether there is anything to learn or not
    smooth: values of fewer than ten records are drawn between their neighbours, so that none is handed on
    """

    categories: ClassVar = True
    numbers: ClassVar = True
    binned: ClassVar = True

    least: int = parameter(Count(low=1), "records of a leaf, at least", 10)
    smooth: bool = parameter(Switch(), "draw values of fewer than ten records between their neighbours", True)
    gain: float = parameter(Number(0, 1000), "variances of its node that a split must tell", 2.0)

    def fit(self, target: Variable, y: Array, names: Sequence[str], board: Board, counted: Array | None) -> TreeFit:
        ranked = [not board.variables[name].levels for name in names]
        goal, classes = in_classes(y.astype(np.int64)) if target.levels else (in_fixed_point(y), 0)
        bins = board.bins(names)
        tree, leaf = Tree.grown(bins, ranked, goal, self.least, counted, classes, self.gain)
        counts = np.bincount(leaf, minlength=len(tree.column))
        many = counts if counted is None else np.bincount(leaf, counted, len(tree.column))
        small = leaf.astype(np.min_scalar_type(len(tree.column)))  # which sorts in passes
        donors = y[np.argsort(small, kind="stable")]
        smallest = int(many[counts > 0].min(initial=len(y)))
        return TreeFit(tuple(names), tree, donors, np.cumsum(counts) - counts, counts, target, self.smooth, smallest)


@dataclass(frozen=True, repr=False)
class TreeFit(ModelFit):
    """A tree and the values of its leaves, one leaf behind the other."""

    names: tuple[str, ...]
    tree: Tree
    donors: Array
    starts: Places
    counts: Places
    target: Variable
    smooth: bool
    smallest: int
    ends: Array | None = None

    def between(self, ends: Array) -> Self:
        return replace(self, ends=ends)

    def draw(self, board: Board, n: int, draws: np.random.Generator, low: Array, high: Array) -> Array:
        leaf = self.tree.leaves(board.bins(self.names)) if self.names else np.zeros(n, dtype=np.int64)
        first, count = self.starts[leaf], self.counts[leaf]
        smooth = self.smooth and not self.target.levels

        def drawn(rows: Places) -> Array:
            y = self.donors[first[rows] + (draws.random(len(rows)) * count[rows]).astype(np.int64)]
            return smoothed(self.target, y, draws.random(len(rows)), self.ends) if smooth else y

        return self.inside(drawn, low, high)

    @property
    def facts(self) -> Mapping[str, Any]:
        smooth = self.smooth and len(self.target.values) >= NEIGHBOURS
        return {"leaf": self.smallest, "smooth": smooth or bool(self.target.levels)}


def smoothed(target: Variable, y: Array, u: Array, ends: Array | None = None) -> Array:
    """Values of few records, drawn evenly between two of their neighbours on either side; the ends move inside.

    ends: what stands for each neighbour, where draws are so many that the values themselves would show

    >>> column = Variable.learn("y", np.arange(20.0), 0, None)
    >>> float(smoothed(column, np.array([19.0]), np.array([0.5]))[0])
    17.0
    """
    values = target.values
    if len(values) < NEIGHBOURS:
        return y
    place = np.searchsorted(values, y).clip(max=len(values) - 1)
    rare = target.own[place] | (values[place] != y)  # those of other super-blocks are nobody's but theirs
    inner = place.clip(2, len(values) - 3)
    ends = values if ends is None else ends
    low, high = ends[inner - 1], ends[inner + 1]
    new = target.on_grid(low + u * (high - low))
    if target.grid is not None:  # not the value itself again, if the grid has another one between the two
        up = np.where(u < 0.5, -target.grid, target.grid)
        again = new == y
        new = np.where(again, target.on_grid(np.clip(new + up, low, high)), new)
    return np.where(rare, new, y)
