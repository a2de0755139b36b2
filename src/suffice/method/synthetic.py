"""A method that draws records anew."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from suffice.algebra.array import Array
from suffice.method.method import Method

if TYPE_CHECKING:
    from suffice.design.design import Design
    from suffice.rows.rows import Rows
    from suffice.seed import Stream


@dataclass(frozen=True)
class Synthetic(Method):
    """A method that draws records anew, from what it has learnt of each group: as many as it says, or as there were."""

    learns: ClassVar[bool] = False
    """Whether more than means and covariances is learnt: `learn` is then asked for every group."""

    @property
    @abstractmethod
    def records(self) -> int | None:
        """How many records the release has; None: as many as the original."""

    def least(self, mean: Array, R: Array) -> int:
        """The fewest records that a group can be drawn with."""
        return 1

    def learn(self, rows: Rows, design: Design) -> Any:
        """What is learnt of the records of a group, by folds."""
        return None

    @abstractmethod
    def draw(self, mean: Array, R: Array, model: Any, count: int, stream: Stream) -> Array:
        """`count` records of a group, as numbers: a category is the number of its level.

        mean: of the columns
        R: their covariance matrix is R'R; fewer rows where columns are dependent
        model: what was learnt
        stream: random numbers of the group's own
        """
