"""Pages from templates: every name and value is escaped, no script, nothing from the network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from suffice.files.draft import Draft


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
    """Write all of the page or nothing."""
    with Draft(path, True, mode) as draft:
        draft.write(text.encode())
        draft.settle()
        draft.name()
