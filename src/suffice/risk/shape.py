"""The shape of a released column beside the original's: quantiles, skewness, kurtosis and the farthest value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np

from suffice.algebra.array import Array, constant
from suffice.risk.sample import RecordSample
from suffice.utility.kolmogorov_smirnov import kolmogorov_smirnov

LEAST = {"quantiles": 0.06, "skewness": 0.25, "kurtosis": 0.4, "farthest value": 1.5}
"""Smaller differences are no matter: of shares, relative ones, and a factor."""
RARE, ERRORS = 0.001, 3.3
"""How often another sample of the size would be as different; as many standard errors."""
FEWEST, TAIL = 30, 10
"""Records from which a shape is told; records at an end, at the least, that tell how far another sample's may lie."""


@dataclass(frozen=True)
class ColumnShape:
    """How far a column is from the original, and how far another sample of its size would be, by kind."""

    found: Mapping[str, float]
    chance: Mapping[str, float]

    @property
    def lost(self) -> tuple[str, ...]:
        """What is farther from the original's than chance and than what is no matter."""
        return tuple(kind for kind, value in self.found.items() if value > max(LEAST[kind], self.chance[kind]))

    @classmethod
    def of(cls, y: Array, z: Array, farthest: float) -> ColumnShape:
        """Of values before and after; `farthest`: the ratio of their largest distances from the mean, at least 1.

        Skewness b and kurtosis k have standard errors by their influence functions, u = (y - mean) / sd:
        u^3 - b - 1.5 b (u^2 - 1) - 3 u and u^4 - k - 2 k (u^2 - 1) - 4 b u. Where tails are heavy these do not know
        what one value farther out would do to a sample's moment, which is added; no u is above sqrt n.
        """
        u = (y - y.mean()) / y.std()
        v = (z - z.mean()) / (z.std() or 1.0)
        u2, v2 = u * u, v * v
        u3, u4 = u * u2, u2 * u2
        b, k, bstar, kstar = (float(power.mean()) for power in (u3, u4, v * v2, v2 * v2))
        size = max(abs(b), 1.0)  # that of a symmetric column has no size of its own
        errors = u3 - b - 1.5 * b * (u2 - 1) - 3 * u, u4 - k - 2 * k * (u2 - 1) - 4 * b * u
        largest, reach = float(np.abs(u).max()), _reach(np.abs(u))
        farther = min(largest * reach ** (1 / 3), sqrt(len(y)))
        one, two = (
            ERRORS * sqrt(2 / len(y)) * float(each.std()) + max(0.0, farther**power - largest**power) / len(y)
            for power, each in zip((3, 4), errors, strict=True)
        )
        ks = float(kolmogorov_smirnov(y[:, None], z[:, None])[0])
        found = ks, abs(bstar - b) / size, abs(kstar - k) / k, farthest
        chance = sqrt(log(2 / RARE) / 2 * (1 / len(y) + 1 / len(z))), one / size, two / k, reach
        return cls(dict(zip(LEAST, found, strict=True)), dict(zip(LEAST, chance, strict=True)))


def _reach(far: Array) -> float:
    """The factor between the ends of two samples: logs of maxima differ logistically, in units of Hill's tail index."""
    tail = np.sort(far)[-max(TAIL, int(sqrt(len(far)))) :]
    index = float(np.log(tail / tail[0]).mean()) if tail[0] > 0 else 1.0
    return exp(min(50.0, index * log(1 / RARE)))


def shapes(sample: RecordSample, ends: Mapping[str, tuple[float, float]]) -> dict[str, ColumnShape]:
    """Of every column that changes, from some records before and after; `ends`: those of the whole file, if known."""
    found = {}
    for name, before, after in zip(sample.names, sample.Y.T, sample.Ystar.T, strict=True):
        y, z = before[~np.isnan(before)], after[~np.isnan(after)]
        if min(len(y), len(z)) >= FEWEST and not constant(y.std(), np.abs(y).max()):
            far, near = sorted(ends.get(name, (np.abs(y - y.mean()).max(), np.abs(z - y.mean()).max())))[::-1]
            found[name] = ColumnShape.of(y, z, float(far / max(near, 1e-9 * far)))
    return found
