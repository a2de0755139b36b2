"""Pages from templates: every name and value is escaped, no script, nothing from the network."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from suffice.errors import escaped

if TYPE_CHECKING:
    from jinja2 import Environment


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
        autoescape=True,
        finalize=lambda value: escaped(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
