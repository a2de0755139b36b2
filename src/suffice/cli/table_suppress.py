"""suffice table suppress: the sensitive cells left out, and whatever else keeps them from being told."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from suffice.cli import options as o
from suffice.cli.table import publish_cells, table
from suffice.cli.table_options import BEHIND, JUDGED, LIMITED, MADE, MARKED, Some, options_of

STAY = [option for option in LIMITED if option.name != "capacities"]
PREFERRED = options_of(
    costs=Annotated[Some, typer.Option(metavar="COLUMN", help="What suppressing a cell costs, where a number stands.")],
    last=Annotated[Some, typer.Option(metavar="COLUMN", help="Cells that were suppressed last time: preferred.")],
)


@table.command("suppress")
@o.in_place_of("given", [*MADE, *MARKED, *STAY, *PREFERRED, *JUDGED, *BEHIND])
def suppress(
    cells: Annotated[Path, typer.Argument(metavar="CELLS", show_default=False)],
    output: o.Output,
    given: dict[str, Any],
    search: Annotated[str, typer.Option(metavar="WORD", help="auto, exact, fast, or given: no other cells.")] = "auto",
    cost: Annotated[
        Some, typer.Option(metavar="WORD", help="Of a cell: logarithm, value, count (1), records, given.")
    ] = None,
    keep_zeros: Annotated[bool, typer.Option("--keep-zeros", help="Cells that are zero are published.")] = False,
    gap: Annotated[float, typer.Option(metavar="SHARE", help="The cost may exceed the least one by so much.")] = 0.0,
    seconds: Annotated[float, typer.Option(metavar="SECONDS", help="For an exact search, at most.")] = 60.0,
    decimals: Annotated[bool, typer.Option("--decimals", help="Decimal numbers in place of crosses.")] = False,
    pattern: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="All cells with their status: .csv, .sdmx.csv, .tab or .jj. Private."),
    ] = None,
    key_file: o.KeyFile = None,
    accept: o.Accept = None,
    report: o.Report = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
    threads: o.Threads = None,
) -> None:
    """Publish CELLS without the sensitive ones, and without as many others as keep these from being computed."""
    from suffice.catalogue import build_table_method

    word = cost or ("given" if given["costs"] else "logarithm")
    asked = {"search": search, "cost": word, "keep_zeros": keep_zeros, "gap": gap, "seconds": seconds}
    method = build_table_method("decimals" if decimals else "suppress", asked)
    how = {"key_file": key_file, "accept": accept, "report": report, "force": force, "threads": threads}
    publish_cells(cells, output, given, method, how | {"pattern": pattern}, quiet, as_json)
