"""Weights and designs without an intercept, through the whole way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice import (
    Ipso,
    OutliersApart,
    Release,
    ResidualCorrelation,
    Restore,
    Roles,
    Romm,
    Rotate,
    Seed,
    methods,
    protect,
)
from suffice.algebra.array import Array
from suffice.errors import InputError, UsageError
from suffice.method.method import Method
from suffice.method.synthetic import Synthetic
from suffice.seed import Stream
from tests.tolerances import ALGEBRA, ENGINE
from tests.truth import EPS, ratios

CONFIDENTIAL = ["y1", "y2"]
ROLES = Roles(confidential=CONFIDENTIAL, given="C(region) + x", weight="w")


def promising() -> list[Method]:
    """Every example that promises something; one that needs a companion follows a mask."""
    found = []
    for method in methods().values():
        if issubclass(method, Synthetic):
            continue  # no weight leaves with its records: test_resized, test_generators
        few = {Rotate: [Rotate(sweeps=3)], OutliersApart: [OutliersApart()]}
        for example in few.get(method, method.examples()):
            if example.kept:
                found.append(
                    Romm(lam=0.3).then(example) if example.name in ("restore", "addition", "reverse-map") else example
                )
    return found


every_method = pytest.mark.parametrize("method", promising(), ids=lambda m: f"{m.name} {m.parameters()}")


def people(n: int = 900, seed: int = 5) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    y = x[:, None] * [2.0, -1.0] + rng.normal(size=(n, 2)) @ np.array([[1.0, 0.5], [0.0, 1.0]])
    return pd.DataFrame(
        {
            "region": rng.choice(["n", "s", "e"], n),
            "w": rng.gamma(2.0, 3.0, n) + 0.1,
            "y1": 100 + y[:, 0],
            "x": 10 + x,
            "y2": 3 * y[:, 1],
        }
    )


def X_of(frame: pd.DataFrame) -> Array:
    return np.column_stack([frame["region"] == "n", frame["region"] == "s", frame["x"]]).astype(float)


def Y_of(frame: pd.DataFrame) -> Array:
    return frame[CONFIDENTIAL].to_numpy(dtype=float)


def made(source: Any, method: Method, roles: Roles = ROLES) -> Release:
    return protect(source, roles, method, seed=Seed.for_tests(4))


def weighted(before: pd.DataFrame, after: pd.DataFrame) -> dict[str, float]:
    w, wstar = before["w"].to_numpy(), after["w"].to_numpy()
    return ratios(X_of(before), Y_of(before), X_of(after), Y_of(after), w, wstar)


def regression(frame: pd.DataFrame) -> Array:
    """Weighted least squares."""
    root = np.sqrt(frame["w"].to_numpy())[:, None]
    X = np.column_stack([np.ones(len(frame)), X_of(frame)])
    return np.linalg.lstsq(root * X, root * Y_of(frame), rcond=None)[0]


@every_method
def test_weighted_means_covariances_and_regressions_are_kept(method: Method, tmp_path: Path) -> None:
    frame = people()
    path = tmp_path / "people.parquet"
    pq.write_table(pa.Table.from_pandas(frame), path, row_group_size=111)
    for source in (frame, path):
        release = made(source, method)
        after = release.frame if source is frame else release.frame.to_pandas()
        found = weighted(frame, after)
        assert release.certificate.holds
        assert all(found[promise] <= ALGEBRA for promise in {*method.kept} - {"limits"}), found
        if "fit" in method.kept:
            assert np.allclose(regression(after), regression(frame), rtol=1e-9, atol=1e-9)
        if "covariance" in method.kept:
            one, two = (np.cov(Y_of(each).T, aweights=each["w"]) for each in (frame, after))
            assert np.allclose(one, two, rtol=1e-12, atol=0)
        unweighted = ratios(X_of(frame), Y_of(frame), X_of(after), Y_of(after))
        assert max(unweighted.values()) > 1e6  # and these are not kept: the weights were used


def test_the_weight_travels_with_its_row() -> None:
    frame = people()
    release = made(frame, Ipso())
    fixed = ["region", "w", "x"]
    before, after = (each[fixed].sort_values(fixed, ignore_index=True) for each in (frame, release.frame))
    assert before.equals(after)
    assert not frame["w"].equals(release.frame["w"])


@every_method
def test_equal_weights_are_no_weights(method: Method, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Seed, "derive", lambda *_: Stream(bytes(32)))  # the request differs, so would the numbers
    frame = people().assign(w=3.7)
    plain = Roles(confidential=CONFIDENTIAL, given="C(region) + x")
    with_weights, without = Y_of(made(frame, method).frame), Y_of(made(frame, method, plain).frame)
    assert (np.abs(with_weights - without) <= ENGINE * without.std(axis=0)).all()


def test_scale_of_the_weights_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Seed, "derive", lambda *_: Stream(bytes(32)))
    frame = people()
    one = Y_of(made(frame, Romm(lam=0.3)).frame)
    for factor in (1e-9, 1e9):
        other = Y_of(made(frame.assign(w=factor * frame["w"]), Romm(lam=0.3)).frame)
        assert (np.abs(one - other) <= ENGINE * one.std(axis=0)).all()


@pytest.mark.parametrize("method", [Ipso(), Romm(lam=0.3), ResidualCorrelation(0.5), Romm(lam=1.0).then(Restore())])
def test_records_of_weight_zero_are_protected_and_count_nowhere(method: Method) -> None:
    frame = people()
    zero = np.arange(len(frame)) % 3 == 0
    frame.loc[zero, "w"] = 0.0
    frame.loc[zero, "y1"] *= 5.0
    release = made(frame, method)
    assert release.certificate.holds
    assert max(weighted(frame[~zero], release.frame[release.frame["w"] > 0]).values()) <= ALGEBRA
    assert any(finding.rule == "zero-weights" for finding in release.findings)
    assert f"{zero.sum()} records of weight zero" in release.certificate.text()
    aligned = release.aligned()
    change = np.abs(Y_of(aligned) - Y_of(frame))[zero]
    assert (np.median(change, axis=0) > 0.05 * Y_of(frame)[~zero].std(axis=0)).all()


def test_a_column_that_varies_only_where_weights_are_zero_is_refused() -> None:
    frame = people()
    zero = np.arange(len(frame)) % 3 == 0
    frame.loc[zero, "w"] = 0.0
    for constant in (7.0, 0.1):
        with pytest.raises(InputError, match="weight zero"):
            made(frame.assign(y1=np.where(zero, frame["y1"], constant)), Ipso())


def test_a_column_that_is_explained_but_where_weights_are_zero_does_not_leave_as_it_is() -> None:
    frame = people()
    zero = np.arange(len(frame)) % 3 == 0
    frame.loc[zero, "w"] = 0.0
    frame["y1"] = np.where(zero, frame["y1"], 2 * frame["x"] + 1)
    release = made(frame, Ipso())
    unchanged = np.array_equal(Y_of(release.aligned())[zero, 0], frame.loc[zero, "y1"])
    assert not unchanged or any(finding.rule == "explained-columns" and finding.blocks for finding in release.findings)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), n=st.integers(14, 80), spread=st.floats(0, 6))
def test_any_weights(seed: int, n: int, spread: float) -> None:
    frame = people(n, seed)
    frame["w"] = np.exp(spread * np.random.default_rng(seed).normal(size=n))
    release = made(frame, Ipso())
    assert release.certificate.holds
    assert max(weighted(frame, release.frame).values()) <= ALGEBRA


@pytest.mark.parametrize("formula", ["- 1 + C(region)", "C(region) - 1 + x", "- 1 + C(region):x + C(region)"])
def test_a_category_spans_the_intercept(formula: str) -> None:
    frame = people()
    release = made(frame, Ipso(), Roles(confidential=CONFIDENTIAL, given=formula, keep=["w"]))
    assert release.certificate.holds
    assert "mean" in {claim.statistic for claim in release.certificate.claims}
    for region in ("n", "s", "e"):
        before, after = (Y_of(each[each["region"] == region]) for each in (frame, release.frame))
        assert (np.abs(before.mean(axis=0) - after.mean(axis=0)) <= 1e-13 * np.abs(before).max(axis=0)).all()


@every_method
def test_without_intercept_raw_moments_are_kept_and_said(method: Method) -> None:
    frame, roles = people(), Roles(confidential=CONFIDENTIAL, given="- 1 + x", keep=["w", "region"])
    if method.name == "micro-hybrid":
        with pytest.raises(UsageError, match="put the intercept back"):
            made(frame, method, roles)
        return
    release = made(frame, method, roles)
    certificate = release.certificate
    assert certificate.holds
    assert "mean" not in {claim.statistic for claim in certificate.claims}
    assert "means are not promised, second moments are raw" in certificate.text()
    W, Wstar = (each[["x", *CONFIDENTIAL]].to_numpy() for each in (frame, release.frame))
    size = np.sqrt((W**2).sum(axis=0))
    gap = np.abs(Wstar.T @ Wstar - W.T @ W) / np.outer(size, size)
    kept = [gap[0]] if "fit" in method.kept else []
    kept += [gap[1:, 1:]] if "covariance" in method.kept else []
    assert all(part.max() <= ALGEBRA * EPS * 5 for part in kept)
    brings = {"third-moment", "distribution"} & {*method.kept} or method.name.startswith(("microaggregate", "pca"))
    if not brings:  # means with it
        assert np.abs(Y_of(release.frame).mean(axis=0) - Y_of(frame).mean(axis=0)).max() > 1e-6


@pytest.mark.parametrize("formula", ["", "- 1", "1"])
def test_no_given_columns_at_all(formula: str) -> None:
    frame = people()
    release = made(frame, Ipso(), Roles(confidential=CONFIDENTIAL, given=formula))
    assert release.certificate.holds
    assert list(release.frame.columns) == CONFIDENTIAL
