"""Writing so that the target is the old file or a complete one, whatever happens meanwhile."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from suffice.errors import FileError, UsageError


class Draft:
    """A file without a name beside its target. It becomes the target whole, or vanishes - with the process, if need be.

    Where the file system has no nameless files, it is a hidden file that is removed on the way out.
    """

    def __init__(self, target: str | os.PathLike[str], force: bool = False) -> None:
        self.target, self.force = Path(target), force
        if self.target.is_dir():
            raise FileError("The output is a folder.\nName a file.")
        if self.target.exists() and not force:
            raise FileError("The output exists already.\nChoose another name, or overwrite it with --force.")
        self.hidden: Path | None = None
        with failing("The output cannot be written"):
            self.descriptor = self._open()
        named = f"/proc/self/fd/{self.descriptor}"
        self.path = str(self.hidden) if self.hidden else named

    def _open(self) -> int:
        folder = self.target.parent
        if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
            try:
                return os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600)
            except OSError as problem:
                if problem.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL):
                    raise
        self.hidden = folder / f".{self.target.name}.{secrets.token_hex(4)}.partial"
        return os.open(self.hidden, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)

    def commit(self) -> None:
        """Give the finished file its name."""
        with failing("The output cannot be written"):
            os.fsync(self.descriptor)
            mask = os.umask(0o077)
            os.umask(mask)
            os.fchmod(self.descriptor, 0o666 & ~mask)
            if self.hidden is None:
                self._link()
            else:
                os.replace(self.hidden, self.target)
                self.hidden = None
            folder = os.open(self.target.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def _link(self) -> None:
        folder = os.open(self.target.parent, os.O_RDONLY)
        try:  # a directory descriptor makes Python call linkat, which follows the link in /proc
            name = self.target.name
            if self.force and self.target.exists():  # a nameless file cannot replace one: name it, then move it
                name = f".{self.target.name}.{secrets.token_hex(4)}.partial"
            os.link(self.path, name, dst_dir_fd=folder, follow_symlinks=True)
            if name != self.target.name:
                os.replace(name, self.target.name, src_dir_fd=folder, dst_dir_fd=folder)
        finally:
            os.close(folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self.descriptor)
        if self.hidden is not None:
            with contextlib.suppress(OSError):
                self.hidden.unlink()


@contextlib.contextmanager
def failing(what: str) -> Iterator[None]:
    """Turn an operating system's error into a sentence; its own text may hold a path."""
    try:
        yield
    except OSError as problem:
        reason = {
            errno.ENOSPC: "the disk is full",
            errno.EACCES: "permission denied",
            errno.EPERM: "permission denied",
            errno.EROFS: "the folder is read-only",
            errno.ENOENT: "the folder does not exist",
            errno.ENOTDIR: "the folder does not exist",
            errno.EEXIST: "it exists already",
            errno.EFBIG: "the file is larger than allowed",
        }.get(problem.errno or 0, (problem.strerror or "input/output error").lower())
        raise FileError(f"{what}: {reason}.") from None


def refuse_overwriting(target: Path, sources: Iterator[Path] | list[Path]) -> None:
    """The output must not be one of the inputs."""
    for source in sources:
        if target.exists() and source.exists() and os.path.samefile(target, source):
            raise UsageError("The output is the input.\nThe original is never overwritten: choose another name.")
