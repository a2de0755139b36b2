"""How a CSV file is written: separator, decimals, codes with leading zeros - found from its first records."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from suffice.errors import InputError

HEAD = 1000
POINT, CODE = re.compile(r"[+-]?\d*\.\d+"), re.compile(r"0\d+")
NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Dialect:
    """names: of the columns; codes: those of them whose numbers have leading zeros, and are therefore text"""

    delimiter: str
    decimal: str
    names: tuple[str, ...]
    codes: tuple[str, ...] = ()

    @classmethod
    def find(cls, path: Path, delimiter: str | None = None) -> Dialect:
        """delimiter: between columns; None finds it from the first line"""
        found = delimiter or _delimiter(path)
        names, cells = _head(path, found)
        if not names or all(NUMBER.fullmatch(name.strip()) for name in names):
            raise InputError(f"{path.name} does not begin with column names. Put them into the first line.")
        decimal = "," if found == ";" and not _any(POINT, cells) else "."
        columns = zip(*(row for row in cells if len(row) == len(names)), strict=True)
        codes = [name for name, column in zip(names, columns, strict=False) if _any(CODE, [column])]
        return cls(found, decimal, tuple(names), tuple(codes))

    @property
    def notes(self) -> tuple[str, ...]:
        decimal = {",": "commas", ".": "points"}[self.decimal]
        how = [f"Read with ; between columns and decimal {decimal}."] if self.delimiter == ";" else []
        return (*how, *(f"Column {name!r} has leading zeros and is read as text." for name in self.codes))


def records(path: Path, delimiter: str, errors: str = "replace") -> Iterator[tuple[int, list[str]]]:
    """(first line, fields) of every record that is not an empty line; slow."""
    with path.open(encoding="utf-8-sig", errors=errors, newline="") as file:
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        line = 1
        for fields in reader:
            if fields:
                yield line, fields
            line = reader.line_num + 1


def _head(path: Path, delimiter: str) -> tuple[list[str], list[list[str]]]:
    try:
        head = [fields for _, fields in islice(records(path, delimiter), HEAD)]
    except csv.Error:  # a quote that is never closed, or a cell too long: told from the whole file
        return _first_line(path).split(delimiter), []
    if len(head) == 1:
        raise InputError(f"{path.name} has column names and no records.")
    return (head[0], head[1:]) if head else ([], [])


def _any(pattern: re.Pattern[str], rows: list[list[str]] | list[tuple[str, ...]]) -> bool:
    return any(pattern.fullmatch(cell) for row in rows for cell in row)


def _delimiter(path: Path) -> str:
    header = re.sub(r'"[^"]*"', "", _first_line(path))
    return max((",", ";", "\t"), key=header.count)


def _first_line(path: Path) -> str:
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        return file.readline().rstrip("\n")
