"""Categories drawn by tables, and numbers given the same columns, as one request."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import suffice
from suffice import Ipso, Margins, Roles, Seed
from suffice.cli.app import app
from suffice.errors import UsageError
from suffice.ledger import Ledger

ROLES = Roles(confidential=["trade", "wages", "code", "taxes"], given="C(size)")


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    size, trade = rng.integers(3, size=300), rng.integers(4, size=300)
    wages = 2.0 * size + 3.0 * trade + rng.normal(size=300)
    return pd.DataFrame(
        {
            "size": np.array(["s", "m", "l"])[size],
            "trade": np.array(list("abcd"))[trade],
            "code": (trade + rng.integers(2, size=300)) % 4,
            "wages": wages,
            "taxes": 0.3 * wages + rng.normal(size=300),
        }
    )


def release(data, method=None, roles=ROLES, **more):
    method = method or Margins(keep=[["size", "trade"], ["trade", "code"]]).then(Ipso())
    return suffice.protect(data, roles, method, **more)


def test_tables_and_moments_of_one_request_are_exact(data):
    made = release(data)
    frame = made.frame
    for table in (["size", "trade"], ["trade", "code"]):
        assert frame.value_counts(table).sort_index().equals(data.value_counts(table).sort_index())
    numbers = ["wages", "taxes"]
    before, after = (each.groupby("size")[numbers].mean().to_numpy() for each in (data, frame))
    assert np.allclose(before, after, rtol=1e-11)
    assert np.allclose(data[numbers].cov(), frame[numbers].cov(), rtol=1e-10)
    assert frame["code"].dtype == data["code"].dtype
    said = [claim.sentence for claim in made.certificate.claims]
    assert "means of wages, taxes" in said
    assert "the table size x trade, to the last count" in said
    assert made.certificate.confidential == ("trade", "code", "wages", "taxes")


def test_numbers_know_of_what_was_drawn_no_more_than_given_columns_carry(data):
    def within(frame):
        left = frame["wages"] - frame.groupby("size")["wages"].transform("mean")
        return abs(np.corrcoef(left, frame["trade"].map(ord))[0, 1])

    made = release(data)
    assert within(data) > 0.8
    assert within(made.frame) < 0.3
    assert any("wages, taxes in the levels of trade, code" in each for each in made.certificate.not_promised)


def test_neither_engine_nor_kind_of_rows_matters(data, tmp_path):
    data.to_parquet(tmp_path / "o.parquet", row_group_size=70)
    key, accept = Seed.for_tests(3), {"seed": "a test"}
    here, there = (release(each, seed=key, accept=accept) for each in (data, tmp_path / "o.parquet"))
    there.write(tmp_path / "r.parquet")
    one, two = (
        each.sort_values("wages").reset_index(drop=True)
        for each in (here.frame, pd.read_parquet(tmp_path / "r.parquet"))
    )
    pd.testing.assert_frame_equal(one, two, check_dtype=False)


def test_both_parts_are_judged(data):
    rare = data.copy()
    rare.loc[0, ["trade", "code"]] = ["z", 9]
    stops = {finding.rule for finding in release(rare).findings if finding.blocks}
    assert "rare-cells" in stops
    dominant = data.copy()
    dominant.loc[0, "wages"] = 1e9
    assert {"dominance", "outliers"} & {finding.rule for finding in release(dominant).findings if finding.blocks}


def test_the_ledger_has_one_line_with_all_columns(data, tmp_path):
    key = Seed.new_file(tmp_path / "key")
    release(data, seed=key).write(tmp_path / "r.csv")
    assert len(Ledger.of(tmp_path / "key").others("")) == 1
    again = suffice.protect(data, Roles(confidential=["wages"], keep=["trade"]), Ipso(), key)
    assert "former-role" in {finding.rule for finding in again.findings if finding.blocks}


def test_the_command_and_its_verification(data, tmp_path):
    data.to_csv(tmp_path / "o.csv", index=False)
    run, out = CliRunner(), str(tmp_path / "r.csv")
    words = ["--confidential", "trade,wages,taxes", "--given", "C(size)", "--method", "margins"]
    words += ["--param", "keep=size*trade", "--then", "ipso", "-o", out]
    assert run.invoke(app, ["protect", str(tmp_path / "o.csv"), *words]).exit_code == 0
    asked = ["--confidential", "trade,wages,taxes", "--given", "C(size)"]
    asked += ["--keeps", "mean,covariance,fit,size*trade"]
    assert run.invoke(app, ["verify", str(tmp_path / "o.csv"), out, *asked]).exit_code == 0
    told = json.loads((tmp_path / "r.csv.certificate.json").read_text())
    assert "mean,covariance,fit,size*trade" in told["verify"]
    broken = pd.read_csv(out)
    broken.loc[broken["trade"] == "a", "trade"] = "b"
    broken.to_csv(out, index=False)
    assert "does not keep" in str(run.invoke(app, ["verify", str(tmp_path / "o.csv"), out, *asked]).exception)


@pytest.mark.parametrize(
    ("keep", "then", "said"),
    [
        (None, "ipso", "Name the tables of margins"),
        ([["size"]], "ipso", "none of the confidential columns"),
        ([["trade", "wages", "code", "taxes"]], "ipso", "leaves none for ipso"),
        ([["size", "trade"]], "synthesis:m=2", "records of its own"),
    ],
)
def test_what_cannot_be_put_together_is_said(data, keep, then, said):
    with pytest.raises(UsageError, match=said):
        release(data, [Margins(keep=keep), then])
