"""Rules that combine m releases: to the digit on a peer's fits, and right in repeated samples; wrong ones are not."""

from __future__ import annotations

import csv
from math import inf

import numpy as np
import pytest
from scipy import stats

from suffice.utility.combination import RULES, joint_test
from tests.places import SHARED, needs_shared
from tests.utility.repeats import ESTIMANDS, Repeats

BAND = 0.07
"""E[T] / Var(q-bar) of a right rule is within this of 1; by chance it is off by about .02."""


def rows(name: str) -> list[list[str]]:
    assert SHARED is not None
    with (SHARED / "reference" / f"synthpop_{name}.csv").open(encoding="utf-8") as file:
        return list(csv.reader(file))[1:]


@needs_shared
@pytest.mark.parametrize(
    ("fit", "recorded", "rule"),
    [
        ("lm_m5", "pop", "T_s"),
        ("glm_m5", "pop", "T_s"),
        ("lm_income_m5", "pop", "T_s"),
        ("lm_income_m5", "incomplete", "T_p"),
    ],
)
def test_recorded_fits_to_the_last_digits(fit: str, recorded: str, rule: str):
    q, u = (np.array(rows(f"{fit}_{each}"), dtype=float) for each in ("mcoef", "mvar"))
    theirs = np.array([row[1:3] for row in rows(f"{fit}_{recorded}")], dtype=float)
    found = RULES[rule](q, u, 1.0, inf)
    assert found.mean == pytest.approx(theirs[:, 0], rel=1e-12)
    assert np.sqrt(found.variance) == pytest.approx(theirs[:, 1], rel=1e-12)


def ratios(rule: str, files: tuple, share: float = 1.0) -> np.ndarray:
    """E[T] / Var(q-bar) of mean and slopes; of estimands of part of the records a model of all knows more than u."""
    q, u = files
    found = RULES[rule](q, u, share, inf)
    m, b = len(q), q.var(axis=0, ddof=1)
    T = (1 + 1 / m) * b - u.mean(axis=0) if rule == "T_f" else found.variance  # before any of it is raised
    return (T.mean(axis=0) / found.mean.var(axis=0))[:3]


def rubin(files: tuple) -> np.ndarray:
    q, u = files
    T = u.mean(axis=0) + (1 + 1 / len(q)) * q.var(axis=0, ddof=1)
    return (T.mean(axis=0) / q.mean(axis=0).var(axis=0))[:3]


@pytest.mark.parametrize("proper", [True, False])
def test_partial_files(proper: bool):
    files = Repeats(3000, 5, 150, seed=3, every=False).partial(proper)
    assert ratios("T_p", files) == pytest.approx(1, abs=BAND)
    assert ratios("T_f", files)[[0, 2]].max() < 1 - 2 * BAND
    assert (ratios("T_f", files)[1] == pytest.approx(1, abs=BAND)) == proper  # of y on x: b = 2 u, so T_f = T_p
    assert (rubin(files) > 1.3).all()


def test_full_files_of_a_population():
    files = Repeats(9000, 5, 100, seed=4, every=False).full()
    assert ratios("T_f", files) == pytest.approx(1, abs=BAND)
    assert ratios("T_p", files)[[0, 2]].min() > 1.5
    assert ratios("T_p", files)[1] == pytest.approx(1, abs=BAND)  # what is known of x tells nothing of y on x: b = 2 u
    assert (np.abs(ratios("T_s", files) - 1) > BAND).all()
    assert (rubin(files) > 2).all()


@pytest.mark.parametrize("k", [100, 200])
def test_full_files_of_the_sample_alone(k: int):
    files = Repeats(3000, 5, 100, k, seed=5, every=False).full(proper=False, known=False)
    assert ratios("T_p", files, k / 100) == pytest.approx(1, abs=BAND)
    assert ratios("T_s", files, k / 100) == pytest.approx(1, abs=BAND)
    assert ratios("T_f", files).max() < 0.6
    if k > 100:
        assert ratios("T_p", files).max() < 1 - 2 * BAND  # k / n is needed
    else:
        assert (rubin(files) > 1.3).all()


@pytest.mark.parametrize("k", [100, 200])
def test_one_file_of_the_sample_alone(k: int):
    """With drawn parameters their variance comes to that of the cells."""
    for proper, right, wrong in ((False, "T_s", "T_d"), (True, "T_d", "T_s")):
        q, u = Repeats(5000, 1, 100, k, seed=10, every=False).full(proper=proper, known=False)
        found = {rule: RULES[rule](q, u, k / 100, inf) for rule in (right, wrong)}
        ratio = {rule: (one.variance.mean(axis=0) / one.mean.var(axis=0))[1] for rule, one in found.items()}
        assert ratio[right] == pytest.approx(1, abs=BAND)
        assert abs(ratio[wrong] - 1) > 2 * BAND


def test_files_of_two_stages():
    q, u = Repeats(2000, 4, 120, seed=6, every=False).two_stage(3)
    found = RULES["T_M"](q, u, 1.0, 118)
    right = (found.variance.mean(axis=0) / found.mean.var(axis=0))[:3]
    assert right == pytest.approx(1, abs=BAND)
    flat = tuple(each.reshape(12, *each.shape[2:]) for each in (q, u))
    assert ratios("T_p", flat).max() < 1 - BAND
    half = stats.t.ppf(0.975, found.freedom) * np.sqrt(found.variance)
    covered = (np.abs(found.mean - list(ESTIMANDS.values())[:3]) <= half).mean(axis=0)
    assert covered == pytest.approx(0.955, abs=0.025)


def test_a_two_stage_variance_near_zero_has_an_interval_with_ends():
    q, u = Repeats(2000, 2, 120, seed=6, every=False).two_stage(2)
    found = RULES["T_M"](q, u, 1.0, 118)
    half = stats.t.ppf(0.975, found.freedom) * np.sqrt(found.variance)
    covered = (np.abs(found.mean - list(ESTIMANDS.values())[:3]) <= half).mean(axis=0)
    assert found.freedom.min() == 1
    assert half.max() < 10
    assert covered.min() > 0.94


@pytest.mark.parametrize(("rule", "kind"), [("T_p", "partial"), ("T_f", "full")])
def test_intervals_cover(rule: str, kind: str):
    q, u = getattr(Repeats(2000, 5, 60, seed=7), kind)()
    found = RULES[rule](q, u, 1.0, 58)
    half = stats.t.ppf(0.975, found.freedom) * np.sqrt(found.variance)
    covered = (np.abs(found.mean - list(ESTIMANDS.values())) <= half).mean(axis=0)
    low, high = {"T_p": (0.93, 0.99), "T_f": (0.98, 1.0)}[rule]
    assert covered.min() >= low
    assert covered.max() <= high
    assert (found.variance > 0).all()
    assert found.raised.any() == (rule == "T_f")


def test_a_statistic_that_is_kept_has_the_interval_of_the_original():
    q, u = np.full((3, 2), 7.0), np.full((3, 2), 4.0)
    found = RULES["T_p"](q, u, 1.0, 20.0)
    assert found.variance.tolist() == [4.0, 4.0]
    assert found.freedom.tolist() == [20.0, 20.0]
    assert RULES["T_f"](q, u, 1.0, 20.0).raised.all()
    test = joint_test("T_p", q, np.broadcast_to(np.diag([4.0, 4.0]), (3, 2, 2)), most=20.0)
    assert test.statistic == pytest.approx(49 / 4)
    assert test.freedom == 20
    assert test.p == pytest.approx(stats.f.sf(49 / 4, 2, 20))


@pytest.mark.parametrize(("rule", "share"), [("T_p", 1.0), ("T_f", 1.0), ("T_s", 2.0), ("T_d", 2.0)])
def test_one_estimand_is_tested_jointly_as_by_itself(rule: str, share: float):
    rng = np.random.default_rng(8)
    q, u = rng.normal(1, 3, size=(4, 1)), rng.uniform(1, 2, size=(4, 1))
    alone, test = RULES[rule](q, u, share, 50.0), joint_test(rule, q, u[:, :, None], share, 50.0)
    t = float(alone.mean[0] / np.sqrt(alone.variance[0]))
    assert not alone.raised.any()
    assert test.statistic == pytest.approx(t**2)
    assert test.freedom == pytest.approx(alone.freedom[0])
    assert test.p == pytest.approx(2 * stats.t.sf(abs(t), alone.freedom[0]))


def test_a_joint_test_that_is_not_defined_says_so():
    q, U = np.zeros((3, 2)) + np.arange(3)[:, None] * 1e-3, np.broadcast_to(np.eye(2), (3, 2, 2))
    assert "r_f" in joint_test("T_f", q, U).why
    assert "inverse" in joint_test("T_p", q, np.zeros((3, 2, 2))).why
    assert "two stages" in joint_test("T_M", q, U).why


def test_units_do_not_matter_to_the_joint_test():
    rng = np.random.default_rng(11)
    q, A = rng.normal(size=(5, 2)), rng.normal(size=(2, 2))
    units = np.array([1.0, 1e-9])
    one = joint_test("T_p", q, np.broadcast_to(A @ A.T, (5, 2, 2)))
    other = joint_test("T_p", q * units, np.broadcast_to(A @ A.T, (5, 2, 2)) * np.outer(units, units))
    assert (other.statistic, other.freedom, other.p) == pytest.approx((one.statistic, one.freedom, one.p))


def test_the_joint_test_has_its_size():
    rng, m, k, repeats = np.random.default_rng(9), 10, 3, 1000
    U = np.broadcast_to(np.eye(k), (m, k, k))
    sizes = {}
    for rule, spread in (("T_p", 1.0), ("T_f", 2.0)):
        hat = rng.normal(size=(repeats, 1, k))
        q = hat + np.sqrt(spread) * rng.normal(size=(repeats, m, k))
        tests = [joint_test(rule, each, U) for each in q]
        told = np.array([test.p for test in tests if not test.why])
        sizes[rule] = float((told < 0.05).mean())
    assert sizes["T_p"] == pytest.approx(0.05, abs=0.02)
    assert sizes["T_f"] < 0.08
