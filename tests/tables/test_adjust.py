"""Adjusted tables: Cox's own, sums to the last bit, statistics exactly, and what is said where nothing fits."""

from __future__ import annotations

import signal
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from suffice.errors import GuardError, InfeasibleError, InputError, UsageError
from suffice.release.tables import publish
from suffice.seed import Seed
from suffice.statistics.safe_cells import SafeCells
from suffice.tables.adjust.adjust import Adjustment, adjust
from suffice.tables.adjust.kernel import TableKernel
from suffice.tables.adjust.search import AdjustmentSearch
from suffice.tables.adjust.whole import network
from suffice.tables.columns import columns_of_file, numbers_of
from suffice.tables.methods.adjust import Adjust
from suffice.tables.pattern import levels_of
from suffice.tables.sensitivity import Prior, Sensitivity, find_sensitive
from suffice.tables.solver import Contradiction, NoAnswer
from suffice.tables.table import Table
from tests.places import SHARED, needs_shared

ACCEPT = {"least-sizes": "a test"}
CODES = ["plane", "row", "column"]


def levels(value: str, p: np.ndarray) -> Sensitivity:
    """Sensitive cells with the same level below and above."""
    return Sensitivity(value, p > 0, p, p, tuple(() for _ in p), p < 0, p)


def cox() -> tuple[Table, Sensitivity, dict[str, list[int]]]:
    """The table of Cox, Kelly and Patil, its levels, and the inner cells of its planes."""
    assert SHARED is not None
    path = SHARED / "data" / "cox-kelly-patil-2005.csv"
    table = Table.of_cells(path, CODES, ["value"], total="total")
    p = np.nan_to_num(numbers_of(columns_of_file(path, ["protection"]), "protection", True))
    inner = np.setdiff1d(np.arange(len(table)), table.totals)
    plane = table.grid.codes[inner, 0]
    words = table.grid.axes[0].codes
    return table, levels("value", p), {words[k]: inner[plane == k].tolist() for k in sorted(set(plane.tolist()))}


def made(seed: int = 1, shape: tuple[int, ...] = (4, 6), secret: int = 4, names: tuple[str, ...] = ("v",)) -> Table:
    rng = np.random.default_rng(seed)
    places = np.stack(np.unravel_index(np.arange(np.prod(shape)), shape), axis=1)
    data: dict[str, Any] = {f"d{k}": [f"{k}-{code}" for code in codes] for k, codes in enumerate(places.T)}
    values = {name: np.rint(rng.lognormal(6, 1, len(places))) + 20 for name in names}
    return Table.of_records({**data, **values}, list(data), list(names))


def some(table: Table, value: str = "v", secret: int = 4, seed: int = 1) -> Sensitivity:
    rng = np.random.default_rng(seed)
    inner = np.setdiff1d(np.arange(len(table)), table.totals)
    p = np.ceil(rng.uniform(0.05, 0.15, len(table)) * table.values[value])
    return levels(value, np.where(np.isin(np.arange(len(table)), rng.choice(inner, secret, replace=False)), p, 0.0))


def holds(found: Adjustment) -> bool:
    return found.unsafe == 0 and found.error == 0 and all((found.cells(name) >= 0).all() for name in found.values)


@needs_shared
def test_the_least_changes_of_coxs_table_are_proven():
    table, secret, _ = cox()
    found = adjust(table, secret, sizes="least", accept=ACCEPT, seed=Seed.for_tests(2))
    print(found.text())
    assert found.cost == pytest.approx(2420, abs=1e-6)
    assert found.gap < 1e-6
    assert holds(found)
    assert "proven" in found.text()
    assert (found.changes["value"] == np.rint(found.changes["value"])).all()
    assert (found.changes["value"][table.values["value"] == 0] == 0).all()


@needs_shared
@pytest.mark.parametrize(("objective", "least"), [("relative", 2.22318), ("l2", 105_028.7), ("largest", 91)])
def test_other_objectives_on_coxs_table(objective: str, least: float):
    table, secret, _ = cox()
    found = adjust(table, secret, objective=objective, sizes="least", accept=ACCEPT, seed=Seed.for_tests(2))
    assert found.cost <= least * (1 + 1e-5)
    assert holds(found)
    assert np.isnan(found.bound) if objective == "l2" else found.gap < 1e-6
    assert ("best found" in found.text()) == (objective == "l2")


@needs_shared
def test_where_coxs_table_has_no_answer_the_plane_and_the_column_are_named():
    table, secret, _ = cox()
    least: dict[str, Any] = {"sizes": "least", "accept": ACCEPT}
    with pytest.raises(InfeasibleError, match=r"plane p2, column c4 \(over row\) cannot hold") as told:
        adjust(table, secret, q=1, **least)
    assert "a larger q than 1, such as 1.5" in str(told.value)
    with pytest.raises(InfeasibleError, match="plane p2, column c4"):
        adjust(table, secret, signs="ordering", repair=False, **least)
    found = adjust(table, secret, signs="ordering", **least)
    assert holds(found)
    assert found.freed == 8
    assert "8 smallest" in found.text()


@needs_shared
def test_moments_of_coxs_planes_are_kept_exactly():
    table, secret, planes = cox()
    found = adjust(table, secret, keep="moments", sets=planes, seed=Seed.for_tests(3))
    print(found.text())
    assert holds(found)
    assert len(found.kept) == 9
    assert max(ratio for _, ratio in found.kept.values()) <= 30
    y = found.changes["value"]
    p = secret.upper
    assert (np.abs(y)[secret.sensitive] <= 2 * p[secret.sensitive] * (1 + 1e-9)).all()
    assert (np.abs(y) <= table.values["value"])[~secret.sensitive].all()
    before, after = (np.cov([x[planes[name]] for name in planes]) for x in (table.values["value"], found.cells()))
    assert np.abs(after - before).max() < 1e-13 * before.max()


def test_variance_and_slope_cannot_both_be_kept():
    """Var(a + y) = Var(a) has the slope 1 - Var(y) / (2 Var(a))."""
    table = made(2, (5, 6))
    inner = np.setdiff1d(np.arange(len(table)), table.totals)
    a = table.values["v"][inner]
    for keep in ("moments", "slope"):
        found = adjust(table, some(table), keep=keep, seed=Seed.for_tests(1))
        x, y = found.cells()[inner], found.changes["v"][inner]
        slope = np.cov(a, x, ddof=0)[0, 1] / a.var()
        assert slope == pytest.approx(1 - y.var() / (2 * a.var()) if keep == "moments" else 1, abs=1e-13)
        assert x.mean() == pytest.approx(a.mean(), rel=1e-15)
        assert (abs(x.var() / a.var() - 1) < 1e-13) == (keep == "moments")


def test_covariances_between_values_are_kept():
    table = made(3, (5, 7), names=("v", "w"))
    secret = [some(table, "v"), some(table, "w", seed=2)]
    found = adjust(table, secret, keep="moments", seed=Seed.for_tests(1))
    inner = np.setdiff1d(np.arange(len(table)), table.totals)
    before, after = (
        np.cov([each(name)[inner] for name in ("v", "w")]) for each in (lambda n: table.values[n], found.cells)
    )
    assert holds(found)
    assert np.abs(after / before - 1).max() < 1e-13
    assert "the covariance of v and w: exact" in found.text()


@pytest.mark.parametrize("seed", range(6))
def test_sums_hold_to_the_last_bit(seed: int):
    table = [made(seed, (5, 6)), made(seed, (3, 3, 4)), made(seed, (12,))][seed % 3]
    for objective in ("l1", "l2"):
        found = adjust(
            table, some(table, seed=seed, secret=3), objective=objective, seed=Seed.for_tests(seed), gap=0.01
        )
        assert holds(found)
        assert (table.relations @ found.cells() == 0).all()


def linked() -> Table:
    rng = np.random.default_rng(1)
    n = 60
    data = {name: rng.integers(0, k, n).astype(str) for name, k in (("a", 4), ("b", 3), ("c", 3))}
    data["v"] = np.rint(rng.lognormal(5, 1, n))
    cells = [Table.of_records(data, ["a", other], ["v"]) for other in ("b", "c")]
    return Table.linked([replace(each, contributors=None, holding=None) for each in cells])


def test_sums_of_linked_tables_hold_to_the_last_bit():
    table = linked()
    kernel = TableKernel(table)
    assert np.abs(table.relations @ kernel.sums).max() == 0
    rank = np.linalg.matrix_rank(table.relations.toarray())
    assert len(kernel.free) == len(table) - rank
    found = adjust(table, some(table, secret=3), seed=Seed.for_tests(2))
    assert holds(found)
    assert (table.relations @ found.cells() == 0).all()


def test_whole_numbers_stay_whole_and_errors_are_said():
    table = made(4, (3, 4, 4))
    found = adjust(table, some(table), keep="moments", whole=True, seed=Seed.for_tests(1))
    assert (found.cells() == np.rint(found.cells())).all()
    assert holds(found)
    assert "standard deviations" in found.text()


def test_bounds_capacities_and_fixed_cells_are_kept():
    table = made(5, (4, 5))
    secret, a = some(table), table.values["v"]
    grand = table.find("Total", "Total")
    room = {"v": np.where(secret.sensitive, 0.0, 0.3 * a)}
    known = {"v": (0.7 * a, 1.2 * a)}
    found = adjust(table, secret, capacity=room, fixed=[grand], known=known, seed=Seed.for_tests(1))
    y = found.changes["v"]
    assert holds(found)
    assert y[grand] == 0
    assert (np.abs(y) <= 0.3 * a + 1e-6)[~secret.sensitive].all()
    assert ((y >= -0.3 * a - 1e-6) & (y <= 0.2 * a + 1e-6)).all()


def test_bounds_are_not_forgiven_by_what_the_largest_cell_would_not_feel():
    """Beside a cell of 1e12 the capacity of another was once exceeded by a thousand."""
    inner = {"x": 40.0, "y": 60.0, "z": 70.0, "giant": 1e12}
    cells = {"a": ["Total", *inner], "v": [sum(inner.values()), *inner.values()]}
    table = Table.of_cells(cells, ["a"], ["v"])
    secret = find_sensitive(table, [], "v", priors=[Prior(("x",), "unsafe", lower=6, upper=6)])
    room = {"v": np.array([0.0, 0, 4, 3, 0])}
    with pytest.raises(InfeasibleError, match="cannot hold"):
        adjust(table, secret, capacity={"v": np.array([0.0, 0, 2, 3, 0])}, q=1.5)
    y = adjust(table, secret, capacity=room, fixed=[table.find("Total")], seed=Seed.for_tests(1)).changes["v"]
    assert y.sum() == 0
    assert (np.abs(y[2:]) <= room["v"][2:] * (1 + 1e-6)).all()


@pytest.mark.parametrize("unit", [1.0, 0.01, 0.25])
def test_the_decimals_of_a_text_file_add_up_exactly(unit: float):
    table = made(11, (4, 5))
    inner = np.setdiff1d(np.arange(len(table)), table.totals)
    sums = TableKernel(table).sums @ np.round(table.values["v"][inner] * unit, 2)  # of cents, with rounding digits
    table = replace(table, values={"v": sums}, contributors=None, holding=None)
    found = adjust(table, some(table), seed=Seed.for_tests(3))
    assert found.unsafe == 0
    assert found.printed
    assert (found.error == 0) == (unit != 0.01) or found.error < 1e-15
    assert "in the decimals of a text file: exact" in found.text()
    assert max(len(repr(cell)) for cell in found.cells().tolist()) <= 17


def test_whole_numbers_of_a_table_with_two_dimensions_are_neighbours():
    """Equations that are a network always have such a rounding."""
    table = made(4, (5, 6))
    assert network(table.relations) is not None
    assert network(made(4, (3, 3, 3)).relations) is None
    tails, heads = (np.array(end) for end in network(table.relations) or ())
    flow = np.zeros(table.relations.shape[0] + 1)
    np.add.at(flow, tails, table.values["v"])
    np.add.at(flow, heads, -table.values["v"])
    assert (flow[:-1] == 0).all()
    for key in range(3):
        how: dict[str, Any] = {"keep": "moments", "seed": Seed.for_tests(key)}
        found, real = adjust(table, some(table), whole=True, **how), adjust(table, some(table), **how)
        assert (found.cells() == np.rint(found.cells())).all()
        assert holds(found)
        assert real.statistics is not None


def test_levels_below_and_above_may_differ():
    table = made(6, (4, 5))
    secret = some(table)
    apart = replace(secret, lower=0.5 * secret.lower)
    y = adjust(table, apart, sizes="least", accept=ACCEPT).changes["v"][secret.sensitive]
    p = secret.upper[secret.sensitive]
    assert ((y >= p - 1e-6) | (y <= 1e-6 - 0.5 * p)).all()


def test_a_cell_that_is_less_than_its_level_goes_up():
    """Down it could only be zero, each time: nearer than its level, and no secret."""
    cells = {"a": ["Total", "x", "y", "z"], "v": [105.0, 5.0, 40.0, 60.0], "p": [0.0, 8.0, 0.0, 0.0]}
    table = Table.of_cells({name: cells[name] for name in "av"}, ["a"], ["v"])
    secret = levels_of(table, pa.table(cells), "v", "p")
    made = [adjust(table, secret, seed=Seed.for_tests(key)) for key in range(6)]
    assert all(each.cells()[1] >= 13 for each in made)
    assert len({float(each.cells()[1]) for each in made}) == 6
    assert {each.one_way for each in made} == {1}
    none = np.zeros(len(table), dtype=bool)
    (said,) = (
        each for each in publish(table, none, secret, "v", method="adjust").findings if each.rule == "directions"
    )
    assert said.level == "warn"
    assert "1 sensitive cell could go in one direction only" in said.message


def test_blocks_give_a_safe_table():
    table = made(7, (8, 9))
    secret = some(table, secret=14)
    found = adjust(table, secret, signs="blocks", seed=Seed.for_tests(1), seconds=5)
    least = adjust(table, secret, seed=Seed.for_tests(1), gap=0.02)
    assert holds(found)
    assert least.bound <= found.cost <= 1.3 * least.cost
    assert np.isnan(found.gap)
    assert "best found" in found.text()


def test_what_stands_against_a_statistic_is_named():
    table = made(8, (2, 2), secret=1)
    inner = np.setdiff1d(np.arange(len(table)), table.totals)
    with pytest.raises(InfeasibleError, match="cannot be kept") as told:
        adjust(
            table,
            some(table, secret=1),
            keep="means",
            sets={"alone": [int(np.flatnonzero(some(table, secret=1).sensitive)[0])]},
        )
    assert "the mean of alone" in str(told.value)
    assert "fewer statistics kept" in str(told.value)
    a, secret = table.values["v"], some(table, secret=1)
    with pytest.raises(InfeasibleError, match=r"possible: wider bounds of what everybody knows\."):
        adjust(table, secret, known={"v": (0.99 * a, 1.01 * a)})
    with pytest.raises(InfeasibleError, match="larger capacities"):
        adjust(table, some(table, secret=1), fixed=[c for c in range(len(table)) if c not in inner], capacity=0.0)


def test_second_moments_are_let_go_before_means():
    table = Table.of_cells({"a": ["Total", "x", "y", "z"], "v": [70.0, 10.0, 20.0, 40.0]}, ["a"], ["v"])
    secret = find_sensitive(table, [], "v", priors=[Prior(("x",), "unsafe", lower=2, upper=2)])
    pair = {"xy": [1, 2]}  # with the mean of two cells kept, both of their second moments must change
    assert holds(adjust(table, secret, keep="means", sets=pair, seed=Seed.for_tests(1)))
    for keep, words in (("slope", "fits: the slope of xy cannot"), ("moments", "found: the variance of xy could not")):
        with pytest.raises(InfeasibleError, match=rf"{words} be kept\.\n"):
            adjust(table, secret, keep=keep, sets=pair, seed=Seed.for_tests(1))


def test_equations_that_fit_only_in_their_linear_parts_are_named():
    table = Table.of_cells({"a": ["Total", "x", "y", "z"], "v": [70.0, 10.0, 20.0, 40.0]}, ["a"], ["v"])
    secret = find_sensitive(table, [], "v", priors=[Prior(("x",), "unsafe", lower=2, upper=2)])
    how: dict[str, Any] = {"q": 1, "sizes": "least", "accept": {"least-sizes": "a test"}, "keep": "moments"}
    ends = {"v": (np.zeros(4), np.array([100.0, 10, 100, 100]))}  # x goes down by 2, so that y goes up by 3.45
    adjust(table, secret, known=ends, capacity={"v": np.array([100.0, 2, 3.5, 2])}, **how)
    with pytest.raises(InfeasibleError, match=r"variance of v could not be kept\.\nOne of these may .* capacities"):
        adjust(table, secret, known=ends, capacity={"v": np.array([100.0, 2, 3.2, 2])}, **how)


def test_other_directions_are_tried_where_some_have_no_exact_moments(monkeypatch: pytest.MonkeyPatch):
    table = made(2, (4, 6))
    secret = some(table, secret=10, seed=2)

    how: dict[str, Any] = {"keep": "moments", "gap": 0.05, "seed": Seed.for_tests(0)}
    chosen = AdjustmentSearch._chosen
    with monkeypatch.context() as without:
        without.setattr(AdjustmentSearch, "_chosen", once(chosen))
        assert holds(adjust(table, secret, **how))  # cells that leave their bounds are held, and no others are needed
    monkeypatch.setattr("suffice.tables.adjust.moments.HOLDS", 1)
    assert holds(adjust(table, secret, **how))
    monkeypatch.setattr(AdjustmentSearch, "_chosen", once(chosen))
    monkeypatch.setattr("suffice.tables.adjust.easing._at_levels", lambda _: None)  # nor smaller sizes
    with pytest.raises(InfeasibleError, match=r"exact moments: .* the first: v of d0=.*\nRaise q"):
        adjust(table, secret, **how)


def test_moments_are_kept_where_no_changes_have_their_linear_parts():
    """The variance needs L(y) = - y'y / 2, below zero: that L(y) = 0 has no answer is no proof."""
    table = made(3, (4, 5))
    secret = some(table, secret=2, seed=3)
    with pytest.raises(InfeasibleError, match="the slope of v cannot be kept"):  # L(y) = 0 itself
        adjust(table, secret, keep="slope", seed=Seed.for_tests(0))
    found = adjust(table, secret, keep="moments", seed=Seed.for_tests(0))
    assert holds(found)
    assert max(ratio for _, ratio in found.kept.values()) <= 30


TIGHT = [((4, 5), 3, 2, 1.0), ((3, 4), 11, 2, 0.1), ((4, 5), 7, 4, 0.2), ((4, 5), 10, 1, 0.05)]


@pytest.mark.parametrize(("shape", "number", "secret", "capacity"), TIGHT)
def test_exact_moments_are_found_for_every_key_or_none(
    shape: tuple[int, ...], number: int, secret: int, capacity: float
):
    """They have room for the levels, and not for all sizes up to half above: smaller ones are drawn."""
    table = made(number, shape)
    tight, parts = some(table, secret=secret, seed=number), set[float]()
    p, none = tight.upper[tight.sensitive], np.zeros(len(table), dtype=bool)
    for key in range(10):
        found = adjust(table, tight, keep="moments", capacity=capacity, seed=Seed.for_tests(key))
        assert holds(found)
        assert max(ratio for _, ratio in found.kept.values()) <= 30
        parts.add(found.reach)
        assert (np.abs(found.changes["v"][tight.sensitive]) > p).all()
        assert ("they are drawn from the first" in found.text()) == (found.reach < 1)
        if found.reach < 1 and len(parts) == 2:
            method = Adjust(keep="moments", capacity=capacity)
            release = publish(table, none, tight, "v", method=method, seed=Seed.for_tests(key))
            assert ("least-sizes", "warn") in [(each.rule, each.level) for each in release.findings]
    assert len(parts) == 2  # one part for all keys that need it
    assert min(parts) in (0.5, 0.25)
    for key in range(3):
        with pytest.raises(InfeasibleError, match=r"could not be kept|cannot hold"):
            adjust(table, tight, keep="moments", capacity=0.1 * capacity, seed=Seed.for_tests(key))


def test_sizes_that_only_the_levels_have_room_for_are_not_released(monkeypatch: pytest.MonkeyPatch):
    table = made(3, (4, 5))
    tight, none = some(table, secret=2, seed=3), np.zeros(len(table), dtype=bool)
    how: dict[str, Any] = {"seed": Seed.for_tests(1)}
    with monkeypatch.context() as near:
        near.setattr("suffice.tables.adjust.easing.REACHES", (1 / 64,))
        findings = publish(table, none, tight, "v", method=Adjust(keep="moments"), **how).findings
        assert ("least-sizes", "stop") in [(each.rule, each.level) for each in findings]
    monkeypatch.setattr("suffice.tables.adjust.easing.REACHES", ())
    with pytest.raises(InfeasibleError, match="no more than their levels, which would tell them"):
        adjust(table, tight, keep="moments", **how)


def once(chosen: Any) -> Any:
    """Directions as they are found first, and no others."""
    calls = list[int]()

    def found(*given: Any) -> Any:
        calls.append(1)
        if len(calls) > 1:
            raise NoAnswer("no others")
        return chosen(*given)

    return found


def test_no_time_no_table_and_a_listener_may_end_it():
    table = made(9, (10, 10))
    with pytest.raises(InfeasibleError, match="time"):
        adjust(table, some(table, secret=30), seconds=1e-6)

    def stop(*_: object) -> None:
        raise LookupError

    with pytest.raises(LookupError):
        adjust(table, some(table, secret=30), progress=stop)


@pytest.mark.parametrize("by", ["an exception", "a signal"])
def test_an_interrupt_by_hand_gives_the_best_found_and_says_so(by: str):
    table, told = made(9, (10, 10)), list[str]()

    def stop(stage: str, done: int, of: int) -> None:
        told.append(stage)
        if by == "an exception":
            raise KeyboardInterrupt
        if len(told) == 1:
            signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # work in the background ignores it
    try:
        found = adjust(table, some(table, secret=30), progress=stop, seed=Seed.for_tests(1))
    finally:
        signal.signal(signal.SIGINT, before)
    assert holds(found)
    assert found.stopped
    assert "ended by hand" in found.text()
    assert told


def test_an_interrupt_before_anything_is_found_leaves_no_table(monkeypatch: pytest.MonkeyPatch):
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    def none(problem: object) -> None:
        raise Contradiction("no start")

    monkeypatch.setattr("suffice.tables.adjust.signs.alternating", none)
    table = made(9, (10, 10))
    with pytest.raises(KeyboardInterrupt):
        adjust(table, some(table, secret=30), keep="slope", progress=stop, seed=Seed.for_tests(1))


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"objective": "l3"}, "objective is one of"),
        ({"keep": "all"}, "keep is one of"),
        ({"q": 1.2}, "q is at least"),
        ({"capacity": -1.0}, "Capacities"),
        ({"keep": "means", "sets": {"none": []}}, "'none' is empty"),
    ],
)
def test_requests_that_make_no_sense(asked: dict[str, Any], sentence: str):
    table = made()
    with pytest.raises(UsageError, match=sentence):
        adjust(table, some(table), **asked)


def test_cells_that_cannot_be_adjusted():
    table = made()
    secret = some(table)
    cell = int(np.flatnonzero(secret.sensitive)[0])
    with pytest.raises(InputError, match="fixed"):
        adjust(table, secret, fixed=[cell])
    with pytest.raises(InputError, match="no protection level"):
        adjust(table, replace(secret, upper=0 * secret.upper))
    with pytest.raises(GuardError, match="least-sizes"):
        adjust(table, secret, sizes="least")


def test_a_key_decides_and_no_value_is_printed():
    table = made()
    one, same, other = (adjust(table, some(table), seed=Seed.for_tests(k)) for k in (1, 1, 2))
    assert (one.changes["v"] == same.changes["v"]).all()
    assert (one.changes["v"] != other.changes["v"]).any()
    assert repr(one).startswith("<")


def test_other_cells_and_levels_have_other_numbers_of_the_same_key():
    """What is learnt of the sizes of one table tells nothing of those of the next year's."""
    table = made()
    secret = some(table)
    shares = []
    for factor, more in ((1.0, 1.0), (2.0, 1.0), (1.0, 1.1)):
        other = replace(table, values={"v": factor * table.values["v"]}, contributors=None, holding=None)
        level = factor * more * secret.upper
        y = adjust(other, replace(secret, lower=level, upper=level), seed=Seed.for_tests(1)).changes["v"]
        shares.append((np.abs(y) / np.where(level > 0, level, 1))[secret.sensitive])
    assert min(np.abs(shares[0] - shares[k]).max() for k in (1, 2)) > 0.01


@pytest.mark.parametrize("size", [1e3, 1e9, 1e11, 1e13])
def test_small_cells_beside_huge_ones_are_moved_by_the_size_that_was_drawn(size: float) -> None:
    inner = np.array([[10.0, size], [15.0, 2 * size], [12.0, 3 * size]])
    full = np.pad(inner, ((0, 1), (0, 1)))
    full[-1], full[:, -1] = full.sum(axis=0), full.sum(axis=1)
    full[-1, -1] = inner.sum()
    rows, columns = ["x", "y", "z", "Total"], ["u", "w", "Total"]
    codes = [(a, b) for a in rows for b in columns]
    cells = {"a": [a for a, _ in codes], "b": [b for _, b in codes], "v": full.ravel().tolist()}
    table = Table.of_cells(cells, ["a", "b"], ["v"])
    secret = find_sensitive(table, [], "v", priors=[Prior(("x", "u"), "unsafe", lower=2, upper=2)])
    moved = []
    for key in range(3):
        made = adjust(table, secret, seed=Seed.for_tests(key))
        assert made.error == 0
        assert made.unsafe == 0
        moved.append(abs(made.changes["v"][table.find("x", "u")]))
    assert min(moved) >= 2 * (1 - 1e-2)
    assert max(moved) <= 3 * (1 + 1e-2)
    assert len(set(moved)) == 3


def test_a_cell_that_did_not_move_is_unsafe_however_large_others_are() -> None:
    before = np.array([[10.0], [1e13]])
    safe = SafeCells(np.array([[True], [False]]), np.full((2, 1), 2.0), np.full((2, 1), 2.0), ["x", "y"])
    assert safe.near(before, before).sum() == 1
    assert not safe.near(before, np.array([[12.0], [1e13]])).any()
