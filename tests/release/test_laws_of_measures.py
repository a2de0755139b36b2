"""Every measure: its extreme for a copy, chance for an unrelated release, and monotone in the noise between."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from suffice.design.roles import Roles
from suffice.measure.measure import Measure
from suffice.measure.pair import FilePair
from suffice.release.measures import MEASURES, taken

N = 240
NOISE = (0.0, 0.1, 0.5, 2.0)
"""In standard deviations of a column, and as shares of the categories that are drawn anew."""
EXCEPT = {
    **dict.fromkeys(("identification-risk", "identification-risk-joint"), "copy: others match too"),
    **dict.fromkeys(
        ("k-anonymity", "individual-risk", "special-uniques", "model-risk"),
        "copy and monotone: of the released categories alone, whatever they were",
    ),
    "l-diversity": "copy: of the released records alone",
    **dict.fromkeys(("replicated-uniques", "attribute-disclosure"), "copy: no more than the original has"),
    "membership-tpr": "monotone: 1 % of the hold-out are two records",
    "sparse-records": "chance and monotone: of the original alone",
    "digits": "copy and monotone: of columns of few decimals",
    **dict.fromkeys(("averaging", "differencing"), "copy, chance and monotone: of the ledger"),
}
"""What is not asked of a measure, and why."""


def records(rng: np.random.Generator, n: int = N) -> dict[str, object]:
    Z = rng.normal(size=(n, 3)) @ np.array([[1.0, 0.5, 0.2], [0.0, 1.0, 0.4], [0.0, 0.0, 1.0]])
    texts = {
        name: pa.array([f"{name}{k}" for k in rng.integers(count, size=n)]) for name, count in (("k", 6), ("l", 5))
    }
    return {**{f"y{j}": np.exp(0.4 * z) for j, z in enumerate(Z.T)}, **texts, "w": rng.uniform(1, 5, n)}


def noisy(columns: dict[str, object], amount: float, rng: np.random.Generator) -> dict[str, object]:
    found = {}
    for name, column in columns.items():
        if isinstance(column, pa.Array):
            anew = rng.uniform(size=N) < amount / 2
            places = np.where(anew, rng.integers(N, size=N), np.arange(N))
            found[name] = column.take(pa.array(places))
        else:
            found[name] = column if name == "w" else column + amount * column.std() * rng.normal(size=N)
    return found


def pair(measure: Measure, amount: float | None) -> FilePair:
    """amount: of noise; None: records that have nothing to do with the original."""
    rng = np.random.default_rng(5)
    before, aside = records(rng), records(rng)
    several = 3 if "several releases" in measure.needs else 1
    after = tuple(records(rng) if amount is None else noisy(before, amount, rng) for _ in range(several))
    names = ("y0", "y1", "y2")
    roles = Roles(confidential=names, keep=("k", "l"), weight="w")
    return FilePair(roles, before, after, names, ("k", "l"), True, aside, ("lm: y0 ~ y1 + C(k)",))


def value(measure: Measure, amount: float | None) -> float:
    return taken(measure, pair(measure, amount)).value


def asked(law: str) -> list[object]:
    return [pytest.param(each, id=name) for name, each in MEASURES.items() if law not in EXCEPT.get(name, "")]


@pytest.mark.parametrize("measure", asked("copy"))
def test_a_copy_is_the_extreme(measure: Measure):
    assert value(measure, 0.0) == pytest.approx(measure.of_a_copy, abs=1e-6)


@pytest.mark.parametrize("measure", asked("chance"))
def test_an_unrelated_release_gives_what_chance_gives(measure: Measure):
    if measure.family != "risk":
        pytest.skip("records of the same law are useful, whoever they are")
    score = taken(measure, pair(measure, None))
    end = measure.range[not measure.direction.startswith("higher")]
    chance = max(end, 0.0) if score.outcome.chance is None else score.outcome.chance
    toward = (score.value - chance) / (measure.of_a_copy - chance)
    assert toward <= 0.12, (score.value, chance)


@pytest.mark.parametrize("measure", asked("monotone"))
def test_more_noise_is_less_risk_and_less_use(measure: Measure):
    found = np.array([value(measure, amount) for amount in NOISE])
    away = np.abs(found - measure.of_a_copy) if np.isfinite(measure.of_a_copy) else -found
    assert (np.diff(away) >= -0.02 * np.ptp(away)).all(), found
    assert away[-1] > away[0], found
