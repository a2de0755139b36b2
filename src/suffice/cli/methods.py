"""The methods, as `suffice methods` shows them: everything follows from the classes."""

from __future__ import annotations

from dataclasses import asdict
from textwrap import fill

from suffice.catalogue import Description, describe, in_full, methods, table_methods
from suffice.cli.show import as_json, say
from suffice.errors import UsageError, suggest


def show(name: str | None, json: bool) -> None:
    """All methods with a line each, or one in full."""
    ours, tables = methods(), table_methods()
    known = {key: describe(method) for key, method in [*ours.items(), *tables.items()]}
    if name is not None and name not in known:
        raise UsageError(f"There is no method {name!r}.{suggest(name, known)} Known: {', '.join(known)}.")
    if json:
        as_json({key: asdict(known[key]) for key in ([name] if name else known)})
    elif name:
        say("\n".join(in_full(known[name])))
    else:
        say("\n".join(_line(known[key]) for key in ours))
        say("\nFor tables")
        say("\n".join(_line(known[key]) for key in tables))
        say("\nMore about one of them: suffice methods NAME")


def _line(method: Description) -> str:
    indent = " " * 22
    return fill(f"{method.name:<22}{method.summary}", 100, subsequent_indent=indent)
