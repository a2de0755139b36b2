"""RegSDChybrid of RegSDC 1.0.0 in R, number for number: the result and its six parts."""

from __future__ import annotations

import csv
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from suffice.algebra.array import Array
from suffice.algorithms.hybrid.algorithm import Parts, hybrid
from suffice.algorithms.hybrid.stacks import numbered
from tests.places import SHARED, matrix, needs_shared
from tests.tolerances import REFERENCE

pytestmark = needs_shared

X1, X2, X12, X3 = slice(0, 1), slice(1, 2), slice(0, 2), slice(2, 3)
REQUESTS: dict[str, dict[str, Any]] = {
    "nox": {"clusters": "clust"},
    "single": {},
    "single_xLocal": {"local": X1},
    "single_xGlobal": {"overall": X1},
    "MHa": {"clusters": "clust", "local": X1},
    "MHb": {"pieces": "clust", "local": X1},
    "z0": {"clusters": "clust", "local": X3, "overall": X12},
    "a": {"clusters": "clust", "local": X3, "overall": X12, "slopes": 0},
    "b": {"clusters": "clust", "local": X3, "overall": X12, "slopes": 1},
    "alpha0": {"clusters": "clust", "local": X3, "overall": X12, "slopes": 0.0},
    "xGonly": {"clusters": "clust", "overall": X12},
    "d": {"clusters": "clust", "cluster_groups": "clustGr", "local": X3, "groups_given": X2, "overall": X1},
    "e": {"clusters": "clust", "pieces": "clustP", "local": X3, "overall": X12},
}


def data() -> dict[str, Any]:
    assert SHARED is not None
    with (SHARED / "reference" / "regsdc_hybrid_in.csv").open() as file:
        rows = list(csv.DictReader(file))
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    found: dict[str, Any] = {name: numbered(columns[name]) for name in ("clust", "clustGr", "clustP")}
    for name in ("yh", "x", "ySim"):
        found[name] = np.array([columns[f"{name}.{j}"] for j in (1, 2, 3)], dtype=float).T
    return found


def ours(request: dict[str, Any]) -> Parts:
    known = data()
    labels = {name: known[value] for name, value in request.items() if isinstance(value, str)}
    matrices = {name: known["x"][:, value] for name, value in request.items() if isinstance(value, slice)}
    return hybrid(known["yh"], known["ySim"], **request | labels | matrices)


def all_parts(found: Parts) -> Array:
    return np.hstack([found.Yhat1, found.Yhat2, found.E3star, found.E4star, found.E3, found.E4])


def agree(name: str, found: Parts) -> None:
    theirs, parts = matrix(f"regsdc_hybrid_{name}"), matrix(f"regsdc_hybrid_{name}_parts")
    assert np.abs(found.Ystar - theirs).max() <= REFERENCE * np.abs(theirs).max()
    assert np.abs(all_parts(found) - parts).max() <= REFERENCE * np.abs(parts).max()


@pytest.mark.parametrize("name", REQUESTS)
def test_same_numbers(name: str) -> None:
    agree(name, ours(REQUESTS[name]))


def test_same_numbers_at_the_largest_alpha_where_r_goes_to_the_limit() -> None:
    whole, theirs = matrix("regsdc_hybrid_b_parts")[:, 6:9], matrix("regsdc_hybrid_c_parts")[:, 6:9]
    alpha = float((whole * theirs).sum() / (whole**2).sum())  # E_3* = alpha T_s3 W_3
    found = ours(REQUESTS["b"])
    assert found.held is not None
    agree("c", replace(found, alpha=alpha, C=found.held.C(alpha)))
    assert alpha == pytest.approx(min(1.0, found.largest), rel=1e-6)
