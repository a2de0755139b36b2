"""What each column of a file looks like, by its name and by counts, and why: names and counts only, never a value."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from suffice.design.levels import missing
from suffice.design.sums import Sum, holding, sums
from suffice.errors import count_of
from suffice.rows.arrow import as_float, concatenated
from suffice.rows.rows import Block, Rows

IDENTIFIES = re.compile(
    r"(^|[_. ])(u|p|h|hh)?id([_. ]?(no|nr|number))?$|[a-z]Id$|[A-Z]ID$|[A-Z]{2}NAME$"
    r"|(^|[_. ])(ident\w*|name|surname|ssn|passport|phone|e?mail|address|iban|vat|serial|respondent|company|firm)$",
)
WEIGHS = re.compile(
    r"(^|[_. ])(w|wt|weights?|pond\w*|gewicht|expansion)$|wgt\w*$|(sampl\w*|surv\w*|house\w*)[_. ]?w", re.I
)
BODY = re.compile(r"(^|[_. ])(height|bmi)$", re.I)
KNOWN = re.compile(
    r"(^|[_. ])(age|years?|months?|quarter|date|birth\w*|employees|size|rooms|persons)$|year$|^[ymq]\w{0,3}marr", re.I
)
FEW = 20
"""Whole numbers of so many different values are codes."""
LEVELS = 12
"""Levels of a given category, at most: with more, cells are small."""
HOLES = 0.3
"""Share of missing cells beyond which a column is left out."""


@dataclass(frozen=True)
class Guess:
    """What a column looks like, and why."""

    column: str
    role: str
    why: str


@dataclass(frozen=True)
class Shape:
    """Counts of one column: of the first records, and (missing, negative, broken) of all."""

    kind: str
    different: int
    rarest: int
    missing: int
    negative: bool
    whole: bool
    coded: bool
    """Whether few negative values, each of several records, stand beside many others: codes of answers not given."""
    running: bool
    """Whole numbers without repetition that fill their range by half: numbers of records."""


@dataclass(frozen=True)
class _Whole:
    """Of all records: missing and negative cells, cells that are no whole numbers, and the sums that hold."""

    missing: Mapping[str, int]
    negative: Mapping[str, int]
    broken: Mapping[str, int]
    held: Sequence[bool]

    def __add__(self, other: _Whole) -> _Whole:
        def add(one: Mapping[str, int], two: Mapping[str, int]) -> Mapping[str, int]:
            return {name: one[name] + two[name] for name in one}

        held = [a and b for a, b in zip(self.held, other.held, strict=True)]
        return _Whole(
            add(self.missing, other.missing), add(self.negative, other.negative), add(self.broken, other.broken), held
        )


@dataclass(frozen=True)
class Sight:
    """The shape of every column, and the sums that hold in all records."""

    n: int
    shapes: Mapping[str, Shape]
    sums: Sequence[Sum]
    cells: bool
    """Whether no two records have the same categories: then records are cells of a table."""

    @classmethod
    def of(cls, rows: Rows) -> Sight:
        usable = [name for name, kind in rows.kinds.items() if kind in ("float", "integer", "category")]
        first = next(iter(rows.runs(usable)))
        head = {name: concatenated([block.columns[name] for block in first]) for name in usable}
        numeric = [name for name in usable if rows.kinds[name] != "category"]
        found = list(sums(_complete({name: as_float(head[name]) for name in numeric})))
        whole = rows.fold(lambda block: _counted(block, usable, numeric, found), usable, "looking")
        shapes = {name: _shape(kind, head.get(name), whole, name, rows.n) for name, kind in rows.kinds.items()}
        kept = [each for each, held in zip(found, whole.held, strict=True) if held]
        codes = [
            head[name] for name in usable if shapes[name].kind != "float" and shapes[name].different <= rows.n // 2
        ]
        records = Counter(zip(*(np.asarray(values).tolist() for values in codes), strict=True)) if codes else Counter()
        return cls(rows.n, shapes, kept, bool(records) and max(records.values()) == 1)


def _complete(columns: Mapping[str, Any]) -> dict[str, Any]:
    """The columns with few missing cells, in the records that have all of these."""
    kept = {name: values for name, values in columns.items() if np.isnan(values).mean() < HOLES}
    if not kept:
        return {}
    here = np.logical_and.reduce([np.isfinite(values) for values in kept.values()])
    return {name: values[here] for name, values in kept.items()} if here.any() else {}


def _counted(block: Block, usable: Sequence[str], numeric: Sequence[str], found: Sequence[Sum]) -> _Whole:
    values = {name: as_float(block.columns[name]) for name in numeric}
    return _Whole(
        {
            name: int(np.isnan(values[name]).sum() if name in values else missing(block.columns[name]).sum())
            for name in usable
        },
        {name: int((each < 0).sum()) for name, each in values.items()},
        {name: int((np.isfinite(each) & (np.trunc(each) != each)).sum()) for name, each in values.items()},
        holding(found, values),
    )


def _shape(kind: str, head: Any, whole: _Whole, name: str, n: int) -> Shape:
    if head is None:
        return Shape(kind, 0, 0, 0, False, False, False, False)
    if kind == "category":
        counts = pc.value_counts(pc.drop_null(head)).field("counts").to_numpy(zero_copy_only=False)
        return Shape(kind, len(counts), int(counts.min(initial=n)), whole.missing[name], False, False, False, False)
    values = as_float(head)
    values = values[np.isfinite(values)]
    different, counts = np.unique(values, return_counts=True)
    even = whole.broken[name] == 0
    running = even and len(different) == len(values) > 1 and bool(np.ptp(different) < 2 * len(values))
    below = counts[different < 0]
    coded = 0 < len(below) <= 3 and below.min() > 1 and len(different) > FEW
    negative, rarest = whole.negative[name] > 0, int(counts.min(initial=n))
    return Shape(kind, len(different), rarest, whole.missing[name], negative, even, bool(coded), running)


def guessed(seen: Sight) -> list[Guess]:
    """One for each column, by itself."""
    body = any(BODY.search(name) for name in seen.shapes)
    return [Guess(name, *_role(name, shape, seen.n, body)) for name, shape in seen.shapes.items()]


def _role(name: str, shape: Shape, n: int, body: bool) -> tuple[str, str]:
    if shape.kind in ("date", "other"):
        return "left out", "neither numbers nor categories"
    if shape.different <= 1:
        return "left out", "one value in all records"
    if shape.missing > HOLES * n:
        return "holed", f"missing in {shape.missing / n:.0%} of the records"
    named = bool(IDENTIFIES.search(name))
    if shape.running or (shape.kind == "category" and shape.different == n):
        return "identifier", "another value in every record"
    if named and shape.different > FEW and shape.kind != "float":
        return "identifier" if shape.different > 0.9 * n else "unit", "named like an identifier" + (
            "" if shape.different > 0.9 * n else ", and records share its values: it tells whose record it is"
        )
    if shape.kind == "category":
        if shape.different > LEVELS:
            return "crowded", count_of(shape.different, "level")
        return "category", count_of(shape.different, "level")
    if WEIGHS.search(name) and not shape.negative and not shape.missing:
        if body and re.fullmatch(r"(?i)weight", name):
            return "confidential", "numbers; a body's weight, as there are its other measures"
        return "weight", "named like a survey weight, none negative, none missing"
    if shape.kind == "integer" and shape.different <= FEW:
        if shape.different > LEVELS:
            return "crowded", f"whole numbers with {shape.different} different values: codes?"
        return "category", f"whole numbers with {shape.different} different values: codes"
    kind = f"{'whole ' if shape.whole else ''}numbers with {'many' if shape.different > 100 else shape.different}"
    if KNOWN.search(name):
        return "number", f"{kind} different values, named like what others may know"
    sign = (
        "; few negative values: codes of missing answers?"
        if shape.coded
        else ""
        if shape.negative
        else ", none negative"
    )
    return "confidential", f"{kind} different values{sign}"
