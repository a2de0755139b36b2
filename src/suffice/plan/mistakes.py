"""Everything that is wrong with a plan, each mistake with its path, so that all are said at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from suffice.design.roles import Roles
from suffice.errors import UsageError, suggest

if TYPE_CHECKING:
    from suffice.method.method import Method

Path = tuple[int | str, ...]


def refusal(mistakes: list[str]) -> UsageError:
    """One error for all mistakes."""
    count = "a mistake" if len(mistakes) == 1 else f"{len(mistakes)} mistakes"
    return UsageError("\n  ".join([f"The request has {count}:", *mistakes]))


def of_shape(details: Iterable[Any], sections: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """Unknown and missing keys and wrong types, from what pydantic found.

    details: pydantic's list of errors
    sections: the keys of each table; those of the plan itself stand under ""
    """
    for detail in details:
        path, kind = detail["loc"], detail["type"]
        if kind == "extra_forbidden":
            known = list(sections[str(path[0]) if len(path) > 1 else ""])
            yield f"{where(path)}: unknown key.{suggest(str(path[-1]), known)} Known: {', '.join(known)}."
        elif kind == "missing":
            yield f"{where(path)}: missing."
        else:
            keys = sections.get(str(path[0]), ()) if len(path) == 1 else ()
            yield f"{where(path)}: {_wanted(kind, path, keys, detail['msg'])}."


def _wanted(kind: str, path: Path, keys: Iterable[str], otherwise: str) -> str:
    """What must stand at a place where something else stands."""
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        told = f", with {', '.join(keys)}" if keys else ""
        return f"must be a table, [{where(path)}]{told}" if len(path) == 1 else "must be a table, with a name"
    plain = {"list_type": f"must be a list, a table [[{where(path)}]] for each", "string_type": "must be text"}
    return {**plain, "bool_type": "must be true or false"}.get(kind, otherwise)


def where(path: Path) -> str:
    """The path of a key, counted from 1.

    >>> where(("method", 0, "name"))
    'method[1].name'
    """
    return "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")


def of_roles(roles: Any) -> Iterator[str]:
    """Columns in two roles and the like."""
    if isinstance(roles, dict):
        try:
            Roles(**roles)
        except TypeError:
            return  # an unknown or missing key, said already
        except UsageError as error:
            yield from (f"roles: {line}" for line in str(error).splitlines())


def of_steps(steps: Any, known: Mapping[str, type[Method]] | None = None) -> Iterator[str]:
    """Unknown methods and parameters, and values that a method refuses.

    known: the methods that there are; without any, those for records
    """
    for number, step in enumerate(steps if isinstance(steps, list) else [], 1):
        if isinstance(step, dict) and isinstance(step.get("name"), str):
            yield from _of_step(f"method[{number}]", step["name"], step, known)


def _of_step(
    place: str, name: str, step: Mapping[str, Any], all_of: Mapping[str, type[Method]] | None
) -> Iterator[str]:
    from suffice.catalogue import build, describe, methods

    catalogue, given = all_of or methods(), {key: value for key, value in step.items() if key != "name"}
    if name in catalogue:
        known = [parameter.name for parameter in describe(catalogue[name]).parameters]
        for key in [key for key in given if key not in known]:
            del given[key]
            all_known = ", ".join(known) or "none"
            yield f"{place}.{key}: unknown parameter.{suggest(key, known)} Known: {all_known}."
    try:
        build(name, given, catalogue)
    except UsageError as error:
        yield f"{place}: {error}"


def of_rules(rules: Any, known: Iterable[str] = ()) -> Iterator[str]:
    """Findings that do not exist cannot be accepted.

    known: the rules that there are; without any, those on records
    """
    if isinstance(rules, dict) and rules:
        from suffice.guards import GUARDS

        names = sorted(known or GUARDS)
        for rule in [rule for rule in rules if rule not in names]:
            yield f"accept.{rule}: unknown rule.{suggest(rule, names)} Known: {', '.join(names)}."
        for rule, reason in rules.items():
            if isinstance(reason, str) and not reason.strip():
                yield f"accept.{rule}: needs a reason."
