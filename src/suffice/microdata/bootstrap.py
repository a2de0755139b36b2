"""Records drawn from a smoothed distribution of the original's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from suffice.algebra.array import Array
from suffice.design.design import Design
from suffice.design.limits import Limits
from suffice.method.parameter import Count, Number, parameter
from suffice.method.synthetic import Synthetic, records_of
from suffice.rows.rows import Rows
from suffice.seed import Stream


@dataclass(frozen=True, repr=False)
class SmoothKernel:
    """The records that others are drawn about, their weights, and the ends of each column."""

    Y: Array
    w: Array | None
    low: Array
    high: Array


@dataclass(frozen=True)
class Bootstrap(Synthetic):
    """Draw records of the original with replacement, each moved by normal noise, and shrunk to the same variances.

    x* = mean + (x_i - mean + h L eps) / sqrt(1 + h^2),   L L' = S
    h  = (4 / ((p + 2) n))^(1 / (p + 4))

    **Promises** bounds, where they are asked for; means and covariances are right on average, and exact with `Restore`
    behind it. What h leaves of a record is there: a small one gives records away, a large one the shape of columns. At
    a bound values are reflected, so that means and variances near one are no longer right on average.

    h: how far records are moved, in standard deviations; none: by the rule above, right for normal data
    m: how many records; as many as there were unless told

    Fienberg (1994); Silverman (1986) for the shrinkage and h.

    >>> from suffice.seed import Seed
    >>> Y = np.random.default_rng(1).exponential(size=(400, 1))
    >>> kernel = SmoothKernel(Y, None, np.array([-np.inf]), np.array([np.inf]))
    >>> x = Bootstrap(h=1.0).draw(Y.mean(axis=0), np.array([[Y.std()]]), kernel, 20_000, Seed.for_tests(1).derive())
    >>> bool(abs(x.std() / Y.std() - 1) < 0.03)
    True
    """

    keeps: ClassVar = ("limits",)
    learns: ClassVar = True
    references: ClassVar = ("Fienberg (1994)", "Silverman (1986), section 6.4")

    h: float | None = parameter(
        Number(0, 100, closed=False, none="by the number of records and columns"), "how far records are moved", None
    )
    m: int | None = parameter(Count("as many as there were", low=1), "how many records to draw", None)

    @property
    def records(self) -> int | None:
        return self.m

    def learn(self, rows: Rows, design: Design) -> SmoothKernel:
        (Y, w), limits, none = records_of(rows, design), Limits.learn(rows, design), np.full(design.k, np.inf)
        return SmoothKernel(Y, w, -none, none) if limits is None else SmoothKernel(Y, w, limits.low, limits.high)

    def bandwidth(self, n: int, p: int) -> float:
        """h; Silverman's rule unless it was told."""
        return (4 / ((p + 2) * n)) ** (1 / (p + 4)) if self.h is None else self.h

    def said(self, model: SmoothKernel, design: Design) -> tuple[str, ...]:
        moved = f"bootstrap: records moved by {self.bandwidth(*model.Y.shape):.3f} standard deviations"
        bounded = [
            name for j, name in enumerate(design.confidential) if np.isfinite([model.low[j], model.high[j]]).any()
        ]
        return (f"{moved}{'; reflected at the bounds of ' * bool(bounded)}{', '.join(bounded)}.",)

    def noted(self, design: Design) -> tuple[str, ...]:
        if not design.roles.bounds:
            return ()
        return ("values beyond a bound are reflected at it, so that means and variances near one are moved",)

    def draw(self, mean: Array, R: Array, model: SmoothKernel, count: int, stream: Stream) -> Array:
        draws, (n, p) = stream.generator("bootstrap"), model.Y.shape
        h = self.bandwidth(n, p)
        chosen = draws.integers(n, size=count) if model.w is None else _by_weight(model.w, draws.random(count))
        moved = model.Y[chosen] - mean + h * draws.standard_normal((count, len(R))) @ R
        return reflected(mean + moved / np.sqrt(1 + h * h), model.low, model.high)

    @classmethod
    def examples(cls) -> tuple[Bootstrap, ...]:
        return cls(), cls(h=0.8, m=60)


def _by_weight(w: Array, u: Array) -> Array:
    total = np.cumsum(w)
    return np.asarray(np.searchsorted(total, u * total[-1], "right").clip(max=len(w) - 1))


def reflected(Y: Array, low: Array, high: Array) -> Array:
    """Values beyond an end, as far inside it; between two ends as often as it takes.

    >>> reflected(np.array([[-1.0, 7.0], [3.0, 1.5]]), np.array([0.0, 0.0]), np.array([np.inf, 2.0])).tolist()
    [[1.0, 1.0], [3.0, 1.5]]
    """
    both = np.isfinite(low) & np.isfinite(high) & (high > low)
    span = np.where(both, high - low, 1.0)
    with np.errstate(invalid="ignore"):
        way = np.mod(Y - low, 2 * span)
        folded = low + np.minimum(way, 2 * span - way)
        Y = np.where(both, np.clip(folded, low, high), Y)
        Y = np.where(~both & (low > Y), 2 * low - Y, Y)
        return np.asarray(np.where(~both & (high < Y), 2 * high - Y, Y))
