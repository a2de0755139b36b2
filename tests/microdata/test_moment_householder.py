"""Mera's Remark 2: third moments and bounds kept - and the file changed all the same, as no change keeps them too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice import Ipso, Release, Roles, protect
from suffice.algebra.array import Array
from suffice.algebra.decomposition import split
from suffice.algebra.third_moments import ThirdMoments, triples
from suffice.algorithms.reflection.equations import solved
from suffice.design.limits import Limits
from suffice.errors import InfeasibleError, UsageError
from suffice.method.method import Method
from suffice.method.records import Records
from suffice.microdata import Householder
from suffice.microdata.moment_householder import STARTS, Mirror, MomentHouseholder
from suffice.seed import Seed, Stream
from suffice.statistics.statistic import Claim
from tests.tolerances import ALGEBRA
from tests.truth import EPS, ratios


def stream(key: int = 1) -> Stream:
    return Seed.for_tests(key).derive("moment-householder")


def third(Y: Array, w: Array | None = None) -> Array:
    """Means of all products of three columns, raw, in long doubles and by code of its own."""
    v = (np.ones(len(Y)) if w is None else w).astype(np.longdouble)
    A = Y.astype(np.longdouble)
    return np.asarray(np.einsum("i,ij,ik,il->jkl", v, A, A, A) / v.sum())


def third_ratio(Y: Array, Ystar: Array, w: Array | None = None) -> float:
    """The largest scaled error in units of what the digits can hold."""
    centre = np.average(Y, axis=0, weights=w)
    sd = np.sqrt(np.average((Y - centre) ** 2, axis=0, weights=w))
    use = sd > 4 * EPS * np.abs(Y).max(axis=0)
    gap = np.abs(third((Ystar - centre)[:, use] / sd[use], w) - third((Y - centre)[:, use] / sd[use], w))
    lost = np.maximum(1.0, np.abs(Y).max(axis=0)[use] / sd[use])
    each = np.maximum(np.maximum(lost[:, None, None], lost[None, :, None]), lost)
    return float((gap / each).max(initial=0.0) / EPS)


def change(task: Records, Ystar: Array) -> Array:
    root = np.ones((task.n, 1)) if task.w is None else np.sqrt(task.w)[:, None]
    E = split(root * task.Y, root * task.X)[1]
    use = E.any(axis=0)
    moved = np.linalg.norm(root * (Ystar - task.Y), axis=0)[use]
    return np.asarray(moved / np.linalg.norm(E[:, use], axis=0))


def case(seed: int, n: int, k: int, m: int = 1) -> Records:
    rng = np.random.default_rng(seed)
    X = np.hstack([np.ones((n, 1)), rng.normal(size=(n, m))])
    Y = 5 + X[:, -1:] + rng.exponential(size=(n, k)) @ (np.eye(k) + rng.uniform(0, 0.5, (k, k)))
    return Records(X, Y, Y)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    n=st.integers(60, 200),
    k=st.integers(1, 3),
    target=st.floats(0.1, 0.4),
    odd=st.sampled_from(["", "dependent", "constant", "scaled"]),
)
def test_remark_2(seed: int, n: int, k: int, target: float, odd: str) -> None:
    task = case(seed, n, k)
    Y = task.Y.copy()
    if odd == "constant":
        Y[:, 0] = 7.0
    if odd == "dependent" and k > 2:
        Y[:, 2] = Y[:, 0] - 2 * Y[:, 1]
    if odd == "scaled":
        Y *= 10.0 ** np.linspace(-6, 9, k)
    task = Records(task.X, Y, Y)
    Ystar = MomentHouseholder(change=target).mask(task, stream(seed % 97)).Ystar
    assert max(ratios(task.X[:, 1:], Y, task.X[:, 1:], Ystar).values()) <= ALGEBRA
    assert third_ratio(Y, Ystar) <= ALGEBRA
    assert (change(task, Ystar) >= target * (1 - 1e-9)).all()  # the no-op would keep the moments too
    if odd == "constant":
        assert np.array_equal(Ystar[:, 0], Y[:, 0])


def test_regressions_with_squares_and_interactions_among_the_columns_are_kept() -> None:
    """Remark 2: y1 on y2, y3, and y2 on the square of itself need third moments; the plain reflection loses them."""
    task = case(3, 300, 3)

    def fit(Y: Array) -> Array:
        """Slope of each column on each product of two: cross-products with quadratic terms, in standard units."""
        C = (Y - task.Y.mean(axis=0)) / task.Y.std(axis=0)
        quadratic = np.column_stack([C[:, j] * C[:, k] for j in range(3) for k in range(j, 3)])
        return np.asarray(quadratic.T @ C / len(C))

    kept = MomentHouseholder(change=0.5).mask(task, stream()).Ystar
    lost = Householder(change=0.5).solve(task.X, task.Y, np.random.default_rng(1).normal(size=(300, 1)))
    assert np.abs(fit(kept) - fit(task.Y)).max() < 1e-12
    assert np.abs(fit(lost) - fit(task.Y)).max() > 0.1


def test_it_is_one_reflection() -> None:
    task = case(4, 200, 3)
    moved = MomentHouseholder(change=0.4).mask(task, stream()).Ystar - task.Y
    assert np.linalg.matrix_rank(moved, tol=1e-9) == 1


@pytest.mark.parametrize("zero", [False, True])
def test_weighted_moments(zero: bool) -> None:
    task = case(5, 200, 2)
    w = np.random.default_rng(5).gamma(2.0, size=200)
    w[::7] *= not zero
    task = Records(task.X, task.Y, task.Y, w * (w > 0).sum() / w.sum())
    Ystar = MomentHouseholder(change=0.5).mask(task, stream()).Ystar
    assert max(ratios(task.X[:, 1:], task.Y, task.X[:, 1:], Ystar, w, w).values()) <= ALGEBRA
    assert third_ratio(task.Y, Ystar, w) <= ALGEBRA
    assert third_ratio(task.Y, Ystar) > 1e6  # the weights were used
    assert (change(task, Ystar) >= 0.5 - 1e-9).all()
    assert (np.abs(Ystar - task.Y).max(axis=1) > 1e-6).all()  # records of weight zero too


def test_without_an_intercept_means_are_kept_all_the_same() -> None:
    task = case(6, 200, 2)
    task = Records(task.X[:, 1:], task.Y, task.Y)
    Ystar = MomentHouseholder(change=0.3).mask(task, stream()).Ystar
    assert max(ratios(task.X, task.Y, task.X, Ystar).values()) <= ALGEBRA
    assert third_ratio(task.Y, Ystar) <= ALGEBRA


def positive(n: int, k: int) -> Limits:
    return Limits(
        np.zeros(k), np.full(k, np.inf), np.empty((0, k)), np.empty((n, 0)), tuple(f"bounds of y{j}" for j in range(k))
    )


@pytest.mark.parametrize(("k", "target"), [(1, 0.8), (2, 0.3), (3, 0.3)])
def test_positive_columns_stay_positive(k: int, target: float) -> None:
    n = 400
    Y = np.random.default_rng(k).exponential(size=(n, k)) @ (np.eye(k) + 0.3)
    free = Records(np.ones((n, 1)), Y, Y)
    task = Records(free.X, Y, Y, limits=positive(n, k))
    assert (MomentHouseholder(change=target).mask(free, stream()).Ystar < 0).any()  # without bounds it would not be
    Ystar = MomentHouseholder(change=target).mask(task, stream()).Ystar
    assert (Ystar >= 0).all()
    assert third_ratio(Y, Ystar) <= ALGEBRA
    assert (change(task, Ystar) >= target * (1 - 1e-9)).all()


def test_edits_hold() -> None:
    n, rng = 300, np.random.default_rng(8)
    whole = rng.gamma(3.0, size=n)
    Y = np.column_stack([whole, whole * rng.uniform(0.2, 0.8, n)])
    limits = Limits(np.zeros(2), np.full(2, np.inf), np.array([[-1.0, 1.0]]), np.zeros((n, 1)), ("part", "y0", "y1"))
    Ystar = MomentHouseholder(change=0.3).mask(Records(np.ones((n, 1)), Y, Y, limits=limits), stream()).Ystar
    assert not limits.broken(Ystar).any()


def test_starts_that_leave_the_bounds_are_counted() -> None:
    n = 400
    Y = np.random.default_rng(9).uniform(size=(n, 2)) ** 4
    tight = Limits(Y.min(axis=0), Y.max(axis=0), np.empty((0, 2)), np.empty((n, 0)), ("bounds of a", "bounds of b"))
    with pytest.raises(InfeasibleError, match=f"no reflection in {STARTS} starts") as caught:
        MomentHouseholder(change=0.9).mask(Records(np.ones((n, 1)), Y, Y, limits=tight), stream())
    assert caught.value.exit_code == 5
    assert "bounds or edits left" in str(caught.value)
    lost, left = _counts(str(caught.value))
    assert lost + left == STARTS
    assert left > 0


def _counts(text: str) -> tuple[int, int]:
    lost, left, _records = (int(word) for word in text.splitlines()[1].split() if word.isdigit())
    return lost, left


def test_remarks_say_which_start_it_was() -> None:
    task = case(10, 200, 2)
    answer = MomentHouseholder(change=0.5).reflect(task, stream())
    assert answer.remarks()[0].startswith(f"Start {answer.lost + answer.left + 1} of {STARTS}")
    assert [float(each) for each in answer.remarks()[1].partition(": ")[2].split(", ")] == pytest.approx(
        change(task, answer.Ystar), abs=6e-4
    )


def test_too_few_records_are_refused_with_the_numbers() -> None:
    """n - rank X - k - 1 free directions for k (k + 1) / 2 equations: 11 records are enough for 3 columns, 10 not."""
    task = case(11, 11, 3, m=0)
    assert Mirror.of(task).check() is None  # type: ignore[func-returns-value]
    few = case(11, 10, 3, m=0)
    with pytest.raises(InfeasibleError, match="6 equations and the data leave 5 free directions") as caught:
        MomentHouseholder(change=0.2).mask(few, stream())
    assert caught.value.exit_code == 5


def test_nothing_to_do() -> None:
    Y = np.full((9, 2), 3.0)
    answer = MomentHouseholder().reflect(Records(np.ones((9, 1)), Y, Y), stream())
    assert np.array_equal(answer.Ystar, Y)


def test_a_target_that_no_direction_reaches_is_refused() -> None:
    task = case(12, 400, 8)
    with pytest.raises(InfeasibleError, match="No one direction"):
        MomentHouseholder(change=1.4).mask(task, stream())
    with pytest.raises(UsageError, match="change must be"):
        MomentHouseholder(change=0)


def test_the_no_op_solves_the_equations_and_is_never_the_answer() -> None:
    """From the projection of no change the solver stays there: the target is what keeps it away."""
    task = case(13, 200, 2)
    mirror = Mirror.of(task)
    tiny = MomentHouseholder(change=1e-9).mask(task, stream()).Ystar
    assert third_ratio(task.Y, tiny) <= ALGEBRA
    assert change(task, tiny).max() < 1e-8
    equations = mirror.equations(np.array([1e-9, 1e-9]))
    eps = solved(equations, np.random.default_rng(1).normal(size=200), np.ones(200))
    assert eps is not None
    assert np.abs(equations.off(eps)).max() <= 16 * EPS * equations.size


@pytest.mark.parametrize("p", [0, 1, 2, 4])
def test_there_are_so_many_products_of_three(p: int) -> None:
    assert len(triples(p)[0]) == p * (p + 1) * (p + 2) // 6


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32), n=st.integers(2, 40), p=st.integers(1, 4), cut=st.integers(0, 40))
def test_third_moments_are_a_fold(seed: int, n: int, p: int, cut: int) -> None:
    rng = np.random.default_rng(seed)
    A, w = rng.normal(size=(n, p)), rng.gamma(2, size=n)
    whole = ThirdMoments.of(A, w)
    parts = ThirdMoments.of(A[:cut], w[:cut]) + ThirdMoments.of(A[cut:], w[cut:])
    j, k, l = triples(p)  # noqa: E741
    assert np.allclose(whole.mean, third(A, w)[j, k, l].astype(float), rtol=0, atol=1e-12)
    assert np.allclose(whole.sums, parts.sums, rtol=0, atol=1e-10)
    assert whole.weight == pytest.approx(parts.weight)


def firms(n: int = 600) -> pd.DataFrame:
    rng = np.random.default_rng(20)
    y = rng.gamma(3.0, size=(n, 2)) @ np.array([[1.0, 0.4], [0.0, 1.0]])
    return pd.DataFrame(
        {"y0": 10 * y[:, 0], "y1": y[:, 1], "region": rng.choice(["n", "s"], n), "x": rng.normal(size=n)}
    )


def released(frame: pd.DataFrame, request: Roles, method: Method | None = None) -> Release:
    return protect(frame, request, method or MomentHouseholder(change=0.4), seed=Seed.for_tests(1))


def values(frame: pd.DataFrame) -> Array:
    return frame[["y0", "y1"]].to_numpy()


def third_claim(release: Release) -> Claim:
    return next(claim for claim in release.certificate.claims if claim.statistic == "third-moment")


def test_the_certificate_tells_third_moments(tmp_path: Path) -> None:
    frame = firms()
    release = released(frame, Roles(confidential=["y0", "y1"], given="x", bounds={"y0": (0, None), "y1": (0, None)}))
    claim = third_claim(release)
    assert claim.holds
    assert claim.ratio == pytest.approx(third_ratio(values(frame), values(release.frame)), abs=3)
    assert (values(release.frame) >= 0).all()
    assert "third moments of the confidential columns" in release.certificate.text()
    frame.to_parquet(tmp_path / "firms.parquet", row_group_size=77)
    other = protect(tmp_path / "firms.parquet", Roles(confidential=["y0", "y1"]), MomentHouseholder(change=0.4))
    assert third_claim(other).holds


def test_the_certificate_sees_third_moments_that_are_not_kept() -> None:
    """The start is another method's release: its third moments are kept, not those of the original."""
    release = released(firms(), Roles(confidential=["y0", "y1"]), Ipso().then(MomentHouseholder(change=0.4)))
    assert not third_claim(release).holds
    assert not release.certificate.holds
    assert all(claim.holds for claim in release.certificate.claims if claim.statistic != "third-moment")


def test_third_moments_in_every_group() -> None:
    frame = firms()
    release = released(frame, Roles(confidential=["y0", "y1"], given="x", groups=["region"]))
    assert release.certificate.holds
    for region in ("n", "s"):
        before, after = (values(each[each["region"] == region]) for each in (frame, release.frame))
        assert third_ratio(before, after) <= ALGEBRA
        assert np.allclose(np.cov(before.T), np.cov(after.T), rtol=1e-12)


def test_third_moments_of_super_blocks_are_those_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.protection.super_blocks.SUPER", 200)
    release = released(firms(), Roles(confidential=["y0", "y1"], given="x"))
    assert release.certificate.holds
    assert third_claim(release).holds


def test_rounded_third_moments_are_reached_not_promised() -> None:
    frame = firms().assign(y0=lambda each: np.ceil(each["y0"]))
    claim = third_claim(released(frame, Roles(confidential=["y0", "y1"], integer=["y0"])))
    assert not claim.promised
    assert 0 < claim.error < 0.1
