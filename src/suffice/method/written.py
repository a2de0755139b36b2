"""A method as a plan writes it, and as one writes it in a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from suffice.method.method import Method, declared_parameters

EMPTY: tuple[Any, ...] = ({}, (), [])
"""What stands for nothing where the default is None."""


def steps(method: Method) -> list[dict[str, Any]]:
    """As [[method]] of a plan: a name, and parameters that are not at their defaults."""
    return [{"name": step.name, **_own(step)} for step in _each(method)]


def spelt(method: Method) -> str:
    """As one writes it in a line: rank-swap:p=0.2 + restore."""
    return " + ".join(map(_line, _each(method)))


def _each(method: Method) -> Iterator[Method]:
    steps: Sequence[Method] | None = getattr(method, "steps", None)
    yield from (method,) if steps is None else (own for step in steps for own in _each(step))


def _own(step: Method) -> dict[str, Any]:
    plain, found = {each.name: each.default for each in declared_parameters(type(step))}, {}
    for name, told in step.parameters().items():
        value = getattr(step, name)
        if value != plain[name] and not (plain[name] is None and told in EMPTY):
            found[name] = _line(value) if isinstance(value, Method) else "none" if told is None else told
    return found


def _line(step: Method) -> str:
    given = ",".join(f"{name}={value}" for name, value in _own(step).items())
    return f"{step.name}:{given}" if given else step.name
