"""Shares and numbers of negative values, where another number of records is drawn."""

from __future__ import annotations

import numpy as np
import pandas as pd

import suffice
from suffice import Bootstrap, Roles, Seed, Synthesis


def test_shares_are_those_of_the_drawn_records() -> None:
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"cost": rng.exponential(1.0, 300) ** 2, "gain": rng.normal(1.0, 1.0, 300)})
    release = suffice.protect(data, Roles(confidential=["cost", "gain"]), Bootstrap(m=3000), Seed.for_tests(1))
    below = int((release.frame.cost < 0).sum())
    said = next(each.message for each in release.findings if each.rule == "domain")
    assert below > 300
    assert f"cost {below:,} ({100 * below / 3000:.0f} %)" in said
    assert "multiply" not in said  # ten times the records have ten times the negative gains
    assert "gain" not in said  # a column that had negatives


def test_places_of_levels_have_no_shape() -> None:
    rng = np.random.default_rng(2)
    data = pd.DataFrame({"edu": pd.Series(rng.choice(["high", "low"], 600)), "x": rng.normal(size=600)})
    data.loc[3, "edu"] = None
    release = suffice.protect(data, Roles(confidential=["edu", "x"]), Synthesis(m=1), Seed.for_tests(1))
    assert "edu" not in release.assessment.shapes
    assert "x" in release.assessment.shapes
