"""A record alone in its cell is in what is kept - in one release, or in two together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from suffice import Ipso, Roles, Seed, protect
from suffice.errors import GuardError
from tests.attacks.victims import OFF, rules
from tests.tolerances import ENGINE


def regions(sizes: dict[str, int], seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    region = np.repeat(list(sizes), list(sizes.values()))
    return pd.DataFrame({"region": region, "y0": rng.normal(100, 10, len(region))})


def test_a_cell_with_one_record_is_read_off() -> None:
    frame = regions({"north": 40, "south": 40, "island": 1})
    roles = Roles(confidential=["y0"], given="C(region)")
    released = protect(frame, roles, Ipso(), seed=Seed.for_tests(1), accept=OFF).frame
    before, after = (table.groupby("region")["y0"].mean() for table in (frame, released))  # cell means are kept
    assert after["island"] == pytest.approx(before["island"], rel=ENGINE)


def test_it_is_never_written_and_merging_heals_it(tmp_path: Path) -> None:
    frame = regions({"north": 40, "south": 40, "island": 1, "rock": 3})
    roles = Roles(confidential=["y0"], given="C(region)")
    accept = {**OFF, "leverage": "the island has agreed"}
    with pytest.raises(GuardError, match=r"C\(region\)") as caught:
        protect(frame, roles, Ipso(), seed=Seed(), accept=accept).write(tmp_path / "out.csv")
    assert caught.value.exit_code == 4
    assert "merge_below" in str(caught.value)
    assert "island" not in str(caught.value)
    assert not list(tmp_path.iterdir())
    merged = Roles(confidential=["y0"], given="C(region)", merge_below=5)
    release = protect(frame, merged, Ipso(), seed=Seed())
    assert rules(release, "stop", "never") == set()  # cells of 40, 40 and 4: h = .25 is a warning
    release.write(tmp_path / "out.csv")


def test_a_giant_in_a_skewed_given_column_stops_until_its_logarithm_is_given() -> None:
    rng = np.random.default_rng(0)
    size = np.append(rng.lognormal(3, 1, 200), 1e5)
    frame = pd.DataFrame({"size": size, "y0": size * rng.lognormal(0, 0.5, 201)})
    raw, logs = (
        protect(frame, Roles(confidential=["y0"], given=given), Ipso(), seed=Seed.for_tests(1))
        for given in ("size", "log(size)")
    )
    assert raw.assessment.leverage.highest > 0.99
    assert "leverage" in rules(raw, "stop", "never")
    assert "leverage" not in rules(logs, "stop", "never")
    giant = raw.frame["size"].idxmax()  # with the guard off: within 1 % of the truth
    assert raw.frame["y0"][giant] == pytest.approx(frame["y0"][200], rel=0.01)


def differing() -> pd.DataFrame:
    """Two groupings, cells of 33 and more, that differ in one record."""
    frame = regions({"a": 34, "b": 33, "c": 33}).rename(columns={"region": "one"})
    frame["two"] = frame["one"]
    frame.loc[0, "two"] = "b"
    return frame


def test_two_harmless_releases_give_a_record_by_subtraction(tmp_path: Path) -> None:
    frame = differing()
    totals = []
    for term in ("one", "two"):
        roles = Roles(confidential=["y0"], given=f"C({term})")
        release = protect(frame, roles, Ipso(), seed=Seed())  # no key file: no ledger, no guard
        assert release.assessment.leverage.highest < 0.031
        assert rules(release, "warn", "stop", "never") == set()
        totals.append(release.frame.groupby(term)["y0"].sum()["a"])
    assert totals[0] - totals[1] == pytest.approx(frame["y0"][0], rel=ENGINE)


def test_the_ledger_sees_it(tmp_path: Path) -> None:
    frame, key = differing(), Seed.new_file(tmp_path / "key")
    protect(frame, Roles(confidential=["y0"], given="C(one)"), Ipso(), seed=key).write(tmp_path / "one.csv")
    second = protect(frame, Roles(confidential=["y0"], given="C(two)"), Ipso(), seed=key)
    assert second.assessment.leverage.highest < 0.031
    assert second.assessment.stacked.highest == pytest.approx(1)
    with pytest.raises(GuardError, match="stacked-leverage"):
        second.write(tmp_path / "two.csv")
    gone = protect(frame.drop(columns="one"), Roles(confidential=["y0"], given="C(two)"), Ipso(), seed=key)
    assert [f.level for f in gone.findings if f.rule == "stacked-leverage"] == ["note"]  # it cannot tell
    again = protect(frame, Roles(confidential=["y0"], given="1"), Ipso(), seed=key)
    assert not again.findings  # a coarser release adds nothing
