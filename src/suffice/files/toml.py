"""Tables as TOML text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tomli_w


def write(tables: Mapping[str, Any]) -> str:
    """Tables, and lists of tables, in their order. Reading the text gives equal tables.

    >>> print(write({"release": {"path": "out.csv", "force": True}}))
    [release]
    path = "out.csv"
    force = true
    <BLANKLINE>
    """
    return "\n".join(text for name, table in _without_null(tables).items() for text in _texts(name, table))


def _texts(name: str, table: Any) -> list[str]:
    if isinstance(table, list):  # else short tables would share a line
        return [f"[[{name}]]\n{tomli_w.dumps(step)}" for step in table]
    return [tomli_w.dumps({name: table})]


def _without_null(value: Any) -> Any:
    """TOML has no null: an entry that is not controlled is the word none."""
    if isinstance(value, Mapping):
        return {name: _without_null(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_null(item) for item in value]
    return value if isinstance(value, bool | int | float) else "none" if value is None else str(value)
