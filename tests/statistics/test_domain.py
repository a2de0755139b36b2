"""Statistics at a level: kept in every group or not, whatever the order of rows, the offset and the engine."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice import Roles, verify
from suffice.certificate.certificate import certify, in_order
from suffice.design.design import Design
from suffice.errors import InfeasibleError
from suffice.files.source import open_rows
from suffice.rows.memory import MemoryRows
from suffice.rows.multiset import Multiset, number_words, text_words
from suffice.rows.rows import Block, Rows
from suffice.statistics.comparison import compared
from suffice.statistics.domain import Domain
from suffice.statistics.domain_moments import DomainSums
from suffice.statistics.promise import promised
from suffice.statistics.standing import Standing
from suffice.statistics.statistic import Claim, Promise
from suffice.statistics.sums import Reference, looked
from tests.tolerances import ALGEBRA
from tests.truth import ratios

ALL = ("mean", "covariance", "fit")
ROLES = Roles(confidential=["y", "z"], given="x", groups=["g"], weight="w")


def frame(sizes: tuple[int, ...] = (30, 8, 12, 50), seed: int = 1, at: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    x = rng.normal(size=n)
    data = pd.DataFrame({"g": np.repeat([f"place {i}" for i in range(len(sizes))], sizes), "x": x})
    data = data.assign(y=at + 3 * x + rng.normal(size=n), z=rng.gamma(2.0, 1.0, n), w=rng.gamma(2.0, 1.0, n))
    return data.sample(frac=1, random_state=seed, ignore_index=True)


def reflected(data: pd.DataFrame, by: list[str], weighted: bool = True, seed: int = 2) -> pd.DataFrame:
    """Every group reflected in a direction that is orthogonal to 1 and x: nothing that is kept at a level changes."""
    rng, out = np.random.default_rng(seed), data.copy()
    for rows in data.groupby(by).indices.values():
        if len(rows) <= 3:
            continue
        root = np.sqrt(data["w"].to_numpy()[rows]) if weighted else np.ones(len(rows))
        X = root[:, None] * np.column_stack([np.ones(len(rows)), data["x"].to_numpy()[rows]])
        u = rng.normal(size=len(rows))
        for _ in range(2):
            u -= X @ np.linalg.lstsq(X, u)[0]
        Y = data[["y", "z"]].to_numpy()[rows]
        middle = Y.mean(axis=0)
        change = 2 * np.outer(u, u @ (root[:, None] * (Y - middle))) / (u @ u) / root[:, None]
        out.loc[rows, ["y", "z"]] = Y - change
    return out.sample(frac=1, random_state=seed, ignore_index=True)


def reference_of(before: Rows, design: Design) -> Reference:
    return Reference(before, design, design, np.zeros(design.m + design.k), np.ones(design.m + design.k))


def at(
    data: Any,
    released: Any,
    domain: Domain | None = None,
    roles: Roles = ROLES,
    kept: tuple[str, ...] = ALL,
    terms: tuple[str, ...] | None = None,
) -> dict[str, Claim]:
    before, after = open_rows(data, 1, None), open_rows(released, 1, None)
    reference, domain = reference_of(before, Design.learn(before, roles)), domain or Domain("g", ("g",))
    promises = [Promise(name, domain, terms if name == "fit" else None) for name in kept]
    found = [compared(reference, after, promises).claim(promise) for promise in promises]
    return {claim.statistic: claim for claim in found if claim is not None}


def shifted(released: pd.DataFrame, group: str, by: float, column: str = "y") -> pd.DataFrame:
    off = released.copy()
    off.loc[off["g"] == group, column] += by
    return off


@pytest.mark.parametrize("offset", [0.0, 1e9])
@pytest.mark.parametrize("weighted", [False, True])
def test_what_is_kept_in_every_group_holds(offset: float, weighted: bool) -> None:
    data, roles = frame(at=offset), ROLES if weighted else replace(ROLES, weight=None)
    found = at(data, reflected(data, ["g"], weighted), roles=roles)
    assert list(found) == list(ALL)
    assert all(claim.holds for claim in found.values()), found
    assert {claim.level for claim in found.values()} == {"in each of 4 groups by g"}
    weighing = ", weighted by w" * weighted
    assert found["mean"].said == f"means of the confidential columns{weighing}, in each of 4 groups by g"


@pytest.mark.parametrize("group", ["place 0", "place 1", "place 2", "place 3"])
@pytest.mark.parametrize("column", ["y", "z"])
def test_one_group_that_is_off_by_little_is_seen(group: str, column: str) -> None:
    data = frame()
    released = reflected(data, ["g"])
    sd = data.loc[data["g"] == group, column].std()
    found = at(data, shifted(released, group, 1e-9 * sd, column))["mean"]
    assert not found.holds
    assert np.isclose(found.error, 1e-9, rtol=0.5)
    assert found.where == f"{column}, group {found.group} of 4"
    assert "place" not in repr(found)


def test_the_whole_file_can_hold_while_its_groups_do_not() -> None:
    """Confidential records change places between groups: every overall mean and covariance is as it was."""
    data = frame()
    roles = replace(ROLES, given="", weight=None)
    off = data.copy()
    one, two = np.flatnonzero(data["g"] == "place 0")[0], np.flatnonzero(data["g"] == "place 3")[0]
    off.loc[[one, two], ["y", "z"]] = data.loc[[two, one], ["y", "z"]].to_numpy()
    found = verify(data, off, roles).certificate
    assert all(claim.holds for claim in found.claims if not claim.level)
    assert not any(claim.holds for claim in found.claims if claim.level)
    assert not found.holds


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    sizes=st.lists(st.integers(6, 40), min_size=1, max_size=5),
    off=st.floats(-14, -1),
    weighted=st.booleans(),
)
def test_errors_are_those_of_extended_precision(seed: int, sizes: list[int], off: float, weighted: bool) -> None:
    """Neither too kind nor too strict in any group."""
    data = frame(tuple(sizes), seed)
    released = reflected(data, ["g"], weighted, seed + 1)
    released.loc[3, "y"] += 10.0**off
    said = at(data, released, roles=ROLES if weighted else replace(ROLES, weight=None))
    truth = dict.fromkeys(ALL, 0.0)
    for name, group in data.groupby("g"):
        other = released[released["g"] == name]
        arrays = [part[columns].to_numpy() for part in (group, other) for columns in (["x"], ["y", "z"])]
        weights = [part["w"].to_numpy() if weighted else None for part in (group, other)]
        for statistic, ratio in ratios(*arrays, *weights).items():
            truth[statistic] = max(truth[statistic], ratio)
    for statistic, ratio in truth.items():
        assert abs(said[statistic].ratio - ratio) <= 3 + 1e-6 * ratio


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**31), order=st.integers(0, 2**31))
def test_the_order_of_rows_changes_nothing(seed: int, order: int) -> None:
    data = frame(seed=seed)
    released = shifted(reflected(data, ["g"]), "place 2", 1e-6)
    found, again = at(data, released), at(*(part.sample(frac=1, random_state=order) for part in (data, released)))
    for name in ALL:
        assert again[name].group == found[name].group or found[name].holds
        assert abs(again[name].ratio - found[name].ratio) <= 3 + 1e-6 * found[name].ratio


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("off", [0.0, 1e-7])
def test_one_group_is_the_whole_file(intercept: bool, off: float) -> None:
    data = frame()
    released = shifted(reflected(data.assign(g="all"), ["g"]), "all", off)
    roles = replace(ROLES, given="x" if intercept else "x - 1", groups=())
    kept = ALL if intercept else ("covariance", "fit")
    overall = {claim.statistic: claim for claim in verify(data, released, roles).certificate.claims}
    reference = reference_of(open_rows(data, 1, None), Design.learn(open_rows(data, 1, None), roles))
    sums = DomainSums(Domain("all"), kept)
    [one] = looked(reference.rows, [sums.before(reference)])
    [two] = looked(open_rows(released, 1, None), [sums.after(one, reference)])
    found = {name: Promise(name).statistic.claim(Promise(name), one, two, reference) for name in kept}
    for name in kept:
        assert f"{found[name].sentence}, weighted by w" == overall[name].sentence
        assert found[name].level == ""
        assert abs(found[name].ratio - overall[name].ratio) <= 3 + 1e-6 * overall[name].ratio


@pytest.mark.parametrize("offset", [0.0, 0.1, 1e9 + 0.1])
def test_a_column_that_is_constant_in_a_group_is_measured_by_its_last_digits(offset: float) -> None:
    data = frame()
    still = data["g"] == "place 1"
    data.loc[still, "y"] = offset
    released = reflected(data, ["g"])
    released.loc[released["g"] == "place 1", "y"] = offset
    assert all(claim.holds for claim in at(data, released).values())
    assert not at(data, shifted(released, "place 1", 1e-13 * (1 + offset)))["mean"].holds
    off = released.copy()
    off.loc[np.flatnonzero(off["g"] == "place 1")[0], "y"] += 1e-6 + 1e-13 * offset
    assert not at(data, off)["covariance"].holds


def test_groups_of_one_record_and_without_weight() -> None:
    data = frame((1, 2, 1, 40))
    data.loc[data["g"] == "place 2", "w"] = 0.0
    released = reflected(data, ["g"])
    assert all(claim.holds for claim in at(data, released).values())
    assert not at(data, shifted(released, "place 0", 1e-9))["mean"].holds
    assert at(data, shifted(released, "place 2", 1.0))["mean"].holds  # it counts in no statistic
    data["w"] = 1.0
    assert not at(data, shifted(data, "place 2", 1e-9))["mean"].holds


@pytest.mark.parametrize("wrong", ["one more", "one fewer", "unknown", "a weight"])
def test_groups_with_other_records_keep_nothing(wrong: str) -> None:
    data = frame()
    released = reflected(data, ["g"])
    first = np.flatnonzero(released["g"] == "place 1")[0]
    if wrong == "one more":
        released = pd.concat([released, released.iloc[[first]]], ignore_index=True)
    elif wrong == "one fewer":
        released = released.drop(index=first)
    elif wrong == "unknown":
        released.loc[first, "g"] = "a secret place"
    else:
        released.loc[first, "w"] += 1e-6
    found = at(data, released)
    assert not any(claim.holds for claim in found.values())
    assert "place" not in repr(found)
    assert "not have" in found["mean"].where if wrong == "unknown" else "group" in found["mean"].where


def test_parquet_and_memory_say_the_same(tmp_path: Path) -> None:
    data = frame((40, 9, 9000, 20_000), seed=5)
    released = shifted(reflected(data, ["g"]), "place 0", 1e-9)
    for name, part in (("data", data), ("released", released)):
        pq.write_table(pa.Table.from_pandas(part), tmp_path / f"{name}.parquet", row_group_size=777)
    assert at(tmp_path / "data.parquet", tmp_path / "released.parquet") == at(data, released)


def test_several_columns_tell_groups_together() -> None:
    """("a", "bc") is not ("ab", "c"), and 7 is the same group as 7.0."""
    data = frame((12, 9, 20, 11))
    two = {"place 0": ("a", "bc"), "place 1": ("ab", "c"), "place 2": ("a", "c"), "place 3": ("ab", "bc")}
    data["first"], data["second"] = zip(*data["g"].map(two), strict=True)
    data["code"] = data["g"].str[-1].astype(int) + 7
    released = reflected(data, ["g"])
    released["code"] = released["code"].astype(float)
    for by in (("first", "second"), ("code",), ("code", "first")):
        roles = replace(ROLES, groups=(), keep=by)
        found = at(data, released, Domain("all", by), roles)
        assert found["mean"].level == "in each of 4 groups by all"
        assert all(claim.holds for claim in found.values())
        assert not at(data, shifted(released, "place 1", 1e-8), Domain("all", by), roles)["mean"].holds


def test_only_the_terms_that_are_named_are_compared() -> None:
    data = frame()
    rng = np.random.default_rng(9)
    data["v"] = rng.normal(size=len(data))
    released = reflected(data, ["g"])
    roles = replace(ROLES, given="x + v")
    found = at(data, released, roles=roles, kept=("mean", "fit"), terms=("x",))
    assert set(found) == {"mean", "fit"}
    assert found["fit"].sentence == "cross-products with x, weighted by w"
    assert found["fit"].holds
    assert not at(data, released, roles=roles, kept=("fit",))["fit"].holds


@pytest.fixture
def holed() -> tuple[pd.DataFrame, pd.DataFrame]:
    data = frame((40, 30, 50))
    data.loc[(data["g"] == "place 0"), "y"] = np.nan
    data.loc[(data["g"] == "place 1"), "z"] = np.nan
    filled = data.fillna(0.0)
    released = reflected(filled, ["g"])
    released.loc[released["g"] == "place 0", "y"] = np.nan
    released.loc[released["g"] == "place 1", "z"] = np.nan
    return data.drop(columns="g"), released.drop(columns="g")


HOLED = Roles(confidential=["y", "z"], given="x", weight="w", missing="patterns")


def test_patterns_of_missing_cells_are_groups(holed: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    data, released = holed
    level = Domain("holes", (), holes=True)
    found = at(data, released, level, HOLED)
    assert found["mean"].level == "in each of 3 groups by holes"
    assert all(claim.holds for claim in found.values()), found
    off = released.copy()
    off.loc[off["y"].isna(), "z"] += 1e-9
    assert not at(data, off, level, HOLED)["mean"].holds
    moved = released.copy()
    moved.loc[np.flatnonzero(moved["y"].isna())[0], "y"] = 1.0
    assert not at(data, moved, level, HOLED)["mean"].holds


def test_which_cells_are_missing_is_part_of_a_record(holed: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    data, _ = holed
    design = Design.learn(MemoryRows(data), HOLED)
    off = data.copy()
    one, two = np.flatnonzero(data["y"].isna())[0], np.flatnonzero(data["y"].notna() & data["z"].notna())[0]
    off.loc[[one, two], ["y", "z"]] = data.loc[[two, one], ["y", "z"]].to_numpy()
    whole, moved, turned = (
        MemoryRows(part).fold(
            lambda block: Standing.of(block, design, design.matrix(block)), design.columns, "certifying"
        )
        for part in (data, off, data[::-1])
    )
    assert whole.given != moved.given
    assert whole.given == turned.given


def test_verify_looks_into_groups(tmp_path: Path) -> None:
    data = frame()
    released = reflected(data, ["g"])
    found = verify(data, released, ROLES)
    assert found.holds, found.text()
    assert [claim.level for claim in found.certificate.claims] == [""] * 4 + ["in each of 4 groups by g"] * 3
    assert "  in each of 4 groups by g:\n    means of the confidential columns, weighted by w " in found.text()
    assert max(map(len, found.text().splitlines())) <= 120
    told = json.loads(found.to_json())["certificate"]
    assert told["claims"][4]["level"] == "in each of 4 groups by g"
    assert told["claims"][4]["sentence"] == "means of the confidential columns, weighted by w, in each of 4 groups by g"
    assert any("other groups than those above" in each for each in told["not_promised"])
    assert "place" not in found.text() + found.to_json()
    assert not verify(data, shifted(released, "place 1", 1e-9), ROLES).holds


def test_verify_compares_the_patterns_that_both_files_have(holed: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    data, released = holed
    found = verify(data, released, HOLED)
    assert found.holds, found.text()
    assert {claim.statistic for claim in found.certificate.claims if claim.level} == {*ALL}
    assert any(each == "mean of the confidential columns, overall" for each in found.certificate.not_promised)
    blanked = released.copy()
    blanked.loc[np.flatnonzero(blanked["z"].notna() & blanked["y"].notna())[0], "y"] = np.nan
    found = verify(data, blanked, HOLED)
    assert found.holds  # from outside a blanked cell cannot be told from another file
    assert any("2 of 3 groups by pattern of missing cells" in each for each in found.unchecked)
    blanked.loc[blanked["z"].isna(), "y"] += 1e-9
    assert not verify(data, blanked, HOLED).holds


def test_the_levels_of_an_absorbed_factor_keep_their_means() -> None:
    data = frame(tuple([8] * 80), seed=4)
    roles = Roles(confidential=["y", "z"], given="C(g) + x", weight="w", merge_below=9)
    design = Design.learn(MemoryRows(data), replace(roles, merge_below=0))
    assert design.absorbed == "g"
    assert promised(ALL, design) == (*map(Promise, ALL), Promise("mean", Domain("g", ("g",))))
    assert promised(("mean",), design) == (Promise("mean"),)
    released = reflected(data, ["g"])
    found = verify(data, released, replace(roles, merge_below=0))
    assert found.holds, found.text()
    rows = {name: part["y"].index for name, part in released.groupby("g")}
    off = released.copy()
    off.loc[rows["place 0"], "y"] += 1e-8
    off.loc[rows["place 1"], "y"] -= 1e-8 * off.loc[rows["place 0"], "w"].sum() / off.loc[rows["place 1"], "w"].sum()
    assert not verify(data, off, replace(roles, merge_below=0)).holds


def test_joined_levels_of_an_absorbed_factor_are_one_group() -> None:
    data = frame(tuple([8] * 70 + [2, 2, 2, 2]), seed=4)
    roles = Roles(confidential=["y", "z"], given="C(g) + x", weight="w", merge_below=5)
    joined = data.assign(g=data["g"].where(data.groupby("g")["x"].transform("size") > 2, "the rest"))
    released = reflected(joined, ["g"])
    released["g"] = released[["x"]].merge(data[["x", "g"]], on="x", how="left")["g"]
    found = verify(data, released, roles)
    assert found.holds, found.text()
    assert found.certificate.claims[-1].level == "in each of 71 groups by g"


def test_a_pair_in_which_nothing_overall_is_promised_is_still_compared() -> None:
    data = frame()
    released = reflected(data, ["g"])
    before, after = MemoryRows(data), MemoryRows(released)
    reference, promises = (
        reference_of(before, Design.learn(before, ROLES)),
        in_order([Promise("mean", Domain("g", ("g",)))]),
    )
    certificate = certify(compared(reference, after, promises), promises, terms=(), method="", source="")
    assert certificate.holds
    assert [claim.statistic for claim in certificate.claims] == ["given", "mean"]
    fewer = MemoryRows(released.head(-1))
    certificate = certify(compared(reference, fewer, promises), promises, terms=(), method="", source="")
    assert not certificate.same_rows
    assert not certificate.claims[0].holds


def test_more_sums_than_fit_are_refused_with_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.statistics.domain_moments.MOST", 4 * 6 - 1)
    with pytest.raises(InfeasibleError, match="6 sums in each of 4 groups by g"):
        at(frame(), frame())
    monkeypatch.setattr("suffice.statistics.domain_moments.MOST", 4 * 6)
    assert at(frame(), frame())["mean"].holds


def test_many_groups_over_many_runs() -> None:
    """Groups cut across blocks and runs, in their thousands, each with an offset of its own."""
    rng = np.random.default_rng(1)
    n, groups = 300_000, 40_000
    g = rng.integers(0, groups, n)
    data = pd.DataFrame({"g": g, "y": 1e6 * g + rng.normal(size=n), "z": rng.normal(size=n)})
    roles = Roles(confidential=["y", "z"], groups=["g"])
    found = at(data, data.sample(frac=1, random_state=1), roles=roles, kept=("mean", "covariance"))
    assert all(claim.ratio <= ALGEBRA for claim in found.values())
    off = data.copy()
    off.loc[7, "z"] += 1e-9
    worst = at(data, off, roles=roles, kept=("mean", "covariance"))["mean"]
    assert not worst.holds
    members = data.loc[g == g[7], "z"]
    assert np.isclose(worst.error, 1e-9 / len(members) / members.std(ddof=0), rtol=1e-5)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(alphabet="ab\0 é", max_size=5) | st.none(), min_size=1, max_size=30), st.integers(0, 20))
def test_texts_have_one_word_each(cells: list[str | None], cut: int) -> None:
    column = pa.array(cells, pa.string())
    words = text_words(column)
    assert len(set(words.tolist())) == len({*cells})
    parts = [part for part in (column[:cut], column[cut:]) if len(part)]
    assert (np.concatenate([text_words(part) for part in parts]) == words).all()
    assert len({*words.tolist(), *text_words(pa.array(["", None])).tolist()}) == len({*cells, "", None})


def test_whole_numbers_have_one_word_however_they_are_stored() -> None:
    whole = np.array([0, -1, 7, 2**53 + 1, 2**62 + 1])
    assert len(set(number_words(whole).tolist())) == 5
    assert (number_words(whole[:3].astype(float)) == number_words(whole[:3])).all()
    assert len(set(number_words(np.array([0.5, np.nan, -0.5, 1e300, np.inf])).tolist())) == 5


def test_the_multiset_of_holes_is_not_that_of_values() -> None:
    block = Block(0, {"x": np.array([1.0, 2.0]), "y": np.array([np.nan, 3.0])})
    other = Block(0, {"x": np.array([1.0, 2.0]), "y": np.array([np.nan, 4.0])})
    turned = Block(0, {"x": np.array([1.0, 2.0]), "y": np.array([3.0, np.nan])})
    assert Multiset.of(block, ["x"], ["y"]) == Multiset.of(other, ["x"], ["y"])
    assert Multiset.of(block, ["x"], ["y"]) != Multiset.of(turned, ["x"], ["y"])
    assert Multiset.of(block, ["x"]) == Multiset.of(turned, ["x"])


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**31), columns=st.integers(1, 5), holes=st.integers(0, 5))
def test_small_whole_numbers_and_holes_tell_groups_apart(seed: int, columns: int, holes: int) -> None:
    """Numbers that differ in their last bits alone, in several columns: no two groups share a word."""
    rng = np.random.default_rng(seed)
    names = tuple(f"g{i}" for i in range(columns))
    keys = np.unique(rng.integers(-3, 12, (800, columns + holes)), axis=0)
    block = Block(0, {name: keys[:, i] for i, name in enumerate(names)})
    Y = np.where(keys[:, columns:].T % 2 == 0, np.nan, 1.0).reshape(holes, len(keys))
    words = Domain("all", names, holes=True).labels(block, Y)
    told = np.hstack([keys[:, :columns], np.isnan(Y).T])
    assert len(set(words.tolist())) == len(np.unique(told, axis=0))
