"""Conditions on records as text: `income > 110000 and region != "north"`. They are read by hand, never evaluated."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import and_, eq, ge, gt, le, lt, ne, or_
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from suffice.algebra.array import Flags
from suffice.design.edits import LinearReader
from suffice.design.tokens import NAME, QUOTED, tokens
from suffice.errors import InputError, UsageError, suggest
from suffice.rows.arrow import as_float
from suffice.rows.bridge import flags

ACCEPTED = (
    "A condition may hold column names (`in backquotes` where needed), decimal numbers, +, -, *, / by a number, one of "
    "<, <=, >, >=, ==, !=, text in quotes after == or !=, and, or, not, and brackets."
)
TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][+-]?\d{1,3})?)"
    r"|(?P<text>\"[^\"]*\"|'[^']*')|(?P<sign><=|>=|==|!=|[-+*/()<>=]|(?:and|or|not)\b)"
    rf"|(?P<column>{NAME.pattern})|{QUOTED})"
)
COMPARED: Mapping[str, Callable[[Any, Any], Any]] = {"<": lt, "<=": le, ">": gt, ">=": ge, "==": eq, "!=": ne}

Verdict = tuple[Flags, Flags]
"""For which records it holds, and for which it does not: where a cell is missing, neither."""
Judge = Callable[[Mapping[str, Any]], Verdict]


@dataclass(frozen=True)
class Condition:
    """What a record must be to count; where a cell that matters is missing, it does not.

    >>> rich = parse("income > 2*rent and not region == 'north'")
    >>> region = pa.array(["south", "south", "north"])
    >>> rich.of({"income": np.array([5.0, 5.0, 5.0]), "rent": np.array([2.0, 3.0, 2.0]), "region": region}).tolist()
    [True, False, False]
    """

    text: str
    columns: tuple[str, ...]
    judge: Judge

    def of(self, columns: Mapping[str, Any]) -> Flags:
        """columns: as blocks hold them, numbers in NumPy and categories as Arrow text"""
        for name in self.columns:
            if name not in columns:
                raise InputError(
                    f"The condition {self.text!r} names {name!r}, which is no column.{suggest(name, columns)}"
                )
        try:
            return self.judge(columns)[0]
        except UsageError as problem:
            raise InputError(f"The condition {self.text!r} {problem}") from None


def parse(text: str) -> Condition:
    """One condition; anything else than what is accepted is refused."""
    written = " ".join(text.split())
    try:
        return _ConditionReader(tokens(text, TOKEN, ACCEPTED)).condition(written)
    except UsageError as problem:
        raise UsageError(f"The condition {written!r} {problem}") from None


class _ConditionReader(LinearReader):
    """Recursive descent: `or` binds least, then `and`, then `not`."""

    accepted: ClassVar[str] = ACCEPTED

    def condition(self, text: str) -> Condition:
        judge = self.either()
        if self.next():
            raise self.lost()
        named = (text for kind, text in self.tokens if kind in ("column", "quoted"))
        return Condition(text, tuple(dict.fromkeys(named)), judge)

    def either(self) -> Judge:
        return self._joined("or", self.both)

    def both(self) -> Judge:
        return self._joined("and", self.one)

    def _joined(self, word: str, part: Callable[[], Judge]) -> Judge:
        parts = [part()]
        while self.next() == word:
            self.take()
            parts.append(part())
        return parts[0] if len(parts) == 1 else _junction(parts, word == "and")

    def one(self) -> Judge:
        turned = False
        while self.next() == "not":  # a loop: there may be more of them than calls can lie within each other
            self.take()
            turned = not turned
        judge = self.plain()
        return (lambda columns: judge(columns)[::-1]) if turned else judge

    def plain(self) -> Judge:
        place, depth = self.place, self.depth
        try:
            return self.comparison()
        except UsageError:
            if self.tokens[place] != ("sign", "("):
                raise
            self.place, self.depth = place, depth  # a bracket around conditions, and not around a sum
            return self.bracket(self.either)

    def comparison(self) -> Judge:
        (kind, name), (_, sign), (other, text) = (*self.tokens[self.place : self.place + 3], ("end", ""), ("end", ""))[
            :3
        ]
        if kind in ("column", "quoted") and other == "text" and sign in ("==", "!="):
            self.place += 3
            if not text.isascii() and any("\ud800" <= sign <= "\udfff" for sign in text):
                raise UsageError("has text with bytes that are no letters.")
            return _spelt(name, text[1:-1], sign == "==")
        left = self.sum()
        sign = self.take()
        if sign not in COMPARED:
            raise UsageError(f"needs one of {', '.join(COMPARED)}. {ACCEPTED}")
        gap = left + self.sum() * (left.constant * 0 - 1)
        if not gap.columns:
            raise UsageError("holds for every record or for none: no column is left in it.")
        try:
            weights, bound = {column: float(c) for column, c in gap.columns.items()}, float(-gap.constant)
        except OverflowError:
            weights, bound = {"": 0.0}, 0.0
        if not all(weights.values()):
            raise UsageError("has a number that is too large or too small.")
        return _compared(weights, bound, sign)


def _junction(parts: Iterable[Judge], every: bool) -> Judge:
    def judge(columns: Mapping[str, Any]) -> Verdict:
        yes, no = zip(*(part(columns) for part in parts), strict=True)
        return reduce(and_ if every else or_, yes), reduce(or_ if every else and_, no)

    return judge


def _compared(weights: Mapping[str, float], bound: float, sign: str) -> Judge:
    def judge(columns: Mapping[str, Any]) -> Verdict:
        for name in weights:
            if isinstance(columns[name], pa.Array):
                raise UsageError(f"compares {name!r}, which is text, with a number. Write it with text in quotes.")
        terms = (as_float(columns[name]) if c == 1 else c * as_float(columns[name]) for name, c in weights.items())
        total = np.asarray(sum(terms))
        known, holds = ~np.isnan(total), COMPARED[sign](total, bound)
        return holds & known, ~holds & known

    return judge


def _spelt(name: str, text: str, equal: bool) -> Judge:
    def judge(columns: Mapping[str, Any]) -> Verdict:
        if not isinstance(columns[name], pa.Array):
            raise UsageError(f"compares {name!r}, which is numbers, with text. Write a number without quotes.")
        known = flags(columns[name].is_valid())
        same = flags(pc.fill_null(pc.equal(columns[name], text), False)) & known
        return (same, ~same & known) if equal else (~same & known, same)

    return judge
