"""What the commands on tables write for the holder: cells in the kind of file that a name asks for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from suffice.cli.table_source import listed
from suffice.errors import FileError, UsageError

if TYPE_CHECKING:
    from suffice.tables.table import Table


def write(
    made: Table, more: dict[str, Any], output: Path, sources: list[Path], force: bool, given: dict[str, Any]
) -> None:
    """Cells in the kind of file that a name asks for; all files of it are named together, or none."""
    from contextlib import ExitStack

    from suffice.files.draft import Draft, commit, keep_apart
    from suffice.files.kind import SUFFIXES, write_kind
    from suffice.files.writer import write_table

    texts, frame, kind = _others(made, more, output, given), None, ""
    if not texts:
        if output.suffix.lower() not in SUFFIXES:
            raise UsageError(
                f"The name of a file of cells ends in {output.suffix.lstrip('.')!r}, which is no known kind of file.\n"
                "Use .csv, .sdmx.csv, .tab, .jj, .parquet, .tsv, .feather, .arrow, .sav, .dta or .xpt."
            )
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

    asked = listed(given.get("values"))
    return value_of(made, given.get("value") or (asked[0] if len(asked) == 1 else None))
