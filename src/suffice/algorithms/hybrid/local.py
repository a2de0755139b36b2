"""What is done locally, cluster by cluster: items 2 to 6 of Langsrud (2019), section 6."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.algorithms.hybrid.bases import cleared, extended, first, loadings, removed, sizes, tolerance
from suffice.algorithms.hybrid.model import Model, ModelColumns
from suffice.algorithms.hybrid.stacks import ROWS, Labels, Stack, nested, stacks
from suffice.algorithms.hybrid.within import Within, all_centred, centred, pieces_within, scaled
from suffice.progress import Progress

Counts = NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class Long:
    """What has as many rows as the data, for the clusters of one stack."""

    stack: Stack
    Q: Array
    """An orthonormal basis of X_2 in each cluster: a fit on X_2 is Q times a small matrix."""
    T: Array
    """T_s4 of item 6."""
    E4: Array


@dataclass(frozen=True, repr=False)
class ClusterFactors:
    """What is small in each cluster: everything in terms of Q, an isometry."""

    X2: Array
    """Q'X_2, of item 3."""
    Y2: Array
    """Q'Y: the fit Yhat_2ext of item 4."""
    Z2: Array
    W4: Array
    tol: Array
    """Lengths up to which columns of [X_2 Y] are rounding."""
    rank1: Counts
    rank2: Counts
    """Independent columns of X_1 and X_2 in each cluster."""
    new: Counts
    """Columns of T_s4."""
    n: Counts

    @property
    def freedom(self) -> Counts:
        """Dimensions left in each cluster by its own fit on X_A and X_B."""
        return self.n - self.rank1 - self.rank2


@dataclass(frozen=True, repr=False)
class StackBasis:
    """The columns of a stack, centred, and the basis [1 X_A X_2 T_s4] of their span."""

    stack: Stack
    V: Array
    tol: Array
    Q: Array
    adds: Flags
    constant: int
    """How many basis vectors stand before those of X_A."""


def in_clusters(
    Y: Array, Z: Array, crossing: Model, s: Array | None, progress: Progress | None = None
) -> tuple[list[Long], ClusterFactors]:
    """Items 2 to 6 in every cluster, all columns in units of their own size."""
    at, parts = crossing.columns(Y.shape[1]), (crossing.XA, crossing.XB, Z, Y)
    size = np.concatenate([sizes(part) for part in parts])
    W = np.empty((len(Y), len(size)))
    for start in range(0, len(Y), ROWS):  # near the processor: all of them at once take three times as long
        some = slice(start, start + ROWS)
        np.divide(np.hstack([part[some] for part in parts]), size, out=W[some])
    if crossing.pieces is None:
        found = bases(W, at, crossing.clusters, s)
        return _collected(_told(found, progress, len(Y)), at, np.ones(crossing.count, dtype=np.int64))
    within = pieces_within(crossing.pieces, crossing.XP / sizes(crossing.XP), s)
    ranks = np.zeros(crossing.count, dtype=np.int64)
    np.add.at(ranks, nested(crossing.pieces, crossing.clusters), within.ranks)
    found = bases_in_pieces(W, at, crossing.clusters, within, all_centred(crossing.pieces, W, s), s)
    return _collected(_told(found, progress, len(Y)), at, ranks)


def bases(W: Array, at: ModelColumns, clusters: Labels, s: Array | None) -> Iterator[StackBasis]:
    """An orthonormal basis of the constant, X_A, X_2 and the new scores in every cluster."""
    for stack in stacks(clusters):
        columns = stack.take(W)
        V, one = centred(stack, columns, s)
        tol = tolerance(V, scaled(stack, columns, s))
        Q, adds = extended(one, cleared(V, tol)[:, : at.Y.start], tol)
        yield StackBasis(stack, V, tol, Q, adds, 1)


def bases_in_pieces(
    W: Array, at: ModelColumns, clusters: Labels, pieces: Within, apart: Array, s: Array | None
) -> Iterator[StackBasis]:
    """The same where X_A is crossed with pieces too (modification e): these are taken out first, and once more.

    A basis made of the little that the pieces left is orthogonal to them only after the second time.
    """
    rest, again = pieces.removed(apart), np.empty((len(W), at.Y.start))
    once = []
    for stack in stacks(clusters):
        V = stack.take(rest)
        tol = tolerance(stack.take(apart), scaled(stack, stack.take(W), s))
        Q, adds = extended(_nothing(V), cleared(V, tol)[:, : at.Y.start], tol)
        stack.put(Q, again)
        once.append((stack, V, tol, adds))
    again = pieces.removed(again)
    for stack, V, tol, adds in once:
        Q, _ = extended(_nothing(V), stack.take(again), np.zeros(adds.shape))
        yield StackBasis(stack, V, tol, Q, adds, 0)


def _nothing(V: Array) -> Array:
    return np.empty((len(V), 0, V.shape[2]))


def _told(found: Iterable[StackBasis], progress: Progress | None, n: int) -> Iterator[StackBasis]:
    done = 0
    for f in found:
        done += f.stack.rows.size
        if progress is not None:
            progress("clusters", done, n)
        yield f


def _collected(found: Iterable[StackBasis], at: ModelColumns, within: Counts) -> tuple[list[Long], ClusterFactors]:
    """The parts of every cluster; `within` is the rank of the constant or of the pieces in each."""
    b, k = at.B.stop - at.B.start, at.Y.stop - at.Y.start
    small, longs = _room(within, b, k), []
    for f in found:
        g = f.stack.groups
        small.rank1[g] += f.adds[:, at.A].sum(axis=1)
        small.rank2[g], small.new[g] = f.adds[:, at.B].sum(axis=1), f.adds[:, at.Z].sum(axis=1)
        small.n[g] = f.stack.rows.shape[1]
        small.tol[g] = np.hstack([f.tol[:, at.B], f.tol[:, at.Y]])
        Q, T = f.Q[:, f.constant :][:, at.B], f.Q[:, f.constant :][:, at.Z]
        small.X2[g], small.Y2[g], small.Z2[g] = _products(Q, f, at)
        E4 = cleared(removed(f.Q[:, : f.constant + at.B.stop], f.V[:, at.Y]), f.tol[:, at.Y])  # item 5
        small.W4[g] = loadings(E4, f.tol[:, at.Y])  # item 6
        longs.append(Long(f.stack, Q.copy(), first(T, f.adds[:, at.Z]).copy(), E4))
    return longs, small


def _room(within: Counts, b: int, k: int) -> ClusterFactors:
    c, none = len(within), np.zeros_like(within)
    return ClusterFactors(
        X2=np.zeros((c, b, b)),
        Y2=np.zeros((c, b, k)),
        Z2=np.zeros((c, b, k)),
        W4=np.zeros((c, k, k)),
        tol=np.zeros((c, b + k)),
        rank1=within.copy(),
        rank2=none.copy(),
        new=none.copy(),
        n=none.copy(),
    )


def _products(Q: Array, f: StackBasis, at: ModelColumns) -> tuple[Array, Array, Array]:
    """Q'X_2, Q'Y and Q'Ys; a column of X_2 that is rounding only is exactly zero."""
    X2 = cleared(f.V[:, at.B] @ Q.transpose(0, 2, 1), f.tol[:, at.B]).transpose(0, 2, 1)
    return X2, Q @ f.V[:, at.Y].transpose(0, 2, 1), Q @ f.V[:, at.Z].transpose(0, 2, 1)
