"""Missing cells drawn given all other columns: the first of two stages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from suffice.algebra.array import Array, Flags
from suffice.synthesis.model import SynthesisModel
from suffice.synthesis.variable import Board, Variable

ROUNDS = 5
"""How often every column with missing cells is drawn, each time given the others as they are then."""


def completed(
    columns: Mapping[str, Any],
    models: Mapping[str, SynthesisModel],
    levels: Mapping[str, tuple[str, ...]],
    holes: Mapping[str, float],
    draws: np.random.Generator,
) -> dict[str, Any]:
    """The columns without missing cells: those of one imputation.

    A model is fitted to records drawn with replacement among those that have the cell, so that what is not known of
    its parameters is in the draws (Rubin 1987, chapter 4); the columns are drawn in turn, given all others.

    models: of the columns that may have missing cells; levels, holes: as these are coded
    """
    values: dict[str, Array] = {}
    missing: dict[str, Flags] = {}
    for name in models:
        y = np.array(columns[name], dtype=np.float64)
        hole = y == (0.0 if name in levels else holes.get(name, np.nan))
        if hole.any() and not hole.all():
            missing[name] = hole
            y[hole] = draws.choice(y[~hole], int(hole.sum()))
        values[name] = y
    seen = {**columns, **values}
    variables = {name: Variable.learn(name, seen[name], len(levels.get(name, ())), None) for name in seen}
    board = Board(variables, {name: variables[name].numbers(seen[name]) for name in seen})
    for name in sorted(missing, key=lambda each: missing[each].sum()) * (ROUNDS if len(missing) > 1 else 1):
        hole, y = missing[name], board.values[name].copy()
        others = [each for each in seen if each != name]
        rows = draws.choice(np.flatnonzero(~hole), int((~hole).sum()))
        fit = models[name].fit(variables[name], y[rows], others, board.at(rows), None)
        wide = np.full(int(hole.sum()), np.inf)
        y[hole] = fit.draw(board.at(hole), len(wide), draws, -wide, wide)
        board.put(name, y)
    return {**columns, **{name: board.values[name] for name in values}}
