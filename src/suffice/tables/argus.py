"""Files of tau-ARGUS: metadata (.rda) with records or cells, of fixed or of separated columns; cells in these files."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from suffice.algebra.array import Array
from suffice.errors import InputError, UsageError, attempt
from suffice.tables.axis import Axis
from suffice.tables.cellfile import CellFile
from suffice.tables.columns import text_of
from suffice.tables.hierarchy import levels, parents
from suffice.tables.table import Table

WORD = re.compile(r'"([^"]*)"|(\S+)')
ROLES = {
    "<RECODEABLE>": "dim",
    "<RECODABLE>": "dim",
    "<NUMERIC>": "value",
    "<FREQUENCY>": "frequency",
    "<MAXSCORE>": "largest",
    "<STATUS>": "status",
    "<HOLDING>": "holding",
    "<WEIGHT>": "weight",
    "<REQUEST>": "asked",
    "<RECORDKEY>": "other",
    "<SHADOW>": "other",
    "<COST>": "other",
    "<COSTVAR>": "other",
    "<LOWERPL>": "lower",
    "<UPPERPL>": "upper",
}
TAGS = ("<TOTCODE>", "<HIERLEVELS>", "<HIERCODELIST>", "<HIERLEADSTRING>", "<REQUEST>")
PASSED = {"<CODELIST>", "<DISTANCE>", "<DECIMALS>", "<HIERARCHICAL>", "<TRUNCABLE>", "<CKM>", "<INCLUDEZEROS>"}
PASSED |= {"<SEPARATION>", "<PARITY>", "<SCALING>", "<PFILE>", "<PFILE_FREQ>", "<PFILE_CONT>", "<PFILE_SEP>", "<SPSS>"}
"""What is said of labels, distances, digits and other methods."""
STATUS = {"<SAFE>": "S", "<UNSAFE>": "U", "<PROTECT>": "P"}
SECONDARY, EMPTY = "M", ("E", "Z", "")


@dataclass
class Column:
    """One column: where it stands, what it is, and what is said of it."""

    name: str
    begin: int = 0
    width: int = 0
    role: str = "other"
    said: dict[str, list[str]] = field(default_factory=dict)


@dataclass
class Metadata:
    """What an .rda file says; `sign`: between columns, or None where they are as wide as it says."""

    columns: list[Column]
    sign: str | None
    status: dict[str, str]


def read_metadata(path: str | os.PathLike[str], encoding: str | None = None) -> Metadata:
    """An .rda file: a line for a column, and lines of tags behind it."""
    where, text = Path(path), text_of(path, "the metadata", encoding)
    found = Metadata([], None, dict(STATUS))
    separated = "<SEPARATOR>" in text
    for number, line in enumerate(text.splitlines(), 1):
        tokens = list(WORD.finditer(line))
        words = [token[1] if token[1] is not None else token[2] for token in tokens]
        if not words:
            continue
        if not words[0].startswith("<"):
            bare = [int(token[2]) for token in tokens[1:] if token[2] is not None and token[2].isdecimal()]
            if not separated and len(bare) < 2:
                raise InputError(
                    f"Line {number} of {where.name} says not where {words[0]} begins and how wide it is.\n"
                    "Write both numbers behind its name, or a <SEPARATOR> first."
                )
            place = (bare[0] - 1, bare[1]) if not separated else (0, 0)
            found.columns.append(Column(words[0], *place))
            continue
        _tag(found, words, f"Line {number} of {where.name}")
    if not found.columns:
        raise InputError(f"{where.name} names no columns: it is no metadata of tau-ARGUS.")
    return found


def _tag(found: Metadata, words: Sequence[str], place: str) -> None:
    tag, rest = words[0].upper(), list(words[1:])
    if tag == "<SEPARATOR>":
        found.sign = rest[0] if rest else ","
    elif tag in found.status:
        found.status[tag] = rest[0].upper() if rest else found.status[tag]
    elif not found.columns:
        raise InputError(f"{place} has a tag before the first column.")
    elif tag in ROLES or tag in TAGS or tag in PASSED:
        column = found.columns[-1]
        column.said[tag] = rest
        column.role = ROLES.get(tag, column.role)
        for more in (word.upper() for word in rest):  # <NUMERIC> <LOWERPL>
            column.role = ROLES.get(more, column.role)
    else:
        raise InputError(f"{place} has a tag that is not known.\nTags of metadata stand in < and >.")


def read_argus(data: str | os.PathLike[str], metadata: str | os.PathLike[str], encoding: str | None = None) -> CellFile:
    """Records, or cells with their status, as the metadata say."""
    told, where = read_metadata(metadata, encoding), Path(data)
    rows = list(_rows(text_of(data, "the data", encoding), told, where.name))
    if not rows:
        raise InputError(f"{where.name} has no rows.")
    text = {column.name: [row[k] for row in rows] for k, column in enumerate(told.columns)}
    if len(text) < len(told.columns):
        raise InputError(f"{Path(metadata).name} names a column twice.")
    by: dict[str, list[str]] = {}
    for column in told.columns:
        by.setdefault(column.role, []).append(column.name)
    frame: dict[str, Any] = {name: text[name] for role in ("dim", "holding") for name in by.get(role, ())}
    for role in ("value", "frequency", "largest", "lower", "upper", "weight"):
        frame |= {name: _numbers(text[name], name) for name in by.get(role, ())}
    roles: dict[str, Any] = {"dims": by.get("dim", []), "values": by.get("value", [])}
    roles |= {name: by[name][0] for name in ("frequency", "holding", "weight", "lower", "upper") if name in by}
    if not roles["dims"]:
        raise InputError(f"{Path(metadata).name} names no column as <RECODEABLE>: a table has none.")
    roles["total"] = {column.name: _first(column, "<TOTCODE>", "Total") for column in told.columns}
    roles["hierarchies"] = {
        column.name: tree
        for column in told.columns
        if column.role == "dim" and (tree := _tree(column, text[column.name], Path(metadata), encoding)) is not None
    }
    for column in told.columns:
        if column.role == "asked":
            codes = column.said.get("<REQUEST>", [])
            frame[column.name] = [word in codes if codes else word not in ("", "0") for word in text[column.name]]
            roles["asked"] = column.name
    if "largest" in by:
        roles["largest"] = by["largest"]
    if "status" in by:
        roles |= _status(frame, text[by["status"][0]], told, by["status"][0])
    cells = {"status", "frequency", "largest", "lower", "upper"} & set(by)
    sums = [roles["total"][dim] in text[dim] for dim in roles["dims"]]
    if not roles["values"] and "frequency" in roles:  # a table of counts
        roles |= {"values": [roles["frequency"]], "counts": True}
    return CellFile(pa.table(frame), roles, records=not cells and not any(sums))


def _rows(text: str, told: Metadata, name: str) -> Iterator[list[str]]:
    width = max(column.begin + column.width for column in told.columns)
    lines: Any = text.split("\n")
    if told.sign is not None:
        sign = told.sign[:1] or ","
        lines = attempt(lambda: list(csv.reader(lines, delimiter=sign, strict=True)))
        if lines is None:
            raise InputError(
                f"{name} has a quotation mark that is not closed, or a cell that is too long.\nCorrect it."
            )
    for number, line in enumerate(lines, 1):
        if not line or (isinstance(line, str) and not line.strip()):
            continue
        if isinstance(line, str):
            line = line.rstrip("\r")
            if len(line) < max(column.begin for column in told.columns):
                raise InputError(f"Line {number} of {name} is shorter than the metadata say ({width} letters).")
            line = [line[column.begin : column.begin + column.width] for column in told.columns]
        if len(line) != len(told.columns):
            raise InputError(f"Line {number} of {name} has {len(line)} columns, and the metadata {len(told.columns)}.")
        yield [word.strip() for word in line]


def _numbers(words: Sequence[str], name: str) -> Array:
    """Numbers with a point or a comma; an empty one is missing."""
    found = attempt(lambda: np.array([float(word.replace(",", ".") or "nan") for word in words]))
    if found is None:
        raise InputError(f"Column {name!r} holds text that is no number.\nCorrect it, or the metadata.")
    return found


def _first(column: Column, tag: str, otherwise: str) -> str:
    return next(iter(column.said.get(tag, [])), "").strip() or otherwise


def _tree(column: Column, codes: Sequence[str], metadata: Path, encoding: str | None) -> Axis | None:
    """The hierarchy of a column: in a file beside the metadata, or in the digits of its codes."""
    total = _first(column, "<TOTCODE>", "Total")
    if "<HIERCODELIST>" in column.said:
        name = _first(column, "<HIERCODELIST>", "").replace("\\", "/")
        beside = metadata.parent / Path(name).name
        path = beside if beside.is_file() else metadata.parent / name
        lines = text_of(path, f"the hierarchy of {column.name}", encoding).splitlines()
        return levels(column.name, lines, total, _first(column, "<HIERLEADSTRING>", "@"))
    if "<HIERLEVELS>" not in column.said:
        return None
    widths = attempt(lambda: [int(word) for word in column.said["<HIERLEVELS>"]])
    if not widths or min(widths) < 0:
        raise InputError(f"The <HIERLEVELS> of {column.name} are not numbers of digits.\nCorrect the metadata.")
    pairs: dict[str, str] = {}
    for code in sorted({code for code in codes if code != total}):
        path_ = list(dict.fromkeys(code[:end] for end in accumulate(width for width in widths if width)))
        pairs |= dict(zip(path_, [total, *path_], strict=False))
    return parents(column.name, pairs.items())


def _status(frame: dict[str, Any], words: Sequence[str], told: Metadata, name: str) -> dict[str, str]:
    """Marks from a column of letters: unsafe cells are sensitive; they and those of the second step are suppressed."""
    safe, unsafe, protect = (told.status[tag] for tag in STATUS)
    letters = [word.upper() for word in words]
    strange = [k for k, word in enumerate(letters, 1) if word not in (safe, unsafe, protect, SECONDARY, *EMPTY)]
    if strange:
        raise InputError(f"Column {name!r} has a status that is not known in {len(strange):,} rows ({strange[0]}).")
    suppressed, sensitive = f"{name} suppressed", f"{name} sensitive"
    frame[suppressed] = [word in (unsafe, SECONDARY) for word in letters]
    frame[sensitive] = [word == unsafe for word in letters]
    return {"suppressed": suppressed, "sensitive": sensitive}


def argus_texts(table: Table, name: str, more: Mapping[str, Sequence[Any]], stem: str) -> dict[str, str]:
    """Files of a table by their names: cells (.tab), metadata (.rda), and a hierarchy (.hrc) for each deep dimension.

    more: columns of cells: sensitive, suppressed, lower, upper
    """
    axes, makeup = table.grid.axes, table.makeup(name)
    known = makeup.largest.shape[1] >= 2
    columns: dict[str, tuple[str, Any]] = {name: ("<NUMERIC>", table.values[name])}
    if not np.isnan(makeup.records).any():
        columns["frequency"] = "<FREQUENCY>", [int(number) for number in makeup.records]
    if known:
        columns |= {f"largest_{k + 1}": ("<MAXSCORE>", makeup.largest[:, k]) for k in range(2)}
    marks = [more.get(mark) for mark in ("sensitive", "suppressed")]
    if any(mark is not None for mark in marks):
        first, second = ([False] * len(table) if mark is None else mark for mark in marks)
        columns["status"] = "<STATUS>", ["U" if a else "M" if b else "S" for a, b in zip(first, second, strict=True)]
    for level, tag in (("lower", "<LOWERPL>"), ("upper", "<UPPERPL>")):
        if level in more:
            columns[level] = f"<NUMERIC> {tag}", more[level]
    if len({axis.name for axis in axes} | set(columns)) < len(axes) + len(columns):
        raise UsageError(f"A dimension has the name of one of the columns {', '.join(columns)}.\nRename it.")
    told, texts = ['<SEPARATOR> ";"'], dict[str, str]()
    for axis in axes:
        told += [_word(axis.name), "  <RECODEABLE>", f'  <TOTCODE> "{_word(axis.total or "Total")}"']
        if len(axis.sums) > 1:
            file = f"{stem}.{_word(axis.name)}.hrc"
            texts[file] = "\n".join([*_deep(axis), ""])
            told += ["  <HIERARCHICAL>", f'  <HIERCODELIST> "{file}"', '  <HIERLEADSTRING> "@"']
    for column, (tags, _) in columns.items():
        told += [_word(column), f"  {tags}", *(["  <DECIMALS> 6"] if "NUMERIC" in tags else [])]
    lines = []
    for cell in np.flatnonzero(~table.hidden):
        codes = [f'"{_word(axis.codes[place])}"' for axis, place in zip(axes, table.grid.codes[cell], strict=True)]
        lines.append(";".join([*codes, *(_cell(each[cell]) for _, each in columns.values())]))
    return {f"{stem}.rda": "\n".join([*told, ""]), **texts, f"{stem}.tab": "\n".join([*lines, ""])}


def _word(text: str) -> str:
    if re.search(r'["\r\n;]', text) or text != text.strip() or not text:
        raise UsageError(f"tau-ARGUS has no way to write the name or code {text!r}.\nRename it, or write CSV.")
    return text


def _cell(value: Any) -> str:
    return str(value) if isinstance(value, str | int) else "" if np.isnan(value) else repr(float(value))


def _deep(axis: Axis) -> Iterator[str]:
    """The lines of a hierarchy, a sign for each level below the total."""
    below = {parent: [child for child, _ in line] for parent, line in axis.sums}
    children = [child for line in below.values() for child in line]
    top = axis.place[axis.total] if axis.total is not None else -1
    signs = {sign for _, line in axis.sums for _, sign in line}
    if len(below) < len(axis.sums) or len(set(children)) < len(children) or top < 0 or signs != {1}:
        raise UsageError(f"tau-ARGUS has one hierarchy of a dimension, a tree below a total: {axis.name} has another.")
    waiting = [(child, 0) for child in reversed(below[top])]
    while waiting:
        place, depth = waiting.pop()
        yield "@" * depth + _word(axis.codes[place])
        waiting += [(child, depth + 1) for child in reversed(below.get(place, []))]
