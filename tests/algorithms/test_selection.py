"""Records chosen so that tables are the original's, and numbers moved until second moments are."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.algorithms.second_moments import in_moments
from suffice.algorithms.selection import selected, table_rows
from suffice.errors import InfeasibleError

SIZES = (2, 3, 4, 3)


def records(n: int, seed: int) -> np.ndarray:
    """Categories that hang together."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(2, size=n), rng.integers(3, size=n)
    c, d = (a + b + rng.integers(2, size=n)) % 4, (b + (rng.random(n) < 0.4)) % 3
    stray = rng.random(n) < 0.5
    c, d = np.where(stray, rng.integers(4, size=n), c), np.where(stray, rng.integers(3, size=n), d)
    return np.column_stack([a, b, c, d])


def tables(codes: np.ndarray, order: int = 2) -> np.ndarray:
    return np.bincount(table_rows(codes, SIZES, order).ravel(), minlength=200)


def dummies(codes: np.ndarray) -> np.ndarray:
    return np.column_stack(
        [np.ones(len(codes)), *(codes[:, j] == level for j, size in enumerate(SIZES) for level in range(1, size))]
    ).astype(float)


@pytest.mark.parametrize("order", [1, 2])
def test_tables_are_equal_to_the_last_count(order: int):
    original, pool = records(300, 1), records(1200, 2)
    found = selected(pool, original, order, np.random.default_rng(3))
    assert len(np.unique(found)) == 300
    assert np.array_equal(tables(pool[found], order), tables(original, order))
    assert not np.array_equal(tables(pool[:300], order), tables(original, order))


def test_what_was_chosen_is_mostly_chosen_by_chance():
    """Few are exchanged: the chosen are not those of one corner of the pool, and another key chooses others."""
    original, pool = records(300, 1), records(1200, 2)
    one, two = (selected(pool, original, 2, np.random.default_rng(seed)) for seed in (4, 5))
    assert 50 < len(np.intersect1d(one, two)) < 150  # by chance 75
    again = selected(pool, original, 2, np.random.default_rng(4))
    assert np.array_equal(one, again)
    three_way = [np.bincount(table_rows(each, SIZES, 3).ravel(), minlength=200) for each in (pool[one], original)]
    assert not np.array_equal(*three_way)


def test_a_cell_that_was_never_drawn_is_a_sentence():
    original, pool = records(300, 1), records(1200, 2)
    pool = pool[(pool[:, 2] != 3) | (pool[:, 3] != 2)]
    with pytest.raises(InfeasibleError, match="Join levels"):
        selected(pool, original, 2, np.random.default_rng(3))


@pytest.mark.parametrize("n", [4000, 12000])
def test_thousands_of_patterns_are_exchanged_one_by_one(n: int, monkeypatch: pytest.MonkeyPatch):
    """Four unrelated categories of 8 levels: one node of an integer programme may take minutes."""
    monkeypatch.setattr("scipy.optimize.milp", None)
    rng = np.random.default_rng(1)
    original, pool = rng.integers(8, size=(n, 4)), rng.integers(8, size=(3 * n, 4))
    found, again = (selected(pool, original, 2, np.random.default_rng(3)) for _ in range(2))
    cells = [np.bincount(table_rows(each, (8,) * 4, 2).ravel()) for each in (pool[found], original)]
    assert np.array_equal(*cells)
    assert len(np.unique(found)) == n
    assert np.array_equal(found, again)
    assert len(np.intersect1d(found, selected(pool, original, 2, np.random.default_rng(4)))) < 0.4 * n  # by chance 1/3


@pytest.mark.parametrize("levels", [2, 8])
def test_no_choice_is_a_sentence_with_few_patterns_and_with_many(levels: int):
    """Every cell has enough, but of three columns that are zero together in the original one never is in the pool."""
    rng = np.random.default_rng(1)
    original, pool = rng.integers(1, 3, size=(3000, 3)), rng.integers(1, 3, size=(12000, 3))
    original[:50] = 0
    pool[:3000] = 0
    pool[np.arange(3000), np.arange(3000) % 3] = 1
    one, more = (np.hstack([each, rng.integers(levels, size=(len(each), 4))]) for each in (original, pool))
    assert (len(np.unique(more, axis=0)) > 2500) == (levels == 8)
    with pytest.raises(InfeasibleError, match="no choice was found"):
        selected(more, one, 2, np.random.default_rng(3))


def numbers(codes: np.ndarray, seed: int) -> np.ndarray:
    """Skewed, with heaps at tens and a spike at zero."""
    rng = np.random.default_rng(seed)
    y = rng.gamma(2.0, 20 + 5 * codes[:, 2])
    y = np.where(rng.random(len(y)) < 0.5, np.round(y, -1), y)
    y[rng.random(len(y)) < 0.1] = 0.0
    return np.column_stack([y, 30 + 0.1 * y + rng.normal(size=len(y))])


def test_the_whole_gram_matrix_is_the_original_s_in_few_cells():
    original, pool = records(300, 1), records(1500, 2)
    chosen = pool[selected(pool, original, 2, np.random.default_rng(3))]
    D0, D, Y0, Y = dummies(original), dummies(chosen), numbers(original, 6), numbers(chosen, 7)
    assert np.array_equal(D.T @ D, D0.T @ D0)
    free = np.column_stack([Y[:, 0] > 0, np.ones(300, dtype=bool)])
    low, high = np.array([0.0, -np.inf]), np.full(2, np.inf)
    made = in_moments(D, Y, D0, Y0, free, low, high, np.random.default_rng(8))
    scale = Y0.std(axis=0)
    G0, G = (np.column_stack([d, (y - Y0.mean(axis=0)) / scale]) for d, y in ((D0, Y0), (D, made)))
    assert np.abs(G.T @ G - G0.T @ G0).max() < 1e-12 * 300
    assert np.array_equal(made[:, 0] == 0, Y[:, 0] == 0)  # the spike stays, and only it
    assert made[:, 0].min() >= 0
    assert ((made != Y).mean(axis=0) <= 0.4).all()  # of 300 records; the second hangs on the first
    heaps = (Y[:, 0] % 10 == 0) & (Y[:, 0] > 0)
    assert (made[heaps, 0] == Y[heaps, 0]).mean() > 0.7
    for j in range(2):  # every regression of one number on all else, standard errors included
        other = [0, 1][1 - j]
        fits = [
            np.linalg.lstsq(np.column_stack([g, y[:, other]]), y[:, j], rcond=None) for g, y in ((D0, Y0), (D, made))
        ]
        assert fits[1][0] == pytest.approx(fits[0][0], rel=1e-9, abs=1e-9)
        assert fits[1][1] == pytest.approx(fits[0][1], rel=1e-9)


def test_cells_that_are_to_stay_move_where_nothing_else_can_and_then_few():
    """Few of the second level have another value than zero, and more of them in the original than were drawn."""
    rng, n = np.random.default_rng(1), 400
    level = np.repeat([0.0, 1.0], n // 2)
    D = np.column_stack([np.ones(n), level])
    Y0, Y = (np.where(level == 0, rng.gamma(4.0, 5.0, n), 0.0)[:, None] for _ in range(2))
    Y0[-3:] = 12.0
    made = in_moments(D, Y, D, Y0, Y != 0, np.zeros(1), np.full(1, np.inf), rng)
    G0, G = (np.column_stack([D, y / 10]) for y in (Y0, made))
    assert np.abs(G.T @ G - G0.T @ G0).max() < 1e-12 * n
    assert made.min() >= 0
    moved = ((made != Y) & (Y == 0)).sum()
    assert 1 <= moved <= 3  # as many as there are sums


@pytest.mark.parametrize("key", range(5))
def test_few_cells_leave_the_heaps_of_a_column_that_has_nothing_else(key: int):
    """Whole numbers from none to twenty, most near their lower end, of which some of a rare level too."""
    rng, n = np.random.default_rng(key), 3000
    level = np.arange(n) % 25 == 0
    D = np.column_stack([np.ones(n), level, np.arange(n) % 2])
    Y0 = np.minimum(rng.geometric(0.15 - 0.03 * level) - 1.0, 20.0)[:, None]
    Y = Y0[np.lexsort((rng.random(n), level))][np.argsort(np.argsort(level, kind="stable"))]
    Y[rng.choice(n, 60, replace=False)] += 1.0
    made = in_moments(D, Y, D, Y0, Y > 0, np.zeros(1), np.full(1, 21.5), rng)
    G0, G = (np.column_stack([D, y / 10]) for y in (Y0, made))
    assert np.abs(G.T @ G - G0.T @ G0).max() < 1e-12 * n
    assert (made != np.rint(made)).mean() < 0.021
    assert np.array_equal(made == 0, Y == 0)
    times = (np.bincount(np.rint(y[:, 0]).astype(int), minlength=22) for y in (made, Y))
    assert np.abs(np.subtract(*times)).max() < 0.03 * n  # those that went to the next heap are few as well


@pytest.mark.parametrize("key", range(3))
def test_a_level_in_which_one_cell_is_free_is_met_by_that_cell(key: int):
    rng, n = np.random.default_rng(key), 2000
    level = np.arange(n) < n // 2
    D = np.column_stack([np.ones(n), level])
    Y0, Y = (rng.gamma(4.0, 5.0, size=(n, 1)) for _ in range(2))
    Y0[: n // 2 - 1], Y[: n // 2 - 1] = -8.0, -8.0
    Y0[n // 2 - 1], Y[n // 2 - 1] = 20.0, 21.0
    made = in_moments(D, Y, D, Y0, Y > 0, np.full(1, -8.0), np.full(1, np.inf), rng)
    assert made[n // 2 - 1] == pytest.approx(20.0)
    assert (made != Y).mean() < 0.051  # and few others


@pytest.mark.parametrize("rare", [0, 3])
def test_nothing_comes_to_lie_between_a_code_and_the_other_values(rare: int):
    """Some that stand at the code must move where the original has other values and none was drawn: all the way."""
    rng, n = np.random.default_rng(4), 600
    level = np.repeat([0.0, 1.0], n // 2)
    D = np.column_stack([np.ones(n), level])
    Y0, Y = (np.where((level == 0) & (rng.random(n) < 0.5), rng.geometric(0.1, n), -8.0)[:, None] for _ in range(2))
    Y0[n - rare :] = 20.0
    ends, within = (np.full(1, -np.inf), np.full(1, np.inf)), (np.array([1.0]), Y.max(axis=0))
    made, loose = (in_moments(D, Y, D, Y0, Y > 0, *ends, rng, within=each) for each in (within, None))
    for each in (made, loose):
        G0, G = (np.column_stack([D, y / 10]) for y in (Y0, each))
        assert np.abs(G.T @ G - G0.T @ G0).max() < 1e-12 * n
    assert (made[made != -8] >= 1).all()
    assert bool(((made != Y) & (Y == -8)).any()) == bool(rare)
    apart = (loose != -8) & (loose < 1)
    assert apart.any()  # without it there are such


def test_ends_that_leave_no_room_give_way_to_the_bounds():
    rng, one = np.random.default_rng(5), np.ones((300, 1))
    Y0, Y = rng.normal(0, 3, (300, 1)), rng.normal(0, 1, (300, 1))
    within = Y.min(axis=0), np.array([0.5])
    made = in_moments(one, Y, one, Y0, np.ones((300, 1), bool), np.full(1, -9.0), np.full(1, 9.0), rng, within=within)
    assert (made**2).sum() == pytest.approx((Y0**2).sum(), rel=1e-12)
    assert made.max() > 0.5
    assert np.abs(made).max() <= 9


def test_a_column_of_spikes_only_is_moved_in_some_of_them():
    rng, one, ends = np.random.default_rng(1), np.ones((200, 1)), (np.full(1, -9.0), np.full(1, 9.0))
    Y0, Y = rng.choice([0.0, 1.0], (200, 1)), rng.choice([0.0, 1.0], (200, 1), p=[0.3, 0.7])
    made = in_moments(one, Y, one, Y0, np.zeros((200, 1), dtype=bool), *ends, rng)
    assert made.sum() == pytest.approx(Y0.sum(), rel=1e-12)
    assert (made**2).sum() == pytest.approx((Y0**2).sum(), rel=1e-12)
    assert (made == Y).any()


def test_numbers_that_cannot_get_there_are_a_sentence_that_names_what_stops_them():
    n, rng = 50, np.random.default_rng(1)
    D, all_free = np.column_stack([np.ones(n), np.arange(n) < 10]), np.ones((n, 1), dtype=bool)
    Y0, Y = rng.normal(size=(n, 1)), rng.normal(size=(n, 1))
    low, high = np.full(1, -4.0), np.full(1, np.inf)
    with pytest.raises(InfeasibleError, match=r"'y'.*sum over the second(.|\n)*another model"):
        in_moments(D, Y, D, Y0 - 9 * D[:, 1:], all_free, low, high, rng, ["y"], ["all", "the second"])
    two = np.where(rng.random((n, 1)) < 0.5, -1.0, 1.0)  # none has a variance as large inside these bounds
    with pytest.raises(InfeasibleError, match=r"'1'.*its variance(.|\n)*wider bounds"):
        in_moments(D, Y / 9, D, two, all_free, -np.ones(1), np.ones(1), rng)
