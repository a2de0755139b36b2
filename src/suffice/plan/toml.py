"""Tables as TOML text: the standard library reads TOML but does not write it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any


def write(tables: Mapping[str, Any]) -> str:
    """Tables, and lists of tables; a table inside one stands on its line. Reading the text gives equal tables.

    >>> print(write({"release": {"path": "out.csv", "force": True}}))
    [release]
    path = "out.csv"
    force = true
    <BLANKLINE>
    """
    return "\n".join(_table(name, table) for name, table in tables.items())


def _table(name: str, table: Any) -> str:
    if isinstance(table, list):
        return "\n".join(_lines(f"[[{name}]]", step) for step in table)
    return _lines(f"[{name}]", table)


def _lines(head: str, table: Mapping[str, Any]) -> str:
    return "\n".join([head, *(f"{_key(name)} = {_value(value)}" for name, value in table.items()), ""])


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _value(name)


def _value(value: Any) -> str:
    """A TOML value. TOML has no null: an entry that is not controlled is the word none."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(item) for item in value)}]"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(name)} = {_value(item)}' for name, item in value.items())} }}"
    text = "none" if value is None else str(value)
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
