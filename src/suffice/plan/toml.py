"""Tables as TOML text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tomli_w


def write(tables: Mapping[str, Any]) -> str:
    """Tables, and lists of tables. Reading the text gives equal tables.

    >>> print(write({"release": {"path": "out.csv", "force": True}}))
    [release]
    path = "out.csv"
    force = true
    <BLANKLINE>
    """
    return tomli_w.dumps(_without_null(tables))


def _without_null(value: Any) -> Any:
    """TOML has no null: an entry that is not controlled is the word none."""
    if isinstance(value, Mapping):
        return {name: _without_null(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_null(item) for item in value]
    return value if isinstance(value, bool | int | float) else "none" if value is None else str(value)
