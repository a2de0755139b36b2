"""Skip patterns: what a column is where others say so."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from suffice.design.condition import parse as condition
from suffice.errors import InputError, UsageError

WHOLE = 2.0**53
"""Whole numbers are told apart up to this."""
WRITTEN = 'Write it as: smoke == "NO" -> nociga = -8, with a number, text in quotes, or missing.'
QUOTES = re.compile(r"\"[^\"]*\"|'[^']*'|`[^`]*`")
SETTLED = re.compile(r"\s*(?:`([^`]+)`|([^\s=`]+))\s*=\s*(.+?)\s*", re.DOTALL)


@dataclass(frozen=True)
class SkipRule:
    """Where the condition holds, the column has the value.

    >>> SkipRule.read('smoke == "NO" -> nociga = -8').value
    -8.0
    """

    text: str
    when: str
    column: str
    value: float | str | None

    @classmethod
    def read(cls, text: str) -> SkipRule:
        when, *then = apart(text, "->")
        settled = SETTLED.fullmatch(then[0]) if len(then) == 1 else None
        if settled is None:
            raise UsageError(f"The rule {text!r} is not understood. {WRITTEN}")
        condition(when)
        return cls(text, when.strip(), settled[1] or settled[2], _value(text, settled[3]))

    def check_type(self, whole: bool, dates: Sequence[str]) -> None:
        """whole: whether the column counts in whole numbers; dates: columns of dates, whose numbers nobody sees"""
        if self.column in dates and self.value is not None:
            raise InputError(f"The rule {self.text!r}: {self.column!r} holds dates: rules only leave these missing.")
        if whole and isinstance(self.value, float) and not (self.value.is_integer() and abs(self.value) <= WHOLE):
            raise InputError(f"The rule {self.text!r}: {self.column!r} holds whole numbers.")

    def number(self, levels: Sequence[str] | None, hole: float | None) -> float:
        """The value as the column is coded."""
        if self.value is None:
            if hole is None and levels is None:
                raise InputError(f"The rule {self.text!r} leaves cells missing, and {self.column!r} has none.")
            return 0.0 if hole is None else hole
        if levels is None:
            if isinstance(self.value, str):
                raise InputError(f"The rule {self.text!r}: {self.column!r} holds numbers.")
            return self.value
        if self.value not in levels:
            raise InputError(f"The rule {self.text!r}: {self.column!r} has no such level.")
        return 1.0 + levels.index(str(self.value))


def apart(text: str, sign: str) -> list[str]:
    """The text between signs that stand in no quotes.

    >>> apart('a == "->" -> b = 1', "->")
    ['a == "->" ', ' b = 1']
    """
    hidden = QUOTES.sub(lambda found: " " * len(found[0]), text)
    ends = [*(found.span() for found in re.finditer(re.escape(sign), hidden)), (len(text), len(text))]
    starts = [0, *(stop for _, stop in ends)]
    return [text[start:end] for start, (end, _) in zip(starts, ends, strict=False)]


def _value(text: str, written: str) -> float | str | None:
    if written[:1] in "'\"" and written[-1:] == written[:1] and len(written) > 1:
        return written[1:-1]
    if written == "missing":
        return None
    try:
        if isfinite(number := float(written)):
            return number
    except ValueError:
        pass
    raise UsageError(f"The rule {text!r} is not understood. {WRITTEN}")
