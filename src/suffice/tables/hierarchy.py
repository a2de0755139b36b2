"""Hierarchies as people write them: nested lists, children with parents, signed maps, levels of signs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from suffice.errors import InputError, UsageError
from suffice.tables.axis import Axis, Sum
from suffice.tables.columns import text_of

Tree = Sequence[Any]
"""A code, and behind it what it is the sum of: codes, or trees again."""


def nested(name: str, tree: Tree) -> Axis:
    """The axis of nested lists, each a code and its children.

    >>> nested("income", ["Total", ["work", "wages", "own firm"], "pensions"]).codes
    ('Total', 'work', 'pensions', 'wages', 'own firm')
    """
    pairs: list[tuple[str, str]] = []
    waiting = [] if isinstance(tree, str) else [tree]
    while waiting:
        code, *below = waiting.pop() or [None]
        if not isinstance(code, str) or not all(child and isinstance(child[0], str) for child in below):
            raise UsageError(
                f"A list in the hierarchy of {name} does not begin with a code.\nPut the sum's code first."
            )
        pairs += [(child if isinstance(child, str) else child[0], code) for child in below]
        waiting += [child for child in reversed(below) if not isinstance(child, str)]
    return parents(name, pairs)


def parents(name: str, pairs: Iterable[tuple[str, str]]) -> Axis:
    """The axis of pairs (child, parent); a child has one parent.

    >>> parents("region", [("a", "north"), ("b", "north"), ("north", "Total"), ("c", "Total")]).total
    'Total'
    """
    above: dict[str, str] = {}
    sums: dict[str, dict[str, int]] = {}
    for child, parent in pairs:
        if above.setdefault(child, parent) != parent:
            raise InputError(
                f"In the hierarchy of {name} the code {child!r} has two parents: {above[child]!r} and {parent!r}.\n"
                "Correct it; or give two hierarchies of this dimension, in two files."
            )
        sums.setdefault(parent, {})[child] = 1
    _refuse_circles(name, above)
    tops = [code for code in sums if code not in above]
    return Axis.of(name, _downwards(sums, tops))


def _refuse_circles(name: str, above: Mapping[str, str]) -> None:
    ends = set[str]()  # codes from which the way up is known to end
    for code in above:
        seen = dict.fromkeys([code])
        step = above[code]
        while step in above and step not in ends:
            if step in seen:
                way = list(seen)
                circle = " > ".join(reversed([*way[way.index(step) :], step]))
                raise InputError(f"The hierarchy of {name} goes in a circle: {circle}.\nCorrect it.")
            seen[step] = None
            step = above[step]
        ends |= seen.keys()


def _downwards(sums: Mapping[str, Mapping[str, int]], tops: list[str]) -> list[Sum]:
    order = list(tops)
    for code in order:
        order += sums.get(code, {})
    return [(code, sums[code]) for code in order if code in sums]


def maps(name: str, lines: Iterable[tuple[str, str, int]]) -> Axis:
    """The axis of lines (from, to, sign): a code may go into several sums, and be taken away.

    >>> lines = [("IS", "all", 1), ("PT", "all", 1), ("ES", "all", 1), ("all", "EU", 1), ("IS", "EU", -1)]
    >>> maps("geo", lines).codes
    ('all', 'IS', 'PT', 'ES', 'EU')
    """
    sums: dict[str, dict[str, int]] = {}
    for child, parent, sign in lines:
        if sign not in (1, -1):
            raise InputError(f"In the hierarchy of {name} a sign of {parent!r} is neither 1 nor -1.\nCorrect it.")
        sums.setdefault(parent, {})[child] = sign
    return Axis.of(name, list(sums.items()))


def levels(name: str, lines: Iterable[str], total: str, sign: str = "@") -> Axis:
    """The axis of lines whose leading signs say how deep a code lies below the total, as tau-ARGUS writes them.

    >>> levels("region", ["north", "@a", "@b", "south"], "Total").codes
    ('Total', 'north', 'south', 'a', 'b')
    """
    path, pairs = [total], []
    for number, line in enumerate(lines, 1):
        code = line.strip().lstrip(sign)
        depth = len(line.strip()) - len(code) + 1
        if not code.strip():
            continue
        if depth > len(path):
            raise InputError(f"Line {number} of the hierarchy of {name} lies two levels below the one before it.")
        path[depth:] = [code.strip()]
        pairs.append((path[depth], path[depth - 1]))
    return parents(name, pairs)


def read_hierarchy(name: str, path: str | os.PathLike[str], total: str = "Total", encoding: str | None = None) -> Axis:
    """The axis in a file: .hrc, or CSV of child and parent, of mapsFrom, mapsTo and sign, or of levels and codes."""
    import csv

    where, text = Path(path), text_of(path, f"the hierarchy of {name}", encoding)
    if where.suffix.lower() == ".hrc":
        return levels(name, text.splitlines(), total)
    rows = list(csv.DictReader(text.splitlines()))
    found = {key.strip().lower(): key for key in (rows[0] if rows else {}) if key}
    wrong = [number for number, row in enumerate(rows, 2) if None in row or None in row.values()]
    if wrong:
        raise InputError(f"Line {wrong[0]} of {where.name} has more or fewer cells than the header.\nCorrect it.")
    if {"child", "parent"} <= set(found):
        return parents(name, [(row[found["child"]], row[found["parent"]]) for row in rows])
    if {"mapsfrom", "mapsto"} <= set(found):
        sign = found.get("sign")
        return maps(name, [(r[found["mapsfrom"]], r[found["mapsto"]], _sign(r[sign] if sign else "1")) for r in rows])
    if {"levels", "codes"} <= set(found):
        deep = [(row[found["levels"]].count("@"), row[found["codes"]]) for row in rows]
        if [depth for depth, _ in deep].count(1) != 1 or deep[0][0] != 1:
            raise InputError(f"{where.name} has not one code of one @ on its first line: the total.\nCorrect it.")
        return levels(name, ["@" * (depth - 2) + code for depth, code in deep[1:]], deep[0][1])
    raise InputError(
        f"{where.name}, the hierarchy of {name}, has no columns child and parent, mapsFrom, mapsTo and sign, "
        "or levels and codes.\nName them so in the first line, or give a .hrc file."
    )


def _sign(text: str) -> int:
    return {"1": 1, "+1": 1, "-1": -1}.get(text.strip(), 0)
