"""RegSDC 1.0.0 in R, number for number, with the random matrices that it drew."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.algebra.addition import LIMIT, DependentColumns, share
from suffice.algebra.array import Array
from suffice.algebra.decomposition import ensure_intercept, gqr, scores, split
from suffice.errors import InfeasibleError
from suffice.method.isometric import Isometric
from suffice.microdata import Addition, Ipso, ResidualCorrelation, Restore, Romm, ScoreCorrelation
from tests.places import matrix, needs_shared
from tests.tolerances import REFERENCE

pytestmark = needs_shared
MIXED = (0.1, None, 1, 0.9)
CORRELATIONS = (0.1, 0.2, 0.3, 0.4)


def r(name: str) -> Array:
    return matrix(f"regsdc_{name}")


def agree(ours: Array, theirs: Array, bound: float = REFERENCE) -> None:
    assert ours.shape == theirs.shape
    assert np.abs(ours - theirs).max() <= bound * np.abs(theirs).max()


def data(y: str = "Y", x: str = "X") -> tuple[Array, Array]:
    return ensure_intercept(r(f"in_{x}")), r(f"in_{y}")


@pytest.mark.parametrize("by", ["qr", "svd"])
@pytest.mark.parametrize("name", ["X", "Y", "Xdep", "Ydep", "Ynear"])
def test_generalized_qr_and_svd(name: str, by: str) -> None:
    T, W = scores(r(f"in_{name}"), by)
    agree(T, r(f"GenQR_{name}_{by}_Q"))
    agree(W, r(f"GenQR_{name}_{by}_R"))


@pytest.mark.parametrize("by", ["qr", "svd"])
@pytest.mark.parametrize("name", ["X", "Y", "Xdep", "Ydep", "Ynear"])
def test_not_unique_differs_by_signs_only(name: str, by: str) -> None:
    theirs_T, theirs_W = r(f"GenQR_{name}_{by}_notunique_Q"), r(f"GenQR_{name}_{by}_notunique_R")
    T, W = scores(r(f"in_{name}"), by)
    signs = np.sign((T * theirs_T).sum(axis=0))
    agree(T * signs, theirs_T)
    agree(W * signs[:, None], theirs_W)


def test_without_r_the_columns_are_the_same_up_to_signs() -> None:
    T, theirs = scores(r("in_Xdep"))[0], r("GenQR_Xdep_findRFALSE")
    agree(T * np.sign((T * theirs).sum(axis=0)), theirs)


def test_the_dependent_column_is_the_one_that_linpack_drops() -> None:
    rank, *order = r("qr_Xdep_rank_pivot")[:, 0].astype(int)
    D = gqr(r("in_Xdep"))
    assert (D.rank, D.pivots) == (rank, tuple(p - 1 for p in order[:rank]))


@pytest.mark.parametrize(
    ("name", "constant"), [("X", ()), ("cbind_X_2_", (2.0,)), ("cbind_X_0_", (0.0,)), ("cbind_X_3_", (-3.0,))]
)
def test_ensure_intercept(name: str, constant: tuple[float, ...]) -> None:
    X = np.hstack([r("in_X"), *(np.full((60, 1), c) for c in constant)])
    assert np.array_equal(ensure_intercept(X), r(f"EnsureIntercept_{name}"))


def test_ensure_intercept_where_there_is_nothing() -> None:
    assert np.array_equal(ensure_intercept(np.zeros((4, 0))), r("EnsureIntercept_matrix_0_4_0_"))


@pytest.mark.parametrize(
    ("a", "b", "alpha"),
    [
        ("E", "Eg", 0.3193914487441768),
        ("E", "Es", 1.6834893875954611),
        ("Eg", "E", 2.0438671211886215),
        ("E", "Eg1", 0.11714775698756108),
        ("E1", "Eg1", 0.37331733083712049),
    ],
)
def test_largest_alpha(a: str, b: str, alpha: float) -> None:
    assert share(r(f"in_{a}"), r(f"in_{b}")).largest == pytest.approx(alpha, rel=REFERENCE)


@pytest.mark.parametrize(("a", "b"), [("Eg1", "E"), ("E1", "Eg")])
def test_a_broken_relation_has_alpha_zero_and_is_named(a: str, b: str) -> None:
    given = share(r(f"in_{a}"), r(f"in_{b}"))  # column 3 = column 1 + column 2 in `a` only
    assert given.largest == 0.0
    assert given.broken == (2, 0, 1)


@pytest.mark.parametrize(("a", "b"), [("E", "Es"), ("Eg", "E")])
def test_C(a: str, b: str) -> None:
    agree(share(r(f"in_{a}"), r(f"in_{b}")).C(1.0), r(f"CalculateC_{a}_{b}"))


@pytest.mark.parametrize(("a", "b"), [("E", "Eg"), ("E", "Eg1"), ("E1", "Eg1")])
def test_C_next_to_the_limit(a: str, b: str) -> None:
    # RegSDC stops 1e-7 below the limit, where C is nearly singular: its last row has few digits of its own
    given, C = share(r(f"in_{a}"), r(f"in_{b}")), r(f"CalculateC_{a}_{b}")
    ours = given.C(given.largest * (1 - LIMIT))
    agree(ours.T @ ours, C.T @ C)
    agree(ours, C)
    assert abs(C[-1]).max() < 1e-3 * abs(C).max()


def test_C_where_nothing_can_be_kept_is_the_loadings_alone() -> None:
    given, C = share(r("in_Eg1"), r("in_E")), r("CalculateC_Eg1_E")
    agree(given.C(0.0), C)


FILES: dict[str, tuple[Isometric, str, str]] = {
    "ipso": (Ipso(), "Y", "X"),
    "ipso_Xdep": (Ipso(), "Y", "Xdep"),
    "gen_svd": (Ipso("svd"), "Y", "X"),
    "romm_0.001": (Romm(0.001), "Y", "X"),
    "romm_0.001_svd": (Romm(0.001, by="svd"), "Y", "X"),
    "romm_0.1": (Romm(0.1), "Y", "X"),
    "romm_0.1_svd": (Romm(0.1, by="svd"), "Y", "X"),
    "romm_1": (Romm(1), "Y", "X"),
    "comp_NA_qr": (ScoreCorrelation(None), "Y", "X"),
    "comp_NA_svd": (ScoreCorrelation(None, by="svd"), "Y", "X"),
    "comp_0_qr": (ScoreCorrelation(0), "Y", "X"),
    "comp_0_svd": (ScoreCorrelation(0, by="svd"), "Y", "X"),
    "comp_0.5_qr": (ScoreCorrelation(0.5), "Y", "X"),
    "comp_0.5_svd": (ScoreCorrelation(0.5, by="svd"), "Y", "X"),
    "comp_c_0.1_NA_1_0.9__qr": (ScoreCorrelation(MIXED), "Y", "X"),
    "comp_c_0.1_NA_1_0.9__svd": (ScoreCorrelation(MIXED, by="svd"), "Y", "X"),
    "comp_Ydep_0.5": (ScoreCorrelation(0.5), "Ydep", "X"),
    "add_corr": (ResidualCorrelation(CORRELATIONS), "Y", "X"),
    "add_corr0.2": (ResidualCorrelation(0.2), "Y", "X"),
}


@pytest.mark.parametrize("name", FILES)
def test_same_random_matrix_same_release(name: str) -> None:
    method, y, x = FILES[name]
    Z = r(f"{name}_rnd1")
    X, Y = data(y, x)
    assert Z.shape[1] <= method.draws(Y.shape[1])
    agree(method.solve(X, Y, Z), r(name))


def test_ipso_without_given_columns_and_without_intercept() -> None:
    _, Y = data()
    agree(Ipso().solve(np.ones((60, 1)), Y, r("ipso_nox_rnd1")), r("ipso_nox"))
    agree(Ipso().solve(r("in_X"), Y, r("ipso_noint_rnd1")), r("ipso_noint"))


def test_all_scores_kept_is_the_original() -> None:
    X, Y = data()
    method = ScoreCorrelation(1)
    assert method.draws(4) == 0
    agree(method.solve(X, Y, np.empty((60, 0))), r("comp_1_qr"))


@pytest.mark.parametrize("name", ["gen_yNew", "new"])
def test_restore(name: str) -> None:
    X, Y = data()
    agree(Restore(r("in_Ynew"), fill=False).solve(X, Y, np.empty((60, 0))), r(name))


def test_addition() -> None:
    X, Y = data()
    agree(Addition(start=r("in_Yst")).solve(X, Y, r("add_yStart_rnd1")), r("add_yStart"))
    assert r("add_yStart_alpha") == 1


def test_gen_not_unique_has_the_same_scores_up_to_signs() -> None:
    X, Y = data()
    Yhat, E = split(Y, X)
    _, W = scores(E)
    mine = scores(split(r("gen_notunique_rnd1"), X)[1])[0]
    theirs = np.linalg.solve(W.T, (r("gen_notunique") - Yhat).T).T
    agree(mine * np.sign((mine * theirs).sum(axis=0)), theirs)


def test_restore_of_dependent_columns_pairs_scores_with_the_pivots() -> None:
    X, Y = data("Ydep")
    Yhat, E = split(Y, X)
    D, Q = gqr(E), gqr(split(r("in_Ynew"), X)[1]).Q
    assert D.pivots == (0, 1, 3)
    agree(Yhat + Q[:, :3] @ D.R, r("gen_Ydep_yNew"))  # RegSDC: the first three scores, whatever the pivots are
    ours = Restore(r("in_Ynew")).solve(X, Y, np.empty((60, 0)))
    agree(ours, Yhat + gqr(split(r("in_Ynew")[:, [0, 1, 3]], X)[1]).Q @ D.R)  # variable 4 keeps its own score
    assert np.abs(ours - r("gen_Ydep_yNew")).max() > 0.01


def test_near_dependent_alpha_is_good_to_1e_7_only() -> None:
    X, Y = data("Ynear")
    _, E = split(Y, X)
    limit, theirs = share(E, E * CORRELATIONS).largest, r("add_Ynear_alpha").item()
    assert theirs == pytest.approx(limit * (1 - LIMIT), rel=1e-8)
    with pytest.raises(InfeasibleError, match=r"largest feasible alpha 0\.001452 "):
        ResidualCorrelation(CORRELATIONS).solve(X, Y, r("add_Ynear_rnd1"))


def test_dependent_columns_are_refused_where_regsdc_gives_alpha_zero() -> None:
    X, Y = data("Ydep")
    assert r("add_Ydep_alpha") == 0
    with pytest.raises(DependentColumns, match="Columns 3, 1 and 2 are linearly dependent") as refused:
        ResidualCorrelation(CORRELATIONS).solve(X, Y, r("add_Ydep_rnd1"))
    assert "turnover" in str(refused.value.named(["a", "b", "turnover", "c"]))
    Yhat, E = split(Y, X)  # what it delivers then is no hybrid: residuals with nothing of the original
    assert np.abs(E.T @ (r("add_Ydep") - Yhat)).max() < REFERENCE * np.abs(E.T @ E).max()
