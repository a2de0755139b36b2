"""A plan proposed for a file: what each column looks like, and why. Names and counts only, never a value."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suffice.design.roles import Roles
from suffice.design.sums import Sum
from suffice.errors import InputError, UsageError, count_of, escaped
from suffice.files.draft import Draft, keep_apart
from suffice.files.format import in_encoding
from suffice.files.kind import write_kind
from suffice.files.source import named_sources, open_rows
from suffice.plan.plan import Plan
from suffice.plan.sight import Guess, Sight, guessed
from suffice.progress import Progress, listener
from suffice.rows.threads import cores

SMALL = 10
"""Levels with fewer records are joined."""
PER_COLUMN = 30
"""Records for each column of X, at least."""
FEWEST = 50
"""Records below which no file of records is proposed."""
MORE = "; more given columns than the records bear, or missing: add it to given or keep"


@dataclass(frozen=True, repr=False)
class Proposal:
    """Roles for the columns of a file, a reason for each, and the plan that follows.

    guesses: every column, in the order of the file
    sums: what holds in every record
    records: how many there are
    """

    source: Path | None
    encoding: str | None
    records: int
    guesses: Sequence[Guess]
    sums: Sequence[Sum]
    roles: Roles | None
    """None where no release of records is proposed; the notes say why."""
    notes: Sequence[str]
    drawn: bool = False
    """Whether all columns are drawn from models."""

    def plan(self, folder: Path | None = None) -> Plan:
        """The plan, as it is run in a folder."""
        if self.roles is None:
            raise InputError("\n".join(self.notes))
        return Plan.of(self._tables(self.roles, folder or Path()), folder or Path())

    def to_toml(self, folder: Path | None = None) -> str:
        """The plan as commented TOML, for a file in that folder."""
        plan = self.plan(folder)
        name = escaped(self.source.name) if self.source else "data"
        heads = [
            f"A plan for {name}: {count_of(self.records, 'record')}, {count_of(len(self.guesses), 'column')}.",
            "Nothing has been released. Every role is a guess from names and counts: correct it, then 'suffice run'.",
        ]
        return "\n".join([*(f"# {line}" for line in [*heads, "", *self._reasons()]), "", plan.to_toml()])

    def write(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """The commented plan as a file."""
        target = Path(path)
        if target.suffix != ".toml":
            raise UsageError("A plan's name ends in .toml. Choose such a name.")
        keep_apart([("the plan", target)], [("the data", self.source)] if self.source else [])
        with Draft(target, force) as draft:
            draft.write(self.to_toml(target.parent).encode())
            draft.settle()
            draft.name()
            draft.done()

    def text(self) -> str:
        """What each column looks like, and why."""
        return "\n".join(self._reasons())

    __str__ = text

    def __repr__(self) -> str:
        return f"Proposal(records={self.records}, roles={self.roles!r})"

    def _reasons(self) -> list[str]:
        wide = max(len(escaped(each.column)) for each in self.guesses)
        told = [f"{escaped(each.column):{wide}}  {each.role:12}  {each.why}" for each in self.guesses]
        held = [f"holds in every record: {escaped(str(each))}" for each in self.sums]
        return [*told, *(["", *held] if held else []), "", *self.notes]

    def _tables(self, roles: Roles, folder: Path) -> dict[str, Any]:
        path = Path(os.path.relpath(self.source, folder)) if self.source else Path("data.csv")
        return {
            "data": {"path": path.as_posix(), **({"encoding": self.encoding} if self.encoding else {})},
            "roles": roles.written(),
            **({"method": [{"name": "synthesis"}]} if self.drawn else {}),
            "release": {"path": _released(path.name)},
        }


def propose(data: Any, *, encoding: str | None = None, progress: Progress | bool | None = None) -> Proposal:
    """Look at a file and propose what each of its columns is, with a reason for each; nothing is released.

    What a column looks like is judged by the first 131,072 records; what is said of every record is looked up in all.

    data: as `protect` takes it.
    encoding: of a text file that is not UTF-8.
    """
    rows = open_rows(in_encoding(data, encoding), cores(), listener(progress))
    if not rows.n or not rows.kinds:
        raise InputError("The file has no records, or no columns.\nGive one that has.")
    seen = Sight.of(rows)
    guesses = guessed(seen)
    why = _unfit(seen, guesses)
    roles = None if why else _roles(seen, guesses)
    notes = why if roles is None else _notes(seen, roles)
    source = named_sources(data)
    final = guesses if roles is None else _settled(guesses, roles)
    drawn = roles is not None and _mixed(seen, [each.column for each in guesses if each.role == "confidential"])
    return Proposal(source[0] if source else None, encoding, rows.n, final, seen.sums, roles, notes, drawn)


def _unfit(seen: Sight, guesses: Sequence[Guess]) -> list[str]:
    """Why no release of records is proposed; empty where one is."""
    confidential = [each for each in guesses if each.role == "confidential"]
    if not confidential:
        return ["No column looks confidential: none holds numbers that others do not know.", "Name the roles yourself."]
    table = "Cells are protected with 'suffice table'; if they are records, name the roles yourself."
    units = any(each.role == "unit" for each in guesses)
    if seen.cells and len(confidential) <= 2 and not units:
        return ["No two records have the same categories: they look like cells of a table.", table]
    return (
        [f"The file has {count_of(seen.n, 'record')}: too few to be released as records.", table]
        if seen.n < FEWEST
        else []
    )


def _roles(seen: Sight, guesses: Sequence[Guess]) -> Roles:
    def of(role: str) -> list[str]:
        return [each.column for each in guesses if each.role == role]

    confidential = of("confidential")
    if _mixed(seen, confidential):
        drawn = [
            each.column for each in guesses if each.role in ("confidential", "number", "category", "crowded", "holed")
        ]
        return Roles(
            confidential=drawn, weight=next(iter(of("weight")), None), identifiers=[*of("identifier"), *of("unit")]
        )
    room = seen.n // PER_COLUMN - 1
    given: list[str] = []
    for name in [*of("number"), *sorted(of("category"), key=lambda name: seen.shapes[name].different)]:
        shape, number = seen.shapes[name], name in of("number")
        cost = 1 if number else shape.different - 1
        if cost <= room and not (number and shape.missing) and len(given) < 4 and "`" not in name:
            given.append(name if number else f"C({name})" if name.isidentifier() else f"C(`{name}`)")
            room -= cost
    inside = {name.removeprefix("C(").removesuffix(")").strip("`") for name in given}
    small = any(seen.shapes[name].rarest < SMALL for name in inside if name in of("category"))
    holes = any(seen.shapes[name].missing for name in inside)
    weights, units = of("weight"), of("unit")
    bounded = {name: (0, None) for name in confidential if not seen.shapes[name].negative}
    edits = [
        str(each)
        for each in seen.sums
        if {*each.columns} <= {*confidential, *inside} and "`" not in "".join(each.columns)
    ]
    return Roles(
        confidential=confidential,
        given=" + ".join(name if name.isidentifier() or "(" in name else f"`{name}`" for name in given),
        weight=weights[0] if weights else None,
        identifiers=of("identifier"),
        merge_below=SMALL if small else 0,
        bounds=bounded,
        edits=edits,
        missing="patterns" if holes else "error",
        unit=units[0] if units else None,
    )


def _mixed(seen: Sight, confidential: Sequence[str]) -> bool:
    """Whether numbers have holes, or codes among them: no moment of such a column means anything."""
    return any(seen.shapes[name].missing or seen.shapes[name].coded for name in confidential)


def _notes(seen: Sight, roles: Roles) -> list[str]:
    if not roles.bounds and _mixed(seen, roles.confidential):
        return [
            "Method: numbers have missing cells, or codes among them, so all columns are drawn from models (synthesis)."
        ]
    whole = [escaped(name) for name in roles.confidential if seen.shapes[name].whole]
    inside = ", turned until they keep the bounds and sums below." if roles.bounds or roles.edits else "."
    method = "Method: none is named, so records get new values with the same means, covariances and regressions"
    rounded = f"Whole numbers: {', '.join(whole)}. integer = [...] rounds them; moments are then near, not exact."
    patterns = "Missing cells stay where they are: each pattern of them is protected as a group."
    return [method + inside, *([rounded] if whole else []), *([patterns] if roles.missing == "patterns" else [])]


def _settled(guesses: Sequence[Guess], roles: Roles) -> list[Guess]:
    """The guesses with the roles that the columns have got."""
    given = roles.terms.columns
    places = {**dict.fromkeys(given, "given"), **dict.fromkeys(roles.identifiers, "identifier")}
    places |= {**dict.fromkeys(roles.confidential, "confidential")}
    places |= {name: role for name, role in ((roles.weight, "weight"), (roles.unit, "unit")) if name}
    reason = {
        "weight": "; there is a weight before it",
        "unit": "; another column tells units",
        "category": MORE,
        "number": MORE,
        "crowded": ": join them first, or say so if it names whose records these are (identifiers, unit)",
    }
    return [
        Guess(each.column, role, each.why)
        if (role := places.get(each.column))
        else Guess(each.column, "left out", each.why + reason.get(each.role, ""))
        for each in guesses
    ]


def _released(name: str) -> str:
    """The name of a release beside the plan, of a kind that can be written."""
    path = Path(name)
    try:
        write_kind(path)
    except UsageError:
        return f"{path.stem}-release.csv"
    return f"{path.stem}-release{path.suffix}"
