"""Which cells of a table are sensitive, why, and how well they must be protected."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from suffice.algebra.array import Array, Flags
from suffice.errors import InputError, UsageError, attempt
from suffice.tables.columns import text_of
from suffice.tables.rules import DirectDisclosure, MinimumFrequency, PrimaryRule
from suffice.tables.table import Table

BY_NUMBERS = (MinimumFrequency, DirectDisclosure)
"""Rules on counts, whose protection is the number of possible whole numbers."""
LAID_DOWN = ("status", "cost", "lower", "upper")
STATUS = {"u": "unsafe", "unsafe": "unsafe", "s": "safe", "safe": "safe", "p": "forced", "forced": "forced"}


@dataclass(frozen=True)
class Prior:
    """What is laid down for one cell beforehand.

    status: unsafe, safe, or forced - it will be published whatever comes
    """

    codes: tuple[str, ...]
    status: str | None = None
    cost: float | None = None
    lower: float | None = None
    upper: float | None = None


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class Sensitivity:
    """Sensitive cells of one value of a table.

    lower, upper: how far below and above its value the interval of a sensitive cell must reach
    why: names of the rules that each cell meets
    forced: cells that must be published as they are
    cost: what suppressing a cell is said to cost
    capacity: what an adjustment may change a cell by; not a number where nobody says it
    known: between which every attacker knows the cells to be
    last: cells that the pattern of an earlier table suppressed, which are preferred
    """

    value: str
    sensitive: Flags
    lower: Array
    upper: Array
    why: tuple[tuple[str, ...], ...]
    forced: Flags
    cost: Array
    rules: tuple[PrimaryRule, ...] = ()
    weights: str = "largest"
    judged: Array | None = None
    """The value's cells that the rules have seen."""
    capacity: Array | None = None
    known: tuple[Array, Array] | None = None
    last: Flags | None = None

    def check(self, table: Table) -> None:
        """Refuses a table that it is not of."""
        cells = table.values[value_of(table, self.value)]
        other = len(self.sensitive) != len(cells)
        if not other and self.judged is not None:
            other = bool((np.abs(self.judged - cells) > 1e-9 * np.abs(cells)).any())
        if other:
            raise UsageError(f"What is sensitive in {self.value!r} was found in another table.\nFind it in this one.")

    def frame(self) -> dict[str, list[object]]:
        """Columns for the frame of the table."""
        return {
            "sensitive": self.sensitive.tolist(),
            "rule": [" ".join(names) for names in self.why],
            "lower": np.where(self.sensitive, self.lower, 0.0).tolist(),
            "upper": np.where(self.sensitive, self.upper, 0.0).tolist(),
            **({"forced": self.forced.tolist()} if self.forced.any() else {}),
            **({"cost": self.cost.tolist()} if self._costly else {}),
        }

    @property
    def _costly(self) -> bool:
        """Whether costs were laid down: else a cell costs what it is."""
        return self.judged is not None and not np.array_equal(self.cost, np.abs(self.judged), equal_nan=True)


def find_sensitive(
    table: Table,
    rules: Sequence[PrimaryRule],
    value: str | None = None,
    *,
    weights: str = "largest",
    priors: Sequence[Prior] = (),
) -> Sensitivity:
    """The cells that any of the rules, or a decision beforehand, calls sensitive.

    weights: of weighted tables: the `largest` contributions as they are, or each `repeated` as often as it weighs

    >>> from suffice.demo import firms
    >>> table = Table.of_records(firms(300), ["region", "industry"], ["turnover"])
    >>> from suffice.tables.rules import PPercent
    >>> found = find_sensitive(table, [PPercent(10)], "turnover")
    >>> bool(found.sensitive.any()), bool(found.sensitive.all())
    (True, False)
    """
    name = value_of(table, value)
    cells, whole = table.makeup(name, weights), name in table.counts
    met, below, upper = [], np.zeros(len(table)), np.zeros(len(table))
    for rule in rules:
        here = (rule.sensitive(cells) | rule.in_table(table, name)) & ~table.impossible & ~table.hidden
        met.append(here)
        if not (whole and isinstance(rule, BY_NUMBERS)):
            below = np.where(here, np.maximum(below, rule.lower(cells)), below)
            upper = np.where(here, np.maximum(upper, rule.level(cells)), upper)
    why = [[rule.name for rule, here in zip(rules, met, strict=True) if here[cell]] for cell in range(len(table))]
    sensitive = np.any(met, axis=0) if met else np.zeros(len(table), dtype=bool)
    x = table.values[name]
    signed = bool((x < 0).any())
    lower = below if signed else np.minimum(below, np.nan_to_num(x))
    forced, cost = np.zeros(len(table), dtype=bool), np.abs(x)
    for prior in priors:
        cell = table.find(*prior.codes)
        _lay_down(table, prior, cell, sensitive, forced, why)
        for target, given in ((cost, prior.cost), (lower, prior.lower), (upper, prior.upper)):
            if given is not None and not 0 <= given < np.inf:
                raise InputError(f"A cost or level laid down for {table.label(cell)} is negative or no number.")
            target[cell] = target[cell] if given is None else given
        if not signed and lower[cell] > x[cell]:
            raise InputError(
                f"The protection level laid down for {table.label(cell)} is above the cell's value: no cell is "
                "negative, so no pattern can give that.\nLower it."
            )
    return Sensitivity(name, sensitive, lower, upper, tuple(map(tuple, why)), forced, cost, tuple(rules), weights, x)


def value_of(table: Table, value: str | None) -> str:
    """The value that is meant: the only one, or the one besides the count."""
    if value is None:
        others = [name for name in table.values if name != "count"] or list(table.values)
        if len(others) > 1:
            raise UsageError(f"The table has several values: {', '.join(others)}.\nName one.")
        return others[0]
    if value not in table.values:
        raise UsageError(f"The table has no value {value!r}; it has {', '.join(table.values)}.")
    return value


def _lay_down(table: Table, prior: Prior, cell: int, sensitive: Flags, forced: Flags, why: list[list[str]]) -> None:
    if prior.status == "unsafe":
        sensitive[cell] = True
        why[cell].append("prior")
    elif prior.status == "safe":
        sensitive[cell] = False
        why[cell].clear()
    elif prior.status == "forced":
        forced[cell] = True
        if sensitive[cell]:
            raise InputError(
                f"{table.label(cell)} must be published and is sensitive.\nCall it safe, or do not force it."
            )


def read_priors(path: str | os.PathLike[str], dims: Sequence[str], encoding: str | None = None) -> list[Prior]:
    """Decisions in a file: the dimensions with status, cost, lower and upper; or lines as tau-ARGUS has them.

    Those are codes, then u, s or p, or c and a cost, or pl and two levels, lower and upper.
    """
    where, text = Path(path), text_of(path, "decisions beforehand", encoding)
    lines = [line for line in text.splitlines() if line.strip()]
    sign = ";" if lines and lines[0].count(";") > lines[0].count(",") else ","
    rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=sign)]
    if rows and set(dims) <= set(rows[0]):
        return list(_titled(rows, dims, where.name))
    return list(_tau(rows, len(dims), where.name))


def _titled(rows: Sequence[Sequence[str]], dims: Sequence[str], name: str) -> Iterator[Prior]:
    head = rows[0]
    unknown = [word for word in head if word not in (*dims, *LAID_DOWN)]
    if unknown or len(set(head)) == len(dims):
        raise InputError(
            f"{name} has columns that are no dimension and none of {', '.join(LAID_DOWN)}, or none of these.\n"
            "Name them so in the first line."
        )
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(head):
            raise InputError(f"Line {number} of {name} has more or fewer cells than the header.\nCorrect it.")
        cell = dict(zip(head, row, strict=True))
        status = cell.get("status", "")
        if status and status.lower() not in STATUS:
            raise InputError(f"Line {number} of {name} has an unknown status.\nWrite unsafe, safe or forced.")
        costs = [_number(cell.get(each, ""), number, name) for each in ("cost", "lower", "upper")]
        yield Prior(tuple(cell[dim] for dim in dims), STATUS.get(status.lower()), *costs)


def _tau(rows: Sequence[Sequence[str]], dims: int, name: str) -> Iterator[Prior]:
    for number, row in enumerate(rows, 1):
        codes, word, numbers = tuple(row[:dims]), "".join(row[dims : dims + 1]).lower(), row[dims + 1 :]
        given = [_number(text, number, name) for text in numbers if text]
        if word in STATUS and not given:
            yield Prior(codes, STATUS[word])
        elif word == "c" and len(given) == 1:
            yield Prior(codes, cost=given[0])
        elif word == "pl" and len(given) == 2:
            yield Prior(codes, lower=given[0], upper=given[1])
        else:
            raise InputError(
                f"Line {number} of {name} is not understood.\n"
                f"Write {dims} codes, then u, s or p, or c and a cost, or pl and two levels."
            )


def _number(text: str, line: int, name: str) -> float | None:
    if not text:
        return None
    value = attempt(lambda: float(text))
    if value is None or not 0 <= value < np.inf:
        raise InputError(f"Line {line} of {name} has no number where one is due, or a negative one.\nCorrect it.")
    return value
