"""Cells that hang together: an equation between them has both."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from suffice.algebra.array import Flags


def parts_of(relations: sparse.csr_array, unknown: Flags) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Unknown cells that hang together, with the equations between them."""
    cells = np.flatnonzero(unknown)
    matrix = sparse.csr_array(relations[:, cells])
    matrix.eliminate_zeros()
    rows = np.flatnonzero(np.diff(matrix.indptr))
    matrix = sparse.csr_array(matrix[rows])
    pairs = matrix.tocoo()
    size = len(rows) + len(cells)
    graph = sparse.csr_array((np.ones(pairs.nnz), (pairs.row, len(rows) + pairs.col)), shape=(size, size))
    count, label = connected_components(graph, directed=False)
    order = np.argsort(label, kind="stable")
    for here in np.split(order, np.searchsorted(label[order], np.arange(1, count))):
        yield rows[here[here < len(rows)]], cells[here[here >= len(rows)] - len(rows)]


def untold(relations: sparse.csr_array, unknown: Flags) -> Flags:
    """Unknown cells without those that follow, one after the other, from an equation with no other unknown cell."""
    whole = np.ones(len(relations.data))
    rows = sparse.csr_array((whole, relations.indices, relations.indptr), shape=relations.shape)
    left = np.asarray(unknown).copy()
    while True:
        lone = (rows @ left.astype(np.float64)) == 1
        told = left & ((rows.T @ lone.astype(np.float64)) > 0)
        if not told.any():
            return left
        left &= ~told
