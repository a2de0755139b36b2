"""A formula on inner products: it cannot tell the small factor from the rows."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np

from suffice.algebra.decomposition import gqr, new_directions, steady
from suffice.errors import InfeasibleError, UsageError
from suffice.method.parameter import Data

if TYPE_CHECKING:
    pass
from suffice.algebra.array import Array
from suffice.method.masked import Masked
from suffice.method.method import Method, companion_of


@dataclass(frozen=True)
class Isometric(Method):
    """A method that sees data through inner products: solve(QA, QB, QC) = Q solve(A, B, C) where Q'Q = I."""

    stacks: ClassVar[bool] = False
    """Whether `solve` takes stacks of matrices (groups, rows, columns) too: all small groups of one size at once."""

    @abstractmethod
    def draws(self, k: int) -> int:
        """How many columns of Z `solve` uses at most for k confidential columns."""

    @abstractmethod
    def solve(self, X: Array, Y: Array, Z: Array, n: int | None = None) -> Array:
        """Y*, the released values of Y.

        X: given columns, with the intercept among them.
        Y: confidential columns.
        Z: standard normal numbers; the first columns are used.
        n: how many records there are, where the arrays are a small factor of more.
        """

    def mask(self, X: Array, Y: Array, Z: Array, n: int | None = None) -> Masked:
        """Y*, and what must be said about it."""
        Ystar = self.solve(X, Y, Z, n)
        return Masked(Ystar, self.remarks(X, Y, Ystar, n))

    def remarks(self, X: Array, Y: Array, Ystar: Array, n: int | None = None) -> tuple[str, ...]:
        """What the data holder must know about this release of Y."""
        return ()

    def with_companion(self, G: Array) -> Self:
        """The same method with its companion replaced by the array G."""
        place = companion_of(type(self))
        if place is None:
            raise UsageError(f"{self.name} takes no data set, so it cannot follow another method.")
        return replace(self, **cast(dict[str, Any], {place: G}))

    def aligned(self, Y: Array) -> Array:
        """The companion as an array with the rows and columns of Y."""
        G, place = self.companion, companion_of(type(self))
        if G is None:
            raise UsageError(f"{self.name} needs {place}, or a method before it.")
        if not isinstance(G, np.ndarray) or G.shape != Y.shape:
            raise UsageError(f"{self.name}: {place} must be {Data().allowed} ({Y.shape[1]} columns).")
        return G

    def new_scores(self, Z: Array, count: int, X: Array, *others: Array, n: int | None = None) -> Array:
        """T*: `count` scores from the first columns of Z, orthogonal to X and to the others (3), (27)."""
        if Z.shape[-1] < count:
            raise UsageError(f"{self.name} needs {count} random columns and Z has {Z.shape[-1]}.")
        T = new_directions(Z[..., :count], np.concatenate([steady(X), *others], axis=-1) if others else X)
        if T.shape[-1] < count:
            raise self._too_few(count, T.shape[-1], X, others, len(X) if n is None else n)
        return T

    def _too_few(self, count: int, left: int, X: Array, others: tuple[Array, ...], n: int) -> InfeasibleError:
        rank, apart = gqr(X).rank, sum(gqr(other).rank for other in others)
        dropped = f" ({X.shape[1] - rank} dropped)" if rank < X.shape[1] else ""
        kept = f" . original scores kept apart {apart}" if others else ""
        return InfeasibleError(
            f"{type(self).__name__} needs {count} new residual directions and the data leave {left}.\n"
            f"  rows {n} . independent columns of X {rank}{dropped}{kept}\n"
            "Use fewer given terms, merge small groups, or mask fewer variables together."
        )
