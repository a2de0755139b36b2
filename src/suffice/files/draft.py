"""Writing so that the target is the old file or a complete one, whatever happens meanwhile."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import signal
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from suffice.errors import FileError, UsageError, escaped, failing

HIDDEN = re.compile("[0-9a-f]{8}")


class Draft:
    """A file without a name beside its target. It becomes the target whole, or vanishes - with the process, if need be.

    Where the file system has no nameless files, it is a hidden file that is removed on the way out.
    """

    def __init__(self, target: str | os.PathLike[str], force: bool = False, mode: int = 0o666) -> None:
        self.target, self.force, self.mode = Path(target), force, mode
        self.failed = f"{escaped(self.target.name)} cannot be written"
        self.refuse()
        self.hidden: Path | None = None
        self.former: Path | None = None
        with failing(self.failed):
            self.descriptor = self._open()
        named = f"/proc/self/fd/{self.descriptor}"
        self.path = str(self.hidden) if self.hidden else named

    def refuse(self) -> None:
        """A folder is never replaced, a file only when asked to."""
        if self.target.is_dir():
            raise FileError(f"{escaped(self.target.name)} is a folder.\nName a file.")
        if self.target.exists() and not self.force:
            raise FileError(
                f"{escaped(self.target.name)} exists already.\n"
                "Choose another name, or overwrite it: force=True (--force)."
            )

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
        with failing(self.failed):
            while data:
                data = data[os.write(self.descriptor, data) :]

    def settle(self) -> None:
        """All bytes on disk, and the rights that a new file has."""
        with failing(self.failed):
            os.fsync(self.descriptor)
            mask = os.umask(0o077)
            os.umask(mask)
            os.fchmod(self.descriptor, self.mode & ~mask)

    def name(self) -> None:
        """The finished file takes its name; a file that has it is kept aside until `done`."""
        with failing(self.failed), opened(self.target.parent) as folder:
            if os.path.lexists(self.target):
                self._set_aside()
            if self.hidden is None and self.former is None:  # a directory descriptor makes Python call linkat,
                os.link(self.path, self.target.name, dst_dir_fd=folder, follow_symlinks=True)  # which follows /proc
                return
            if self.hidden is None:  # a nameless file cannot replace one: name it, then move it
                self.hidden = self._hidden()
                os.link(self.path, self.hidden.name, dst_dir_fd=folder, follow_symlinks=True)
            os.replace(self.hidden, self.target)
            self.hidden = None

    def _set_aside(self) -> None:
        self.former = self._hidden("former")
        try:
            os.link(self.target, self.former, follow_symlinks=False)
        except OSError as problem:
            if problem.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK):
                raise
            os.replace(self.target, self.former)  # a file system without second names

    def withdraw(self) -> bool:
        """The name goes back to whom it belonged, or to nobody; whether it did."""
        with contextlib.suppress(OSError):
            if self.former is not None and self.former.exists():
                os.replace(self.former, self.target)
            elif self._is_named():
                self.target.unlink()
            self.done()
        try:
            return not self._is_named()
        except OSError:
            return False

    def done(self) -> None:
        """The file that had the name before is no longer needed."""
        if self.former is not None:
            self.former.unlink(missing_ok=True)  # it is there after a move to another name of the same file, too
            self.former = None

    def clear(self) -> None:
        """What writes to this name that were killed have left goes; where files without names are, nobody else makes
        any: it takes the lock of the folder."""
        start = f".{self.target.name[:200]}."
        if not self.path.startswith("/proc/"):
            return
        for each in self.target.parent.iterdir():
            token, _, why = each.name.removeprefix(start).partition(".")
            if each.name.startswith(start) and why in ("partial", "former") and HIDDEN.fullmatch(token):
                each.unlink(missing_ok=True)

    def _is_named(self) -> bool:
        try:
            return os.path.samestat(os.stat(self.target), os.fstat(self.descriptor))
        except FileNotFoundError:
            return False

    def _hidden(self, why: str = "partial") -> Path:
        return self.target.parent / f".{self.target.name[:200]}.{secrets.token_hex(4)}.{why}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self.descriptor)
        if self.hidden is not None:
            with contextlib.suppress(OSError):
                self.hidden.unlink()


def commit(drafts: Sequence[Draft]) -> None:
    """Name files that were settled, in this order, or none of them.

    Papers come first and their release last, so that no moment shows a release without its certificate. Whatever fails
    on the way gives every name back to the file that had it.
    """
    folders = sorted({draft.target.parent.resolve() for draft in drafts})
    with failing("The output cannot be written"), contextlib.ExitStack() as stack:
        held = [stack.enter_context(alone(folder)) for folder in folders]
        for draft in drafts:
            draft.refuse()
        stack.enter_context(undisturbed())
        try:
            for draft in drafts:
                draft.name()
            for folder in held:
                os.fsync(folder)
        except BaseException:
            stuck = [draft.target.name for draft in reversed(drafts) if not draft.withdraw()]
            if stuck:
                names = escaped(", ".join(stuck))
                raise FileError(f"The disk failed, and these files could not be taken back: {names}.") from None
            raise
        for draft in drafts:
            with contextlib.suppress(OSError):
                draft.done()
                draft.clear()


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Signals that end a process wait meanwhile; only its first thread is sent any."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    ending = [sign for sign in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(sign) is not None]
    former = {sign: signal.signal(sign, lambda number, _: came.append(number)) for sign in ending}
    try:
        yield
    finally:
        for sign, handler in former.items():
            signal.signal(sign, handler)
        for number in came:
            signal.raise_signal(number)


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[int]:
    """A folder's descriptor."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[int]:
    """One writer at a time names files in a folder, where the file system can tell; its descriptor."""
    with opened(folder) as descriptor:
        with contextlib.suppress(ImportError, OSError):
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor


Labelled = tuple[str, Path]
"""What a file is to the request - "the data" - and where."""


def keep_apart(written: Sequence[Labelled], kept: Sequence[Labelled]) -> None:
    """No file that will be written is one that is read, kept or secret, by whatever name, nor lies in a folder of them.

    `force` has no say in this.
    """
    for number, (what, target) in enumerate(written):
        for which, source in kept:
            if source.is_dir() and target.resolve().is_relative_to(source.resolve()):
                raise UsageError(f"{what.capitalize()} lies in the folder of {which}.\nChoose another folder.")
            if _same(target, source):
                raise UsageError(
                    f"{what.capitalize()} is {which}: {escaped(target.name)}.\n"
                    "That file is never overwritten, not even with force=True (--force): choose another name."
                )
        for which, other in written[:number]:
            if _same(target, other):
                raise UsageError(f"{what.capitalize()} is {which}: {escaped(target.name)}.\nChoose another name.")


def _same(one: Path, two: Path) -> bool:
    """One file: by links of either kind too; or two that do not exist yet and differ by case alone."""
    if one.exists() and two.exists():
        return os.path.samefile(one, two)
    return not (one.exists() or two.exists()) and str(one.resolve()).casefold() == str(two.resolve()).casefold()
