"""PCA masking: Calvino's tables to their digits, what a choice of components means, and what is kept."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import Blend, Ipso, MicroaggregateDraws, Noise, PcaMask, Restore, ReverseMap, Roles, Rotate, Seed, protect
from suffice.algebra.array import Array
from suffice.algorithms.components import varimax
from suffice.catalogue import build
from suffice.comparison.score import Score
from suffice.errors import UsageError
from suffice.microdata.pca_mask import components_of, exchanged, swapped
from suffice.report.pictures import loadings
from suffice.utility.propensity import propensity
from tests.places import SHARED, needs_shared
from tests.tolerances import ENGINE

PRINTED = """26.20 26.13 85.98 2.3095 0.4611 -0.0835 98.61 124.85 74.25 -1.1954 1.2161 0.4253
    43.97 60.01 55.26 0.4223 -1.2144 0.3255 55.67 126.72 68.07 -0.3816 0.0625 -0.6000
    82.51 147.21 58.13 -1.6351 -0.0870 -0.0773 33.52 87.71 52.91 0.2127 -1.4687 -0.3291
    72.80 118.89 85.34 -0.1328 1.5062 -0.3122 40.26 32.56 80.02 1.6889 0.3184 0.2680
    38.14 43.15 70.48 1.2865 -0.3333 0.1997 97.50 165.31 48.00 -2.5749 -0.4609 0.1835"""
TABLE_1 = np.array(PRINTED.split(), dtype=float).reshape(10, 6)
DATA, SCORES = TABLE_1[:, :3], TABLE_1[:, 3:]
WEIGHTS = np.array([[-0.6183, 0.4407, 0.6508], [-0.6656, 0.1468, -0.7317], [0.4180, 0.8856, -0.2026]])
ORDERS = [
    [int(i) - 1 for i in order.split()]
    for order in ("10 2 7 1 6 5 3 8 4 9", "10 1 7 9 8 3 4 6 5 2", "10 8 6 2 1 9 4 7 5 3")
]
MASKED = {
    1: """103.45 181.07 59.35 98.61 124.85 74.25 52.75 77.62 52.23 13.11 41.35 82.74 53.29 88.59 68.20
    62.74 146.33 42.84 64.02 101.28 88.37 40.26 32.56 80.02 64.52 96.06 61.39 36.43 42.82 69.05""",
    2: """93.05 174.62 48.71 90.10 119.57 65.53 83.42 96.65 83.66 8.65 38.58 78.17 57.86 91.43 72.89
    65.61 148.11 45.77 47.75 91.18 71.69 20.12 20.06 59.38 67.30 97.79 64.23 55.34 54.55 88.42""",
    3: """97.50 165.31 48.00 87.48 125.05 65.94 72.52 119.48 85.38 25.72 2.83 75.46 57.75 91.65 72.90
    74.41 129.66 44.38 42.96 101.22 72.45 10.46 40.29 60.91 62.69 107.45 64.96 57.70 49.60 88.04""",
}
"""Tables 2 and 3, by the number of components that were swapped."""


def test_table_1_components() -> None:
    found = components_of(DATA)
    sign = np.sign(found.L[0] * WEIGHTS[0])
    assert np.abs(found.L * sign - WEIGHTS).max() < 5e-5
    assert np.abs(found.scores(DATA) * sign - SCORES).max() < 5e-5


@pytest.mark.parametrize("count", MASKED)
def test_tables_2_and_3_masked_data(count: int) -> None:
    printed = np.array(MASKED[count].split(), dtype=float).reshape(10, 3)
    found = swapped(DATA, dict(enumerate(ORDERS[:count])))
    assert np.abs(found - printed).max() < 0.005
    assert np.allclose(found.mean(axis=0), DATA.mean(axis=0), rtol=1e-14)


def factors(n: int = 600, seed: int = 1) -> pd.DataFrame:
    """Two factors, skewed, with a total of two columns."""
    rng = np.random.default_rng(seed)
    F = rng.gamma(2.0, size=(n, 2))
    Y = F @ np.array([[3.0, 2.0, 0.2, 0.0], [0.0, 0.3, 5.0, 2.0]]) + rng.normal(size=(n, 4)) + 50
    frame = pd.DataFrame(Y, columns=list("abcd"))
    return frame.assign(total=frame["a"] + frame["d"], g=rng.choice(["x", "y"], n), w=rng.gamma(2.0, size=n))


COLUMNS = list("abcd")


def made(method: Any, frame: pd.DataFrame | None = None, key: int = 1, **roles: Any) -> Any:
    given = {"confidential": COLUMNS, **roles}
    return protect(factors() if frame is None else frame, Roles(**given), method, seed=Seed.for_tests(key))


def scores(release: Any, frame: pd.DataFrame, names: list[str] = COLUMNS) -> tuple[Array, Array]:
    found = components_of(frame[names].to_numpy())
    return found.scores(frame[names].to_numpy()), found.scores(release.aligned()[names].to_numpy())


def test_swapped_components_have_the_same_values_and_nobody_has_their_own() -> None:
    frame = factors()
    before, after = scores(made(PcaMask(components=2)), frame)
    assert np.allclose(np.sort(before, axis=0), np.sort(after, axis=0), atol=1e-12)
    moved = np.abs(after - before) > 1e-9
    assert moved[:, :2].all()
    assert not moved[:, 2:].any()


@pytest.mark.parametrize(("how", "share"), [("swap", 0.0), ("normal", 0.0), ("noise", np.sqrt(1 / 3)), ("smooth", 0.0)])
def test_components_are_as_asked_and_covariances_within_sampling_error(how: str, share: float) -> None:
    frame = factors(20_000)
    before, after = scores(made(PcaMask(how=how), frame), frame)  # type: ignore[arg-type]
    sd = before.std(axis=0)
    h = (0.9 * 20_000**-0.2) if how == "smooth" else 0.0  # smoothing adds at most so much
    assert np.abs(after.mean(axis=0) / sd).max() < 5 / np.sqrt(20_000)
    assert np.abs(after.std(axis=0) / sd - 1).max() < 0.03 + h**2
    between = np.corrcoef(after.T) - np.eye(4)
    assert np.abs(between).max() < 5 / np.sqrt(20_000)
    own = np.array([np.corrcoef(a, b)[0, 1] for a, b in zip(before.T, after.T, strict=True)])
    assert np.abs(own - share).max() < 0.03


@pytest.mark.parametrize("rotation", ["none", "varimax", "ica"])
def test_restored_and_rotated_it_is_exact(rotation: Any) -> None:
    frame, method = factors(), PcaMask(rotation=rotation)
    for steps in (method.then(Restore()), method.then(Restore(), Rotate(sweeps=2))):
        release = made(steps, frame, given="C(g)")
        assert release.certificate.holds
        Y, Ystar = (each[COLUMNS].to_numpy() for each in (frame, release.aligned()))
        assert np.allclose(np.cov(Y.T), np.cov(Ystar.T), rtol=1e-12, atol=1e-12)
    assert "the release is masked data" in release.certificate.notes


@pytest.mark.parametrize(
    ("method", "said"),
    [
        (PcaMask(), "masked"),
        (PcaMask(how="noise"), "masked"),
        (PcaMask(how="smooth"), "synthetic"),
        (PcaMask(components=2, how="normal"), "hybrid"),
        (PcaMask(components=4, how="normal"), "synthetic"),
        (PcaMask(components=1, how="normal"), "hybrid"),
    ],
)
def test_the_certificate_says_what_it_is_and_what_was_altered(method: PcaMask, said: str) -> None:
    release = made(method)
    assert f"the release is {said} data" in release.certificate.notes
    assert any("of 4 components" in remark for remark in release.done.remarks)
    assert {claim.statistic for claim in release.certificate.claims} - {"given"} == {*method.kept}


def test_drawn_components_that_are_blended_with_the_original_are_hybrid_data() -> None:
    drawn = PcaMask(how="normal")
    for method in (drawn.then(Blend(alpha=0.9)), drawn.then(Blend(alpha=0.0, pair="nearest"), Restore())):
        assert "the release is hybrid data" in made(method).certificate.notes
    for method in (drawn.then(Blend(alpha=0.0)), drawn.then(Restore())):
        assert "the release is synthetic data" in made(method).certificate.notes
    assert "the release is masked data" in made(PcaMask().then(Blend(alpha=0.9))).certificate.notes


def test_what_data_are_called_follows_from_what_was_altered() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.gamma(2.0, size=(120, 2)), columns=["a", "b"])
    frame = frame.assign(c=frame["a"] + frame["b"], d=2 * frame["a"])  # two components
    for components in (2, 0.999, "a"):
        method = PcaMask(components=components, how="normal", share=1.0)
        assert "the release is synthetic data" in made(method, frame).certificate.notes
    assert "the release is hybrid data" in made(PcaMask(components=1, how="normal"), frame).certificate.notes
    for steps in ((ReverseMap(),), (ReverseMap(), Restore())):  # the original's values, dealt anew
        assert "the release is masked data" in made(PcaMask(how="normal").then(*steps), frame).certificate.notes


def test_the_column_that_is_left_out_may_lack_its_parts() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.gamma(2.0, size=(300, 3)), columns=["a", "b", "d"])
    frame.insert(2, "c", frame["a"] + frame["b"])
    frame.loc[:99, "a"] = np.nan
    frame.loc[100:149, "c"] = np.nan
    for method in (PcaMask(omit="c"), PcaMask(omit="a").then(Restore())):
        after = made(method, frame, missing="patterns").aligned()
        assert np.allclose(after["c"][150:], (after["a"] + after["b"])[150:])
        assert after.isna().equals(frame.isna())
    with pytest.raises(UsageError, match="'d' does not depend"):
        made(PcaMask(omit="d"), frame, missing="patterns")


def test_a_column_is_protected_by_its_own_components() -> None:
    frame = factors()
    found = components_of(frame[COLUMNS].to_numpy())
    weights = found.weights(2)
    assert np.isclose(weights.sum(), 1)
    before, after = scores(made(PcaMask(components="c"), frame), frame)
    moved = (np.abs(after - before) > 1e-9).any(axis=0)
    order = np.argsort(-weights)
    count = int(np.searchsorted(np.cumsum(weights[order]), 0.5)) + 1
    assert {*np.flatnonzero(moved)} == {*order[:count]}


def test_a_share_of_the_variance() -> None:
    frame = factors()
    shares = components_of(frame[COLUMNS].to_numpy()).shares
    assert np.isclose(shares.sum(), 1)
    before, after = scores(made(PcaMask(components=float(shares[:2].sum())), frame), frame)
    assert (np.abs(after - before) > 1e-9).any(axis=0).tolist() == [True, True, False, False]


def test_a_dependent_column_is_rebuilt_and_can_be_chosen() -> None:
    frame, names = factors(), [*COLUMNS, "total"]
    for omit, left in ((None, "total"), ("a", "a")):
        release = made(PcaMask(omit=omit), frame, confidential=names)
        assert f"rebuilt from the columns that they depend on: {left}" in release.done.remarks
        after = release.aligned()
        assert np.allclose(after["a"] + after["d"], after["total"], rtol=1e-13)
        assert np.abs(after[names].to_numpy() - frame[names].to_numpy()).min(axis=0).max() > 0
    with pytest.raises(UsageError, match="'b' does not depend"):
        made(PcaMask(omit="b"), frame, confidential=names)


def test_weighted_means_stay_where_components_are_swapped() -> None:
    frame = factors()
    release = made(PcaMask(), frame, weight="w")
    assert release.certificate.holds
    after = release.aligned()
    assert np.allclose(*(np.average(each[COLUMNS], axis=0, weights=frame["w"]) for each in (frame, after)), rtol=1e-13)


def test_groups_and_missing_patterns() -> None:
    frame = factors(900)
    frame.loc[:299, "b"] = np.nan
    release = made(PcaMask(components="b"), frame, groups=["g"], missing="patterns")
    assert release.certificate.holds
    after = release.aligned()
    assert after["b"].isna().equals(frame["b"].isna())
    for _, places in frame.groupby("g").groups.items():
        assert np.allclose(after.loc[places, COLUMNS].mean(), frame.loc[places, COLUMNS].mean(), rtol=1e-12)


def test_varimax_makes_loadings_simple_and_ica_finds_the_sources() -> None:
    rng = np.random.default_rng(2)
    L = np.kron(np.eye(2), np.ones((3, 1))) @ np.array([[np.cos(0.6), -np.sin(0.6)], [np.sin(0.6), np.cos(0.6)]])
    G = varimax(L)
    assert np.allclose(G.T @ G, np.eye(2))
    assert np.allclose(np.sort(np.abs(L @ G), axis=1), [0, 1], atol=1e-6)
    frame = factors(4000)
    S = rng.exponential(size=(4000, 4)) * [1, 2, 3, 4]
    mixed = frame.assign(**dict(zip(COLUMNS, (S @ rng.normal(size=(4, 4))).T, strict=True)))
    release = made(PcaMask(components=1, rotation="ica", how="normal"), mixed)
    D = (release.aligned()[COLUMNS] - mixed[COLUMNS]).to_numpy()
    u = np.linalg.svd(D, full_matrices=False)[0][:, 0]  # what one component changed: its source less a normal one
    assert max(abs(np.corrcoef(u, s)[0, 1]) for s in S.T) > 0.68  # sqrt(1/2) if it is one source alone


@pytest.mark.parametrize(("given", "value"), [("3", 3), ("0.8", 0.8), ("none", None), ("SALES", "SALES"), (".5", 0.5)])
def test_components_as_text(given: str, value: object) -> None:
    assert build("pca-mask", {"components": given}).components == value  # type: ignore[attr-defined]


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "", "1.5", "-2"])
def test_components_that_are_none(value: object) -> None:
    with pytest.raises(UsageError, match="pca-mask: components must be"):
        build("pca-mask", {"components": value})


def test_names_that_are_not_confidential() -> None:
    with pytest.raises(UsageError, match="'w', which is not confidential"):
        made(PcaMask(components="w"))


def test_a_file_is_masked_as_memory_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = factors(20_000)
    frame.to_parquet(tmp_path / "in.parquet")
    roles = Roles(confidential=COLUMNS, weight="w")
    for method in (PcaMask(), PcaMask(how="smooth", rotation="ica")):
        one = protect(frame, roles, method, seed=Seed.for_tests(1)).aligned()[COLUMNS].to_numpy()
        with monkeypatch.context() as patch:
            patch.setattr("suffice.rows.spool.HELD", 500)
            two = protect(tmp_path / "in.parquet", roles, method, seed=Seed.for_tests(1)).aligned()
        assert np.abs(one - two.to_pandas()[COLUMNS].to_numpy()).max() <= ENGINE * one.std()


@needs_shared
def test_census_partial_protection() -> None:
    """Section 4.2: the third component carries .5991 of the first variable; Tables 5 and 6 in single runs."""
    assert SHARED is not None
    frame = pd.read_csv(SHARED / "data" / "CASCrefmicrodata.csv").astype(float)
    names = [name for name in frame if name != "POTHVAL"]
    found = components_of(frame[names].to_numpy())
    assert round(float(found.weights(0)[2]), 4) == 0.5991
    table_5 = "0.1736 0.9986 0.9970 0.9968 0.9989 0.9945 0.9978 0.9181 0.9984 0.9983 0.9988 0.9988"
    table_6 = {
        0: "1.0000 0.0463 0.0869 0.0325 0.0572 -0.0701 0.0364 0.0040 0.0684 0.0544 0.0713 0.0810",
        2: "0.0869 0.4907 1.0000 0.3825 0.4946 0.2860 0.4361 -0.0475 0.5580 0.5457 0.5580 0.5479",
    }
    for key in range(5):
        release = made(PcaMask(components="AFNLWGT", how="smooth"), frame[names], key=key + 1, confidential=names)
        after = release.aligned()
        own = np.array([np.corrcoef(frame[name], after[name])[0, 1] for name in names])
        assert np.abs(own - np.array(table_5.split(), dtype=float)).max() < 4 * 0.03
        C = np.corrcoef(after.to_numpy().T)
        assert all(np.abs(C[j] - np.array(row.split(), dtype=float)).max() < 4 * 0.03 for j, row in table_6.items())


def test_a_picture_of_the_weights() -> None:
    found = components_of(DATA)
    picture = loadings([("X", found.L[0]), ("component 1", found.L[:, 0]), ("a$b", found.L[2])])
    assert b64decode(picture).startswith(b"\x89PNG")


def test_after_restore_no_second_order_propensity_is_left() -> None:
    frame = factors()
    for method in (PcaMask(), Noise(), MicroaggregateDraws(), Ipso().then(Blend(alpha=0.3))):
        before, after = (made(each, frame).aligned()[COLUMNS].to_numpy() for each in (method, method.then(Restore())))
        Y = frame[COLUMNS].to_numpy()
        assert propensity(Y, after, 2) < 1e-10 < 1e-5 < propensity(Y, before, 2)


@pytest.mark.slow
@needs_shared
def test_calvinos_score_is_better_with_exact_moments() -> None:
    """Her best are .169 (PCA 13) and .173 (microaggregation plus noise 5); single runs here, not means of many."""
    assert SHARED is not None
    frame = pd.read_csv(SHARED / "data" / "Tarragona.csv").astype(float)
    names, Y = list(frame), frame.to_numpy()
    exact, drawn = (
        Score.of(Y, made(method, frame, confidential=names).aligned()[names].to_numpy())
        for method in (PcaMask().then(Restore()), PcaMask())
    )
    assert exact.second < 0.155
    assert exact.PS2 < 1e-10
    assert abs(drawn.second - 0.1691) < 0.02


@pytest.mark.parametrize("n", [2, 3, 5])
def test_a_swap_leaves_nobody_its_own_and_every_way_comes_up(n: int) -> None:
    draws, x = np.random.default_rng(1), np.arange(float(n))
    ways = [tuple(exchanged(x, draws).tolist()) for _ in range(3000)]
    assert not any(a == b for way in ways for a, b in zip(way, x, strict=True))
    assert all(sorted(way) == x.tolist() for way in set(ways))
    count = {2: 1, 3: 2, 5: 44}[n]  # derangements
    often = np.array([ways.count(way) for way in set(ways)])
    assert len(often) == count
    assert often.min() > 0.5 * 3000 / count
    assert often.max() < 2 * 3000 / count


def test_a_swap_of_equal_values_leaves_them() -> None:
    assert exchanged(np.ones(7), np.random.default_rng(1)).tolist() == [1.0] * 7
    assert exchanged(np.array([3.0]), np.random.default_rng(1)).tolist() == [3.0]
