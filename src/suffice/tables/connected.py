"""Cells that hang together: an equation between them has both."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from suffice.algebra.array import Array, Flags

STILL = 1e-7
"""Of a random change: a cell that it moves by no more is not moved."""
SEVERAL = 2
"""Unknown cells that an equation has in a block, at least."""
DENSE = 400
"""Cells that hang together, up to which one decomposition is faster than iteration."""


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


def untold(relations: sparse.csr_array, unknown: Flags, moved: Flags | None = None) -> Flags:
    """Unknown cells without those that follow from the others by the equations.

    First those that are alone in an equation, one after the other; then those that no change which keeps all equations
    moves: a random one moves all others. moved: cells that are known to be moved by one.
    """
    left = _without_lone(relations, unknown)
    open_ = left if moved is None else left & ~moved
    if not open_.any():
        return left
    random = np.random.default_rng(1)
    for rows, cells in parts_of(relations, left):
        if open_[cells].any():
            change = _kept(sparse.csr_array(relations[rows][:, cells]), random.standard_normal(len(cells)))
            left[cells[np.abs(change) <= STILL]] = False
    return left


def blocks(relations: sparse.csr_array, unknown: Flags) -> NDArray[np.int64]:
    """The block of every unknown cell: changes that keep all equations are changes of blocks, each by itself.

    So what an equation has in one block is told, too, however many equations tell it together. Cells are in one block
    where the projection to these changes mixes them. Of more than DENSE cells that hang together it is not looked for.
    """
    label = np.zeros(len(unknown), dtype=np.int64)
    rows = sparse.csr_array((np.ones(len(relations.data)), relations.indices, relations.indptr), shape=relations.shape)
    several = np.asarray(rows @ unknown.astype(np.float64)) >= 2 * SEVERAL
    for here, cells in parts_of(relations, unknown) if several.any() else ():
        if len(cells) <= DENSE and several[here].any():
            basis = _basis(sparse.csr_array(relations[here][:, cells]))
            mixed = np.abs(np.eye(len(cells)) - basis @ basis.T) > STILL
            label[cells] = connected_components(mixed, directed=False)[1]
    return label


def _without_lone(relations: sparse.csr_array, unknown: Flags) -> Flags:
    whole = np.ones(len(relations.data))
    rows = sparse.csr_array((whole, relations.indices, relations.indptr), shape=relations.shape)
    left = np.asarray(unknown).copy()
    while True:
        lone = (rows @ left.astype(np.float64)) == 1
        told = left & ((rows.T @ lone.astype(np.float64)) > 0)
        if not told.any():
            return left
        left &= ~told


def _kept(rows: sparse.csr_array, change: Array) -> Array:
    """What of a change keeps the equations: its projection."""
    from scipy.sparse.linalg import lsmr

    if rows.shape[1] <= DENSE:
        basis = _basis(rows)
        for _ in range(2):
            change = change - basis @ (basis.T @ change)
        return np.asarray(change)
    for _ in range(3):  # of what is left, once more
        change = change - lsmr(rows.T, change, atol=1e-15, btol=1e-15, conlim=0, maxiter=5000)[0] @ rows
    return np.asarray(change)


def _basis(rows: sparse.csr_array) -> Array:
    """Of what the equations tell of the cells, orthonormal."""
    from scipy import linalg

    basis, upper, _ = linalg.qr(rows.toarray().T, mode="economic", pivoting=True)
    return np.asarray(basis[:, np.abs(np.diag(upper)) > 1e-9])
