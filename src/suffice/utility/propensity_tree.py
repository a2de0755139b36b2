"""Propensity scores by a tree: what no polynomial tells of released and original records (Snoke et al. 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from suffice.algebra.array import Array, Flags
from suffice.measure.measure import Measure, Value
from suffice.measure.pair import FilePair
from suffice.utility.discrimination import SPECKS, Discrimination
from suffice.utility.two_files import Codes, TwoFiles

WORTH = 1e-3
"""A split must lower the misclassified records by this share of those at the root, for every split that it brings."""
LEAST, SPLIT, DEEPEST = 5, 15, 30
"""Records of a leaf; of a node that is split; nodes above one another."""
DISTINCT, BINS = 1024, 256
"""A number of more distinct values is cut into so many groups, about equally large."""
PERMUTATIONS = 20


@dataclass(frozen=True, repr=False)
class TreePropensity:
    """A tree's scores, and the pMSE of trees grown to files dealt anew at random.

    null: half of the pMSE of each permutation, since permuted files are two samples and a synthesis is drawn from one
    """

    told: Discrimination
    leaves: int
    null: tuple[float, ...] = ()

    @property
    def pmse(self) -> float:
        return self.told.pmse

    @property
    def expected(self) -> float:
        return float(np.mean(self.null)) if self.null else float("nan")

    @property
    def sd(self) -> float:
        return float(np.std(self.null, ddof=1)) if len(self.null) > 1 else float("nan")

    @property
    def ratio(self) -> float:
        """pMSE over what is expected of a release from the law of the original; NaN where no tree tells anything."""
        return self.pmse / self.expected if self.expected else float("nan")


def tree_propensity(files: TwoFiles, permutations: int = PERMUTATIONS) -> TreePropensity:
    """pMSE of a classification tree (Gini, pruned by its cost), and its null by permutation, always the same ones.

    >>> files = TwoFiles.of({"x": np.arange(40.0)}, {"x": np.arange(100.0, 140.0)})
    >>> told = tree_propensity(files, 5)
    >>> told.leaves, told.pmse
    (2, 0.25)
    """
    grower = _Grower.of(files)
    scores, leaves = grower.scores(files.released)
    rng = np.random.default_rng(0)
    deals = (rng.permutation(files.released) for _ in range(permutations))
    null = tuple(Discrimination.of(grower.scores(deal)[0], deal).pmse / 2 for deal in deals)
    return TreePropensity(Discrimination.of(scores, files.released), leaves, null)


@dataclass(frozen=True, repr=False)
class _Node:
    """Records of a node, and the two below it if it is split; `complexity` is what pruning it would cost a split."""

    rows: Codes
    complexity: float
    below: tuple[_Node, _Node] | None = None
    splits: int = 0
    risk: float = 0.0
    """Misclassified records of its leaves, and `splits` above them, branches aside that would be cut before it."""

    def leaves(self) -> Sequence[_Node]:
        return [self] if self.below is None else [leaf for node in self.below for leaf in node.leaves()]


@dataclass(frozen=True, repr=False)
class _Grower:
    """Columns as places among their values, side by side: of each place its column, and whether it is of numbers."""

    places: Codes
    column: Codes
    ordered: Flags

    @classmethod
    def of(cls, files: TwoFiles) -> _Grower:
        columns = [
            np.asarray((files.codes if n in files.codes else files.numbers)[n], dtype=np.float64) for n in files.names
        ]
        ordered = [name not in files.codes for name in files.names]
        holes = [np.isnan(files.numbers[name]) for name in files.names if name in files.numbers]
        columns = [np.where(np.isnan(each), 0.0, each) for each in columns]
        for hole in holes:
            if hole.any():
                columns.append(hole.astype(np.float64))
                ordered.append(False)
        coded = [_places(column, order) for column, order in zip(columns, ordered, strict=True)]
        sizes = [int(each.max(initial=0)) + 1 for each in coded]
        column = np.repeat(np.arange(len(sizes)), sizes)
        return cls(np.column_stack(coded) + np.cumsum([0, *sizes[:-1]]), column, np.array(ordered)[column])

    def scores(self, released: Array) -> tuple[Array, int]:
        """The share of released records in every record's leaf, and the number of leaves."""
        wrong = float(min(released.sum(), len(released) - released.sum()))
        root = self._grown(np.arange(len(released)), released, WORTH * wrong, np.inf, 0)
        score, leaves = np.empty(len(released)), root.leaves()
        for leaf in leaves:
            score[leaf.rows] = released[leaf.rows].mean()
        return score, len(leaves)

    def _grown(self, rows: Codes, released: Array, alpha: float, allowed: float, depth: int) -> _Node:
        """Breiman et al. (1984): a branch stays if it lowers the misclassified by more than alpha a split."""
        ones = released[rows].sum()
        risk = float(min(ones, len(rows) - ones))
        leaf = _Node(rows, alpha, risk=risk)
        worth = min(risk, allowed)
        if len(rows) < SPLIT or worth <= alpha or depth > DEEPEST:
            return leaf
        goes_left = self._split(rows, released[rows])
        if goes_left is None:
            return leaf
        left = self._grown(rows[goes_left], released, alpha, worth - alpha, depth + 1)
        alone = _misclassified(left, released)
        bound = min(max((risk - left.risk) / (left.splits + 1), risk - alone), allowed)
        right = self._grown(rows[~goes_left], released, alpha, bound - alpha, depth + 1)
        parts = _parts(risk, [(each, _misclassified(each, released)) for each in (left, right)])
        if (complexity := _gain(risk, parts)) <= alpha:
            return leaf
        wrong, splits = map(sum, zip(*parts, strict=True))
        return _Node(rows, complexity, (left, right), int(splits) + 1, float(wrong))

    def _split(self, rows: Codes, released: Array) -> Flags | None:
        """Which records go left, where the Gini index is lowest; levels of a category in the order of their shares.

        All columns are cut at once: every value that is there is a cut, below which lie those before it in its column.
        """
        places, n, total = self.places[rows], float(len(rows)), float(released.sum())
        flat, width = places.ravel(), places.shape[1]
        counts = np.bincount(flat, minlength=len(self.column))
        here = np.flatnonzero(counts)
        count = counts[here].astype(np.float64)
        ones = np.bincount(flat, np.repeat(released, width), len(self.column))[here]
        order = np.lexsort((np.where(self.ordered[here], here, -ones / count), self.column[here]))
        here, column = here[order], self.column[here]
        left, left_ones = np.cumsum(count[order]) - n * column, np.cumsum(ones[order]) - total * column
        right, right_ones = n - left, total - left_ones
        with np.errstate(all="ignore"):
            impurity = left_ones * (left - left_ones) / left + right_ones * (right - right_ones) / right
        impurity[(left < LEAST) | (right < LEAST)] = np.inf
        at = int(np.argmin(impurity))
        if not impurity[at] < total * (n - total) / n * (1 - 1e-10):
            return None
        below = np.zeros(len(self.column), dtype=bool)
        below[here[: at + 1][column[: at + 1] == column[at]]] = True
        return np.asarray(below[places[:, column[at]]])


def _misclassified(node: _Node, released: Array) -> float:
    ones = released[node.rows].sum()
    return float(min(ones, len(node.rows) - ones))


def _parts(risk: float, below: Sequence[tuple[_Node, float]]) -> list[tuple[float, int]]:
    """Misclassified records and splits of both branches, where one that brings less than the node is cut first."""
    parts = [(node.risk, node.splits) for node, _ in below]
    for k in sorted(range(2), key=lambda k: (below[k][0].complexity, -k)):
        if _gain(risk, parts) <= below[k][0].complexity:
            break
        parts[k] = (below[k][1], 0)
    return parts


def _gain(risk: float, parts: Sequence[tuple[float, int]]) -> float:
    return (risk - sum(wrong for wrong, _ in parts)) / (sum(splits for _, splits in parts) + 1)


def _places(column: Array, ordered: bool) -> Codes:
    """Places among the distinct values, or among groups of them where they are many."""
    values, place = np.unique(column, return_inverse=True)
    if ordered and len(values) > DISTINCT:
        cuts = np.unique(np.quantile(column, np.arange(1, BINS) / BINS))
        return np.searchsorted(cuts, column, side="right")
    return place


def _measured(pair: FilePair) -> Value:
    found = tree_propensity(TwoFiles.of_pair(pair))
    parts = {"expected": found.expected, "sd": found.sd, "ratio": found.ratio, "leaves": float(found.leaves)}
    return Value(found.pmse, {**parts, "specks": found.told.specks})


MEASURES = (
    Measure(
        "propensity-tree",
        _measured,
        frozenset({"numbers or categories"}),
        (0.0, 0.25),
        "lower is better",
        "mean of (p - c)^2 over both files, p the share of released records in a leaf of a classification tree, c that "
        f"of all; ratio is over half of the mean of {PERMUTATIONS} trees of records dealt to the files at random; "
        f"{SPECKS}",
        "Breiman et al. (1984); Snoke et al. (2018); synthpop: utility.gen, cart",
        most=10_000,
    ),
)
