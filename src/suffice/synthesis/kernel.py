"""Normal regression of scores, and back through a smooth density: columns with long tails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from math import sqrt
from typing import Any, ClassVar

import numpy as np

from suffice.algebra.array import Array, Flags
from suffice.method.parameter import Number, parameter
from suffice.synthesis.cart import NEIGHBOURS, smoothed
from suffice.synthesis.linear import Linear, LinearFit
from suffice.synthesis.model import Passes, SynthesisModel
from suffice.synthesis.variable import Board, Variable


@dataclass(frozen=True)
class Kernel(SynthesisModel):
    """Normal regression of normal scores; the value is drawn from a kernel density of the column, at the score's place.

    With t = arsinh(y / s), s the median size of its values, in which a long tail is short:

        t* = c + (t_(u) - c + h e) / sqrt(1 + h^2 / v),   u = Phi(score),   h = .9 width min(sd, iqr / 1.34) n^(-1/5)

    c and v being mean and variance of t. Values that ten records or more have are heaps, and stay; those that the
    kernel is too narrow to hide among their neighbours are drawn between these, as by trees.

    width: of the kernel, in those of Silverman's rule

    Woodcock & Benedetto (2007).
    """

    numbers: ClassVar = True

    width: float = parameter(Number(0, 10, closed=False), "of the kernel, in those of Silverman's rule", 1.0)

    def passes(self, target: Variable, names: Sequence[str], board: Board) -> Passes:
        """Those of the scores; the density follows from the column's values."""
        linear = yield from Linear(scale="quantile").passes(target, names, board)
        y, shares = target.values, target.counts / max(target.counts.sum(), 1)
        size = float(np.median(np.abs(y[y != 0]))) if (y != 0).any() else 1.0
        t = np.arcsinh(y / size)
        centre = float(shares @ t)
        variance = float(shares @ (t - centre) ** 2)
        low, high = t[np.searchsorted(np.cumsum(shares), (0.25, 0.75)).clip(max=len(t) - 1)] if len(t) else (0.0, 0.0)
        spread = min(sqrt(variance), (high - low) / 1.34) or sqrt(variance)
        h = 0.9 * self.width * float(spread) * max(target.counts.sum(), 1) ** -0.2
        told = {each.name: getattr(linear, each.name) for each in fields(LinearFit)}
        return KernelFit(**told, size=size, h=float(h), centre=centre, variance=variance)


@dataclass(frozen=True, repr=False)
class KernelFit(LinearFit):
    """A fit of scores, and the density that leads back from them."""

    size: float = 1.0
    h: float = 0.0
    centre: float = 0.0
    variance: float = 0.0

    def _from_scores(self, z: Array, draws: np.random.Generator) -> Array:
        place = self._places(z)
        y, noise = self.target.values[place], self.h * draws.standard_normal(len(z))
        shrunk = np.sqrt(1 + self.h**2 / self.variance) if self.variance > 0 else 1.0
        t = self.centre + (np.arcsinh(y / self.size) - self.centre + noise) / shrunk
        new = self.target.on_grid(self.size * np.sinh(t))
        if self.target.values[0] >= 0:
            new = np.abs(new)
        between = smoothed(self.target, y, draws.random(len(z)), self.ends)
        return np.where(self.target.own[place], np.where(self._apart[place], between, new), y)

    @cached_property
    def _apart(self) -> Flags:
        """Which values lie farther from the next ones than the kernel reaches."""
        t = np.arcsinh(self.target.values / self.size)
        if len(t) < NEIGHBOURS:
            return np.zeros(len(t), dtype=bool)
        first = np.arange(len(t)).clip(2, len(t) - 3) - 2
        return np.asarray(t[first + 4] - t[first] > 4 * self.h)

    @property
    def facts(self) -> Mapping[str, Any]:
        return {"smooth": self.h > 0 and len(self.target.values) >= NEIGHBOURS}
