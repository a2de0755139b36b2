"""Pages from templates: every name and value is escaped, no script, nothing from the network."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

from suffice.errors import FileError


def render(template: str, **values: Any) -> str:
    """The template of that name, filled in."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    pages = Environment(
        loader=PackageLoader("suffice.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return pages.get_template(template).render(**values)


def save(text: str, path: Path, mode: int) -> None:
    """Write all of the page or nothing: a temporary file beside it takes its name at the end."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as problem:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise FileError(f"{path.name} cannot be written: {problem.strerror}.") from None
