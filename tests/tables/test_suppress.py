"""Patterns: the audit holds, nothing that was called needed can go, and small ones are the cheapest."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from suffice.errors import InfeasibleError, InputError, UsageError
from suffice.seed import Seed
from suffice.tables.audit import audit
from suffice.tables.auditor import Auditor
from suffice.tables.rules import (
    DirectDisclosure,
    Dominance,
    FewContributors,
    MinimumFrequency,
    OnRequest,
    PPercent,
    PrimaryRule,
    PriorPosterior,
)
from suffice.tables.sensitivity import Prior, Sensitivity, find_sensitive
from suffice.tables.solver import Answer, Programme
from suffice.tables.suppress.suppression import Suppression, suppress
from suffice.tables.table import Table
from tests.tables.test_reference import CASES as REFERENCE
from tests.tables.test_reference import needs_shared
from tests.tables.test_reference import table_of as reference_table

KEY = Seed.for_tests(1)
SHAPES = {"two": (4, 5), "three": (2, 3, 3), "four": (2, 2, 2, 2)}
RULES: list[PrimaryRule] = [
    FewContributors(3),
    Dominance(1, 80),
    Dominance(2, 90),
    PPercent(15),
    PriorPosterior(20, 60),
    OnRequest(60),
    MinimumFrequency(3),
]


def records(shape: tuple[int, ...], number: int, each: int = 5) -> dict[str, list[object]]:
    """Firms in all cells, some in several of them; a few have asked for protection."""
    rng = np.random.default_rng(number)
    at = np.repeat(np.arange(int(np.prod(shape))), rng.integers(1, each + 1, int(np.prod(shape))))
    codes = np.unravel_index(at, shape)
    firm = rng.integers(0, 2 * len(at), len(at))
    data: dict[str, list[object]] = {f"d{k}": [f"{c}" for c in some] for k, some in enumerate(codes)}
    value = np.rint(rng.lognormal(3, 1.2, len(at))) + 1
    return data | {"v": value.tolist(), "firm": firm.tolist(), "asked": (firm % 3 == 0).tolist()}


def firms(shape: tuple[int, ...], number: int, hierarchy: bool = False) -> Table:
    data = records(shape, number)
    tree = {"d0": ["Total", ["g", "0", "1"], "2", "3"]} if hierarchy else None
    dims = [name for name in data if name.startswith("d")]
    return Table.of_records(data, dims, ["v"], hierarchies=tree, contributor="firm", asked="asked")


def linked(number: int) -> Table:
    data = records((3, 3, 3), number, 1)
    how = {"contributor": "firm", "asked": "asked"}
    return Table.linked([Table.of_records(data, ["d0", other], ["v"], **how) for other in ("d1", "d2")])  # type: ignore[arg-type]


def counts(shape: tuple[int, ...], number: int, low: int = 0) -> Table:
    rng = np.random.default_rng(number)
    n = rng.integers(low, 12, int(np.prod(shape)))
    codes = np.unravel_index(np.arange(len(n)), shape)
    data = {f"d{k}": [f"{c}" for c in some] for k, some in enumerate(codes)} | {"n": n.tolist()}
    return Table.of_records(data, [f"d{k}" for k in range(len(shape))], frequency="n")


def assert_kept(found: Suppression, given: Sensitivity) -> None:
    """The audit holds; without any one of the cells that are called needed it does not."""
    told = audit(found.table, found.suppressed, given)
    assert told.holds, told.text()
    assert not (found.suppressed & (given.forced | found.table.impossible | found.table.hidden)).any()
    assert found.suppressed[given.sensitive].all()
    for cell in np.flatnonzero(found.needed)[:6]:
        without = found.suppressed.copy()
        without[cell] = False
        assert not audit(found.table, without, given).holds


def table_of(shape: str, number: int) -> Table:
    if shape == "linked":
        return linked(number)
    return firms((4, 4), number, hierarchy=True) if shape == "hierarchy" else firms(SHAPES[shape], number)


CASES = [("two", k, "exact") for k in range(len(RULES))]
CASES += [(shape, k, "exact") for shape in ("hierarchy", "linked") for k in (1, 5)]
CASES += [(shape, k, "fast") for shape, some in {"three": (2,), "four": (1, 6), "linked": (3,)}.items() for k in some]


@pytest.mark.parametrize(("shape", "number", "search"), CASES)
def test_the_audit_holds_for_every_rule(shape: str, number: int, search: str):
    table = table_of(shape, number)
    given = find_sensitive(table, [RULES[number]], "v")
    assert given.sensitive.any()
    assert_kept(suppress(table, given, search=search, cost="count", seed=KEY), given)


@pytest.mark.parametrize("rule", [MinimumFrequency(4), MinimumFrequency(3, zeros=True), DirectDisclosure(1)])
@pytest.mark.parametrize(("shape", "search"), [((4, 4), "exact"), ((2, 3, 3), "fast")])
def test_counts_keep_three_whole_numbers(shape: tuple[int, ...], search: str, rule: PrimaryRule):
    table = counts(shape, 5)
    given = find_sensitive(table, [rule])
    found = suppress(table, given, search=search, seed=KEY)
    assert_kept(found, given)
    assert all(t.numbers == 3 for t in audit(table, found.suppressed, given).targets)


@pytest.mark.parametrize("number", [1, 4])
def test_no_smaller_pattern_passes(number: int):
    table = counts((3, 3), number, low=1)
    given = find_sensitive(table, [MinimumFrequency(3)])
    found = suppress(table, given, search="exact", cost="count", seed=KEY)
    assert found.proven
    assert_kept(found, given)
    more = int(found.secondary.sum())
    assert more > 1
    for cells in combinations(np.flatnonzero(~given.sensitive), more - 1):
        gaps = given.sensitive.copy()
        gaps[list(cells)] = True
        assert not audit(table, gaps, given).holds


def test_the_same_key_gives_the_same_pattern():
    table = counts((3, 4), 3, low=1)
    given = find_sensitive(table, [MinimumFrequency(3)])
    for search in ("fast", "exact"):
        some = [suppress(table, given, search=search, cost="count", seed=Seed.for_tests(k)) for k in (1, 1, 2)]
        assert (some[0].suppressed == some[1].suppressed).all()
        assert search == "fast" or some[0].suppressed.sum() == some[2].suppressed.sum()


@pytest.mark.parametrize("named", [True, False])
def test_the_same_key_gives_the_same_pattern_of_records_in_any_order(named: bool):
    rng, n = np.random.default_rng(0), 300
    data = {"a": rng.integers(0, 6, n).astype(str), "b": rng.integers(0, 6, n).astype(str), "firm": np.arange(n)}
    data["v"] = np.round(rng.lognormal(3, 2, n), 1)
    found = list[tuple[Table, Suppression]]()
    for order in (np.arange(n), rng.permutation(n)):
        records = {name: column[order].tolist() for name, column in data.items()}
        table = Table.of_records(records, ["a", "b"], ["v"], contributor="firm" if named else None)
        given = find_sensitive(table, [PPercent(20)], "v")
        found.append((table, suppress(table, given, search="fast", cost="count", seed=KEY)))
    (one, first), (two, second) = found
    assert (one.values["v"] == two.values["v"]).all()
    assert (first.suppressed == second.suppressed).all()


def test_a_search_tells_how_far_it_is():
    table = counts((4, 5), 3, low=1)
    told = list[tuple[str, int, int]]()
    given = find_sensitive(table, [MinimumFrequency(3)])
    suppress(table, given, search="fast", seed=KEY, progress=lambda *at: told.append(at))
    stages = [stage for stage, _, _ in told]
    assert "programmes" in stages
    begin = stages.index("removing")
    last = begin + next((k for k, stage in enumerate(stages[begin:]) if stage != "removing"), len(stages))
    shares = [done / total for _, done, total in told[begin:last]]
    assert len(shares) > 1  # no audit in between says that all is done
    assert all(0 <= share < 1 for share in shares)


def sparse_firms() -> Table:
    """Firms with one record each, two a cell: many are alone in a cell, and many cells have no other of their sums."""
    rng, size = np.random.default_rng(2), 400
    codes = [rng.integers(0, count, size).astype(str).tolist() for count in (10, 7, 3)]
    data: dict[str, list[object]] = {f"d{k}": some for k, some in enumerate(codes)}
    data |= {"v": (np.rint(rng.lognormal(4, 1.5, size)) + 1).tolist(), "firm": list(range(size))}
    return Table.of_records(data, ["d0", "d1", "d2"], ["v"], contributor="firm")


def test_a_sparse_table_has_a_pattern_and_what_was_not_tried_is_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("suffice.tables.suppress.search.REMOVALS", 8)
    table = sparse_firms()
    given = find_sensitive(table, [PPercent(10)], "v")
    found = suppress(table, given, search="fast", seed=KEY)
    assert_kept(found, given)
    assert found.untried
    assert f"{found.untried:,} of these may not be" in found.text()


def test_programmes_in_whole_numbers_are_solved_only_where_others_have_no_whole_answer(
    monkeypatch: pytest.MonkeyPatch,
):
    rng, solved = np.random.default_rng(1), list[bool]()
    n = rng.poisson(rng.gamma(0.2, 15, 180))
    codes = np.unravel_index(np.arange(len(n)), (6, 5, 3, 2))
    data = {f"d{k}": some.astype(str) for k, some in enumerate(codes)} | {"n": n}
    table = Table.of_records(data, ["d0", "d1", "d2", "d3"], frequency="n")
    solve = Programme.solve

    def counted(self: Programme, *args: object, **more: object) -> Answer:
        solved.append(bool(self.whole.any()))
        return solve(self, *args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Programme, "solve", counted)
    given = find_sensitive(table, [MinimumFrequency(4)])
    assert_kept(suppress(table, given, search="fast", seed=KEY), given)
    assert len(solved) > 20
    assert sum(solved) < len(solved) / 4


def test_a_rough_audit_finds_nothing_only_where_a_full_one_does():
    table = sparse_firms()
    given = find_sensitive(table, [PPercent(10)], "v")
    rng, holding = np.random.default_rng(1), suppress(table, given, search="fast", seed=KEY).suppressed
    verdicts = []
    for share in (0.0, 0.01, 0.02, 0.05, 1.0):
        gaps = given.sensitive | (holding & (rng.random(len(table)) >= share))
        full, rough = audit(table, gaps, given), Auditor(table, given, "v").of(gaps, rough=True)
        assert bool(full.exposed) == bool(rough.exposed)
        verdicts.append(full.holds)
    assert set(verdicts) == {True, False}


def square(n: list[int], **more: object) -> Table:
    data = {"a": list("xxxyyyzzz"), "b": list("uvw") * 3, "n": n}
    return Table.of_records(data, ["a", "b"], frequency="n", **more)  # type: ignore[arg-type]


def test_forced_cells_are_published_and_the_rule_in_the_way_is_named():
    table = square([1, 9, 9, 9, 8, 7, 9, 9, 6])
    forced = [Prior(("x", "v"), "forced"), Prior(("y", "u"), "forced")]
    given = find_sensitive(table, [MinimumFrequency(3)], priors=forced)
    assert_kept(suppress(table, given, seed=KEY), given)
    every = [Prior((a, b), "forced") for a in ("x", "y", "z", "Total") for b in "uvw" if (a, b) != ("x", "u")]
    every += [Prior((a, "Total"), "forced") for a in ("x", "y", "z", "Total")]
    given = find_sensitive(table, [MinimumFrequency(3)], priors=every)
    for search in ("exact", "fast"):
        with pytest.raises(InfeasibleError, match=r"a=x, b=u \(count; frequency\): cells that must be published"):
            suppress(table, given, search=search, seed=KEY)
    marked = np.arange(len(table)) == table.find("x", "v")
    with pytest.raises(InfeasibleError, match="must be published and is to be suppressed"):
        suppress(table, given, suppressed=marked)


def test_zeros_may_be_kept_and_impossible_cells_always_are():
    n = [2, 0, 90, 0, 9, 70, 90, 90, 60]
    table = square(n)
    given = find_sensitive(table, [MinimumFrequency(3)])
    zero = table.values["count"] == 0
    forced = [Prior(("x", "w"), "forced"), Prior(("z", "u"), "forced")]  # without these a pattern with zeros is dearer
    needs = find_sensitive(table, [MinimumFrequency(3)], priors=forced)
    found = suppress(table, needs, cost="value", seed=KEY)
    assert (found.suppressed & zero).any()
    assert_kept(found, needs)
    kept = suppress(table, given, cost="value", keep_zeros=True, seed=KEY)
    assert not (kept.suppressed & zero).any()
    assert_kept(kept, given)
    never = square(n, impossible=[("x", "v"), ("y", "u")])
    given = find_sensitive(never, [MinimumFrequency(3)])
    found = suppress(never, given, cost="value", seed=KEY)
    assert not (found.suppressed & never.impossible).any()
    assert_kept(found, given)
    lone = Table.of_records({"a": list("xyz"), "n": [2, 0, 0]}, ["a"], frequency="n")
    with pytest.raises(InfeasibleError, match="zeros may not be suppressed"):
        suppress(lone, replace(find_sensitive(lone, [MinimumFrequency(3)]), sensitive=np.array([0, 1, 0, 0]) > 0,
                               forced=np.array([1, 0, 0, 0]) > 0), keep_zeros=True)  # fmt: skip


def test_costs_decide_which_cells_go():
    table = square([1, 90, 9, 90, 80, 7, 9, 8, 6])
    given = find_sensitive(table, [MinimumFrequency(3)])
    cheap = suppress(table, given, cost="value", seed=KEY).suppressed
    dear = np.where(cheap, 100.0, 1.0)
    assert (suppress(table, given, cost=dear, seed=KEY).secondary & cheap).sum() == 0
    laid = replace(given, cost=dear)
    assert (suppress(table, laid, cost="given", seed=KEY).secondary & cheap).sum() == 0
    corners = [table.find("x", "u"), table.find("x", "v"), table.find("y", "u"), table.find("y", "v")]
    before = np.isin(np.arange(len(table)), corners)
    assert (suppress(table, given, cost="count", last=before, seed=KEY).suppressed == before).all()
    assert (suppress(table, replace(given, last=before), cost="count", seed=KEY).suppressed == before).all()
    assert suppress(table, given, cost="records", seed=KEY).holds
    with pytest.raises(InputError, match="numbers from zero"):
        suppress(table, given, cost=-dear)
    for how in ({"cost": "dear"}, {"search": "slow"}):
        with pytest.raises(UsageError, match="known are"):
            suppress(table, given, **how)  # type: ignore[arg-type]


def test_several_values_share_a_pattern():
    data = records((4, 4), 2)
    data["w"] = [float(1 + k % 7) for k in range(len(data["v"]))]
    table = Table.of_records(data, ["d0", "d1"], ["v", "w"], contributor="firm")
    both = [find_sensitive(table, [PPercent(10)], "v"), find_sensitive(table, [FewContributors(2)], "w")]
    found = suppress(table, both, cost="count", seed=KEY)
    for given in both:
        assert audit(table, found.suppressed, given).holds
    assert set(found.audits) == {"v", "w"}


def test_levels_are_reached_and_not_only_some_interval():
    rng = np.random.default_rng(3)
    data = {"a": [f"{k // 5}" for k in range(25)] * 3, "b": [f"{k % 5}" for k in range(25)] * 3}
    table = Table.of_records(data | {"v": np.rint(rng.lognormal(4, 1, 75)).tolist()}, ["a", "b"], ["v"])
    cell = table.find("1", "1")
    x = float(table.values["v"][cell])
    for share in (0.1, 0.9):
        laid = [Prior(("1", "1"), "unsafe", lower=share * x, upper=3 * share * x)]
        given = find_sensitive(table, [], "v", priors=laid)
        found = suppress(table, given, cost="count", seed=KEY)
        target = audit(table, found.suppressed, given, exact=True).targets[0]
        assert target.low <= (1 - share) * x
        assert target.high >= (1 + 3 * share) * x


def test_what_everybody_knows_asks_for_more_cells():
    table = square([20, 90, 91, 92, 80, 70, 95, 85, 60])
    given = find_sensitive(table, [], "count", priors=[Prior(("x", "u"), "unsafe", lower=10, upper=10)])
    narrow = suppress(table, given, cost="count", beforehand=0.5, seed=KEY)
    assert audit(table, narrow.suppressed, given, beforehand=0.5).holds
    with pytest.raises(InfeasibleError, match="nothing around it can change so much"):
        suppress(table, given, beforehand=0.1, seed=KEY)


def test_a_search_without_time_still_passes():
    table = firms((3, 4), 3)
    given = find_sensitive(table, [PPercent(15)], "v")
    found = suppress(table, given, search="exact", seconds=1e-9, seed=KEY)
    assert not found.proven
    assert "may cost up to" in found.text()
    assert "another machine may find another" in found.text()
    assert_kept(found, given)


def test_work_ends_a_search_alike_on_any_machine(monkeypatch: pytest.MonkeyPatch):
    table = firms((3, 4), 3)
    given = find_sensitive(table, [PPercent(15)], "v")
    for work in (1.0, 40.0):
        monkeypatch.setattr("suffice.tables.suppress.suppression.WORK", work)
        some = [suppress(table, given, cost="count", threads=threads, seed=KEY) for threads in (1, 2)]
        assert (some[0].suppressed == some[1].suppressed).all()
        assert not some[0].proven
        assert not some[0].by_clock
        assert "another machine" not in some[0].text()
        assert_kept(some[0], given)


def test_no_value_is_in_the_words_of_a_pattern():
    table = square([1, 912345, 9, 9, 8, 7, 9, 9, 6])
    found = suppress(table, find_sensitive(table, [MinimumFrequency(3)]), seed=KEY)
    assert "912345" not in found.text() + repr(found)
    assert sum(found.frame()["secondary"]) == int(found.secondary.sum()) == 3


GAUSS = {"gauss_small_mun_zeros": 11, "gauss_small_z1": 6, "gauss_small_mun": 27, "gauss_small_d2_hier": 6}


@needs_shared
@pytest.mark.parametrize("name", GAUSS)
def test_proven_minima_of_the_reference(name: str):
    source, how, rules = next(case[1:] for case in REFERENCE if case[0] == name)
    table = reference_table(name, source, how)
    given = find_sensitive(table, rules)
    found = suppress(table, given, cost="count", keep_zeros=name.endswith("zeros"), seed=KEY)
    assert found.proven
    assert found.suppressed.sum() == GAUSS[name]
    assert found.holds
