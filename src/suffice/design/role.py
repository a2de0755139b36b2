"""A role is declared once: its checks, the plan's key, the command line's option and the canonical form follow."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cache
from typing import Any, ClassVar

from suffice.design.edits import parse as parse_edit
from suffice.design.formula import parse
from suffice.errors import UsageError


@dataclass(frozen=True)
class RoleRule:
    """What a role may be: a value as it is, unless a rule says more."""

    metavar: ClassVar[str]
    words: ClassVar[Any] = str
    """What the command line reads: a text, a whole number, or an option that may repeat."""

    def must(self, value: Any) -> str:
        """What `value` must do and does not; empty where nothing is wrong."""
        return ""

    def settle(self, value: Any) -> Any:
        """A value that nothing is wrong with, in the one form that is kept."""
        return value

    def columns(self, value: Any) -> Iterable[str]:
        """The columns that have this role and no other."""
        return ()

    def canonical(self, value: Any) -> object:
        """What is the same for the same request, however it was written."""
        return value

    def parse(self, words: Any, option: str) -> object:
        """The value that an option of the command line gives."""
        return words


@dataclass(frozen=True)
class Role:
    """A role as it is declared.

    doc: one sentence or two, for the help of the command line and of Python
    option: what the command line calls it
    always: it is in the canonical form even where it is the default; releases made with a key depend on that
    asked: the commands that ask for it; a plan holds what `protect` asks for
    """

    rule: RoleRule
    doc: str
    default: Any
    option: str = ""
    always: bool = False
    asked: Sequence[str] = ("protect", "verify")
    name: str = ""

    @property
    def required(self) -> bool:
        return self.default is MISSING


def role(rule: RoleRule, doc: str, default: Any = MISSING, **more: Any) -> Any:
    """A dataclass field that carries its declaration."""
    return field(default=default, metadata={"role": Role(rule, doc, default, **more)})


@cache
def declared(roles: type[Any]) -> tuple[Role, ...]:
    """The roles of a class, in their order."""
    found = [(each.name, each.metadata["role"]) for each in fields(roles)]
    return tuple(replace(role, name=name, option=role.option or f"--{name.replace('_', '-')}") for name, role in found)


@dataclass(frozen=True)
class Column(RoleRule):
    """One column, or none."""

    metavar = "COLUMN"

    def must(self, value: Any) -> str:
        return "" if value is None or (isinstance(value, str) and value) else "be one column name"

    def columns(self, value: Any) -> Iterable[str]:
        return () if value is None else (value,)


@dataclass(frozen=True)
class Columns(RoleRule):
    """Columns by name.

    ordered: their order says something
    confidential: they are confidential columns, of which this says more
    """

    metavar = "A,B,..."
    words: ClassVar[Any] = list[str]
    what: ClassVar[str] = "column names"

    ordered: bool = False
    confidential: bool = False

    def must(self, value: Any) -> str:
        if isinstance(value, str) or not isinstance(value, Iterable):
            return f"be a list of {self.what}"
        named = all(isinstance(name, str) and name for name in value)
        return "" if named else f"hold {self.what} only, each a text that is not empty"

    def settle(self, value: Any) -> Any:
        return tuple(value)

    def columns(self, value: Any) -> Iterable[str]:
        return () if self.confidential else value

    def canonical(self, value: Any) -> object:
        return list(value) if self.ordered else sorted(value)

    def parse(self, words: Any, option: str) -> object:
        return [name for text in words for name in names(text)]


@dataclass(frozen=True)
class TermsOfColumns(Columns):
    """Terms of a formula, or columns by name."""

    metavar = "FORMULA"
    words = str

    def must(self, value: Any) -> str:
        return "" if isinstance(value, str) else super().must(value)

    def settle(self, value: Any) -> Any:
        return value if isinstance(value, str) else tuple(value)

    def columns(self, value: Any) -> Iterable[str]:
        return parse(value).columns if isinstance(value, str) else value  # a formula may name one in many terms

    def canonical(self, value: Any) -> object:
        return str(parse(value))

    def parse(self, words: Any, option: str) -> object:
        return words


@dataclass(frozen=True)
class Edits(Columns):
    """Linear conditions as text."""

    metavar = "EDIT"
    what = "edits"

    def columns(self, value: Any) -> Iterable[str]:
        return ()

    def canonical(self, value: Any) -> object:
        return sorted({parse_edit(text).condition for text in value})

    def parse(self, words: Any, option: str) -> object:
        return words


@dataclass(frozen=True)
class AtLeast(RoleRule):
    """A whole number from `low`; or none, where that has a meaning."""

    metavar = "N"
    words = int

    low: int
    none: bool = False

    def must(self, value: Any) -> str:
        counts = isinstance(value, int) and not isinstance(value, bool) and value >= self.low
        return "" if counts or (self.none and value is None) else f"be a whole number, {self.low} or more"


@dataclass(frozen=True)
class OneOf(RoleRule):
    """One of a few words."""

    allowed: tuple[str, ...]

    @property
    def metavar(self) -> str:  # type: ignore[override]
        return "|".join(self.allowed)

    def must(self, value: Any) -> str:
        return "" if value in self.allowed else f"be one of {', '.join(self.allowed)}"


def names(text: str) -> list[str]:
    """'a,b' -> ['a', 'b']; a name with a comma stands in double quotes."""
    row = next(csv.reader([text], skipinitialspace=True), [])
    return [name.strip() for name in row if name.strip()]


def pairs(items: Sequence[str] | None, option: str) -> dict[str, str]:
    """['a=1', 'b=2'] -> {'a': '1', 'b': '2'}."""
    split = [[part.strip() for part in item.partition("=")] for item in items or ()]
    for place, parts in enumerate(split, 1):
        if not all(parts):
            raise UsageError(f"{option} number {place} is not of the form name=value.\nWrite {option} name=value.")
    found = [name for name, _, _ in split]
    twice = sorted({name for name in found if found.count(name) > 1})
    if twice:
        raise UsageError(f"{option} is given more than once for {', '.join(twice)}.\nGive each name once.")
    return {name: value for name, _, value in split}
