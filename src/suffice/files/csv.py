"""CSV files: read fast by Arrow, and explained slowly where something is wrong with them."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv

from suffice.errors import FileError, InputError, attempt, count_of
from suffice.rows.arrow import check_names
from suffice.rows.sightings import FIRST

MISSING = ["", "NA", "NaN", "nan", "null", "NULL"]
LONGEST_LINE = 100_000_000
LARGEST_BLOCK = 2**31 - 1
CHUNK = 1 << 20
HEAD = 1000
POINT, COMMA, CODE = re.compile(r"[+-]?\d*\.\d+"), re.compile(r"[+-]?\d*,(\d{1,2}|\d{4,})"), re.compile(r"0\d+")
NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Dialect:
    """How a file is written, found from its first records.

    names: of the columns
    codes: those of them whose numbers have leading zeros, and are therefore text
    pointed: those with points in a file of decimal commas, such as codes of activities: text
    """

    delimiter: str
    decimal: str
    names: tuple[str, ...]
    codes: tuple[str, ...] = ()
    pointed: tuple[str, ...] = ()
    encoding: str | None = None

    @classmethod
    def find(cls, path: Path, delimiter: str | None = None, encoding: str | None = None) -> Dialect:
        """delimiter: between columns; None finds it from the first line"""
        found = delimiter or _delimiter(path, encoding)
        names, cells = _head(path, found, encoding)
        if not names or all(NUMBER.fullmatch(name.strip()) for name in names):
            raise InputError(f"{path.name} does not begin with column names. Put them into the first line.")
        whole = [row for row in cells if len(row) == len(names)]
        columns = dict(zip(names, zip(*whole, strict=True), strict=False))
        pointed, codes = ([name for name, column in columns.items() if _any(p, [column])] for p in (POINT, CODE))
        commas = found == ";" and (not pointed or _any(COMMA, cells))  # three digits may be thousands
        return cls(
            found, "," if commas else ".", tuple(names), tuple(codes), tuple(pointed) if commas else (), encoding
        )

    @property
    def notes(self) -> tuple[str, ...]:
        decimal = {",": "commas", ".": "points"}[self.decimal]
        how = [f"Read with ; between columns and decimal {decimal}."] if self.delimiter == ";" else []
        zeros = (f"Column {name!r} has leading zeros and is read as text." for name in self.codes)
        points = (f"Column {name!r} has points beside decimal commas and is read as text." for name in self.pointed)
        return (*how, *zeros, *points)


@dataclass(frozen=True)
class Scan:
    """What a pass over the bytes tells: the quotation marks, and how long the longest line can be."""

    quotes: int
    longest: int


def read_csv(path: Path, delimiter: str | None = None, encoding: str | None = None) -> tuple[pa.Table, tuple[str, ...]]:
    """The table, and notes on how it was read.

    **Promises** that no error quotes a cell.

    delimiter: between columns; None finds it from the first line
    encoding: of the text; None is UTF-8
    """
    try:
        scan = _scan(path, encoding)
        dialect = Dialect.find(path, delimiter, encoding)
    except UnicodeError:
        raise InputError(f"{path.name} has bytes that are not {encoding}. Name the encoding that it has.") from None
    except OSError as error:
        raise FileError(f"{path.name} cannot be read: {error.strerror}.") from None
    check_names(dialect.names)
    if scan.quotes % 2:
        _explain(path, dialect)  # returns where the odd one is an inch sign
    table = _read(path, dialect, scan)
    if any(pa.types.is_binary(field.type) for field in table.schema):
        raise _not_utf8(path)
    return table, dialect.notes


def _scan(path: Path, encoding: str | None) -> Scan:
    quotes = lines = carried = 0
    longest = CHUNK
    for chunk in _chunks(path, encoding):
        if (at := chunk.find(b"\0")) >= 0:
            raise _not_text(path, lines + chunk.count(b"\n", 0, at) + 1)
        longest = max(longest, carried + chunk.find(b"\n") + 1)
        last = chunk.rfind(b"\n")
        carried = carried + len(chunk) if last < 0 else len(chunk) - last
        lines, quotes = lines + chunk.count(b"\n"), quotes + chunk.count(b'"')
        if carried >= LONGEST_LINE:
            raise InputError(f"Line {lines + 1} of {path.name} is longer than 100 MB. Is it a CSV file?")
    return Scan(quotes, max(longest, carried))


def _chunks(path: Path, encoding: str | None) -> Iterator[bytes]:
    """The bytes of a file as UTF-8."""
    if encoding is None:
        with path.open("rb") as file:
            yield from iter(partial(file.read, CHUNK), b"")
    else:
        with path.open(encoding=encoding, newline="") as text:
            yield from (piece.encode() for piece in iter(partial(text.read, CHUNK), ""))


def _read(path: Path, dialect: Dialect, scan: Scan) -> pa.Table:
    parse = pacsv.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=scan.quotes > 0)
    convert = pacsv.ConvertOptions(
        null_values=MISSING,
        strings_can_be_null=True,
        decimal_point=dialect.decimal,
        column_types=dict.fromkeys([*dialect.codes, *dialect.pointed], pa.string()),
    )
    for block in (4 * scan.longest, path.stat().st_size + 1):  # a record of many lines may need the second
        read = pacsv.ReadOptions(block_size=min(block, LARGEST_BLOCK), encoding=dialect.encoding or "utf8")
        table = attempt(partial(_table, path, read, parse, convert))
        if table is not None:
            return table
    _explain(path, dialect)
    raise InputError(f"{path.name} cannot be read as CSV. Write it anew as CSV (UTF-8) or Parquet.")


def _table(path: Path, *options: Any) -> pa.Table | None:
    table = pacsv.read_csv(path, *options)
    return table if table.column_names else None  # names are decoded only here


def _explain(path: Path, dialect: Dialect) -> None:
    """Raises with the place of what Arrow cannot read; returns where nothing is found."""
    ragged, fault = _faults(path, dialect)
    if fault is not None:
        raise fault
    if ragged:
        raise InputError(
            f"{path.name}: {count_of(len(ragged), 'line')} without the first line's "
            f"{count_of(len(dialect.names), 'column')}: "
            f"lines {', '.join(map(str, ragged[:FIRST]))}{' ...' * (len(ragged) > FIRST)}\n"
            "Correct these lines, or quote the cells that hold the separator."
        )


def _faults(path: Path, dialect: Dialect) -> tuple[list[int], InputError | None]:
    """Lines with another number of columns; and what ended the reading, if anything did."""
    ragged, line = [], 0
    try:
        for line, fields in records(path, dialect.delimiter, dialect.encoding, errors="strict"):
            if len(fields) != len(dialect.names):
                ragged.append(line)
    except UnicodeDecodeError:
        return ragged, _not_utf8(path)
    except csv.Error:
        return ragged, _not_closed(path, line)
    return ragged, None


def _not_closed(path: Path, line: int) -> InputError:
    return InputError(
        f"{path.name}: after line {line} a quotation mark is not closed, or a cell is too long.\n"
        "Close the quotation mark; within a quoted cell write it twice."
    )


def _not_text(path: Path, line: int) -> InputError:
    return InputError(
        f"{path.name} has a NUL byte in line {line}: binary, or UTF-16. Name its encoding, or save it as UTF-8."
    )


def _not_utf8(path: Path) -> InputError:
    with path.open("rb") as file:
        bad = [str(number) for number, line in enumerate(file, 1) if not _is_utf8(line)]
    lines = f"{', '.join(bad[:FIRST])}{' ...' * (len(bad) > FIRST)}"
    return InputError(
        f"{path.name} has bytes that are not UTF-8 in {'line' if len(bad) == 1 else 'lines'} {lines}. "
        "Name its encoding (often latin-1 or cp1252), or save it as UTF-8."
    )


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def records(
    path: Path, delimiter: str, encoding: str | None = None, errors: str = "replace"
) -> Iterator[tuple[int, list[str]]]:
    """(first line, fields) of every record that is not an empty line; slow."""
    with path.open(encoding=encoding or "utf-8-sig", errors=errors, newline="") as file:
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        line = 1
        for fields in reader:
            if fields:
                yield line, fields
            line = reader.line_num + 1


def _head(path: Path, delimiter: str, encoding: str | None) -> tuple[list[str], list[list[str]]]:
    try:
        head = [fields for _, fields in islice(records(path, delimiter, encoding), HEAD)]
    except csv.Error:  # a quote that is never closed, or a cell too long: told from the whole file
        return _first_line(path, encoding).split(delimiter), []
    if len(head) == 1:
        raise InputError(f"{path.name} has column names and no records.")
    return (head[0], head[1:]) if head else ([], [])


def _any(pattern: re.Pattern[str], rows: list[list[str]] | list[tuple[str, ...]]) -> bool:
    return any(pattern.fullmatch(cell) for row in rows for cell in row)


def _delimiter(path: Path, encoding: str | None) -> str:
    header = re.sub(r'"[^"]*"', "", _first_line(path, encoding))
    return max((",", ";", "\t"), key=header.count)


def _first_line(path: Path, encoding: str | None) -> str:
    with path.open(encoding=encoding or "utf-8-sig", errors="replace") as file:
        return file.readline().rstrip("\n")
