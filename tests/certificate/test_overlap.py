"""verify() finds records of the original in a release, and no more of them than there are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from suffice import Ipso, Microaggregate, Roles, Seed, protect, verify
from suffice.certificate.overlap import Overlap, beyond
from suffice.guards.finding import Finding
from suffice.rows.memory import MemoryRows

ROLES = Roles(confidential=["y", "z"], given="C(g) + x", keep=["note"])


def frame(n: int = 600) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    x = rng.normal(size=n)
    return pd.DataFrame(
        {
            "g": rng.choice(["a", "b", "c"], n),
            "x": x,
            "note": rng.integers(0, 5, n),
            "y": np.exp(rng.normal(size=n) + x),
            "z": rng.normal(size=n),
        }
    )


def copies(data: pd.DataFrame, released: pd.DataFrame, roles: Roles = ROLES) -> Finding | None:
    found = {finding.rule: finding for finding in verify(data, released, roles).findings}
    return found.get("copies")


def shuffled(data: pd.DataFrame) -> pd.DataFrame:
    return data.sample(frac=1, random_state=3, ignore_index=True)


def with_copies(data: pd.DataFrame, roles: Roles, number: int) -> pd.DataFrame:
    """A release in which some records are as they were."""
    released = protect(data, roles, Ipso(), seed=Seed.for_tests(1)).aligned()
    columns = [*roles.confidential]
    released.loc[: number - 1, columns] = data.loc[: number - 1, columns]
    return shuffled(released)


@pytest.mark.parametrize("roles", [ROLES, Roles(confidential=["y", "z"]), Roles(confidential=["y"])])
def test_a_shuffled_copy_keeps_every_statistic_and_is_stopped(roles: Roles) -> None:
    data = frame()
    found = verify(data, shuffled(data[list(roles.columns)]), roles)
    assert found.holds
    assert not found.passes
    [finding] = [each for each in found.findings if each.rule == "copies"]
    assert finding.level == "stop"
    assert finding.numbers["copies"] == 600
    assert "has the records of the original" in finding.message


@pytest.mark.parametrize("number", [1, 7, 60])
def test_some_copied_records_are_counted(number: int) -> None:
    for roles in (ROLES, Roles(confidential=["y", "z"])):
        finding = copies(frame(), with_copies(frame(), roles, number), roles)
        assert finding is not None
        assert (finding.level, finding.numbers["copies"]) == ("stop", number)


def test_copies_that_lost_their_last_digits_are_copies() -> None:
    data = frame()
    rounded = data.assign(y=data["y"] * (1 + 1e-13), z=data["z"].round(13))
    finding = copies(data, shuffled(rounded))
    assert finding is not None
    assert finding.numbers["copies"] > 550


def test_a_release_has_no_copies() -> None:
    data = frame()
    for method in (Ipso(), Microaggregate(k=5)):
        assert copies(data, protect(data, ROLES, method, seed=Seed.for_tests(1)).frame) is None


def test_whole_numbers_meet_by_chance() -> None:
    """Pairs of whole numbers of which many are unique: a release meets some, a copy all."""
    rng = np.random.default_rng(2)
    data = pd.DataFrame({"x": rng.normal(size=800), "y": rng.poisson(30, 800), "z": rng.poisson(30, 800)})
    for given in ("", "x"):
        roles = Roles(confidential=["y", "z"], given=given, integer=["y", "z"])
        released = protect(data, roles, Ipso(), seed=Seed.for_tests(1)).frame
        met = Overlap.of(MemoryRows(data), MemoryRows(released), ["y", "z"], [])
        assert met.values > 20
        assert copies(data, released, roles) is None
        finding = copies(data, shuffled(data[list(roles.columns)]), roles)
        assert finding is not None
        assert finding.level == "stop"


def test_values_that_went_to_other_records_are_told() -> None:
    data = frame()
    swapped = data.copy()
    swapped[["y", "z"]] = data[["y", "z"]].to_numpy()[np.random.default_rng(4).permutation(600)]
    finding = copies(data, swapped)
    assert finding is not None
    assert (finding.level, finding.numbers["values"]) == ("warn", 600)
    apart = data.assign(
        y=np.random.default_rng(5).permutation(data["y"]), z=np.random.default_rng(6).permutation(data["z"])
    )
    assert copies(data, apart) is None


def test_what_a_total_decides_is_no_copy() -> None:
    """A column of zeros and ones has the same records whenever it has the same total."""
    data = pd.DataFrame({"y": np.arange(200) % 3 == 0}).astype(int)
    roles = Roles(confidential=["y"], integer=["y"])
    finding = copies(data, shuffled(data), roles)
    assert finding is not None
    assert finding.level == "note"
    assert verify(data, shuffled(data), roles).passes


def test_records_of_zeros_and_missing_cells_are_no_copies() -> None:
    data = frame().assign(y=np.nan, z=0.0)
    rows = MemoryRows(data)
    assert Overlap.of(rows, rows, ["y", "z"], ["x"]).copies == 0


def test_a_share_of_large_files_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.certificate.overlap.MOST", 100)
    data = frame()
    finding = copies(data, shuffled(data))
    assert finding is not None
    assert 300 < finding.numbers["copies"] < 1000


def test_chance() -> None:
    assert beyond(1, 0.0)
    assert not beyond(0, 0.0)
    assert not beyond(5, 5.0)
    assert not beyond(4, 1.0)
    assert beyond(10, 1.0)
    assert not beyond(1010, 1000.0)
    assert beyond(1200, 1000.0)
