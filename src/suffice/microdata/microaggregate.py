"""Microaggregation: like records in groups of k, and what a group has in common in place of its records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algorithms.partition.aggregates import fits, means, medians
from suffice.algorithms.partition.best import best
from suffice.algorithms.partition.loss import information_loss, standardised
from suffice.algorithms.partition.mdav import mdav
from suffice.algorithms.partition.ranking import optimal, ranking
from suffice.design.roles import Roles
from suffice.errors import UsageError, count_of
from suffice.method.masked import Masked
from suffice.method.parameter import Choice, Count, parameter
from suffice.method.records import Records
from suffice.method.recordwise import Recordwise
from suffice.progress import Progress
from suffice.seed import Stream

Labels = NDArray[np.int64]
Partition = Literal["mdav", "best", "univariate", "individual"]
PARTITIONS = ("mdav", "best", "univariate", "individual")


@dataclass(frozen=True)
class Microaggregate(Recordwise):
    """Groups of k or more like records, each released with its group's mean, median or fitted values.

    Y*_i = mean of y over the group of record i;  by="fitted": X_i B_g, B_g the regression of the group

    **Promises** means; with fitted values also the regressions on the given columns; with medians nothing. Every group
    has k records or more; which records are alike is told by z-scores of the confidential columns.

    k: the least number of records in a group.
    partition: mdav as in the literature; best, of variable size and improved by moves; univariate, along the first
        principal component; individual, every column by itself.
    by: what the records of a group are released with.

    Domingo-Ferrer & Mateo-Sanz (2002); Domingo-Ferrer & Torra (2005); fitted values: Langsrud (2019), section 6.

    >>> from suffice.seed import Seed
    >>> Y = np.random.default_rng(1).normal(size=(30, 2))
    >>> Ystar = Microaggregate(k=3).mask(Records(np.ones((30, 1)), Y, Y), Seed.for_tests(1).derive("doctest")).Ystar
    >>> np.allclose(Ystar.mean(axis=0), Y.mean(axis=0)), int(np.unique(Ystar, axis=0, return_counts=True)[1].min())
    (True, 3)
    """

    keeps: ClassVar[tuple[str, ...]] = ("mean",)
    by_parts: ClassVar = False
    shared: ClassVar = True
    references: ClassVar = (
        "Domingo-Ferrer & Mateo-Sanz (2002)",
        "Domingo-Ferrer & Torra (2005)",
        "Langsrud (2019), section 6 (fitted values)",
    )

    k: int = parameter(Count(low=2), "the least number of records in a group", 3)
    partition: Partition = parameter(Choice(PARTITIONS), "how like records are found", "mdav")
    by: Literal["mean", "median", "fitted"] = parameter(
        Choice(("mean", "median", "fitted")), "what the records of a group are released with", "mean"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "shared", self.by != "fitted")

    @property
    def kept(self) -> tuple[str, ...]:
        return {"mean": ("mean",), "median": (), "fitted": ("mean", "fit")}[self.by]

    def given(self, roles: Roles) -> Roles:
        """Fitted values without given terms are means, which are judged as such."""
        if self.by == "fitted" and not roles.terms.terms:
            raise UsageError(
                "microaggregate: fitted values need given terms; without any they are means: use by='mean'."
            )
        return roles

    def mask(self, records: Records, stream: Stream, progress: Progress | None = None) -> Masked:
        """The aggregated records, and how much they lost."""
        labels = self.labels(records.Y, progress)
        Ystar = np.array(records.Y)
        for j, label in enumerate(labels.T) if labels.ndim == 2 else [(slice(None), labels)]:
            Ystar[:, j] = self._aggregated(records, label, j)
        return Masked(Ystar, (_lost(records.Y, labels),))

    def labels(self, Y: Array, progress: Progress | None = None) -> Labels:
        """The group of each record; a column of them for each column of Y where these are grouped by themselves."""
        V = standardised(Y)
        if self.partition == "individual":
            return np.column_stack([ranking(column, self.k) for column in V.T])
        if self.partition == "univariate":
            return optimal(V @ np.linalg.svd(V.T @ V)[0][:, 0], self.k)
        return (best if self.partition == "best" else mdav)(V, self.k, progress=progress)

    def _aggregated(self, records: Records, labels: Labels, columns: slice | int) -> Array:
        Y = records.Y[:, columns] if isinstance(columns, slice) else records.Y[:, [columns]]
        if self.by == "median":
            made = medians(labels, Y)
        else:
            made = means(labels, Y, records.w) if self.by == "mean" else fits(labels, records.X, Y, records.w)
        return made if isinstance(columns, slice) else made[:, 0]

    @classmethod
    def examples(cls) -> tuple[Microaggregate, ...]:
        return (
            cls(),
            cls(k=5, partition="best"),
            cls(k=4, partition="univariate", by="median"),
            cls(k=3, partition="individual"),
            cls(k=8, by="fitted"),
        )


def _lost(Y: Array, labels: Labels) -> str:
    V = standardised(Y)
    groups = labels.reshape(len(labels), -1)
    sizes = np.concatenate([np.bincount(column) for column in groups.T])
    each = [(V, groups[:, 0])] if groups.shape[1] == 1 else [(V[:, [j]], g) for j, g in enumerate(groups.T)]
    share = float(np.mean([information_loss(values, g) for values, g in each]))
    said = f"{count_of(len(sizes), 'group')} of {sizes.min()} to {sizes.max()} records"
    return f"{said}; information loss 100 SSE/SST = {share:.4f}"
