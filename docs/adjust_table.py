"""Writes the tables of docs/adjust.md: uv run python docs/adjust_table.py [KEYS [TABLE ...]]

The table of Cox, Kelly and Patil (../shared/data): 4 planes x 6 x 10 with totals, 24 sensitive cells.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rotate_table import write
from scipy import sparse

from suffice.algebra.array import Array
from suffice.seed import Seed
from suffice.statistics.cell_moments import CellMoments
from suffice.tables.adjust.adjust import Adjustment, adjust
from suffice.tables.adjust.moments import CellSets
from suffice.tables.adjust.problem import Problem
from suffice.tables.methods.adjust import slices
from suffice.tables.pattern import levels_of
from suffice.tables.sensitivity import Sensitivity
from suffice.tables.solver import Contradiction
from suffice.tables.table import Table

PAGE = Path(__file__).with_name("adjust.md")
FILE = Path(__file__).resolve().parents[2] / "shared" / "data" / "cox-kelly-patil-2005.csv"
TABLE = Table.of_cells(FILE, ["plane", "row", "column"], ["value"], total="total")
SECRET = levels_of(TABLE, FILE, "value", "protection")
PLANES = slices(TABLE, "plane", ["p1", "p2", "p3"])
A = TABLE.values["value"]
LEAST: dict[str, Any] = {"sizes": "least", "accept": {"least-sizes": "to compare with the paper"}}
PRINTED = {("p1", "p2"): (3.15, 1.09, 5.94, -3.22, 6.2), ("p1", "p3"): (1.13, 2.63, 1.14, -2.43, 0.1)}
PRINTED |= {("p2", "p3"): (3.6, 6.12, 6.7, -3.6, -1.89)}
"""Cox (2005), Table 1, whose planes A, B and C are of another table of 4 x 9 x 9."""


def timed(**asked: Any) -> tuple[Adjustment, float]:
    begin = time.process_time()
    found = adjust(TABLE, SECRET, **asked)
    return found, time.process_time() - begin


def objectives() -> list[str]:
    lines = [
        "| objective | capacities | reached | no less is possible than | gap | processor seconds |",
        "|---|---|---|---|---|---|",
    ]
    asked = [("l1", 1.0), ("l1", 0.2), ("l1", 0.05), ("relative", 1.0), ("l2", 1.0), ("largest", 1.0)]
    for objective, capacity in asked:
        found, spent = timed(objective=objective, capacity=capacity, seed=Seed.for_tests(1), **LEAST)
        bound = "not known" if np.isnan(found.bound) else f"{found.bound:,.7g}"
        gap = "best found" if np.isnan(found.bound) else f"{found.gap:.2%}"
        room = "the value" if capacity == 1 else f"{capacity:.0%}"
        lines.append(f"| {objective} | {room} | {found.cost:,.7g} | {bound} | {gap} | {spent:.1f} |")
    found, spent = timed(signs="ordering", **LEAST)
    lines.append(
        f"| l1, ordering; {found.freed} cells set free | the value | {found.cost:,.7g} | not known | | {spent:.1f} |"
    )
    return lines


def percent(x: Array, one: str, two: str) -> tuple[float, ...]:
    """Changes of covariance, correlation, regression of the second on the first, and both variances."""

    def numbers(cells: Array) -> np.ndarray:
        C = np.cov(cells[PLANES[one]], cells[PLANES[two]], ddof=0)
        return np.array([C[0, 1], C[0, 1] / np.sqrt(C[0, 0] * C[1, 1]), C[0, 1] / C[0, 0], C[0, 0], C[1, 1]])

    return tuple(100 * (numbers(x) / numbers(A) - 1))


def his_way(one: str, two: str, capacity: float) -> Array:
    """(3) for all planes by the programme, then (4): one plane held, the covariance linear in the other, by turns."""
    q = 2 * SECRET.upper
    low = np.where(SECRET.sensitive, -np.minimum(q, A), -np.minimum(capacity * A, A))
    high = np.where(SECRET.sensitive, q, capacity * A)
    none = sparse.csr_array((0, len(A)))
    bare = Problem(TABLE.grid, A, TABLE.relations, SECRET.sensitive, SECRET.lower, SECRET.upper, low, high,
                   np.ones(len(A)), none, np.zeros(0))  # fmt: skip
    family = CellSets({name: np.array(PLANES[name]) for name in (one, two)}, A)
    kept, right = family.rows("slope")
    y, _ = replace(bare, kept=kept, right=right).solve(gap=0.01)
    signs = bare.signs_of(y)
    for held, moved in ((one, two), (two, one)) * 2:
        still, cells = np.array(PLANES[held]), np.array(PLANES[moved])
        centred = {name: A[PLANES[name]] - A[PLANES[name]].mean() for name in (held, moved)}
        scale = np.linalg.norm(centred[held])
        row = sparse.csr_array(
            ((centred[held] + y[still]) / scale, (np.zeros(len(cells), int), cells)), shape=(1, len(A))
        )
        there = np.isin(np.arange(len(A)), still)
        fixed = replace(bare, low=np.where(there, y, low), high=np.where(there, y, high))
        fixed = replace(fixed, kept=sparse.csr_array(sparse.vstack([kept, row])),
                        right=np.append(right, -centred[moved] @ y[still] / scale))  # fmt: skip
        try:
            y, _ = fixed.solve(signs)
        except Contradiction:
            continue
    return A + y


def statistics() -> list[str]:
    head = "| planes | | covariance | correlation | regression coefficient | variance of the first | of the second |"
    lines = [head, "|---|---|---|---|---|---|---|"]
    ours = adjust(TABLE, SECRET, keep="moments", sets=PLANES, capacity=0.2, seed=Seed.for_tests(1), **LEAST)
    plain = adjust(TABLE, SECRET, capacity=0.2, seed=Seed.for_tests(1), **LEAST)
    for (one, two), printed in PRINTED.items():
        ways = {
            "printed, for his own planes": printed,
            "nothing kept": percent(plain.cells(), one, two),
            "his way, (3) and (4)": percent(his_way(one, two, 0.2), one, two),
            "ours": percent(ours.cells(), one, two),
        }
        for name, numbers in ways.items():
            told = " | ".join(f"{number:.2f}" if abs(number) > 5e-3 else f"{number:.0e}" for number in numbers)
            lines.append(f"| {one}, {two} | {name} | {told} |")
    return lines


def ordering() -> list[str]:
    head = "| signs | covariance of p1, p2 | correlation | variance of p1 | of p2 | sum of changes |"
    lines = [head, "|---|---|---|---|---|---|"]
    costs = []
    for signs in ("best", "ordering"):
        found, _ = timed(
            signs=signs, keep="slope", sets=PLANES, capacity=0.2, gap=0.01, seed=Seed.for_tests(1), **LEAST
        )
        covariance, correlation, _, first, second = percent(found.cells(), "p1", "p2")
        costs.append(found.cost)
        freed = f", {found.freed} cells set free" if found.freed else ""
        told = " | ".join(f"{number:.2f}" for number in (covariance, correlation, first, second))
        lines.append(f"| {signs}{freed} | {told} | {found.cost:,.1f} |")
    return [*lines, f"| change, percent | | | | | {100 * (costs[1] / costs[0] - 1):.1f} |"]


def keys(count: int, capacities: tuple[float, ...] = (1.0, 0.2, 0.05)) -> list[str]:
    head = (
        "| capacities | exact for keys | worst ratio | L1 above the plain bound: median | worst | cells without room |"
    )
    lines = [head, "|---|---|---|---|---|---|"]
    for capacity in capacities:
        ratios, above, eased, kept = [], [], [], 0
        for number in range(count):
            how: dict[str, Any] = {"capacity": capacity, "seed": Seed.for_tests(number)}
            found = adjust(TABLE, SECRET, keep="moments", sets=PLANES, **how)
            plain = adjust(TABLE, SECRET, gap=0.01, seconds=600, **how)
            assert found.unsafe == 0
            assert found.error == 0
            moments = CellMoments("moments", {name: np.array(cells) for name, cells in PLANES.items()})
            ratios.append(max(ratio for _, ratio in moments.ratios(A, found.cells()).values()))
            above.append(found.cost / plain.bound - 1)
            eased.append(found.eased)
            kept += ratios[-1] <= 30
            sys.stdout.write(f"{capacity} {number}: {ratios[-1]:.1f} {above[-1]:.1%} {eased[-1]}\n")
            sys.stdout.flush()
        room = "the value" if capacity == 1 else f"{capacity:.0%}"
        told = f"{kept} of {count} | {max(ratios):.1f} | {np.median(above):.1%} | {max(above):.1%}"
        lines.append(f"| {room} | {told} | {min(eased)} - {max(eased)} |")
    return lines


def directions(tables: int = 40) -> list[str]:
    """What who adjusts an adjusted table again, with the levels themselves, finds of the directions."""
    head = "| tables | signs | cells right | all cells of a table | pairs right | sum of changes |"
    lines = [head, "|---|---|---|---|---|---|"]
    for shape, secret in (((6, 7), 6), ((8, 9), 10)):
        least = 0.0
        for signs in ("best", "ordering"):
            right, cost = [], 0.0
            for number in range(tables):
                rng = np.random.default_rng(number)
                places = np.stack(np.unravel_index(np.arange(np.prod(shape)), shape), axis=1)
                v = np.rint(rng.lognormal(6, 1, len(places))) + 20
                table = Table.of_records({"a": places[:, 0], "b": places[:, 1], "v": v}, ["a", "b"], ["v"])
                p = np.ceil(rng.uniform(0.05, 0.15, len(table)) * table.values["v"])
                inner = np.setdiff1d(np.arange(len(table)), table.totals)
                p[~np.isin(np.arange(len(table)), rng.choice(inner, secret, replace=False))] = 0
                levels = Sensitivity("v", p > 0, p, p, tuple(() for _ in p), p < 0, p)
                made = adjust(table, levels, signs=signs, seed=Seed.for_tests(number))
                published = replace(table, values={"v": made.cells()}, contributors=None, holding=None)
                again = adjust(published, levels, signs=signs, **LEAST)
                right.append((np.sign(again.changes["v"]) == np.sign(made.changes["v"]))[p > 0])
                cost += made.cost
            least = least or cost
            sums = 2 * np.sum(right, axis=1) - secret
            pairs = 0.5 + (sums**2 - secret).mean() / (secret**2 - secret) / 2
            cells, every = f"{np.mean(right):.0%}", f"{np.mean(np.all(right, axis=1)):.0%}"
            name = f"{tables} of {shape[0]} x {shape[1]}, {secret} sensitive"
            lines.append(f"| {name} | {signs} | {cells} | {every} | {pairs:.0%} | {cost / least - 1:+.1%} |")
    return lines


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    made = {"objectives": objectives, "statistics": statistics, "ordering": ordering, "keys": lambda: keys(count)}
    made |= {"directions": directions}
    for name in sys.argv[2:] or made:
        write(PAGE, name, "adjust_table.py", made[name]())


if __name__ == "__main__":
    main()
