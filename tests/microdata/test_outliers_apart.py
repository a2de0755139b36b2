"""Outlying records apart: who they are, what is kept, and that the release does not tell."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2

from suffice import Ipso, Microaggregate, MicroHybrid, OutliersApart, Resize, Restore, Roles, Romm, Seed, protect
from suffice.algebra.array import Array
from suffice.catalogue import build
from suffice.errors import InfeasibleError, UsageError
from suffice.microdata.outliers_apart import Robust
from suffice.release.release import Release
from tests.places import SHARED, matrix, needs_shared
from tests.tolerances import ALGEBRA, CHANCE, ENGINE
from tests.truth import ratios

NAMES = ["y0", "y1", "y2"]
ROLES = Roles(confidential=NAMES, given="x")
PLANTED = 30


@lru_cache
def people(n: int = 400, planted: int = PLANTED, seed: int = 1) -> pd.DataFrame:
    """Correlated normal records, and some far off in a direction that no single column shows well."""
    rng = np.random.default_rng(seed)
    Y = rng.multivariate_normal([10, 20, 30], [[1, 0.9, 0.5], [0.9, 1, 0.4], [0.5, 0.4, 1]], n)
    Y[:planted] += rng.choice([-1, 1], (planted, 1)) * [3.0, -3.0, 0.0]
    return pd.DataFrame(Y, columns=NAMES).assign(x=rng.normal(size=n))


def Y_of(frame: Any) -> Array:
    return np.asarray(frame[NAMES], dtype=float)


def made(frame: Any, method: OutliersApart, roles: Roles = ROLES, key: int = 1) -> Release:
    return protect(frame, roles, method, seed=Seed.for_tests(key))


def outlying(frame: pd.DataFrame, beyond: float = 0.975) -> NDArray[np.bool_]:
    return Robust.of(Y_of(frame), 1).outlying(Y_of(frame), beyond)


# who is outlying


def test_planted_outliers_are_found_where_columns_alone_do_not_show_them() -> None:
    frame = people()
    found = outlying(frame)
    assert found[:PLANTED].mean() > 0.95
    z = abs(found[PLANTED:].mean() - 0.025) / np.sqrt(0.025 * 0.975 / (400 - PLANTED))
    assert z < CHANCE
    alone = np.abs(Y_of(frame) - Y_of(frame).mean(axis=0)) / Y_of(frame).std(axis=0)
    assert (alone[:PLANTED].max(axis=1) > 3).mean() < 0.5


def test_many_outliers_do_not_hide_each_other() -> None:
    """As they do where mean and covariance are those of all records."""
    frame, planted = people(400, 120), slice(0, 120)
    D = Y_of(frame) - Y_of(frame).mean(axis=0)
    plain = (D @ np.linalg.inv(np.cov(D.T)) * D).sum(axis=1) > chi2.ppf(0.975, 3)
    assert plain[planted].mean() < 0.5
    assert outlying(frame)[planted].mean() > 0.95


@pytest.mark.parametrize("beyond", [0.9, 0.975, 0.999])
def test_of_normal_records_as_many_are_outlying_as_asked(beyond: float) -> None:
    frame = people(3000, 0, 4)
    share = outlying(frame, beyond).mean()
    assert abs(share - (1 - beyond)) < CHANCE * np.sqrt(beyond * (1 - beyond) / 3000) + 0.01


def test_units_and_offsets_do_not_matter() -> None:
    frame = people()
    other = frame.assign(y0=frame["y0"] * 1e9, y1=frame["y1"] * 1e-9 + 1)
    assert np.array_equal(outlying(frame), outlying(other))


def test_zero_inflated_constant_and_collinear_columns_are_not_looked_at() -> None:
    rng = np.random.default_rng(2)
    Y = Y_of(people())
    zeros = np.where(rng.random(400) < 0.6, 0.0, rng.gamma(2.0, 5.0, 400))
    mostly = np.where(rng.random(400) < 0.9, Y[:, 0], Y[:, 0] + 3 * rng.normal(size=400))
    wide = np.column_stack([Y, np.full(400, 7.0), zeros, Y[:, 0] + Y[:, 1], mostly])
    found = Robust.of(wide, 1)
    assert found.columns == (0, 1, 2)
    plain = Robust.of(Y, 1)
    assert (found.outlying(wide, 0.975) == plain.outlying(Y, 0.975)).mean() > 0.99


def test_where_nothing_varies_in_the_middle_a_split_is_refused_with_a_sentence() -> None:
    frame = people().assign(y0=0.0, y1=0.0, y2=np.where(np.arange(400) < 300, 0.0, np.arange(400)))
    with pytest.raises(InfeasibleError, match=r"records 400 . such columns 0 of 3"):
        made(frame, OutliersApart())


@needs_shared
def test_census_where_no_robust_scatter_of_all_columns_exists() -> None:
    """A peer's covMcd of these twelve columns is 1.4 to 1.5 times the plain covariance matrix: not robust at all.

    In 94 % of the records two columns are equal, so the minimum determinant is zero. We leave such columns out.
    """
    assert SHARED is not None
    frame = pd.read_csv(SHARED / "data" / "CASCrefmicrodata.csv").astype(float).drop(columns="POTHVAL")
    assert (frame["WSALVAL"] == frame["PEARNVAL"]).mean() > 0.94
    Z = ((frame - frame.mean()) / frame.std()).to_numpy()
    theirs = matrix("sdcmicro_casc_covMcd_cov")
    share = np.diagonal(theirs) / np.diagonal(np.cov(Z.T))
    assert 1.3 < share.min() <= share.max() < 1.6
    assert np.abs(correlations(theirs) - np.corrcoef(Z.T)).max() < 0.04
    found = Robust.of(Z, 1)
    assert len(found.columns) < 12
    assert not {"WSALVAL", "PEARNVAL"} <= {frame.columns[j] for j in found.columns}
    S, C = np.linalg.inv(found.root @ found.root.T), theirs[np.ix_(found.columns, found.columns)]
    assert np.abs(correlations(S) - correlations(C)).max() < 0.2
    assert (np.diagonal(S) < np.diagonal(C)).all()  # outliers no longer count


def correlations(S: Array) -> Array:
    sd = np.sqrt(np.diagonal(S))
    return np.asarray(S / np.outer(sd, sd))


# what is kept


@pytest.mark.parametrize(
    "method",
    [
        OutliersApart(),
        OutliersApart(rest=Romm(lam=0.5), outlying=Ipso()),
        OutliersApart(rest=Ipso(), outlying=Microaggregate(k=3).then(Restore())),
        OutliersApart(rest=Microaggregate(k=3), outlying=Microaggregate(k=5)),
    ],
    ids=lambda method: f"{method.rest.name}, {method.outlying.name}",
)
def test_promises_of_both_parts(method: OutliersApart, tmp_path: Path) -> None:
    frame = people()
    release = made(frame, method)
    released = release.frame
    found = ratios(frame[["x"]].to_numpy(), Y_of(frame), released[["x"]].to_numpy(), Y_of(released))
    assert release.certificate.holds
    assert method.kept
    assert all(found[promise] <= ALGEBRA for promise in method.kept)
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "people.parquet", row_group_size=31)
    other = made(tmp_path / "people.parquet", method).frame.to_pandas()
    assert np.abs(Y_of(other) - Y_of(released)).max() <= ENGINE * Y_of(frame).std(axis=0).min()


def test_each_part_keeps_its_own_statistics() -> None:
    """Inside each part too: nobody but the holder can see it."""
    frame = people()
    release = made(frame, OutliersApart())
    far = OutliersApart().apart(release.rows, release.design, release.done.stream) == 1
    assert far[:PLANTED].mean() > 0.95
    aligned = release.aligned()
    for part in (far, ~far):
        X = frame[["x"]].to_numpy()[part]
        assert max(ratios(X, Y_of(frame)[part], X, Y_of(aligned)[part]).values()) <= ALGEBRA


def test_within_groups_and_with_weights() -> None:
    rng = np.random.default_rng(3)
    frame = people().assign(zone=rng.choice(["a", "b"], 400), w=rng.gamma(2.0, 1.0, 400) + 0.1)
    roles = Roles(confidential=NAMES, given="x", groups=["zone"], weight="w")
    release = made(frame, OutliersApart(beyond=0.9), roles)
    assert release.certificate.holds
    assert "in each of 2 groups by zone" in {claim.level for claim in release.certificate.claims}


# what the release does not tell


def test_nothing_in_the_release_tells_who_was_outlying() -> None:
    """Columns, order, decimals, equal values: what an attacker may look at is the same in both parts."""
    frame = people().round(2)
    release = made(frame, OutliersApart())
    assert list(release.frame.columns) == [*NAMES, "x"]
    far = OutliersApart().apart(release.rows, release.design, release.done.stream) == 1
    order = np.array([frame.index[frame["x"] == x][0] for x in release.frame["x"]])
    place = far[order].astype(float)
    z = np.corrcoef(place, np.arange(400))[0, 1] * np.sqrt(400)
    assert abs(z) < CHANCE
    digits = (np.abs(Y_of(release.frame) * 100 - np.rint(Y_of(release.frame) * 100)) < 1e-6).any(axis=1)
    assert not digits.any()
    assert len(np.unique(Y_of(release.frame))) == Y_of(release.frame).size
    assert "outlying" not in release.certificate.to_json()


def test_parts_that_would_tell_are_refused() -> None:
    with pytest.raises(UsageError, match="would show who is outlying"):
        OutliersApart(rest=Ipso(), outlying=Microaggregate(k=3))
    with pytest.raises(UsageError, match="micro-hybrid"):
        OutliersApart(rest=MicroHybrid(clusters="x"))
    for wrong in (OutliersApart(), Resize(10)):
        with pytest.raises(UsageError, match="outliers-apart"):
            OutliersApart(rest=wrong)
    with pytest.raises(UsageError, match="let its parts be several steps"):
        OutliersApart().then(Restore())


def test_microaggregated_outliers_among_others_would_be_seen_at_once() -> None:
    """The attack that the refusal is for: equal records are the outlying ones."""
    frame = people()
    far = outlying(frame)
    Y = Y_of(frame)
    mixed = Y.copy()
    mixed[~far] = Y_of(protect(frame[~far], ROLES, Ipso(), seed=Seed.for_tests(1)).aligned())
    part = protect(frame[far], ROLES, Microaggregate(k=3), seed=Seed.for_tests(1))
    mixed[far] = Y_of(part.aligned())
    _, at, count = np.unique(mixed, axis=0, return_inverse=True, return_counts=True)
    assert np.array_equal(count[at.ravel()] > 1, far)


# guards, parameters


def test_a_small_outlying_part_has_too_few_degrees_of_freedom() -> None:
    few = people(400, 0, 7)
    count = 0
    for beyond in (0.99, 0.995, 0.999, 0.9995):
        try:
            release = made(few, OutliersApart(beyond=beyond))
        except InfeasibleError:
            count += 1
            continue
        far = OutliersApart(beyond=beyond).apart(release.rows, release.design, release.done.stream).sum()
        found = {finding.rule: finding.level for finding in release.findings}
        expected = "never" if 0 < far <= 3 else "stop" if 0 < far < 7 else None
        assert expected is None or found.get("degrees-of-freedom") == expected
        count += expected is not None
    assert count >= 2


@pytest.mark.parametrize("wrong", [{"beyond": 0.4}, {"beyond": 1}, {"rest": "ipso"}, {"outlying": None}])
def test_bad_parameters(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=f"outliers-apart: {next(iter(wrong))} must be"):
        OutliersApart(**wrong)


def test_from_the_command_line() -> None:
    method = build("outliers-apart", {"rest": "romm:lam=0.5", "outlying": "ipso:by=svd", "beyond": "0.9"})
    assert method == OutliersApart(rest=Romm(lam=0.5), outlying=Ipso(by="svd"), beyond=0.9)
    with pytest.raises(UsageError):
        build("outliers-apart", {"rest": "romm:lamb=0.5"})
