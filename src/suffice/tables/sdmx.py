"""SDMX-CSV: dimensions, OBS_VALUE, and what is confidential in OBS_STATUS and CONF_STATUS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from suffice.algebra.array import Array, Flags
from suffice.errors import InputError
from suffice.tables.cellfile import CellFile
from suffice.tables.columns import columns_of_file
from suffice.tables.table import Table

HEADS = ("DATAFLOW", "STRUCTURE", "STRUCTURE_ID", "STRUCTURE_NAME", "ACTION", "SERIES_KEY", "OBS_KEY")
VALUE, STATUS, CONFIDENTIAL = "OBS_VALUE", "OBS_STATUS", "CONF_STATUS"
PRIMARY, SECONDARY, FREE = ("C", "N", "S"), ("D",), ("F", "")
SUPPRESSED, CANNOT, NORMAL = "Q", "M", "A"
"""Of OBS_STATUS: missing because suppressed, a value that cannot exist, and any other."""
NOT_PUBLISHED = "N"
"""Of CONF_STATUS: restricted to internal use, whatever the reason is."""
TOTALS = ("_T", "Total", "TOTAL")


def named_sdmx(path: Path) -> bool:
    """Whether a name asks for SDMX-CSV."""
    return path.name.lower().endswith(".sdmx.csv")


def is_sdmx(names: Sequence[str]) -> bool:
    """Whether columns are those of an SDMX-CSV file."""
    return bool(names) and names[0].split(":")[0] in HEADS[:2] and VALUE in names


def columns_of_sdmx(file: pa.Table) -> tuple[str, ...]:
    """Names of columns that any SDMX-CSV file has; none of another file."""
    return (*HEADS, VALUE, STATUS, CONFIDENTIAL) if is_sdmx(file.column_names) else ()


def tells_sensitive(file: pa.Table) -> bool:
    """Whether the letters of a file tell sensitive cells from those beside them."""
    if CONFIDENTIAL not in columns_of_sdmx(file) or CONFIDENTIAL not in file.column_names:
        return False
    letters = {str(word).upper() for word in file[CONFIDENTIAL].to_pylist()}
    return bool(letters & {"C", "S", *SECONDARY})


def read_sdmx(data: Any) -> CellFile:
    """The cells of an SDMX-CSV file, 1.0 or 2.0: what stands before OBS_VALUE are dimensions, of one code or more."""
    file = columns_of_file(data, [])
    if not is_sdmx(file.column_names):
        raise InputError("The file is no SDMX-CSV: its first column is DATAFLOW or STRUCTURE, and one is OBS_VALUE.")
    before = file.column_names[: file.column_names.index(VALUE)]
    dims = [name for name in before if name not in HEADS]
    words = {name: [str(word) for word in file[name].to_pylist()] for name in dims}
    frame: dict[str, Any] = {**words, VALUE: file[VALUE]}
    alone = [name for name in dims if len(set(words[name])) == 1]
    roles: dict[str, Any] = {"dims": dims, "values": [VALUE], "total": dict.fromkeys(dims, TOTALS)}
    roles["total"] |= dict.fromkeys(alone, None)
    if CONFIDENTIAL in file.column_names:
        letters = ["" if word is None else str(word).upper() for word in file[CONFIDENTIAL].to_pylist()]
        strange = [k for k, word in enumerate(letters, 1) if word not in (*PRIMARY, *SECONDARY, *FREE)]
        if strange:
            raise InputError(
                f"CONF_STATUS is none of {', '.join((*PRIMARY, *SECONDARY, 'F'))} in {len(strange):,} rows "
                f"(the first: {strange[0]}).\nWrite C, N or S for sensitive cells, D beside them, F for others."
            )
        frame |= {"sensitive": [word in PRIMARY for word in letters], "suppressed": [w not in FREE for w in letters]}
        roles |= {name: name for name in ("sensitive", "suppressed")}
    if STATUS in file.column_names:
        frame["impossible"] = [word == CANNOT for word in file[STATUS].to_pylist()]
        roles["impossible"] = "impossible"
        if any(frame["impossible"]):
            frame[VALUE] = np.where(frame["impossible"], 0.0, file[VALUE].cast(pa.float64()).to_numpy())
    return CellFile(pa.table(frame), roles)


def sdmx_frame(
    table: Table, name: str, more: Mapping[str, Sequence[Any]], flow: str = "SUFFICE:TABLE(1.0)"
) -> pa.Table:
    """A table in the columns of SDMX-CSV 1.0.

    more: columns of cells: sensitive, suppressed
    flow: agency, dataflow and version
    """
    x, none = table.values[name], [False] * len(table)
    sensitive, suppressed = (more.get(each, none) for each in ("sensitive", "suppressed"))
    letters = [
        "C" if first else "D" if beside or np.isnan(value) else "F"
        for first, beside, value in zip(sensitive, suppressed, x, strict=True)
    ]
    return _framed(table, x, letters, flow)


def sdmx_release(table: Table, name: str, suppressed: Flags, flow: str = "SUFFICE:TABLE(1.0)") -> pa.Table:
    """What leaves: suppressed cells have no value, and one letter, which does not say which were sensitive."""
    x = np.where(suppressed, np.nan, table.values[name])
    return _framed(table, x, [NOT_PUBLISHED if np.isnan(value) else "F" for value in x], flow)


def cells_of_sdmx(file: pa.Table, name: str) -> pa.Table:
    """Such a file with its values by their name; what cannot exist is zero."""
    x = file[VALUE].cast(pa.float64()).to_numpy()
    if STATUS in file.column_names:
        x = np.where([word == CANNOT for word in file[STATUS].to_pylist()], 0.0, x)
    at = file.column_names.index(VALUE)
    return file.set_column(at, name, pa.array(x, pa.float64(), from_pandas=True))


def _framed(table: Table, x: Array, letters: Sequence[str], flow: str) -> pa.Table:
    cannot = table.impossible.tolist()
    status = [CANNOT if no else SUPPRESSED if np.isnan(v) else NORMAL for no, v in zip(cannot, x, strict=True)]
    shown = [None if np.isnan(value) or zero else value for value, zero in zip(x, cannot, strict=True)]
    made = table.frame({VALUE: shown, STATUS: status, CONFIDENTIAL: letters})
    columns = [axis.name for axis in table.grid.axes] + [VALUE, STATUS, CONFIDENTIAL]
    return made.select(columns).add_column(0, "DATAFLOW", [[flow] * made.num_rows])
