"""Tables of cells: what a loop finds, however blocks are cut; sets whose totals follow from others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.risk.cell_table import CellTable, left_over, told_alone
from suffice.risk.cells import Largest
from suffice.rows.multiset import number_words


def cells(code: Any, V: Any, at_end: Any) -> dict[int, tuple[Any, ...]]:
    strata = number_words(code % 2)
    return found(CellTable.of(strata, code, V, at_end))


def found(table: CellTable) -> dict[int, tuple[Any, ...]]:
    parts = zip(table.codes, table.records, table.total, table.first, table.second, table.ends, strict=True)
    return {int(code): (int(records), *(x.tolist() for x in rest)) for code, records, *rest in parts}


@given(seed=st.integers(0, 2**31), n=st.integers(1, 60), cut=st.integers(1, 59))
def test_it_is_what_a_loop_finds(seed: int, n: int, cut: int) -> None:
    rng = np.random.default_rng(seed)
    code, V = rng.integers(0, 5, n), rng.integers(0, 6, (n, 2)).astype(float)
    at_end = V == 5
    whole = cells(code, V, at_end)
    assert {*whole} == {*code.tolist()}
    for cell, (records, total, first, second, ends) in whole.items():
        own = np.sort(np.vstack([np.zeros((2, 2)), V[code == cell]]), axis=0)
        assert (records, first, second) == ((code == cell).sum(), own[-1].tolist(), own[-2].tolist())
        assert (total, ends) == (own.sum(axis=0).tolist(), at_end[code == cell].sum(axis=0).tolist())
    strata = number_words(code % 2)
    table = CellTable.of(strata, code, V, at_end)
    if cut < n:
        parts = [CellTable.of(strata[i], code[i], V[i], at_end[i]) for i in (slice(cut), slice(cut, n))]
        assert found(CellTable.together(parts)) == whole
    if (code % 2).any():
        odd = table.united(np.where(table.codes % 2, 0, -1))
        assert odd.records.tolist() == [(code % 2).sum()]
        assert np.array_equal(odd.total[0], V[code % 2 == 1].sum(axis=0))


def test_the_rule_on_totals_at_its_threshold() -> None:
    code = np.zeros(3, dtype=np.int64)
    for third, dominated in [(10.0, False), (9.999, True)]:
        table = CellTable.of(None, code, np.array([[100.0], [80.0], [third]]), np.zeros((3, 1), dtype=bool))
        assert table.dominated.item() == dominated


def test_what_is_left_of_a_cell() -> None:
    """Two districts lie in region 0, and a part of the third; region 1 has the rest of that and another."""
    region, district = np.array([0, 0, 0, 1, 1]), np.array([0, 1, 2, 2, 3])
    assert left_over(region, district).tolist() == [-1, -1, 0, 1, -1]
    assert left_over(district, region).tolist() == [-1] * 5
    crossed = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    assert left_over(*crossed).tolist() == [-1] * 4


@pytest.mark.parametrize("seed", range(20))
def test_atoms_that_follow_are_those_that_equations_give(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = np.unique(rng.integers(0, 4, (8, 2)), axis=0)
    labels = [pairs[:, 0], pairs[:, 1]]
    A = np.hstack([(each[:, None] == np.unique(each)).astype(float) for each in labels])
    fits = [np.allclose(A @ np.linalg.lstsq(A, e)[0], e) for e in np.eye(len(pairs))]
    assert told_alone(labels, np.zeros(len(pairs), dtype=np.int64), 100).tolist() == fits


@pytest.mark.parametrize(
    ("giants", "told"), [((10, 9, 8), True), ((10, 8, 6), False), ((10, 5, 3), True), ((3, 2.8, 2.6), False)]
)
def test_three_giants(giants: tuple[float, ...], told: bool) -> None:
    """The others have 1 each."""
    y = np.array([*giants, *np.full(20, 1.0)])[:, None] ** 2
    whole = Largest.of(y[:5]) + Largest.of(y[5:])
    assert whole.three.item() == told
    assert whole.top[:, 0].tolist() == sorted(y[:3, 0], reverse=True)
