"""JJ files: cells by number with bounds and protection levels, and the equations between them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from suffice.errors import InputError, UsageError, attempt
from suffice.tables.axis import Axis, Sum
from suffice.tables.cellfile import CellFile
from suffice.tables.columns import text_of
from suffice.tables.table import Table

TERM = re.compile(r"(\d+)\s*\(\s*([+-]?\d+(?:\.0*)?)\s*\)")
COLUMNS = ("value", "cost", "status", "low", "high", "lower", "upper", "sliding")
STATUS = ("s", "u", "m", "z")
"""Safe, unsafe, suppressed beside them, and never to be suppressed."""


def read_jj(path: str | os.PathLike[str], encoding: str | None = None) -> CellFile:
    """The cells, numbered as in the file, which is one dimension: `cell`."""
    where, text = Path(path), text_of(path, "a JJ file", encoding)
    lines = [line for line in text.splitlines() if line.strip()]
    count = _count(lines, 1, where.name)
    rows = [line.split() for line in lines[2 : 2 + count]]
    wrong = [k for k, row in enumerate(rows, 3) if len(row) != 9 or row[3].lower() not in STATUS]
    if wrong or len(rows) < count:
        raise InputError(
            f"Line {(wrong or [len(lines) + 1])[0]} of {where.name} is no cell: number, value, cost, status (s, u, m, "
            "z), two bounds and three levels.\nCorrect it."
        )
    numbers = attempt(lambda: np.array([[float(word) for word in (*row[:3], *row[4:])] for row in rows]).reshape(-1, 8))
    if numbers is None or not np.isfinite(numbers).all() or len({row[0] for row in rows}) < count:
        raise InputError(
            f"A cell of {where.name} has no number where one is due, or the number of another.\nCorrect it."
        )
    cells, status = [row[0] for row in rows], [row[3].lower() for row in rows]
    frame = {"cell": cells, **dict(zip(("value", "cost", *COLUMNS[3:]), numbers[:, 1:].T, strict=True))}
    if (frame["sliding"] > frame["lower"] + frame["upper"]).any():
        raise InputError(
            f"{where.name} has sliding protection levels beyond the other two, which no audit here judges."
        )
    frame |= {"sensitive": [word == "u" for word in status], "suppressed": [word in "um" for word in status]}
    sums = [_equation(line, where.name, set(cells)) for line in _equations(lines, 2 + count, where.name)]
    roles = {
        "dims": ["cell"],
        "values": ["value"],
        "hierarchies": {"cell": Axis.of("cell", sums, cells)},
        **{name: name for name in ("sensitive", "suppressed", "lower", "upper", "low", "high")},
    }
    return CellFile(pa.table(frame), roles)


def _count(lines: Sequence[str], place: int, name: str) -> int:
    words = lines[place].split() if place < len(lines) else []
    if not lines or lines[0].strip() != "0" or len(words) != 1 or not words[0].isdecimal():
        raise InputError(f"{name} is no JJ file: it begins with 0 and the number of cells, equations have theirs.")
    return int(words[0])


def _equations(lines: Sequence[str], place: int, name: str) -> Sequence[str]:
    count = _count(lines, place, name)
    if len(lines) < place + 1 + count:
        raise InputError(f"{name} ends before its {count:,} equations do.")
    return lines[place + 1 : place + 1 + count]


def _equation(line: str, name: str, cells: set[str]) -> Sum:
    """0 = the parts less their total, or the total less its parts."""
    head, sign, tail = line.partition(":")
    terms = {cell: round(float(times)) for cell, times in TERM.findall(tail)}
    right = head.split()
    if not sign or len(right) != 2 or attempt(lambda: float(right[0])) != 0 or right[1] != str(len(terms)):
        raise InputError(f"An equation of {name} is not understood.\nWrite 0 3 : 0 (-1) 1 (1) 2 (1).")
    if not terms.keys() <= cells:
        raise InputError(f"An equation of {name} has a cell that is not listed.\nCorrect it.")
    for flip in (1, -1):
        totals = [cell for cell, times in terms.items() if flip * times == -1]
        if len(totals) == 1 and all(abs(times) == 1 for times in terms.values()):
            return totals[0], {cell: flip * times for cell, times in terms.items() if cell != totals[0]}
    raise InputError(f"An equation of {name} has not one total, or counts a cell more than once.")


def jj_text(table: Table, name: str, more: Mapping[str, Sequence[Any]], beforehand: float | None = None) -> str:
    """A table as a JJ file; cells are numbered from zero, hidden ones are among those to be suppressed.

    more: columns of cells: sensitive, suppressed, lower, upper
    """
    x, size = table.values[name], len(table)
    if np.isnan(x).any():
        raise UsageError(
            "A JJ file has a value for every cell, and some have none here.\nGive the records behind them."
        )
    none: Any = np.zeros(size)
    sensitive, suppressed, lower, upper = (
        more.get(each, none) for each in ("sensitive", "suppressed", "lower", "upper")
    )
    far = 10 * (float(np.abs(x).max(initial=0.0)) or 1.0)  # of a cell of which nobody knows an end
    low, high = np.full(size, -far if (x < 0).any() else 0.0), np.full(size, far)
    if beforehand is not None:
        low, high = np.maximum(low, x - beforehand * np.abs(x)), x + beforehand * np.abs(x)
    lines = ["0", str(size)]
    for cell in range(size):
        hidden, zero = table.hidden[cell], table.impossible[cell]
        status = "z" if zero else "u" if sensitive[cell] or hidden else "m" if suppressed[cell] else "s"
        numbers = (low[cell], high[cell], lower[cell], upper[cell], 0)
        ends = " ".join(f"{float(number):.17g}" for number in numbers)
        lines.append(f"{cell} {x[cell]:.17g} {abs(x[cell]):.17g} {status} {ends}")
    relations = table.relations
    lines.append(str(relations.shape[0]))
    for row in range(relations.shape[0]):
        begin, end = relations.indptr[row : row + 2]
        pairs = zip(relations.indices[begin:end], relations.data[begin:end], strict=True)
        lines.append(f"0 {end - begin} : " + " ".join(f"{cell} ({sign:.0f})" for cell, sign in pairs))
    return "\n".join([*lines, ""])
