"""Tables of cells: what a loop finds, however blocks are cut."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from suffice.risk.cells import CellTable


@given(seed=st.integers(0, 2**31), n=st.integers(1, 60), cut=st.integers(1, 59))
def test_it_is_what_a_loop_finds(seed: int, n: int, cut: int) -> None:
    rng = np.random.default_rng(seed)
    code, V = rng.integers(0, 5, n), rng.integers(0, 6, (n, 2)).astype(float)
    at_end = V == 5
    whole = CellTable.of(code, 5, V, at_end)
    for cell in range(5):
        own = np.sort(np.vstack([np.zeros((2, 2)), V[code == cell]]), axis=0)
        assert whole.records[cell] == (code == cell).sum()
        assert np.array_equal(whole.first[cell], own[-1])
        assert np.array_equal(whole.second[cell], own[-2])
        assert np.array_equal(whole.total[cell], own.sum(axis=0))
        assert np.array_equal(whole.known[cell], (V[code == cell] == 5).all(axis=0) & (code == cell).any())
    if cut < n:
        both = CellTable.of(code[:cut], 5, V[:cut], at_end[:cut]) + CellTable.of(code[cut:], 5, V[cut:], at_end[cut:])
        for name in ("records", "total", "first", "second", "ends"):
            assert np.array_equal(getattr(both, name), getattr(whole, name))


def test_the_rule_on_totals_at_its_threshold() -> None:
    code = np.zeros(3, dtype=np.intp)
    for third, dominated in [(10.0, False), (9.999, True)]:
        table = CellTable.of(code, 1, np.array([[100.0], [80.0], [third]]), np.zeros((3, 1), dtype=bool))
        assert table.dominated.item() == dominated
