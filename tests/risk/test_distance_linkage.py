"""Distance linkage: the tree finds what comparing all pairs finds, ties and all."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from suffice.algorithms import nearer
from suffice.measure.pair import FilePair
from suffice.risk import distance_linkage as linkage


def straightforward(Y, Ystar):
    """Calvino's definition, in four lines of its own."""
    D = cdist(Y / Y.std(axis=0), Ystar / Y.std(axis=0))
    own = np.diag(D)[:, None]
    nearer = (own * (1 - 1e-9) - 1e-9 > D).any(axis=1)
    return float(np.where(nearer, 0.0, 1 / (own * (1 + 1e-9) + 1e-9 >= D).sum(axis=1)).mean())


def files(kind: str, n: int = 300):
    rng = np.random.default_rng(3)
    Y = rng.lognormal(size=(n, 3))
    made = {
        "noise": Y + 0.2 * rng.normal(size=Y.shape),
        "copy": Y,
        "unrelated": rng.lognormal(size=Y.shape),
        "one value": np.zeros_like(Y),
        "whole numbers": np.rint(Y),
        "collinear": Y[:, [0, 0, 0]] * [1.0, 2.0, 3.0],
    }
    return (np.rint(Y) if kind == "whole numbers" else Y), made[kind]


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("kind", ["noise", "copy", "unrelated", "one value", "whole numbers", "collinear"])
def test_the_tree_finds_what_all_pairs_show(kind: str, compiled: bool, monkeypatch: pytest.MonkeyPatch):
    Y, Ystar = files(kind)
    truth = straightforward(Y, Ystar)
    assert linkage.distance_linkage(Y, Ystar) == pytest.approx(truth, abs=1e-12)
    monkeypatch.setattr(linkage, "SMALL", 0)
    if not compiled:
        monkeypatch.setattr(nearer, "COMPILED", False)
    assert linkage.distance_linkage(Y, Ystar) == pytest.approx(truth, abs=1e-12)


def test_some_records_are_looked_for_among_all_with_their_interval(monkeypatch: pytest.MonkeyPatch):
    Y, Ystar = files("noise")
    monkeypatch.setattr(linkage, "TRIED", 150)
    found = linkage._looked_for(FilePair.of_arrays(Y, Ystar))
    assert found.parts["low"] < linkage.distance_linkage(Y, Ystar) < found.parts["high"]
    assert "150 records" in found.said
