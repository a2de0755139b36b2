"""What a partition costs, and the scale on which it is counted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array


def standardised(Y: Array) -> Array:
    """Columns with mean 0 and population standard deviation 1.

        z = (y - mean) / sd

    **Promises**: neither an offset nor a unit of measure changes z beyond rounding. A column whose sd is below
    4 eps max|y| is constant and becomes zero.

    Y: one row a record

    >>> standardised(np.array([[1e9, 7.0], [1e9 + 2.0, 7.0]])).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    Y = np.asarray(Y, dtype=np.float64)
    largest = np.abs(Y).max(axis=0, initial=0.0)
    Y = np.ldexp(Y, -np.frexp(largest)[1])  # exact, and nothing overflows
    E = Y - Y.mean(axis=0)
    E -= E.mean(axis=0)
    sd = np.sqrt(np.mean(E**2, axis=0))
    constant = sd <= 4 * np.finfo(float).eps * np.abs(Y).max(axis=0, initial=0.0)
    return np.where(constant, 0.0, E / np.where(constant, 1.0, sd))


def information_loss(V: Array, labels: NDArray[np.int64]) -> float:
    """The share of the variation that is inside groups, in percent.

        100 SSE / SST,  SSE = sum |v - mean of its group|^2,  SST = sum |v - mean|^2

    **Promises**: between 0 (every group holds equal records) and 100 (one group); 0 where nothing varies.

    V: one row a record
    labels: the group of each record, 0, 1, ...

    Domingo-Ferrer & Mateo-Sanz (2002), IEEE TKDE 14, 189-201.

    >>> round(information_loss(np.array([[1.0], [3.0], [7.0], [9.0]]), np.array([0, 0, 1, 1])), 6)
    10.0
    """
    V = np.asarray(V, dtype=np.float64)
    E = V - V.mean(axis=0)
    sst = float(np.sum((E - E.mean(axis=0)) ** 2))
    return 100.0 * sse(E, labels) / sst if sst > 0.0 else 0.0


def sse(V: Array, labels: NDArray[np.int64]) -> float:
    """The sum of squares inside groups."""
    sizes = np.bincount(labels)
    means = np.stack([np.bincount(labels, v) for v in V.T], axis=1) / np.maximum(sizes, 1)[:, None]
    return float(np.sum((V - means[labels]) ** 2))
