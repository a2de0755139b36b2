"""What each column of a confidential file is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from suffice.design.bounds import BOUNDS, by_column, whole
from suffice.design.bounds import read as read_bounds
from suffice.design.bounds import written as written_bounds
from suffice.design.edits import Edit
from suffice.design.edits import parse as parse_edit
from suffice.design.formula import Factor, Terms, parse
from suffice.design.role import COLUMN, COLUMNS, EDITS, EVERY, TERMS, Role, at_least, declared, one_of, role
from suffice.errors import InputError, UsageError, suggest

if TYPE_CHECKING:
    from suffice.rows.rows import Kind

NUMERIC = ("float", "integer")
UNFIT = {
    "category": "is text, categorical or boolean, and this method protects numbers. Name it in `given`, "
    "`keep` or `identifiers`, or let synthesis, margins or loglinear draw it.",
    "date": "holds dates, and this method protects numbers. Replace it by a number (a year, an age), or let synthesis "
    "draw it.",
    "other": "is of a kind that is not a number. Replace it by a number, or leave it out.",
}


@dataclass(frozen=True)
class Roles:
    """The confidential columns, the given terms that stay as they are, and what happens to the others.

    **Promises** that no column has two roles, but for a category that is drawn: it may be confidential, and C() of it
    given to those drawn after it. A column in no role is dropped.

    Columns and edits are lists, `given` is a formula or a list, and bounds are {"turnover": (0, None)}.

    >>> Roles(confidential=["turnover"], given="C(region)", weight="w").columns
    ('turnover', 'region', 'w')
    """

    confidential: Sequence[str] = role(
        replace(COLUMNS, canonical=list),
        "Columns to protect, in an order that the methods respect.",
        always=True,
        asked=EVERY,
    )
    given: str | Sequence[str] = role(
        TERMS,
        "What is known and kept: 'C(region) + log(employees)'; empty is the intercept alone.",
        "",
        always=True,
        asked=EVERY,
    )
    weight: str | None = role(COLUMN, "Survey weight.", None, always=True, asked=EVERY)
    identifiers: Sequence[str] = role(
        COLUMNS, "Columns dropped because they name a record.", (), always=True, asked=EVERY
    )
    keep: Sequence[str] = role(COLUMNS, "Columns released unchanged; nothing promised.", (), always=True, asked=EVERY)
    merge_below: int = role(at_least(0), "Join categories with fewer records, or units, than this.", 0, always=True)
    bounds: Any = role(BOUNDS, "What a column never leaves, wages=0: for one end; observed-sign for all others.", ())
    integer: Sequence[str] = role(
        replace(COLUMNS, of_confidential=True), "Confidential columns that hold whole numbers.", ()
    )
    edits: Sequence[str] = role(
        EDITS, "Holds in every record, in confidential and given columns: 'wages <= turnover'.", ()
    )
    groups: Sequence[str] = role(
        COLUMNS, "Columns whose values together tell the groups within which everything is kept.", (), asked=EVERY
    )
    small_groups: str = role(
        one_of("stop", "join", "drop"),
        "Groups with few records, or units: leave them to the guards, which stop; join them to one group; or drop "
        "their records.",
        "stop",
    )
    smallest_group: int | None = role(
        at_least(2, none=True),
        "Records of a group, or units, at least, where small ones are joined or dropped. By default as many records as "
        "X has columns and 10, or 1 more than are confidential, and 5 units.",
        None,
    )
    labels: Sequence[str] = role(COLUMNS, "Columns that tell clusters; methods name them themselves.", (), asked=())
    missing: str = role(
        one_of("error", "drop", "patterns"),
        "Missing cells: refuse, drop the records, or keep the holes and protect each pattern of them as a group.",
        "error",
        asked=EVERY,
    )
    smallest_pattern: int | None = role(
        at_least(2, none=True),
        "Records of such a pattern, at least; those of a smaller one are blanked to a larger one or left out. "
        "By default 10, or as many as X has columns and 2 more than are confidential.",
        None,
    )
    unit: str | None = role(
        replace(COLUMN, judges=True),
        "Column that tells whose record it is, where one firm or person has several: groups and leverage are judged by "
        "units, and small ones are told by them. It leaves only if it has another role.",
        None,
    )

    def __post_init__(self) -> None:
        _refuse([f"`{each.name}` must {must}." for each, value in self.items() if (must := each.rule.must(value))])
        for each, value in self.items():
            object.__setattr__(self, each.name, each.rule.settle(value))
        _refuse([*_two_roles(self), *_limits(self), *_incomplete(self)])

    def items(self) -> Iterator[tuple[Role, Any]]:
        """Every role with its value."""
        return ((each, getattr(self, each.name)) for each in declared(type(self)))  # type: ignore[arg-type]

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
        return tuple(dict.fromkeys([*(name for _, name in _named(self)), *([self.unit] if self.unit else [])]))

    @property
    def leaving(self) -> tuple[str, ...]:
        """The columns that a release has: all but identifiers, and what tells units and nothing else."""
        named = dict.fromkeys(name for _, name in _named(self))
        return tuple(name for name in named if name not in self.identifiers)

    @property
    def drawn(self) -> tuple[str, ...]:
        """Categories that are confidential and given: one method draws them, and others know what was drawn."""
        given = {*self.terms.columns}
        return tuple(name for name in self.confidential if name in given)

    @property
    def once(self) -> Roles:
        """The same with these given and no more, which they are to all but the method that draws them."""
        drawn = self.drawn
        return self.part([name for name in self.confidential if name not in drawn])

    def part(self, confidential: Sequence[str]) -> Roles:
        """The same for some of the confidential columns: bounds, whole numbers and edits are those of these alone, and
        none of them is given."""
        gone, bounds = {*self.confidential} - {*confidential}, self.bounds
        edits = zip(self.edits, self.conditions, strict=True)
        own = (each for each in bounds if isinstance(each, str) or each[0] not in gone)
        return replace(
            self,
            confidential=tuple(confidential),
            given=self.given if not {*confidential} & {*self.drawn} else str(self.terms.without(confidential)),
            bounds=bounds if isinstance(bounds, str) else tuple(own),
            integer=tuple(name for name in self.integer if name not in gone),
            edits=tuple(text for text, edit in edits if not (gone - {*self.drawn}) & {*edit.columns}),
        )

    def dropped(self, columns: Iterable[str]) -> tuple[str, ...]:
        """The columns that have no role."""
        known = {*self.columns}
        return tuple(name for name in columns if name not in known)

    def options(self, command: str) -> list[str]:
        """The words that a command is given to have these roles; clusters count as kept columns there."""
        roles = replace(self, labels=(), keep=(*self.keep, *self.labels))
        told = [(each, value) for each, value in roles.items() if command in each.asked and value != each.default]
        return [word for each, value in told for text in each.rule.spell(value) for word in (each.option, text)]

    def written(self) -> dict[str, Any]:
        """As [roles] of a plan has them: those that a plan may name and that are not at their defaults."""
        told = {each.name: value for each, value in self.items() if "protect" in each.asked and value != each.default}
        if "bounds" in told:
            told["bounds"] = written_bounds(self.bounds)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in told.items()}

    def canonical(self) -> str:
        """The roles as text that is the same for the same request, however it was written."""
        joins = self.merge_below or self.small_groups != "stop"  # then units decide what is released
        own = [(each, value) for each, value in self.items() if joins or not each.rule.judges]
        told = {each.name: each.rule.canonical(v) for each, v in own if each.always or v != each.default}
        return json.dumps(told, sort_keys=True, ensure_ascii=True)

    def check(self, columns: Mapping[str, Kind]) -> None:
        """Refuses a file whose columns cannot have these roles, with every mistake at once.

        columns: the kind of each column of the file
        """
        unknown = [name for name in self.columns if name not in columns]
        mistakes = [f"There is no column {name!r}.{self._hint(name, columns)}" for name in unknown]
        mistakes += [double_role(name, ("confidential", "given")) for name in self.drawn]
        for name in self.confidential:
            if (kind := columns.get(name, "float")) not in NUMERIC:
                mistakes.append(f"Confidential column {name!r} {UNFIT[kind]}")
        if self.weight and columns.get(self.weight, "float") not in NUMERIC:
            mistakes.append(f"The weight {self.weight!r} is not numeric. Name a column of numbers.")
        if self.unit and columns.get(self.unit) in ("date", "other"):
            mistakes.append(f"{self.unit!r} tells units and holds neither text nor numbers. Use one of these.")
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


Roles.__doc__ = "\n".join([f"{Roles.__doc__}", *(f"    {each.name}: {each.doc}" for each in declared(Roles))])


def _refuse(mistakes: Sequence[str]) -> None:
    if mistakes:
        raise UsageError("\n".join(mistakes))


def _named(roles: Roles) -> Iterator[tuple[str, str]]:
    """(role, column) as written; what says more of a confidential column is no second role."""
    own = ((each, value) for each, value in roles.items() if not (each.rule.of_confidential or each.rule.judges))
    return ((each.name, name) for each, value in own for name in each.rule.columns(value))


def _incomplete(roles: Roles) -> Iterator[str]:
    if not roles.confidential:
        yield "No confidential column is named. Name at least one."
    if roles.unit in roles.confidential:
        yield f"Column {roles.unit!r} is confidential, so it cannot tell units. Name the column that does."
    if roles.smallest_pattern is not None and roles.missing != "patterns":
        yield "`smallest_pattern` says how missing cells are kept. Name missing = patterns as well."
    if roles.small_groups != "stop" and not roles.groups:
        yield "`small_groups` says what becomes of small groups. Name `groups` as well."
    if roles.smallest_group is not None and roles.small_groups == "stop":
        yield "`smallest_group` says which groups are small. Name small_groups = join or drop as well."


def double_role(name: str, where: Iterable[str]) -> str:
    return f"Column {name!r} has more than one role: {', '.join(dict.fromkeys(where))}. Give it one."


def _two_roles(roles: Roles) -> Iterator[str]:
    """A category may be confidential and given: C(sex) of what is drawn, which only the method can tell."""
    found: dict[str, list[str]] = {}
    plain = {factor.column for term in roles.terms.terms for factor in term if factor.transform != "C"}
    for where, name in _named(roles):
        found.setdefault(name, []).append(where)
    for name, all_where in found.items():
        for twice in dict.fromkeys(where for where in all_where if all_where.count(where) > 1):
            yield f"Column {name!r} is named twice in `{twice}`. Name it once."
        if len(set(all_where)) > 1 and (name in plain or {*all_where} != {"confidential", "given"}):
            yield double_role(name, all_where)


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
    bounds = by_column(roles.bounds)
    for each, value in roles.items():
        for name in [name for name in value if name not in roles.confidential] if each.rule.of_confidential else ():
            yield f"`{each.name}` names {name!r}, which is not confidential.{suggest(name, roles.confidential)}"
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
