"""Methods that need all rows, on files of more than one super-block."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import Ipso, Restore, Roles, Rotate, Seed, protect
from suffice.algorithms.rotation.constraints import Constraints
from suffice.algorithms.rotation.densities import Densities
from suffice.method.records import Records
from tests.tolerances import ENGINE
from tests.truth import ratios

N = 900
ROLES = Roles(confidential=["y", "z"], given="C(region) + x", weight="w", bounds="observed-sign", edits=["z <= 9 * y"])


def people() -> pd.DataFrame:
    rng = np.random.default_rng(2)
    y = rng.exponential(size=N)
    return pd.DataFrame(
        {
            "region": rng.choice(["n", "s"], N),
            "x": rng.normal(size=N),
            "y": y,
            "z": y * rng.uniform(0, 8, N),
            "w": rng.uniform(1, 3, N),
        }
    )


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.protection.super_blocks.SUPER", 200)


@pytest.mark.parametrize("method", [Rotate(sweeps=4), Ipso().then(Rotate(sweeps=4)), Rotate(sweeps=4).then(Restore())])
def test_super_blocks_keep_what_is_promised_and_the_engine_does_not_matter(
    method: Rotate, tmp_path: Path, small_blocks: None
) -> None:
    frame, path = people(), tmp_path / "people.parquet"
    frame.to_parquet(path, row_group_size=70)
    roles = (
        ROLES if not isinstance(method, type(Rotate().then(Restore()))) or method.steps[-1].name == "rotate" else None
    )
    roles = roles or Roles(confidential=["y", "z"], given="C(region) + x", weight="w")
    one = protect(frame, roles, method, seed=Seed.for_tests(1))
    two = protect(path, roles, method, seed=Seed.for_tests(1))
    assert one.certificate.holds
    assert two.certificate.holds
    first, second = one.aligned()[["y", "z"]].to_numpy(), two.aligned().to_pandas()[["y", "z"]].to_numpy()
    assert np.abs(first - second).max() <= ENGINE * np.abs(first).max()
    if roles is ROLES:
        assert (first >= 0).all()
        assert (first[:, 1] <= 9 * first[:, 0] * (1 + 1e-12)).all()
    moved = np.abs(first - frame[["y", "z"]].to_numpy()).max(axis=1)
    assert (moved > 1e-6).mean() > 0.9


def test_super_blocks_are_dealt_anew(small_blocks: None) -> None:
    """In one dealing each super-block would keep its own total; the second dealing mixes them."""
    frame = people()
    roles = Roles(confidential=["y", "z"])
    release = protect(frame, roles, Rotate(sweeps=3), seed=Seed.for_tests(1))
    assert "10 super-blocks in 2 rounds." in release.certificate.text()
    other = protect(frame, roles, Rotate(sweeps=3), seed=Seed.for_tests(2))
    assert np.abs(release.aligned()[["y"]].to_numpy() - other.aligned()[["y"]].to_numpy()).max() > 0.1


def test_moments_of_super_blocks_are_those_of_the_file(small_blocks: None) -> None:
    frame = people()
    released = protect(frame, Roles(confidential=["y", "z"]), Rotate(sweeps=5), seed=Seed.for_tests(3)).aligned()
    X = np.ones((N, 1))
    found = ratios(X, frame[["y", "z"]].to_numpy(), X, released[["y", "z"]].to_numpy())
    assert max(found.values()) <= 30


def test_heaps_of_super_blocks_are_given_back(small_blocks: None) -> None:
    frame = people()
    frame.loc[frame.index % 5 == 0, "y"] = 0.75
    release = protect(frame, Roles(confidential=["y"], bounds="observed-sign"), Rotate(most=20), seed=Seed.for_tests(1))
    assert release.certificate.holds
    assert abs((release.frame["y"] == 0.75).mean() - 0.2) < 0.06


@pytest.mark.parametrize("edits", [[], ["t == y + v"], ["t == y + v", "2 * v <= 3 * t + 1", "z <= 9 * y"]])
def test_whole_numbers_of_super_blocks_keep_the_totals_of_the_file(
    edits: list[str], tmp_path: Path, small_blocks: None
) -> None:
    frame = people().assign(y=lambda each: np.ceil(each["y"] * 10), v=lambda each: np.floor(each["w"] * 3))
    frame["t"] = frame["y"] + frame["v"]
    roles = Roles(
        confidential=["y", "v", "t", "z"],
        given="C(region)",
        integer=["y", "v", "t"],
        bounds="observed-sign",
        edits=edits,
    )
    path = tmp_path / "people.parquet"
    frame.to_parquet(path, row_group_size=70)
    one = protect(frame, roles, Rotate(sweeps=2), seed=Seed.for_tests(1))
    two = protect(path, roles, Rotate(sweeps=2), seed=Seed.for_tests(1))
    released, whole = one.aligned(), ["y", "v", "t"]
    assert (released[whole] == np.rint(released[whole])).all(axis=None)
    assert (released[whole] >= 0).all(axis=None)
    assert (released[whole].sum() == frame[whole].sum()).all()
    after = released.groupby("region")[whole].sum()
    assert (after == frame.groupby("region")[whole].sum()).all(axis=None)
    if edits:
        assert (released["t"] == released["y"] + released["v"]).all()
    assert one.certificate.holds
    assert "5 super-blocks in 1 round." in one.certificate.text()
    assert released[whole].equals(two.aligned().to_pandas()[whole])


def test_whole_numbers_are_told_as_reached_not_promised() -> None:
    frame = people().assign(y=lambda each: np.ceil(each["y"] * 10))
    roles = Roles(confidential=["y", "z"], given="C(region)", integer=["y"], bounds="observed-sign")
    release = protect(frame, roles, Rotate(sweeps=5), seed=Seed.for_tests(1))
    y = release.frame["y"]
    assert (y == np.rint(y)).all()
    assert (y >= 0).all()
    assert y.sum() == frame["y"].sum()
    after = release.frame.groupby("region")["y"].sum()
    assert (after == frame.groupby("region")["y"].sum()).all()
    reached = {claim.statistic for claim in release.certificate.claims if not claim.promised}
    assert reached == {"mean", "covariance", "fit"}
    assert "reached, not promised" in release.certificate.text()
    assert release.certificate.holds


def test_super_blocks_walk_under_the_law_of_the_file(small_blocks: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Learnt once a release; a column that is negative in one record only has no bound anywhere."""
    frame = people()
    frame.loc[7, "z"] = -0.5
    laws, bounds = [], []
    learn, ground = Rotate.learn, Rotate._ground

    def learnt(self: Rotate, *args: Any) -> Any:
        laws.append(learn(self, *args))
        return laws[-1]

    def grounded(self: Rotate, records: Records, known: Any) -> Constraints:
        assert known is laws[-1]  # trial releases learn theirs
        bounds.append(ground(self, records, known).low)
        return ground(self, records, known)

    monkeypatch.setattr(Rotate, "learn", learnt)
    monkeypatch.setattr(Rotate, "_ground", grounded)
    release = protect(frame, Roles(confidential=["y", "z"]), Rotate(most=5), seed=Seed.for_tests(1))
    assert not release.assessment.closeness.giants  # every walk began with records that were drawn
    Y = frame[["y", "z"]].to_numpy()
    law = Densities.of(Y, np.full(2, -np.inf), np.full(2, np.inf))
    assert len(bounds) == 10 * len(laws)
    assert all((each == [0, -np.inf]).all() for each in bounds)
    assert all((one == other).all() for one, other in zip(laws[0].law.arrays, law.arrays, strict=True))
