"""What stays the same during a walk: the given columns, the weights and the limits."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.design.limits import CLOSE
from suffice.method.records import Records


@dataclass(frozen=True, repr=False)
class Constraints:
    """The fixed side of a walk, laid out for the kernels.

    X: sqrt(w) times the given columns: what a turn of scaled records must be orthogonal to.
    root: sqrt(w), with 1 for records of weight 0 (they turn among themselves).
    centred: 1 is in the span of the given columns, so that a turn does not change what a group has in common.
    low, high: bounds per confidential column.
    C, rhs: edits C y_i <= rhs_i.
    plain: the given columns are the intercept alone, and there are no weights.
    """

    X: Array
    root: Array
    centred: bool
    low: Array
    high: Array
    C: Array
    rhs: Array
    plain: bool

    @classmethod
    def of(cls, task: Records) -> Constraints:
        n, k = task.Y.shape
        root = np.ones(n) if task.w is None else np.sqrt(np.where(task.w > 0, task.w, 1.0))
        limits = task.limits
        low, high = (np.full(k, -np.inf), np.full(k, np.inf)) if limits is None else (limits.low, limits.high)
        C, rhs = (np.empty((0, k)), np.empty((n, 0))) if limits is None else (limits.C, limits.rhs)
        centred = constant_in_span(task.X)
        return cls(
            np.ascontiguousarray(root[:, None] * task.X),
            root,
            centred,
            np.ascontiguousarray(low, dtype=np.float64),
            np.ascontiguousarray(high, dtype=np.float64),
            np.ascontiguousarray(C, dtype=np.float64),
            np.ascontiguousarray(rhs, dtype=np.float64),
            task.X.shape[1] == 1 and centred and task.w is None,
        )

    def between(self, y: Array, column: int, cuts: Array) -> Constraints:
        """The same, and every record stays between the cuts of a column that it is between."""
        ends, place = np.concatenate([[-np.inf], cuts, [np.inf]]), np.searchsorted(cuts, y, side="right")
        C = np.zeros((2, len(self.low)))
        C[:, column] = 1.0, -1.0
        rhs = np.column_stack([self.rhs, ends[place + 1], -ends[place]])
        return replace(self, C=np.vstack([self.C, C]), rhs=rhs)

    def feasible(self, Y: Array) -> Flags:
        """For each record: whether all its limits hold."""
        return np.asarray(self.violations(Y) == 0)

    def violations(self, Y: Array) -> NDArray[np.int64]:
        """For each record: cells beyond a bound, and edits that do not hold."""
        cells = (np.less(Y, self.low) | np.greater(Y, self.high)).sum(axis=1)
        return np.asarray(cells + self._over(Y).sum(axis=1))

    def _over(self, Y: Array) -> Flags:
        terms = _combined(np.abs(self.C), np.abs(Y)) + np.abs(self.rhs)
        return np.greater(_combined(self.C, Y), self.rhs + CLOSE * terms)


def _combined(C: Array, Y: Array) -> Array:
    """C y of every record, column after column: the same bits on every machine."""
    total = np.zeros((len(Y), len(C)))
    for j in range(Y.shape[1] if len(C) else 0):
        total += Y[:, j, None] * C[:, j]
    return total


def constant_in_span(X: Array) -> bool:
    """Whether some combination of the given columns is the same for every record.

    >>> constant_in_span(np.eye(2)), constant_in_span(np.array([[1.0], [2.0]]))
    (True, False)
    """
    ones = np.ones(len(X))
    fitted = X @ np.linalg.lstsq(X.T @ X, X.T @ ones, rcond=None)[0]
    return bool(np.abs(fitted - ones).max(initial=0.0) < 1e-9)
