"""Maximum distance to average vector: the partition that most of the literature starts from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algorithms.jit import COMPILED
from suffice.algorithms.partition import mdav_tree as pairs
from suffice.algorithms.partition.checks import checked
from suffice.algorithms.partition.remaining import RemainingRecords, sums
from suffice.progress import Progress

Labels = NDArray[np.int64]


def mdav(V: Array, k: int, compiled: bool | None = None, progress: Progress | None = None) -> Labels:
    """Groups of k like records (MDAV, fixed group size); labels 0, 1, ... in the order in which groups are made.

        r = argmax |v - c|,  s = argmax |v - r|:  r and s each with the k - 1 records nearest to it,

    while 3k records or more are left, c being their centroid; then one group around the farthest record if 2k or more
    are left, and the rest together.

    **Promises**: every group has k to 2k - 1 records; equal distances go to the lowest row; the labels do not depend
    on whether the loops are compiled, and but for ties not on the order of the rows.

    V: one row a record, already on the scale on which distances count (`standardised`)
    k: the least number of records in a group
    compiled: whether a tree is searched by compiled loops; by default where numba is installed
    progress: called with the stage, the records done and the records in all

    Domingo-Ferrer & Mateo-Sanz (2002), IEEE TKDE 14, 189-201; Domingo-Ferrer & Torra (2005), Data Mining and
    Knowledge Discovery 11, 195-212, section 4.

    >>> mdav(np.array([[1.0], [9.0], [2.0], [8.0], [1.0], [9.5], [30.0]]), 3)
    array([1, 0, 1, 1, 1, 0, 0])
    """
    V = checked(V, k)
    labels, (high, low) = np.full(len(V), -1), sums(V)
    tree = COMPILED if compiled is None else compiled
    groups = pairs.take(V, k, labels, high, low, progress) if tree else 0
    left = RemainingRecords(V, np.flatnonzero(labels < 0), high, low)
    while len(left) >= 2 * k:
        centres = 2 if len(left) >= 3 * k else 1
        left.measure(left.centroid())
        for _ in range(centres):  # r, farthest from the centroid; s, farthest from r
            labels[_group(left, k)] = groups
            groups += 1
        if progress and groups % 1000 == 0:
            progress("groups", len(V) - len(left), len(V))
    labels[left.rows] = groups
    return labels


def _group(left: RemainingRecords, k: int) -> Labels:
    """Take the farthest record and its k - 1 nearest; the distances from it stay measured."""
    centre = np.array([left.farthest()])
    left.take(centre)
    left.measure(left.V[centre[0]])
    others = left.nearest(k - 1)
    left.take(others)
    return np.concatenate([centre, others])
