"""Writes the tables of docs/pool.md: uv run python docs/pool_table.py

Samples of 200 records, each synthesised m times (tests/utility/repeats.py): E[T] / Var(q-bar) of mean and slopes,
the coverage of seven 95 % intervals, and the size of the joint test.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

sys.path.insert(0, str(Path(__file__).parents[1]))

from suffice.utility.combination import RULES, joint_test
from tests.utility.repeats import ESTIMANDS, Repeats

PAGE = Path(__file__).with_name("pool.md")
PLACE = re.compile(r"(<!-- rules: written by docs/pool_table.py -->\n).*(\n<!-- end of rules -->)", re.DOTALL)
N, REPEATS, PART, TESTS = 200, 12_000, 2000, 4000
KINDS: dict[str, tuple[str, dict[str, bool], str]] = {
    "partial": ("partial", {}, "T_p"),
    "partial, parameters as fitted": ("partial", {"proper": False}, "T_p"),
    "full, x known in a population": ("full", {}, "T_f"),
    "full, x drawn from the sample": ("full", {"known": False, "proper": False}, "T_p"),
}


def ratio(T: Any, q: Any) -> str:
    found = T.mean(axis=0) / q.mean(axis=0).var(axis=0)
    return " / ".join(f"{each:.2f}" for each in found[:3])


def covered(rule: str, q: Any, u: Any) -> Any:
    one = RULES[rule](q, u, 1.0, N - 2)
    half = stats.t.ppf(0.975, one.freedom) * np.sqrt(one.variance)
    return (np.abs(one.mean - list(ESTIMANDS.values())) <= half).mean(axis=0)


def together(repeats: int, of: Callable[[int], tuple[Any, Any]]) -> tuple[Any, Any]:
    """Estimates and variances of all repeats, drawn a part at a time."""
    q, u = zip(*(of(number) for number in range(repeats // PART)), strict=True)
    return np.concatenate(q, axis=-2), np.concatenate(u, axis=-2)


def line(name: str, m: int) -> str:
    """Ratios of T_p, T_f (before any is raised) and Rubin's rule; coverage by the right one."""
    kind, how, rule = KINDS[name]
    q, u = together(REPEATS, lambda part: getattr(Repeats(PART, m, N, seed=100 * part + m), kind)(**how))
    b, within = q.var(axis=0, ddof=1), u.mean(axis=0)
    rules = {"T_p": within + b / m, "T_f": (1 + 1 / m) * b - within, "Rubin": within + (1 + 1 / m) * b}
    cells = [f"**{ratio(T, q)}**" if each == rule else ratio(T, q) for each, T in rules.items()]
    found = covered(rule, q, u)
    return f"| {name} | {m} | {' | '.join(cells)} | {rule}: {found.min():.3f} to {found.max():.3f} |"


def stages() -> str:
    m, r = 5, 3
    q, u = together(REPEATS // 2, lambda part: Repeats(PART, m, N, seed=100 * part + 3).two_stage(r))
    T = RULES["T_M"](q, u, 1.0, inf).variance
    flat = q.reshape(m * r, *q.shape[2:])
    found = covered("T_M", q, u)
    right = f"T_M **{ratio(T, flat)}**, T_p {ratio(RULES['T_p'](flat, u.reshape(flat.shape), 1.0, inf).variance, flat)}"
    return f"Two stages, m = {m}, r = {r}, 30 % of y missing: {right}; coverage {found.min():.3f} to {found.max():.3f}."


def sizes() -> str:
    """Of three estimands, with estimates that are normal as the rules take them to be."""
    rng, m, k, found = np.random.default_rng(1), 10, 3, []
    for rule, spread in (("T_p", 1.0), ("T_f", 2.0)):
        q = rng.normal(size=(TESTS, 1, k)) + spread**0.5 * rng.normal(size=(TESTS, m, k))
        tests = [joint_test(rule, each, np.broadcast_to(np.eye(k), (m, k, k))) for each in q]
        told = [test.p < 0.05 for test in tests if not test.why]
        found.append(f"{rule} {np.mean(told):.3f}" + f" (undefined in {TESTS - len(told)})" * (len(told) < TESTS))
    return f"Size of the joint 5 % test of three estimands, m = {m}, {TESTS:,} repeats: {', '.join(found)}."


def table() -> str:
    head = "| files | m | T_p | T_f | Rubin | coverage |\n|---|---|---|---|---|---|"
    return "\n".join([head, *(line(name, m) for name in KINDS for m in (5, 10)), "", stages(), sizes()])


if __name__ == "__main__":
    text = PLACE.sub(lambda found: f"{found[1]}\n{table()}\n{found[2]}", PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(text, encoding="utf-8")
