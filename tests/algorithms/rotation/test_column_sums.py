"""The sums that a walk keeps nearly: their law against drawing from it, and the shapes that they leave."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from suffice.algebra.array import Array
from suffice.algorithms.rotation import column_sums
from suffice.algorithms.rotation.column_sums import BETWEEN, STEEP, TOLD, ColumnSums
from suffice.algorithms.rotation.constraints import Constraints
from suffice.algorithms.rotation.dealing import deal, random_order
from suffice.algorithms.rotation.densities import Densities
from suffice.algorithms.rotation.turn import Chance, turn
from suffice.method.records import Records
from suffice.microdata import Rotate
from suffice.seed import Seed
from suffice.utility.kolmogorov_smirnov import kolmogorov_smirnov
from suffice.utility.shape_bias import kurtosis, skewness
from tests.algorithms.rotation.cases import limits, skewed
from tests.algorithms.rotation.test_law import SIZE, apart, drawn, law_of, money
from tests.tolerances import CHANCE

FILES, SWEEPS = 800, 12


def small(start: Array, third: float = 0.8, by: float = 1.6) -> ColumnSums:
    """Of a file of six records: the sum of cubes, that of fourth powers, and how many are below 1.2."""
    one, none = np.ones(1), np.zeros(1)
    lean, cut, count = np.array([0.0, 0.6]), np.array([[1.2]]), np.array([[1.5]])
    sums = ColumnSums(none, one, np.array([[third]]), 0.01 * one, cut, count, None, STEEP, lean, none)
    return replace(sums, goal=sums.apart(start) + np.array([by, 0.1, -0.8]))  # not those of the start


def height(d: Array) -> float:
    """A bell in all three, walls at 1 of both powers, and a lean of .6 of the fourth."""
    walls = sum(max(0.0, abs(each) - 1.0) ** 2 for each in d[:2])
    return float((d @ d + STEEP * walls) / 2 - 0.6 * d[1])


def walked(start: Array, law: Densities, sums: ColumnSums, accept: bool = True) -> Array:
    """Small files, each accepted by its own sums."""
    Y = np.tile(start, (FILES, 1))
    ground = Constraints.of(Records(np.ones((len(Y), 1)), Y, Y, limits=limits(Y, 0.0)))
    rng, strata = np.random.default_rng(5), np.repeat(np.arange(FILES, dtype=np.uint16), SIZE)
    d = [sums.apart(start)] * FILES
    for _ in range(SWEEPS):
        groups, before = deal(random_order(len(Y), rng), 3, strata), Y.copy()
        turn(Y, ground, law, groups, Chance.drawn(rng, ground, groups))
        for f in range(FILES if accept else 0):
            d[f] = sums.accepted(Y, before, groups[2 * f : 2 * f + 2], d[f], rng)
    return Y.reshape(FILES, SIZE, -1)


def test_a_walk_that_accepts_by_sums_draws_from_its_law() -> None:
    law, start = law_of(money(400)), money(SIZE, seed=3)
    sums, product = small(start), drawn(start, law)
    off = np.array([height(sums.apart(each)) for each in product])
    truth = product[np.log(np.random.default_rng(7).random(len(off))) < off.min() - off]
    assert len(truth) > 500
    made = walked(start, law, sums)
    assert apart(made, truth) < CHANCE
    assert apart(made, product) > 2 * CHANCE
    assert apart(walked(start, law, sums, accept=False), truth) > 2 * CHANCE
    assert apart(walked(start, law, small(start, 0.4)), truth) > CHANCE


@pytest.mark.parametrize("weighted", [False, True])
def test_what_is_turned_back_is_as_it_was_and_the_sums_are_those_of_the_rest(weighted: bool) -> None:
    rng = np.random.default_rng(2)
    Y = money(300, 2)
    w = rng.uniform(0.5, 2.0, 300) if weighted else None
    sums = ColumnSums.of(Y, law_of(Y), w)
    assert sums is not None
    assert np.allclose(sums.apart(Y), 0.0)
    after = Y[rng.permutation(300)] * rng.uniform(0.9, 1.1, (300, 1))
    made, groups = after.copy(), rng.permutation(300).reshape(-1, 3)
    d = sums.accepted(made, Y, groups, sums.apart(Y), rng)
    kept = (made[groups] == after[groups]).all(axis=(1, 2))
    assert ((made[groups] == Y[groups]).all(axis=(1, 2)) == ~kept).all()
    assert 0 < kept.sum() < len(kept)
    assert np.allclose(d, sums.apart(made), atol=1e-9)


def test_shapes_of_heavy_tails_are_kept() -> None:
    """Skewness, kurtosis and distribution functions, of several columns together."""
    Y = money(400, 3) ** 2
    task = Records(np.ones((400, 1)), Y, Y, limits=limits(Y, 0.0))
    made = Rotate().walk(task, Seed.for_tests(3).derive("shapes")).Ystar
    assert (np.abs(skewness(made) / skewness(Y) - 1) < 0.15).all()
    assert (np.abs(kurtosis(made) / kurtosis(Y) - 1) < 0.4).all()  # half of it is one record's, which is not told
    assert np.abs(kurtosis(made) / kurtosis(Y) - 1).mean() < 0.2
    assert kolmogorov_smirnov(Y, made).max() < 0.06
    assert not np.isclose(made.max(axis=0), Y.max(axis=0), rtol=1e-4).any()


def test_no_key_has_powers_far_off_where_groups_are_small() -> None:
    Y = money(300, 2) ** 2
    for closely in (True, False):
        sums = ColumnSums.of(Y, law_of(Y), closely=closely)
        assert sums is not None
        far = np.zeros(len(sums.apart(Y)))
        far[0] = 2.0
        assert (sums.height(far) > 50) == closely


def test_few_records_have_no_sums_and_no_cut_has_few_beside_it() -> None:
    Y = money(2 * BETWEEN - 1)
    assert ColumnSums.of(Y, law_of(Y)) is None
    assert ColumnSums.of(money(300), Densities.uniform()) is None
    Y = money(5 * BETWEEN)
    sums = ColumnSums.of(Y, law_of(Y))
    assert sums is not None
    assert len(sums.cuts) == 5
    assert not np.isin(sums.cuts, Y).any()  # cuts are of the smooth density


def test_zeros_that_stay_and_columns_without_a_law_do_not_count() -> None:
    Y = np.column_stack([money(300)[:, 0], np.repeat([0.0, 1.0], 150), np.full(300, 3.0)])
    Y[:100, 0] = 0.0
    sums = ColumnSums.of(Y, law_of(Y))
    assert sums is not None
    assert (sums.cuts[:, 0] > 0).all()
    other = Y.copy()
    other[:, 1:] += 0.25
    assert np.allclose(sums.apart(other), sums.apart(Y))


def test_sums_are_a_secret() -> None:
    Y = money(50)
    sums = ColumnSums.of(Y, law_of(Y))
    with pytest.raises(TypeError, match="secret"):
        pickle.dumps(sums)
    assert repr(sums) == "ColumnSums(1 columns)"


def test_a_walk_of_one_column_has_its_third_power() -> None:
    task = skewed(250, 1)
    y = task.Y
    for key in (1, 2):
        made = Rotate().walk(task, Seed.for_tests(key).derive("alone")).Ystar
        assert abs(skewness(made)[0] / skewness(y)[0] - 1) < 0.15


@pytest.mark.parametrize("back", [False, True])
def test_a_turn_is_accepted_with_its_own_chance(back: bool) -> None:
    """min(1, exp(height before - height after)), a little beyond a wall and inside."""
    before, rng = money(SIZE, seed=3), np.random.default_rng(8)
    sums, after = small(before, by=1.08), before.copy()
    after[:3] *= 1.15
    one, other = (after, before) if back else (before, after)
    d, e = sums.apart(one), sums.apart(other)
    chance, went, group = min(1.0, float(np.exp(height(d) - height(e)))), 0, np.array([[0, 1, 2]])
    for _ in range(1000):
        made = other.copy()
        sums.accepted(made, one, group, d, rng)
        went += bool((made == other).all())
    assert abs(went / 1000 - chance) < CHANCE * np.sqrt(chance * (1 - chance) / 1000) + 1e-9
    assert 0.2 < chance < 0.8 if back else chance == 1


def test_no_sum_tells_a_giant_within_a_tenth() -> None:
    """Moving it by as much, which changes nothing but its powers, is no more than a unit of each sum."""
    Y = money(300)
    Y[0, 0] = 5 * Y[:, 0].max()
    for closely in (True, False):
        sums = ColumnSums.of(Y, law_of(Y), closely=closely)
        assert sums is not None
        z, up = float((Y[0, 0] - sums.mean[0]) * sums.inverse[0]), 1 + TOLD
        third, fourth = np.linalg.norm(sums.W[0]) * (up**3 - 1) * z**3, sums.fourth[0] * (up**4 - 1) * z**4
        assert third < 1.4
        assert 1 < fourth < 1.4


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("size", [3, 7])
def test_compiled_loops_decide_alike(weighted: bool, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One by one, and where there are many groups some together."""
    compiled = pytest.importorskip("suffice.algorithms.rotation.compiled")
    rng, n = np.random.default_rng(3), 600
    Y = np.column_stack([money(n, 2), np.repeat([0.0, 1.0], n // 2)])
    sums = ColumnSums.of(Y, law_of(Y), rng.uniform(0.5, 2.0, n) if weighted else None)
    assert sums is not None
    groups = rng.permutation(n)[: n // size * size].reshape(-1, size)
    after = Y.copy()
    after[groups] = np.roll(Y[groups], 1, axis=1) * rng.uniform(0.8, 1.2, (len(groups), size, 1))
    for most in (2048, 20):
        monkeypatch.setattr(column_sums, "DECISIONS", most)
        found = []
        for loops in (None, compiled):
            monkeypatch.setattr(column_sums, "loaded", lambda loops=loops: loops)
            made = after.copy()
            found.append((made, sums.accepted(made, Y, groups, sums.apart(Y), np.random.default_rng(4))))
        (one, d), (other, e) = found
        assert (one == other).all()
        assert np.allclose(d, e, rtol=0, atol=1e-12)
        assert 0.02 < (one == after).all(axis=1).mean() < 0.98
