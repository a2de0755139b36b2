"""A method that draws records anew."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass
from suffice.algebra.array import Array
from suffice.method.method import Method


@dataclass(frozen=True)
class Synthetic(Method):
    """A method that draws records anew from the moments of each group: the release has a number of rows of its own."""

    @property
    @abstractmethod
    def records(self) -> int:
        """How many records the release has."""

    @abstractmethod
    def draw(self, mean: Array, R: Array, Z: Array) -> Array:
        """As many records as Z has rows.

        mean: of the columns
        R: their covariance matrix is R'R; fewer rows where columns are dependent
        Z: standard normal numbers; the first columns are used
        """
