"""What is written for the holder of a table: cells with their status, in the kind of file that a name asks for."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suffice.errors import FileError, UsageError

if TYPE_CHECKING:
    from suffice.files.draft import Draft
    from suffice.tables.table import Table

PRIVATE = 0o600
OTHERS = (".jj", ".tab")


def of_one_value(output: Path) -> bool:
    """Whether such a file holds a single value of a table."""
    from suffice.tables.sdmx import named_sdmx

    return named_sdmx(output) or output.suffix.lower() in OTHERS


def check_name(output: Path) -> None:
    """Refuses a name that no file of cells can have."""
    from suffice.files.kind import SUFFIXES, write_kind

    if output.suffix.lower() in OTHERS:
        return
    if output.suffix.lower() not in SUFFIXES:
        raise UsageError(
            f"The name of a file of cells ends in {output.suffix.lstrip('.')!r}, which is no known kind of file.\n"
            "Use .csv, .sdmx.csv, .tab, .jj, .parquet, .tsv, .feather, .arrow, .sav, .dta or .xpt."
        )
    write_kind(output)


def write_cells(
    table: Table,
    more: Mapping[str, Any],
    output: Path,
    stack: ExitStack,
    *,
    value: str | None = None,
    beforehand: float | None = None,
    encoding: str | None = None,
    force: bool = False,
) -> list[Draft]:
    """Drafts of all cells with their status, written and without their names: all files of a kind together.

    more: columns of the cells
    value: the one that files of other programs have
    """
    from suffice.files.draft import Draft
    from suffice.files.kind import write_kind
    from suffice.files.writer import write_table
    from suffice.tables.sdmx import named_sdmx, sdmx_frame

    check_name(output)
    texts = _of_others(table, more, output, value, beforehand)
    files = [output.with_name(name) for name in texts] or [output]
    drafts = [stack.enter_context(Draft(path, force, PRIVATE)) for path in files]
    for draft, text in zip(drafts, texts.values(), strict=False):
        draft.write(_encoded(text, encoding or "utf-8"))
    if not texts:
        made = sdmx_frame(table, _one(table, value), more) if named_sdmx(output) else table.frame(more)
        write_table(made, drafts[0].path, write_kind(output))
    return drafts


def _of_others(
    table: Table, more: Mapping[str, Any], output: Path, value: str | None, beforehand: float | None
) -> dict[str, str]:
    """Files of other programs by their names; none where a name asks for one of ours."""
    from suffice.tables.argus import argus_texts
    from suffice.tables.jj import jj_text

    if output.suffix.lower() == ".jj":
        return {output.name: jj_text(table, _one(table, value), more, beforehand)}
    return argus_texts(table, _one(table, value), more, output.stem) if output.suffix.lower() == ".tab" else {}


def _one(table: Table, value: str | None) -> str:
    from suffice.tables.sensitivity import value_of

    return value_of(table, value)


def _encoded(text: str, encoding: str) -> bytes:
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:
        raise FileError(f"A name or a code has letters that {encoding} has not.\nWrite it in UTF-8.") from None
