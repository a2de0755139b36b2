"""Options of the commands on tables: how a table is made, who stands behind it, what is sensitive in it."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, Any

import typer

from suffice.cli import options as o

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


def options_of(**kinds: Any) -> list[inspect.Parameter]:
    """Options of these kinds, none of them given unless a default stands beside it."""
    pairs = {name: kind if isinstance(kind, tuple) else (kind, None) for name, kind in kinds.items()}
    return [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in pairs.items()
    ]


BEHIND = options_of(frequency=Frequency, contributor=Contributor, holding=Holding, weight=Weight)
MADE = options_of(
    dims=Dims,
    formula=Formula,
    total=(Totals, "Total"),
    hierarchy=Hierarchy,
    metadata=Annotated[
        Path | None, typer.Option(metavar="FILE.rda", help="What the columns are, as tau-ARGUS says it.")
    ],
    encoding=o.Encoding,
)
JUDGED = options_of(
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

LIMITED = options_of(
    fixed=Annotated[Some, typer.Option(metavar="COLUMN", help="Which cells stay as they are.")],
    capacities=Annotated[
        Some, typer.Option(metavar="COLUMNS", help="What cells may change by, for every value, where a number stands.")
    ],
    bounds=Annotated[
        Some, typer.Option(metavar="LOW,HIGH", help="Columns between which everybody knows the cells to be.")
    ],
)
"""What a file of cells says of the limits of an adjustment."""
MARKED = options_of(
    suppressed=Annotated[
        Some, typer.Option(metavar="COLUMN", help="Which cells are suppressed. Without: those that have no value.")
    ],
    marked=Annotated[
        Some, typer.Option("--sensitive", metavar="COLUMN", help="Which cells are sensitive, where no rule says it.")
    ],
    protection=Annotated[
        Some, typer.Option(metavar="COLUMN", help="Protection levels, below and above; a cell with one is sensitive.")
    ],
    lower=Annotated[Some, typer.Option(metavar="COLUMN", help="Protection levels below.")],
    upper=Annotated[Some, typer.Option(metavar="COLUMN", help="Protection levels above.")],
    beforehand=Annotated[
        float | None, typer.Option(metavar="SHARE", help="Everybody knows each cell within this share of it.", min=0)
    ],
)
"""What a file of cells says of its pattern, and what an attacker knows."""
