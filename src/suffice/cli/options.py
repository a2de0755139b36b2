"""Options that commands share, and the text forms of lists and pairs."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from suffice.errors import UsageError

Confidential = Annotated[str, typer.Option(metavar="A,B,...", help="Columns to protect.")]
Given = Annotated[
    str,
    typer.Option(metavar="FORMULA", help="What is known and kept: 'C(region) + log(employees)'."),
]
Weight = Annotated[str | None, typer.Option(metavar="COLUMN", help="Survey weight.")]
Identifiers = Annotated[str, typer.Option(metavar="A,B,...", help="Columns that are dropped.")]
Keep = Annotated[
    str,
    typer.Option(metavar="A,B,...", help="Columns released unchanged; nothing promised."),
]
MergeBelow = Annotated[
    int,
    typer.Option(metavar="N", min=0, help="Join categories with fewer records than this."),
]
Groups = Annotated[
    str,
    typer.Option(metavar="A,B,...", help="Groups within which everything is kept."),
]
Missing = Annotated[
    str,
    typer.Option(metavar="error|drop|patterns", help="Missing cells: refuse, drop the records, or keep the holes."),
]
SmallestPattern = Annotated[
    int | None,
    typer.Option(metavar="N", min=2, help="Records of a pattern of missing cells, at least."),
]
Bound = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=LOW:HIGH", help="What a column never leaves, wages=0: for one end; or observed-sign."),
]
Integer = Annotated[str, typer.Option(metavar="A,B,...", help="Columns released as whole numbers.")]
EditText = Annotated[
    list[str] | None,
    typer.Option("--edit", metavar="EDIT", help="Holds in every record: 'wages + taxes <= turnover'. May repeat."),
]
MethodName = Annotated[
    str,
    typer.Option("--method", metavar="NAME", help="See 'suffice methods'."),
]
Param = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="A parameter of --method; may repeat."),
]
Then = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="A second step, fed with the first: --then restore. More steps: a plan."),
]
ThenParam = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="A parameter of --then; may repeat."),
]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Secret key, from 'suffice key new'. Without one the release cannot be repeated."
    ),
]
Accept = Annotated[
    list[str] | None,
    typer.Option(metavar="RULE=REASON", help="Release in spite of a finding; the reason is recorded. May repeat."),
]
Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The release.")]
Report = Annotated[
    Path | None,
    typer.Option(metavar="FILE.html", help="A private before-and-after report, for the data holder only."),
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Threads = Annotated[int | None, typer.Option(metavar="N", min=1, help="Threads; they do not change a digit.")]


def names(text: str) -> list[str]:
    """'a,b' -> ['a', 'b']; a name with a comma stands in double quotes."""
    row = next(csv.reader([text], skipinitialspace=True), [])
    return [name.strip() for name in row if name.strip()]


def bounds(items: Sequence[str] | None) -> dict[str, str] | str:
    """['a=0:', 'b=:1'] -> {'a': '0:', 'b': ':1'}; the word observed-sign stays."""
    from suffice.design.bounds import OBSERVED

    return OBSERVED if items == [OBSERVED] else pairs(items, "--bound")


def pairs(items: Sequence[str] | None, option: str) -> dict[str, str]:
    """['a=1', 'b=2'] -> {'a': '1', 'b': '2'}."""
    split = [item.partition("=") for item in items or ()]
    for place, (name, equals, value) in enumerate(split, 1):
        if not (name.strip() and equals and value.strip()):
            raise UsageError(f"{option} number {place} is not of the form name=value.\nWrite {option} name=value.")
    names_given = [name.strip() for name, _, _ in split]
    twice = sorted({name for name in names_given if names_given.count(name) > 1})
    if twice:
        raise UsageError(f"{option} is given more than once for {', '.join(twice)}.\nGive each name once.")
    return {name.strip(): value.strip() for name, _, value in split}
