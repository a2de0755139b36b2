"""The cells of a table laid out on a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from suffice.algebra.array import Array, Flags
from suffice.report.tables import DrawnCell, TablePicture
from suffice.tables.publication import Publication

WIDE, LONG = 40, 100
"""Codes across and rows down that are drawn, at most."""


def pictures_of(
    made: Publication, shown: Array, private: bool, sensitive: Mapping[str, Flags]
) -> tuple[TablePicture, ...]:
    """Every value, drawn: public ones hold crosses, or what fills them, and nothing else of suppressed cells.

    shown: the cells as the file has them, published ones that it does not list as published
    """
    return tuple(_picture(made, k, shown[:, k], private, sensitive.get(name)) for k, name in enumerate(made.values))


def _picture(made: Publication, k: int, shown: Array, private: bool, sensitive: Flags | None) -> TablePicture:
    table, grid = made.table, made.table.grid
    down = dict[tuple[int, ...], dict[int, int]]()
    for cell in np.flatnonzero(~table.hidden).tolist():
        *codes, last = grid.codes[cell].tolist()
        down.setdefault(tuple(codes), {})[last] = cell
    across = list(dict.fromkeys(place for row in down.values() for place in row))

    def cells(row: dict[int, int]) -> Iterator[DrawnCell]:
        for place in across[:WIDE]:
            cell = row.get(place)
            if cell is None:
                yield DrawnCell("")
                continue
            gap = bool(made.suppressed[cell])
            free = made.published is not None and not gap and not made.published[cell]
            changed = bool(private and free and shown[cell] != made.before[cell, k])
            shades = ["suppressed"] * gap + ["changed"] * changed
            shades += ["sensitive"] * bool(sensitive is not None and sensitive[cell])
            text = "" if np.isnan(shown[cell]) else f"{shown[cell]:,.2f}" if gap else f"{shown[cell]:,.10g}"
            yield DrawnCell(
                text, tuple(shades), f"{made.before[cell, k]:,.10g}" if private and (gap or changed) else ""
            )

    axes = grid.axes
    rows = [
        (tuple(axis.codes[p] for axis, p in zip(axes, codes, strict=False)), tuple(cells(row)))
        for codes, row in list(down.items())[:LONG]
    ]
    names = tuple(axis.name for axis in axes)
    return TablePicture(
        made.values[k],
        names,
        tuple(axes[-1].codes[place] for place in across[:WIDE]),
        tuple(rows),
        max(0, len(down) - LONG),
        max(0, len(across) - WIDE),
    )
