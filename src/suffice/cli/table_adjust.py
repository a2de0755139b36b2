"""suffice table adjust: changed cells in place of suppressed ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from suffice.cli import options as o
from suffice.cli.table import publish_cells, table
from suffice.cli.table_options import BEHIND, JUDGED, LIMITED, MADE, MARKED, Some
from suffice.design.role import names

LEVELS = [option for option in MARKED if option.name in ("marked", "protection", "lower", "upper", "beforehand")]


@table.command("adjust")
@o.in_place_of("given", [*MADE, *LEVELS, *LIMITED, *JUDGED, *BEHIND])
def adjust(
    cells: Annotated[Path, typer.Argument(metavar="CELLS", show_default=False)],
    output: o.Output,
    given: dict[str, Any],
    objective: Annotated[str, typer.Option(metavar="WORD", help="l1, relative, l2 or largest.")] = "l1",
    keep: Annotated[str, typer.Option(metavar="WORD", help="none, means, slope or moments.")] = "none",
    planes: Annotated[
        Some, typer.Option(metavar="DIMENSION=CODES", help="Whose inner cells have these statistics, each code's.")
    ] = None,
    sizes: Annotated[str, typer.Option(metavar="WORD", help="drawn, or least, which stops.")] = "drawn",
    signs: Annotated[str, typer.Option(metavar="WORD", help="Directions: best, ordering or blocks.")] = "best",
    q: Annotated[float, typer.Option("--q", metavar="NUMBER", help="Times its level a sensitive cell changes.")] = 2.0,
    capacity: Annotated[float, typer.Option(metavar="SHARE", help="Of its value any other cell changes.")] = 1.0,
    whole: Annotated[bool, typer.Option("--whole", help="Whole numbers; statistics are near, not exact.")] = False,
    gap: Annotated[float, typer.Option(metavar="SHARE", help="Changes may exceed the least ones by so much.")] = 0.0,
    seconds: Annotated[float, typer.Option(metavar="SECONDS", help="For each programme, at most.")] = 60.0,
    key_file: o.KeyFile = None,
    accept: o.Accept = None,
    report: o.Report = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
) -> None:
    """Publish CELLS with sensitive ones at safe values, the others as near as can be, and all sums exact."""
    from suffice.catalogue import build_table_method

    asked: dict[str, Any] = {"objective": objective, "keep": keep, "sizes": sizes, "signs": signs, "q": q}
    asked |= {"capacity": capacity, "whole": whole, "gap": gap, "seconds": seconds}
    if planes is not None:
        asked["planes"] = planes_of(planes)
    method = build_table_method("adjust", asked)
    how = {"key_file": key_file, "accept": accept, "report": report, "force": force, "threads": None}
    publish_cells(cells, output, given | {"suppressed": None}, method, how, quiet, as_json)


def planes_of(given: str) -> tuple[str, ...]:
    """A dimension and codes of it."""
    dimension, _, codes = given.partition("=")
    return (dimension, *names(codes))
