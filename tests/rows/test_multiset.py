"""Rows as a multiset: any change of a record is seen, whatever else of it changes."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.rows.multiset import Multiset
from suffice.rows.rows import Block


def counted(*columns: np.ndarray) -> Multiset:
    return Multiset.of(
        Block(0, {f"x{j}": column for j, column in enumerate(columns)}), [f"x{j}" for j in range(len(columns))]
    )


@pytest.mark.parametrize("steps", [1, 2, 3, 128, 256])
def test_steps_of_two_columns_of_a_record_do_not_cancel(steps: int) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 50))
    known = counted(x, y)
    for row in range(50):
        for sign in (-1, 1):
            bits = [column.copy() for column in (x, y)]
            bits[0].view(np.uint64)[row] += np.uint64(steps)
            bits[1].view(np.int64)[row] += sign * steps
            assert counted(*bits) != known


def test_last_bytes_of_two_columns_altered_at_random_are_seen() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 20))
    known = counted(x, y)
    for _ in range(3000):
        a, b = x.copy(), y.copy()
        a.view(np.uint64)[3] ^= np.uint64(rng.integers(1, 256))
        b.view(np.uint64)[3] ^= np.uint64(rng.integers(0, 256))
        assert counted(a, b) != known


def test_order_and_the_sign_of_what_is_missing_do_not_matter() -> None:
    x = np.array([1.0, np.nan, 3.0, 1.0])
    assert counted(x) == counted(np.array([3.0, 1.0, 1.0, -np.nan]))
    assert counted(x) != counted(np.array([3.0, 1.0, 3.0, np.nan]))
