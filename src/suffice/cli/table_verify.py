"""suffice table verify: two files of cells."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from suffice.cli import options as o
from suffice.cli.table import table
from suffice.cli.table_options import MADE, MARKED, Counts, Some, options_of
from suffice.cli.table_source import hierarchies, listed, pattern, source, totals, understood
from suffice.design.role import names
from suffice.errors import UsageError

COMPARED = options_of(
    value=Annotated[Some, typer.Option(metavar="COLUMNS", help="The values that are compared.")],
    counts=(Counts, False),
    suppressed=Annotated[
        Some, typer.Option(metavar="COLUMN", help="Of ORIGINAL: which cells are suppressed. Without: RELEASE tells.")
    ],
)
LEVELS = [option for option in MARKED if option.name in ("marked", "protection", "lower", "upper")]


@table.command("verify")
@o.in_place_of("given", [*MADE, *COMPARED, *LEVELS])
def verify(
    original: Annotated[Path, typer.Argument(metavar="ORIGINAL", show_default=False)],
    released: Annotated[Path, typer.Argument(metavar="RELEASE", show_default=False)],
    given: dict[str, Any],
    changed: Annotated[bool, typer.Option("--changed", help="RELEASE is an adjusted table: do its sums hold?")] = False,
    keep: Annotated[Some, typer.Option(metavar="WORD", help="Adjusted: are means, slope or moments kept?")] = None,
    planes: Annotated[
        Some, typer.Option(metavar="DIMENSION=CODES", help="Whose inner cells have these statistics, each code's.")
    ] = None,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
) -> None:
    """Check two files of cells: are published cells of ORIGINAL in RELEASE, and no suppressed one?"""
    from suffice.cli import show
    from suffice.cli.command import refuse_differences
    from suffice.cli.table_adjust import planes_of
    from suffice.release.table_verification import verify_table
    from suffice.tables.pattern import pattern_of
    from suffice.tables.table import Table

    given = understood(original, given)
    if not given["dims"] or not given["value"]:
        raise UsageError("Two files of cells need --dims and --value.")
    dims, values = listed(given["dims"]), names(given["value"])
    cells = source(original, given)
    made = Table.of_cells(
        cells,
        dims,
        values,
        total=totals(given, dims),
        hierarchies=hierarchies(given),
        counts=values if given["counts"] else [],
    )
    gaps = pattern_of(made, cells, values[0], given["suppressed"])[0] if given["suppressed"] else None
    asked = [given["protection"], given["marked"], keep, planes]
    if any(asked) and not changed:
        raise UsageError("Levels and statistics are looked at in adjusted tables.\nGive --changed as well.")
    rules = pattern(made, original, given | {"rule": None, "priors": None}, values)[1]
    sets = planes_of(planes) if planes else None
    result = verify_table(made, source(released, given), values, gaps, changed, rules, keep, sets)
    document = show.parsed(result.to_json())
    if as_json and result.passes:
        show.as_json(document)
    elif not (quiet or as_json):
        show.say(result.text())
    refuse_differences(result, document)
