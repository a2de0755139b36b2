"""Whoever has the random numbers undoes hybrids and ROMM to the last digits, and learns nothing from IPSO."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import root

from suffice import Blend, Ipso, ResidualCorrelation, Restore, Romm, Seed, protect
from suffice.algebra.array import Array
from suffice.algebra.decomposition import gqr, scores, split
from suffice.errors import GuardError
from suffice.method.method import Method
from suffice.seed import BlockKey
from tests.attacks.victims import confidential, linked, profile, public, residuals, roles, rules, uncertain, unguarded
from tests.tolerances import CHANCE, ENGINE

SHARE, LAM = 0.8, 0.3


def attacked(frame: pd.DataFrame, method: Method) -> tuple[Array, Array, Array]:
    """What he has: scores U and loadings W of the released residuals, residuals Z of the random numbers."""
    drawn, draw = [], BlockKey.fill

    def overheard(key: BlockKey, Z: Array) -> None:
        draw(key, Z)
        drawn.append(Z.copy())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BlockKey, "fill", overheard)
        released = unguarded(frame, method).frame
    U, W = scores(residuals(linked(released, frame)), "qr")
    return U, W, split(drawn[0], public(frame))[1]


def undo_hybrid(U: Array, Z: Array, d: float) -> Array:
    """Original scores T from U = d T + s T*, Z = T A + T* R: the unknowns are the k^2 numbers A = T'Z.

    U'Z = d A + s R and R'R = Z'Z - A'A: as many equations as unknowns.
    """
    s, k = np.sqrt(1 - d * d), U.shape[1]

    def upper(A: Array) -> Array:
        return np.asarray(np.linalg.cholesky(Z.T @ Z - A.T @ A).T)

    def gap(flat: Array) -> Array:
        A = flat.reshape(k, k)
        return np.asarray(d * A + s * upper(A) - U.T @ Z).ravel()

    A = root(gap, np.zeros(k * k), tol=1e-14).x.reshape(k, k)
    inverse = np.linalg.inv(upper(A))
    return np.asarray((U - s * Z @ inverse) @ np.linalg.inv(d * np.eye(k) - s * A @ inverse))


def undo_romm(U: Array, Z: Array, lam: float) -> Array:
    """Original scores T = U R - lam Z: R is triangular and T'T = I, k(k + 1)/2 equations and unknowns."""
    k = U.shape[1]
    place = np.triu_indices(k)

    def back(flat: Array) -> Array:
        R = np.zeros((k, k))
        R[place] = flat
        return np.asarray(U @ R - lam * Z)

    def gap(flat: Array) -> Array:
        T = back(flat)
        return np.asarray(T.T @ T - np.eye(k))[place]

    start = np.linalg.cholesky(np.eye(k) + lam**2 * Z.T @ Z).T[place]
    return back(root(gap, start, tol=1e-14).x)


def test_a_hybrid_is_undone() -> None:
    frame = profile()
    U, W, Z = attacked(frame, ResidualCorrelation(d=SHARE))
    truth = residuals(frame)
    assert np.abs(undo_hybrid(U, Z, SHARE) @ W - truth).max() < 1e-8 * truth.std()


def test_romm_is_undone() -> None:
    frame = profile()
    U, W, Z = attacked(frame, Romm(lam=LAM))
    truth = residuals(frame)
    assert np.abs(undo_romm(U, Z, LAM) @ W - truth).max() < 1e-8 * truth.std()


def test_ipso_is_not() -> None:
    """The same tools, and the best use of the random numbers, leave all of the residuals uncertain."""
    frame = profile()
    U, W, Z = attacked(frame, Ipso())
    truth = residuals(frame)
    assert np.allclose(gqr(Z).Q, U)  # he knows the released scores before he sees them,
    fresh = residuals(unguarded(profile(seed=5), Ipso()).aligned())
    for guess in (U @ W, Z, undo_romm(U, Z, LAM) @ W, fresh):  # and is where a stranger is
        assert 1 - uncertain(guess, truth) < CHANCE**2 / (2 * len(frame))


def test_other_originals_have_the_same_ipso_release_under_the_same_random_numbers() -> None:
    """The reason: the release is a function of fit, covariance and Z, and so many originals share these."""
    frame, rng = profile(), np.random.default_rng(2)
    X, Y, Z, other = public(frame), confidential(frame), *rng.normal(size=(2, 300, 3))
    twin = Ipso().solve(X, Y, other)
    assert uncertain(split(twin, X)[1], residuals(frame)) > 0.9
    gap = Ipso().solve(X, twin, Z) - Ipso().solve(X, Y, Z)
    assert np.abs(gap).max() < ENGINE * Y.std()
    hybrid = ResidualCorrelation(d=SHARE)
    assert np.abs(hybrid.solve(X, twin, Z) - hybrid.solve(X, Y, Z)).max() > Y.std() / 10


def test_the_guard_speaks() -> None:
    release = unguarded(profile(), Ipso())
    assert "seed" in rules(release, "stop")
    assert any("NOT FOR RELEASE" in finding.message for finding in release.findings)


def test_a_blend_is_undone_by_whoever_has_the_other_file(tmp_path: Path) -> None:
    """A public file mixed in looks like masking: every value is its difference, to the last digits."""
    frame, other = profile(), profile(seed=5)
    release = unguarded(frame, Blend(other, alpha=0.4))
    subtracted = confidential(linked(release.frame, frame)) - 0.6 * confidential(other)
    assert np.allclose(subtracted / 0.4, confidential(frame))
    for method in (Blend(other, alpha=0.4), Restore(other).then(Blend(alpha=0.2))):
        stopped = protect(frame, roles(frame), method, seed=Seed.new_file(tmp_path / method.name))
        assert "companion" in rules(stopped, "stop")
    with pytest.raises(GuardError, match="companion"):
        release.write(tmp_path / "out.csv")

    said = {"companion": "made for this release and deleted"}
    protect(frame, roles(frame), Blend(other, alpha=0.4), accept=said).write(tmp_path / "out.csv")
    healed = protect(frame, roles(frame), Ipso().then(Blend(alpha=0.4)))
    assert not rules(healed, "stop")
    assert "companion" not in rules(unguarded(frame, Blend(other, alpha=0)), "stop")
