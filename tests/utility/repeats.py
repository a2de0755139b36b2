"""Thousands of samples, each synthesised m times, all at once: whether a rule gives the variance that estimates have.

The model is y = b x + e with normal x and e, and it is the one that is drawn from; so what is tried is the rule alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

SHARE = 0.5
"""Of the variance of y that x explains."""
SLOPE, NOISE = SHARE**0.5, (1 - SHARE) ** 0.5
ESTIMANDS = {
    "mean": 0.0,
    "slope": SLOPE,
    "slope of x on y": SLOPE,
    "intercept": 0.0,
    "mean where x > 0": SLOPE * (2 / np.pi) ** 0.5,
    "share of y > 0": 0.5,
    "mean of y^2": 1.0,
}


@dataclass(frozen=True)
class Repeats:
    """Samples of n records; k in a release where that is another number."""

    repeats: int
    m: int
    n: int = 100
    k: int = 0
    seed: int = 1
    every: bool = True
    """All estimands, or the first three."""

    @property
    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)

    def sample(self, rng: np.random.Generator) -> tuple[Any, Any]:
        x = rng.normal(size=(self.repeats, self.n))
        return x, SLOPE * x + NOISE * rng.normal(size=x.shape)

    def partial(self, proper: bool = True) -> tuple[Any, Any]:
        """y drawn anew given x, which stays."""
        rng = self.rng
        x, y = self.sample(rng)
        a, b, s = drawn(x, y, self.m, rng, proper)
        x = np.broadcast_to(x[:, None], (self.repeats, self.m, self.n))
        return estimates(x, _line(a, b, s, x, rng), self.every)

    def full(self, proper: bool = True, known: bool = True) -> tuple[Any, Any]:
        """k new records: x from a population in which it is known, or from the sample; y drawn given it."""
        rng, k = self.rng, self.k or self.n
        x, y = self.sample(rng)
        a, b, s = drawn(x, y, self.m, rng, proper)
        shape = (self.repeats, self.m, k)
        places = rng.integers(0, self.n, shape)
        x = rng.normal(size=shape) if known else x[np.arange(self.repeats)[:, None, None], places]
        return estimates(x, _line(a, b, s, x, rng), self.every)

    def two_stage(self, r: int, missing: float = 0.3) -> tuple[Any, Any]:
        """A share of y imputed m times, and then all of y drawn anew r times."""
        rng = self.rng
        x, y = self.sample(rng)
        there = int(self.n * (1 - missing))
        a, b, s = drawn(x[:, :there], y[:, :there], self.m, rng)
        every = np.broadcast_to(x[:, None], (self.repeats, self.m, self.n))
        filled = np.where(np.arange(self.n) < there, y[:, None], _line(a, b, s, every, rng))
        a, b, s = drawn(every, filled, r, rng)
        last = np.broadcast_to(every[:, :, None], (self.repeats, self.m, r, self.n))
        return estimates(last, _line(a, b, s, last, rng), self.every)


def _line(a: Any, b: Any, s: Any, x: Any, rng: np.random.Generator) -> Any:
    return a[..., None] + b[..., None] * x + s[..., None] * rng.normal(size=x.shape)


def _fit(x: Any, y: Any) -> tuple[Any, ...]:
    """Mean of x, mean of y, sum of squares of x, slope, variance of the residual."""
    n, xbar, ybar = x.shape[-1], x.mean(axis=-1), y.mean(axis=-1)
    d = x - xbar[..., None]
    sxx = np.einsum("...i,...i", d, d)
    b = np.einsum("...i,...i", d, y) / sxx
    e = y - ybar[..., None] - b[..., None] * d
    return xbar, ybar, sxx, b, np.einsum("...i,...i", e, e) / (n - 2)


def drawn(x: Any, y: Any, m: int, rng: np.random.Generator, proper: bool = True) -> tuple[Any, Any, Any]:
    """Intercept, slope and residual deviation m times: from their posterior, or as they were fitted."""
    n = x.shape[-1]
    xbar, ybar, sxx, b, s2 = (each[..., None] for each in _fit(x, y))
    shape = (*b.shape[:-1], m)
    if not proper:
        return tuple(np.broadcast_to(each, shape) for each in (ybar - b * xbar, b, np.sqrt(s2)))  # type: ignore[return-value]
    s2 = s2 * (n - 2) / rng.chisquare(n - 2, shape)
    b = b + np.sqrt(s2 / sxx) * rng.normal(size=shape)
    return ybar + np.sqrt(s2 / n) * rng.normal(size=shape) - b * xbar, b, np.sqrt(s2)


def estimates(x: Any, y: Any, every: bool) -> tuple[Any, Any]:
    """Estimates and their variances, the estimands last and the releases first."""
    n = x.shape[-1]
    xbar, ybar, sxx, b, s2 = _fit(x, y)
    _, _, syy, back, t2 = _fit(y, x)
    q, u = [ybar, b, back], [(b**2 * sxx + s2 * (n - 2)) / (n - 1) / n, s2 / sxx, t2 / syy]
    if every:
        here, over, square = (x > 0).astype(float), (y > 0).mean(axis=-1), y * y
        count = here.sum(axis=-1)
        inside = np.einsum("...i,...i", here, y) / count
        rest = np.einsum("...i,...i", here, square) / count - inside**2
        q += [ybar - b * xbar, inside, over, square.mean(axis=-1)]
        u += [
            s2 * (1 / n + xbar**2 / sxx),
            rest / (count - 1),
            over * (1 - over) / n,
            square.var(axis=-1) / n,
        ]
    order = (*range(1, x.ndim - 1), 0, x.ndim - 1)
    return tuple(np.stack(each, axis=-1).transpose(order) for each in (q, u))  # type: ignore[return-value]
