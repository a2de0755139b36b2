"""Laws of Rotate, and the figures it must reach on the two files of the field."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from scipy.spatial import cKDTree

from suffice import Roles, protect
from suffice.algebra.array import Array
from suffice.algebra.decomposition import split
from suffice.algorithms.rotation import kernel, turn
from suffice.algorithms.rotation.dealing import Dealer
from suffice.algorithms.rotation.likeness import Likeness
from suffice.algorithms.rotation.stopping import AGAIN
from suffice.errors import InfeasibleError, UsageError, count_of
from suffice.method.records import Records
from suffice.microdata import Ipso, rotate
from suffice.microdata.rotate import Rotate
from suffice.seed import Seed
from suffice.utility.kolmogorov_smirnov import kolmogorov_smirnov
from suffice.utility.shape_bias import kurtosis
from tests.algorithms.rotation.cases import limits, skewed, tasks
from tests.places import SHARED, matrix, needs_shared
from tests.tolerances import ALGEBRA, ENGINE
from tests.truth import ratios

STREAM = Seed.for_tests(1).derive("rotate")


@settings(max_examples=25, deadline=None)
@given(task=tasks())
def test_moments_and_limits_are_kept(task: Records) -> None:
    walk = Rotate(sweeps=8).walk(task, STREAM)
    X = task.X[:, 1:]
    if task.w is None or (task.w > 0).sum() > task.X.shape[1]:
        assert max(ratios(X, task.Y, X, walk.Ystar, task.w, task.w).values()) <= ALGEBRA
    assert task.limits is not None
    assert not task.limits.broken(walk.Ystar).any()


def test_no_sweeps_is_the_original_and_one_changes_little() -> None:
    task = skewed(400, 4)
    assert (Rotate(sweeps=0).mask(task, STREAM).Ystar == task.Y).all()
    one = Rotate(sweeps=1, groups="near").mask(task, STREAM).Ystar
    many = Rotate(sweeps=40, groups="near").mask(task, STREAM).Ystar
    assert 0 < np.abs(one - task.Y).mean() < 0.7 * np.abs(many - task.Y).mean()


def test_the_key_decides() -> None:
    task, method = skewed(60, 3, given=1), Rotate(sweeps=5)
    assert (method.mask(task, STREAM).Ystar == method.mask(task, STREAM).Ystar).all()
    other = method.mask(task, Seed.for_tests(2).derive("rotate")).Ystar
    assert not np.isclose(method.mask(task, STREAM).Ystar, other).any(axis=1).all()


@pytest.mark.parametrize("groups", ["random", "near", "far"])
def test_units_do_not_matter(groups: str) -> None:
    task = skewed(90, 3, given=1)
    unit = np.array([1024.0, 2.0**-20, 1.0])
    scaled = replace(task, Y=task.Y * unit, original=task.Y * unit, limits=limits(task.Y * unit, 0.0))
    method = Rotate(sweeps=10, groups=groups)  # type: ignore[arg-type]
    assert np.allclose(method.mask(scaled, STREAM).Ystar / unit, method.mask(task, STREAM).Ystar, rtol=0, atol=ENGINE)


@pytest.mark.parametrize("groups", ["random", "near", "far"])
@pytest.mark.parametrize("given", [0, 2])
def test_many_sweeps_without_bounds_reach_the_null(given: int, groups: str) -> None:
    task = replace(skewed(400, 3, given), limits=None)
    # a law of columns that are never negative is a bound too
    walk = Rotate(sweeps=60, groups=groups, shape="uniform").walk(task, STREAM)  # type: ignore[arg-type]
    assert walk.course[0] > walk.null
    assert walk.canonical <= walk.null


@pytest.mark.parametrize("method", [Rotate(sweeps=20, groups="near"), Rotate(most=40)], ids=["original", "drawn"])
@pytest.mark.parametrize("given", [0, 1])
def test_a_release_is_the_same_to_the_last_bit_without_the_compiled_kernel(
    given: int, method: Rotate, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = skewed(120, 3, given)
    pytest.importorskip("numba")
    monkeypatch.setattr(kernel, "FEW", 0)
    fast = method.mask(task, STREAM).Ystar
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, "suffice.algorithms.rotation.compiled")
    monkeypatch.delattr("suffice.algorithms.rotation.compiled")
    kernel._module.cache_clear()
    try:
        assert kernel.kernel(1) is turn.turn
        assert (method.mask(task, STREAM).Ystar == fast).all()
    finally:
        kernel._module.cache_clear()


def test_exact_zeros_stay_or_turn_as_asked() -> None:
    task = skewed(600, 3)
    Y = task.Y.copy()
    Y[np.random.default_rng(2).random(600) < 0.4, 1] = 0.0
    task = replace(task, Y=Y, original=Y)
    kept, free = Rotate(sweeps=20).mask(task, STREAM).Ystar, Rotate(sweeps=20, zeros="free").mask(task, STREAM).Ystar
    assert ((kept == 0) == (Y == 0)).all()
    assert (free[Y == 0] > 0).mean() > 0.9


def test_inside_cells_the_moments_of_no_cell_are_frozen() -> None:
    task = skewed(400, 2)
    cells = np.arange(400) % 4
    X = np.eye(4)[cells]
    task = replace(task, X=X, cells=cells)
    Ystar = Rotate(sweeps=30).mask(task, STREAM).Ystar
    for cell in range(4):  # its sums are given, its variance is not
        before, after = task.Y[cells == cell], Ystar[cells == cell]
        assert np.allclose(before.sum(axis=0), after.sum(axis=0))
        assert not np.isclose(before.var(axis=0), after.var(axis=0), rtol=1e-3).any()
    assert max(ratios(X[:, 1:], task.Y, X[:, 1:], Ystar).values()) <= ALGEBRA


def test_weights() -> None:
    task, rng = skewed(300, 3, given=1), np.random.default_rng(1)
    w = rng.exponential(size=300)
    w[:20] = 0.0
    task = replace(task, w=w)
    walk = Rotate(sweeps=30).walk(task, STREAM)
    X = task.X[:, 1:]
    assert max(ratios(X, task.Y, X, walk.Ystar, w, w).values()) <= ALGEBRA
    assert (walk.Ystar >= 0).all()
    assert not walk.unmoved  # those without weight turn too
    assert not np.isclose(walk.Ystar.T @ walk.Ystar, task.Y.T @ task.Y).any()  # unweighted ones are not promised


def test_a_target_correlation_stops_the_walk() -> None:
    task = skewed(300, 3)
    walk = Rotate(correlation=0.3).walk(task, STREAM)
    assert walk.reason == "the target is reached"
    reached = np.abs(Likeness.of(task).correlations(walk.Ystar))
    assert reached.max() <= 0.3 + ENGINE
    assert 0 < walk.sweeps < 20


def test_a_target_linkage_stops_the_walk() -> None:
    task = skewed(300, 3)
    half, chance = Rotate(linkage=0.5).walk(task, STREAM), Rotate(linkage=0.0).walk(task, STREAM)
    assert half.reason == chance.reason == "the target is reached"
    assert 0.1 < linkage(task.Y, half.Ystar) <= 0.5
    assert linkage(task.Y, chance.Ystar) <= 2 / 300
    assert 0 < half.sweeps < chance.sweeps < 50


def test_two_targets_are_both_met() -> None:
    task = skewed(300, 3)
    walk = Rotate(correlation=0.3, linkage=0.0).walk(task, STREAM)
    alone = Rotate(correlation=0.3).walk(task, STREAM), Rotate(linkage=0.0).walk(task, STREAM)
    assert walk.sweeps >= max(each.sweeps for each in alone)
    assert np.abs(Likeness.of(task).correlations(walk.Ystar)).max() <= 0.3 + ENGINE


def test_a_target_that_is_not_reached_is_said() -> None:
    task = skewed(300, 3)
    walk = Rotate(correlation=0.0, most=3).walk(task, STREAM)
    assert walk.sweeps == 3
    assert "3 sweeps: given up." in walk.remarks()


@pytest.mark.parametrize("target", [{"correlation": 0.3}, {"linkage": 0.0}])
def test_sweeps_and_a_target_exclude_each_other(target: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="not both"):
        Rotate(sweeps=3, **target)  # type: ignore[arg-type]


def test_an_infeasible_start_is_repaired_first() -> None:
    task = skewed(200, 3)
    start = Ipso().solve(task.X, task.Y, np.random.default_rng(1).normal(size=(200, 3)))
    walk = Rotate(sweeps=3).walk(replace(task, Y=start), STREAM)
    assert walk.repairs > 0
    assert (walk.Ystar >= 0).all()
    assert any("inside the limits" in said for said in walk.remarks())


def test_records_at_vertices_never_move_and_are_counted() -> None:
    Y = np.eye(4)[np.arange(40) % 4] * 5.0
    Y[:4] = 0.0  # all-zero records aside
    box = replace(limits(Y, 0.0), high=np.full(4, 5.0))
    task = Records(np.ones((40, 1)), Y, Y, limits=box, names=("a", "b", "c", "d"))
    pinned = replace(box, C=np.ones((1, 4)), rhs=np.ones((40, 1)) * Y.sum(axis=1, keepdims=True))
    walk = Rotate(sweeps=20, zeros="free").walk(replace(task, limits=pinned), STREAM)
    assert len(walk.unmoved) > 0
    assert walk.unmoved[0] >= 4
    assert count_of(len(walk.unmoved), "record") + " never moved." in walk.remarks()


def test_a_direction_that_stays_rigid_is_named() -> None:
    task = skewed(200, 3)
    tight = replace(limits(task.Y), low=np.full(3, -np.inf))
    C = np.array([[1.0, 0, 0], [-1.0, 0, 0]])
    rhs = np.hstack([task.Y[:, :1], -task.Y[:, :1]]) + 1e-3
    tight = replace(tight, C=C, rhs=rhs, names=("up", "down"))
    walk = Rotate(sweeps=20).walk(replace(task, limits=tight, names=("wages", "b", "c")), STREAM)
    assert walk.rigid[0] == (0,)
    assert "A combination of wages stays as it was." in walk.remarks()


def test_a_group_larger_than_the_file_is_refused() -> None:
    with pytest.raises(InfeasibleError, match="groups of 5 records and the file has 4"):
        Rotate().mask(skewed(4, 1, given=2), STREAM)


@pytest.mark.parametrize("wrong", [{"sweeps": 1.5}, {"sweeps": -1}, {"most": None}, {"groups": "nearest"}])
def test_wrong_parameters_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=f"rotate: {next(iter(wrong))} must be"):
        Rotate(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [0, 1])
def test_shapes_stay_however_long_the_walk(given: int) -> None:
    task, rng = skewed(500, 2, given), np.random.default_rng(3)
    Y = np.abs(np.where(rng.random((500, 2)) < 0.5, 2.0, 7.0) + rng.normal(size=(500, 2)))  # two humps
    task = replace(task, Y=Y, original=Y)
    law, free = (Rotate(sweeps=400, shape=shape).walk(task, STREAM).Ystar for shape in ("copula", "uniform"))
    assert (kolmogorov_smirnov(Y, law) < 0.09).all()
    assert (kolmogorov_smirnov(Y, free) > 0.12).any()
    assert (law.max(axis=0) < 1.5 * Y.max(axis=0)).all()
    assert np.abs(Likeness.of(task).correlations(law)).max() < 0.25


def linkage(Y: Array, Ystar: Array) -> float:
    """The share of records whose nearest released record, in standard deviations, is their own."""
    sd = Y.std(axis=0)
    return float((cKDTree(Ystar / sd).query(Y / sd)[1] == np.arange(len(Y))).mean())


def file(name: str, given: list[int]) -> Records:
    assert SHARED is not None
    A = matrix(name, SHARED / "data")
    Y = np.delete(A, given, axis=1)
    X = np.linalg.qr(np.hstack([np.ones((len(A), 1)), A[:, given]]))[0] * np.sqrt(len(A))
    low = np.where(Y.min(axis=0) >= 0, 0.0, -np.inf)
    box = replace(limits(Y, 0.0), low=low, names=tuple(f"bounds of {j}" for j in np.flatnonzero(low == 0)))
    return Records(X, Y, Y, limits=box)


@needs_shared
@pytest.mark.parametrize("groups", ["given", "random"])
@pytest.mark.parametrize("name", ["Tarragona", "CASCrefmicrodata"])
def test_the_files_of_the_field_with_the_intercept_alone(name: str, groups: str) -> None:
    task = file(name, [])
    walk = Rotate(groups=groups).walk(task, STREAM)  # type: ignore[arg-type]
    assert task.limits is not None
    assert not task.limits.broken(walk.Ystar).any()
    assert walk.canonical <= walk.null
    assert linkage(task.Y, walk.Ystar) <= 5 / task.n  # chance is one record; the walk does not look
    assert max(ratios(task.X[:, :0], task.Y, task.X[:, :0], walk.Ystar).values()) <= ALGEBRA
    assert not walk.unmoved


def test_super_blocks_that_are_dealt_anew_are_mixed_for_some_sweeps() -> None:
    task = skewed(150, 3, given=3)
    first = Rotate().walk(task, STREAM)
    second = Rotate().walk(replace(task, Y=first.Ystar), STREAM)
    assert (second.sweeps, second.before, second.reason) == (AGAIN, 0, "dealt anew")
    assert max(ratios(task.X[:, 1:], task.Y, task.X[:, 1:], second.Ystar).values()) <= ALGEBRA
    assert Rotate().walk(replace(task, Y=first.Ystar, started=True), STREAM).before  # behind another step


@pytest.mark.parametrize("given", [0, 1])
def test_what_is_never_negative_is_not_without_a_bound(given: int) -> None:
    task = replace(skewed(150, 2, given=given), limits=None)
    assert (task.Y >= 0).all()
    for key in range(3):
        assert (Rotate().walk(task, Seed.for_tests(key).derive("sign")).Ystar >= 0).all()


@pytest.mark.parametrize("given", [0, 1])
def test_who_meets_by_size_is_held_in_its_class_for_the_sweep(given: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reverse turn must meet the same groups: else giants leave by a way that no giant comes back."""
    dealt: list[tuple[int, Array]] = []
    left: list[int] = []
    classes, chosen = Dealer.classes, rotate.kernel

    def noted(self: Dealer, Y: Array, sweep: int, generator: np.random.Generator) -> tuple[Array, int, Array]:
        groups, column, cuts = classes(self, Y, sweep, generator)
        dealt.append((column, cuts))
        return groups, column, cuts

    def watched(n: int, sweeps: int) -> Callable[..., None]:
        turn = chosen(n, sweeps)

        def turned(Y: Array, *others: Any) -> None:
            before = Y.copy()
            turn(Y, *others)
            if dealt:
                column, cuts = dealt.pop()
                class_before, class_after = (np.searchsorted(cuts, y[:, column], "right") for y in (before, Y))
                left.append(int((class_before != class_after).sum()))

        return turned

    monkeypatch.setattr(Dealer, "classes", noted)
    monkeypatch.setattr(rotate, "kernel", watched)
    Rotate(most=20).walk(skewed(150, 2, given=given), STREAM)
    assert left == [0] * 10  # every other two sweeps of twenty


GIVEN = ["AFNLWGT", "AGI", "EMCONTRB"]


@needs_shared
def test_census_with_three_given_columns() -> None:
    """As they leave: the given columns tell which record is which. The walk does not look, so keys differ."""
    assert SHARED is not None
    original = pd.read_csv(SHARED / "data" / "CASCrefmicrodata.csv").astype(float).sort_values(GIVEN)
    names = [name for name in original if name not in GIVEN]
    roles = Roles(confidential=names, given=" + ".join(GIVEN), bounds="observed-sign")
    X, Y = original[GIVEN].to_numpy(), original[names].to_numpy()
    figures = []
    for key in range(1, 4):
        released = protect(original, roles, Rotate(), seed=Seed.for_tests(key)).frame.sort_values(GIVEN)
        assert (released[GIVEN].to_numpy() == X).all()
        Ystar = released[names].to_numpy()
        assert (Ystar >= 0).all()
        assert max(ratios(X, Y, X, Ystar).values()) <= ALGEBRA
        E, Estar = (split(each, np.hstack([np.ones((len(X), 1)), X]))[1] for each in (Y, Ystar))
        canonical = np.linalg.norm(np.linalg.qr(E)[0].T @ np.linalg.qr(Estar)[0], 2)
        off = np.abs(kurtosis(Ystar) / kurtosis(Y) - 1).max()
        figures.append((canonical, linkage(Y, Ystar), kolmogorov_smirnov(Y, Ystar).mean(), off))
    canonical, linked, apart, off = np.mean(figures, axis=0)
    assert canonical <= 0.35  # .33 on average, .02 from key to key
    assert off <= 0.4
    assert linked <= 0.009  # new residuals around the same fit: .005
    assert apart <= 0.06


def test_it_says_that_drawn_records_did_not_come_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    task = skewed(60, 2)
    said = "From the original: records drawn anew did not come inside the limits."
    assert said not in Rotate(most=5).walk(task, STREAM).remarks()
    monkeypatch.setattr(Rotate, "_drawn", lambda *_: None)
    assert said in Rotate(most=5).walk(task, STREAM).remarks()
