"""The commands on tables: make one, find its sensitive cells, audit a pattern, publish it with decimals, ask sums."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.cli import options as o
from suffice.design.role import names, pairs
from suffice.errors import FileError, UsageError

if TYPE_CHECKING:
    from suffice.tables.audit import Audit
    from suffice.tables.publication import TableMethod
    from suffice.tables.sensitivity import Sensitivity
    from suffice.tables.table import Table

table = typer.Typer(help="Tables: make, find sensitive cells, audit, publish with decimals, ask.", no_args_is_help=True)

Some = str | None
Dims = Annotated[Some, typer.Option(metavar="COLUMNS", help="Columns of the dimensions, crossed.")]
Formula = Annotated[Some, typer.Option(metavar="FORMULA", help="Which crossings: 'region * industry + county * size'.")]
Values = Annotated[Some, typer.Option("--value", metavar="COLUMNS", help="Columns that are added up. Without: counts.")]
Value = Annotated[Some, typer.Option(metavar="COLUMN", help="The value that is judged.")]
Totals = Annotated[
    str, typer.Option(metavar="CODES", help="Codes of totals, for all dimensions or DIMENSION=CODE; commas between.")
]
Hierarchy = Annotated[
    o.Texts,
    typer.Option(metavar="DIMENSION=FILE", help=".hrc, or CSV of child,parent or mapsFrom,mapsTo,sign. May repeat."),
]
Rules = Annotated[
    o.Texts,
    typer.Option(
        "--rule",
        metavar="RULE=NUMBERS",
        help="frequency=4, contributors=3, dominance=2,85, p=10, pq=10,50, request=70, direct=1. May repeat.",
    ),
]
Zeros = Annotated[bool, typer.Option("--zeros", help="Cells without records are too few records, too.")]
Weights = Annotated[
    str, typer.Option(metavar="WORD", help="largest: values as they are; repeated: each as often as it weighs.")
]
Priors = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Decisions beforehand: unsafe, safe, forced, levels.")
]
Frequency = Annotated[Some, typer.Option(metavar="COLUMN", help="How many records a row stands for.")]
Contributor = Annotated[Some, typer.Option(metavar="COLUMN", help="Whose record it is.")]
Holding = Annotated[Some, typer.Option(metavar="COLUMN", help="Who owns the contributor: its records are one's.")]
Weight = Annotated[Some, typer.Option(metavar="COLUMN", help="Sampling weights.")]
Asked = Annotated[Some, typer.Option(metavar="COLUMN", help="Contributors that asked for protection.")]
Waived = Annotated[Some, typer.Option(metavar="COLUMN", help="Contributors that do without it.")]
RecordFile = Annotated[Path | None, typer.Option("--records", metavar="FILE", help="The records behind the cells.")]
Units = Annotated[Some, typer.Option(metavar="COLUMN", help="Of CELLS: the number of contributors.")]
LargestOnes = Annotated[Some, typer.Option("--largest", metavar="COLUMNS", help="Of CELLS: the largest contributions.")]
Counts = Annotated[bool, typer.Option("--counts", help="The value counts something: whole numbers from zero.")]
Cells = Annotated[Path | None, typer.Argument(metavar="CELLS", show_default=False)]
Private = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="All cells, judged. Private.")]


def _options(**kinds: Any) -> list[inspect.Parameter]:
    """Options of these kinds, none of them given unless a default stands beside it."""
    pairs = {name: kind if isinstance(kind, tuple) else (kind, None) for name, kind in kinds.items()}
    return [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in pairs.items()
    ]


BEHIND = _options(frequency=Frequency, contributor=Contributor, holding=Holding, weight=Weight)
MADE = _options(
    dims=Dims,
    formula=Formula,
    total=(Totals, "Total"),
    hierarchy=Hierarchy,
    metadata=Annotated[
        Path | None, typer.Option(metavar="FILE.rda", help="What the columns are, as tau-ARGUS says it.")
    ],
    encoding=o.Encoding,
)
JUDGED = _options(
    records=RecordFile,
    value=Value,
    counts=(Counts, False),
    rule=Rules,
    zeros=(Zeros, False),
    weights=(Weights, "largest"),
    priors=Priors,
    asked=Asked,
    waived=Waived,
    contributors=Units,
    largest=LargestOnes,
    impossible=Annotated[
        Some, typer.Option(metavar="COLUMN", help="Of CELLS: which can be nothing but zero, as everybody knows.")
    ],
)
"""What is said of a table: how it is made, who stands behind it, what is sensitive in it."""


@table.command("make")
@o.in_place_of("given", [*MADE, *_options(values=Values), *BEHIND])
def make(
    records: Annotated[Path, typer.Argument(metavar="RECORDS", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The cells. Private.")],
    given: dict[str, Any],
    force: o.Force = False,
    quiet: o.Quiet = False,
) -> None:
    """Make the cells of a table from RECORDS: all totals, and who stands behind each cell."""
    given = _understood(None, given | {"records": records, "value": None})
    made = _of_records(records, given)
    _write(made, _behind(made), output, [records], force, given)
    if not quiet:
        _describe(made)


def _behind(made: Table) -> dict[str, Any]:
    """Columns on the contributors of every value."""
    found: dict[str, Any] = {}
    several = len(made.values) > 2
    for name in made.values:
        if name != "count":
            end, makeup = f"_{name}" * several, made.makeup(name)
            found |= {f"contributors{end}": makeup.units}
            found |= {f"largest_{k + 1}{end}": makeup.largest[:, k] for k in range(2)}
    return found


@table.command("sensitive")
@o.in_place_of("given", [*MADE, *JUDGED, *BEHIND])
def sensitive(
    given: dict[str, Any],
    cells: Cells = None,
    output: Private = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
) -> None:
    """Find the cells that may not be published, in a file of CELLS or in a table of --records."""
    records = given["records"]
    if (cells is None) == (records is None):
        raise UsageError("Give a file of CELLS, or --records FILE, and not both.")
    given = _understood(cells, given)
    made = _table(cells, given)
    found = _judge(made, given)
    if output is not None:
        _write(made, found.frame(), output, _files(cells, given), force, given)
    _tell_sensitive(made, found, quiet, as_json)


MARKED = _options(
    suppressed=Annotated[
        Some, typer.Option(metavar="COLUMN", help="Which cells are suppressed. Without: those that have no value.")
    ],
    marked=Annotated[
        Some, typer.Option("--sensitive", metavar="COLUMN", help="Which cells are sensitive, where no rule says it.")
    ],
    lower=Annotated[Some, typer.Option(metavar="COLUMN", help="Protection levels below.")],
    upper=Annotated[Some, typer.Option(metavar="COLUMN", help="Protection levels above.")],
    beforehand=Annotated[
        float | None, typer.Option(metavar="SHARE", help="Everybody knows each cell within this share of it.", min=0)
    ],
)
"""What a file of cells says of its pattern, and what an attacker knows."""


@table.command("audit")
@o.in_place_of("given", [*MADE, *MARKED, *JUDGED, *BEHIND])
def audit(
    cells: Annotated[Path, typer.Argument(metavar="CELLS", show_default=False)],
    given: dict[str, Any],
    exact: Annotated[bool, typer.Option("--exact", help="All intervals to their ends.")] = False,
    output: Private = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
    threads: o.Threads = None,
) -> None:
    """Compute what an attacker can, from all cells that are not suppressed. Exit code 4 where a cell is exposed."""
    from suffice.cli.command import Command
    from suffice.tables import audit as auditing

    given = _understood(cells, given)
    made = _table(cells, given)
    gaps, told = _pattern(made, cells, given)
    how: dict[str, Any] = {"beforehand": _bounds(made, cells, given), "exact": exact, "threads": threads}
    with Command(quiet, as_json)._watch() as progress:
        result = auditing.audit(made, gaps, told, given["value"], progress=progress, **how)
    if output is not None:
        _write(
            made, ({} if told is None else told.frame()) | result.frame(), output, _files(cells, given), force, given
        )
    _tell_audit(result, quiet, as_json)


@table.command("decimals")
@o.in_place_of("given", [*MADE, *MARKED, *JUDGED, *BEHIND])
def decimals(
    cells: Annotated[Path, typer.Argument(metavar="CELLS", show_default=False)],
    output: o.Output,
    given: dict[str, Any],
    spread: Annotated[float, typer.Option(metavar="NUMBER", help="Of the random residuals: root mean square.")] = 1.0,
    modulo: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="Fit what counts leave after division by it: it stops.")
    ] = None,
    totals: Annotated[bool, typer.Option("--totals", help="Store all cells, not the lowest alone.")] = False,
    key_file: o.KeyFile = None,
    accept: o.Accept = None,
    report: o.Report = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
    threads: o.Threads = None,
) -> None:
    """Publish CELLS with decimal numbers in place of those that are suppressed, audited and certified."""
    from suffice.tables.methods.fill import Fill

    method = Fill(spread=spread, modulo=modulo, store="all" if totals else "inner")
    how = {"key_file": key_file, "accept": accept, "report": report, "force": force, "threads": threads}
    _publish(cells, output, given, method, how, quiet, as_json)


def _publish(
    cells: Path,
    output: Path,
    given: dict[str, Any],
    method: TableMethod,
    how: dict[str, Any],
    quiet: bool,
    as_json: bool,
) -> None:
    """Cells with their pattern, judged by rules or by what the file says, published by a method."""
    from suffice.cli.command import Command
    from suffice.release.release import Places
    from suffice.release.tables import publish
    from suffice.seed import Seed
    from suffice.tables.pattern import levels_of

    given = _understood(cells, given)
    values = names(given["value"] or "")
    made = _table(cells, given, values)
    one = given | {"value": values[0] if values else None}
    gaps, told = _pattern(made, cells, one)
    rules = [told] if told is not None else []
    if given["rule"] or given["priors"]:
        rules = [_judge(made, given | {"value": value}) for value in values or (None,)]
    elif given.get("protection"):
        columns = names(given["protection"])
        if len(columns) != len(values):
            raise UsageError("--protection needs a column of levels for every value.")
        rules = [levels_of(made, _source(cells, given), *pair) for pair in zip(values, columns, strict=True)]
    accept = pairs(how["accept"], "--accept", "REASON")
    seed = Seed.from_file(how["key_file"]) if how["key_file"] else None
    more: dict[str, Any] = {
        "beforehand": _bounds(made, cells, given),
        "threads": how["threads"],
        "sources": _files(cells, given),
    }
    Command(quiet, as_json).publish(
        lambda progress: publish(
            made, gaps, rules, values or None, method=method, seed=seed, accept=accept, progress=progress, **more
        ),
        output,
        how["force"],
        Places.of(output, how["report"]),
        seed is not None,
    )


@table.command("ask")
def ask(
    stored: Annotated[Path, typer.Argument(metavar="FILE", show_default=False)],
    question: Annotated[str, typer.Argument(metavar="QUESTION", show_default=False)],
    dims: Dims = None,
    value: Value = None,
    total: Totals = "Total",
    hierarchy: Hierarchy = None,
    cells: Annotated[
        Path | None, typer.Option(metavar="CELLS", help="The published table with its gaps, where FILE does not tell.")
    ] = None,
    suppressed: Annotated[
        Some, typer.Option(metavar="COLUMN", help="Of CELLS: which are suppressed. Without: those that have no value.")
    ] = None,
    encoding: o.Encoding = None,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
) -> None:
    """Answer any sum of a FILE of decimals, 'region=A,B & industry=I': published, publishable or hidden."""
    from suffice.cli import show
    from suffice.tables.ask import StoredCells
    from suffice.tables.pattern import pattern_of

    given = dict.fromkeys([option.name for option in (*MADE, *MARKED, *JUDGED, *BEHIND)], None)
    given |= {"total": total, "hierarchy": hierarchy, "encoding": encoding}
    columns, name = _stored_columns(stored, dims, value)
    published = None
    if cells is not None:
        shown = _table(cells, given | {"dims": ",".join(columns), "value": name})
        published = shown, pattern_of(shown, _source(cells, given), name, suppressed)[0]
    store = StoredCells.of(
        _source(stored, given),
        columns,
        name,
        published,
        total=_totals(given, columns),
        hierarchies=_hierarchies(given),
    )
    answer = store.ask(question)
    if as_json:
        show.as_json({"status": answer.status, "value": answer.told, "cells": answer.cells})
    else:
        show.say(f"{answer.status}: {answer.told:.15g}")


def _stored_columns(stored: Path, dims: str | None, value: str | None) -> tuple[list[str], str]:
    """Dimensions and value of a file of decimals: as they are said, or as its certificate says them."""
    import json

    from suffice.errors import attempt

    paper = stored.with_name(f"{stored.name}.certificate.json")
    known = attempt(lambda: json.loads(paper.read_text(encoding="utf-8"))) if paper.is_file() else None
    told = known if isinstance(known, dict) else {}
    columns, several = names(dims or "") or told.get("given", []), [value] if value else told.get("confidential", [])
    if not columns or not several:
        raise UsageError("Which columns are dimensions and value is not known.\nGive --dims and --value.")
    if len(several) > 1:
        raise UsageError(f"The file has several values: {', '.join(several)}.\nName one with --value.")
    return list(columns), str(several[0])


def _files(cells: Path | None, given: dict[str, Any]) -> list[Path]:
    """Files that no output may replace."""
    return [path for path in (cells, given["records"], given["priors"]) if path]


def _understood(cells: Path | None, given: dict[str, Any]) -> dict[str, Any]:
    """What is asked for, with what a file of another program says itself where nothing else is said."""
    from suffice.tables.argus import read_argus
    from suffice.tables.jj import read_jj
    from suffice.tables.sdmx import is_sdmx, read_sdmx

    encoding, path = given["encoding"], given.get("records") or cells
    if given["metadata"] is not None and path is not None:
        file = read_argus(path, given["metadata"], encoding)
    elif cells is not None and cells.suffix.lower() == ".jj":
        file, path = read_jj(cells, encoding), cells
    elif cells is not None and not given["dims"] and is_sdmx(_columns(cells, given)):
        file, path = read_sdmx(_source(cells, given)), cells
    else:
        return given
    said = {**file.roles, "value": next(iter(file.roles["values"]), None), "marked": file.roles.get("sensitive")}
    kept = {name: said.get(name) for name in given if name not in ("total", "hierarchy", "formula")}
    found = {name: given[name] or kept.get(name) for name in given} | {"files": {path: file.frame}}
    ends = (said["low"], said["high"]) if "low" in said and given.get("beforehand") is None else None
    return found | {"totals": said.get("total"), "trees": said.get("hierarchies"), "ends": ends}


def _columns(path: Path, given: dict[str, Any]) -> list[str]:
    """The columns of a text file."""
    from suffice.files.csv import Dialect
    from suffice.files.kind import kind_by_suffix

    if kind_by_suffix(path) != "csv" or not path.is_file():
        return []
    source = _source(path, given)
    return list(Dialect.find(path, None, getattr(source, "encoding", None)).names)


def _bounds(made: Table, cells: Path, given: dict[str, Any]) -> Any:
    """Between which numbers everybody knows each cell: a share of it, or what the file says."""
    from suffice.tables.pattern import columns_of_cells

    if given.get("ends") is None:
        return given.get("beforehand")
    return columns_of_cells(made, _source(cells, given), given["ends"])


def _source(path: Path | None, given: dict[str, Any]) -> Any:
    """A file with the encoding of its text, unless its kind says that; or what was read of it."""
    from suffice.files.format import in_encoding
    from suffice.files.kind import kind_by_suffix

    if path in given.get("files", {}):
        return given["files"][path]
    says = path is None or kind_by_suffix(path) in ("parquet", "feather", "excel")
    return path if says else in_encoding(path, given["encoding"])


def _listed(given: str | list[str] | None) -> list[str]:
    return given if isinstance(given, list) else names(given or "")


def _hierarchies(given: dict[str, Any]) -> dict[str, Any]:
    from suffice.tables.hierarchy import read_hierarchy

    found: dict[str, Any] = {}
    trees = dict(given.get("trees") or {})
    for text in given["hierarchy"] or ():
        name, sign, path = text.partition("=")
        if not sign:
            raise UsageError("--hierarchy needs DIMENSION=FILE.")
        total = given["total"].split(",")[0].rpartition("=")[2]
        one = read_hierarchy(name, path, total, given["encoding"])
        found[name] = found[name].joined(one) if name in found else one
    return trees | found


def _totals(given: dict[str, Any], dims: Sequence[str]) -> dict[str, list[str] | None]:
    """Codes for all dimensions, or by dimension: an empty one says that it has none."""
    by: dict[str, list[str]] = {}
    common: list[str] = []
    for word in names(given["total"]):
        name, sign, code = word.partition("=")
        if sign and name in dims:
            by.setdefault(name, []).extend([code] if code else [])
        else:
            common.append(word)
    said = given.get("totals") or {}  # of the file itself, where nobody has said it
    usual = {name: said[name] if name in said and common in ([], ["Total"]) else common or ["Total"] for name in dims}
    return {name: by.get(name, usual[name]) or None for name in dims}


def _of_records(path: Path, given: dict[str, Any]) -> Table:
    from suffice.design.formula import parse
    from suffice.tables.table import Table

    dims, formula = [] if given["formula"] else _listed(given["dims"]), given["formula"]
    people = ("frequency", "contributor", "holding", "weight", "asked", "waived")
    return Table.of_records(
        _source(path, given),
        dims or None,
        _listed(given["values"]),
        formula=formula,
        hierarchies=_hierarchies(given),
        total=_totals(given, [*dims, *(parse(formula).columns if formula else ())]),
        **{name: given[name] for name in people if name in given},
    )


def _table(cells: Path | None, given: dict[str, Any], values: Sequence[str] = ()) -> Table:
    """The table of a file of cells, or of the records behind it."""
    from suffice.tables.table import Table

    value = list(values) or ([given["value"]] if given["value"] else [])
    if given["records"] is not None:
        return _of_records(given["records"], given | {"values": [name for name in value if name != "count"]})
    if not given["dims"] or not value:
        raise UsageError("A file of cells needs --dims and --value.")
    dims = _listed(given["dims"])
    return Table.of_cells(
        _source(cells, given),
        dims,
        value,
        total=_totals(given, dims),
        hierarchies=_hierarchies(given),
        counts=value if given["counts"] else [],
        records=given["frequency"],
        units=given["contributors"],
        largest=_listed(given["largest"]),
        impossible=given["impossible"],
    )


def _judge(made: Table, given: dict[str, Any]) -> Sensitivity:
    from suffice.tables.rules import rules_of
    from suffice.tables.sensitivity import find_sensitive, read_priors

    rule, priors = given["rule"], given["priors"]
    if not rule and priors is None:
        raise UsageError("No rule says what is sensitive.\nGive --rule frequency=4, --rule p=10, or others.")
    rules = rules_of(rule or (), given["zeros"])
    laid = read_priors(priors, [axis.name for axis in made.grid.axes], given["encoding"]) if priors else []
    return find_sensitive(made, rules, given["value"], weights=given["weights"], priors=laid)


def _pattern(made: Table, cells: Path, given: dict[str, Any]) -> tuple[Any, Sensitivity | None]:
    """Which cells are suppressed, and which are sensitive: rules say it, or the file itself."""
    from suffice.tables.pattern import pattern_of

    columns = (given[name] for name in ("value", "suppressed", "marked", "lower", "upper"))
    gaps, told = pattern_of(made, _source(cells, given), *columns)
    return gaps, _judge(made, given) if given["rule"] or given["priors"] else told


def _write(
    made: Table, more: dict[str, Any], output: Path, sources: list[Path], force: bool, given: dict[str, Any]
) -> None:
    """Cells in the kind of file that a name asks for; all files of it are named together, or none."""
    from contextlib import ExitStack

    from suffice.files.draft import Draft, commit, keep_apart
    from suffice.files.kind import write_kind
    from suffice.files.writer import write_table

    texts, frame, kind = _others(made, more, output, given), None, ""
    if not texts:
        frame, kind = made.frame(more), write_kind(output)
        if output.name.lower().endswith(".sdmx.csv"):
            from suffice.tables.sdmx import sdmx_frame

            frame = sdmx_frame(made, _value(made, given), more)
    files = [output.with_name(name) for name in texts] or [output]
    keep_apart([("the output", path) for path in files], [("the data", path) for path in sources])
    with ExitStack() as stack:
        drafts = [stack.enter_context(Draft(path, force, 0o600)) for path in files]
        for draft, text in zip(drafts, texts.values(), strict=False):
            draft.write(_encoded(text, given["encoding"] or "utf-8"))
        if frame is not None:
            write_table(frame, drafts[0].path, kind)
        for draft in drafts:
            draft.settle()
        commit(drafts)


def _encoded(text: str, encoding: str) -> bytes:
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:
        raise FileError(f"A name or a code has letters that {encoding} has not.\nWrite it in UTF-8.") from None


def _others(made: Table, more: dict[str, Any], output: Path, given: dict[str, Any]) -> dict[str, str]:
    """Files of other programs by their names; none where a name asks for one of ours."""
    from suffice.tables.argus import argus_texts
    from suffice.tables.jj import jj_text

    if output.suffix.lower() == ".jj":
        return {output.name: jj_text(made, _value(made, given), more, given.get("beforehand"))}
    return argus_texts(made, _value(made, given), more, output.stem) if output.suffix.lower() == ".tab" else {}


def _value(made: Table, given: dict[str, Any]) -> str:
    """The one value that a file of another program has."""
    from suffice.tables.sensitivity import value_of

    asked = _listed(given.get("values"))
    return value_of(made, given.get("value") or (asked[0] if len(asked) == 1 else None))


def _describe(made: Table) -> None:
    from suffice.cli.show import say

    asked = int((~made.hidden).sum())
    say(f"{asked:,} cells in {made.relations.shape[0]:,} equations, which all hold.")
    for axis in made.grid.axes:
        said = f"; each of {', '.join(axis.same)} is one cell with another code" if axis.same else ""
        say(f"  {axis.name}: {len(axis.codes):,} codes, {len(axis.leaves):,} of them lowest{said}")


def _tell_sensitive(made: Table, found: Sensitivity, quiet: bool, as_json: bool) -> None:
    from suffice.cli import show

    by = {rule.name: sum(rule.name in why for why in found.why) for rule in found.rules}
    count, asked = int(found.sensitive.sum()), int((~made.hidden).sum())
    if as_json:
        show.as_json({"value": found.value, "cells": asked, "sensitive": count, "by_rule": by})
    elif not quiet:
        show.say(f"{count:,} of {asked:,} cells of {found.value} are sensitive.")
        for name, number in by.items():
            show.say(f"  {name}: {number:,}")


def _tell_audit(result: Audit, quiet: bool, as_json: bool) -> None:
    from suffice.cli import show

    document = result.document()
    if as_json and result.holds:
        show.as_json(document)
    elif not (quiet or as_json):
        show.say(result.text())
    if result.exposed:
        raise show.BlockingFindings(
            f"{len(result.exposed):,} of the sensitive cells and sums can be told too well.\n"
            "Suppress more cells around them, or publish a coarser table.",
            document,
        )
    if not result.holds:
        raise show.BlockingFindings(
            "Nothing was found exposed, and not all could be judged: that is not safe.\n"
            "Give rules (--rule) and the records behind the cells (--records).",
            document,
        )
