"""A role is declared once: its checks, the plan's key, the command line's option and the canonical form follow."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, partial
from typing import Any

from suffice.design.edits import parse as parse_edit
from suffice.design.formula import parse
from suffice.errors import UsageError, escaped

PAIR = ("protect", "verify")
EVERY = (*PAIR, "assess")
"""Commands that ask for a role: most say what is kept, and some what a column is."""


@dataclass(frozen=True)
class RoleRule:
    """What a role may be."""

    metavar: str
    words: Any  # what the command line reads: a text, a whole number, or an option that may repeat
    must: Callable[[Any], str] = lambda _: ""  # what a value must do and does not; empty where nothing is wrong
    settle: Callable[[Any], Any] = lambda value: value  # the one form in which it is kept
    columns: Callable[[Any], Iterable[str]] = lambda _: ()
    canonical: Callable[[Any], object] = lambda value: value  # the same for the same request, however it was written
    parse: Callable[[Any, str], object] = lambda words, _: words  # the value of an option
    spell: Callable[[Any], Sequence[str]] = lambda value: [str(value)]  # and the words of an option that mean a value
    option: str = ""  # what the command line calls it, where that is not its name
    low: int | None = None
    of_confidential: bool = False  # its columns have their role, confidential, and this says more of them
    judges: bool = False  # its column may have a role besides: findings depend on it, and what is joined


@dataclass(frozen=True)
class Role:
    """A role as it is declared; one without a default is required.

    always: it is in the canonical form even where it is the default; releases made with a key depend on that
    asked: the commands that ask for it; a plan holds what `protect` asks for
    """

    rule: RoleRule
    doc: str
    default: Any = ...
    always: bool = False
    asked: Sequence[str] = PAIR
    name: str = ""

    @property
    def option(self) -> str:
        return self.rule.option or f"--{self.name.replace('_', '-')}"


def role(rule: RoleRule, doc: str, default: Any = ..., **more: Any) -> Any:
    """A dataclass field that carries its declaration."""
    made = {"role": Role(rule, doc, default, **more)}
    return field(metadata=made) if default is ... else field(default=default, metadata=made)


@cache
def declared(roles: Any) -> tuple[Role, ...]:
    """The roles of a class, in their order."""
    return tuple(replace(each.metadata["role"], name=each.name) for each in fields(roles))


def names(text: str) -> list[str]:
    """'a,b' -> ['a', 'b']; a name with a comma stands in double quotes."""
    try:
        row = next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error:
        raise UsageError(
            "A list of columns is not understood: a name that ends a line is not in quotes.\n"
            "Put names with commas or ends of lines in double quotes."
        ) from None
    return [name.strip() for name in row if name.strip()]


def _spelt(columns: Iterable[str]) -> list[str]:
    """['a', 'b, c'] -> ['a,"b, c"']: what `names` reads."""
    quoted = (f'"{name.replace(chr(34), 2 * chr(34))}"' if {*name} & {*',"\n\r'} else name for name in columns)
    return [",".join(quoted)]


def pairs(items: Sequence[str] | None, option: str, value: str = "value") -> dict[str, str]:
    """['a=1', 'b=2'] -> {'a': '1', 'b': '2'}."""
    split = [[part.strip() for part in item.partition("=")] for item in items or ()]
    for place, parts in enumerate(split, 1):
        if not all(parts):
            named = escaped(parts[0]) or "name"
            raise UsageError(
                f"{option} number {place} is not of the form name={value}.\nWrite {option} {named}={value}."
            )
    found = [name for name, _, _ in split]
    if twice := sorted({name for name in found if found.count(name) > 1}):
        raise UsageError(f"{option} is given more than once for {', '.join(twice)}.\nGive each name once.")
    return {name: value for name, _, value in split}


def _list_of(what: str, value: Any) -> str:
    if isinstance(value, str) or not isinstance(value, Iterable):
        return f"be a list of {what}"
    named = all(isinstance(name, str) and name for name in value)
    return "" if named else f"hold {what} only, each a text that is not empty"


def at_least(low: int, none: bool = False) -> RoleRule:
    """A whole number from `low`; or none, where that has a meaning."""

    def must(value: Any) -> str:
        counts = isinstance(value, int) and not isinstance(value, bool) and value >= low
        return "" if counts or (none and value is None) else f"be a whole number, {low} or more"

    return RoleRule("N", int, must, low=low)


def one_of(*words: str) -> RoleRule:
    """One of a few words."""
    return RoleRule("|".join(words), str, lambda value: "" if value in words else f"be one of {', '.join(words)}")


def _column(value: Any) -> str:
    return "" if value is None or (isinstance(value, str) and value) else "be one column name"


def _split(words: Any, option: str) -> list[str]:
    return [name for text in words for name in names(text)]


COLUMN = RoleRule("COLUMN", str, _column, columns=lambda value: () if value is None else (value,))
COLUMNS = RoleRule("A,B,...", list[str], partial(_list_of, "column names"), tuple, tuple, sorted, _split, _spelt)
TERMS = RoleRule(
    "FORMULA",
    str,
    must=lambda value: "" if isinstance(value, str) else COLUMNS.must(value),
    settle=lambda value: value if isinstance(value, str) else tuple(value),
    columns=lambda value: parse(value).columns if isinstance(value, str) else value,  # once, in however many terms
    canonical=lambda value: str(parse(value)),
    spell=lambda value: [value if isinstance(value, str) else str(parse(value))],
)
EDITS = RoleRule(
    "EDIT",
    list[str],
    must=partial(_list_of, "edits"),
    settle=tuple,
    canonical=lambda texts: sorted({parse_edit(text).condition for text in texts}),
    spell=list,
    option="--edit",
)
