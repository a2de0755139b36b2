"""A proposed plan: roles with their reasons, no value of the data, and a plan that runs."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import suffice
from suffice import cli
from suffice.demo import firms
from suffice.errors import InputError
from tests.places import SHARED, needs_shared


def roles_of(data: object) -> suffice.Roles:
    roles = suffice.propose(data).roles
    assert roles is not None
    return roles


def test_the_firms_of_the_demo(tmp_path: Path) -> None:
    pq.write_table(firms(600), tmp_path / "firms.parquet")
    found = suffice.propose(tmp_path / "firms.parquet")
    assert found.roles is not None
    assert found.roles.identifiers == ("firm_id",)
    assert found.roles.weight == "weight"
    assert found.roles.confidential == ("turnover", "wages", "taxes", "other_costs", "total_costs")
    assert found.roles.edits == ("total_costs == wages + taxes + other_costs",)
    assert dict(found.roles.bounds)["turnover"] == (0, None)
    assert {each.column for each in found.guesses} == {*firms(10).column_names}
    found.write(tmp_path / "plan.toml")
    plan = suffice.Plan.read(tmp_path / "plan.toml")
    assert plan.to_toml() == found.plan(tmp_path).to_toml()
    released = plan.run()
    assert released.certificate.holds
    assert (tmp_path / "firms-release.parquet").exists()


def test_no_value_of_the_data_is_in_it() -> None:
    data = firms(300).to_pandas()
    data["region"] = "Q" + data["region"]
    data["turnover"] += 0.4375
    text = suffice.propose(data).to_toml()
    assert not any(level in text for level in data["region"].unique())
    assert ".4375" not in text
    assert not any(str(int(value)) in text for value in data["turnover"] if value > 5000)


def test_weights_bodies_and_units() -> None:
    rng = np.random.default_rng(1)
    n = 400
    body = pd.DataFrame({"weight": rng.normal(80, 9, n), "height": rng.normal(175, 9, n), "sex": rng.integers(0, 2, n)})
    assert roles_of(body).weight is None
    survey = body.drop(columns="height").assign(income=rng.lognormal(9, 1, n), hh_id=np.repeat(np.arange(n // 4), 4))
    assert roles_of(survey).weight == "weight"
    assert roles_of(survey).unit == "hh_id"
    assert "sex" in roles_of(survey).given


def test_numbers_with_holes_or_codes_are_drawn_from_models() -> None:
    rng = np.random.default_rng(2)
    income = np.where(rng.random(500) < 0.2, -8, np.round(rng.lognormal(7, 1, 500)))
    found = suffice.propose(pd.DataFrame({"income": income, "smoke": rng.choice(["yes", "no"], 500)}))
    assert found.drawn
    assert found.plan().method[0].name == "synthesis"
    assert "codes" in found.text()
    holed = pd.DataFrame({"income": np.where(income < 0, np.nan, income), "age": rng.integers(18, 90, 500)})
    assert suffice.propose(holed).drawn


def test_cells_of_a_table_and_small_files_get_no_plan() -> None:
    cells = pd.DataFrame([(a, b, 7.5 * a + b) for a in range(12) for b in range(10)], columns=["a", "b", "value"])
    for data in (cells, firms(30)):
        found = suffice.propose(data)
        assert found.roles is None
        with pytest.raises(InputError, match="suffice table"):
            found.plan()
    with pytest.raises(InputError, match="no records"):
        suffice.propose(firms(300).slice(0, 0))
    with pytest.raises(InputError, match="looks confidential"):
        suffice.propose(pa.table({"a": ["x", "y"] * 50})).plan()


def test_a_panel_is_no_table() -> None:
    """A firm and a quarter are met once; but firms are known to be whose records these are."""
    rng = np.random.default_rng(3)
    panel = pd.DataFrame({"firm_id": np.repeat(np.arange(1000, 1150), 4), "quarter": [1, 2, 3, 4] * 150})
    panel["turnover"], panel["wages"] = rng.lognormal(9, 1, 600).round(2), rng.lognormal(8, 1, 600).round(2)
    found = suffice.propose(panel)
    assert found.roles is not None
    assert found.roles.unit == "firm_id"
    assert set(found.roles.confidential) == {"turnover", "wages"}


def test_names_that_would_break_a_line(tmp_path: Path) -> None:
    data = firms(200).to_pandas()[["turnover", "wages", "region"]]
    data.columns = ["a\n[release]\npath = 'x'", "b`c", "C(d) + `e"]
    found = suffice.propose(data)
    assert suffice.Plan.parse(found.to_toml()).release.path == "data-release.csv"


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*words: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["suffice", "propose", *words])
        with pytest.raises(SystemExit) as end:
            cli.main()
        return int(end.value.code or 0), capsys.readouterr().out

    pq.write_table(firms(200), tmp_path / "firms.parquet")
    data, plan = str(tmp_path / "firms.parquet"), str(tmp_path / "plan.toml")
    code, said = run(data)
    assert code == 0
    assert suffice.Plan.parse(said[said.index("[data]") :]).roles.build().weight == "weight"
    assert run(data, "-o", plan, "--quiet") == (0, "")
    assert run(data, "-o", plan)[0] == 7  # it exists
    assert run(data, "-o", plan, "--force")[0] == 0
    before = (tmp_path / "firms.parquet").read_bytes()
    assert run(data, "-o", data, "--force")[0] == 2
    assert (tmp_path / "firms.parquet").read_bytes() == before


@needs_shared
@pytest.mark.parametrize(
    ("name", "held", "weight", "unit"),
    [
        ("CASCrefmicrodata", ["PTOTVAL == POTHVAL + PEARNVAL"], "AFNLWGT", None),
        ("Tarragona", [], None, None),
        ("EIA", [], None, "UTILITYID"),
        ("testdata", [], "household_weights", "ori_hid"),
    ],
)
def test_public_files(name: str, held: list[str], weight: str | None, unit: str | None) -> None:
    assert SHARED is not None
    found = suffice.propose(SHARED / "data" / f"{name}.csv")
    assert found.roles is not None
    assert [str(each) for each in found.sums] == held
    assert (found.roles.weight, found.roles.unit) == (weight, unit)


def test_random_numbers_have_no_sum() -> None:
    """A thousand files: normal, digits, few levels, rounded amounts, mostly zeros."""
    rng = np.random.default_rng(77)

    def made(kind: int, n: int, k: int) -> np.ndarray:
        if kind == 0:
            return rng.normal(size=(n, k))
        if kind == 1:
            return np.round(rng.lognormal(6, 1, (n, k)), -1)
        if kind == 2:
            return np.where(rng.random((n, k)) < 0.7, 0, rng.integers(1, 50, (n, k))).astype(float)
        return rng.integers(0, 10 if kind == 3 else 3, (n, k)).astype(float)

    for i in range(1000):
        Y = made(i % 5, int(rng.integers(20, 120)), int(rng.integers(2, 9)))
        file = {f"v{j}": y for j, y in enumerate(Y.T)}
        assert not suffice.propose(pa.table(file)).sums
        if i % 100 == 0 and len(Y) > 40:
            assert suffice.propose(pa.table({**file, "sum": Y[:, 0] + Y[:, 1]})).sums
