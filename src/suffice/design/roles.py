"""What each column of a confidential file is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from suffice.design.bounds import read as read_bounds
from suffice.design.bounds import whole
from suffice.design.edits import Edit
from suffice.design.edits import parse as parse_edit
from suffice.design.formula import Factor, Terms, parse
from suffice.errors import InputError, UsageError, suggest
from suffice.rows.rows import Kind

NUMERIC = ("float", "integer")
LISTS = ("confidential", "given", "groups", "labels", "identifiers", "keep", "integer", "edits")
MISSING = ("error", "drop", "patterns")
UNFIT = {
    "category": "is text, categorical or boolean, and only numbers can be protected. Name it in `given`, "
    "`keep` or `identifiers`.",
    "date": "holds dates, and only numbers can be protected. Replace it by a number (a year, an age).",
    "other": "is of a kind that is not a number. Replace it by a number, or leave it out.",
}


@dataclass(frozen=True)
class Roles:
    """The confidential columns, the given terms that stay as they are, and what happens to the others.

    **Promises** that no column has two roles. A column in no role is dropped.

    confidential: numeric columns to protect, in an order that the methods respect
    given: a formula such as "C(region) + log(employees)", or column names; empty is the intercept alone
    weight: column of survey weights
    identifiers: columns dropped because they name a record
    keep: columns released unchanged, about which nothing is promised
    merge_below: levels of a category with fewer records are joined into one
    bounds: {"turnover": (0, None)} by confidential column; "observed-sign": those without negatives stay so
    integer: confidential columns that hold whole numbers
    edits: linear conditions on every record in confidential and given columns, such as "wages <= turnover"
    groups: columns whose values together tell the groups within which everything is kept; they leave as they are
    labels: columns that tell a method its clusters or pieces; they leave as they are, and methods name them themselves
    missing: "error"; "drop" leaves out records with a missing cell in any of these columns; "patterns" protects the
        records with the same missing confidential cells as a group of their own, and keeps the holes
    smallest_pattern: records that such a pattern has at least, 2 or more; those of a smaller one are blanked to a
        larger pattern or left out. None: 10, or as many as X has columns and 2 more than are confidential

    >>> Roles(confidential=["turnover"], given="C(region)", weight="w").columns
    ('turnover', 'region', 'w')
    """

    confidential: Sequence[str]
    given: str | Sequence[str] = ""
    weight: str | None = None
    identifiers: Sequence[str] = ()
    keep: Sequence[str] = ()
    merge_below: int = 0
    bounds: Any = ()
    integer: Sequence[str] = ()
    edits: Sequence[str] = ()
    groups: Sequence[str] = ()
    labels: Sequence[str] = ()
    missing: str = "error"
    smallest_pattern: int | None = None

    def __post_init__(self) -> None:
        mistakes = list(_wrong_types(self))
        if mistakes:
            raise UsageError("\n".join(mistakes))
        for role in LISTS:
            value = getattr(self, role)
            object.__setattr__(self, role, value if isinstance(value, str) else tuple(value))
        mistakes += _two_roles(self)
        mistakes += _limits(self)
        if not self.confidential:
            mistakes.append("No confidential column is named. Name at least one.")
        if mistakes:
            raise UsageError("\n".join(mistakes))

    @property
    def terms(self) -> Terms:
        return parse(self.given)

    @property
    def conditions(self) -> tuple[Edit, ...]:
        """The edits, read."""
        return tuple(map(parse_edit, self.edits))

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that has a role."""
        return tuple(dict.fromkeys(name for _, name in _named(self)))

    def dropped(self, columns: Iterable[str]) -> tuple[str, ...]:
        """The columns that have no role."""
        return tuple(name for name in columns if name not in self.columns)

    def canonical(self) -> str:
        """The roles as text that is the same for the same request, however it was written."""
        roles: dict[str, object] = {
            "confidential": list(self.confidential),
            "given": str(self.terms),
            "identifiers": sorted(self.identifiers),
            "keep": sorted(self.keep),
            "merge_below": self.merge_below,
            "weight": self.weight,
        }
        if self.bounds:
            roles["bounds"] = self.bounds
        if self.integer:
            roles["integer"] = sorted(self.integer)
        if self.edits:
            roles["edits"] = sorted({edit.condition for edit in self.conditions})
        if self.groups:
            roles["groups"] = sorted(self.groups)
        if self.labels:
            roles["labels"] = sorted(self.labels)
        if self.missing != "error":
            roles["missing"] = self.missing
        if self.smallest_pattern is not None:
            roles["smallest_pattern"] = self.smallest_pattern
        return json.dumps(roles, sort_keys=True, ensure_ascii=True)

    def check(self, columns: Mapping[str, Kind]) -> None:
        """Refuses a file whose columns cannot have these roles, with every mistake at once.

        columns: the kind of each column of the file
        """
        unknown = [name for name in self.columns if name not in columns]
        mistakes = [f"There is no column {name!r}.{self._hint(name, columns)}" for name in unknown]
        for name in self.confidential:
            if (kind := columns.get(name, "float")) not in NUMERIC:
                mistakes.append(f"Confidential column {name!r} {UNFIT[kind]}")
        if self.weight and columns.get(self.weight, "float") not in NUMERIC:
            mistakes.append(f"The weight {self.weight!r} is not numeric. Name a column of numbers.")
        for name in (*self.groups, *self.labels):
            if (kind := columns.get(name, "category")) not in ("category", "integer"):
                mistakes.append(f"{name!r} tells groups and holds {kind}s. Use text or whole numbers.")
        for factor in dict.fromkeys(factor for term in self.terms.terms for factor in term):
            if factor.column in columns:
                mistakes += _misused(factor, columns[factor.column])
        for edit in self.conditions:
            text = [name for name in edit.columns if name not in self.confidential and columns.get(name) == "category"]
            mistakes += [f"Edit {edit.name!r} names {name!r}, which is not a number. Drop it." for name in text]
        if mistakes:
            raise InputError("\n".join(mistakes))

    def _hint(self, name: str, columns: Mapping[str, Kind]) -> str:
        if not isinstance(self.given, str) and name in self.given and "(" in name:
            return " A list holds column names only; write `given` as one formula to use C() or a transform."
        return suggest(name, columns)


def _wrong_types(roles: Roles) -> Iterator[str]:
    for role in LISTS:
        value, what = getattr(roles, role), "edits" if role == "edits" else "column names"
        if isinstance(value, str) and role == "given":
            continue
        if isinstance(value, str) or not isinstance(value, Iterable):
            yield f"`{role}` must be a list of {what}."
        elif not all(isinstance(name, str) and name for name in value):
            yield f"`{role}` must hold {what} only, each a text that is not empty."
    if not (roles.weight is None or (isinstance(roles.weight, str) and roles.weight)):
        yield "`weight` must be one column name."
    if isinstance(roles.merge_below, bool) or not isinstance(roles.merge_below, int) or roles.merge_below < 0:
        yield "`merge_below` must be a whole number, 0 or more."
    if roles.missing not in MISSING:
        yield f"`missing` must be one of {', '.join(MISSING)}."
    least = roles.smallest_pattern
    if least is not None and (isinstance(least, bool) or not isinstance(least, int) or least < 2):
        yield "`smallest_pattern` must be a whole number, 2 or more."
    elif least is not None and roles.missing != "patterns":
        yield "`smallest_pattern` says how missing cells are kept. Name missing = patterns as well."


def _named(roles: Roles) -> Iterator[tuple[str, str]]:
    """(role, column) as written; in a formula a column may stand in many terms, and counts once."""
    yield from (("confidential", name) for name in roles.confidential)
    given = roles.terms.columns if isinstance(roles.given, str) else roles.given
    yield from (("given", name) for name in given)
    yield from (("groups", name) for name in roles.groups)
    yield from (("labels", name) for name in roles.labels)
    yield from (("weight", name) for name in [roles.weight] if name is not None)
    yield from (("identifiers", name) for name in roles.identifiers)
    yield from (("keep", name) for name in roles.keep)


def _two_roles(roles: Roles) -> Iterator[str]:
    found: dict[str, list[str]] = {}
    for role, name in _named(roles):
        found.setdefault(name, []).append(role)
    for name, where in found.items():
        for role in dict.fromkeys(role for role in where if where.count(role) > 1):
            yield f"Column {name!r} is named twice in `{role}`. Name it once."
        if len(set(where)) > 1:
            yield f"Column {name!r} has more than one role: {', '.join(dict.fromkeys(where))}. Give it one."


def _limits(roles: Roles) -> Iterator[str]:
    """What is wrong with bounds, whole numbers and edits; the bounds are settled on the way."""
    try:
        object.__setattr__(roles, "bounds", read_bounds(roles.bounds, roles.confidential))
    except UsageError as problem:
        yield str(problem)
        object.__setattr__(roles, "bounds", ())
    yield from _bounded(roles)
    yield from _edited(roles)


def _bounded(roles: Roles) -> Iterator[str]:
    bounds = dict(() if isinstance(roles.bounds, str) else roles.bounds)
    for name in [name for name in roles.integer if name not in roles.confidential]:
        yield f"`integer` names {name!r}, which is not confidential.{suggest(name, roles.confidential)}"
    for name in [name for name in bounds if name in roles.integer]:
        low, high = whole(bounds[name])
        if low is not None and high is not None and low > high:
            yield f"No whole number lies between the bounds of {name!r}."


def _edited(roles: Roles) -> Iterator[str]:
    known, names = {*roles.confidential, *roles.terms.columns}, set()
    for text in roles.edits:
        try:
            edit = parse_edit(text)
        except UsageError as problem:
            yield str(problem)
            continue
        if edit.name in names:
            yield f"Two edits have the name {edit.name!r}. Name each once."
        names.add(edit.name)
        for name in [name for name in edit.columns if name not in known]:
            yield f"Edit {edit.name!r}: column {name!r} is neither confidential nor given.{suggest(name, known)}"
        if not {*edit.columns} & {*roles.confidential}:
            yield f"Edit {edit.name!r} names no confidential column, so nothing can change it. Drop it."


def _misused(factor: Factor, kind: Kind) -> Iterator[str]:
    name, transform = factor.column, factor.transform
    if kind == "date":
        yield f"Given column {name!r} holds dates. Replace it by a year, an age or a quarter."
    elif kind == "other":
        yield f"Given column {name!r} is neither a number nor a category. Convert it, or leave it out."
    elif kind == "float" and transform == "C":
        yield f"C() of {name!r}: its values are not whole numbers in type. Store it as integer or text first."
    elif kind == "category" and transform not in (None, "C"):
        yield f"{transform}() of {name!r}: it is text, categorical or boolean. Drop the transform."
