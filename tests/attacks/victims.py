"""Files that the attacks are tried on, and what an attacker can work out from any release."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from suffice import Roles, Seed, protect
from suffice.algebra.array import Array
from suffice.algebra.decomposition import split
from suffice.method.method import Method
from suffice.release.release import Release

SWITCHED = ("seed", "residual-correlation", "canonical-correlation", "kept-scores", "copies", "outliers")
OFF = dict.fromkeys(SWITCHED, "an attack is tried")
"""The guards that can be switched off, switched off."""


def profile(n: int = 300, k: int = 3, seed: int = 0) -> pd.DataFrame:
    """x is public and unique; y0, y1, ... are confidential, correlated with it and with each other."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    Y = rng.normal(size=(n, k)) @ rng.normal(size=(k, k)) + x[:, None]
    return pd.DataFrame({"x": x, **{f"y{j}": Y[:, j] for j in range(k)}})


def confidential(frame: Any) -> Array:
    return np.asarray(frame[[name for name in frame if name.startswith("y")]], dtype=np.float64)


def roles(frame: pd.DataFrame, given: str = "x") -> Roles:
    return Roles(confidential=[name for name in frame if name.startswith("y")], given=given)


def unguarded(frame: pd.DataFrame, method: Method, key: int = 1, given: str = "x") -> Release:
    return protect(frame, roles(frame, given), method, seed=Seed.for_tests(key), accept=OFF)


def linked(released: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    """Shuffled rows put back in order through a public column that is unique."""
    return frame[["x"]].merge(released, on="x", how="left", validate="one_to_one")


def residuals(frame: pd.DataFrame) -> Array:
    """Anyone can compute these from a release: X is public."""
    return split(confidential(frame), public(frame))[1]


def public(frame: pd.DataFrame) -> Array:
    return np.column_stack([np.ones(len(frame)), frame["x"]])


def uncertain(guess: Array, truth: Array) -> float:
    """What the best multiple of a guess leaves of a standard deviation, in the best column: 1 is all."""
    centred = [a - a.mean(axis=0) for a in (guess, truth)]
    inner, one, two = (np.einsum("ij,ij->j", a, b) for a, b in [centred, centred[:1] * 2, centred[1:] * 2])
    return float(np.sqrt(np.maximum(0, 1 - inner**2 / (one * two))).min())


def rules(release: Release, *levels: str) -> set[str]:
    return {finding.rule for finding in release.findings if finding.level in levels}
