"""Writes docs/methods.md from the classes: uv run python docs/methods.py"""

from __future__ import annotations

from collections.abc import Iterator
from inspect import getdoc
from pathlib import Path

from suffice.catalogue import Description, describe, methods
from suffice.method.method import Method
from suffice.statistics import STATISTICS

PAGE = Path(__file__).with_suffix(".md")
HEAD = """\
# Methods

Written from the classes by `docs/methods.py`; do not edit. X holds the given columns, Y the confidential
ones, Z random numbers; Y = Yhat + E splits Y into its fit on X and residuals, E = T W into scores and
loadings.
"""


def page() -> str:
    """All methods: a table, then a section for each."""
    known = methods().values()
    table = "\n".join(["| method | keeps exactly |", "|---|---|", *(_row(describe(method)) for method in known)])
    return "\n".join([HEAD, table, *("\n" + "\n".join(_section(method)) for method in known)]) + "\n"


def _row(method: Description) -> str:
    words = [STATISTICS[promise].words.removesuffix(" on the given columns") for promise in method.promises]
    kept = ", ".join(words) or "nothing by itself"
    return f"| [`{method.name}`](#{method.name}) | {kept} |"


def _section(method: type[Method]) -> Iterator[str]:
    about = describe(method)
    yield f"## {about.name}\n\n`suffice.{method.__name__}` - {about.summary}\n"
    yield from _theorem(method)
    if about.parameters:
        yield "| parameter | | allowed | default |\n|---|---|---|---|"
    for parameter in about.parameters:
        default = "required" if parameter.required else str(parameter.default).lower()
        yield f"| `{parameter.name}` | {parameter.doc} | {parameter.allowed} | {default} |"
    yield "\n" * bool(about.parameters) + "; ".join(about.references) + "."


def _theorem(method: type[Method]) -> Iterator[str]:
    """The equations and the promises, as the docstring has them."""
    paragraphs = (getdoc(method) or "").split("\n\n")[1:]
    ends = next((i for i, text in enumerate(paragraphs) if text.startswith("**Promises**")), len(paragraphs) - 1)
    for text in paragraphs[:ends]:
        yield f"```\n{text}\n```\n"
    yield f"{paragraphs[ends]}\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
