"""Values that many records share, in a walk whose values are all different."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from suffice.algebra.array import Array
from suffice.method.records import Records
from suffice.microdata import Rotate
from suffice.seed import Seed
from suffice.utility.kolmogorov_smirnov import kolmogorov_smirnov
from tests.algorithms.rotation.cases import limits
from tests.algorithms.rotation.test_law import money
from tests.tolerances import ALGEBRA, CHANCE
from tests.truth import ratios

N, VALUE = 300, 1.25


def heaped(given: int = 0, total: bool = False) -> Records:
    """A fifth of the records at one value of the first column; total: the last one is the sum of the others."""
    rng = np.random.default_rng(4)
    Y = money(N, 2)
    Y[rng.permutation(N)[: N // 5], 0] = VALUE
    Y = np.column_stack([Y, Y.sum(axis=1)]) if total else Y
    X = np.hstack([np.ones((N, 1)), rng.normal(size=(N, given))])
    return Records(X, Y, Y, limits=limits(Y, 0.0))


def walked(task: Records, **chosen: int) -> Array:
    walk = Rotate(**chosen).walk(task, Seed.for_tests(2).derive("heaps"))  # type: ignore[arg-type]
    assert not walk.unmoved
    return walk.Ystar


@pytest.mark.parametrize("given", [0, 1])
def test_a_heap_is_given_back_and_the_moments_are_kept(given: int) -> None:
    task = heaped(given)
    made, X = walked(task), task.X[:, 1:]
    assert max(ratios(X, task.Y, X, made).values()) <= ALGEBRA
    assert (made >= 0).all()
    assert abs((made[:, 0] == VALUE).mean() - 0.2) < 0.06
    assert kolmogorov_smirnov(task.Y, made)[0] < 0.08
    assert kolmogorov_smirnov(task.Y, walked(task, sweeps=30))[0] > 0.09  # half of the heap, at least
    assert len(np.unique(made[:, 1])) == N


def test_who_is_on_a_heap_is_not_told() -> None:
    task = heaped()
    together = np.corrcoef((walked(task)[:, 0] == VALUE).astype(float), task.Y[:, 0] == VALUE)[0, 1]
    assert abs(together) < CHANCE / np.sqrt(N)


def test_columns_of_edits_and_sums_have_none() -> None:
    """One cell put elsewhere would break them."""
    assert not (walked(heaped(total=True)) == VALUE).any()
    task = heaped()
    C = np.array([[1.0, -20.0]])
    bound = replace(limits(task.Y, 0.0), C=C, rhs=np.full((N, 1), (task.Y @ C.T).max() + 1), names=("edit",))
    assert not (walked(replace(task, limits=bound)) == VALUE).any()


def test_a_value_of_few_records_or_of_most_is_no_heap() -> None:
    few, most = money(N, 2), money(N, 2)
    few[:14, 0] = VALUE
    most[: int(0.6 * N), 0] = VALUE
    for Y in (few, most):
        assert not (walked(Records(np.ones((N, 1)), Y, Y, limits=limits(Y, 0.0))) == VALUE).any()
