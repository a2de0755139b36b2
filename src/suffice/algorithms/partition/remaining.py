"""The records that are left while a partition is made, and the sums that give their centroid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algorithms.jit import loops

Rows = NDArray[np.int64]


def sums(V: Array) -> tuple[Array, Array]:
    """Sums of the columns as pairs of floats, twice the digits: neither the order of rows nor an offset shows."""
    high, low = V, np.zeros(V.shape[1])
    while len(high) > 1:
        half = len(high) // 2
        one, two, odd = high[:half], high[half : 2 * half], high[2 * half :]
        total = one + two
        part = total - one
        low += ((one - (total - part)) + (two - part)).sum(axis=0)  # what rounding took, Knuth's two-sum
        high = np.concatenate([total, odd])
    return high[0].copy(), low


@loops
def subtract(high, low, x) -> None:  # type: ignore[no-untyped-def]
    """high + low -= x, the rounding of each subtraction kept (Knuth's two-sum)."""
    total = high - x
    part = total - high
    low += (high - (total - part)) - (x + part)
    high[:] = total


class RemainingRecords:
    """Records still without a group, columns apart; a record taken leaves its place to the last one."""

    def __init__(self, V: Array, rows: Rows, high: Array, low: Array) -> None:
        self.V, self.rows, self.high, self.low = V, rows.copy(), high, low
        self.columns = np.ascontiguousarray(V[rows].T)
        self.places = np.full(len(V), -1)
        self.places[rows] = np.arange(len(rows))
        self._d, self._t = np.empty(len(rows)), np.empty(len(rows))

    def __len__(self) -> int:
        return len(self.rows)

    def centroid(self) -> Array:
        return (self.high + self.low) / len(self)

    def measure(self, q: Array) -> None:
        """Squared distances from q, the columns added in their order."""
        d, t = self._d[: len(self)], self._t[: len(self)]
        np.square(np.subtract(self.columns[0, : len(self)], q[0], out=d), out=d)
        for j in range(1, len(q)):
            np.square(np.subtract(self.columns[j, : len(self)], q[j], out=t), out=t)
            d += t

    def farthest(self) -> int:
        """The row of the largest distance measured; the lowest of equals."""
        d = self._d[: len(self)]
        return int(self.rows[d == d.max()].min())

    def nearest(self, count: int) -> Rows:
        """The rows of the smallest distances measured, those of equal distance by row."""
        d = self._d[: len(self)]
        reach = np.partition(d, count - 1)[count - 1] if count else -1.0
        inside, edge = self.rows[d < reach], np.sort(self.rows[d == reach])
        return np.concatenate([inside, edge[: count - len(inside)]])

    def take(self, rows: Rows) -> None:
        """Remove records, in this order."""
        for row in rows:
            place, last = self.places[row], self.rows[-1]
            self.columns[:, place], self._d[place] = self.columns[:, len(self) - 1], self._d[len(self) - 1]
            self.rows[place], self.places[last] = last, place
            self.rows = self.rows[:-1]
            subtract(self.high, self.low, self.V[row])
