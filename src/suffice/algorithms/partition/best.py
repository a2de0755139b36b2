"""A better partition than MDAV's: groups of any size from k to 2k - 1, improved where they meet."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algorithms.partition.checks import checked
from suffice.algorithms.partition.mdav import mdav
from suffice.algorithms.partition.ranking import optimal
from suffice.algorithms.partition.search import neighbours
from suffice.algorithms.partition.sweep import sweep
from suffice.progress import Progress

Labels = NDArray[np.int64]

SWEEPS = 60
NEAR = 8
"""Groups that are looked at around each."""
DIGITS = 26
"""Binary digits of the widest column that count."""


def best(V: Array, k: int, progress: Progress | None = None) -> Labels:
    """Groups of k to 2k - 1 like records, with less information lost than by MDAV; labels 0, 1, ...

        minimise SSE = sum |v - mean of its group|^2,  k <= size < 2k

    One column is parted optimally (`optimal`). Otherwise MDAV's groups are improved: again and again up to six
    groups that lie near each other are parted anew, by moving records, by exchanging two, and from fresh starts with
    more or fewer groups; the cheapest partition of these records stays.

    **Promises**: never a group under k; the same groups whatever the order of rows, in whatever units, compiled or
    not; never more SSE than `mdav` on the records as they are ordered and rounded here (`canonical`). Not promised:
    the least SSE possible, which is not known for more than one column. Time grows as n log n; without numba it
    takes a hundred times as long.

    V: one row a record, already on the scale on which distances count (`standardised`)
    k: the least number of records in a group
    progress: called with the stage, the sweeps done and the sweeps in all

    >>> from suffice.algorithms.partition.loss import information_loss
    >>> V = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1], [9, 9], [9, 8], [8, 9], [8, 8]])
    >>> best(V, 3).tolist(), information_loss(V, best(V, 3)) < information_loss(V, mdav(V, 3))
    ([0, 0, 0, 0, 1, 1, 1, 1], True)
    """
    V, order = canonical(checked(V, k))
    found = np.empty(len(V), np.int64)
    found[order] = optimal(V[:, 0], k) if V.shape[1] == 1 else _improved(V, k, progress)
    return found if V.shape[1] == 1 else _numbered(found)


def canonical(V: Array) -> tuple[Array, NDArray[np.intp]]:
    """The records in the order of their values, without the last digits, which units and the order of sums decide.

    Equal after rounding are records that differ by less than a ten-millionth of the widest column; these stand in the
    order of what was rounded away.
    """
    width = float(np.ptp(V, axis=0).max(initial=0.0))
    unit = np.ldexp(1.0, int(np.frexp(1.37 * width)[1]) - DIGITS)  # widths that are powers of two are common
    rounded = np.rint(V / unit) * unit if width > 0 else V
    order = np.lexsort([*V.T[::-1], *rounded.T[::-1]])
    return np.ascontiguousarray(rounded[order]), order


def _improved(V: Array, k: int, progress: Progress | None) -> Labels:
    labels, state = mdav(V, k, progress=progress), np.array([k + len(V)])
    for done in range(SWEEPS):
        labels = _sweep(V, k, labels, state)
        if progress:
            progress("improvement", done + 1, SWEEPS)
    return labels


def _sweep(V: Array, k: int, labels: Labels, state: Labels) -> Labels:
    """One sweep over all groups, and labels without gaps in the order of first rows."""
    sizes, most = np.bincount(labels), len(V) // k
    groups, order = len(sizes), np.argsort(labels, kind="stable")
    members = np.zeros((most, 2 * k - 1), np.int64)
    members[np.arange(2 * k - 1) < np.pad(sizes, (0, most - groups))[:, None]] = order
    centroids = np.stack([np.bincount(labels, v) for v in V.T], axis=1) / sizes[:, None]
    spare = np.concatenate([[most - groups], np.arange(groups, most), np.zeros(groups, np.int64)])
    new = labels.copy()
    near = neighbours(centroids, NEAR)
    sweep(V, k, new, members, np.pad(sizes, (0, most - groups)), spare, near, state)
    return _numbered(new)


def _numbered(labels: Labels) -> Labels:
    """The labels 0, 1, ... in the order of first rows."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse.ravel()]
