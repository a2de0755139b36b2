"""Groups: means, covariances and fits hold in every one of them, by every method, on every engine."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice import (
    Addition,
    Ipso,
    IpsoB,
    Mixture,
    Release,
    ResidualCorrelation,
    Restore,
    Roles,
    Romm,
    Rotate,
    Seed,
    cli,
    protect,
    verify,
)
from suffice.algebra.array import Array
from suffice.catalogue import methods
from suffice.errors import InfeasibleError, InputError, NotPreservedError, UsageError
from suffice.files.source import open_rows
from suffice.method.isometric import Isometric
from suffice.method.method import Method
from tests.tolerances import ALGEBRA, ENGINE
from tests.truth import ratios

Command = Callable[..., tuple[int, str]]

Y = ["y", "z", "v"]
ROLES = Roles(confidential=Y, given="x", groups=["g"])
STATISTICS = ("mean", "covariance", "fit")


@lru_cache
def frame(sizes: tuple[int, ...] = (90, 25, 40, 160), seed: int = 1) -> pd.DataFrame:
    """Groups of several sizes in no order; v holds whole numbers, w weights."""
    rng = np.random.default_rng(seed)
    code = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    n = len(code)
    x = rng.normal(size=n)
    data = pd.DataFrame(
        {"g": [f"place {i}" for i in code], "code": code + 7, "half": np.where(x > 0, "a", "b"), "x": x}
    )
    y, v = 10 + 3 * x + code + rng.normal(size=n), np.rint(40 + 5 * x + 6 * rng.normal(size=n))
    return data.assign(y=y, z=rng.gamma(2.0, 1.0, n) + 5, v=v, w=rng.choice([0.5, 1.0, 2.5], n))


def made(source: Any, method: Method | None = None, roles: Roles = ROLES, key: int = 1, **more: Any) -> Release:
    return protect(source, roles, method or Ipso(), seed=Seed.for_tests(key), **more)


def numbers(data: Any) -> Array:
    held = data if isinstance(data, pd.DataFrame) else data.to_pandas()
    return held[Y].to_numpy(dtype=np.float64)


def off(one: Any, two: Any) -> float:
    """The largest difference, in standard deviations."""
    return float(np.nanmax(np.abs(numbers(one) - numbers(two)) / np.nanstd(numbers(two), axis=0)))


def within(data: pd.DataFrame, released: pd.DataFrame, by: list[str], weighted: bool = False) -> dict[str, float]:
    """The worst ratio of any group, by code that knows nothing of groups."""
    worst = dict.fromkeys(STATISTICS, 0.0)
    other = dict(iter(released.groupby(by, observed=True)))
    for key, part in data.groupby(by, observed=True):
        arrays = [each[names].to_numpy(dtype=float) for each in (part, other[key]) for names in (["x"], Y)]
        weights = [each["w"].to_numpy() if weighted else None for each in (part, other[key])]
        for name, ratio in ratios(*arrays, *weights).items():
            worst[name] = max(worst[name], ratio)
    return worst


def holding(release: Release, *kept: str) -> None:
    certificate = release.certificate
    assert certificate.holds, certificate.text()
    assert {claim.statistic for claim in certificate.claims if claim.level and claim.promised} == {*kept}


def formulas() -> dict[str, Method]:
    """Every example of every method that sees inner products only, alone or after a mask."""
    masks = {Restore: Mixture(0.6), Addition: Romm(lam=0.3)}
    found: list[Method] = []
    for method in methods().values():
        for example in method.examples() if issubclass(method, Isometric) else ():
            found.append(masks[type(example)].then(example) if type(example) in masks else example)
    found += [Mixture(0.5).then(Restore()), Rotate(sweeps=3), Rotate(sweeps=2).then(Restore())]
    return {f"{each.name} {each.parameters()}": each for each in found}


@pytest.mark.parametrize("method", formulas().values(), ids=formulas().keys())
def test_every_method_keeps_in_every_group_what_it_promises(method: Method) -> None:
    release = made(frame(), method)
    kept = [name for name in STATISTICS if name in method.kept]
    holding(release, *kept)
    found = within(frame(), release.frame, ["g"])
    assert all(found[name] <= ALGEBRA for name in kept), found
    assert off(release.aligned(), frame()) > 1e-2


def test_without_groups_they_are_not_kept() -> None:
    """What the tests above show is not so by itself."""
    release = made(frame(), roles=replace(ROLES, groups=(), keep=["g"]))
    assert min(within(frame(), release.frame, ["g"]).values()) > 1e6 * ALGEBRA


@settings(max_examples=25, deadline=None)
@given(
    sizes=st.lists(st.integers(6, 60), min_size=1, max_size=6),
    seed=st.integers(0, 2**31),
    weighted=st.booleans(),
    order=st.integers(0, 2**31),
)
def test_groups_of_any_sizes_in_any_order(sizes: list[int], seed: int, weighted: bool, order: int) -> None:
    data = frame.__wrapped__(tuple(sizes), seed).sample(frac=1, random_state=order)
    release = made(data, roles=replace(ROLES, weight="w" if weighted else None))
    holding(release, *STATISTICS)
    assert max(within(data, release.frame, ["g"], weighted).values()) <= ALGEBRA


@pytest.mark.parametrize("column", Y)
@pytest.mark.parametrize("group", range(4))
def test_one_group_that_is_off_fails_the_certificate(
    group: int, column: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = made(frame(), accept={"seed": "a test"})
    intact, released = release.frame, release.frame.copy()
    rows = released["g"] == f"place {group}"
    released.loc[rows, column] += 1e-9 * released.loc[rows, column].std()
    monkeypatch.setitem(release._state, "frame", released)
    with pytest.raises(NotPreservedError) as told:
        release.write(tmp_path / "out.parquet")
    assert told.value.exit_code == 6
    assert "place " not in str(told.value)
    assert not list(tmp_path.iterdir())
    assert not verify(frame(), released, ROLES).holds
    assert verify(frame(), intact, ROLES).holds


# Engines, blocks and memory


def to_parquet(data: pd.DataFrame, folder: Path) -> Path:
    pq.write_table(pa.Table.from_pandas(data, preserve_index=False), folder / "in.parquet", row_group_size=777)
    return folder / "in.parquet"


def to_feather(data: pd.DataFrame, folder: Path) -> Path:
    feather.write_feather(pa.Table.from_pandas(data, preserve_index=False), str(folder / "in.feather"))
    return folder / "in.feather"


ENGINES: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "polars": lambda data, _: pl.from_pandas(data),
    "pyarrow": lambda data, _: pa.Table.from_pandas(data, preserve_index=False),
    "parquet": to_parquet,
    "feather": to_feather,
}
LONG = (9_000, 300, 8_500, 40)
REQUESTS: dict[str, tuple[Method, Roles]] = {
    "ipso": (Ipso(), ROLES),
    "weights and whole numbers": (Ipso(), replace(ROLES, weight="w", integer=["v"])),
    "chain in two columns": (Mixture(0.5).then(Restore()), replace(ROLES, groups=["half", "code"])),
    "rotate in bounds": (Rotate(sweeps=2), replace(ROLES, bounds={"z": (0, None)}, integer=["v"])),
    "companion": (Restore(candidate=frame(LONG)[Y].sample(frac=1, random_state=1, ignore_index=True)), ROLES),
}


@lru_cache
def expected(request: str) -> Release:
    method, roles = REQUESTS[request]
    return made(frame(LONG), method, roles)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("request_", REQUESTS)
def test_the_engine_does_not_matter(request_: str, engine: str, tmp_path: Path) -> None:
    method, roles = REQUESTS[request_]
    release = made(ENGINES[engine](frame(LONG), tmp_path), method, roles)
    assert release.certificate.holds
    assert off(release.frame, expected(request_).frame) <= ENGINE
    assert off(release.aligned(), expected(request_).aligned()) <= ENGINE


@pytest.mark.parametrize("request_", REQUESTS)
def test_blocks_that_cut_through_groups_change_nothing(
    request_: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    method, roles = REQUESTS[request_]
    want = expected(request_)
    for place in ("rows.rows.RUN",):
        monkeypatch.setattr(f"suffice.{place}", 1)
    for source in (frame(LONG), to_parquet(frame(LONG), tmp_path)):
        assert off(made(source, method, roles).frame, want.frame) <= ENGINE


@pytest.mark.parametrize("request_", ["ipso", "weights and whole numbers", "chain in two columns", "companion"])
@pytest.mark.parametrize("most", [400, 9_500])
def test_out_of_core_it_is_the_same_release(
    request_: str, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small groups share a file, large ones have their own, and released values lie in files as well."""
    method, roles = REQUESTS[request_]
    want = expected(request_)
    monkeypatch.setattr("suffice.protection.strata.TOGETHER", most)
    monkeypatch.setattr("suffice.rows.spool.HELD", 10_000)
    monkeypatch.setattr("suffice.protection.super_blocks.SUPER", 10_000)
    for source in (to_parquet(frame(LONG), tmp_path), frame(LONG)):
        release = made(source, method, roles)
        assert release.certificate.holds
        assert off(release.frame, want.frame) <= ENGINE
        assert off(release.aligned(), want.aligned()) <= ENGINE


def test_the_key_and_the_group_decide() -> None:
    one, again, other = (made(frame(), key=key).aligned() for key in (1, 1, 2))
    assert np.array_equal(numbers(one), numbers(again))
    assert off(one, other) > 0.1
    twin = pd.concat([frame(), frame().assign(g=lambda each: "twin " + each["g"])], ignore_index=True)
    both = numbers(made(twin).aligned())
    assert np.abs(both[: len(frame())] - both[len(frame()) :]).max() > 0.1  # two groups with the same records


def test_groups_do_not_touch_each_other() -> None:
    """A group is a file of its own: what it is released as does not depend on what others hold."""
    roles = replace(ROLES, groups=["code"])
    one = made(frame(), roles=roles, key=1).aligned()
    both = [protect(frame(), each, Ipso(), seed=Seed.for_tests(1)) for each in (roles, roles)]
    assert off(both[0].aligned(), one) == 0
    changed = frame().assign(y=frame()["y"].where(frame()["code"] != 8, frame()["y"] * 2))
    found = within(changed, made(changed, roles=roles).frame, ["code"])
    assert max(found.values()) <= ALGEBRA


# What tells groups


@pytest.mark.parametrize(
    "by", [["code"], ["g"], ["g", "half"], ["half", "code"], ["flag"], ["label"]], ids=lambda by: " and ".join(by)
)
def test_text_whole_numbers_and_several_columns(by: list[str]) -> None:
    levels = pd.Categorical(frame()["g"], categories=["unused", *sorted(set(frame()["g"]))])
    data = frame().assign(flag=frame()["x"] > 0.2, label=levels)
    release = made(data, roles=replace(ROLES, groups=by))
    holding(release, *STATISTICS)
    assert max(within(data, release.frame, by).values()) <= ALGEBRA
    groups = data.groupby(by, observed=True).ngroups
    assert {claim.level for claim in release.certificate.claims if claim.level} == {
        f"in each of {groups} groups by {' and '.join(by)}"
    }


def test_one_group_keeps_what_the_whole_file_would() -> None:
    data = frame().assign(one=1)
    release = made(data, roles=replace(ROLES, groups=["one"]))
    holding(release, *STATISTICS)
    assert max(within(data, release.frame, ["one"]).values()) <= ALGEBRA
    assert any("the one group by one" in claim.level for claim in release.certificate.claims)


def test_a_group_of_one_record_leaves_as_it_is_and_is_never_written() -> None:
    data = frame((1, 30, 50))
    release = made(data, roles=replace(ROLES, given=""))
    assert release.certificate.holds
    alone = data["g"] == "place 0"
    assert np.array_equal(numbers(release.aligned()[alone]), numbers(data[alone]))
    assert {f.rule for f in release.findings if f.level == "never"} == {"degrees-of-freedom", "leverage"}


def test_a_group_of_weight_zero_is_changed_and_counts_nowhere() -> None:
    data = frame().assign(w=frame()["w"].where(frame()["code"] != 8, 0.0))
    release = made(data, roles=replace(ROLES, weight="w"))
    holding(release, *STATISTICS)
    idle = data["code"] == 8
    assert (np.abs(numbers(release.aligned()[idle]) - numbers(data[idle])).mean(axis=0) > 0.1).all()
    assert any(finding.rule == "zero-weights" for finding in release.findings)
    with pytest.raises(InputError, match="add up to 0"):
        made(data.assign(w=0.0), roles=replace(ROLES, weight="w"))


@pytest.mark.parametrize("offset", [0.1, 1e9 + 0.1])
def test_a_column_that_is_constant_in_a_group_stays_bit_for_bit(offset: float) -> None:
    data = frame().assign(z=frame()["z"].where(frame()["code"] != 9, offset))
    release = made(data)
    still = data["code"] == 9
    assert (release.aligned().loc[still, "z"] == offset).all()
    holding(release, *STATISTICS)
    (finding,) = (each for each in release.findings if each.rule == "explained-columns")
    assert finding.level == "stop"
    assert finding.message.startswith("z: one value in all records of 1 group")


def test_a_column_that_is_explained_in_one_group_is_stopped() -> None:
    data = frame().assign(z=frame()["z"].where(frame()["code"] != 9, 2 * frame()["x"] + 1))
    release = made(data)
    told = data["code"] == 9
    assert np.array_equal(release.aligned().loc[told, "z"], data.loc[told, "z"])  # the attack: nothing is changed
    assert [f.level for f in release.findings if f.rule == "explained-columns"] == ["stop"]


# Out of the programme and back


@pytest.mark.parametrize("kind", ["csv", "parquet", "feather", "dta"])
@pytest.mark.parametrize("engine", ["pandas", "parquet"])
def test_written_and_read_back(kind: str, engine: str, tmp_path: Path) -> None:
    source = frame() if engine == "pandas" else to_parquet(frame(), tmp_path)
    release = made(source, accept={"seed": "a test"})
    out = tmp_path / f"out.{kind}"
    assert release.write(out).holds
    back = pd.DataFrame(open_rows(out, 1, None).columns) if kind != "parquet" else pd.read_parquet(out)  # type: ignore[attr-defined]
    assert off(back, release.frame) == 0
    assert max(within(frame(), back.astype({"g": str}), ["g"]).values()) <= ALGEBRA
    told = json.loads((tmp_path / f"out.{kind}.certificate.json").read_text())
    assert sum(claim["level"] == "in each of 4 groups by g" for claim in told["claims"]) == 3
    assert verify(frame(), out, ROLES).holds


def test_arrays_come_out_as_arrays() -> None:
    data = frame()[["code", "x", *Y]].to_numpy()
    roles = Roles(confidential=["x2", "x3", "x4"], given="x1", groups=["x0"])
    with pytest.raises(InputError, match="'x0' tells groups and holds floats"):
        made(data, roles=roles)
    whole = np.rint(1000 * data).astype(np.int64) // np.array([1000, 1, 1, 1, 1])
    release = made(whole, roles=roles)
    assert isinstance(release.frame, np.ndarray)
    named = [pd.DataFrame(each, columns=["g", "x", *Y]) for each in (whole.astype(float), release.frame)]
    assert max(within(*named, ["g"]).values()) <= ALGEBRA


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_the_same_kind_of_frame_comes_out(kind: str, tmp_path: Path) -> None:
    source = frame() if kind == "pandas" else ENGINES[kind](frame(), tmp_path)
    release = made(source)
    for each in (release.frame, release.aligned()):
        assert type(each) is type(source)
        assert list(each.columns if kind != "pyarrow" else each.column_names) == ["g", "x", *Y]


# Refusals


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"groups": ["gg"]}, InputError, "There is no column 'gg'. Did you mean 'g'"),
        ({"groups": ["w"]}, InputError, "'w' tells groups and holds floats. Use text or whole numbers."),
        ({"groups": ["x"]}, UsageError, "'x' has more than one role: given, groups"),
        ({"groups": ["y"]}, UsageError, "'y' has more than one role: confidential, groups"),
        ({"groups": ["g", "g"]}, UsageError, "'g' is named twice in `groups`"),
        ({"groups": "g"}, UsageError, "`groups` must be a list"),
    ],
)
def test_what_cannot_tell_groups(changes: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said.replace("(", r"\(")):
        made(frame(), roles=replace(ROLES, **changes))


def test_a_missing_group_cell_is_an_error_with_its_place() -> None:
    data = frame().assign(g=frame()["g"].where(frame().index % 100 != 5))
    with pytest.raises(InputError, match="g: missing in 4 records, first in rows 6, 106, 206, 306") as told:
        made(data)
    assert "place" not in str(told.value)


def test_an_identifier_among_the_groups_is_refused_with_the_numbers() -> None:
    data = frame().assign(firm=range(len(frame())))
    with pytest.raises(InputError, match="There are 315 groups by firm in 315 records") as told:
        made(data, roles=replace(ROLES, groups=["firm"]))
    assert told.value.exit_code == 3
    holding(made(frame((2, 2, 2, 2)), IpsoB(), replace(ROLES, given="")), "mean")  # half as many are not


def test_all_groups_without_a_solution_are_counted() -> None:
    """Groups that are too small, by number and size, and no level among the words."""
    data = frame((3, 40, 4, 60, 5))
    with pytest.raises(InfeasibleError) as told:
        made(data, ResidualCorrelation(d=0.5))
    assert str(told.value).startswith("In group 1 of 5 (3 records): ")
    assert "\n3 of 5 groups without a solution.\nWhere they are small, join or drop them" in str(told.value)
    assert told.value.exit_code == 5
    assert "place" not in str(told.value)
    assert told.value.__cause__ is None


def test_a_mistake_in_the_request_is_no_group_s() -> None:
    with pytest.raises(UsageError, match=r"^restore needs candidate"):
        made(frame(), Restore())


def test_what_is_wrong_in_one_group_is_said_with_the_group() -> None:
    data = frame().assign(z=frame()["z"].where(frame()["code"] != 8, 1e9 + 1e-7 * frame()["x"]))
    with pytest.raises(InputError, match=r"In group 2 of 4 \(25 records\): Too few digits are left to protect z"):
        made(data)


# The command line


@pytest.fixture
def suffice(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    """suffice(*words): the exit code and all that was printed, in a folder with in.parquet."""
    monkeypatch.chdir(tmp_path)
    to_parquet(frame(), tmp_path)

    def run(*words: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["suffice", *words])
        with pytest.raises(SystemExit) as end:
            cli.main()
        said = capsys.readouterr()
        return int(end.value.code or 0), said.out + said.err

    return run


REQUEST = ["in.parquet", "-o", "out.csv", "--confidential", "y,z,v", "--given", "x", "--method", "ipso"]


def test_groups_on_the_command_line(suffice: Command) -> None:
    code, said = suffice("protect", *REQUEST, "--groups", "g")
    assert code == 0, said
    assert "in each of 4 groups by g" in said
    assert "place " not in said.replace("in place of", "")
    assert max(within(frame(), pd.read_csv("out.csv"), ["g"]).values()) <= ALGEBRA
    same = ["in.parquet", "out.csv", "--confidential", "y,z,v", "--given", "x"]
    assert suffice("verify", *same, "--groups", "g")[0] == 0
    assert suffice("verify", *same, "--groups", "g", "--keep", "code")[0] == 3  # it was not released


@pytest.mark.parametrize(
    ("groups", "code", "said"),
    [("gg", 3, "There is no column 'gg'"), ("w", 3, "holds floats"), ("x", 2, "more than one role")],
)
def test_refusals_on_the_command_line(suffice: Command, groups: str, code: int, said: str) -> None:
    ended, told = suffice("protect", *REQUEST, "--groups", groups)
    assert (ended, said in told) == (code, True)
    assert not Path("out.csv").exists()


def test_groups_that_are_too_small_on_the_command_line(suffice: Command, tmp_path: Path) -> None:
    to_parquet(frame((3, 40, 4, 60, 5)), tmp_path)
    hybrid = [*REQUEST[:-1], "residual-correlation", "--param", "d=0.5"]
    code, said = suffice("protect", *hybrid, "--groups", "g")
    assert (code, "3 of 5 groups without a solution" in said) == (5, True)
    code, said = suffice("protect", *REQUEST, "--groups", "g")
    assert (code, "degrees-of-freedom" in said) == (4, True)
    assert "place " not in said.replace("in place of", "")
    assert not Path("out.csv").exists()
