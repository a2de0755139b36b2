"""MicroHybrid from file to certificate: every modification, every level, and what cannot be done."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from suffice import Ipso, Microaggregate, MicroHybrid, Plan, Restore, Roles, Rotate, Seed, cli, protect
from suffice.algebra.array import Array
from suffice.catalogue import build
from suffice.demo import firms as demo
from suffice.errors import InfeasibleError, InputError, NotPreservedError, UsageError
from suffice.release.release import Release
from suffice.rows.memory import MemoryRows
from tests.tolerances import ALGEBRA, ENGINE

CONFIDENTIAL = ["turnover", "wages", "taxes"]
ROLES = Roles(confidential=CONFIDENTIAL, identifiers=["firm_id"])
SIZES = {"clusters": "size", "local": "log(employees)"}

REQUESTS: dict[str, dict[str, Any]] = {
    "one cluster": {},
    "MHa": SIZES,
    "MHb": {"pieces": ["size", "zone"], "local": "log(employees)"},
    "main": {"clusters": ["size", "zone"], "overall": "log(employees)"},
    "a": {"clusters": ["size", "zone"], "overall": "log(employees)", "slopes": 0},
    "b": {"clusters": "zone", "overall": "log(employees)", "slopes": 1},
    "c": {"clusters": ["size", "zone"], "overall": "log(employees)", "slopes": 0.2},
    "largest": {"clusters": ["size", "zone"], "overall": "log(employees)", "slopes": "largest"},
    "d": {"clusters": ["size", "zone"], "cluster_groups": "size", "groups_given": "log(employees)"},
    "d with a": {"clusters": ["size", "zone"], "cluster_groups": "size", "groups_given": "log(employees)", "slopes": 0},
    "e": {**SIZES, "pieces": "industry"},
    "e with given": {"clusters": "size", "pieces": "zone", "pieces_given": "log(employees)"},
    "e with a": {"clusters": "size", "pieces": "zone", "overall": "log(employees)", "slopes": 0},
    "all": {
        "clusters": ["size", "zone"],
        "local": "age",
        "overall": "C(industry)",
        "pieces": "half",
        "pieces_given": "score",
        "cluster_groups": "size",
        "groups_given": "log(employees)",
        "slopes": 0.1,
    },
}
KEPT = {
    "one cluster": set(),
    "MHa": {("size", "mean"), ("size", "fit"), ("size", "covariance")},
    "MHb": {("size and zone", "mean")},
    "main": {("size and zone", "mean"), ("size and zone", "own-residual-covariance")},
    "a": {
        ("size and zone", "mean"),
        ("size and zone", "residual-covariance"),
        ("size and zone", "equal-slopes"),
    },
    "b": {("zone", "mean"), ("zone", "residual-covariance")},
    "c": {("size and zone", "mean"), ("size and zone", "residual-covariance")},
    "largest": {("size and zone", "mean"), ("size and zone", "residual-covariance")},
    "d": {
        ("size", "mean"),
        ("size", "fit"),
        ("size and zone", "mean"),
        ("size and zone", "own-residual-covariance"),
    },
    "d with a": {
        ("size", "mean"),
        ("size", "fit"),
        ("size", "covariance"),
        ("size and zone", "mean"),
        ("size and zone", "residual-covariance"),
        ("size and zone", "equal-slopes"),
    },
    "e": {("size", "mean"), ("size", "fit"), ("size", "covariance"), ("size and industry", "mean")},
    "e with given": {
        ("size", "mean"),
        ("size", "fit"),
        ("size", "covariance"),
        ("size and zone", "mean"),
        ("size and zone", "fit"),
    },
    "e with a": {
        ("size", "mean"),
        ("size", "residual-covariance"),
        ("size", "equal-slopes"),
        ("size and zone", "mean"),
    },
    "all": {
        ("size", "mean"),
        ("size", "fit"),
        ("size", "residual-covariance"),
        ("size and zone", "mean"),
        ("size and zone", "fit"),
        ("size and zone", "residual-covariance"),
        ("size and zone and half", "mean"),
        ("size and zone and half", "fit"),
    },
}
"""By request: what is kept in which groups, beside everything overall."""

every_request = pytest.mark.parametrize("name", REQUESTS)


@lru_cache
def firms(n: int = 900) -> pd.DataFrame:
    """The demonstration's firms in two zones, none of them in a class of its own."""
    frame = demo(n).to_pandas()
    rng = np.random.default_rng(1)
    frame["zone"] = np.where(frame["region"].str[0] < "C", "west", "east")
    frame["size"] = np.where(frame["size"] == "small", "small", "larger")
    frame["half"] = rng.choice(["first", "second"], n)
    frame["age"], frame["score"] = rng.integers(1, 60, n), rng.normal(size=n)
    return frame


def made(source: Any, roles: Roles = ROLES, key: int = 1, **request: Any) -> Release:
    return protect(source, roles, MicroHybrid(**request), seed=Seed.for_tests(key))


def Y_of(frame: Any, rows: Any = slice(None)) -> Array:
    return np.asarray(frame[CONFIDENTIAL], dtype=float)[rows]


def at_levels(release: Release) -> set[tuple[str, str]]:
    return {(claim.level.split(" by ")[1], claim.statistic) for claim in release.certificate.claims if claim.level}


@every_request
def test_what_is_kept_where_is_said_and_holds(name: str, tmp_path: Path) -> None:
    release = made(firms(), **REQUESTS[name])
    assert release.certificate.holds
    assert at_levels(release) == KEPT[name]
    stays = set() if name == "one cluster" else {"given"}  # nothing but new values leaves there
    whole = {claim.statistic for claim in release.certificate.claims if not claim.level}
    assert whole == {"mean", "covariance", "fit", *stays}
    changed = np.abs(Y_of(release.aligned()) - Y_of(firms())) > 1e-3 * Y_of(firms()).std(axis=0)
    assert changed.mean() > 0.7


@every_request
def test_blocks_that_cut_through_clusters_and_files_change_nothing(name: str, tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pandas(firms(), preserve_index=False), tmp_path / "firms.parquet", row_group_size=37)
    roles = replace(ROLES, keep=["region"])
    one = made(firms(), roles, **REQUESTS[name]).frame
    two = made(tmp_path / "firms.parquet", roles, **REQUESTS[name]).frame.to_pandas()
    assert (np.abs(Y_of(one) - Y_of(two)).max(axis=0) <= ENGINE * Y_of(one).std(axis=0)).all()
    assert one["region"].tolist() == two["region"].tolist()


def shifted(frame: pd.DataFrame, rows: NDArray[np.bool_], what: str) -> pd.DataFrame:
    """One group of a released file, moved by a millionth: in its mean, its spread or its slope."""
    y = frame["wages"].to_numpy().copy()
    here = y[rows] - y[rows].mean()
    x = np.log(frame["employees"].to_numpy()[rows])
    change = {"mean": here.std() + 0 * here, "spread": here, "slope": (x - x.mean()) * here.std() / x.std()}
    y[rows] += 1e-6 * change[what]
    return frame.assign(wages=y)


@pytest.mark.parametrize(
    ("name", "what", "statistic"),
    [
        ("MHa", "mean", "mean"),
        ("MHa", "spread", "covariance"),
        ("MHa", "slope", "fit"),
        ("MHb", "mean", "mean"),
        ("main", "spread", "own-residual-covariance"),
        ("a", "spread", "residual-covariance"),
        ("a", "slope", "equal-slopes"),
        ("b", "spread", "residual-covariance"),
        ("d", "spread", "own-residual-covariance"),
        ("d with a", "spread", "residual-covariance"),
        ("e", "mean", "mean"),
        ("e with given", "slope", "fit"),
    ],
)
def test_a_millionth_of_a_standard_deviation_in_one_group_is_seen(name: str, what: str, statistic: str) -> None:
    release = made(firms(), **REQUESTS[name])
    released = release.frame
    group = released[[column for column in ("size", "zone", "industry") if column in released]]
    rows = group.eq(group.iloc[0]).all(axis=1).to_numpy()
    edited = shifted(released, rows, what)
    certificate = release.attestation.certificate(MemoryRows(edited, 1), "an edited file", {})
    failed = {claim.statistic for claim in certificate.claims if claim.level and not claim.holds}
    assert statistic in failed
    worst = max(claim.error for claim in certificate.claims if claim.level and claim.statistic == statistic)
    assert 1e-8 < worst < 1e-4


def test_a_cluster_that_loses_a_record_to_another_is_seen() -> None:
    release = made(firms(), **REQUESTS["a"])
    edited = release.frame.copy()
    edited.loc[0, "size"] = "small" if edited.loc[0, "size"] == "larger" else "larger"
    certificate = release.attestation.certificate(MemoryRows(edited, 1), "an edited file", {})
    failed = {claim.statistic for claim in certificate.claims if not claim.holds}
    assert {"mean", "residual-covariance", "equal-slopes", "given"} <= failed


def test_what_is_said_is_understood() -> None:
    text = made(firms(), **REQUESTS["d with a"]).certificate.text()
    assert "in each of 4 groups by size and zone:" in text
    assert "covariances of residuals around the overall regression" in text
    assert "each group's own slopes, made those of the overall regression" in text
    assert "alpha = 0; largest alpha of all clusters" in text


def slopes(frame: pd.DataFrame, rows: NDArray[np.bool_]) -> Array:
    X = np.column_stack([np.ones(rows.sum()), np.log(frame["employees"].to_numpy()[rows])])
    return np.linalg.lstsq(X, Y_of(frame, rows), rcond=None)[0][1]


def test_modification_a_gives_every_cluster_the_slopes_of_the_whole_regression() -> None:
    for name, same in (("a", True), ("b", False), ("largest", False)):
        released = made(firms(), **REQUESTS[name]).frame
        by = REQUESTS[name]["clusters"]
        clusters = [np.asarray(released.index.isin(index)) for _, index in released.groupby(by).groups.items()]
        found = np.array([slopes(released, rows) for rows in clusters])
        spread = np.abs(found - found[0]).max() / np.abs(found).max()
        assert (spread < 1e-10) == same


def test_one_cluster_and_no_overall_columns_is_ipso_s_promise() -> None:
    """Both are IPSO on the same columns: other random numbers, the same statistics and nothing else in common."""
    roles = Roles(confidential=CONFIDENTIAL, given="log(employees)")
    ipso, ours = protect(firms(), roles, Ipso(), seed=Seed.for_tests(1)), made(firms(), roles)
    one, two = (np.cov(Y_of(each.frame).T) for each in (ipso, ours))
    assert np.allclose(one, two, rtol=1e-12)


# clusters that are made


def test_made_clusters_leave_as_a_column_in_random_numbers() -> None:
    release = made(firms(), clusters=Microaggregate(k=12))
    assert release.certificate.holds
    assert at_levels(release) == {("cluster", "mean"), ("cluster", "covariance")}
    aligned, own = release.aligned(), Microaggregate(k=12).labels(Y_of(firms()))
    labels = aligned["cluster"].to_numpy()
    assert np.issubdtype(labels.dtype, np.integer)
    pairs = np.unique(np.column_stack([own, labels]), axis=0)
    assert len(pairs) == own.max() + 1 == labels.max() + 1  # the same clusters under other numbers
    assert abs(np.corrcoef(pairs.T)[0, 1]) < 0.5
    assert (pairs[:, 0] == pairs[:, 1]).mean() < 0.2
    other = made(firms(), key=2, clusters=Microaggregate(k=12)).aligned()["cluster"].to_numpy()
    assert (other != labels).mean() > 0.8


def test_a_name_that_is_taken_is_refused() -> None:
    with pytest.raises(UsageError, match="makes a column 'cluster' and the data have one"):
        made(firms().assign(cluster=1), clusters=Microaggregate(k=12))


def test_made_clusters_in_groups_have_numbers_of_their_own() -> None:
    roles = Roles(confidential=CONFIDENTIAL, groups=["zone"])
    release = made(firms(), roles, clusters=Microaggregate(k=12), overall="log(employees)")
    assert release.certificate.holds
    assert ("zone and cluster", "own-residual-covariance") in at_levels(release)
    assert (release.frame.groupby("cluster")["zone"].nunique() == 1).all()


def test_labels_are_written_and_certified_from_the_file(tmp_path: Path) -> None:
    frame = firms().assign(**{name: np.log(firms()[name]) for name in CONFIDENTIAL})
    off = {"nearness": "what is written is looked at"}
    release = protect(frame, ROLES, MicroHybrid(clusters=Microaggregate(k=12)), accept=off)
    release.write(tmp_path / "out.csv")
    assert pd.read_csv(tmp_path / "out.csv")["cluster"].nunique() == 900 // 12
    document = json.loads((tmp_path / "out.csv.certificate.json").read_text())
    assert document["holds"]
    assert "in each of 75 groups by cluster" in {claim["level"] for claim in document["claims"]}


# what cannot be done


def test_what_is_infeasible_says_how_many_clusters_and_the_largest_alpha() -> None:
    with pytest.raises(InfeasibleError, match=r"clusters \d+ of \d+ . largest alpha 0\.\d+"):
        made(firms(), clusters=["size", "zone", "industry"], overall="log(employees)", slopes=1)
    with pytest.raises(InfeasibleError, match=r"clusters \d+ of \d+ . no alpha is feasible"):
        made(firms(), clusters=["region", "industry", "size"], overall="log(employees)", slopes=0)


def test_largest_stays_below_the_largest_alpha_and_says_so() -> None:
    said = made(firms(), **REQUESTS["largest"]).certificate.private[1]
    alpha, largest = float(said.split("alpha = ")[1].split(";")[0]), float(said.split("clusters: ")[1].split(",")[0])
    assert alpha == pytest.approx(min(0.95 * largest, 1), rel=1e-3)
    assert "slopes stay at 0.95 of it" in said
    with pytest.raises(InfeasibleError, match="largest alpha"):
        made(firms(), **{**REQUESTS["largest"], "slopes": min(1.0, 1.01 * largest)})


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ({"clusters": 3}, "clusters must be column names"),
        ({"clusters": Microaggregate(partition="individual")}, "clusters must be"),
        ({"clusters": "size", "slopes": 2}, r"slopes must be a number in \[0, 1\], largest, or none"),
        ({"clusters": "size", "slopes": "most"}, "slopes must be"),
        ({"clusters": "size", "slopes": True}, "slopes must be"),
        ({"local": 3}, "local must be a formula"),
        ({"local": "- 1 + age"}, "local takes terms; the intercept is always kept"),
        ({"pieces_given": "age"}, "pieces_given needs pieces"),
        ({"cluster_groups": "size"}, "cluster_groups and groups_given belong together"),
        ({"groups_given": "age"}, "cluster_groups and groups_given belong together"),
    ],
)
def test_bad_parameters(request_: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        MicroHybrid(**request_)


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ({"clusters": "sizes"}, "sizes.*[Dd]id you mean"),
        ({"clusters": "wages"}, "wages"),
        ({"clusters": "size", "local": "wages"}, "wages"),
        ({"clusters": "firm_id"}, "firm_id"),
        ({"clusters": "size", "slopes": 0}, "slopes are those of overall columns"),
        (
            {"clusters": "size", "cluster_groups": "zone", "groups_given": "age"},
            "2 of 2 clusters have records in more than one",
        ),
    ],
)
def test_bad_requests(request_: dict[str, Any], said: str) -> None:
    with pytest.raises((UsageError, InputError), match=said):
        made(firms(), **request_)


def test_columns_named_count_as_given_and_leave_as_they_are() -> None:
    roles = Roles(confidential=CONFIDENTIAL, keep=["size", "zone", "region"])
    release = made(firms(), roles, clusters=["size"], pieces="zone", overall="log(employees)")
    assert set(release.frame.columns) == {*CONFIDENTIAL, "size", "zone", "employees", "region"}
    assert release.certificate.given == ("log(employees)",)
    assert "columns released unchanged: region" in release.certificate.text()
    fixed = ["size", "zone", "employees", "region"]
    before, after = (each[fixed].sort_values(fixed, ignore_index=True) for each in (firms(), release.frame))
    assert before.equals(after)


def test_given_terms_are_overall_unless_they_are_crossed() -> None:
    roles = Roles(confidential=CONFIDENTIAL, given="log(employees) + C(industry)")
    release = made(firms(), roles, **SIZES)
    assert release.certificate.holds
    assert ("size", "own-residual-covariance") in at_levels(release)  # the industries are overall
    assert ("size", "covariance") not in at_levels(release)


# with others


def test_weights_groups_and_patterns_together() -> None:
    frame = firms().copy()
    frame.loc[frame.index % 4 == 0, "taxes"] = np.nan
    roles = Roles(confidential=CONFIDENTIAL, weight="weight", groups=["zone"], missing="patterns")
    release = made(frame, roles, clusters="size", overall="log(employees)", slopes=0)
    assert release.certificate.holds
    claims = {(claim.statistic, claim.level) for claim in release.certificate.claims}
    assert ("equal-slopes", "in each of 8 groups by zone and size and pattern of missing cells") in claims
    aligned = release.aligned()
    assert (aligned["taxes"].isna() == frame["taxes"].isna()).all()
    full = ((frame["size"] == "small") & (frame["zone"] == "west") & frame["taxes"].notna()).to_numpy()
    w = frame["weight"].to_numpy()[full]
    one, two = (np.average(Y_of(each, full), axis=0, weights=w) for each in (frame, aligned))
    assert np.allclose(one, two, rtol=1e-12)


def test_units_and_offsets_cost_no_more_than_digits_hold() -> None:
    frame = firms().assign(wages=1e9 + firms()["wages"], taxes=firms()["taxes"] * 1e-9)
    release = made(frame, **REQUESTS["a"])
    assert release.certificate.holds
    assert max(claim.ratio for claim in release.certificate.claims) <= ALGEBRA


def test_constant_collinear_and_explained_columns() -> None:
    frame = firms().assign(fixed=7.0, sum=firms()["wages"] + firms()["taxes"], told=2 * np.log(firms()["employees"]))
    roles = Roles(confidential=["wages", "fixed", "taxes", "sum", "told"])
    for name in ("MHa", "main", "a", "d with a", "e with a"):
        release = made(frame, roles, **REQUESTS[name])
        assert release.certificate.holds
        after = release.aligned()
        assert (after["fixed"] == 7.0).all()
        assert np.allclose(after["sum"], after["wages"] + after["taxes"], rtol=1e-9)
        assert np.allclose(after["told"], frame["told"], rtol=1e-9)


def test_steps_after_it() -> None:
    method = MicroHybrid(**SIZES)
    for step, kept in ((Restore(), {"mean", "covariance", "fit"}), (Rotate(sweeps=2), {"mean", "covariance", "fit"})):
        release = protect(firms(), ROLES, method.then(step), seed=Seed.for_tests(1))
        assert release.certificate.holds
        assert kept <= {claim.statistic for claim in release.certificate.claims}
        assert at_levels(release) == set()
        assert {"size", "employees"} <= set(release.frame.columns)
    made_first = MicroHybrid(clusters=Microaggregate(k=12)).then(Restore())
    assert "cluster" not in protect(firms(), ROLES, made_first, seed=Seed.for_tests(1)).frame.columns


def test_the_parameters_decide_the_random_numbers() -> None:
    one, two = (made(firms(), clusters=Microaggregate(k=k)).done.stream.digest() for k in (12, 13))
    three = made(firms(), clusters=("size",)).done.stream.digest()
    four = made(firms(), clusters="size").done.stream.digest()
    assert len({one, two, three}) == 3
    assert three == four
    assert json.loads(json.dumps(MicroHybrid(clusters=Microaggregate(k=12)).parameters()))["clusters"] == {
        "name": "microaggregate",
        "k": 12,
        "partition": "mdav",
        "by": "mean",
    }


# guards


def test_clusters_of_ten_can_be_released_from_an_ordinary_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    n, level = 1500, rng.gamma(6.0, 1.0, size=(1500, 1))
    money = ((level + rng.gamma(3.0, 1.0, (n, 3))) * [3000, 4000, 500]).round()
    frame = pd.DataFrame(money, columns=["expend", "income", "savings"]).assign(urban=rng.choice(["town", "land"], n))
    roles = Roles(confidential=["expend", "income", "savings"], given="C(urban)")
    release = protect(frame, roles, MicroHybrid(clusters=Microaggregate(k=10)))
    assert not [finding for finding in release.findings if finding.blocks]
    assert release.write(tmp_path / "out.parquet").holds


def test_small_clusters_stop(tmp_path: Path) -> None:
    frame = firms().assign(trio=np.arange(900) // 3, pair=np.arange(900) // 2, four=np.arange(900) // 4)
    for column, level in (("pair", "never"), ("trio", "stop"), ("four", "stop")):
        release = made(frame, clusters=column)
        found = {finding.rule: finding.level for finding in release.findings}
        assert found["degrees-of-freedom"] == level
    assert "degrees-of-freedom" not in {f.rule for f in made(frame, pieces="four").findings if f.blocks}
    assert "group-size" in {finding.rule for finding in made(frame, pieces="pair").findings if finding.blocks}


def test_pieces_take_degrees_of_freedom_from_their_clusters() -> None:
    frame = firms().assign(ten=np.arange(900) // 10, three=np.arange(900) // 10 * 3 + np.arange(900) % 10 % 3)
    whole, cut = made(frame, clusters="ten"), made(frame, clusters="ten", pieces="three")
    assert next(kept.nu for kept in whole.assessment.groups if kept.name == "ten") == 9
    assert next(kept.nu for kept in cut.assessment.groups if kept.name == "ten") == 7


def test_a_certificate_that_does_not_hold_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = firms().assign(**{name: np.log(firms()[name]) for name in CONFIDENTIAL})
    release = protect(
        frame, ROLES, MicroHybrid(**REQUESTS["a"]), accept=dict.fromkeys(("nearness", "explained-columns"), "looked at")
    )
    shown = release.frame
    rows = (shown["size"] == "small").to_numpy() & (shown["zone"] == "east").to_numpy()
    release._state["frame"] = shifted(shown, rows, "slope")
    with pytest.raises(NotPreservedError, match="NOT KEPT at wages, group"):
        release.write(tmp_path / "out.parquet")
    assert not list(tmp_path.iterdir())


# command line and plans


@pytest.fixture
def suffice(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Any:
    monkeypatch.chdir(tmp_path)
    frame = firms().assign(**{name: np.log(firms()[name]) for name in CONFIDENTIAL})
    frame.to_parquet("firms.parquet")

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["suffice", *words])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            cli.main()
        said = capsys.readouterr()
        return int(end.value.code or 0), said.out, said.err

    return run


WORDS = ("protect", "firms.parquet", "--confidential", "turnover,wages,taxes", "--method", "micro-hybrid")


def test_command_line(suffice: Any) -> None:
    given = ("--param", "clusters=size,zone", "--param", "overall=log(employees)", "--param", "slopes=0")
    told = ("--accept", "nearness=looked at", "--accept", "explained-columns=looked at")
    code, out, err = suffice(*WORDS, *given, *told, "-o", "out.parquet")
    assert code == 0, err
    assert "in each of 4 groups by size and zone" in out + err
    assert set(pq.read_schema("out.parquet").names) == {*CONFIDENTIAL, "size", "zone", "employees"}
    code, _, err = suffice(*WORDS, "--param", "clusters=mdav:15", *told, "-o", "made.parquet")
    assert code == 0, err
    assert pq.read_table("made.parquet")["cluster"].to_pandas().nunique() == 60
    code, _, err = suffice(*WORDS, "--param", "clusters=size", "--param", "slopes=no", "-o", "wrong.parquet")
    assert (code, "Traceback" in err) == (2, False)
    assert "slopes must be a number in [0, 1], largest, or none" in err


def test_plans(tmp_path: Path) -> None:
    for clusters, read in (('"mdav:10"', Microaggregate(k=10)), ('["size", "zone"]', ("size", "zone"))):
        text = f"""
            data.path = "firms.parquet"
            roles.confidential = ["wages"]
            release.path = "out.parquet"
            [[method]]
            name = "micro-hybrid"
            clusters = {clusters}
            overall = "log(employees)"
            slopes = "largest"
        """
        (tmp_path / "plan.toml").write_text(text)
        method = Plan.read(tmp_path / "plan.toml").build_method()
        assert method == MicroHybrid(clusters=read, overall="log(employees)", slopes="largest")
    assert build("micro-hybrid", {"clusters": "best:7", "slopes": "none"}).clusters == Microaggregate(  # type: ignore[attr-defined]
        k=7, partition="best"
    )


def test_the_catalogue_reads_well(suffice: Any) -> None:
    code, out, _ = suffice("methods", "micro-hybrid")
    assert code == 0
    for said in ("clusters: ", "mdav:10 or best:10", "slopes: ", "largest", "Langsrud (2019), section 6"):
        assert said in " ".join(out.split())


def test_presets() -> None:
    assert MicroHybrid.mha("size", "age") == MicroHybrid(clusters="size", local="age")
    assert MicroHybrid.mhb("size", "age") == MicroHybrid(pieces="size", local="age")
