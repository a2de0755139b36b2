"""From a start outside the limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from suffice.algorithms.rotation.constraints import Constraints
from suffice.algorithms.rotation.dealing import Dealer
from suffice.algorithms.rotation.repair import forecast, repaired
from suffice.errors import InfeasibleError
from suffice.method.records import Records
from suffice.microdata import Ipso
from suffice.seed import Seed
from tests.algorithms.rotation.cases import limits, skewed

STREAM = Seed.for_tests(1).derive("repair")


def test_the_negatives_of_a_release_are_repaired_and_its_moments_stay() -> None:
    task = skewed(200, 3)
    start = Ipso().solve(task.X, task.Y, np.random.default_rng(1).normal(size=(200, 3)))
    assert (start < 0).sum() > 20
    task = replace(task, Y=start)
    Y, sweeps = repaired(start, Constraints.of(task), Dealer.of(task, "random", "kept"), STREAM)
    assert sweeps > 0
    assert (Y >= 0).all()
    assert np.allclose(Y.sum(axis=0), task.original.sum(axis=0))
    assert np.allclose(Y.T @ Y, task.original.T @ task.original)


def test_a_start_inside_the_limits_is_left_alone() -> None:
    task = skewed(50, 2)
    Y, sweeps = repaired(task.Y, Constraints.of(task), Dealer.of(task, "random", "kept"), STREAM)
    assert sweeps == 0
    assert Y is task.Y


@pytest.mark.parametrize("key", [1, 2, 3])
def test_a_start_that_breaks_limits_by_little_keeps_its_shape(key: int) -> None:
    """The least of a spiky column are not repaired at the cost of the largest."""
    rng = np.random.default_rng(key)
    y = rng.exponential(size=(1000, 1)) ** 3
    start = y - np.sort(y, axis=0)[25]
    task = Records(np.column_stack([np.ones(1000), rng.normal(size=1000)]), start, start, limits=limits(y, 0.0))
    stream = Seed.for_tests(key).derive("repair")
    Y, sweeps = repaired(start, Constraints.of(task), Dealer.of(task, "given", "kept"), stream, still=True)
    assert sweeps < 20
    assert (Y >= 0).all()
    assert np.isclose((Y**4).sum(), (start**4).sum(), rtol=0.01)


def test_what_cannot_be_repaired_is_refused_with_the_number_of_cells() -> None:
    task = skewed(30, 1)
    task = replace(task, Y=task.Y - 10)  # every cell below zero, and the mean stays
    with pytest.raises(InfeasibleError, match="30 cells or edits are left over after 5 sweeps"):
        repaired(task.Y, Constraints.of(task), Dealer.of(task, "random", "kept"), STREAM, 5)


def test_what_will_not_be_repaired_is_refused_soon_and_progress_is_shown() -> None:
    task = skewed(60, 2)
    task = replace(task, Y=task.Y - 3)  # hardly a record can be above zero, and the mean stays
    seen: list[tuple[str, int, int]] = []
    with pytest.raises(
        InfeasibleError, match=r"(?s)after 50 sweeps; at this pace it would take .*Start from the original"
    ):
        repaired(
            task.Y,
            Constraints.of(task),
            Dealer.of(task, "random", "kept"),
            STREAM,
            progress=lambda stage, done, total: seen.append((stage, done, total)),
        )
    assert seen == [("repairing", sweep, 1000) for sweep in range(1, 51)]


def test_a_long_repair_tells_of_the_sweeps_that_it_will_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.algorithms.rotation.repair.forecast", lambda sizes: 80)
    task, seen = skewed(60, 2), []
    known = Constraints.of(task), Dealer.of(task, "random", "kept"), STREAM
    with pytest.raises(InfeasibleError, match="after 120 sweeps"):
        repaired(task.Y - 3, *known, 120, progress=lambda _, __, total: seen.append(total))
    assert seen[49:79] == [120] + [80] * 29


@pytest.mark.parametrize("pace", [0.5, 0.9, 0.97])
def test_the_forecast_of_a_steady_pace_is_right(pace: float) -> None:
    needed = np.log(1e-4) / np.log(pace)
    sizes = [7 * pace**sweep for sweep in range(51)]
    assert forecast(sizes) == pytest.approx(max(50, needed), abs=1)
    assert forecast([7.0] * 51) > 10**6
