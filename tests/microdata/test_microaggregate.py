"""Microaggregation from file to certificate: figures of the literature, peers' numbers, guards."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from suffice import Microaggregate, MicroaggregateNoise, MicroHybrid, Restore, Roles, Seed, protect
from suffice.algebra.array import Array
from suffice.algorithms.partition.aggregates import fits, means, medians
from suffice.algorithms.partition.best import best
from suffice.algorithms.partition.loss import information_loss, standardised
from suffice.algorithms.partition.mdav import mdav
from suffice.errors import InfeasibleError, UsageError
from suffice.release.release import Release
from tests.algorithms.partition.cases import EIA
from tests.places import SHARED, matrix, needs_shared
from tests.tolerances import ALGEBRA, ENGINE, REFERENCE
from tests.truth import ratios

HOUSE = ["expend", "income", "savings"]
LOSSES = {
    "Tarragona": (16.9326, 19.5460, 22.4619, 33.1929),
    "CASCrefmicrodata": (5.6922, 7.4947, 9.0884, 14.1559),
    "EIA": (0.4829, 0.6713, 1.6667, 3.8397),
}
"""100 SSE/SST of MDAV, k = 3, 4, 5, 10."""


@lru_cache
def households(n: int = 1200) -> pd.DataFrame:
    """Incomes, what is spent and what is saved, in towns and on the land."""
    rng = np.random.default_rng(5)
    level = rng.gamma(6.0, 1.0, size=(n, 1))
    frame = pd.DataFrame(((level + rng.gamma(3.0, 1.0, (n, 3))) * [3000, 4000, 500]).round(), columns=HOUSE)
    return frame.assign(
        urban=rng.choice(["town", "land"], n),
        age=rng.integers(18, 90, n),
        weight=rng.gamma(2.0, 3.0, n) + 0.1,
    )


def made(frame: Any, method: Any, roles: Roles | None = None, key: int = 1) -> Release:
    return protect(frame, roles or Roles(confidential=HOUSE, given="C(urban) + age"), method, seed=Seed.for_tests(key))


def Y_of(frame: Any) -> Array:
    return np.asarray(frame[HOUSE], dtype=float)


def rules(release: Release, *levels: str) -> set[str]:
    return {finding.rule for finding in release.findings if finding.level in levels}


# figures of the literature and of peers


@needs_shared
@pytest.mark.parametrize("name", LOSSES)
def test_the_information_loss_of_the_literature_through_the_method(name: str) -> None:
    assert SHARED is not None
    frame = pd.read_csv(SHARED / "data" / f"{name}.csv")
    columns = EIA if name == "EIA" else list(frame.columns)
    frame = frame[columns].astype(float)
    for k, printed in zip((3, 4, 5, 10), LOSSES[name], strict=True):
        release = made(frame, Microaggregate(k=k), Roles(confidential=columns))
        said = next(note for note in release.certificate.private if "information loss" in note)
        assert f"100 SSE/SST = {printed:.4f}" in said
        Y, Ystar = frame.to_numpy(), release.aligned()[columns].to_numpy()
        assert 100 * (((Y - Ystar) / Y.std(axis=0)) ** 2).sum() / Y.size == pytest.approx(printed, abs=6e-5)
        assert np.unique(Ystar, axis=0, return_counts=True)[1].min() >= k
        assert release.certificate.holds


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize(("name", "row"), [("Tarragona", "Tarragona"), ("CASCrefmicrodata", "Census"), ("EIA", "EIA")])
def test_the_table_of_the_pages_is_what_is_released_in_any_order_of_rows(name: str, row: str) -> None:
    assert SHARED is not None
    frame = pd.read_csv(SHARED / "data" / f"{name}.csv")
    columns = EIA if name == "EIA" else list(frame.columns)
    frame = frame[columns].astype(float).sample(frac=1, random_state=1, ignore_index=True)
    page = (Path(__file__).parents[2] / "docs" / "groups.md").read_text()
    line = next(line for line in page.splitlines() if line.startswith(f"| {row}, "))
    for k, printed in zip((3, 4, 5, 10), line.split("|")[2:6], strict=True):
        for partition, figure in zip(("mdav", "best"), printed.split("/"), strict=True):
            digits = len(figure.strip().split(".")[1])
            if k == 10:  # the whole way once: with others the way would be the same
                made_ = made(frame, Microaggregate(k=k, partition=partition), Roles(confidential=columns))  # type: ignore[arg-type]
                loss = float(next(n for n in made_.certificate.private if "information loss" in n).split("= ")[1])
            else:
                V = standardised(frame.to_numpy())
                loss = information_loss(V, (mdav if partition == "mdav" else best)(V, k))
            assert f"{loss:.{digits}f}" == figure.strip()


@needs_shared
@pytest.mark.parametrize(("name", "peer", "others"), [("CASCrefmicrodata", "CASC", 0), ("Tarragona", "Tarragona", 2)])
def test_mdav_agrees_with_a_peer_record_for_record(name: str, peer: str, others: int) -> None:
    """Two equal records of Tarragona may change places: which of them joins a group is told by nothing but its row."""
    assert SHARED is not None
    frame = pd.read_csv(SHARED / "data" / f"{name}.csv").astype(float)
    theirs = matrix(f"sdcmicro_mdav_{peer}_k3")
    ours = made(frame, Microaggregate(k=3), Roles(confidential=list(frame.columns))).aligned().to_numpy()
    apart = (np.abs(ours - theirs) > REFERENCE * np.abs(theirs).max(axis=0)).any(axis=1)
    assert apart.sum() == others
    Y = frame.to_numpy()
    one, two = ((((Y - each) / Y.std(axis=0)) ** 2).sum() for each in (ours, theirs))
    assert one == pytest.approx(two, rel=REFERENCE)


@needs_shared
def test_individual_ranking_agrees_with_a_peer_value_for_value() -> None:
    assert SHARED is not None
    frame = pd.read_csv(SHARED / "data" / "Tarragona.csv").astype(float)
    theirs = matrix("sdcmicro_ma_onedims_Tarragona")
    method = Microaggregate(k=3, partition="individual")
    ours = made(frame, method, Roles(confidential=list(frame.columns))).aligned().to_numpy()
    assert (np.abs(ours - theirs) <= REFERENCE * np.abs(theirs).max(axis=0)).all()


# what is kept


@pytest.mark.parametrize("partition", ["mdav", "best", "univariate", "individual"])
@pytest.mark.parametrize("by", ["mean", "median", "fitted"])
def test_promises_of_every_form(partition: Any, by: Any, tmp_path: Path) -> None:
    frame = households(300)
    method = Microaggregate(k=9, partition=partition, by=by)
    assert method.kept == {"mean": ("mean",), "median": (), "fitted": ("mean", "fit")}[by]
    release = made(frame, method)
    found = ratios(*[f(each) for each in (frame, release.frame) for f in (X_of, Y_of)])
    assert release.certificate.holds
    assert all(found[promise] <= ALGEBRA for promise in method.kept)
    assert {claim.statistic for claim in release.certificate.claims} == {*method.kept, "given"}
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "house.parquet", row_group_size=41)
    other = made(tmp_path / "house.parquet", method).frame.to_pandas()
    assert np.abs(Y_of(other) - Y_of(release.frame)).max() <= ENGINE * Y_of(frame).std()


def X_of(frame: Any) -> Array:
    return np.column_stack([frame["urban"] == "town", frame["age"]]).astype(float)


def test_every_released_value_is_that_of_a_group_of_k() -> None:
    for method in (Microaggregate(k=4), Microaggregate(k=4, partition="best"), Microaggregate(k=4, by="median")):
        release = made(households(300), method)
        rows, counts = np.unique(Y_of(release.frame), axis=0, return_counts=True)
        assert counts.min() >= 4
        assert len(rows) <= 75


def test_medians_and_means_are_those_of_the_groups() -> None:
    Y = Y_of(households(300))
    labels = Microaggregate(k=5).labels(Y)
    for by, of in (("mean", np.mean), ("median", np.median)):
        aligned = Y_of(made(households(300), Microaggregate(k=5, by=by)).aligned())  # type: ignore[arg-type]
        for group in range(0, 60, 7):
            assert np.allclose(aligned[labels == group], of(Y[labels == group], axis=0), rtol=1e-14)


def test_fitted_values_keep_the_regression_of_every_group() -> None:
    """Langsrud's generalized microaggregation: all residuals are zero, so each group's regression is exact."""
    frame = households(300)
    labels = Microaggregate(k=12).labels(Y_of(frame))
    aligned = Y_of(made(frame, Microaggregate(k=12, by="fitted")).aligned())
    X = np.column_stack([np.ones(300), X_of(frame)])
    for group in range(labels.max() + 1):
        here = labels == group
        fit = X[here] @ np.linalg.lstsq(X[here], Y_of(frame)[here], rcond=None)[0]
        assert np.allclose(aligned[here], fit, rtol=1e-10)


def test_groups_no_larger_than_the_rank_of_X_reproduce_their_records_and_are_stopped() -> None:
    """The attack: k = 3 records and 3 columns of X, so every fitted value is the record itself."""
    frame = households(300)
    release = made(frame, Microaggregate(k=3, by="fitted"))
    same = np.abs(Y_of(release.aligned()) - Y_of(frame)).max(axis=1) < 1e-9 * Y_of(frame).max()
    assert same.mean() > 0.5
    assert "copies" in rules(release, "stop", "never")
    wide = made(frame, Microaggregate(k=12, by="fitted"))
    assert "copies" not in rules(wide, "stop", "never")


@pytest.mark.parametrize("partition", ["mdav", "best", "univariate", "individual"])
def test_offsets_and_minus_999_are_ordinary_numbers(partition: Any) -> None:
    frame = households(300).copy()
    frame.loc[::7, "savings"] = -999.0
    method = Microaggregate(k=3, partition=partition)
    plain = Y_of(made(frame, method).aligned())
    assert (plain[:, 2] == -999.0).sum() > 0  # groups of them stay what they are
    if partition == "best":  # a search takes another turn where a digit is another
        return
    far = Y_of(made(frame.assign(income=frame["income"] + 2.0**30), method).aligned()) - [0, 2.0**30, 0]
    assert np.abs(far - plain).max() < 1e-4  # digits that an offset costs
    scaled = Y_of(made(frame.assign(income=frame["income"] * 2.0**20), method).aligned()) / [1, 2.0**20, 1]
    assert np.abs(scaled - plain).max() <= ENGINE * plain.max()


def test_within_groups_records_of_a_group_only_are_alike() -> None:
    roles = Roles(confidential=HOUSE, groups=["urban"])
    release = made(households(), Microaggregate(k=3), roles)
    assert release.certificate.holds
    assert "in each of 2 groups by urban" in {claim.level for claim in release.certificate.claims}
    released = release.frame.assign(row=[row.tobytes() for row in Y_of(release.frame)])
    assert (released.groupby("row")["urban"].nunique() == 1).all()
    assert released.groupby("row").size().min() >= 3


def test_weighted_means_and_fits() -> None:
    frame = households(300)
    roles = Roles(confidential=HOUSE, given="C(urban) + age", weight="weight")
    for by in ("mean", "fitted"):
        release = made(frame, Microaggregate(k=9, by=by), roles)  # type: ignore[arg-type]
        assert release.certificate.holds
        w, wstar = frame["weight"].to_numpy(), release.frame["weight"].to_numpy()
        found = ratios(X_of(frame), Y_of(frame), X_of(release.frame), Y_of(release.frame), w, wstar)
        assert found["mean"] <= ALGEBRA
        assert by == "mean" or found["fit"] <= ALGEBRA
        plain = np.abs(Y_of(release.frame).mean(axis=0) - Y_of(frame).mean(axis=0)) / Y_of(frame).std(axis=0)
        assert plain.max() > 1e-4  # the weights were used


def test_missing_patterns() -> None:
    frame = households(300).copy()
    frame.loc[::3, "savings"] = np.nan
    release = made(frame, Microaggregate(k=3), Roles(confidential=HOUSE, missing="patterns"))
    assert release.certificate.holds
    assert (release.aligned()["savings"].isna() == frame["savings"].isna()).all()


@pytest.mark.parametrize(
    "wrong", [{"k": 1}, {"k": 2.5}, {"k": True}, {"partition": "vmdav"}, {"by": "mode"}, {"partition": None}]
)
def test_bad_parameters(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=f"microaggregate: {next(iter(wrong))} must be"):
        Microaggregate(**wrong)


def test_too_few_records() -> None:
    with pytest.raises(InfeasibleError, match="Groups of 40 need at least 40 records and there are 30"):
        made(households(30), Microaggregate(k=40))


def test_constant_and_equal_records() -> None:
    frame = households(60).assign(income=7.0, savings=lambda each: each["expend"])
    for partition in ("mdav", "best", "univariate", "individual"):
        release = made(frame, Microaggregate(k=3, partition=partition))  # type: ignore[arg-type]
        assert release.certificate.holds
        assert (release.frame["income"] == 7.0).all()
        assert np.array_equal(release.frame["savings"], release.frame["expend"])


# microaggregation plus noise


@pytest.mark.parametrize("roles", [{}, {"weight": "weight"}, {"groups": ["urban"]}])
def test_noise_brings_back_the_covariance_that_was_lost(roles: dict[str, Any]) -> None:
    frame = households(400)
    release = made(frame, MicroaggregateNoise(k=5), Roles(confidential=HOUSE, **roles))
    assert release.certificate.holds
    assert {"mean", "covariance"} <= {claim.statistic for claim in release.certificate.claims}
    w = frame["weight"] if roles.get("weight") else None
    wstar = release.frame["weight"] if roles.get("weight") else None
    one, two = np.cov(Y_of(frame).T, aweights=w), np.cov(Y_of(release.frame).T, aweights=wstar)
    assert np.allclose(one, two, rtol=1e-12)
    lost = np.cov(Y_of(made(frame, Microaggregate(k=5), Roles(confidential=HOUSE)).frame).T)
    assert (np.diag(lost) < 0.99 * np.diag(one)).all()


def test_noise_is_noise_around_the_group_means() -> None:
    frame = households(400)
    Y = Y_of(frame)
    M = means(Microaggregate(k=5).labels(Y), Y)
    noise = Y_of(made(frame, MicroaggregateNoise(k=5), Roles(confidential=HOUSE)).aligned()) - M
    assert np.allclose(noise.T @ noise, (Y - M).T @ (Y - M), rtol=1e-9)
    scale = np.linalg.norm(noise, axis=0)[:, None] * np.linalg.norm(M - M.mean(axis=0), axis=0)
    assert (np.abs(noise.T @ (M - M.mean(axis=0))) / scale).max() < 1e-12
    assert abs(np.corrcoef(noise[:, 0], (Y - M)[:, 0])[0, 1]) < 5 / np.sqrt(400)


def test_noise_says_its_share() -> None:
    frame = households(400)
    Y = Y_of(frame)
    for units in (1.0, 1e6):  # the share is one of standardised columns: units do not matter
        release = made(
            frame.assign(income=frame["income"] * units), MicroaggregateNoise(k=5), Roles(confidential=HOUSE)
        )
        said = next(note for note in release.certificate.private if "share of the variance" in note)
        M = means(Microaggregate(k=5).labels(Y), Y)
        assert float(said.split(": ")[1]) == pytest.approx((((Y - M) / Y.std(axis=0)) ** 2).sum() / Y.size, abs=1e-4)


# guards


def files() -> list[Any]:
    house = None if SHARED is None else pd.read_csv(SHARED / "data" / "testdata.csv")
    return [
        pytest.param(households(), "C(urban)", id="generated"),
        pytest.param(house, "C(urbrur) + C(sex)", id="testdata", marks=needs_shared),
    ]


@pytest.mark.parametrize(("frame", "given"), files())
@pytest.mark.parametrize("method", [Microaggregate(k=10), MicroHybrid(clusters=Microaggregate(k=10))])
def test_an_ordinary_file_can_be_written(frame: Any, given: str, method: Any, tmp_path: Path) -> None:
    release = protect(frame, Roles(confidential=HOUSE, given=given), method)
    assert not rules(release, "stop", "never")
    assert release.write(tmp_path / "out.parquet").holds


@pytest.mark.parametrize(("frame", "given"), files())
def test_groups_of_two_stop(frame: Any, given: str, tmp_path: Path) -> None:
    release = protect(frame, Roles(confidential=HOUSE, given=given), Microaggregate(k=2))
    assert "group-size" in rules(release, "stop")
    five = protect(frame, Roles(confidential=HOUSE, given=given), Microaggregate(k=5))
    assert "group-size" not in rules(five, "stop", "warn", "never")


def test_means_of_small_groups_plus_little_noise_are_nearly_the_original_and_stop() -> None:
    release = made(households(), MicroaggregateNoise(k=3), Roles(confidential=HOUSE))
    assert "residual-correlation" in rules(release, "stop")
    assert min(release.assessment.resemblance.correlations) > 0.95
    coarse = made(households(), MicroaggregateNoise(k=100), Roles(confidential=HOUSE))
    assert max(coarse.assessment.resemblance.correlations) < min(release.assessment.resemblance.correlations)


def test_restored_microaggregation_keeps_everything() -> None:
    frame = households(300)
    release = made(frame, Microaggregate(k=5).then(Restore()))
    found = ratios(X_of(frame), Y_of(frame), X_of(release.frame), Y_of(release.frame))
    assert release.certificate.holds
    assert max(found.values()) <= ALGEBRA


# formulas


def test_a_record_of_weight_zero_has_the_mean_of_its_group() -> None:
    labels, Y = np.array([0, 0, 1, 1]), np.array([[1.0], [3.0], [5.0], [9.0]])
    assert means(labels, Y, np.array([1.0, 0.0, 0.0, 0.0])).ravel().tolist() == [1.0, 1.0, 7.0, 7.0]
    assert medians(labels, Y).ravel().tolist() == [2.0, 2.0, 7.0, 7.0]


def test_fits_in_groups_where_X_is_constant_are_means() -> None:
    rng = np.random.default_rng(1)
    labels, Y = np.repeat([0, 1, 2], [5, 7, 4]), rng.normal(size=(16, 2))
    X = 1e6 + labels[:, None] * 0.1 + np.zeros((16, 1))
    assert np.allclose(fits(labels, X, Y), means(labels, Y), rtol=0, atol=1e-12)


def test_fitted_values_without_given_terms_are_means_and_said_to_be() -> None:
    with pytest.raises(UsageError, match="use by='mean'"):
        protect(pd.DataFrame({"y": np.arange(30.0)}), Roles(confidential=["y"]), Microaggregate(k=3, by="fitted"))
