"""Categories that are drawn with their table, and numbers given what was drawn, as one request."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import suffice
from suffice import Ipso, Margins, MicroHybrid, Plan, Roles, Romm, Rotate, Seed
from suffice.cli.app import app
from suffice.errors import UsageError
from suffice.ledger import Ledger
from tests.places import SHARED, needs_shared

NUMBERS = ["wages", "taxes"]
KEEP = [["size", "trade"], ["trade", "code"]]
ROLES = Roles(confidential=["size", "trade", "code", *NUMBERS], given="C(size) * C(trade)")


def people(n: int = 400) -> pd.DataFrame:
    """Wages differ by size and trade, and a code tells who is above the others of these."""
    rng = np.random.default_rng(5)
    size, trade, luck = rng.integers(3, size=n), rng.integers(4, size=n), rng.normal(size=n)
    wages = 2.0 * size + 3.0 * trade + size * trade + luck
    return pd.DataFrame(
        {
            "size": pd.Categorical.from_codes(size, ["s", "m", "l"]),
            "trade": trade > 1,
            "code": 2 * (luck > 0) + ((trade > 1) | (rng.integers(2, size=n) > 0)),
            "region": np.array(["north", "south"])[rng.integers(2, size=n)],
            "wages": wages,
            "taxes": 0.3 * wages + rng.normal(size=n),
            "w": rng.integers(1, 9, size=n).astype(float),
        }
    )


def design(frame: pd.DataFrame, by: list[str]) -> Any:
    """A dummy for every cell of a table."""
    return pd.get_dummies(frame[by].astype(str).agg("/".join, axis=1)).sort_index(axis=1).to_numpy(dtype=float)


def check(before: pd.DataFrame, after: pd.DataFrame, by: list[str], numbers: list[str], weight: str = "") -> None:
    """Cell counts, sums of numbers in every cell and cross-products of numbers, each file's own X with its own Y."""
    sums = []
    for frame in (before, after):
        w = frame[weight].to_numpy() if weight else np.ones(len(frame))
        X, Y = design(frame, by), (frame[numbers] - before[numbers].mean()) / before[numbers].std()
        sums.append((X.sum(axis=0), X.T @ (w[:, None] * Y), Y.T @ (w[:, None] * Y)))
    assert np.array_equal(sums[0][0], sums[1][0])
    for one, two in zip(sums[0][1:], sums[1][1:], strict=True):
        assert np.abs(np.asarray(one) - np.asarray(two)).max() < 1e-9


def request(method: Any = None, keep: Any = KEEP) -> Any:
    return Margins(keep=keep).then(method or Ipso())


@pytest.mark.parametrize("method", [Ipso(), Romm(correlation=0.2), MicroHybrid(), Rotate()])
def test_numbers_have_the_moments_of_the_original_within_the_drawn_categories(method: Any) -> None:
    before = people()
    made = suffice.protect(before, ROLES, request(method))
    after = made.frame
    check(before, after, ["size", "trade"], NUMBERS)
    assert (
        before.value_counts(["trade", "code"]).sort_index().equals(after.value_counts(["trade", "code"]).sort_index())
    )
    assert (after.dtypes == before[after.columns].dtypes).all()
    kept = {(claim.statistic, claim.sentence): claim.holds for claim in made.certificate.claims}
    assert all(kept.values())
    assert {"mean", "covariance", "fit"} <= {statistic for statistic, _ in kept}
    assert ("table", "the table size x trade, to the last count") in kept
    assert suffice.verify(before, after, ROLES, keeps=["fit", "size*trade", "trade*code"]).same_multiset


def test_what_no_term_names_is_not_carried_over() -> None:
    """The code tells who is above the mean of size and trade; it is drawn without that, by chance."""

    def within(frame: pd.DataFrame) -> float:
        cells = frame.groupby(["size", "trade"], observed=True)["wages"].transform("mean")
        code = frame["code"] - frame.groupby("trade")["code"].transform("mean")
        return float(abs(np.corrcoef(frame["wages"] - cells, code)[0, 1]))

    before = people()
    made = suffice.protect(before, ROLES, request())
    assert within(before) > 0.3
    assert within(made.frame) < 4 / 20
    assert any("in the levels of code" in each for each in made.certificate.not_promised)


def test_no_record_keeps_what_was_drawn_beside_its_given_columns() -> None:
    before = people(2000)
    after = suffice.protect(before, ROLES, request()).aligned()
    share = before.groupby("trade")["code"].value_counts(normalize=True).pow(2).groupby("trade").sum()
    chance = before["trade"].map(share).mean()
    assert abs((after["code"] == before["code"]).mean() - chance) < 4 * np.sqrt(chance * (1 - chance) / 2000)


@pytest.mark.parametrize(
    ("more", "keep"),
    [
        ({"groups": ["region"]}, KEEP),
        ({"weight": "w"}, KEEP),
        ({"given": "C(size) + C(trade):C(region)"}, [["size", "trade", "region"], ["trade", "code"]]),
    ],
)
def test_in_groups_with_weights_and_beside_columns_that_stay(more: dict[str, Any], keep: Any) -> None:
    before, roles = people(), Roles(**{**vars(ROLES), **more})
    made = suffice.protect(before, roles, request(keep=keep))
    assert made.certificate.holds
    frame = made.frame
    by = ["region"] if "region" in frame else []
    check(before, frame, [*by, *(["trade"] if by else ["size", "trade"])], NUMBERS, "w" if "weight" in more else "")
    for table in keep:
        names = list(dict.fromkeys([*table, *(by if "groups" in more else [])]))
        plain = (each[names].astype(str) for each in (before, frame))  # levels are in another order
        one, two = (each.value_counts().sort_index() for each in plain)
        assert one.equals(two)


def test_records_with_missing_cells_are_dropped_from_both_parts() -> None:
    before = people()
    before.loc[::7, "wages"], before.loc[::11, "size"] = np.nan, None
    made = suffice.protect(before, Roles(**{**vars(ROLES), "missing": "drop"}), request())
    check(before.dropna(), made.frame, ["size", "trade"], NUMBERS)


def test_neither_engine_nor_the_way_it_leaves_matters(tmp_path: Path) -> None:
    before, key, accept = people(), Seed.for_tests(3), {"seed": "a test"}
    before["size"] = before["size"].astype(str)
    before.to_parquet(tmp_path / "o.parquet", row_group_size=70)
    here, there = (suffice.protect(each, ROLES, request(), key, accept) for each in (before, tmp_path / "o.parquet"))
    there.write(tmp_path / "r.parquet")
    one, two = (
        each.sort_values("wages").reset_index(drop=True)
        for each in (here.frame, pd.read_parquet(tmp_path / "r.parquet"))
    )
    pd.testing.assert_frame_equal(one, two)


def test_once_confidential_always(tmp_path: Path) -> None:
    before, key = people(), Seed.new_file(tmp_path / "key")
    suffice.protect(before, ROLES, request(), key).write(tmp_path / "r.csv")
    assert len(Ledger.of(tmp_path / "key").others("")) == 1
    again = suffice.protect(before, Roles(confidential=["wages"], keep=["size"]), Ipso(), key)
    assert "former-role" in {finding.rule for finding in again.findings if finding.blocks}


def test_the_command_the_plan_and_their_verification(tmp_path: Path) -> None:
    people().to_csv(tmp_path / "o.csv", index=False)
    run, out = CliRunner(), str(tmp_path / "r.csv")
    roles = ["--confidential", "size,trade,code,wages,taxes", "--given", "C(size) * C(trade)"]
    words = [*roles, "--method", "margins", "--param", "keep=size*trade + trade*code", "--then", "ipso", "-o", out]
    assert run.invoke(app, ["protect", str(tmp_path / "o.csv"), *words]).exit_code == 0
    asked = ["--keeps", "mean,covariance,fit,size*trade,trade*code"]
    numbers = ["--confidential", "wages,taxes", *roles[2:]]
    assert run.invoke(app, ["verify", str(tmp_path / "o.csv"), out, *numbers, *asked]).exit_code == 0
    assert asked[1] in json.loads((tmp_path / "r.csv.certificate.json").read_text())["verify"]
    plan = """
[data]
path = "o.csv"
[roles]
confidential = ["size", "trade", "code", "wages", "taxes"]
given = "C(size) * C(trade)"
[release]
path = "p.csv"
[[method]]
name = "margins"
keep = [["size", "trade"], ["trade", "code"]]
[[method]]
name = "ipso"
"""
    (tmp_path / "plan.toml").write_text(plan)
    made = Plan.read(tmp_path / "plan.toml").protect()
    check(pd.read_csv(tmp_path / "o.csv"), made.frame.to_pandas(), ["size", "trade"], NUMBERS)
    broken = pd.read_csv(out)
    broken["size"] = broken["size"].sample(frac=1, random_state=1).to_numpy()  # the same sizes, of other records
    broken.to_csv(out, index=False)
    assert run.invoke(app, ["verify", str(tmp_path / "o.csv"), out, *numbers, *asked]).exit_code != 0


@pytest.mark.parametrize(
    ("more", "method", "said"),
    [
        ({"given": "C(size) + C(code)"}, request(), r"Keep \[size, code\] too"),
        ({"given": "C(size) + C(region)"}, request(), r"Keep \[size, region\] too"),
        ({"keep": ["region"]}, request(), "what stays would tell it"),
        ({}, Ipso(), "'size' has more than one role: confidential, given.*\n.*margins then ipso"),
        ({}, request(keep=[["code", "trade"]]), r"Keep \[size, trade\] too|'size' has more than one role"),
    ],
)
def test_what_would_not_be_exact_or_would_tell_is_refused(more: dict[str, Any], method: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        suffice.protect(people(), Roles(**{**vars(ROLES), **more}), method)


def test_a_number_is_not_both() -> None:
    with pytest.raises(UsageError, match="'wages' has more than one role"):
        Roles(confidential=["wages"], given="C(size) + wages")


@needs_shared
def test_income_and_age_within_drawn_sex_and_education() -> None:
    assert SHARED is not None
    names, numbers = ["sex", "edu", "placesize"], ["income", "age", "height", "weight"]
    before = pd.read_csv(SHARED / "data" / "SD2011.csv")[[*names, *numbers]].replace({"income": {-8: np.nan}}).dropna()
    roles = Roles(confidential=[*names, *numbers], given="C(sex) * C(edu)")
    made = suffice.protect(before, roles, request(keep=[["sex", "edu"], ["edu", "placesize"]]))
    assert made.certificate.holds
    assert not any(finding.blocks for finding in made.findings)
    check(before, made.frame, ["sex", "edu"], numbers)
    table = ["edu", "placesize"]
    assert before.value_counts(table).sort_index().equals(made.frame.value_counts(table).sort_index())
