"""Edits with given columns that leave a value hardly any room."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from suffice import Roles, Rotate, Seed, protect
from suffice.release.release import Release


def released(width: float, one_side: bool = False) -> tuple[pd.DataFrame, Release]:
    """A value within a share of a given one, of which only classes are regressed on."""
    rng = np.random.default_rng(1)
    x = rng.lognormal(5, 1, 300)
    y = x * (1 + width * rng.uniform(-1, 1, 300))
    data = pd.DataFrame({"x": x, "name": np.arange(300), "y": y})
    edits = [f"y <= {1 + width} * x", *([] if one_side else [f"y >= {1 - width} * x"])]
    roles = Roles(confidential=["y"], given="log(x)", keep=["name"], edits=edits)
    return data, protect(data, roles, Rotate(sweeps=5), seed=Seed.for_tests(1))


def level(release: Release) -> str | None:
    return next((finding.level for finding in release.findings if finding.rule == "tight-limits"), None)


@pytest.mark.parametrize(("width", "expected"), [(0.02, "stop"), (0.6, None)])
def test_the_middle_is_the_value(width: float, expected: str | None) -> None:
    data, release = released(width)
    truth = data.set_index("name")["y"].loc[release.frame["name"]].to_numpy()
    near = (np.abs(release.frame["x"] - truth) <= 0.05 * truth).mean()
    assert near == 1 if expected else near < 0.2
    assert level(release) == expected


def test_one_side_leaves_room() -> None:
    assert level(released(0.02, one_side=True)[1]) is None
