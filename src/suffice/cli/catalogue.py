"""The methods, as `suffice methods` shows them: everything follows from the classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from textwrap import fill

from suffice.cli.show import as_json, say
from suffice.errors import UsageError, suggest
from suffice.method import Description, ParameterDescription, describe, methods

KEPT = {"mean": "means", "covariance": "covariances", "fit": "regressions on the given columns"}


def show(name: str | None, json: bool) -> None:
    """All methods with a line each, or one in full."""
    known = {key: describe(method) for key, method in methods().items()}
    if name is not None and name not in known:
        raise UsageError(f"There is no method {name!r}.{suggest(name, known)} Known: {', '.join(known)}.")
    if json:
        as_json({key: asdict(known[key]) for key in ([name] if name else known)})
    elif name:
        say("\n".join(_full(known[name])))
    else:
        say("\n".join(_line(description) for description in known.values()))
        say("\nMore about one of them: suffice methods NAME")


def _line(method: Description) -> str:
    indent = " " * 22
    return fill(f"{method.name:<22}{method.summary}", 100, subsequent_indent=indent)


def _full(method: Description) -> Iterator[str]:
    yield method.name
    yield fill(method.summary, 100, initial_indent="  ", subsequent_indent="  ")
    yield f"\n  keeps      {kept(method)}"
    for number, parameter in enumerate(method.parameters):
        yield f"  {'' if number else 'parameters':<10} {_parameter(parameter)}"
    for number, reference in enumerate(method.references):
        yield f"  {'' if number else 'references':<10} {reference}"


def kept(method: Description) -> str:
    """What a method promises, in words."""
    return ", ".join(KEPT[promise] for promise in method.promises) or "nothing exactly; follow it with restore"


def _parameter(parameter: ParameterDescription) -> str:
    default = "required" if parameter.required else f"default {str(parameter.default).lower()}"
    return f"{parameter.name}: {parameter.doc} - {parameter.allowed} ({default})"
