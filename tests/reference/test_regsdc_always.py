"""A few of RegSDC's numbers that travel with the project (tests/data/regsdc)."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.algebra.array import Array
from suffice.algebra.decomposition import ensure_intercept
from suffice.method.isometric import Isometric
from suffice.microdata import Ipso, ResidualCorrelation, Romm, ScoreCorrelation
from tests.places import DATA, matrix
from tests.tolerances import REFERENCE


def r(name: str) -> Array:
    return matrix(name, DATA / "regsdc")


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("ipso", Ipso()),
        ("romm_0.1", Romm(0.1)),
        ("comp_c_0.1_NA_1_0.9__qr", ScoreCorrelation((0.1, None, 1, 0.9))),
        ("add_corr", ResidualCorrelation((0.1, 0.2, 0.3, 0.4))),
    ],
)
def test_same_random_matrix_same_release(name: str, method: Isometric) -> None:
    X, Y, theirs = ensure_intercept(r("in_X")), r("in_Y"), r(name)
    ours = method.solve(X, Y, r(f"{name}_rnd1"))
    assert np.abs(ours - theirs).max() <= REFERENCE * np.abs(theirs).max()
