"""Degrees of freedom: the dimensions that the given columns leave."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Freedom:
    """Records that count (weight above zero), independent columns of X, independent residual columns of Y."""

    n: int
    rank: int
    residual_rank: int

    @property
    def nu(self) -> int:
        return self.n - self.rank
