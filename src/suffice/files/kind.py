"""Kinds of files: what a path holds, decided by its name and its first bytes, and what a name asks for."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from suffice.errors import FileError, InputError, UsageError, path_of, suggest

SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".feather": "feather",
    ".arrow": "feather",
    ".sav": "sav",
    ".zsav": "sav",
    ".por": "por",
    ".dta": "dta",
    ".sas7bdat": "sas7bdat",
    ".xpt": "xpt",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".xlsb": "excel",
    ".xls": "excel",
    ".ods": "excel",
}
"""Kinds by suffix."""
WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
READ_ONLY = (".zsav", ".por", ".sas7bdat", *WORKBOOKS)
STREAMS = ("parquet", "csv", "tsv", "feather")
"""Kinds of file that are written piece by piece."""
DELIMITERS = {"csv": ",", "tsv": "\t"}
MAGIC = {b"PAR1": "parquet", b"ARROW1": "feather", b"\xff\xff\xff\xff": "feather"}
REFUSED = {
    b"PK\x03\x04": "is a zip archive. Unpack it; name a workbook .xlsx.",
    b"\xd0\xcf\x11\xe0": "is an old or encrypted Office file. Save the sheet as .xlsx or CSV (UTF-8).",
    b"\x1f\x8b": "is compressed with gzip. Unpack it first.",
    b"FEA1": "is a Feather file of the first version. Write it anew as Feather 2 (Arrow IPC) or Parquet.",
    b"\xff\xfe": "is text in UTF-16. Say so (encoding utf-16), or save it as UTF-8.",
    b"\xfe\xff": "is text in UTF-16. Say so (encoding utf-16), or save it as UTF-8.",
    **{
        bytes([0x80, protocol]): "is a Python pickle, which can run code. Save it as Parquet."
        for protocol in range(2, 6)
    },
}


@dataclass(frozen=True)
class EncodedFile(os.PathLike[str]):
    """A file whose text is not UTF-8."""

    path: Path
    encoding: str

    def __fspath__(self) -> str:
        return os.fspath(self.path)


def kind_of(path: str | os.PathLike[str]) -> str:
    """The kind of an existing file, or of a folder of Parquet files; all else is refused.

    **Promises** that a pickle or an archive is never opened; a workbook only where its name says that it is one.
    """
    where = path_of(path)
    if where.is_dir():
        return _folder(where)
    head = _head(where)
    if not head:
        raise InputError(f"{where.name} is empty (0 bytes).")
    for magic, sentence in REFUSED.items():
        if head.startswith(magic) and not (isinstance(path, EncodedFile) and "UTF-16" in sentence):
            if where.suffix.lower() in WORKBOOKS and magic[:2] in (b"PK", b"\xd0\xcf"):
                return "excel"
            raise InputError(f"{where.name} {sentence}")
    for magic, kind in MAGIC.items():
        if head.startswith(magic):
            return kind
    kind = kind_by_suffix(where)
    if kind in (*MAGIC.values(), "excel"):
        raise InputError(f"{where.name} is named like a {kind} file and does not begin like one: it is damaged.")
    return kind


def kind_by_suffix(path: str | os.PathLike[str]) -> str:
    """The kind that a file's name asks for.

    >>> kind_by_suffix("release.parquet"), kind_by_suffix("RELEASE.CSV")
    ('parquet', 'csv')
    """
    suffix = Path(path).suffix.lower()
    if suffix in SUFFIXES:
        return SUFFIXES[suffix]
    near = suggest(suffix, SUFFIXES)
    raise UsageError(f"{Path(path).name!r}: the kind of file is not known.{near}\nKnown are {', '.join(SUFFIXES)}.")


def write_kind(path: str | os.PathLike[str]) -> str:
    """The kind of file that the name of an output asks for."""
    suffix = path_of(path).suffix.lower()
    if suffix in WORKBOOKS:
        raise UsageError("Workbooks are read and not written.\nWrite .csv, which Excel opens, or .parquet.")
    if suffix not in SUFFIXES or suffix in READ_ONLY:
        raise UsageError(
            f"The output's name ends in {suffix.lstrip('.')!r}, which is no known kind of file.\n"
            "Use .parquet, .csv, .tsv, .feather, .arrow, .sav, .dta or .xpt."
        )
    return SUFFIXES[suffix]


def _head(where: Path) -> bytes:
    if where.exists() and not where.is_file():
        raise FileError(f"{where.name} is a pipe or a device, which cannot be read twice. Save it as a file first.")
    try:
        with where.open("rb") as file:
            return file.read(8)
    except FileNotFoundError:
        siblings = [path.name for path in where.parent.iterdir()] if where.parent.is_dir() else []
        raise FileError(f"There is no file {where.name!r}.{suggest(where.name, siblings)}") from None
    except OSError as error:
        raise FileError(f"{where.name} cannot be read: {error.strerror}. Look at its permissions.") from None


def _folder(where: Path) -> str:
    try:
        found = next(where.rglob("*.parquet"), None)
    except OSError as error:
        raise FileError(f"{where.name} cannot be read: {error.strerror}. Look at its permissions.") from None
    if found is None:
        raise FileError(
            f"{where.name or 'This'} is a folder without .parquet files. Name a file, or a folder of those."
        )
    return "parquet"
