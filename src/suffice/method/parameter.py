"""What a parameter of a method may be: declared once; checks, messages, options and documentation follow."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, field
from numbers import Integral, Real
from typing import Any, Protocol

from suffice.design.formula import parse


class Rule(Protocol):
    """`read` gives the value in its one canonical form, or raises ValueError; `parse` reads it from text."""

    @property
    def allowed(self) -> str: ...

    def read(self, value: object) -> object: ...

    def parse(self, text: str) -> object: ...


def parameter(rule: Rule, doc: str, default: Any = MISSING, added: bool = False) -> Any:
    """A dataclass field that carries its rule and its one sentence of documentation.

    added: releases were made with a key before it existed, and stay the same where it has its default
    """
    is_data = isinstance(rule, Data)  # data are neither shown nor compared
    told = {"rule": rule, "doc": doc, "added": added}
    return field(default=default, repr=not is_data, compare=not is_data, metadata=told)


@dataclass(frozen=True)
class Number:
    """A finite number between two ends; None too where `none` says what that means."""

    low: float = -math.inf
    high: float = math.inf
    closed: bool = True
    none: str = ""

    @property
    def allowed(self) -> str:
        ends = "[]" if self.closed else "()"
        left, right = f"{ends[0]}{self.low:g}", f"{self.high:g}{ends[1]}"
        span = f"a number in {left}, {right}" if self.high < math.inf else f"a number above {self.low:g}"
        return f"{span}, or none ({self.none})" if self.none else span

    def read(self, value: object) -> float | None:
        if value is None and self.none:
            return None
        if isinstance(value, bool) or not isinstance(value, Real) or not self.contains(float(value)):
            raise ValueError
        return float(value)

    def contains(self, x: float) -> bool:
        inside = self.low <= x <= self.high if self.closed else self.low < x < self.high
        return inside and math.isfinite(x)

    def parse(self, text: str) -> float | None:
        return self.read(None if text.strip().lower() == "none" else _float(text))


@dataclass(frozen=True)
class Count:
    """A whole number from `low`; None too where `none` says what that means."""

    none: str = ""
    low: int = 0

    @property
    def allowed(self) -> str:
        number = f"a whole number from {self.low}" if self.low else "a whole number"
        return f"{number}, or none ({self.none})" if self.none else number

    def read(self, value: object) -> int | None:
        if value is None and self.none:
            return None
        if isinstance(value, bool) or not isinstance(value, Integral) or value < self.low:
            raise ValueError
        return int(value)

    def parse(self, text: str) -> int | None:
        text = text.strip().lower()
        return self.read(None if text == "none" else int(text) if text.isdecimal() else text)


@dataclass(frozen=True)
class Each:
    """One number for all columns, or a sequence with one for each."""

    number: Number

    @property
    def allowed(self) -> str:
        return f"{self.number.allowed}; or a sequence of these"

    def read(self, value: object) -> float | tuple[float | None, ...] | None:
        if not isinstance(value, Iterable) or isinstance(value, str):
            return self.number.read(value)
        entries = tuple(self.number.read(entry) for entry in value)
        if not entries:
            raise ValueError
        return entries

    def parse(self, text: str) -> float | tuple[float | None, ...] | None:
        parts = [self.number.parse(part) for part in text.split(",")]
        return tuple(parts) if len(parts) > 1 else parts[0]


@dataclass(frozen=True)
class Choice:
    """One of a few words."""

    words: tuple[str, ...]

    @property
    def allowed(self) -> str:
        return "one of " + ", ".join(self.words)

    def read(self, value: object) -> str:
        if not isinstance(value, str) or value not in self.words:
            raise ValueError
        return value

    def parse(self, text: str) -> str:
        return self.read(text.strip())


@dataclass(frozen=True)
class Switch:
    """True or false."""

    allowed: str = "true or false"

    def read(self, value: object) -> bool:
        if not isinstance(value, bool):
            raise ValueError
        return value

    def parse(self, text: str) -> bool:
        return self.read({"true": True, "false": False}.get(text.strip().lower()))


@dataclass(frozen=True)
class Order:
    """Every column position once, from 0; or None for the order of the file."""

    allowed: str = "every column position once, counted from 0, or none (the order of the file)"

    def read(self, value: object) -> tuple[int, ...] | None:
        if value is None:
            return None
        if not isinstance(value, Iterable) or isinstance(value, str):
            raise ValueError
        order = tuple(int(entry) if isinstance(entry, Integral) else -1 for entry in value)
        if sorted(order) != list(range(len(order))) or not order:
            raise ValueError
        return order

    def parse(self, text: str) -> tuple[int, ...] | None:
        if text.strip().lower() == "none":
            return None
        return self.read([int(part) if part.strip().isdigit() else -1 for part in text.split(",")])


@dataclass(frozen=True)
class Data:
    """A row-aligned data set: a frame, an array or a path; None where a step before it provides one."""

    allowed: str = "a data set with the rows and the confidential columns of the original, or its path"

    def read(self, value: object) -> object:
        return value

    def parse(self, text: str) -> object:
        return text


@dataclass(frozen=True)
class Formula:
    """Terms of given columns, as in `given`; empty for none."""

    allowed: str = "a formula of given columns such as C(region) + log(employees), or empty"

    def read(self, value: object) -> str:
        if not isinstance(value, str):
            raise ValueError
        if value.strip():
            parse(value)
        return value.strip()

    def parse(self, text: str) -> str:
        return self.read(text)


@dataclass(frozen=True)
class Names:
    """Columns whose values together tell groups; None for no groups."""

    allowed: str = "column names (on the command line with commas between them), or none"

    def read(self, value: object) -> tuple[str, ...] | None:
        if value is None:
            return None
        names = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else ()
        if not names or not all(isinstance(name, str) and name for name in names):
            raise ValueError
        return names

    def parse(self, text: str) -> tuple[str, ...] | None:
        return self.read(None if text.strip().lower() == "none" else [part.strip() for part in text.split(",")])


def _float(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text  # no number: `read` refuses it with the right sentence
