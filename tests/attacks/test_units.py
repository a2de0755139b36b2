"""Records are not units: a cell of 24 records is two firms by month, and each learns the other's year."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import Fitted, Ipso, Roles, Seed, protect, verify
from suffice.design.design import Design
from suffice.errors import GuardError, UsageError
from suffice.rows.memory import MemoryRows
from tests.attacks.victims import rules
from tests.tolerances import ENGINE


def panel(seed: int = 0) -> pd.DataFrame:
    """Firms 0 to 42 by month; three regions of many firms, and firms 0 and 1 alone in a fourth."""
    rng = np.random.default_rng(seed)
    firm, month = np.repeat(np.arange(42), 12), np.tile(np.arange(12), 42)
    region = np.where(firm < 2, "small", np.array(["north", "south", "west"])[firm % 3])
    revenue = rng.lognormal(3, 0.3, 42)[firm] * rng.lognormal(0, 0.2, len(firm))
    return pd.DataFrame({"firm": firm, "month": month, "region": region, "revenue": revenue})


REQUESTS: dict[str, dict[str, Any]] = {
    "given": {"given": "C(region) + C(month)"},
    "groups": {"groups": ["region"]},
}


@pytest.mark.parametrize("more", REQUESTS.values(), ids=REQUESTS)
def test_one_of_two_firms_learns_the_year_of_the_other(more: dict[str, Any], tmp_path: Path) -> None:
    frame = panel()
    release = protect(frame, Roles(confidential=["revenue"], **more), Ipso(), seed=Seed())
    assert rules(release, "stop", "never") == set()  # 24 records, h = 1/24
    year = frame.groupby("firm")["revenue"].sum()
    told = release.frame.groupby("region")["revenue"].sum()["small"] - year[0]
    assert told == pytest.approx(year[1], rel=100 * ENGINE)
    by_units = protect(frame, Roles(confidential=["revenue"], unit="firm", **more), Ipso(), seed=Seed())
    assert by_units.assessment.leverage.highest == pytest.approx(0.5)
    assert "leverage" in rules(by_units, "stop")
    assert "firm" not in by_units.frame
    with pytest.raises(GuardError, match="2 units of 42"):
        by_units.write(tmp_path / "out.csv")


def test_its_remedy_heals() -> None:
    roles = Roles(confidential=["revenue"], unit="firm", given="C(region) + C(month)")
    found = next(f for f in protect(panel(), roles, Ipso(), seed=Seed()).findings if f.rule == "leverage")
    assert "merge_below=5" in found.remedy
    release = protect(panel(), replace(roles, merge_below=5), Ipso(), seed=Seed())
    assert rules(release, "warn", "stop", "never") <= {"domain"}
    assert any("2 small levels" in note and "units" in note for note in release.certificate.notes)


@pytest.mark.parametrize("how", ["join", "drop"])
def test_small_groups_are_told_by_their_units(how: str, tmp_path: Path) -> None:
    """24 records are no small group, and two firms are."""
    roles = Roles(confidential=["revenue"], groups=["region"], unit="firm", small_groups=how)
    plain = protect(panel(), replace(roles, unit=None), Ipso(), seed=Seed())
    assert plain.frame["region"].nunique() == 4
    release = protect(panel(), roles, Ipso(), seed=Seed())
    assert "small" not in {*release.frame["region"]}
    assert len(release.frame) == len(panel()) - 24 * (how == "drop")
    assert rules(release, "warn", "stop", "never") <= {"domain"}
    release.write(tmp_path / "out.csv")
    panel().to_csv(tmp_path / "in.csv", index=False)
    assert verify(tmp_path / "in.csv", tmp_path / "out.csv", roles).holds
    asked = protect(panel(), replace(roles, smallest_group=14), Ipso(), seed=Seed())
    assert {*asked.frame["region"]} == ({"joined", "west"} if how == "join" else {"west"})


def test_a_unit_in_several_levels_counts_once_when_they_are_joined(tmp_path: Path) -> None:
    """Two levels of the same three firms are three firms together, not six: a third level joins them."""
    frame = panel().assign(region=lambda f: np.where(f["firm"] < 3, np.where(f["month"] < 6, "a", "b"), f["region"]))
    roles = Roles(confidential=["revenue"], given="C(region)", unit="firm", merge_below=5)
    design = Design.learn(MemoryRows(frame), roles)
    assert design.categories["region"].size == 3
    release = protect(frame, roles, Ipso(), seed=Seed())
    release.write(tmp_path / "out.csv")
    assert release.assessment.leverage.highest <= 0.2
    frame.to_csv(tmp_path / "in.csv", index=False)
    assert verify(tmp_path / "in.csv", tmp_path / "out.csv", roles).holds


def test_joined_by_records_and_then_by_units_are_two_releases(tmp_path: Path) -> None:
    """The levels are others, so what both keep is stacked: the two firms' year is the difference."""
    key, roles = Seed.new_file(tmp_path / "key"), Roles(confidential=["revenue"], given="C(region)", merge_below=5)
    protect(panel(), replace(roles, unit="firm"), Ipso(), seed=key).write(tmp_path / "one.csv")
    second = protect(panel(), roles, Ipso(), seed=key)
    assert second.assessment.history.entries == 1
    assert second.assessment.stacked.highest > second.assessment.leverage.highest - 1e-9
    again = protect(panel(), replace(roles, unit="firm"), Ipso(), seed=key)
    assert again.assessment.history.entries == 0


def test_groups_are_as_large_as_their_units_and_their_giants_are_units() -> None:
    frame = panel()
    fitted = Roles(confidential=["revenue"], groups=["region"], unit="firm")
    release = protect(frame, fitted, Ipso(), seed=Seed())
    assert release.assessment.groups[0].smallest == 2
    assert "group-size" in rules(release, "stop")
    frame = frame[frame["firm"] > 1].assign(revenue=lambda f: f["revenue"] * np.where(f["firm"] == 5, 500, 1))
    assert "dominance" in rules(protect(frame, fitted, Ipso(), seed=Seed()), "stop")  # its months are alike
    cells = Roles(confidential=["revenue"], given="C(region)", unit="firm")
    assert protect(frame, cells, Ipso(), seed=Seed()).assessment.cells.factors[0].dominated == 1
    assert protect(frame, replace(cells, unit=None), Ipso(), seed=Seed()).assessment.cells.factors[0].dominated == 0
    records = Roles(confidential=["revenue"], groups=["region"])
    assert "dominance" not in rules(protect(frame, records, Fitted(), seed=Seed()), "stop")


def test_the_ledger_stacks_units(tmp_path: Path) -> None:
    """Two groupings that differ in one firm: no record, and the firm's year."""
    frame = panel().query("firm > 1").reset_index(drop=True)
    frame["area"] = np.where(frame["firm"] == 7, "north", frame["region"])
    key = Seed.new_file(tmp_path / "key")
    one, two = ([Roles(confidential=["revenue"], given=f"C({by})", unit="firm")] for by in ("region", "area"))
    first = protect(frame, *one, Ipso(), seed=key)
    first.write(tmp_path / "one.csv")
    second = protect(frame, *two, Ipso(), seed=key)
    gone = frame["region"][frame["firm"] == 7].iloc[0]
    told = first.frame.groupby("region")["revenue"].sum()[gone] - second.frame.groupby("area")["revenue"].sum()[gone]
    assert told == pytest.approx(frame["revenue"][frame["firm"] == 7].sum(), rel=1000 * ENGINE)
    assert second.assessment.stacked.highest == pytest.approx(1)
    assert "stacked-leverage" in rules(second, "never")
    plain = Roles(confidential=["revenue"], given="C(area)")
    assert rules(protect(frame, plain, Ipso(), seed=key), "stop", "never") == set()  # by records: 1/12


def test_an_identifier_that_repeats_is_noted() -> None:
    roles = Roles(confidential=["revenue"], identifiers=["firm"])
    found = [f for f in protect(panel(), roles, Ipso(), seed=Seed()).findings if f.rule == "repeated-identifiers"]
    assert found[0].level == "note"
    assert "unit=firm" in found[0].remedy
    named = Roles(confidential=["revenue"], identifiers=["firm"], unit="firm")
    assert "repeated-identifiers" not in rules(protect(panel(), named, Ipso(), seed=Seed()), "note")


def test_a_unit_changes_no_released_value_and_leaves_only_if_kept() -> None:
    seed = Seed.for_tests(1)
    plain = protect(panel(), Roles(confidential=["revenue"], given="C(month)"), Ipso(), seed=seed).frame
    for more in ({}, {"identifiers": ["firm"]}, {"keep": ["firm"]}):
        roles = Roles(confidential=["revenue"], given="C(month)", unit="firm", **more)
        released = protect(panel(), roles, Ipso(), seed=seed).frame
        assert ("firm" in released) == ("keep" in more)
        if not more:
            assert released.equals(plain)
    with pytest.raises(UsageError, match="cannot tell units"):
        Roles(confidential=["revenue"], unit="revenue")
