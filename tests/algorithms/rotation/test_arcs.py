"""Feasible angles in closed form."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from suffice.algorithms.rotation.arcs import ROUND, bearing, draw, forbidden
from suffice.algorithms.rotation.trigonometry import direction, turns
from suffice.algorithms.rotation.turn import gaps
from tests.tolerances import CHANCE

TURN = 2 * np.pi


@given(seed=st.integers(0, 2**32), tight=st.booleans())
def test_an_angle_is_forbidden_exactly_where_the_limit_fails(seed: int, tight: bool) -> None:
    rng = np.random.default_rng(seed)
    b, d = rng.normal(size=(2, 50))
    h = b.copy() if tight else b + rng.exponential(size=50)  # angle 0 is allowed
    limiting = h < np.hypot(b, d)
    start, end = forbidden(b[limiting], d[limiting], h[limiting])
    at = np.linspace(0, TURN, 1000)[:, None]
    gap = b * np.cos(at) + d * np.sin(at) - h
    inside = (at > TURN * turns(start)) & (at < TURN * turns(end))
    clear = np.abs(gap) > 1e-6
    assert (inside == (gap[:, limiting] > 0))[clear[:, limiting]].all()
    assert (gap[:, ~limiting] <= 0).all()


def test_the_angle_is_uniform_on_what_is_left() -> None:
    uniform = (np.arange(100_000) + 0.5) / 100_000
    intervals = np.array([0.5, 4.0, 1.0]), np.array([2.0, 5.0, 1.5])
    start, end = (np.tile(bearing(np.cos(t), np.sin(t))[:, None], len(uniform)) for t in intervals)
    drawn = TURN * draw(*gaps(start, end), uniform)
    free = TURN - 1.5 - 1.0
    for low, high in ((0.0, 0.5), (2.0, 4.0), (5.0, TURN)):
        share = ((drawn >= low) & (drawn <= high)).mean()
        assert abs(share - (high - low) / free) < 1e-4
    assert not ((drawn > 0.5) & (drawn < 2.0)).any()


def test_nothing_left_is_no_turn() -> None:
    assert draw(*gaps(np.array([[0.0], [3.0]]), np.array([[3.0], [ROUND]])), np.array([0.7])) == 0
    assert draw(*gaps(np.empty((0, 1)), np.empty((0, 1))), np.array([0.25])) == 0.25


def test_tries_and_arcs_draw_from_the_same_distribution() -> None:
    rng = np.random.default_rng(1)
    count = 20_000
    b, d, h = np.array([1.0, -0.5]), np.array([0.3, 1.2]), np.array([1.1, 0.2])
    start, end = forbidden(b, d, h)
    free = gaps(*(np.tile(each[:, None], count) for each in (start, end)))
    arcs = TURN * draw(*free, rng.random(count))
    tries = TURN * rng.random(10 * count)
    keep = (np.cos(tries)[:, None] * b + np.sin(tries)[:, None] * d <= h).all(axis=1)
    tries = tries[keep][:count]
    for test in (np.cos, np.sin, lambda t: np.cos(2 * t)):
        x, y = test(arcs), test(tries)
        assert abs(x.mean() - y.mean()) < CHANCE * np.sqrt((x.var() + y.var()) / len(tries))


def test_directions_are_right_and_of_length_one() -> None:
    t = np.linspace(0, 1, 100_001)
    cos, sin = direction(t)
    assert np.abs(cos + 1 - np.cos(TURN * t)).max() < 1e-15
    assert np.abs(sin - np.sin(TURN * t)).max() < 1e-15
    assert np.abs(turns(bearing(cos[:-1] + 1, sin[:-1])) - t[:-1]).max() < 1e-15
