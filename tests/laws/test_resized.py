"""Laws of a release with a number of records of its own, for every engine and every kind of frame."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from suffice import (
    Mixture,
    OutliersApart,
    Release,
    ResidualCorrelation,
    Resize,
    Restore,
    Roles,
    Seed,
    cli,
    protect,
    verify,
)
from suffice.algebra.array import Array
from suffice.errors import InfeasibleError, InputError, UsageError
from suffice.protection.drawing import dealt_out
from suffice.seed import Stream
from tests.laws.test_protect import CONFIDENTIAL, ENGINES, N, column, every_engine, firms, off, to_parquet
from tests.places import SHARED, needs_shared
from tests.tolerances import ALGEBRA, CHANCE, ENGINE
from tests.truth import ratios

ROLES = {
    "overall": Roles(confidential=CONFIDENTIAL),
    "groups": Roles(confidential=CONFIDENTIAL, groups=["region", "grade"]),
    "weights": Roles(confidential=CONFIDENTIAL, weight="weight", identifiers=["name"]),
    "both": Roles(confidential=CONFIDENTIAL, groups=["region"], weight="weight"),
}
SIZES = (500, N, 20_000)
every_role = pytest.mark.parametrize("roles", ROLES.values(), ids=ROLES.keys())
every_size = pytest.mark.parametrize("m", SIZES)


def made(source: Any, m: int, roles: Roles, key: int = 1, **more: Any) -> Release:
    return protect(source, roles, Resize(m=m), seed=Seed.for_tests(key), **more)


@lru_cache
def reference(m: int, which: str) -> tuple[Array, list[tuple[str, ...]]]:
    return numbers(made(firms(), m, ROLES[which]).frame, ROLES[which])


def numbers(frame: Any, roles: Roles) -> tuple[Array, list[tuple[str, ...]]]:
    """The values, and the group of every record."""
    Y = np.column_stack([column(frame, name) for name in roles.confidential]).astype(float)
    by = [np.asarray(column(frame, name)).astype(str) for name in roles.groups]
    return Y, list(zip(*by, strict=True)) if by else [()] * len(Y)


def worst(before: pd.DataFrame, frame: Any, roles: Roles) -> float:
    """The largest ratio of a mean or covariance, in any group; in all groups together where there are none."""
    Y, groups = numbers(before, roles)
    Ystar, released = numbers(frame, roles)
    assert {*groups} == {*released}
    w = None if roles.weight is None else before[roles.weight].to_numpy()
    found = []
    for group in {*groups}:
        one, two = (np.array([own == group for own in each]) for each in (groups, released))
        none = np.empty((one.sum(), 0)), np.empty((two.sum(), 0))
        found.append(max(ratios(none[0], Y[one], none[1], Ystar[two], None if w is None else w[one]).values()))
    return max(found)


@every_engine
@every_size
@pytest.mark.parametrize("which", ROLES)
def test_promises_are_kept_and_the_engine_does_not_matter(which: str, m: int, engine: str, tmp_path: Path) -> None:
    roles = ROLES[which]
    release = made(ENGINES[engine](firms(), tmp_path), m, roles)
    assert release.certificate.holds
    assert release.certificate.rows == m
    assert worst(firms(), release.frame, roles) <= ALGEBRA
    Y, groups = numbers(release.frame, roles)
    other, same = reference(m, which)
    assert groups == same
    assert off(Y, other) <= ENGINE
    assert f"{m:,}" in repr(release)


@every_size
@every_role
def test_the_key_decides_and_nothing_else(roles: Roles, m: int, monkeypatch: pytest.MonkeyPatch) -> None:
    first = numbers(made(firms(), m, roles, threads=1).frame, roles)
    again = numbers(made(firms(), m, roles, threads=3).frame, roles)
    assert np.array_equal(first[0], again[0])
    assert first[1] == again[1]
    assert off(numbers(made(firms(), m, roles, key=2).frame, roles)[0], first[0]) > 0.1
    monkeypatch.setattr("suffice.rows.rows.RUN", 1)
    assert off(numbers(made(firms(), m, roles).frame, roles)[0], first[0]) <= ENGINE


@every_role
def test_order_of_columns_does_not_matter(roles: Roles) -> None:
    turned = made(firms()[firms().columns[::-1]], 700, roles)
    assert off(numbers(turned.frame, roles)[0], numbers(made(firms(), 700, roles).frame, roles)[0]) <= ENGINE


@every_role
def test_units_do_not_matter(roles: Roles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Seed, "derive", lambda *_: Stream(bytes(range(32))))
    units = np.array([1e-6, 1e9, 1e3])
    scaled = firms().assign(**{name: firms()[name] * unit for name, unit in zip(CONFIDENTIAL, units, strict=True)})
    one, two = (numbers(made(frame, 700, roles).frame, roles)[0] for frame in (firms(), scaled))
    assert off(two / units, one) <= ENGINE


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_the_same_kind_of_frame_comes_out(kind: str, tmp_path: Path) -> None:
    source = ENGINES[kind](firms(), tmp_path)
    frame = made(source, 600, ROLES["groups"]).frame
    assert type(frame) is type(source)
    if isinstance(frame, pd.DataFrame):
        assert list(frame.columns) == ["wages", "region", "staff", "grade", "turnover"]  # as in the file
        assert frame["region"].dtype == source["region"].dtype
        assert frame["grade"].dtype == source["grade"].dtype
        assert frame.index.equals(pd.RangeIndex(600))
    elif isinstance(frame, pl.DataFrame):
        assert frame.schema["region"] == source.schema["region"]
    else:
        assert frame.schema.field("grade").type == source.schema.field("grade").type
    alone = made(source, 600, ROLES["overall"]).frame
    assert type(alone) is type(source)
    assert len(alone) == 600


def test_a_file_comes_out_as_an_arrow_table_with_its_types(tmp_path: Path) -> None:
    frame = firms().assign(code=np.arange(N, dtype=np.int16) % 5)
    roles = Roles(confidential=CONFIDENTIAL, groups=["region", "code"])
    schema = made(to_parquet(frame, tmp_path), 600, roles).frame.schema
    assert schema.names == ["wages", "region", "staff", "turnover", "code"]
    assert schema.field("code").type == pa.int16()
    assert schema.field("staff").type == pa.float64()
    assert schema.field("region").type in (pa.string(), pa.large_string())


def test_arrays_come_out_as_arrays() -> None:
    rng = np.random.default_rng(2)
    data = np.column_stack([rng.normal(size=(300, 2)), rng.integers(0, 3, 300)])
    release = made(data, 40, Roles(confidential=["x1", "x0"]))
    assert isinstance(release.frame, np.ndarray)
    assert release.frame.shape == (40, 2)
    none = np.empty((300, 0)), np.empty((40, 0))
    assert max(ratios(none[0], data[:, :2], none[1], release.frame).values()) <= ALGEBRA
    whole = rng.integers(0, 50, (300, 3)) % np.array([50, 50, 4])
    release = made(whole, 90, Roles(confidential=["x1", "x0"], groups=["x2"]))
    assert release.frame.shape == (90, 3)
    assert {*release.frame[:, 2]} == {0, 1, 2, 3}


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "feather", "dta", "sav"])
@every_role
def test_what_is_written_is_certified_and_verified(roles: Roles, kind: str, tmp_path: Path) -> None:
    rows = firms(3000)
    source = to_parquet(rows, tmp_path) if kind in ("csv", "parquet") else rows
    release = protect(source, roles, Resize(m=321))
    certificate = release.write(tmp_path / f"out.{kind}")
    assert f"recomputed from the written {kind} file" in certificate.text()
    assert certificate.same_rows is None
    found = verify(source, tmp_path / f"out.{kind}", roles)
    assert found.holds
    assert f"the number of records differs: {len(rows):,} in the original, 321 in the release" in found.text()


def test_a_large_file_is_drawn_from_in_parts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    expected = reference(500, "groups")
    monkeypatch.setattr("suffice.protection.strata.TOGETHER", 2000)
    monkeypatch.setattr("suffice.rows.spool.HELD", 2000)
    Y, groups = numbers(made(to_parquet(firms(), tmp_path), 500, ROLES["groups"]).frame, ROLES["groups"])
    assert groups == expected[1]
    assert off(Y, expected[0]) <= ENGINE


def test_records_with_missing_cells_are_left_out_first(tmp_path: Path) -> None:
    frame = firms(2000).copy()
    frame.loc[frame.index[::7], "turnover"] = np.nan
    roles = Roles(confidential=CONFIDENTIAL, groups=["region"], missing="drop")
    for source in (frame, to_parquet(frame, tmp_path)):
        release = made(source, 300, roles)
        assert worst(frame.dropna(), release.frame, roles) <= ALGEBRA
        assert "dropped because of missing cells" in release.certificate.text()
        assert verify(source, release.frame, roles).holds


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    n=st.integers(6, 80),
    spare=st.integers(0, 120),
    groups=st.integers(1, 3),
    dependent=st.booleans(),
    constant=st.booleans(),
    offset=st.sampled_from([0.0, 1e4, 1e9]),
    scale=st.integers(-8, 8),
)
def test_small_files_of_any_shape(
    seed: int, n: int, spare: int, groups: int, dependent: bool, constant: bool, offset: float, scale: int
) -> None:
    rng = np.random.default_rng(seed)
    Y = 10.0**scale * (rng.normal(size=(n, 4)) @ (np.eye(4) + rng.uniform(0, 1, (4, 4))) + offset)
    if dependent:
        Y[:, 2] = Y[:, 0] - Y[:, 3]
    if constant:
        Y[:, 1] = 7.1
    frame = pd.DataFrame(Y, columns=list("abcd")).assign(g=np.sort(rng.permutation(n) % groups))
    sd = frame.groupby("g").std(ddof=0).to_numpy()  # what differs in its last digits alone is refused
    assume((np.finfo(np.float64).eps * np.abs(Y).max() <= 1e-5 * sd[sd > 0]).all())
    roles = Roles(confidential=list("abcd"), groups=["g"] if groups > 1 else [])
    m = 5 * groups + spare
    release = made(frame, m, roles)
    assert len(release.frame) == m
    assert release.certificate.holds
    assert worst(frame, release.frame, roles) <= ALGEBRA
    if constant:
        assert (release.frame["b"] == 7.1).all()
    if dependent:
        gap = np.abs(release.frame["c"] - (release.frame["a"] - release.frame["d"]))
        assert (gap <= 1e-13 * release.frame["a"].abs().max()).all()


def test_each_group_has_its_share() -> None:
    release = made(firms(), 1000, ROLES["groups"])
    before, after = (pd.Series(numbers(frame, ROLES["groups"])[1]).value_counts() for frame in (firms(), release.frame))
    assert (abs(after - 1000 * before / N) < 1).all()
    assert "reached, not promised" in release.certificate.text()
    same = made(firms(), N, ROLES["groups"])
    assert {claim.promised for claim in same.certificate.claims} == {True}
    assert {claim.level for claim in same.certificate.claims} == {"", "in each of 8 groups by region and grade"}
    assert max(ratios(*_alone(firms()), *_alone(same.frame)).values()) <= ALGEBRA


def _alone(frame: pd.DataFrame) -> tuple[Array, Array]:
    return np.empty((len(frame), 0)), frame[CONFIDENTIAL].to_numpy(dtype=float)


@settings(max_examples=100, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 500), min_size=1, max_size=12),
    least=st.integers(1, 6),
    spare=st.integers(0, 400),
)
def test_records_dealt_out_to_groups(sizes: list[int], least: int, spare: int) -> None:
    least_of = np.full(len(sizes), least)
    m = int(least_of.sum()) + spare
    counts = dealt_out(m, np.array(sizes, dtype=float), least_of)
    assert counts.sum() == m
    assert (counts >= least_of).all()
    share = m * np.array(sizes) / sum(sizes)
    if (share >= least).all():
        assert (np.abs(counts - share) < 1).all()
    order = np.argsort(sizes, kind="stable")
    assert (np.diff(counts[order])[np.diff(np.array(sizes)[order]) > 0] >= 0).all()  # a larger group has no fewer
    multiple = dealt_out(3 * sum(sizes), np.array(sizes, dtype=float), np.ones(len(sizes), dtype=int))
    assert multiple.tolist() == [3 * size for size in sizes]


@pytest.mark.parametrize("m", [0, 1, 3])
def test_too_few_records_are_refused_with_the_numbers(m: int) -> None:
    with pytest.raises(InfeasibleError, match=f"needs 4 records at least and {m} are asked for") as caught:
        made(firms(300), m, ROLES["overall"])
    assert caught.value.exit_code == 5
    assert len(made(firms(300), 4, ROLES["overall"]).frame) == 4
    with pytest.raises(InfeasibleError, match=r"needs 32 records at least(.|\n)*groups 8 (.|\n)*m = 32 or more"):
        made(firms(300), m + 28, ROLES["groups"])
    assert made(firms(300), 32, ROLES["groups"]).certificate.holds


def test_as_few_records_as_there_are_directions() -> None:
    """A column that depends on others needs no record of its own."""
    frame = firms(300).assign(turnover=firms(300)["wages"] + firms(300)["staff"])
    drawn = made(frame, 3, ROLES["overall"]).frame
    assert made(frame, 3, ROLES["overall"]).certificate.holds
    assert off(drawn[["turnover"]].to_numpy(), (drawn["wages"] + drawn["staff"]).to_numpy()[:, None]) <= ENGINE
    with pytest.raises(InfeasibleError, match="3 records at least and 2"):
        made(frame, 2, ROLES["overall"])


def test_too_many_records_are_refused_with_the_numbers() -> None:
    with pytest.raises(UsageError, match="1,048,576 records at most and m is 1,048,577"):
        Resize(m=2**20 + 1)


@pytest.mark.parametrize(
    ("roles", "said"),
    [
        ({"given": "C(region)"}, "'region' cannot be given. Name it in `groups`"),
        ({"given": ["region"]}, "'region' cannot be given. Name it in `confidential`.*in `groups` if it is a category"),
        ({"given": "log(size) + age"}, "'size' cannot be given(.|\n)*'age' cannot be given"),
        ({"given": "-1"}, "Leave `given` empty"),
        ({"keep": ["founded"]}, "'founded' in `keep` cannot stay as it is"),
        ({"bounds": {"wages": (0, None)}}, "cannot keep `bounds`"),
        ({"bounds": "observed-sign"}, "cannot keep `bounds`"),
        ({"integer": ["staff"]}, "cannot keep `integer`"),
        ({"edits": ["wages <= turnover"]}, "cannot keep `edits`"),
        ({"missing": "patterns"}, "Use missing = drop"),
    ],
)
def test_what_new_records_cannot_have_is_refused(roles: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        made(firms(300), 50, Roles(confidential=CONFIDENTIAL, **roles))


def test_no_step_of_several_and_no_part_of_a_split() -> None:
    for chain in (lambda: Resize(m=50).then(Restore()), lambda: Mixture(0.5).then(Resize(m=50))):
        with pytest.raises(UsageError, match="resize cannot be one step of several"):
            chain()
    with pytest.raises(UsageError, match="nor be other records"):
        OutliersApart(rest=Resize(m=50))


def test_no_record_stands_for_another() -> None:
    release = made(firms(300), 300, ROLES["overall"])
    with pytest.raises(UsageError, match="none of them stands for one of the original"):
        release.aligned()
    assert "correlation with the original" not in release.certificate.text()


def test_records_of_weight_zero_count_nowhere() -> None:
    frame = firms(600).copy()
    frame.iloc[::3, list(frame.columns).index("weight")] = 0.0
    frame.iloc[::3, list(frame.columns).index("wages")] *= 50
    for roles in (ROLES["weights"], ROLES["both"]):
        release = made(frame, 200, roles)
        assert release.certificate.holds
        assert worst(frame[frame["weight"] > 0], release.frame, roles) <= ALGEBRA


def test_what_is_constant_in_a_group_stays_bit_for_bit(tmp_path: Path) -> None:
    frame = firms(600).copy()
    alike = frame["region"] == "north"
    frame["turnover"] = np.where(alike, 0.1 + 0.2, frame["turnover"])
    roles = Roles(confidential=CONFIDENTIAL, groups=["region"])
    for source in (frame, to_parquet(frame, tmp_path)):
        released = made(source, 200, roles).frame
        here = np.asarray(column(released, "region")).astype(str) == "north"
        assert {*np.asarray(column(released, "turnover"))[here]} == {0.1 + 0.2}


def test_a_group_of_no_weight_is_refused() -> None:
    frame = firms(300).copy()
    frame.loc[frame["region"] == "north", "weight"] = 0.0
    with pytest.raises(InputError, match="weight zero in 1 of 4 groups"):
        made(frame, 100, ROLES["both"])


def test_verification_sees_what_is_not_kept() -> None:
    for roles in ROLES.values():
        frame = made(firms(900), 321, roles).frame
        assert verify(firms(900), frame, roles).holds
        moved = frame.copy()
        moved.loc[5, "wages"] += 1e-5 * moved["wages"].std()
        assert not verify(firms(900), moved, roles).holds
        assert not verify(firms(900), frame.iloc[1:], roles).holds
    gone = frame[frame["region"] != "north"]
    assert not verify(firms(900), gone, ROLES["both"]).holds
    strange = frame.assign(region=np.where(np.arange(321) == 0, "abroad", frame["region"].astype(str)))
    assert not verify(firms(900), strange, ROLES["both"]).holds
    given_too = Roles(confidential=CONFIDENTIAL, given="age")
    assert not verify(firms(900), firms(900).head(321), given_too).holds


def test_only_the_moments_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files with the same moments in every group give one release: with the key too, no more can be found out."""
    one = firms(2000)
    roles = Roles(confidential=CONFIDENTIAL, groups=["region"])
    monkeypatch.setattr(Seed, "derive", lambda *_: Stream(bytes(32)))
    two = made(one, 2000, roles).frame
    monkeypatch.setattr(Seed, "derive", lambda *_: Stream(bytes(range(32))))
    released = [numbers(made(frame, 150, roles).frame, roles) for frame in (one, two)]
    assert released[0][1] == released[1][1]
    assert off(released[0][0], released[1][0]) <= ENGINE
    assert off(numbers(two, roles)[0], numbers(one, roles)[0]) > 0.1


def test_the_average_of_a_hundred_releases_carries_nothing() -> None:
    """Row by row, and rank by rank beside what normal numbers have; a hybrid averages back to the original."""
    n = 200
    frame = firms(n).sort_values("wages")  # an attacker who knows the order of the records
    Y = frame[CONFIDENTIAL].to_numpy(dtype=float)
    roles = ROLES["overall"]
    drawn = [numbers(made(frame, n, roles, key=key).frame, roles)[0] for key in range(100)]
    z = [np.corrcoef(a, y)[0, 1] * np.sqrt(n) for a, y in zip(np.mean(drawn, axis=0).T, Y.T, strict=True)]
    assert np.abs(z).max() < CHANCE
    pairs = [np.corrcoef(one[:, 0], two[:, 0])[0, 1] for one, two in zip(drawn[::2], drawn[1::2], strict=True)]
    assert abs(np.mean(pairs) * np.sqrt(n * len(pairs))) < CHANCE
    hybrid = [protect(frame, roles, ResidualCorrelation(0.5), Seed.for_tests(key)).aligned() for key in range(30)]
    back = np.mean([each[CONFIDENTIAL].to_numpy() for each in hybrid], axis=0)
    assert np.corrcoef(back[:, 0], Y[:, 0])[0, 1] * np.sqrt(n) > 2 * CHANCE


def test_guards_judge_the_original() -> None:
    few = firms(5)
    rules = {f.rule: f for f in made(few, 500, ROLES["overall"]).findings if f.blocks}
    assert "degrees-of-freedom" in rules  # five records, however many are drawn
    assert {f.rule for f in made(firms(), 4, ROLES["overall"]).findings if f.blocks} == {"seed"}
    two = firms(400).assign(region=["north", "north", *["south"] * 398])
    blocked = {f.rule for f in made(two, 500, Roles(confidential=CONFIDENTIAL, groups=["region"])).findings if f.blocks}
    assert "degrees-of-freedom" in blocked
    giant = firms(400).copy()
    giant.loc[giant.index[3], "turnover"] *= 1e4
    roles = Roles(confidential=CONFIDENTIAL, groups=["grade"])
    assert "dominance" in {f.rule for f in made(giant, 500, roles).findings if f.blocks}


def test_signs_are_those_of_the_records_drawn() -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"y": np.exp(2 * rng.normal(size=500))})
    release = made(frame, 3000, Roles(confidential=["y"]))
    below = int((release.frame["y"] < 0).sum())
    assert below > 500
    assert any(str(below) in f.message.replace(",", "") for f in release.findings if f.rule == "domain")


def test_the_ledger_knows_the_release(tmp_path: Path) -> None:
    seed = Seed.new_file(tmp_path / "key")
    for m in (100, 200):
        release = protect(firms(400), ROLES["overall"], Resize(m=m), seed=seed)
        assert not [f for f in release.findings if f.blocks]
        release.write(tmp_path / f"{m}.csv")
    ledger = next(path for path in tmp_path.iterdir() if path.name.startswith("key") and path.name != "key")
    assert ledger.read_text().count("resize") == 2


def test_no_group_is_named_where_groups_are_too_many() -> None:
    with pytest.raises(InfeasibleError) as caught:
        made(firms(300), 10, ROLES["groups"])
    assert not {"north", "south", "east", "west"} & {*str(caught.value).split()}


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., tuple[int, str]]:
    """command(*words): its exit code and all that it prints, in a folder with firms.parquet."""
    monkeypatch.chdir(tmp_path)
    to_parquet(firms(400), tmp_path)

    def run(*words: object) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["suffice", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        said = capsys.readouterr()
        return int(end.value.code or 0), said.out + said.err

    return run


REQUEST = [
    "protect",
    "firms.parquet",
    "--confidential",
    ",".join(CONFIDENTIAL),
    "--groups",
    "region",
    "--method",
    "resize",
]


@pytest.mark.parametrize("weight", [[], ["--weight", "weight"]])
def test_from_the_command_line(command: Callable[..., tuple[int, str]], weight: list[str]) -> None:
    code, said = command(*REQUEST, *weight, "--param", "m=75", "-o", "out.csv", "--report", "report.html")
    assert code == 0, said
    assert "75 records drawn anew in place of 400" in said
    assert len(pd.read_csv("out.csv")) == 75
    assert Path("report.html").exists()
    code, said = command("verify", "firms.parquet", "out.csv", *REQUEST[2:6], *weight)
    assert code == 0, said
    assert "the number of records differs: 400 in the original, 75 in the release" in said


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--param", "m=3"], 5, "Ask for m = 16 or more"),
        (["--param", "m=0"], 5, "needs 16 records at least and 0 are asked for"),
        (["--param", "m=many"], 2, "m must be a whole number"),
        (["--param", "m=99999999999"], 2, "1,048,576 records at most"),
        ([], 2, "resize needs m"),
        (["--param", "m=90", "--given", "C(grade)"], 2, "Name it in `groups`"),
    ],
)
def test_mistakes_on_the_command_line(
    command: Callable[..., tuple[int, str]], words: list[str], code: int, said: str
) -> None:
    ended = command(*REQUEST, *words, "-o", "out.csv")
    assert ended[0] == code
    assert said in ended[1]
    assert not Path("out.csv").exists()


def test_the_catalogue_knows_it(command: Callable[..., tuple[int, str]]) -> None:
    code, said = command("methods", "resize")
    assert code == 0
    assert "how many records to draw" in said
    assert "Mera (1997), Theorem 3" in said


@needs_shared
@pytest.mark.parametrize(
    ("file", "groups"), [("Tarragona", []), ("CASCrefmicrodata", []), ("testdata", ["urbrur", "sex"])]
)
def test_ordinary_files_can_be_released(file: str, groups: list[str], tmp_path: Path) -> None:
    assert SHARED is not None
    frame = pd.read_csv(SHARED / "data" / f"{file}.csv")
    names = ["expend", "income", "savings"] if groups else list(frame.select_dtypes("number").columns)
    release = protect(frame, Roles(confidential=names, groups=groups), Resize(m=500))
    assert {f.rule for f in release.findings if f.level == "warn"} == {"domain"}
    assert not [f for f in release.findings if f.blocks]
    assert release.write(tmp_path / "out.csv").holds


SHARED_OUT = pa.table({"g": ["a"] * 60 + ["b"] * 30 + ["c"] * 10, "y": np.random.default_rng(1).gamma(2.0, size=100)})


def counted(m: int, shares: Any = "size", **more: Any) -> tuple[list[int], Release]:
    asked = Roles(confidential=["y"], groups=["g"], **more)
    release = protect(SHARED_OUT, asked, Resize(m=m, shares=shares), seed=Seed.for_tests(1))
    groups = release.frame["g"].to_pylist()
    assert release.certificate.holds
    return [groups.count(name) for name in "abc"], release


def test_shares_by_size_equal_exact_or_as_they_are_given():
    assert counted(25)[0] == [15, 8, 2]
    assert counted(30, "exact")[0] == [18, 9, 3]
    assert counted(30, "equal")[0] == [10, 10, 10]
    assert counted(30, (1, 1, 2))[0] == [8, 7, 15]
    assert counted(30, [5, 12, 13])[0] == [5, 12, 13]


def test_what_the_shares_mean_overall_is_said():
    said = {key: " ".join(counted(*key)[1].certificate.notes) for key in ((25,), (30,), (30, "equal"), (30, "exact"))}
    assert "not equal to them; with 20 records they would be" in said[25,]
    assert "not overall" in said[30, "equal"]
    assert not any(word in said[30,] + said[30, "exact"] for word in ("not overall", "not equal"))


def test_shares_that_cannot_be_are_refused_with_a_number_that_works():
    with pytest.raises(InfeasibleError, match="Ask for m = 20 or 30, or for shares = size"):
        counted(25, "exact")
    with pytest.raises(InfeasibleError, match="Ask for m = 10, or"):
        counted(7, "exact")
    with pytest.raises(UsageError, match="2 shares and there are 3 groups"):
        counted(30, (1, 2))
    for wrong in ("most", (1, -1, 2), (0, 0, 0), (), 3, (1, float("nan"), 2)):
        with pytest.raises(UsageError, match="shares"):
            Resize(m=30, shares=wrong)  # type: ignore[arg-type]


def test_shares_on_the_command_line(command: Callable[..., tuple[int, str]], tmp_path: Path) -> None:
    data, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pq.write_table(SHARED_OUT, data)
    asked = ["--confidential", "y", "--groups", "g", "--method", "resize", "--param", "m=30"]
    code, _ = command("protect", str(data), "-o", str(out), *asked, "--param", "shares=5,12,13")
    assert code == 0
    assert [pq.read_table(out)["g"].to_pylist().count(name) for name in "abc"] == [5, 12, 13]
