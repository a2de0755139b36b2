"""Tables that are kept together: in which order columns are drawn below each other, and which table is missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array

Names = tuple[str, ...]
Codes = NDArray[np.integer]

SWEEPS, CLOSE = 1000, 1e-9
"""Rounds of fitting at most, and how near every kept table must come, as a share of the records."""


@dataclass(frozen=True)
class Branch:
    """Columns that are drawn given others, which were drawn before; `table`: the kept table that has both."""

    separator: Names
    below: Names

    @property
    def table(self) -> Names:
        return (*self.separator, *self.below)


def largest(tables: Iterable[Iterable[str]]) -> list[Names]:
    """Tables that are no part of another one, in their order.

    >>> largest([["a", "b"], ["b"], ["b", "a"], ["c"]])
    [('a', 'b'), ('c',)]
    """
    found: list[Names] = []
    for table in sorted((tuple(dict.fromkeys(each)) for each in tables), key=len, reverse=True):
        found += [] if any({*table} <= {*other} for other in found) else [table]
    return found


def branches(tables: Sequence[Names], fixed: Names = ()) -> list[Branch] | None:
    """The tables one below the other, so that each meets all before it in one of them; None where that cannot be.

    A table whose meeting with all others lies in one of them is the last; then the same of the others.

    fixed: columns that stay as they are, above all

    >>> [(each.separator, each.below) for each in branches([("a", "b", "c"), ("c", "d")])]
    [((), ('a', 'b', 'c')), (('c',), ('d',))]
    >>> branches([("a", "b"), ("b", "c"), ("c", "a")]) is None
    True
    """
    left, last = [*([fixed] if fixed else []), *tables], list[Branch]()
    while len(left) > bool(fixed):
        for table in reversed(left[bool(fixed) :]):
            others = [each for each in left if each is not table]
            shared = {*table} & {name for each in others for name in each}
            if not others or any(shared <= {*each} for each in others):
                separator = tuple(name for name in table if name in shared)
                last.append(Branch(separator, tuple(name for name in table if name not in shared)))
                left = others
                break
        else:
            return None
    return last[::-1]


def lacking(tables: Sequence[Names], fixed: Names = ()) -> list[Names]:
    """Tables that would have to be kept too, for `branches` to be: those of a triangulation with few columns each.

    >>> lacking([("a", "b"), ("b", "c"), ("c", "a")])
    [('a', 'b', 'c')]
    """
    tables = [*tables, *([fixed] if fixed else [])]
    names = tuple(dict.fromkeys(name for table in tables for name in table))
    beside = {name: {other for each in tables if name in each for other in each} for name in names}
    found = []
    for _ in names:
        name = min(beside, key=lambda each: (len(beside[each]), each))
        joined = beside.pop(name)
        found.append(tuple(each for each in names if each in joined))
        for other in joined - {name}:
            beside[other] = (beside[other] | joined) - {name}
    return [each for each in largest(found) if not any({*each} <= {*table} for table in tables)]


def cell_numbers(columns: Sequence[Codes], n: int) -> Codes:
    """For every record the number of its combination, in as few bytes as sorts are quick with.

    >>> cell_numbers([np.array([0, 1, 1]), np.array([2, 0, 2])], 3).tolist()
    [2, 3, 5]
    """
    number, size = np.zeros(n, dtype=np.int64), 1
    for column in columns:
        levels = int(column.max(initial=0)) + 1
        if size * levels >= 2**62:  # names of combinations, not of what might be
            number, size = np.unique(number, return_inverse=True)[1], n
        number, size = number * levels + column, size * levels
    return number.astype(np.min_scalar_type(size - 1))


def dealt_below(codes: Mapping[str, Codes], steps: Sequence[Branch], draws: np.random.Generator) -> dict[str, Codes]:
    """Columns with every table of the steps as it was, drawn from all that have these; what no step draws stays.

    The records of a separator's value have the same columns below it, in random order: a sort of those as they were,
    mixed, and one of those that were drawn.

    >>> a, b = np.array([0, 0, 1, 1]), np.array([0, 1, 2, 3])
    >>> made = dealt_below({"a": a, "b": b}, [Branch((), ("a", "b"))], np.random.default_rng(1))
    >>> sorted(zip(made["a"].tolist(), made["b"].tolist(), strict=True))
    [(0, 0), (0, 1), (1, 2), (1, 3)]
    """
    drawn = {name for step in steps for name in step.below}
    n, made = len(next(iter(codes.values()))), {name: codes[name] for name in codes if name not in drawn}
    for step in steps:
        mixed = draws.permutation(n)
        if not step.separator:
            made |= {name: codes[name][mixed] for name in step.below}
            continue
        source = placed([codes[name] for name in step.separator], [made[name] for name in step.separator], mixed)
        made |= {name: codes[name][source] for name in step.below}
    return made


def placed(codes: Sequence[Codes], made: Sequence[Codes], mixed: Codes) -> Codes:
    """For every record that was made one of those that had its values, each taken once, in the order of `mixed`.

    >>> placed([np.array([0, 1, 1])], [np.array([1, 0, 1])], np.array([2, 1, 0])).tolist()
    [2, 0, 1]
    """
    before, after = (cell_numbers(columns, len(mixed)) for columns in (codes, made))
    found = np.empty_like(mixed)
    found[np.argsort(after, kind="stable")] = mixed[np.argsort(before[mixed], kind="stable")]
    return found


def drawn_below(
    codes: Mapping[str, Codes], steps: Sequence[Branch], count: int, draws: np.random.Generator, w: Array | None = None
) -> dict[str, Codes]:
    """`count` records of the model of these tables: of each step a record's columns, among those of its separator.

    w: the weights of the records, where they do not count alike
    """
    n, made = len(next(iter(codes.values()))), dict[str, Codes]()
    for step in steps:
        columns = [np.concatenate([codes[name], made[name]]) for name in step.separator]
        number = cell_numbers(columns, n + count) if columns else np.zeros(n + count, dtype=np.int8)
        order = np.argsort(number[:n], kind="stable")
        total = np.concatenate([[0.0], np.cumsum(np.ones(n) if w is None else w[order])])
        first, last = (np.searchsorted(number[:n][order], number[n:], side) for side in ("left", "right"))
        at = total[first] + draws.random(count) * (total[last] - total[first])
        found = order[np.clip(np.searchsorted(total, at, "right") - 1, first, last - 1)]
        made |= {name: codes[name][found] for name in step.below}
    return made


def fitted_table(table: Array, axes: Sequence[tuple[int, ...]]) -> Array:
    """Expected counts of the loglinear model that keeps some margins: fitted to them in turn (Deming & Stephan)."""
    fit = np.ones_like(table)
    others = [tuple(sorted({*range(table.ndim)} - {*kept})) for kept in axes]
    wanted = [table.sum(axis=each, keepdims=True) for each in others]
    for _ in range(SWEEPS):
        off = 0.0
        for other, target in zip(others, wanted, strict=True):
            now = fit.sum(axis=other, keepdims=True)
            off = max(off, float(np.abs(now - target).max()))
            fit = fit * np.divide(target, now, out=np.zeros_like(target), where=now > 0)
        if off <= CLOSE * table.sum():
            break
    return fit
