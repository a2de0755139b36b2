"""The commands on tables: make one, find its sensitive cells, audit a pattern, publish it with decimals, ask sums."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.cli import options as o
from suffice.cli.table_options import (
    BEHIND,
    JUDGED,
    MADE,
    MARKED,
    Cells,
    Dims,
    Hierarchy,
    Private,
    Some,
    Totals,
    Value,
    Values,
    options_of,
)
from suffice.cli.table_source import (
    bounds,
    files,
    hierarchies,
    judge,
    listed,
    of_records,
    pattern,
    source,
    table_of,
    totals,
    understood,
)
from suffice.design.role import names, pairs
from suffice.errors import UsageError

if TYPE_CHECKING:
    from suffice.tables.audit import Audit
    from suffice.tables.publication import TableMethod
    from suffice.tables.sensitivity import Sensitivity
    from suffice.tables.table import Table

table = typer.Typer(help="Tables: make, find sensitive cells, audit, publish with decimals, ask.", no_args_is_help=True)


@table.command("make")
@o.in_place_of("given", [*MADE, *options_of(values=Values), *BEHIND])
def make(
    records: Annotated[Path, typer.Argument(metavar="RECORDS", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The cells. Private.")],
    given: dict[str, Any],
    force: o.Force = False,
    quiet: o.Quiet = False,
) -> None:
    """Make the cells of a table from RECORDS: all totals, and who stands behind each cell."""
    given = understood(None, given | {"records": records, "value": None})
    made = of_records(records, given)
    write(made, _behind(made), output, files(None, given), force, given)
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
    given = understood(cells, given)
    made = table_of(cells, given)
    found = judge(made, given)
    if output is not None:
        write(made, found.frame(), output, files(cells, given), force, given)
    _tell_sensitive(made, found, quiet, as_json)


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

    given = understood(cells, given)
    made = table_of(cells, given)
    gaps, rules = pattern(made, cells, given)
    told = rules[0] if rules else None
    how: dict[str, Any] = {"beforehand": bounds(made, cells, given), "exact": exact, "threads": threads}
    with Command(quiet, as_json).watch() as progress:
        result = auditing.audit(made, gaps, told, given["value"], progress=progress, **how)
    if output is not None:
        write(made, ({} if told is None else told.frame()) | result.frame(), output, files(cells, given), force, given)
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
    publish_cells(cells, output, given, method, how, quiet, as_json)


def write(
    made: Table, more: dict[str, Any], output: Path, sources: list[Path], force: bool, given: dict[str, Any]
) -> None:
    """Cells in the kind of file that a name asks for; all files of it are named together, or none."""
    from contextlib import ExitStack

    from suffice.files.draft import commit, keep_apart
    from suffice.tables.cellfiles import write_cells

    asked = listed(given.get("values"))
    how = {"value": given.get("value") or (asked[0] if len(asked) == 1 else None), "encoding": given["encoding"]}
    with ExitStack() as stack:
        drafts = write_cells(made, more, output, stack, beforehand=given.get("beforehand"), force=force, **how)
        keep_apart([("the output", draft.target) for draft in drafts], [("the data", path) for path in sources])
        for draft in drafts:
            draft.settle()
        commit(drafts)


def publish_cells(
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
    from suffice.ledger import Ledger
    from suffice.release.places import Places
    from suffice.release.tables import publish
    from suffice.seed import Seed

    places, sources = Places.of(output, how["report"]), files(cells, given)
    kept = [("the data", path) for path in sources]
    if (key := how["key_file"]) is not None:
        kept += [("the key", key), ("the ledger", Ledger.of(key).path)]
    places.refuse(kept, how["force"], how.get("pattern"))
    given = understood(cells, given)
    values = names(given["value"] or "")
    made = table_of(cells, given, values)
    gaps, rules = pattern(made, cells, given, values)
    accept = pairs(how["accept"], "--accept", "REASON")
    seed = Seed.from_file(key) if key else None
    more: dict[str, Any] = {
        "beforehand": bounds(made, cells, given),
        "threads": how["threads"],
        "sources": sources,
        "pattern": how.get("pattern"),
        "encoding": given["encoding"],
    }

    def work(progress: Any) -> Any:
        return publish(
            made, gaps, rules, values or None, method=method, seed=seed, accept=accept, progress=progress, **more
        )

    Command(quiet, as_json).publish(
        work,
        output,
        how["force"],
        places,
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
    from suffice.files.kind import kind_of
    from suffice.tables.ask import StoredCells
    from suffice.tables.pattern import pattern_of

    given = dict.fromkeys([option.name for option in (*MADE, *MARKED, *JUDGED, *BEHIND)], None)
    given |= {"total": total, "hierarchy": hierarchy, "encoding": encoding}
    kind_of(source(stored, given))  # there is such a file
    columns, name = _stored_columns(stored, dims, value)
    published = None
    if cells is not None:
        shown = table_of(cells, given | {"dims": ",".join(columns), "value": name})
        published = shown, pattern_of(shown, source(cells, given), name, suppressed)[0]
    store = StoredCells.of(
        source(stored, given),
        columns,
        name,
        published,
        total=totals(given, columns),
        hierarchies=hierarchies(given),
    )
    answer = store.ask(question)
    if as_json:
        show.as_json({"status": answer.status, "value": answer.told, "cells": answer.cells})
    else:
        show.say(f"{answer.status}: {answer.told:.15g}")


def _stored_columns(stored: Path, dims: str | None, value: str | None) -> tuple[list[str], str]:
    """Dimensions and value of a file of decimals: as they are said, or as its certificate says them."""
    from suffice.certificate.paper import Paper

    paper = Paper.beside(stored)
    told = [((paper and paper.content) or {}).get(key) for key in ("given", "confidential")]
    given, values = ([*map(str, each)] if isinstance(each, list) else [] for each in told)
    columns, several = names(dims or "") or given, [value] if value else values
    if not columns or not several:
        raise UsageError("Which columns are dimensions and value is not known.\nGive --dims and --value.")
    if len(several) > 1:
        raise UsageError(f"The file has several values: {', '.join(several)}.\nName one with --value.")
    return columns, several[0]


def _describe(made: Table) -> None:
    from suffice.cli.show import say

    asked = int((~made.hidden).sum())
    say(f"{asked:,} cells in {made.relations.shape[0]:,} equations, which all hold.")
    for axis in made.grid.axes:
        said = f"; each of {', '.join(axis.same)} is one cell with another code" if axis.same else ""
        say(f"  {axis.name}: {len(axis.codes):,} codes, {len(axis.leaves):,} of them lowest{said}")
    _tell_levels(made)


def _tell_levels(made: Table) -> None:
    """Columns that follow from another one may do so by chance, in few records."""
    from suffice.cli.show import say

    for axis in made.grid.axes:
        for name in axis.coarser:
            say(f"{name} was taken as a coarser level of {axis.name}; --hierarchy {name}=FILE keeps it apart.")


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
        _tell_levels(made)


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
