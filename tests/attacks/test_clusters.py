"""Synthetic residuals in clusters: the key tells nothing, and clusters of two or three records tell nearly all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import Microaggregate, MicroHybrid
from suffice.algorithms.hybrid.algorithm import hybrid
from suffice.algorithms.partition.aggregates import fits, means
from tests.attacks.victims import confidential, profile, rules, uncertain, unguarded
from tests.tolerances import CHANCE, ENGINE

N = 300
REQUESTS: dict[str, dict[str, Any]] = {
    "MHa": {"clusters": "c", "local": "x"},
    "MHb": {"pieces": "c", "local": "x"},
    "main": {"clusters": "c", "overall": "x"},
    "slopes 0": {"clusters": "c", "overall": "x", "slopes": 0},
}


def clustered(size: int = 20, k: int = 3) -> pd.DataFrame:
    return profile(N, k).assign(c=np.arange(N) // size)


def parts(frame: pd.DataFrame, name: str) -> dict[str, Any]:
    """What `hybrid` is given for a request: all of it is public."""
    columns = {"clusters": frame["c"], "pieces": frame["c"], "local": frame[["x"]], "overall": frame[["x"]]}
    asked = {key: columns[key].to_numpy() for key in REQUESTS[name] if key != "slopes"}
    return {**asked, "slopes": REQUESTS[name].get("slopes")}


@pytest.mark.parametrize("name", REQUESTS)
def test_other_originals_have_the_same_release_under_the_same_random_numbers(name: str) -> None:
    """Why the key cannot undo it: the release is a function of fits, covariances and Z; many originals share these."""
    frame, rng = clustered(), np.random.default_rng(2)
    Y, Z, other = confidential(frame), *rng.normal(size=(2, N, 3))
    given = parts(frame, name)
    twin = hybrid(Y, other, **given).Ystar
    left = [A - fits(frame["c"].to_numpy(), frame[["x"]].to_numpy(), A) for A in (twin, Y)]
    assert uncertain(*left) > 0.9
    assert np.abs(hybrid(twin, Z, **given).Ystar - hybrid(Y, Z, **given).Ystar).max() < ENGINE * Y.std()


@pytest.mark.parametrize("name", REQUESTS)
def test_whoever_has_the_key_is_where_a_stranger_is(name: str) -> None:
    """He knows every random number: neither these nor the release say anything about the residuals."""
    frame = clustered()
    Y, labels, x = confidential(frame), frame["c"].to_numpy(), frame[["x"]].to_numpy()
    truth = Y - fits(labels, x, Y)
    release = unguarded(frame, MicroHybrid(**REQUESTS[name]))
    Ystar = confidential(release.aligned())
    Z = release.done.stream.generator("scores").standard_normal(Y.shape)
    drawn = hybrid(np.asarray(Ystar), Z, **parts(frame, name)).Ystar
    assert np.abs(drawn - Ystar).max() < 1e-8 * Y.std()  # the release is its own: nothing more comes out of it
    for guess in (Ystar - fits(labels, x, Ystar), Z - fits(labels, x, Z)):
        assert 1 - uncertain(guess, truth) < CHANCE**2 / (2 * N)


def alike(size: int) -> tuple[float, set[str]]:
    """The median correlation of own and released residuals in a cluster, and what the guards say of it."""
    frame = clustered(size, k=1)
    release = unguarded(frame, MicroHybrid(clusters="c"), given="")
    labels = frame["c"].to_numpy()
    E, Estar = (A - means(labels, A) for A in (confidential(frame), confidential(release.aligned())))
    inner, one, two = (np.bincount(labels, (a * b)[:, 0]) for a, b in ((E, Estar), (E, E), (Estar, Estar)))
    return float(np.median(np.abs(inner) / np.sqrt(one * two))), rules(release, "stop", "never")


def test_clusters_of_two_are_released_as_they_are_or_swapped() -> None:
    found, stopped = alike(2)
    assert found == pytest.approx(1.0, abs=1e-12)
    assert "degrees-of-freedom" in stopped
    assert "degrees-of-freedom" in rules(unguarded(clustered(2, 1), MicroHybrid(clusters="c")), "never")


@pytest.mark.parametrize(("size", "least", "most"), [(3, 0.6, 0.82), (4, 0.35, 0.6)])
def test_small_clusters_give_much_away_and_stop(size: int, least: float, most: float) -> None:
    found, stopped = alike(size)
    assert least < found < most
    assert "degrees-of-freedom" in stopped


def test_clusters_of_ten_and_more_do_not() -> None:
    found, stopped = alike(12)
    assert found < 0.35
    assert "degrees-of-freedom" not in stopped


def test_residual_covariances_in_small_clusters_stop_as_well() -> None:
    for slopes in (None, 0):
        for size, expected in ((4, True), (12, False)):
            release = unguarded(clustered(size, 1), MicroHybrid(clusters="c", overall="x", slopes=slopes))
            assert ("degrees-of-freedom" in rules(release, "stop", "never")) == expected


def test_means_of_two_tell_each_the_other() -> None:
    """With microaggregation of two, whoever knows his own value knows the other's."""
    frame = clustered()
    release = unguarded(frame, Microaggregate(k=2))
    Y, Ystar = confidential(frame), confidential(release.aligned())
    labels = Microaggregate(k=2).labels(Y)
    first, second = (np.array([np.flatnonzero(labels == g)[i] for g in range(N // 2)]) for i in (0, 1))
    assert np.allclose(2 * Ystar[first] - Y[first], Y[second])
    assert "group-size" in rules(release, "stop")


def test_a_column_that_is_constant_in_every_cluster_is_read_off():
    """Residuals are new and there are none: the column leaves as it was, cell by cell."""
    frame = clustered().assign(y2=lambda each: 1.5 * each["c"] + 3)
    release = unguarded(frame, MicroHybrid(clusters="c"))
    assert np.array_equal(release.aligned()["y2"], frame["y2"])
    found = {finding.rule: finding for finding in release.findings}["explained-columns"]
    assert (found.level, found.numbers["columns"]) == ("stop", "y2")
    assert "explained-columns" not in {f.rule for f in unguarded(clustered(), MicroHybrid(clusters="c")).findings}
