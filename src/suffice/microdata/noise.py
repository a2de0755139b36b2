"""Noise: normal numbers added to every record, or multiplied with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from suffice.algebra.array import Array
from suffice.algebra.factor import RFactor
from suffice.algebra.moments import Spread
from suffice.design.design import Design
from suffice.errors import InfeasibleError
from suffice.method.masked import MaskedColumns
from suffice.method.parameter import Choice, Number, parameter
from suffice.method.rowwise import Rowwise
from suffice.rows.arrow import as_float
from suffice.rows.derived import Computation
from suffice.rows.rows import Block, Rows
from suffice.seed import Stream

HOW = ("independent", "correlated", "kim", "multiplicative")


@dataclass(frozen=True)
class Noise(Rowwise):
    """Add normal noise to every column, or multiply every column with it.

    independent:     y* = y + e,  e_j ~ N(0, delta s_j^2), one column apart from the other
    correlated:      y* = y + e,  e ~ N(0, delta Sigma)
    kim:             y* = m + (y + e - m) / sqrt(1 + delta)
    multiplicative:  y* = y exp(e - delta s^2 / 2),  e ~ N(0, delta Sigma of log y)

    **Promises** nothing exactly: follow it with `Restore`. Means are right on average; so are covariances with kim, and
    correlations with correlated, whose covariances are 1 + delta times too large. The exact form of kim's noise is
    `ResidualCorrelation` with d = 1 / sqrt(1 + delta).

    how: which of the four. multiplicative needs positive columns and keeps them positive.
    delta: variance of the noise, in variances of the column (of its logarithm, where it is multiplied).

    Kim (1986); Brand (2002); Kim & Winkler (2003).

    >>> from suffice import Roles, Seed, protect
    >>> from suffice.demo import firms
    >>> release = protect(firms(200), Roles(confidential=["wages"]), Noise("multiplicative"), seed=Seed.for_tests(1))
    >>> bool(min(release.frame["wages"].to_pylist()) > 0)
    True
    """

    references: ClassVar = ("Kim (1986)", "Brand (2002)", "Kim & Winkler (2003)")

    how: Literal["independent", "correlated", "kim", "multiplicative"] = parameter(
        Choice(HOW), "whether columns have noise of their own, common noise, or are multiplied", "kim"
    )
    delta: float = parameter(
        Number(0, 1000, closed=False), "variance of the noise, in variances of the column or its logarithm", 2.0
    )

    @property
    def ranks(self) -> bool:  # type: ignore[override]
        """Factors move small values as far as large ones, whatever giants make of distances in values."""
        return self.how == "multiplicative"

    def columns(self, rows: Rows, design: Design, stream: Stream) -> MaskedColumns:
        names, weight = design.confidential, design.roles.weight
        needs = names if weight is None else (*names, weight)
        how, delta, logs = self.how, self.delta, self.how == "multiplicative"

        def values(block: Block) -> Array:
            Y = np.column_stack([as_float(block.columns[name]) for name in names])
            return np.log(Y) if logs else Y

        if logs:
            self._positive(rows, names)
        spread = rows.fold(lambda block: Spread.of(values(block), design.weights(block)), needs, "learning")
        mean, sd = spread.mean, np.where(spread.constant, 0.0, spread.sd)
        if how == "independent":
            R = np.diag(sd)
        else:

            def factor(block: Block) -> RFactor:
                w, A = design.weights(block), values(block) - mean
                return RFactor.of(A if w is None else A * np.sqrt(w)[:, None])

            R = rows.fold(factor, needs, "learning").R / np.sqrt(max(spread.weight, 1e-300))  # R'R = Sigma
            R[:, spread.constant] = 0.0

        def of(block: Block) -> Array:
            assert block.key is not None
            Y = values(block)
            E = np.sqrt(delta) * block.key.normals(len(Y), len(R)) @ R
            if logs:
                return np.asarray(np.exp(Y + E - delta * sd**2 / 2))
            return np.asarray(mean + (Y + E - mean) / np.sqrt(1 + delta) if how == "kim" else Y + E)

        return MaskedColumns(dict.fromkeys(names, Computation(names, of, names, stream)))

    def _positive(self, rows: Rows, names: tuple[str, ...]) -> None:
        """Refuses columns that have no logarithm."""

        def low(block: Block) -> Array:
            return np.array([(as_float(block.columns[name]) <= 0).sum() for name in names])

        wrong = rows.fold(low, names, "learning")
        if wrong.any():
            which = ", ".join(repr(name) for name, count in zip(names, wrong, strict=True) if count)
            raise InfeasibleError(
                f"Multiplicative noise needs positive columns: zeros or negative values in {which}.\n"
                "Use how = kim, or leave them to another method."
            )

    @classmethod
    def examples(cls) -> tuple[Noise, ...]:
        return cls(), cls("independent", 0.5), cls("correlated")
