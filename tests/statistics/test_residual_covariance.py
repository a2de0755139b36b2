"""Residuals in clusters as the certificate sees them, against regressions with a column for every group."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from suffice import MicroHybrid, Roles, protect
from suffice.algebra.array import Array
from suffice.algebra.crossed import basis, noise, rank
from suffice.algebra.group_moments import Grouping
from suffice.design.design import Design
from suffice.rows.memory import MemoryRows
from suffice.statistics.crossed_regression import CrossedFit, CrossedRegression
from suffice.statistics.residual_covariance import CrossedSums
from suffice.statistics.sums import Reference, looked
from tests.algorithms.hybrid.cases import asked, design, file, residuals
from tests.tolerances import ENGINE

PLACES = {"clusters": "clusters", "pieces": "pieces", "cluster_groups": "groups"}
MODELS = (
    ("clusters",),
    ("clusters", "local"),
    ("clusters", "overall"),
    ("clusters", "local", "overall"),
    ("clusters", "pieces", "pieces_given", "local", "overall"),
    ("clusters", "cluster_groups", "groups_given", "local"),
    ("clusters", "pieces", "pieces_given", "cluster_groups", "groups_given", "local", "overall"),
)


def roots(weighted: bool, n: int) -> Array:
    """Square roots of weights, as a column."""
    w = np.random.default_rng(1).gamma(2.0, 1.0, n) + 0.1 if weighted else np.ones(n)
    return np.sqrt(w)[:, None]


def fitted(
    parts: tuple[str, ...], weighted: bool = False
) -> tuple[CrossedFit, dict[str, NDArray[np.int64]], Array, Array]:
    """The regression of some parts, the labels, its matrix with all columns, and Y; all times the roots of weights."""
    Y, _, given = file()
    request = asked(given, *parts)
    columns = {f"{name}{j}": x for name, X in given.items() if X.ndim == 2 for j, x in enumerate(X.T)}
    labels = {name: given[name] for name in PLACES}
    root = roots(weighted, len(Y))
    frame = pd.DataFrame({**columns, **labels, **{f"y{j}": y for j, y in enumerate(Y.T)}, "w": root[:, 0] ** 2})
    rows = MemoryRows(frame, 1)
    formulas = {
        name: " + ".join(key for key in columns if key.rstrip("0123456789") == name) for name in parts if name in given
    }
    by = {"all": (), "clusters": ("clusters",)}
    by |= {"groups": ("cluster_groups",)} if "cluster_groups" in parts else {}
    by |= {"pieces": ("clusters", "pieces")} if "pieces" in parts else {}
    terms = {name: formula for name, formula in formulas.items() if formula}
    roles = Roles(
        confidential=["y0", "y1", "y2"],
        given=" + ".join(terms.values()),
        labels=tuple(labels),
        weight="w" if weighted else None,
    )
    crossing = CrossedRegression(tuple(by.items()), tuple(terms.items()))
    learnt = Design.learn(rows, roles)
    reference = Reference(rows, learnt, learnt, np.zeros(learnt.m + learnt.k), np.ones(learnt.m + learnt.k))
    [found] = looked(rows, [CrossedSums(crossing).before(reference)])
    return found, labels, root * design(request, len(Y)), root * Y


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("parts", MODELS)
def test_residuals_of_the_whole_and_of_each_cluster(parts: tuple[str, ...], weighted: bool) -> None:
    found, labels, X, Y = fitted(parts, weighted)
    clusters = labels["clusters"]
    _, _, given = file()
    sorted_rows = np.argsort(words(found, clusters), kind="stable")
    whole = residuals(Y, X).astype(float)
    assert np.abs(np.array(found.whole).T - whole[sorted_rows]).max() < ENGINE
    own, left = np.empty_like(Y), []
    for c in np.unique(clusters):
        r = clusters == c
        inside = {name: value[r] for name, value in asked(given, *parts).items() if name != "cluster_groups"}
        inside["clusters"] = np.zeros(r.sum(), dtype=int)
        none = np.zeros((r.sum(), 0))
        inside["overall"] = np.hstack([inside.get("overall", none), inside.pop("groups_given", none)])
        D = roots(weighted, len(Y))[r] * design(inside, int(r.sum()))
        own[r] = residuals(Y[r], D).astype(float)
        left.append(int(r.sum() - np.linalg.matrix_rank(D)))
    assert np.abs(np.array(found.own).T - own[sorted_rows]).max() < ENGINE
    assert sorted(found.freedom.tolist()) == sorted(left)


def words(found: CrossedFit, clusters: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The word of each record's cluster: the clusters are told apart by their sizes."""
    names, sizes = np.unique(clusters, return_counts=True)
    groups = found.groupings["clusters"]
    by_size = dict(zip(groups.counts.tolist(), groups.labels, strict=True))
    return np.array([by_size[dict(zip(names.tolist(), sizes.tolist(), strict=True))[c]] for c in clusters.tolist()])


def test_dependent_columns_and_those_that_do_not_vary_add_nothing() -> None:
    rng = np.random.default_rng(3)
    labels = np.repeat([5, 3, 9], [6, 2, 8])
    groups, one, x = Grouping.of(labels), np.ones(16), rng.normal(size=16)
    flat = 1e6 + labels * 0.1
    columns = [one, x, 2 * x + 1, flat]
    least = noise(groups, columns, one)
    least[0] = 0.0
    assert rank(groups, basis(groups, columns, least)).tolist() == [2, 2, 2]


@pytest.mark.parametrize("formula", ["overall", "groups_given"])
def test_weights_and_an_offset_cost_no_digits(formula: str) -> None:
    """Numbers of days, weighted: the root of a weight times a large number is rounded, and nothing is lost by it."""
    rng, n = np.random.default_rng(1), 400
    data = pd.DataFrame({"c": np.repeat(np.arange(20), 20), "day": 738_000 + rng.integers(0, 30, n)})
    data["g"], data["w"] = data["c"] // 10, rng.exponential(size=n) + 0.1
    data[["y", "z"]] = np.exp(rng.normal(size=(n, 2)))
    more = {"cluster_groups": "g"} if formula == "groups_given" else {}
    method = MicroHybrid(clusters="c", **more, **{formula: "day"})
    roles = Roles(confidential=["y", "z"], weight="w")
    assert max(claim.ratio for claim in protect(data, roles, method).certificate.claims) < 10
