"""What can go wrong, by stage. Every message says what failed, the numbers, and what to do - never a data value."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Signs that command a terminal, end a line, or turn the direction of writing."""


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


def escaped(text: str) -> str:
    """Text of others - a name - that stays on its line and commands nothing.

    >>> print(escaped("wages\\ncertificate: HOLDS"))
    wages\\ncertificate: HOLDS
    """
    return CONTROL.sub(lambda sign: ascii(sign[0])[1:-1], text)


def path_of(name: str | os.PathLike[str]) -> Path:
    """A path that a file can have."""
    path = Path(name)
    try:
        whole, parts = os.fsencode(path), [os.fsencode(part) for part in path.parts]
    except ValueError:
        raise UsageError("A path holds signs that no file name can have.\nCorrect it.") from None
    if b"\0" in whole:
        raise UsageError("A path holds a NUL.\nCorrect it.")
    if len(whole) > 4095 or any(len(part) > 255 for part in parts):
        raise UsageError("A path is longer than file names can be (255 bytes a name).\nChoose a shorter one.")
    return path


def attempt(read: Callable[[], T]) -> T | None:
    """None where a parser fails, however: its errors quote cells, so they end here and are nobody's context."""
    try:
        return read()
    except Exception as error:
        refuse_starved(error)
        return None


def refuse_starved(error: BaseException) -> None:
    """A parser that found no memory: there is none, or a damaged file has asked for what no machine has."""
    if starved(error):
        raise FileError(
            "There is not enough memory to read the data, or a file is damaged and asks for more than there is.\n"
            "Look whether other programs read it; name fewer columns, or give the data as Parquet."
        ) from None


def starved(error: BaseException) -> bool:
    """Whether memory has run out: libraries say so in many ways."""
    number, text = getattr(error, "errno", None), str(error).lower()
    said = (
        "can't start new thread",
        "failed to map segment",
        "out of memory",
        "cannot allocate",
        "malloc of size",
        "resource temporarily unavailable",
    )
    return isinstance(error, MemoryError) or number == errno.ENOMEM or any(each in text for each in said)


def addresses() -> int | None:
    """How many bytes of addresses this process may have; None: as many as there are."""
    try:
        import resource
    except ImportError:  # a system without such limits
        return None
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if most == resource.RLIM_INFINITY else most


def count_of(number: int, noun: str) -> str:
    """A number with its noun.

    >>> count_of(1, "record"), count_of(1234, "record")
    ('1 record', '1,234 records')
    """
    return f"{number:,} {noun}" + "s" * (number != 1)


def suggest(name: str, known: Iterable[str]) -> str:
    """' Did you mean ...?' for the known name nearest to `name`, or nothing."""
    names = {each.casefold(): each for each in known}
    near = get_close_matches(name.casefold(), list(names), n=1)
    return f" Did you mean {names[near[0]]!r}?" if near else ""


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
