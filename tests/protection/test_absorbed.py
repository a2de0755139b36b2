"""One factor of many levels is absorbed: the release is the one that its dummies would give."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice import Addition, Ipso, Mixture, Release, ResidualCorrelation, Restore, Roles, Romm, Seed, protect
from suffice.algebra.absorption import Absorption, LevelSums
from suffice.algebra.array import Array
from suffice.catalogue import methods
from suffice.design.design import Design
from suffice.design.profile import Matrices
from suffice.errors import InfeasibleError, InputError
from suffice.method.isometric import Isometric
from suffice.protection.fold import Draws
from suffice.protection.solution import Solution
from suffice.risk.leverage import LeverageMeasure
from suffice.rows.memory import MemoryRows
from suffice.rows.rows import Block
from suffice.rows.threads import one_blas_thread
from suffice.seed import Stream
from tests.tolerances import ALGEBRA, ENGINE
from tests.truth import EPS, ratios

N, G = 9_001, 80
"""Two logical blocks, the second one short, so that levels lie in both."""
CONFIDENTIAL = ["y1", "y2", "y3"]
GIVEN = "C(town) + x + C(size) + county"


def people(n: int = N, levels: int = G, seed: int = 2, offset: float = 100.0) -> pa.Table:
    """Towns, of which `county` is a function, with effects of their own."""
    rng = np.random.default_rng(seed)
    town = rng.integers(0, levels, n)
    x = rng.normal(size=n) + town / levels
    y = rng.normal(size=(n, 3)) @ rng.normal(size=(3, 3)) + np.sin(town)[:, None] + x[:, None]
    return pa.table(
        {
            "town": pa.array([f"town {i}" for i in town]),
            "code": town,
            "county": (town // 7).astype(float),
            "x": x,
            "size": rng.choice(["s", "m", "l"], n),
            "w": rng.gamma(2.0, 1.0, n),
            "y1": y[:, 0] + offset,
            "y2": y[:, 1],
            "y3": 1e3 * y[:, 2],
        }
    )


def every_isometric() -> list[Isometric]:
    """Every example of every formula; one that needs a companion follows a mask."""
    masks: dict[type, Isometric] = {Restore: Mixture(0.6), Addition: Romm(lam=0.3)}
    found = []
    for method in methods().values():
        for example in method.examples():
            whole = masks[type(example)].then(example) if type(example) in masks else example
            if isinstance(whole, Isometric):
                found.append(whole)
    return found


def solved(
    table: pa.Table, method: Isometric, roles: Roles, absorb: bool = True, key: bytes = bytes(32)
) -> tuple[Solution, Array]:
    rows = MemoryRows(table)
    frame = Matrices(Design.learn(rows, roles, absorb), False)
    with one_blas_thread():
        draws = Draws(Stream(key), method.draws(frame.design.k))
        solution = Solution.find(rows, frame, frame.profile(rows), method, draws)
        return solution, released(rows, solution)


def released(rows: MemoryRows, solution: Solution) -> Array:
    columns = solution.regression.matrices.columns
    runs = rows.map(lambda run: [solution.released(block) for block in run], columns, "", solution.draws.stream)
    return np.vstack([values for run in runs for values in run])


def off(one: Array, two: Array) -> float:
    return float((np.abs(one - two) / two.std(axis=0)).max())


def columns(table: pa.Table, names: list[str]) -> Array:
    return np.column_stack([table[name].to_numpy() for name in names])


def made(source: Any, method: Isometric, roles: Roles) -> Release:
    return protect(source, roles, method, seed=Seed.for_tests(4))


def dummies(codes: Any) -> Array:
    return np.asarray(codes[:, None] == np.unique(codes)[None, 1:], dtype=float)


# ---- the law


CASES = [(method, 1_000, weight) for method in every_isometric() for weight in (None, "w")]
CASES += [(Ipso(), N, "w"), (Mixture(0.5), N, None)]


@pytest.mark.parametrize(("method", "n", "weight"), CASES, ids=lambda each: getattr(each, "name", str(each)))
def test_the_release_is_that_of_the_dummies(method: Isometric, n: int, weight: str | None) -> None:
    roles = Roles(confidential=CONFIDENTIAL, given=GIVEN, weight=weight)
    absorbed, one = solved(people(n), method, roles)
    expanded, two = solved(people(n), method, roles, absorb=False)
    assert (absorbed.regression.design.absorbed, expanded.regression.design.absorbed) == ("town", None)
    assert absorbed.regression.design.m == expanded.regression.design.m - (G - 1)
    assert absorbed.regression.rank == expanded.regression.rank
    assert off(one, two) < ENGINE
    assert off(one, columns(people(n), CONFIDENTIAL)) > 0.01


@pytest.mark.parametrize("weight", [None, "w"])
def test_leverages_are_those_of_the_dummies(weight: str | None) -> None:
    table = people(700)
    X = np.column_stack([np.ones(700), dummies(table["code"].to_numpy()), table["x"], dummies(np.array(table["size"]))])
    root = np.ones(700) if weight is None else np.sqrt(table["w"].to_numpy())
    h = (np.linalg.qr(X * root[:, None])[0] ** 2).sum(axis=1)
    solution, _ = solved(table, Ipso(), Roles(confidential=CONFIDENTIAL, given="C(code) + x + C(size)", weight=weight))
    assert solution.regression.design.absorbed == "code"
    measure = LeverageMeasure(solution.regression.hat)
    columns, stream = solution.regression.matrices.columns, solution.draws.stream
    found = MemoryRows(table).fold(lambda block: measure.of(solution.mapped(block)[0]), columns, "", stream)
    counts, peak = found.counts, found.highest
    assert list(counts) == [(h > 0.2).sum(), (h >= 0.5).sum(), (h >= 0.999).sum()]
    assert peak.row == h.argmax()
    assert peak.leverage == pytest.approx(h.max(), rel=1e-10)
    assert peak.leverage == pytest.approx(
        peak.own + sum(q * q for q in peak.q) * root[peak.row] ** 2 / (root**2).mean()
    )


def test_a_level_of_one_record_is_given_away_and_joining_it_helps() -> None:
    table = people(2_000)
    codes = table["code"].to_numpy().copy()
    codes[17] = 1_000
    lonely = table.set_column(1, "code", pa.array(codes))
    release = made(lonely, Ipso(), Roles(confidential=CONFIDENTIAL, given="C(code) + x"))
    assert f"C(code) is absorbed: {G + 1} levels" in release.certificate.notes
    assert release.assessment.leverage.highest == pytest.approx(1.0, abs=1e-12)
    assert release.assessment.leverage.counts[2] == 1
    finding = next(finding for finding in release.findings if finding.rule == "leverage")
    assert finding.level == "never"
    joined = made(lonely, Ipso(), Roles(confidential=CONFIDENTIAL, given="C(code) + x", merge_below=5))
    assert joined.assessment.leverage.highest < 0.2


def test_the_engine_does_not_matter(tmp_path: Path) -> None:
    table = people()
    pq.write_table(table, tmp_path / "people.parquet", row_group_size=1_237)
    roles = Roles(confidential=CONFIDENTIAL, given=GIVEN, weight="w")
    one = made(table, Ipso(), roles)
    two = made(tmp_path / "people.parquet", Ipso(), roles)
    assert f"C(town) is absorbed: {G} levels" in two.certificate.notes
    assert off(columns(one.aligned(), CONFIDENTIAL), columns(two.aligned(), CONFIDENTIAL)) < ENGINE
    assert one.certificate.holds
    assert two.certificate.holds


@pytest.mark.parametrize("method", [Ipso(), Mixture(0.5)])
def test_labels_that_are_not_kept_change_nothing(method: Isometric, monkeypatch: pytest.MonkeyPatch) -> None:
    roles = Roles(confidential=CONFIDENTIAL, given=GIVEN)
    one = solved(people(), method, roles)[1]
    monkeypatch.setattr("suffice.protection.fold.LABELLED", 100)
    assert np.array_equal(one, solved(people(), method, roles)[1])


def test_the_order_of_rows_in_levels_that_blocks_cut_changes_no_statistic() -> None:
    """Sorted by level, or as they come: the same fits, the same means."""
    table = people()
    order = np.argsort(table["code"].to_numpy(), kind="stable")
    roles = Roles(confidential=CONFIDENTIAL, given=GIVEN)
    one, _ = solved(table, Ipso(), roles)
    two, _ = solved(table.take(order), Ipso(), roles)
    size = np.linalg.norm(one.E, axis=0)
    assert np.abs(one.E.T @ one.E - two.E.T @ two.E).max() <= 1e-11 * np.outer(size, size).max()
    assert one.regression.rank == two.regression.rank


def test_a_companion_is_centred_as_well() -> None:
    table = people()
    rng = np.random.default_rng(5)
    start = pa.table({name: table[name].to_numpy() + rng.normal(size=N) for name in CONFIDENTIAL})
    release = made(table, Restore(candidate=start), Roles(confidential=CONFIDENTIAL, given=GIVEN))
    assert f"C(town) is absorbed: {G} levels" in release.certificate.notes
    assert release.certificate.holds
    Y, Ystar = columns(table, CONFIDENTIAL), columns(release.aligned(), CONFIDENTIAL)
    X = np.column_stack([np.ones(N), dummies(table["code"].to_numpy()), table["x"], dummies(np.array(table["size"]))])

    def residuals(A: Array) -> Array:
        return A - X @ np.linalg.lstsq(X, A)[0]

    Eg, Estar = residuals(columns(start, CONFIDENTIAL)), residuals(Ystar)
    assert np.allclose(Estar.T @ Estar, residuals(Y).T @ residuals(Y), rtol=1e-9)
    assert np.linalg.matrix_rank(np.hstack([Eg, Estar]), tol=1e-6) == 3, "the scores are those of the companion"


# ---- digits


@settings(max_examples=5, deadline=None)
@given(st.sampled_from([0.0, 1e3, 1e6, 1e9]), st.integers(0, 2**32))
def test_means_in_the_levels_are_kept_to_the_last_digits(offset: float, seed: int) -> None:
    table = people(40_000, 4_000, seed, offset)
    roles = Roles(confidential=CONFIDENTIAL, given="C(code) + x")
    solution, Ystar = solved(table, Ipso(), roles)
    assert solution.regression.design.absorbed == "code"
    assert level_ratio(table["code"].to_numpy(), columns(table, CONFIDENTIAL), Ystar) <= ALGEBRA
    X = columns(table, ["x", "county"])
    assert max(ratios(X, columns(table, CONFIDENTIAL), X, Ystar).values()) <= ALGEBRA


def level_ratio(codes: Any, Y: Array, Ystar: Array) -> float:
    """The worst change of a mean in a level, in long doubles, as the certificate measures it: by the level's own sd."""
    counts = np.bincount(codes)

    def means(A: Any) -> Any:
        out = np.zeros((len(counts), 3), dtype=np.longdouble)
        np.add.at(out, codes, A)
        return out / np.maximum(counts, 1)[:, None]

    A = Y.astype(np.longdouble)
    sd = np.sqrt(means((A - means(A)[codes]) ** 2))
    used = (counts > 1)[:, None] & (sd > 4 * EPS * np.abs(Y).max())
    lost = np.maximum(1.0, np.abs(Y).max(axis=0) / np.where(used, sd, 1.0))
    error = np.abs(means(Ystar.astype(np.longdouble) - A)) / np.where(used, sd, 1.0) / (EPS * lost)
    return float(np.where(used, error, 0.0).max())


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.floats(-1e6, 1e6), st.floats(0, 9)), min_size=1, max_size=60),
    st.lists(st.integers(0, 60), max_size=4),
)
def test_means_are_those_of_the_levels_however_blocks_are_cut(cells: list[Any], cuts: list[int]) -> None:
    labels, y, w = (np.array(part) for part in zip(*cells, strict=True))
    A = np.column_stack([np.ones(len(y)), y])
    edges = [0, *sorted(min(cut, len(y)) for cut in cuts), len(y)]
    runs = [[LevelSums.of(A[a:b], w[a:b], labels[a:b])] for a, b in pairwise(edges) if b > a]
    found = Absorption.learn(runs, 6, 2)
    for level in range(6):
        weight = w[labels == level].sum()
        mean = (w * y)[labels == level].sum() / weight if weight > 0 else 0.0
        assert found.weight[level] == pytest.approx(weight)
        assert found.mean[level].tolist() == pytest.approx([0.0, mean], abs=1e-6)
    assert found.rank == len({level for level, each in zip(labels, w, strict=True) if each > 0}) - 1


def test_levels_without_weight_count_nowhere() -> None:
    table = people()
    w = np.where(table["code"].to_numpy() < 5, 0.0, 1.0)
    table = table.set_column(table.column_names.index("w"), "w", pa.array(w))
    roles = Roles(confidential=CONFIDENTIAL, given=GIVEN, weight="w")
    one, Y1 = solved(table, Ipso(), roles)
    two, Y2 = solved(table, Ipso(), roles, absorb=False)
    assert one.regression.rank == two.regression.rank == G - 5 + 3
    assert one.regression.nu == two.regression.nu
    assert off(Y1[w > 0], Y2[w > 0]) < ENGINE
    assert np.isfinite(Y1).all()


def test_what_the_levels_explain_stays_bit_for_bit() -> None:
    table = people().append_column("y4", pa.array(np.sqrt(people()["code"].to_numpy() + 0.1)))
    roles = Roles(confidential=[*CONFIDENTIAL, "y4"], given="C(code) + x + county")
    solution, Ystar = solved(table, Ipso(), roles)
    assert solution.regression.rank == G + 1, "county is a function of the code"
    assert np.array_equal(Ystar[:, 3], table["y4"].to_numpy())
    assert not np.isclose(Ystar[:, 0], table["y1"].to_numpy()).all()


def test_a_direction_that_only_the_levels_know_is_no_rounding_in_disguise() -> None:
    """x2 - x is tiny and a function of the level: within levels the two are one column."""
    table = people()
    x2 = table["x"].to_numpy() + 1e-7 * np.sin(table["code"].to_numpy())
    solution, _ = solved(
        table.append_column("x2", pa.array(x2)), Ipso(), Roles(confidential=CONFIDENTIAL, given="C(code) + x + x2")
    )
    assert solution.regression.rank == G + 1


# ---- what is absorbed, and what is refused


def learnt(table: pa.Table, formula: str, absorb: bool = True, **more: Any) -> Design:
    return Design.learn(MemoryRows(table), Roles(confidential=["y1"], given=formula, **more), absorb)


def test_the_largest_factor_of_many_levels_is_absorbed() -> None:
    table = people()
    design = learnt(table, "C(town) + x + C(size)")
    assert design.absorbed == "town"
    assert design.names == ("1", "x", "size[2]", "size[3]")
    assert design.terms == ("x", "C(size)", "C(town)")
    assert design.term_of == (-1, 0, 1, 1)
    assert (design.levels, design.width, design.m) == (G, G + 3, 4)
    assert design.fixed == ("town", "x", "size")
    assert f"C(town) is absorbed: {G} levels" in design.notes
    assert learnt(table, "C(size) + x").absorbed is None
    assert learnt(table, "C(town) + x", absorb=False).absorbed is None
    assert learnt(table, "C(town) + x", integer=["y1"]).absorbed is None, "rounding needs all of X"
    assert learnt(table, "- 1 + C(town)").intercept
    few = people(levels=65)
    assert learnt(few, "C(town)").absorbed is None, "64 dummies are columns"
    assert learnt(people(levels=66), "C(town)").absorbed == "town"


def test_labels_are_the_levels_and_survive_pickling() -> None:
    table = people()
    design = pickle.loads(pickle.dumps(learnt(table, "C(town)")))
    block = Block(0, {"town": table["town"].combine_chunks()})
    labels = design.labels(block)
    assert len(np.unique(np.stack([labels, table["code"].to_numpy()]), axis=1).T) == G
    assert learnt(table, "x").labels(block) is None


def test_a_factor_in_an_interaction_is_expanded_or_refused_with_a_sentence() -> None:
    table = people()
    assert learnt(table, "C(town)*C(size)").absorbed is None
    wide = people(9_001, 2_100)
    with pytest.raises(InputError, match=r"(?s)need up to .* columns and 1,000 are allowed") as caught:
        learnt(wide, "C(town)*C(size)")
    assert "C(town) is not absorbed while it stands in an interaction: drop C(town):C(size)." in str(caught.value)
    with pytest.raises(InputError, match="works on X itself, so that no factor is absorbed"):
        learnt(people(30_000, 4_100), "C(town)", absorb=False)
    assert learnt(people(30_000, 4_100), "C(town)").absorbed == "town"


def test_a_table_too_large_is_refused_with_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.design.design.TABLE", 80 * 8 * 5)
    learnt(people(), "C(town) + x")
    with pytest.raises(InputError, match=r"(?s)levels of C\(town\) need .* GB .* 80 levels x 7 columns"):
        learnt(people(), "C(town) + x + C(size)")


def test_an_identifier_is_no_factor() -> None:
    n = 9_000
    table = pa.table({"name": [f"n{i}" for i in range(n)], "y1": np.arange(float(n))})
    with pytest.raises(InputError, match=r"C\(name\) has 9,000 levels in 9,000 records. An identifier"):
        learnt(table, "C(name)")


def test_too_few_records_are_told_with_the_levels() -> None:
    few = pa.table({"g": [*range(80), *range(4)], **{name: people(84)[name] for name in CONFIDENTIAL}})
    roles = Roles(confidential=CONFIDENTIAL, given="C(g)")
    assert solved(few, Ipso(), roles)[0].regression.nu == 4
    with pytest.raises(InfeasibleError, match=r"(?s)needs 3 new .* leave 1.*apart from the 80 levels of C\(g\)"):
        solved(few, ResidualCorrelation(0.5), roles)


# ---- missing cells


@pytest.mark.parametrize("kind", ["text", "number"])
def test_a_missing_given_cell_is_a_level_of_its_own(kind: str) -> None:
    values = ["a", None, "b", None, "a", "b"] if kind == "text" else [1, None, 2, None, 1, 2]
    table = pa.table({"g": values, "y1": np.arange(6.0)})
    with pytest.raises(InputError, match="g: missing in 2 records, first in rows 2, 4"):
        learnt(table, "C(g)")
    design = learnt(table, "C(g)", missing="patterns")
    assert design.names == ("1", "g[2]", "g[3]")
    assert design.notes == ("g: missing in 2 records: a level of its own",)
    rows = MemoryRows(table)
    (run,) = rows.runs(design.columns)
    assert design.given(run[0]).tolist() == [[1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 0, 1], [1, 0, 0], [1, 1, 0]]
    assert design.complain(rows) is None


def test_a_small_level_of_missing_cells_is_joined_as_any_other() -> None:
    table = pa.table({"g": [*"aaaabbbb", None], "y1": np.arange(9.0)})
    design = learnt(table, "C(g)", missing="patterns", merge_below=2)
    assert design.categories["g"].size == 2
    assert design.notes[1] == "g: 2 small levels (5 records) joined: regressions are kept on the levels as joined"


def test_a_missing_number_stays_an_error_and_so_does_a_missing_group() -> None:
    table = pa.table({"x": [1.0, None, 3.0], "c": [1, None, 2], "r": ["a", None, "b"], "y1": [1.0, None, np.inf]})
    for formula in ("x", "c", "c + C(c)"):
        with pytest.raises(InputError, match=r"(x|c): missing in 1 record, first in row 2") as caught:
            learnt(table, formula, missing="patterns").complain(MemoryRows(table))
        assert "y1: missing" not in str(caught.value)
        assert "y1: infinite in 1 record, first in row 3" in str(caught.value)
    for missing in ("error", "patterns"):
        with pytest.raises(InputError, match="r: missing in 1 record, first in row 2"):
            learnt(table, "", missing=missing, groups=["r"])


def test_a_column_of_holes_alone_is_one_level() -> None:
    table = pa.table({"g": pa.array([None] * 3, pa.int64()), "y1": [1.0, 2.0, 4.0]})
    design = learnt(table, "C(g)", missing="patterns")
    (run,) = MemoryRows(table).runs(design.columns)
    assert design.given(run[0]).tolist() == [[1.0]] * 3


def test_groups_are_columns_that_stay() -> None:
    design = learnt(people(), "x", groups=["size"])
    assert "size" in design.columns
    assert design.fixed == ("x", "size")


def test_part_of_a_design_is_the_same_design_for_some_columns() -> None:
    roles = Roles(
        confidential=CONFIDENTIAL,
        given=GIVEN,
        bounds={"y1": (-1e9, None), "y2": (-1e9, None)},
        edits=["y1 + y2 <= 1e9", "y1 <= 1e9"],
        missing="patterns",
    )
    design = Design.learn(MemoryRows(people()), roles)
    whole = replace(design, roles=replace(roles, integer=["y2", "y3"]))
    part = whole.part(["y1", "y3"])
    assert part.confidential == ("y1", "y3")
    assert [name for name, _ in part.roles.bounds] == ["y1"]
    assert part.roles.integer == ("y3",)
    assert part.roles.edits == ("y1 <= 1e9",)
    assert part.categories is design.categories
    assert (part.absorbed, part.names, part.m, part.k) == (design.absorbed, design.names, design.m, 2)
    assert "y2" not in part.inspection.columns
    assert design.part(CONFIDENTIAL).roles == design.roles
