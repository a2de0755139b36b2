"""Scores: what measures found in a pair of files, as text, JSON, CSV and a page."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from suffice.certificate.paper import NAMED
from suffice.errors import FileError, UsageError, escaped, path_of, suggest
from suffice.files.draft import Draft, Labelled, commit, keep_apart
from suffice.files.source import named_sources
from suffice.measure.measure import Measure, Value
from suffice.report.exhibit import Exhibit
from suffice.report.page import render
from suffice.seed import is_key

PRIVATE = "Scores are for the data holder: they hold no value of a record, and they are about confidential data."
OWNER = 0o600


@dataclass(frozen=True)
class MeasureScore:
    """What a measure found in a pair of files; of several releases the mean, unless it sees them together."""

    measure: Measure
    outcome: Value
    by_release: tuple[float, ...] = ()
    sampled: str = ""

    @property
    def name(self) -> str:
        return self.measure.name

    @property
    def value(self) -> float:
        return self.outcome.value

    def as_dict(self) -> dict[str, Any]:
        """For programs: what is not a number is null."""
        declared, outcome = self.measure, self.outcome
        return {
            "name": declared.name,
            "family": declared.family,
            "value": _number(outcome.value),
            "range": [_number(end) for end in declared.range],
            "direction": declared.direction,
            "definition": declared.definition,
            "reference": declared.reference,
            "chance": _number(outcome.chance),
            "parts": {name: _number(value) for name, value in outcome.parts.items()},
            "by_release": [_number(value) for value in self.by_release],
            "sampled": self.sampled,
            "said": outcome.said,
        }


@dataclass(frozen=True)
class Scores(Exhibit):
    """The scores of a pair of files, measures that could not be taken and why, and what was done with the files."""

    figures: tuple[MeasureScore, ...]
    left_out: Mapping[str, str]
    notes: tuple[str, ...] = ()
    kept: tuple[Labelled, ...] = field(default=(), repr=False, compare=False)
    """Files that they are of, and a key: never replaced by them."""

    def __getitem__(self, name: str) -> MeasureScore:
        found = {each.name: each for each in self.figures}
        if name not in found:
            why = self.left_out.get(name)
            raise UsageError(
                f"There is no score {name!r}: {why}." if why else f"No score {name!r}.{suggest(name, found)}"
            )
        return found[name]

    def __iter__(self) -> Iterator[MeasureScore]:
        return iter(self.figures)

    def __len__(self) -> int:
        return len(self.figures)

    def text(self) -> str:
        """A table, with every definition under its number."""
        wide = max((len(each.name) for each in self.figures), default=0)
        lines = ["suffice scores"]
        for family in ("risk", "utility"):
            here = [each for each in self.figures if each.measure.family == family]
            lines += [f"\n{family}", *(line for each in here for line in _lines(each, wide))] if here else []
        lines += ["", *(f"not taken: {', '.join(names)}: {why}" for why, names in self._by_reason().items())]
        lines += [*(f"note: {note}" for note in self.notes), PRIVATE]
        return "\n".join(map(escaped, "\n".join(lines).split("\n")))

    def __str__(self) -> str:
        return self.text()

    def _by_reason(self) -> dict[str, list[str]]:
        """Measures that could not be taken, those of one reason together."""
        return {why: [name for name, each in self.left_out.items() if each == why] for why in self.left_out.values()}

    def as_dict(self) -> dict[str, Any]:
        return {
            "suffice": "scores",
            "private": PRIVATE,
            "scores": [each.as_dict() for each in self.figures],
            "left_out": dict(self.left_out),
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False) + "\n"

    def to_csv(self) -> str:
        """A line for every score; parts and what each release has by itself are in the JSON."""
        out = io.StringIO()
        fields = [
            "name",
            "family",
            "value",
            "low",
            "high",
            "direction",
            "chance",
            "sampled",
            "said",
            "definition",
            "reference",
            "private",
        ]
        writer = csv.DictWriter(out, fields, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        for each in self.figures:
            low, high = each.measure.range
            writer.writerow({**each.as_dict(), "low": low, "high": high, "private": PRIVATE})
        return out.getvalue()

    def to_html(self) -> str:
        """A page of its own."""
        return render("scores.html", **self.exhibit())

    def exhibit(self) -> dict[str, Any]:
        return {"kind": "scores", "shown": _shown, "by_reason": self._by_reason(), **self.as_dict()}

    def write(self, path: str | os.PathLike[str], *, force: bool = False, apart: Sequence[Any] = ()) -> None:
        """Write them as .json, .csv or .html, readable by you alone.

        apart: more data that must not be replaced; those that were measured never are
        """
        target = scores_target(path, force, apart)
        keep_apart([("the output", target)], self.kept)
        made = {".json": self.to_json, ".csv": self.to_csv, ".html": self.to_html}[target.suffix.lower()]
        with Draft(target, force, OWNER) as draft:
            draft.write(made().encode())
            draft.settle()
            commit([draft])


def scores_target(
    path: str | os.PathLike[str], force: bool, apart: Sequence[Any], kinds: Sequence[str] = (".json", ".csv", ".html")
) -> Path:
    """Where scores can be written: a kind of file that holds them, not there already, and none of the data."""
    target = path_of(path)
    if target.suffix.lower() not in kinds:
        told = " or ".join(filter(None, (", ".join(kinds[:-1]), kinds[-1])))
        raise UsageError(f"Scores are written as {told}.\nName such a file.")
    keep_apart([("the output", target)], [("the data", each) for data in apart for each in named_sources(data)])
    if target.name.lower().endswith(f"{NAMED}json"):
        raise UsageError("That is the name of a certificate, which is public, and scores are private.\nChoose another.")
    if is_key(target):
        raise UsageError(
            f"The output is a key file: {escaped(target.name)}.\nA key is never overwritten: choose another name."
        )
    if target.exists() and not force:
        raise FileError(
            f"{escaped(target.name)} exists already.\nChoose another name, or overwrite it: force=True (--force)."
        )
    return target


def _number(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)


def _shown(value: float | None, none: str = "-") -> str:
    return none if value is None else f"{value:.4g}"


def _lines(each: MeasureScore, wide: int) -> Iterator[str]:
    declared, outcome = each.measure, each.outcome
    low, high = (f"{end:.4g}" for end in declared.range)
    chance = "" if outcome.chance is None else f", by chance {_shown(outcome.chance)}"
    yield f"  {each.name:<{wide}}  {_shown(_number(each.value)):>9}  ({low} to {high}, {declared.direction}{chance})"
    more = [declared.definition, *([declared.reference] if declared.reference else [])]
    more += [f"sampled: {each.sampled}"] if each.sampled else []
    yield fill(
        ". ".join([*more, *([outcome.said] if outcome.said else [])]) + ".",
        110,
        initial_indent=" " * 6,
        subsequent_indent=" " * 6,
    )
    if each.by_release:
        told = "by release: " + ", ".join(_shown(_number(value)) for value in each.by_release)
        yield fill(told, 110, initial_indent=" " * 6, subsequent_indent=" " * 6)
    if outcome.parts:
        told = ", ".join(f"{name} {_shown(_number(value))}" for name, value in outcome.parts.items())
        yield fill(told, 110, initial_indent=" " * 6, subsequent_indent=" " * 6)
