"""Writing so that the target is the old file or a complete one, whatever happens meanwhile."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from suffice.errors import FileError, UsageError, failing


class Draft:
    """A file without a name beside its target. It becomes the target whole, or vanishes - with the process, if need be.

    Where the file system has no nameless files, it is a hidden file that is removed on the way out.
    """

    def __init__(self, target: str | os.PathLike[str], force: bool = False, mode: int = 0o666) -> None:
        self.target, self.force, self.mode = Path(target), force, mode
        self.refuse()
        self.hidden: Path | None = None
        with failing("The output cannot be written"):
            self.descriptor = self._open()
        named = f"/proc/self/fd/{self.descriptor}"
        self.path = str(self.hidden) if self.hidden else named

    def refuse(self) -> None:
        """A folder is never replaced, a file only when asked to."""
        if self.target.is_dir():
            raise FileError("The output is a folder.\nName a file.")
        if self.target.exists() and not self.force:
            raise FileError("The output exists already.\nChoose another name, or overwrite it with --force.")

    def _open(self) -> int:
        folder = self.target.parent
        if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
            try:
                return os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600)
            except OSError as problem:
                if problem.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL):
                    raise
        self.hidden = self._hidden()
        return os.open(self.hidden, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)

    def write(self, data: bytes) -> None:
        """Append some bytes, all of them."""
        with failing("The output cannot be written"):
            while data:
                data = data[os.write(self.descriptor, data) :]

    def settle(self) -> None:
        """All bytes on disk, and the rights that a new file has."""
        with failing("The output cannot be written"):
            os.fsync(self.descriptor)
            mask = os.umask(0o077)
            os.umask(mask)
            os.fchmod(self.descriptor, self.mode & ~mask)

    def name(self) -> None:
        """The finished file takes its name."""
        with failing("The output cannot be written"), opened(self.target.parent) as folder:
            if self.hidden is None:
                self._link(folder)
            else:
                os.replace(self.hidden, self.target)
                self.hidden = None
            os.fsync(folder)

    def withdraw(self) -> None:
        """Take the name back, where the file has it."""
        with contextlib.suppress(OSError):
            if os.path.samestat(os.stat(self.target), os.fstat(self.descriptor)):
                self.target.unlink()

    def _link(self, folder: int) -> None:
        """Follows the link in /proc: a directory descriptor makes Python call linkat."""
        if not self.target.exists():
            os.link(self.path, self.target.name, dst_dir_fd=folder, follow_symlinks=True)
            return
        self.hidden = self._hidden()  # a nameless file cannot replace one: name it, then move it
        os.link(self.path, self.hidden.name, dst_dir_fd=folder, follow_symlinks=True)
        os.replace(self.hidden, self.target)
        self.hidden = None

    def _hidden(self) -> Path:
        return self.target.parent / f".{self.target.name}.{secrets.token_hex(4)}.partial"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self.descriptor)
        if self.hidden is not None:
            with contextlib.suppress(OSError):
                self.hidden.unlink()


def commit(*sheaves: Sequence[Draft], stale: Iterable[Path]) -> None:
    """Name releases, each with its papers, so that no certificate ever lies beside another release.

    First the papers of earlier releases go, then each release is named, then its own papers. A process that is killed
    in between leaves a certified release without papers; one that fails takes all that is new back.

    sheaves: a release first, then its papers
    stale: papers of earlier releases with these names
    """
    for draft in (each for sheaf in sheaves for each in sheaf):
        draft.settle()
    with failing("The output cannot be written"), alone(sheaves[0][0].target.parent):
        for sheaf in sheaves:
            sheaf[0].refuse()
        fresh = [sheaf for sheaf in sheaves if not sheaf[0].target.exists()]
        for path in stale:
            path.unlink(missing_ok=True)
        try:
            for draft in (each for sheaf in sheaves for each in sheaf):
                draft.name()
        except FileError:
            for draft in (each for sheaf in fresh for each in sheaf):
                draft.withdraw()
            raise


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[int]:
    """A folder's descriptor."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """One writer at a time names files in a folder, where the file system can tell."""
    with opened(folder) as descriptor:
        with contextlib.suppress(ImportError, OSError):
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield


def refuse_overwriting(target: Path, sources: Iterable[Path]) -> None:
    """The output must not be one of the inputs, nor lie in a folder that is read as one."""
    for source in sources:
        if source.is_dir() and target.resolve().is_relative_to(source.resolve()):
            raise UsageError("The output lies in the input's folder.\nChoose another folder.")
        if target.exists() and source.exists() and os.path.samefile(target, source):
            raise UsageError("The output is the input.\nThe original is never overwritten: choose another name.")
