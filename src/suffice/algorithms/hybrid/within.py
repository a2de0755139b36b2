"""What columns span within each of many groups, with no column for each group ever made."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.algorithms.hybrid.bases import extended, removed, tolerance
from suffice.algorithms.hybrid.stacks import Labels, Stack, stacks


@dataclass(frozen=True, repr=False)
class Within:
    """Columns crossed with groups, as one small orthonormal basis for each group."""

    stacks: tuple[Stack, ...]
    bases: tuple[Array, ...]
    ranks: NDArray[np.int64]
    """The number of independent columns in each group."""

    def removed(self, A: Array) -> Array:
        """A less its fit within the groups; a long matrix like any other."""
        out = np.empty_like(A)
        for stack, Q in zip(self.stacks, self.bases, strict=True):
            stack.put(removed(Q, stack.take(A)), out)
        return out


def within(labels: Labels, X: Array, tol: Array) -> Within:
    """The columns X crossed with groups; tol has a line for each group."""
    found = [(stack, *_basis(stack.take(X), tol[stack.groups])) for stack in stacks(labels)]
    return _collected(found, len(tol))


def pieces_within(labels: Labels, X: Array, s: Array | None) -> Within:
    """The constant and X crossed with pieces, rows scaled by s (modification e)."""
    found = []
    for stack in stacks(labels):
        V = stack.take(X)
        C, one = centred(stack, V, s)
        Q, adds = extended(one, C, tolerance(C, scaled(stack, V, s)))
        found.append((stack, Q, np.hstack([np.ones((len(Q), 1), dtype=bool), adds])))
    return _collected(found, int(labels.max(initial=-1)) + 1)


def _basis(V: Array, tol: Array) -> tuple[Array, Flags]:
    return extended(np.empty((len(V), 0, V.shape[2])), V, tol)


def _collected(found: list[tuple[Stack, Array, Flags]], groups: int) -> Within:
    ranks = np.zeros(groups, dtype=np.int64)
    for stack, _, adds in found:
        ranks[stack.groups] = adds.sum(axis=1)
    return Within(tuple(f[0] for f in found), tuple(f[1] for f in found), ranks)


def scaled(stack: Stack, V: Array, s: Array | None) -> Array:
    """The columns V of the groups of a stack, each row times s."""
    return V if s is None else V * s[stack.rows][:, None, :]


def centred(stack: Stack, V: Array, s: Array | None) -> tuple[Array, Array]:
    """Columns less their mean in each group, rows then scaled by s; and the unit vector along the scaled constant.

    With weights s^2 the means are the weighted ones.
    """
    share = np.full(stack.rows.shape, 1.0 / stack.rows.shape[1]) if s is None else _shares(s[stack.rows])
    return scaled(stack, V - V @ share[:, :, None], s), np.sqrt(share)[:, None, :]


def _shares(s: Array) -> Array:
    return np.asarray(s**2 / (s**2).sum(axis=1, keepdims=True))


def all_centred(labels: Labels, A: Array, s: Array | None) -> Array:
    """The long matrix A, centred in each group and scaled."""
    out = np.empty_like(A)
    for stack in stacks(labels):
        stack.put(centred(stack, stack.take(A), s)[0], out)
    return out
