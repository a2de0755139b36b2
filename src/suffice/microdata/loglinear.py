"""Categories drawn from the loglinear model of some tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np

from suffice.algebra.array import Array
from suffice.algorithms.margins import Branch, Codes, branches, drawn_below, fitted_table
from suffice.design.design import Design
from suffice.design.roles import Roles
from suffice.errors import InfeasibleError
from suffice.method.parameter import Count, parameter
from suffice.method.synthetic import Synthetic
from suffice.microdata.margins import TableRule, Tables, check_tables, kept_tables, levels_of
from suffice.rows.arrow import as_float
from suffice.rows.rows import Rows
from suffice.seed import Stream

MOST = 2**22
"""Cells of a table that is fitted, at most."""


@dataclass(frozen=True, repr=False)
class TableModel:
    """Records as codes, with the branches that they are drawn by; or the fitted table, where there are none."""

    levels: Mapping[str, Array]
    codes: Mapping[str, Codes]
    weights: Array | None
    steps: list[Branch] | None
    fit: Array | None


@dataclass(frozen=True)
class Loglinear(Synthetic):
    """Draw m records of categories from the loglinear model that is fitted to some tables.

    p(x) = prod p(x_T) / prod p(x_S),   T the tables, S what each shares with those before it

    **Promises** nothing exactly: every table is that of a sample from the fitted model; `Margins` keeps them to the
    last count. Tables that are not decomposable are fitted in turn until each is met (iterative proportional fitting).
    With weights, the model is that of weighted records.

    keep: the tables of the model, each by its columns; a column of none is independent of all others
    m: how many records; as many as there were unless told

    Fienberg, Makov & Steele (1998); Deming & Stephan (1940).

    >>> from suffice.algorithms.margins import fitted_table
    >>> fit = fitted_table(np.array([[4.0, 0.0], [2.0, 2.0]]), [(0,), (1,)])
    >>> fit.tolist()
    [[3.0, 1.0], [3.0, 1.0]]
    """

    kinds: ClassVar = ("category", "integer", "date")
    independent: ClassVar = True
    learns: ClassVar = True
    references: ClassVar = ("Fienberg, Makov & Steele (1998)", "Deming & Stephan (1940)")

    keep: Tables | None = parameter(TableRule(), "the tables of the model, each by its columns", None)
    m: int | None = parameter(Count("as many as there were", low=1), "how many records to draw", None)

    @property
    def records(self) -> int | None:
        return self.m

    def given(self, roles: Roles) -> Roles:
        return check_tables(self.name, self.keep, super().given(roles))

    def tables(self, design: Design) -> Tables:
        return kept_tables(self.keep, design)

    def learn(self, rows: Rows, design: Design) -> TableModel:
        names, weight, tables = design.confidential, design.roles.weight, self.tables(design)
        tables = tuple(tuple(name for name in table if name in names) for table in tables)  # a group has one value
        coded = {name: levels_of(rows, name) for name in names}
        levels, codes = (
            {name: each[0] for name, each in coded.items()},
            {name: each[1] for name, each in coded.items()},
        )
        w = None if weight is None else as_float(rows.gather([weight])[weight])
        steps, fit = branches(tables), None
        if steps is None:
            shape = tuple(len(levels[name]) for name in names)
            if prod(shape) > MOST:
                raise InfeasibleError(
                    f"loglinear: tables that are not decomposable are fitted cell by cell, {MOST:,} at most, and "
                    f"there are {prod(shape):,}.\nLeave columns out, or one of the tables that join columns in a ring."
                )
            counts = np.zeros(shape)
            np.add.at(counts, tuple(codes[name] for name in names), 1.0 if w is None else w)
            fit = fitted_table(counts, [tuple(names.index(name) for name in table) for table in tables])
        return TableModel(levels, codes, w, steps, fit)

    def draw(self, mean: Array, R: Array, model: TableModel, count: int, stream: Stream) -> Array:
        draws = stream.generator("loglinear")
        if model.steps is not None:
            made = drawn_below(model.codes, model.steps, count, draws, model.weights)
        else:
            assert model.fit is not None
            total = np.cumsum(model.fit)
            cells = np.searchsorted(total, draws.random(count) * total[-1], "right").clip(max=len(total) - 1)
            made = dict(zip(model.codes, np.unravel_index(cells, model.fit.shape), strict=True))
        return np.column_stack([model.levels[name][made[name]] for name in model.codes])

    @classmethod
    def examples(cls) -> tuple[Loglinear, ...]:
        return cls(), cls(m=50)
