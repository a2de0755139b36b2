"""Leverage of units against the hat matrix itself."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from suffice import Ipso, Roles, Seed, protect
from suffice.design.design import Design
from suffice.risk import unit_leverage as module
from suffice.risk.stacked_leverage import regression
from suffice.risk.unit_leverage import unit_leverage
from suffice.rows.memory import MemoryRows


def frame(n: int = 400, levels: int = 4) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    unit = rng.integers(60, size=n)
    return pd.DataFrame(
        {
            "unit": np.where(unit == 7, np.nan, unit),  # those are units by themselves
            "a": rng.integers(levels, size=n),
            "x": rng.lognormal(size=n) + np.where(unit == 3, 40, 0),
            "w": rng.uniform(0.5, 3, n),
            "y": rng.normal(size=n),
        }
    )


@pytest.mark.parametrize("levels", [4, 90])  # many are absorbed
@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("room", [2**24, 50])  # units a few at a time
def test_it_is_the_largest_eigenvalue_of_a_block_of_the_hat_matrix(
    levels: int, weight: str | None, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ROOM", room)
    data = frame(levels=levels)
    rows = MemoryRows(data)
    design = Design.learn(rows, Roles(confidential=["y"], given="C(a) + x", weight=weight))
    assert bool(design.absorbed) == (levels == 90)
    root = np.sqrt(np.asarray(data["w"] if weight else np.ones(len(data))))
    X = np.column_stack([pd.get_dummies(data["a"]).to_numpy(float), data["x"]]) * root[:, None]
    H = X @ np.linalg.pinv(X)
    assert np.allclose(H @ H, H)
    units = data["unit"].where(data["unit"].notna(), -1.0 - data.index)
    highest = {u: np.linalg.norm(H[np.ix_(s, s)], 2) for u, s in units.groupby(units).indices.items()}
    found = unit_leverage(rows, regression(rows, design), "unit")
    assert found.highest == pytest.approx(max(highest.values()), abs=1e-8)
    assert found.units == len(highest)
    assert found.counts == tuple(sum(h > bound for h in highest.values()) for bound in (0.2, 0.5, 0.999))
    assert found.highest > 0.5


def test_a_file_of_many_blocks_and_text_units(tmp_path: object) -> None:
    rng = np.random.default_rng(1)
    n = 20_000
    data = pd.DataFrame({"u": [f"firm {i // 20}" for i in range(n)], "y": rng.normal(size=n), "x": rng.normal(size=n)})
    release = protect(data, Roles(confidential=["y"], given="x", unit="u"), Ipso(), seed=Seed.for_tests(1))
    assert release.assessment.leverage.units == 1000
    assert release.assessment.leverage.highest < 0.05
