"""Every promised statistic, at its own level, to the last digits that the numbers can hold."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.algebra.array import Array
from suffice.algorithms.hybrid.algorithm import hybrid
from tests.algorithms.hybrid.cases import Request, asked, design, file, pairs, residuals, worst_ratio
from tests.tolerances import ALGEBRA
from tests.truth import EPS

MANY = tuple(np.random.default_rng(7).integers(1, 14, size=150).tolist())
UNEQUAL = (2, 3, 5, 8, 13, 40, 300, 5000)
SIZES = {"many": MANY, "unequal": UNEQUAL, "ten": (10,) * 60}


def offsets(Y: Array, X: Array) -> None:
    Y += 1e6 * Y.std(axis=0)
    X += 1e6 * X.std(axis=0)


def huge_offset(Y: Array, X: Array) -> None:
    Y += 1e9 * Y.std(axis=0)


def scales(Y: Array, X: Array) -> None:
    Y *= [1e-6, 1.0, 1e9]
    X *= [1e5, 1e-8, 1.0, 1e7, 1e3]


def near_dependent_y(Y: Array, X: Array) -> None:
    Y[:, 2] = Y[:, 0] + Y[:, 1] + 1e-9 * Y[:, 2]


def near_dependence(Y: Array, X: Array) -> None:
    near_dependent_y(Y, X)
    X[:, 2] = X[:, 1] + 1e-9 * X[:, 2]
    X[:, 0] = X[:, 3] + 1e-8 * X[:, 0]


def dependence(Y: Array, X: Array) -> None:
    Y[:, 2] = Y[:, 0] + Y[:, 1]
    X[:, 2] = 2 * X[:, 1] + 3
    X[:, 0] = X[:, 3]


def few_values(Y: Array, X: Array) -> None:
    Y[:] = np.where(np.abs(Y) < 2, 0.0, np.round(10 * Y))
    X[:] = X > 1


def skew(Y: Array, X: Array) -> None:
    Y[:] = np.exp(3 * (Y - Y.mean(axis=0)) / Y.std(axis=0))
    X[:] = np.exp(2 * (X - X.mean(axis=0)) / X.std(axis=0))


def explained(Y: Array, X: Array) -> None:
    Y[:, 0] = 3 * X[:, 0] - 1
    Y[:, 1] = X[:, 1]


def ordinary(Y: Array, X: Array) -> None:
    pass


CASES = (ordinary, offsets, huge_offset, scales, near_dependence, dependence, few_values, skew, explained)
MATRICES = ("local", "overall", "pieces_given", "groups_given")


def made(case: object, sizes: str, seed: int = 3) -> tuple[Array, Array, Request]:
    Y, Z, given = file(seed, SIZES[sizes])
    X = np.hstack([given[part] for part in MATRICES])
    case(Y, X)  # type: ignore[operator]
    at = {"local": X[:, :1], "overall": X[:, 1:3], "pieces_given": X[:, 3:4], "groups_given": X[:, 4:]}
    return Y, Z, given | at


def within(bound: float, found: dict[str, float], *what: str) -> None:
    assert max(found[name] for name in what) <= bound, found


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("case", CASES)
def test_main_algorithm(case: object, sizes: str, weighted: bool) -> None:
    Y, Z, given = made(case, sizes)
    w = np.random.default_rng(8).uniform(0.1, 30, size=len(Y)) if weighted else None
    none, everyone = np.zeros((len(Y), 0)), np.zeros(len(Y))
    local = np.hstack([given["local"], given["pieces_given"]])

    Ystar = hybrid(Y, Z, **asked(given, "clusters", "local"), weights=w).Ystar
    within(ALGEBRA, worst_ratio(given["clusters"], given["local"], Y, Ystar, w), "mean", "covariance", "fit")
    within(ALGEBRA, worst_ratio(everyone, given["local"], Y, Ystar, w), "mean", "covariance", "fit")

    Ystar = hybrid(Y, Z, **given, weights=w).Ystar
    pieces = pairs(given["clusters"], given["pieces"])
    groups = np.hstack([given[part] for part in ("local", "pieces_given", "groups_given")])
    within(ALGEBRA, worst_ratio(pieces, given["pieces_given"], Y, Ystar, w), "mean", "fit")
    within(ALGEBRA, worst_ratio(given["clusters"], local, Y, Ystar, w), "mean", "fit")
    within(ALGEBRA, worst_ratio(given["cluster_groups"], groups, Y, Ystar, w), "mean", "fit")
    all_given = np.hstack([given[part] for part in MATRICES])
    within(ALGEBRA, worst_ratio(everyone, all_given, Y, Ystar, w), "mean", "covariance", "fit")

    Ystar = hybrid(Y, Z, pieces=given["clusters"], weights=w).Ystar  # MHb
    within(ALGEBRA, worst_ratio(given["clusters"], none, Y, Ystar, w), "mean")
    within(ALGEBRA, worst_ratio(everyone, none, Y, Ystar, w), "mean", "covariance")


@pytest.mark.parametrize("slopes", [0, 0.3, "largest"])
@pytest.mark.parametrize("case", [ordinary, offsets, scales, near_dependent_y])
def test_residual_covariances_of_clusters(case: object, slopes: float) -> None:
    Y, Z, given = file(4, (12, 15, 20, 30, 200))
    X = np.hstack([given[part] for part in MATRICES])
    case(Y, X)  # type: ignore[operator]
    given |= {"local": X[:, :1], "overall": X[:, 1:3]}
    request = asked(given, "clusters", "local", "overall")
    Ystar = hybrid(Y, Z, **request, slopes=slopes).Ystar
    D = design(request, len(Y))
    E, Estar = residuals(Y, D), residuals(Ystar, D)
    for cluster in range(5):
        r = given["clusters"] == cluster
        before, after = E[r].T @ E[r] / r.sum(), Estar[r].T @ Estar[r] / r.sum()
        sd = np.sqrt(np.diagonal(before))
        lost = np.maximum(1.0, np.abs(Y[r]).max(axis=0) / sd)
        error = np.abs(after - before) / np.outer(sd, sd) / np.maximum.outer(lost, lost)
        assert error.max() <= ALGEBRA * EPS
    within(ALGEBRA, worst_ratio(np.zeros(len(Y)), X[:, :3], Y, Ystar), "mean", "covariance", "fit")


def test_the_largest_and_the_smallest_numbers_lose_nothing() -> None:
    Y, Z, given = file(2)
    request = asked(given, "clusters", "pieces", "pieces_given", "local", "overall")
    extreme = {part: np.ldexp(given[part], 990) if "given" in part else given[part] for part in request}
    extreme["overall"] = np.ldexp(given["overall"], [-990, 990])
    found = hybrid(np.ldexp(Y, [990, -900, 0]), Z, **extreme, slopes=0.1).Ystar
    assert np.array_equal(found, np.ldexp(hybrid(Y, Z, **request, slopes=0.1).Ystar, [990, -900, 0]))


def test_a_column_that_is_constant_in_a_cluster_stays_bit_for_bit() -> None:
    Y, Z, given = file(5, (7, 12, 30))
    first = given["clusters"] == 0
    Y[first, 1] = 0.1 + 0.2
    Y[:, 2] = 1e9 / 3
    found = hybrid(Y, Z, **asked(given, "clusters", "local")).Ystar
    assert np.array_equal(found[first, 1], Y[first, 1])
    assert np.array_equal(found[:, 2], Y[:, 2])
    assert np.abs(found - Y)[~first, :2].min() > 0


def test_a_column_that_is_explained_stays_bit_for_bit() -> None:
    Y, Z, given = file(5, (17, 22, 30))
    Y[:, 0] = 3 * given["local"][:, 0] + given["clusters"] / 3
    Y[:, 1] = given["overall"] @ [1 / 3, 1 / 7] + 1e3 * given["local"][:, 0]
    for slopes in (None, 0, 0.5):
        found = hybrid(Y, Z, **asked(given, "clusters", "local", "overall"), slopes=slopes).Ystar
        assert np.array_equal(found[:, :2], Y[:, :2])
        assert np.abs(found - Y)[:, 2].min() > 0


def test_ranks_are_not_those_of_rounding() -> None:
    Y, Z, given = file(8, (9, 14, 30, 31))
    X = given["local"] + 1e3
    known = np.hstack([np.pi * X - 7, 1e6 / 3 + given["clusters"][:, None], given["overall"][:, :1], X + 1])
    found = hybrid(Y, Z, clusters=given["clusters"], local=X, overall=known)
    assert found.ranks == (8, 1, 3)
    twice = np.hstack([given["overall"] + 1e4, 3 * given["overall"] + 1e6])
    found = hybrid(Y, Z, **asked(given, "clusters"), overall=twice)
    assert found.ranks == (4, 2, 6)
    found = hybrid(Y, Z, **asked(given, "clusters", "cluster_groups"), groups_given=twice[:, :2], overall=twice[:, 2:])
    assert found.ranks == (4, 4, 4)


def test_nothing_changes_where_nothing_is_left() -> None:
    Y, Z, given = file(6, (1, 1, 2, 9))
    found = hybrid(Y, Z, **asked(given, "clusters", "local"))
    small = given["clusters"] < 3
    assert found.freedom.tolist() == [0, 0, 0, 7]
    assert np.array_equal(found.Ystar[small], Y[small])


@pytest.mark.parametrize("little", ["explained", "dependent"])
def test_a_basis_made_of_little_is_orthogonal_all_the_same(little: str) -> None:
    Y, Z, given = file(9, (6,) * 400)
    if little == "explained":
        Z = 1e3 * given["local"] + 1e3 * given["overall"] @ [[1, 0, 2], [0, 1, 1]] + 1e-4 * Z
    else:
        Z[:, 2] = Z[:, 0] - 2 * Z[:, 1] + 1e-9 * Z[:, 2]
    found = hybrid(Y, Z, **asked(given, "clusters", "local", "overall", "pieces")).Ystar
    within(ALGEBRA, worst_ratio(given["clusters"], given["local"], Y, found), "mean", "fit")
    all_given = np.hstack([given["local"], given["overall"]])
    within(ALGEBRA, worst_ratio(np.zeros(len(Y)), all_given, Y, found), "mean", "covariance", "fit")
