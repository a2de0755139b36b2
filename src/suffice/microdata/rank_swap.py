"""Rank swapping: values change places with values of near ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algorithms.swapping import LEARNT, partners, partners_behind, window_of
from suffice.design.design import Design
from suffice.errors import InfeasibleError, UsageError, count_of
from suffice.method.masked import MaskedColumns
from suffice.method.parameter import Choice, Number, parameter
from suffice.method.rowwise import Rowwise
from suffice.rows.ranks import by_rank, some_values
from suffice.rows.rows import Rows
from suffice.seed import Stream

DEFAULT = 0.5
ROUNDING = 2.0**-50
"""A product that is this near to a whole number is one: 0.29 x 100 is 29 ranks."""


@dataclass(frozen=True)
class RankSwap(Rowwise):
    """Let every value of a column change places with one of near rank, column by column.

    y*_i = y_j,  y*_j = y_i,   |rank y_i - rank y_j| <= floor(p n)

    **Promises** the distribution of every column, value by value. What joins the columns is kept the better the smaller
    p is, and so is the trace of every record: whoever knows p looks for the records within p in every column.

    p: how far a value may go, as a share of the records; 0.5 where neither this nor a correlation is given. A value
        without a partner within reach stays, and is counted. Equal values are ordered at random.
    partner: either: uniformly before or behind a value, whoever is free there; behind: the sweep of Moore, from the
        smallest value, each with one that is free among the next p n. Its partners are farther away, on average.
    correlation: in place of p; that p at which the smallest correlation of an old with its new column is expected to
        fall to this (Moore).

    Moore (1996); Dalenius & Reiss (1982).

    >>> from suffice.algorithms.swapping import partners
    >>> y, pairs = np.arange(10.0) ** 2, partners(np.arange(10), 3, np.random.default_rng(1))
    >>> sorted(y[pairs]) == sorted(y), bool(np.abs(pairs - np.arange(10)).max() <= 3)
    (True, True)
    """

    keeps: ClassVar = ("distribution",)
    kinds: ClassVar = ("integer", "date")
    ranks: ClassVar = True
    references: ClassVar = ("Moore (1996)", "Dalenius & Reiss (1982)")

    p: float | None = parameter(
        Number(0, 1, none="0.5, or what the correlation asks for"), "how far, as a share of the records", None
    )
    correlation: float | None = parameter(
        Number(0, 1, closed=False, none="p decides"), "smallest correlation of old and new columns, in place of p", None
    )

    partner: str = parameter(
        Choice(("either", "behind")), "on which side partners are looked for, each in turn", "either", added=True
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.p is not None and self.correlation is not None:
            raise UsageError("rank-swap: p and correlation say the same. Give one of them.")

    def columns(self, rows: Rows, design: Design, stream: Stream) -> MaskedColumns:
        p, paired = DEFAULT if self.p is None else self.p, partners if self.partner == "either" else partners_behind
        if self.correlation is not None:
            some = [some_values(rows, name, LEARNT) for name in design.confidential]
            p = window_of(some, self.correlation, paired)
            p = max(p, 1 / rows.n + 1e-12)
        window, alone = int(p * rows.n * (1 + ROUNDING)), 0
        if not window:
            raise InfeasibleError(
                f"rank-swap: {p:.3g} of {rows.n} records is less than one rank, and nothing would change places.\n"
                f"Ask for p of {1.01 / rows.n:.3g} or more, or join small groups: small_groups."
            )

        def swapped(ranks: NDArray[np.int64], y: Array, _: Array, draws: np.random.Generator) -> Array:
            nonlocal alone
            pairs = paired(ranks, window, draws)
            alone += int((pairs == np.arange(len(pairs))).sum())
            return np.asarray(y[pairs])

        made = {name: by_rank(rows, name, name, swapped, stream.child(name)) for name in design.confidential}
        far = f"values went up to {count_of(window, 'rank')} of {rows.n:,} (p = {p:.4f})"
        return MaskedColumns(made, (f"rank-swap: {far}; {count_of(alone, 'value')} found no partner.",))

    @classmethod
    def examples(cls) -> tuple[RankSwap, ...]:
        return cls(), cls(p=0.1, partner="behind"), cls(correlation=0.8)
