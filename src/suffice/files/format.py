"""How a release is written: as the data were, where its kind of file can say it."""

from __future__ import annotations

import codecs
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suffice.errors import UsageError
from suffice.files.csv import Dialect
from suffice.files.kind import DELIMITERS, EncodedFile, kind_of, write_kind
from suffice.files.statfile import READERS, Labels


@dataclass(frozen=True)
class Format:
    """A kind of file, and what its text or its labels look like.

    encoding: of text; None is UTF-8
    labels: of variables and values, in files that have any
    """

    kind: str
    delimiter: str = ","
    decimal: str = "."
    encoding: str | None = None
    labels: Labels | None = None

    @classmethod
    def plain(cls, kind: str) -> Format:
        """A kind of file as it is written where nothing else is asked for."""
        return cls(kind, DELIMITERS.get(kind, ","))

    @classmethod
    def like(cls, data: Any, target: Path) -> Format:
        """The kind that the target's name asks for, in the dialect, encoding and labels of the data."""
        own = cls.plain(write_kind(target))
        if not isinstance(data, str | os.PathLike):
            return own
        read, encoding = kind_of(data), getattr(data, "encoding", None)
        if read in READERS and own.kind in READERS:
            return cls(own.kind, labels=Labels.of(Path(data), read, encoding))
        if read not in DELIMITERS or own.kind not in DELIMITERS:
            return own
        found = Dialect.find(Path(data), DELIMITERS["tsv"] if read == "tsv" else None, encoding)
        same = own.kind == "csv" and (found.delimiter == ";" or Path(data).suffix == target.suffix)
        return cls(own.kind, found.delimiter if same else own.delimiter, found.decimal, encoding)


def both_in_encoding(original: Any, released: Any, encoding: str | None) -> tuple[Any, Any]:
    """Data, and what is released of them: text in their encoding, or a kind of file that says its own."""
    if encoding is None:
        return original, released
    files = (
        each if not isinstance(each, str | os.PathLike) else EncodedFile(Path(each), encoding)
        for each in (original, released)
    )
    before, after = (kind_of(each) if isinstance(each, EncodedFile) else None for each in files)
    later = after in DELIMITERS and before not in READERS
    first = original if later and before not in DELIMITERS else in_encoding(original, encoding)
    return first, in_encoding(released, encoding) if later else released


def in_encoding(data: Any, encoding: str | None) -> Any:
    """A path with the encoding of its text; UTF-8 need not be said."""
    if encoding is None:
        return data
    try:
        codec = codecs.lookup(encoding)
        codec.incrementalencoder().encode("a")
    except (LookupError, TypeError, ValueError):
        raise UsageError(
            f"There is no encoding {encoding!r}.\nUsual ones are utf-8, latin-1, cp1252, utf-16."
        ) from None
    if not codec._is_text_encoding:
        raise UsageError(f"{encoding!r} is no encoding of text.\nUsual ones are utf-8, latin-1, cp1252, utf-16.")
    if not isinstance(data, str | os.PathLike):
        raise UsageError("An encoding is for files of text.\nLeave it out: frames hold letters already.")
    kept = EncodedFile(Path(data), encoding)
    if kind_of(kept) not in (*DELIMITERS, *READERS):
        raise UsageError("An encoding is for CSV, SPSS, Stata and SAS files.\nLeave it out: this kind of file says it.")
    return data if codec.name == "utf-8" else kept
