"""The command line: it says in words what a Plan and a Release do."""

from __future__ import annotations

import atexit
import contextlib
import gc
import io
import os
import signal
import sys
import traceback
from typing import NoReturn

from suffice.errors import SufficeError, addresses, starved

MEMORY = (
    "There is not enough memory for this request.\nName fewer columns, use fewer threads, or give the data as Parquet."
)


def main() -> NoReturn:
    """Run the command; every failure is a message on stderr and an exit code, never a traceback."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # each of its threads takes addresses, and none is used
    if addresses() is not None:
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # others reserve a gigabyte of addresses at once
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # nobody else's code is looked for, nor sees a request
    gc.set_threshold(1_000_000)  # modules being loaded are no garbage, and looking through them takes time
    atexit.register(gc.freeze)  # nor does what ends with the process need to be looked through once more
    from suffice.cli.app import ready_for

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name that the terminal has no letters for
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was begun is removed on the way out
    try:
        ready_for(sys.argv[1:])()
        sys.exit(0)
    except SufficeError as error:
        sys.exit(fail(str(error), error.exit_code, type(error).__name__, getattr(error, "document", {})))
    except Exception as error:  # its text may hold data
        if starved(error):
            sys.exit(fail(MEMORY, 7, "MemoryError"))
        if isinstance(error, OSError):
            sys.exit(fail(f"The system refused: {error.strerror or type(error).__name__}.", 7, "FileError"))
        sys.exit(fail(unexpected(error), 1, type(error).__name__))
    finally:
        from suffice.cli.show import flush

        flush()


def fail(message: str, code: int, kind: str, document: dict[str, object] | None = None) -> int:
    """Say what went wrong, as JSON on stdout too where that was asked for; the exit code."""
    from suffice.cli.show import alarm, as_json

    if "--json" in sys.argv[1:]:
        with contextlib.suppress(OSError):  # stdout may be what failed
            as_json({**(document or {}), "error": {"kind": kind, "message": message, "exit_code": code}})
    alarm(message)
    return code


def unexpected(error: Exception) -> str:
    """One line for a failure nobody foresaw: its type and place in the code, never its text."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{type(error).__name__} in {place.name}, line {place.lineno}"
    return f"Unexpected {where}. Its text is withheld, since it may hold data."
