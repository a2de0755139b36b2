"""alpha and C of (9) and (10)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.algebra.addition import DependentColumns, share, usable
from suffice.errors import InfeasibleError


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32), k=st.integers(1, 4), part=st.floats(0, 0.99))
def test_C_solves_equation_10_up_to_the_largest_alpha(seed: int, k: int, part: float) -> None:
    rng = np.random.default_rng(seed)
    E, Eg = rng.normal(size=(2, 15, k))
    given = share(E, Eg)
    alpha = part * given.largest
    C = given.C(alpha)
    assert np.allclose(C.T @ C, E.T @ E - alpha**2 * Eg.T @ Eg, rtol=0, atol=1e-10 * (E.T @ E).max())
    over = E.T @ E - (1.001 * given.largest) ** 2 * Eg.T @ Eg
    assert np.linalg.eigvalsh(over).min() < 0  # beyond it there is no C


def test_the_largest_alpha_itself_is_never_used() -> None:
    E, Eg = np.eye(3)[:, :2], 2 * np.eye(3)[:, :2]
    given = share(E, Eg)
    assert given.largest == pytest.approx(0.5)
    assert usable(0.4999, given, None, "") == 0.4999
    with pytest.raises(InfeasibleError, match=r"largest feasible alpha 0\.5 \(itself excluded\)"):
        usable(0.5, given, None, "")
    assert usable(0.5, given, 0.8, "") == pytest.approx(0.4)


def test_nothing_given_allows_everything() -> None:
    E = np.eye(3)[:, :2]
    given = share(E, np.zeros((3, 2)))
    assert given.largest == np.inf
    assert np.allclose(given.C(1.0), E.T @ E)


def test_no_residuals_at_all() -> None:
    given = share(np.zeros((3, 2)), np.zeros((3, 2)))
    assert given.C(1.0).shape == (0, 2)
    assert usable(1.0, given, None, "") == 1.0


def test_a_relation_must_hold_in_both() -> None:
    E = np.random.default_rng(1).normal(size=(9, 4))
    E[:, 3] = E[:, 0] - 2 * E[:, 2]
    assert share(E, E * [0.3, 0.9, 0.3, 0.3]).broken == ()  # column 2 is not part of it
    with pytest.raises(DependentColumns, match="Columns 4, 1 and 3 are linearly dependent, so do better") as error:
        usable(1.0, share(E, E * [0.3, 0.3, 0.3, 0.4]), 0.5, "do better")
    assert error.value.columns == (3, 0, 2)
    assert "Columns d, a and c are" in str(error.value.named("abcd"))


def test_an_explained_column_takes_nothing_from_the_start() -> None:
    E = np.random.default_rng(1).normal(size=(9, 2))
    with pytest.raises(DependentColumns, match="Column 2 is explained by the given columns, so no"):
        usable(1.0, share(E * [1, 0], E), None, "no")
