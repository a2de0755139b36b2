"""Models of one column: what is drawn follows what was fitted."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.algebra.array import Array
from suffice.errors import UsageError
from suffice.synthesis.kernel import Kernel
from suffice.synthesis.linear import Linear
from suffice.synthesis.logit import Logit
from suffice.synthesis.model import ModelFits, SynthesisModel
from suffice.synthesis.multinomial import Multinomial
from suffice.synthesis.ordered import Ordered
from suffice.synthesis.variable import Board, Variable

N = 4000


def drawn(model: SynthesisModel, x: Array, y: Array, levels: int, proper: bool = False) -> Array:
    variables = {"x": Variable.learn("x", x, 0, None), "y": Variable.learn("y", y, levels, None)}
    fit = model.fit(variables["y"], y, ["x"], Board(variables, {"x": x}), None)
    draws, wide = np.random.default_rng(5), np.full(len(x), np.inf)
    return (fit.proper(draws) if proper else fit).draw(Board(variables, {"x": x}), len(x), draws, -wide, wide)


def scale() -> tuple[Array, Array]:
    rng = np.random.default_rng(1)
    x = rng.normal(size=N)
    return x, np.digitize(x + rng.logistic(size=N) / 2, [-1.0, 0.0, 1.5]).astype(float)


@pytest.mark.parametrize("proper", [False, True])
@pytest.mark.parametrize(
    ("model", "levels"), [(Multinomial(), 4), (Ordered(), 0), (Logit(), 2), (Linear(scale="quantile"), 0)]
)
def test_shares_and_relations_are_those_of_the_original(model: SynthesisModel, levels: int, proper: bool) -> None:
    x, y = scale()
    y = 1 + (y > 1) * 1.0 if levels == 2 else y + 1
    made = drawn(model, x, y, levels, proper)
    assert set(made) == set(y)
    for part in (x < 0, x > 1):
        before, after = (np.bincount(each[part].astype(int), minlength=5) / part.sum() for each in (y, made))
        assert np.abs(before - after).max() < 0.06
    assert not np.array_equal(made, y)


def test_coefficients_are_where_the_derivative_is_zero_by_either_way(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = scale()
    x, y = x[:300], y[:300] + 1
    variables = {"x": Variable.learn("x", x, 0, None), "y": Variable.learn("y", y, 4, None)}

    def found() -> Array:
        return Multinomial().fit(variables["y"], y, ["x"], Board(variables, {"x": x}), None).B

    exact = found()
    monkeypatch.setattr("suffice.synthesis.multinomial.LARGEST", 0)
    bounded = found()
    assert np.abs(exact - bounded).max() < 0.02


@pytest.mark.parametrize(("model", "levels"), [(Multinomial(), 4), (Ordered(), 0), (Linear(), 0)])
def test_sums_over_super_blocks_give_the_model_of_all_records(model: SynthesisModel, levels: int) -> None:
    x, y = scale()
    variables = {"x": Variable.learn("x", x, 0, None), "y": Variable.learn("y", y + 1, levels, None)}
    whole = model.fit(variables["y"], y + 1, ["x"], Board(variables, {"x": x}), None)
    fitting, more = ModelFits(model, variables["y"], ["x"], True), True
    while more:
        for part in (slice(0, 1000), slice(1000, N)):
            fitting.see(y[part] + 1, Board(variables, {"x": x[part]}), None)
        more = fitting.answer()
    draws, wide = [np.random.default_rng(5) for _ in range(2)], np.full(N, np.inf)
    board = Board(variables, {"x": x})
    one, two = (fit.draw(board, N, draw, -wide, wide) for fit, draw in zip((whole, fitting.fit), draws, strict=True))
    # the scale of x is that of the first super-block, and so is the weak prior's
    assert np.abs(one - two).mean() < 0.002


def test_classes_that_are_apart_stay_so() -> None:
    x = np.repeat([0.0, 1.0], 100)
    assert (drawn(Logit(), x, x + 1, 2) == x + 1).mean() > 0.95


def test_what_a_model_does_not_draw_is_refused() -> None:
    x, y = scale()
    with pytest.raises(UsageError, match="two levels, and 'y' has 4"):
        drawn(Logit(), x, y + 1, 4)
    with pytest.raises(UsageError, match="up to 64 values"):
        drawn(Ordered(), x, x, 0)


def test_a_thousand_levels_are_drawn_with_their_shares() -> None:
    rng = np.random.default_rng(2)
    y = 1 + np.floor(1000 * rng.random(N) ** 3)
    made = drawn(Multinomial(), y / 100 + rng.normal(size=N), y, 1000, proper=True)
    common, rare = (np.array([(each < 40).mean(), (each > 500).mean()]) for each in (y, made))
    assert np.abs(common - rare).max() < 0.04
    assert set(made) <= set(y)
    assert len(set(made)) > 300


def test_a_kernel_keeps_a_long_tail_its_heap_and_its_relations() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=1000)
    y = np.where(rng.random(1000) < 0.1, 0.0, np.exp(5 + x + rng.normal(size=1000)).round(2))
    made = drawn(Kernel(), x, y, 0)
    ends = np.sort(np.concatenate([y, made]))
    gaps = np.searchsorted(np.sort(y), ends, "right") - np.searchsorted(np.sort(made), ends, "right")
    assert np.abs(gaps).max() < 60
    assert abs((made == 0).mean() - (y == 0).mean()) < 0.03
    assert (made >= 0).all()
    assert abs(np.corrcoef(x, np.log1p(made))[0, 1] - np.corrcoef(x, np.log1p(y))[0, 1]) < 0.1
    assert not np.isin(np.sort(y)[-5:], made).any()
    other = drawn(Kernel(width=4.0), x, y, 0)
    assert np.abs(np.log1p(other).std() - np.log1p(y).std()) < 0.3


@pytest.mark.parametrize(
    ("values", "grid"),
    [
        ([10.0**15, 10.0**15 + 7, 10.0**15 + 30], 1.0),  # far from zero, and near each other
        ([1.577836800e15, 1.577836861e15, 1.577923200e15], 1e6),  # whole seconds, in millionths
        ([1500.0, 3000.0, 0.0], 1500.0),
        ([0.1, 0.3, 0.1 + 0.2], 0.1),
        ([12.34, 1e6, 5.01], 0.01),
        ([10.0**6 + 0.25, 10.0**6 + 0.5], 0.25),
        ([np.pi, np.e], None),
    ],
)
def test_numbers_have_the_largest_grid_that_all_are_on(values: list[float], grid: float | None) -> None:
    found = Variable.learn("y", np.array(values), 0, None)
    assert found.grid == (pytest.approx(grid, rel=1e-12) if grid else None)
    assert found.on_grid(found.values) == pytest.approx(found.values, rel=1e-15)
