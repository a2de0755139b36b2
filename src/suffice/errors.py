"""What can go wrong, by stage. Every message says what failed, the numbers, and what to do - never a data value."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterable, Iterator
from difflib import get_close_matches


class SufficeError(Exception):
    """Root of the tree; `exit_code` is what the command line returns."""

    exit_code = 1


class UsageError(SufficeError):
    """The request is wrong: an option, a parameter, a plan, a key."""

    exit_code = 2


class InputError(SufficeError):
    """The data are not what the request needs."""

    exit_code = 3


class GuardError(SufficeError):
    """A guard stops the release."""

    exit_code = 4


class InfeasibleError(SufficeError):
    """No data set with the asked properties exists."""

    exit_code = 5


class NotPreservedError(SufficeError):
    """The certificate does not hold: a promised statistic differs in the released rows."""

    exit_code = 6


class FileError(SufficeError):
    """Reading or writing failed."""

    exit_code = 7


def suggest(name: str, known: Iterable[str]) -> str:
    """' Did you mean ...?' for the known name nearest to `name`, or nothing."""
    near = get_close_matches(name, list(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


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
