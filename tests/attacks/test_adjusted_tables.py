"""Attacks on adjusted tables: whoever adjusts one again learns the directions, and with them the cells."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.linalg import null_space, qr

from suffice.algebra.array import Array
from suffice.errors import GuardError
from suffice.release.tables import publish
from suffice.seed import Seed
from suffice.tables.adjust.adjust import adjust
from suffice.tables.adjust.information import FEW, bits_left
from suffice.tables.adjust.moments import CellSets
from suffice.tables.adjust.opening import OPEN
from suffice.tables.methods.adjust import Adjust, slices
from suffice.tables.sensitivity import Sensitivity
from suffice.tables.table import Table
from tests.tables.test_adjust import ACCEPT, made, some

TABLES = 12


def told(
    sizes: str, signs: str = "best", shape: tuple[int, int] = (4, 5), secret: int = 3
) -> tuple[float, float, float]:
    """Shares of tables whose sensitive cells, all of them, are computed, whose directions are, and of pairs of cells
    of which it is found whether they went the same way: who knows one cell, as its lone contributor does, has all.
    """
    values = directions = pairs = 0.0
    for k in range(TABLES):
        table = made(k, shape)
        levels = some(table, secret=secret, seed=k)
        accept = ACCEPT if sizes == "least" else None
        released = adjust(table, levels, sizes=sizes, signs=signs, accept=accept, seed=Seed.for_tests(k))
        published = replace(table, values={"v": released.cells()}, contributors=None, holding=None)
        how: dict[str, Any] = {"sizes": "least", "signs": signs, "accept": ACCEPT}
        again = adjust(published, levels, **how).changes["v"]
        off = np.abs(released.cells() - again - table.values["v"])[levels.sensitive]
        right = (np.sign(again) * np.sign(released.changes["v"]))[levels.sensitive]
        values += (off < 0.5).all()
        directions += (right > 0).all()
        pairs += 0.5 + (right.sum() ** 2 - secret) / (secret**2 - secret) / 2
    return values / TABLES, directions / TABLES, pairs / TABLES


def test_least_sizes_give_all_cells_of_many_tables_and_drawn_ones_none():
    values, directions, pairs = told("least")
    print(f"least: all cells of {values:.0%} of tables, all directions of {directions:.0%}; chance 12.5 %")
    assert values >= 0.3
    values, directions, pairs = told("drawn")
    print(f"drawn: all cells of {values:.0%} of tables, all directions of {directions:.0%}, {pairs:.0%} of pairs")
    assert values == 0


def test_the_ordering_tells_less_of_pairs_than_the_least_changes():
    """Who knows one cell has half of the others' directions by chance; what costs least tells him more."""
    how: dict[str, Any] = {"shape": (6, 7), "secret": 6}
    least, ordered = told("drawn", **how)[2], told("drawn", "ordering", **how)[2]
    print(f"pairs: {least:.0%} of the least changes, {ordered:.0%} of the ordering; chance 50 %")
    assert least > 0.7 > ordered


def test_the_key_chooses_among_directions_that_cost_the_same(monkeypatch: pytest.MonkeyPatch):
    """Else the solver does, and an attacker's does alike: who knows one cell would have those it has no part in."""
    table = made(3, (3, 4), names=("v", "w"))
    levels = [some(table, "v", secret=1), some(table, "w", secret=1, seed=2)]

    def relations() -> set[float]:
        """Whether both went the same way."""
        how: dict[str, Any] = {"sizes": "least", "accept": ACCEPT}
        found = [adjust(table, levels, seed=Seed.for_tests(key), **how) for key in range(14)]
        return {float(np.prod([np.sign(each.changes[x.value][x.sensitive][0]) for x in levels])) for each in found}

    assert relations() == {-1.0, 1.0}
    monkeypatch.setattr("suffice.tables.adjust.adjust.TILT", 0.0)
    assert len(relations()) == 1


def test_least_sizes_are_stopped():
    table = made()
    with pytest.raises(GuardError, match="least-sizes"):
        adjust(table, some(table), sizes="least")


def fitting(table: Table, published: Array, times: float = 1.0) -> list[Array]:
    """Tables of whole numbers that could be the original of a published one with slope 1: all are tried.

    Changed cells show by their digits. With sums and the mean kept, two of them, u, tell the others: y = B u; and the
    slope is b'y = y'y in the inner cells, the variance 2 b'y = y'y, which a second one solves for every first one.
    """
    inner = np.setdiff1d(np.arange(len(table)), table.totals)
    here = np.flatnonzero(np.abs(published - np.rint(published)) > 1e-7)
    w = np.isin(here, inner).astype(float)
    N = null_space(np.vstack([table.relations[:, here].toarray(), w]))
    assert N.shape[1] == 2
    two = qr(N.T, pivoting=True)[2][:2]
    B = N @ np.linalg.inv(N[two])
    Q, L = B.T @ (w[:, None] * B), times * B.T @ (w * (published[here] - published[inner].mean())) / 2
    u = published[here[two[0]]] - np.arange(2 * published[here[two[0]]])
    b, c = 2 * u * Q[0, 1] - 2 * L[1], Q[0, 0] * u**2 - 2 * L[0] * u
    root = np.sqrt(np.maximum(b**2 - 4 * Q[1, 1] * c, 0))
    found = []
    for v in ((-b + root) / (2 * Q[1, 1]), (-b - root) / (2 * Q[1, 1])):
        X = published[here] - np.column_stack([u, v]) @ B.T
        whole = (np.abs(X - np.rint(X)).max(axis=1) < 1e-7) & (X >= 0).all(axis=1)
        found += [*np.rint(X[whole])]
    return found


def test_exact_slopes_of_whole_numbers_tell_the_table_unless_more_cells_change(monkeypatch: pytest.MonkeyPatch):
    table, levels = made(1, (6, 7)), some(made(1, (6, 7)), secret=1)
    with monkeypatch.context() as without:
        without.setattr("suffice.tables.adjust.opening.SHARES", ())
        for key in range(3):
            released = adjust(table, levels, keep="slope", seed=Seed.for_tests(key))
            (original,) = fitting(table, released.cells())
            assert np.array_equal(original, table.values["v"][released.changes["v"] != 0])
            assert bits_left(table, released.changes, [levels], released.statistics) < -10
        assert levels_of(table, levels, Adjust(keep="slope"))["information"] == "stop"
        assert "information" not in levels_of(table, levels, Adjust(keep="means"))
    for key in range(3):
        opened = adjust(table, levels, keep="slope", seed=Seed.for_tests(key))
        assert (np.abs(opened.changes["v"]) > 0.5).sum() > 30
        assert bits_left(table, opened.changes, [levels], opened.statistics) >= OPEN
    assert "information" not in levels_of(table, levels, Adjust(keep="slope"))


@pytest.mark.parametrize("key", range(2))
def test_an_exact_variance_of_few_whole_numbers_leaves_few_tables_unless_more_cells_change(
    key: int, monkeypatch: pytest.MonkeyPatch
):
    table, levels = made(2, (6, 7)), some(made(2, (6, 7)), secret=1, seed=2)
    opened = adjust(table, levels, keep="moments", seed=Seed.for_tests(key))
    assert bits_left(table, opened.changes, [levels], opened.statistics) >= OPEN
    monkeypatch.setattr("suffice.tables.adjust.opening.SHARES", ())
    released = adjust(table, levels, keep="moments", seed=Seed.for_tests(key))
    published, y = released.cells(), np.abs(released.changes["v"])
    here = np.abs(published - np.rint(published)) > 1e-7
    most, least = np.maximum(y, 1.5 * levels.upper)[here], levels.upper[here] - 1e-6
    away = [(x, np.abs(published[here] - x)) for x in fitting(table, published, 2.0)]
    near = {tuple(x) for x, off in away if (off <= most).all() and (off >= least).all()}
    assert tuple(table.values["v"][here]) in near
    assert len(near) <= 4
    assert bits_left(table, released.changes, [levels], released.statistics) < 0


def test_a_set_whose_few_cells_are_told_is_not_hidden_by_another():
    table = made(4, (4, 8), names=("v",))
    planes = slices(table, "d0", ["0-0", "0-1"])
    y = np.zeros(len(table))
    y[planes["0-0"][:3]] = 5.0, -3.5, -1.5
    rng = np.random.default_rng(1)
    kept = CellSets.of(table, ["v"], planes).promise("moments")
    alone = bits_left(table, {"v": y}, [some(table)], kept)
    y[planes["0-1"]] = rng.uniform(40, 90, len(planes["0-1"]))
    assert alone < 10
    assert bits_left(table, {"v": y}, [some(table)], kept) < 10


@pytest.mark.parametrize(("shape", "seed", "stops"), [((3, 4), 1, True), ((3, 4), 4, False), ((4, 5), 2, False)])
def test_a_request_has_one_verdict_and_not_one_for_each_key(shape: tuple[int, int], seed: int, stops: bool):
    """17.7, 20.1 and 20.5 bits could be left open, 20 must: of the first, changes of single keys leave 5 to 18."""
    table = made(seed, shape)
    levels = some(table, secret=1, seed=seed)
    for key in range(20):
        assert ("information" in levels_of(table, levels, Adjust(keep="slope"), key)) == stops
        if not stops and key < 5:
            found = adjust(table, levels, keep="slope", seed=Seed.for_tests(key))
            assert bits_left(table, found.changes, [levels], found.statistics) >= FEW


def levels_of(table: Table, levels: Sensitivity, method: Adjust, key: int = 1) -> dict[str, str]:
    none = np.zeros(len(table), dtype=bool)
    found = publish(table, none, levels, "v", method=method, seed=Seed.for_tests(key)).findings
    return {finding.rule: finding.level for finding in found}
