"""What section 6 says of its algorithm, for clusters of all sizes and columns of all ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given as law
from hypothesis import settings
from hypothesis import strategies as st

from suffice.algebra.array import Array
from suffice.algorithms.hybrid.algorithm import hybrid
from suffice.microdata import Ipso
from tests.algorithms.hybrid.cases import Request, asked, crossed, dummies, file, pairs
from tests.algorithms.hybrid.oracle import oracle
from tests.tolerances import ENGINE

MANY = settings(max_examples=40, deadline=None)
SEEDS = st.integers(0, 2**32)
SIZES = st.lists(st.integers(1, 40), min_size=1, max_size=9).map(tuple)
GENEROUS = st.lists(st.integers(16, 40), min_size=2, max_size=8).map(tuple)
MODELS = st.sampled_from(
    (
        ("clusters",),
        ("clusters", "local"),
        ("clusters", "overall"),
        ("clusters", "local", "overall"),
        ("pieces", "local"),
        ("clusters", "pieces", "pieces_given", "overall"),
        ("clusters", "cluster_groups", "groups_given", "local"),
        ("clusters", "pieces", "pieces_given", "cluster_groups", "groups_given", "local", "overall"),
    )
)
FREE = st.sampled_from(
    (
        ("clusters", "overall"),
        ("clusters", "local", "overall"),
        ("clusters", "cluster_groups", "groups_given"),
        ("clusters", "pieces", "cluster_groups", "groups_given", "overall"),
    )
)
COARSE = st.sampled_from((None, 0, 1, 2))


def near(A: Array, B: Array) -> None:
    assert np.abs(A - B).max(initial=0.0) <= ENGINE * max(1.0, np.abs(B).max(initial=0.0))


def rough(Y: Array, given: Request, digits: int | None) -> tuple[Array, Request]:
    """Few different values: columns that are constant or dependent in some clusters, at random."""
    if digits is None:
        return Y, given
    Y = np.round(Y, digits)
    Y[:, 2] = Y[:, 0] - Y[:, 1]
    floats = {part: value for part, value in given.items() if value.dtype == float}
    return Y, given | {part: np.round(value, digits) for part, value in floats.items()}


@MANY
@law(seed=SEEDS, sizes=SIZES, parts=MODELS, digits=COARSE)
def test_it_is_the_algorithm_of_the_paper(seed: int, sizes: tuple[int, ...], parts: Any, digits: int | None) -> None:
    Y, Z, given = file(seed, sizes)
    Y, given = rough(Y, asked(given, *parts), digits)
    near(hybrid(Y, Z, **given).Ystar, oracle(Y, Z, given))


@settings(max_examples=15, deadline=None)
@law(seed=SEEDS, sizes=GENEROUS, parts=FREE, part=st.floats(0.1, 1))
def test_and_so_are_a_b_and_c(seed: int, sizes: tuple[int, ...], parts: Any, part: float) -> None:
    Y, Z, given = file(seed, sizes)
    given = asked(given, *parts)
    largest = hybrid(Y, Z, **given, slopes=0)
    near(largest.Ystar, oracle(Y, Z, given, 0.0))
    alpha = part * min(1.0, 0.999 * largest.largest)
    near(hybrid(Y, Z, **given, slopes=alpha).Ystar, oracle(Y, Z, given, alpha))


@MANY
@law(seed=SEEDS, n=st.integers(8, 60), role=st.sampled_from(("local", "overall")), digits=COARSE)
def test_one_cluster_is_ipso(seed: int, n: int, role: str, digits: int | None) -> None:
    Y, Z, given = file(seed, (n,))
    Y, given = rough(Y, asked(given, role), digits)
    near(hybrid(Y, Z, **given).Ystar, Ipso().solve(np.hstack([np.ones((n, 1)), given[role]]), Y, Z))


@MANY
@law(seed=SEEDS, sizes=st.lists(st.integers(5, 40), min_size=1, max_size=9).map(tuple))
def test_nothing_overall_is_ipso_in_each_cluster(seed: int, sizes: tuple[int, ...]) -> None:
    Y, Z, given = file(seed, sizes)
    found = hybrid(Y, Z, **asked(given, "clusters", "local")).Ystar
    for cluster in range(len(sizes)):
        r = given["clusters"] == cluster
        near(found[r], Ipso().solve(np.hstack([np.ones((r.sum(), 1)), given["local"][r]]), Y[r], Z[r]))


@MANY
@law(seed=SEEDS, sizes=GENEROUS)
def test_pieces_of_one_cluster_are_ipso_with_dummies(seed: int, sizes: tuple[int, ...]) -> None:
    Y, Z, given = file(seed, sizes)
    X = np.hstack([dummies(given["clusters"]), crossed(given["pieces_given"], given["clusters"]), given["local"]])
    request = asked(given, "pieces_given", "local") | {"pieces": given["clusters"]}
    near(hybrid(Y, Z, **request).Ystar, Ipso().solve(X, Y, Z))


@MANY
@law(seed=SEEDS, sizes=SIZES)
def test_groups_are_overall_columns_crossed_with_groups(seed: int, sizes: tuple[int, ...]) -> None:
    Y, Z, given = file(seed, sizes)
    expanded = np.hstack([given["overall"], crossed(given["groups_given"], given["cluster_groups"])])
    request = asked(given, "clusters", "local", "overall", "cluster_groups", "groups_given")
    near(
        hybrid(Y, Z, **request).Ystar,
        hybrid(Y, Z, **asked(given, "clusters", "local"), overall=expanded).Ystar,
    )


@MANY
@law(seed=SEEDS, sizes=SIZES)
def test_pieces_keep_their_sums(seed: int, sizes: tuple[int, ...]) -> None:
    Y, Z, given = file(seed, sizes)
    D = dummies(pairs(given["clusters"], given["pieces"]))
    near(D.T @ hybrid(Y, Z, **asked(given, "clusters", "pieces", "local", "overall")).Ystar, D.T @ Y)


@MANY
@law(seed=SEEDS, sizes=SIZES, parts=MODELS)
def test_order_of_rows_and_names_of_clusters_do_not_matter(seed: int, sizes: tuple[int, ...], parts: Any) -> None:
    Y, Z, given = file(seed, sizes)
    given = asked(given, *parts)
    rng = np.random.default_rng(seed)
    order, names = rng.permutation(len(Y)), rng.permutation(1000)
    moved = {part: value[order] for part, value in given.items()}
    renamed = moved | {part: names[value] for part, value in moved.items() if value.dtype != float}
    near(hybrid(Y[order], Z[order], **renamed).Ystar, hybrid(Y, Z, **given).Ystar[order])


@MANY
@law(seed=SEEDS, sizes=SIZES, parts=MODELS, unit=st.sampled_from((1e-6, 1e6)))
def test_units_of_measure_do_not_matter(seed: int, sizes: tuple[int, ...], parts: Any, unit: float) -> None:
    Y, Z, given = file(seed, sizes)
    given = asked(given, *parts)
    other = {part: value * unit if value.dtype == float else value for part, value in given.items()}
    near(hybrid(Y / unit, Z, **other).Ystar * unit, hybrid(Y, Z, **given).Ystar)


@MANY
@law(seed=SEEDS, sizes=GENEROUS)
def test_equal_weights_are_no_weights_and_a_weight_is_that_many_records(seed: int, sizes: tuple[int, ...]) -> None:
    Y, Z, given = file(seed, sizes)
    given = asked(given, "clusters", "local", "overall")
    near(hybrid(Y, Z, **given, weights=np.full(len(Y), 3.0)).Ystar, hybrid(Y, Z, **given).Ystar)
    times = np.random.default_rng(seed).integers(1, 4, size=len(Y))
    each = {part: np.repeat(value, times, axis=0) for part, value in given.items()}
    more = hybrid(np.repeat(Y, times, axis=0), np.repeat(Z, times, axis=0), **each).Ystar
    near(np.repeat(hybrid(Y, Z, **given, weights=times.astype(float)).Ystar, times, axis=0), more)


def test_where_modification_a_makes_slopes_equal_the_main_algorithm_does_not() -> None:
    Y, Z, given = file()
    request = asked(given, "clusters", "overall")

    def slopes(Ystar: Array) -> Array:
        found = []
        for cluster in range(6):
            r = given["clusters"] == cluster
            X = np.hstack([np.ones((r.sum(), 1)), given["overall"][r]])
            found.append(np.linalg.lstsq(X, Ystar[r], rcond=None)[0][1:])
        return np.array(found)

    assert np.ptp(slopes(hybrid(Y, Z, **request, slopes=0).Ystar), axis=0).max() < 1e-12
    assert np.ptp(slopes(hybrid(Y, Z, **request).Ystar), axis=0).min() > 0.05


def test_the_sum_of_the_parts_is_the_whole() -> None:
    Y, Z, given = file()
    found = hybrid(Y, Z, **asked(given, "clusters", "local", "overall"), slopes=0.5)
    near(found.Yhat1 + found.Yhat2 + found.E3 + found.E4, Y)
    near(found.Yhat1 + found.Yhat2 + found.E3star + found.E4star, found.Ystar)
    assert found.ranks == (12, 2, 10)
    assert found.freedom.tolist() == [22, 27, 20, 23, 25, 29]


def test_progress_ends_at_all_rows() -> None:
    Y, Z, given = file()
    for parts in (("clusters",), ("clusters", "pieces")):
        told: list[tuple[str, int, int]] = []
        hybrid(Y, Z, **asked(given, *parts), progress=lambda *what, told=told: told.append(what))
        assert told[-1] == ("clusters", len(Y), len(Y))
        assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


@pytest.mark.parametrize("many", [1, 7])
def test_size_of_stacks_does_not_matter(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    Y, Z, given = file(sizes=(9,) * 20)
    before = hybrid(Y, Z, **asked(given, "clusters", "local", "overall"), slopes=0.1).Ystar
    monkeypatch.setattr("suffice.algorithms.hybrid.stacks.TOGETHER", many)
    monkeypatch.setattr("suffice.algorithms.hybrid.slopes.TOGETHER", many)
    near(hybrid(Y, Z, **asked(given, "clusters", "local", "overall"), slopes=0.1).Ystar, before)
