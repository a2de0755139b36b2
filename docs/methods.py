"""Writes docs/methods.md from the classes: uv run python docs/methods.py"""

from __future__ import annotations

from collections.abc import Iterator
from inspect import getdoc
from pathlib import Path

from suffice.catalogue import Description, describe, methods, table_methods
from suffice.method.method import Method
from suffice.statistics import STATISTICS

PAGE = Path(__file__).with_suffix(".md")
HEAD = """\
# Methods

Written from the classes by `docs/methods.py`; do not edit. X holds the given columns, Y the confidential
ones, Z random numbers; Y = Yhat + E splits Y into its fit on X and residuals, E = T W into scores and
loadings. Methods for [tables](tables.md) are the last ones.
"""


def page() -> str:
    """All methods: tables of those for records and of those for tables, then a section for each."""
    rows, cells = methods().values(), table_methods().values()
    both = [("method", rows), ("method for tables", cells)]
    lists = [
        "\n".join([f"| {w} | keeps exactly |", "|---|---|", *(_row(describe(m)) for m in some)]) for w, some in both
    ]
    sections = ["\n".join(_section(method)).rstrip() for method in (*rows, *cells)]
    return "\n\n".join([HEAD.rstrip(), *lists, *sections]) + "\n"


def _row(method: Description) -> str:
    said = [STATISTICS[each].words if each in STATISTICS else each for each in method.promises]
    words = [each.removesuffix(" on the given columns") for each in said]
    kept = ", ".join(words) or "nothing by itself"
    return f"| [`{method.name}`](#{method.name}) | {kept} |"


def _section(method: type[Method]) -> Iterator[str]:
    about = describe(method)
    room = "suffice" if about.name in methods() else "suffice.tables.methods"
    yield f"## {about.name}\n\n`{room}.{method.__name__}` - {about.summary}\n"
    yield from _theorem(method)
    if about.parameters:
        yield "| parameter | | allowed | default |\n|---|---|---|---|"
    for parameter in about.parameters:
        default = "required" if parameter.required else str(parameter.default).lower()
        yield f"| `{parameter.name}` | {parameter.doc} | {parameter.allowed} | {default} |"
    if about.references:
        yield "\n" * bool(about.parameters) + "; ".join(about.references) + "."


def _theorem(method: type[Method]) -> Iterator[str]:
    """The equations and the promises, as the docstring has them."""
    paragraphs = (getdoc(method) or "").split("\n\n")[1:] or [f"**Promises** {', '.join(describe(method).promises)}."]
    ends = next((i for i, text in enumerate(paragraphs) if text.startswith("**Promises**")), len(paragraphs) - 1)
    for text in paragraphs[:ends]:
        yield f"```\n{text}\n```\n"
    yield f"{paragraphs[ends]}\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
