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


def test_any_two_bits_of_two_cells_of_a_record_do_not_cancel() -> None:
    x, y = np.random.default_rng(2).normal(size=(2, 1))
    known, powers = counted(x, y), np.uint64(1) << np.arange(64, dtype=np.uint64)
    for one in powers:
        for two in powers:
            assert (
                counted(*((column.view(np.uint64) ^ bit).view(np.float64) for column, bit in ((x, one), (y, two))))
                != known
            )


@pytest.mark.parametrize("step", [1.0, 2.0, 3.0, 1024.0, 2.0**32])
def test_whole_numbers_moved_from_one_cell_to_another_are_seen(step: float) -> None:
    x, y = np.floor(np.random.default_rng(3).uniform(0, 2.0**40, size=(2, 300)))
    known = counted(x, y)
    for row in range(300):
        less, more = x.copy(), y.copy()
        less[row], more[row] = less[row] - step, more[row] + step
        assert counted(less, more) != known
    assert counted(y, x) != known
    assert counted(-x, -y) != known


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
