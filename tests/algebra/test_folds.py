"""Every fold is a monoid: associative, with an identity where it has one, and its sum is the value of all rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from itertools import pairwise, product
from operator import add
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from suffice.algebra.array import Array
from suffice.algebra.factor import RFactor
from suffice.algebra.isometry import Sample
from suffice.algebra.moments import Moments, Spread
from suffice.design.levels import Levels
from suffice.risk.leverage import Peak, Peaks
from suffice.rows.digest import Digest
from suffice.rows.multiset import Multiset
from suffice.rows.rows import Block, Product, spans
from suffice.rows.sightings import Sightings
from suffice.rows.threads import ahead
from tests.tolerances import ENGINE

NAMES = ["x", "y", "g"]


def blocks(seed: int, sizes: list[int], offset: float = 0.0) -> list[Block]:
    """Consecutive rows of one file, of any sizes."""
    rng = np.random.default_rng(seed)
    cut = np.cumsum([0, *sizes])
    x, y = rng.normal(size=cut[-1]) + offset, rng.integers(0, 3, cut[-1])
    g = pa.array(rng.choice(["a", "b", None], cut[-1]), pa.string())
    return [Block(int(a), {"x": x[a:b], "y": y[a:b], "g": g[a:b]}) for a, b in pairwise(cut)]


def joined(parts: list[Block]) -> Block:
    columns = {name: np.concatenate([part.columns[name] for part in parts]) for name in ("x", "y")}
    return Block(0, {**columns, "g": pa.concat_arrays([part.columns["g"] for part in parts])})


def matrix(block: Block) -> Array:
    return np.column_stack([block.columns["x"], block.columns["y"], np.ones(len(block))]).astype(float)


def weight(block: Block) -> Array:
    return np.abs(block.columns["x"]) * (block.columns["y"] > 0)  # zero in places


FOLDS: dict[str, Callable[[Block], Any]] = {
    "factor": lambda block: RFactor.of(matrix(block)),
    "spread": lambda block: Spread.of(matrix(block)),
    "weighted spread": lambda block: Spread.of(matrix(block), weight(block)),
    "moments": lambda block: Moments.of(matrix(block)),
    "weighted moments": lambda block: Moments.of(matrix(block), weight(block)),
    "sample": lambda block: Sample.of(matrix(block)),
    "weighted sample": lambda block: Sample.of(matrix(block), weight(block)),
    "multiset": lambda block: Multiset.of(block, NAMES),
    "levels of text": lambda block: Levels.of(block.columns["g"], block.start),
    "levels of numbers": lambda block: Levels.of(block.columns["y"], block.start),
    "sightings": lambda block: Sightings.of(block.columns["x"] > 1, block.start),
    "digest": lambda block: Digest.of(block, NAMES),
    "leverage": lambda block: Peaks((len(block), 1, 0), Peak(float(block.columns["x"].max()), block.start)),
    "both": lambda block: Product(Moments.of(matrix(block)), Multiset.of(block, NAMES)),
}
UNCUT = {name: of for name, of in FOLDS.items() if name not in ("sample", "weighted sample", "digest", "leverage")}
"""Folds whose sum does not tell where the rows were cut."""
EMPTY = {
    "factor": RFactor.empty(3),
    "sample": Sample(),
    "weighted sample": Sample(),
    "multiset": Multiset(0, 0, 0),
    "levels of text": Levels(),
    "levels of numbers": Levels(),
    "sightings": Sightings(),
}
cuts = st.lists(st.integers(1, 60), min_size=1, max_size=6)


def seen(value: Any) -> Any:
    """A fold as plain values; a triangle by its Gram matrix, since its signs are free."""
    match value:
        case RFactor():
            return [value.rows, value.R.T @ value.R]
        case Spread():
            return [value.rows, value.weight, value.mean, value.squares, value.low, value.high]
        case Moments():
            return [value.rows, value.weight, value.sums, value.products]
        case Sample():
            about = [value.about(np.array([0.5, 1.0, 0.0]))] if value.parts else []
            return [len(value.parts), *(R.T @ R for R in about)]
        case Product():
            return [each for part in value for each in seen(part)]
        case _:
            return [value]


def same(one: Any, two: Any) -> bool:
    pairs = zip(seen(one), seen(two), strict=True)
    return all(
        bool((np.abs(a - b) <= ENGINE * (1 + np.abs(b))).all()) if isinstance(a, float | np.ndarray) else a == b
        for a, b in pairs
    )


@pytest.mark.parametrize("name", FOLDS)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), sizes=st.lists(st.integers(1, 60), min_size=3, max_size=3))
def test_merging_is_associative(name: str, seed: int, sizes: list[int]) -> None:
    a, b, c = map(FOLDS[name], blocks(seed, sizes))
    assert same((a + b) + c, a + (b + c))


@pytest.mark.parametrize("name", UNCUT)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), sizes=cuts)
@example(seed=0, sizes=[1, 1])  # no weight at all
def test_the_sum_of_blocks_is_the_value_of_all_rows(name: str, seed: int, sizes: list[int]) -> None:
    parts = blocks(seed, sizes)
    assert same(reduce(add, map(FOLDS[name], parts)), FOLDS[name](joined(parts)))


@pytest.mark.parametrize("name", EMPTY)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32), size=st.integers(1, 60))
def test_nothing_added_changes_nothing(name: str, seed: int, size: int) -> None:
    value = FOLDS[name](blocks(seed, [size])[0])
    assert same(value + EMPTY[name], value)
    assert same(EMPTY[name] + value, value)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), sizes=cuts)
def test_multisets_do_not_see_order_and_digests_do(seed: int, sizes: list[int]) -> None:
    whole = joined(blocks(seed, sizes))
    turned = Block(0, {name: values[::-1] for name, values in whole.columns.items()})
    assert Multiset.of(whole, NAMES) == Multiset.of(turned, NAMES)
    first = Digest.of(whole, NAMES).column("x")
    assert (first == Digest.of(turned, NAMES).column("x")) == (len(whole) == 1)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32), size=st.integers(2, 40), row=st.integers(0, 39), name=st.sampled_from(NAMES))
def test_one_changed_cell_is_seen(seed: int, size: int, row: int, name: str) -> None:
    whole, row = joined(blocks(seed, [size])), row % size
    columns = dict(whole.columns)
    if name == "g":
        cells = columns["g"].to_pylist()
        columns["g"] = pa.array([*cells[:row], "c", *cells[row + 1 :]], pa.string())
    else:
        columns[name] = columns[name].copy()
        columns[name][row] += 1
    changed = Block(0, columns)
    assert Multiset.of(whole, NAMES) != Multiset.of(changed, NAMES)
    assert Digest.of(whole, NAMES).column(name) != Digest.of(changed, NAMES).column(name)


def test_a_multiset_counts_and_keeps_columns_of_a_row_together() -> None:
    one = Block(0, {"x": np.array([1.0, 2.0]), "y": np.array([1.0, 2.0])})
    crossed = Block(0, {"x": np.array([1.0, 2.0]), "y": np.array([2.0, 1.0])})
    twice = Block(0, {"x": np.array([1.0, 2.0, 2.0]), "y": np.array([1.0, 2.0, 2.0])})
    found = [Multiset.of(block, ["x", "y"]) for block in (one, crossed, twice)]
    assert len({(each.rows, each.one, each.two) for each in found}) == 3


@pytest.mark.parametrize(
    "rows", [product([0.0, 1.0], repeat=12), product(range(60), repeat=2), product(range(16), repeat=3)]
)
def test_a_multiset_tells_every_row_of_small_numbers_apart(rows: Any) -> None:
    table = np.array(list(rows), dtype=float)
    names = [f"x{i}" for i in range(table.shape[1])]
    found = {Multiset.of(Block(0, dict(zip(names, row[:, None], strict=True))), names).one for row in table}
    assert len(found) == len(table)


def test_a_digest_does_not_depend_on_the_type_of_numbers_or_text() -> None:
    numbers = np.array([1, 2, 3])
    assert (
        len({Digest.of(Block(0, {"x": numbers.astype(t)}), ["x"]).column("x") for t in ("i2", "i8", "f4", "f8")}) == 1
    )
    sliced = pa.array(["c", "a", "b"], pa.string())[1:]
    text = [sliced, pa.array(["a", "b"], pa.string())]
    assert len({Digest.of(Block(0, {"g": each}), ["g"]).column("g") for each in text}) == 1


def test_a_digest_of_text_knows_where_a_word_ends() -> None:
    words = [["a", "b"], ["a\0b", "a\0b"], ["ab", ""], ["", "ab"], [None, "ab"], ["None", "ab"], ["a", "a"]]
    found = {Digest.of(Block(0, {"g": pa.array(each, pa.string())}), ["g"]).column("g") for each in words}
    assert len(found) == len(words)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), sizes=cuts, offset=st.sampled_from([0.0, 1e6, 1e9, -1e12]))
def test_spread_is_exact_at_any_offset(seed: int, sizes: list[int], offset: float) -> None:
    parts = blocks(seed, sizes, offset)
    spread = reduce(add, (Spread.of(matrix(part)) for part in parts))
    x = matrix(joined(parts)).astype(np.longdouble)
    mean = x.mean(axis=0)
    squares = ((x - mean) ** 2).sum(axis=0)
    digit = 2e-15 * np.abs(x).max(axis=0)
    assert (np.abs(spread.mean - mean) <= digit).all()
    slack = 1e-13 * squares + len(x) * digit * (np.sqrt(squares / len(x)) + digit)
    assert (np.abs(spread.squares - squares) <= slack).all()
    assert np.array_equal(spread.size, np.abs(x).max(axis=0).astype(float))


@settings(max_examples=30, deadline=None)
@given(value=st.floats(-1e12, 1e12), sizes=cuts, seed=st.integers(0, 2**32))
def test_a_constant_has_no_spread_whatever_the_weights(value: float, sizes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    parts = [Spread.of(np.full((size, 1), value), rng.gamma(1.0, 1e3, size)) for size in sizes]
    spread = reduce(add, parts)
    assert spread.mean[0] == value
    assert spread.squares[0] == 0.0


def test_moments_have_the_covariance_of_numpy() -> None:
    rng = np.random.default_rng(1)
    A, w = rng.normal(size=(100, 3)), rng.gamma(1.0, 1.0, 100)
    expected = np.cov(A.T, aweights=w, ddof=0)
    assert np.allclose(Moments.of(A, w).covariance, expected, rtol=0, atol=1e-14)
    assert np.allclose(Moments.of(A).covariance, np.cov(A.T, ddof=0), rtol=0, atol=1e-14)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_work_ahead_comes_back_in_order(threads: int) -> None:
    assert list(ahead(lambda i: i * i, iter(range(50)), threads)) == [i * i for i in range(50)]
    assert list(ahead(lambda i: i, iter([]), threads)) == []


@given(start=st.integers(0, 50), length=st.integers(0, 200), size=st.integers(1, 60))
def test_spans_cover_every_row_once(start: int, length: int, size: int) -> None:
    found = [row for a, b in spans(start, start + length, size) for row in range(a, b)]
    assert found == list(range(start, start + length))
    assert all(b - a <= size for a, b in spans(start, start + length, size))
