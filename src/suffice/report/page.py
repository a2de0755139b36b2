"""Pages from templates: every name and value is escaped, no script, nothing from the network."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from suffice.errors import escaped

if TYPE_CHECKING:
    from jinja2 import BytecodeCache, Environment


class Document(Protocol):
    """What a page is made of, as data: a certificate."""

    def as_dict(self, exact: bool = False) -> dict[str, Any]: ...


def render(template: str, **values: Any) -> str:
    """The template of that name, filled in."""
    return pages().get_template(template).render(**values)


@cache
def pages() -> Environment:
    """Every template, compiled when it is first asked for."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("suffice.report"),
        bytecode_cache=_kept(),
        autoescape=True,
        finalize=lambda value: escaped(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _kept() -> BytecodeCache | None:
    """What templates were compiled to, beside those of the modules; nothing where none of these are kept."""
    from jinja2 import FileSystemBytecodeCache

    folder = Path(__file__).parent / "__pycache__"
    return FileSystemBytecodeCache(str(folder)) if os.access(folder, os.W_OK) and not sys.dont_write_bytecode else None
