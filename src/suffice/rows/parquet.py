"""Rows of Parquet files of any size: read batch by batch, every pass anew."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from suffice.errors import FileError, InputError, refuse_starved
from suffice.progress import Progress
from suffice.rows.arrow import blocks, check_names, kinds, rechunked
from suffice.rows.rows import Block, Rows, per_run


class ArrowRows(Rows):
    """Rows that come as Arrow batches, read anew in every pass."""

    schema: Any

    @abstractmethod
    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """All rows in order, per_run() at a time."""

    def runs(self, columns: Sequence[str]) -> Iterator[Sequence[Block]]:
        start = 0
        for batch in self.batches(columns):
            yield blocks(batch, columns, start)
            start += len(batch)


class ParquetRows(ArrowRows):
    """A Parquet file, or all Parquet files of a folder in the order of their names."""

    def __init__(self, path: str | os.PathLike[str], threads: int = 1, progress: Progress | None = None) -> None:
        self.threads, self.progress = threads, progress
        where = Path(path)
        self.paths = _inside(where) if where.is_dir() else [where]
        if not self.paths:
            raise InputError("The folder holds no .parquet files.")
        files = [_opened(path) for path in self.paths]
        self.schema = files[0].schema_arrow.remove_metadata()
        for number, file in enumerate(files):
            if not file.schema_arrow.remove_metadata().equals(self.schema):
                raise InputError(f"File {number + 1} of the folder has other columns or types than the first one.")
        check_names(self.schema.names)
        self.n = sum(file.metadata.num_rows for file in files)
        self.kinds = kinds(self.schema)
        self.pinned = self._state()

    def _state(self) -> list[tuple[int, int, int]]:
        try:
            return [(s.st_ino, s.st_size, s.st_mtime_ns) for s in map(os.stat, self.paths)]
        except OSError:
            return []

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """Arrow batches of per_run() rows (the last one fewer), whatever the files' row groups."""
        if self._state() != self.pinned:
            raise FileError("The input changed while it was read.\nRun again when nobody writes to it.")
        yield from rechunked(self._pages(columns))

    def _pages(self, columns: Sequence[str]) -> Iterator[Any]:
        for path in self.paths:
            file = _opened(path)
            try:
                yield from file.iter_batches(per_run(), columns=list(columns), use_threads=self.threads > 1)
            except (MemoryError, pa.ArrowException, OSError) as error:  # the messages may quote cells
                refuse_starved(error)
                raise InputError("A Parquet file is damaged: its pages cannot be read.") from None


def _inside(folder: Path) -> list[Path]:
    """The folder's Parquet files; names that begin with a dot or an underscore are other programmes' notes."""
    found = sorted(folder.rglob("*.parquet"))
    return [path for path in found if not any(part[0] in "._" for part in path.relative_to(folder).parts)]


def _opened(path: Path) -> Any:
    try:
        return pq.ParquetFile(path, pre_buffer=False)
    except (MemoryError, pa.ArrowException, OSError) as error:
        refuse_starved(error)
        raise InputError("The Parquet file cannot be opened: its footer is missing or damaged.") from None
