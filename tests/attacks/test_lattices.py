"""Lattices against exact slopes of whole numbers: with few changed cells one table fits, and it is the original."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from scipy.linalg import null_space, qr

from suffice.algebra.array import Array
from suffice.seed import Seed
from suffice.tables.adjust.adjust import adjust
from suffice.tables.table import Table
from tests.tables.test_adjust import made, some

NEAR = 1e-8
"""What the last digits leave of the slope's equation."""
EVERY = 20_000
"""Points of the lattice that are looked at, about the nearest one."""


def reduced(basis: Array) -> Array:
    """Lenstra, Lenstra and Lovasz: rows that span the same lattice, short and nearly at right angles."""
    B, k = basis.copy(), 1
    while k < len(B):
        R = np.linalg.qr(B[: k + 1].T)[1]
        for j in range(k - 1, -1, -1):
            times = np.rint(R[j, k] / R[j, j])
            B[k] -= times * B[j]
            R[:, k] -= times * R[:, j]
        if R[k, k] ** 2 < 0.99 * R[k - 1, k - 1] ** 2 - R[k - 1, k] ** 2:
            B[[k, k - 1]] = B[[k - 1, k]]
            k = max(k - 1, 1)
        else:
            k += 1
    return B


def around(n: int) -> Array:
    """Small whole numbers: all of few, up to three ones of many."""
    if 5**n <= EVERY:
        return np.array(list(product(range(-2, 3), repeat=n)))
    places = [at for some_ in range(4) for at in combinations(range(n), some_)]
    found = [(at, signs) for at in places for signs in product((-1, 1), repeat=len(at))]
    lines = np.zeros((len(found), n))
    for line, (at, signs) in zip(lines, found, strict=True):
        line[list(at)] = signs
    return lines


def originals(table: Table, published: Array, level: float) -> tuple[Array, list[Array]]:
    """Changed cells, and whole numbers in their place with all sums, the mean and the slope, small changes first.

    Changed cells show by their digits. Cells u of them tell the others, y = B u with whole numbers in B. Slope 1 is
    (x - y)'y = 0; with a = x - y whole, a'x is whole, so that the sum of a times the decimals of x is: a line of a
    lattice in what u is beyond its decimals. `level` is about how large changes are.
    """
    inner = np.setdiff1d(np.arange(len(table)), table.totals)
    here = np.flatnonzero(np.abs(published - np.rint(published)) > 1e-7)
    w = np.isin(here, inner).astype(float)
    N = null_space(np.vstack([table.relations[:, here].toarray(), w]))
    n = N.shape[1]
    free = qr(N.T, pivoting=True)[2][:n]
    B = np.rint(N @ np.linalg.inv(N[free]))
    x, whole = published[here], np.rint(published[here])
    decimals = x - whole
    carried = np.rint(decimals - B @ decimals[free])
    lattice = np.zeros((n + 1, n + 1))
    lattice[:n, :n], lattice[:n, n] = np.eye(n) / level, B.T @ (w * decimals) / NEAR
    lattice[n, n] = 1 / NEAR
    short = reduced(lattice)
    wanted = np.append(-decimals[free] / level, (w * decimals) @ (whole + carried) % 1 / NEAR)
    points = (around(n + 1) + np.rint(np.linalg.solve(short.T, wanted))) @ short
    y = (decimals[free] + np.rint(points[:, :n] * level)) @ B.T
    fits = (np.abs(((x - y) * y) @ w) < 1e-4) & (x - y >= -0.5).all(axis=1)
    order = np.argsort(np.abs(y[fits]).max(axis=1))
    return here, [*np.rint(x - y)[fits][order]]


@pytest.mark.parametrize(("shape", "secret"), [((3, 4), 2), ((4, 5), 3), ((6, 7), 2)])
def test_exact_slopes_give_several_sensitive_cells_unless_more_cells_change(
    shape: tuple[int, int], secret: int, monkeypatch: pytest.MonkeyPatch
):
    alone = 0
    for number in range(2):
        table = made(number, shape)
        levels = some(table, secret=secret, seed=number)
        level = float(levels.upper[levels.sensitive].mean())
        opened = adjust(table, levels, keep="slope", seed=Seed.for_tests(number))
        here, found = originals(table, opened.cells(), level)
        print(f"{shape}: {len(here)} cells changed, {len(found)} tables fit, and none is the original")
        assert len(here) > np.prod(shape)
        assert not any(np.array_equal(each, table.values["v"][here]) for each in found)
        with monkeypatch.context() as without:
            without.setattr("suffice.tables.adjust.opening.SHARES", ())
            bare = adjust(table, levels, keep="slope", seed=Seed.for_tests(number))
        here, found = originals(table, bare.cells(), level)
        alone += len(found) == 1 and np.array_equal(found[0], table.values["v"][here])
    assert alone == 2
