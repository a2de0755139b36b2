"""A method that draws records anew."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.algebra.array import Array
from suffice.errors import UsageError
from suffice.method.method import Method
from suffice.rows.arrow import as_float

if TYPE_CHECKING:
    from suffice.design.design import Design
    from suffice.design.roles import Roles
    from suffice.rows.rows import Rows
    from suffice.seed import Stream


@dataclass(frozen=True)
class Synthetic(Method):
    """A method that draws records anew, from what it has learnt of each group: as many as it says, or as there were."""

    @property
    @abstractmethod
    def records(self) -> int | None:
        """How many records the release has; None: as many as the original."""

    @property
    def aligned(self) -> bool:
        """Whether every record that is drawn follows one of the original, and stands in its place."""
        return False

    def given(self, roles: Roles) -> Roles:
        """The roles as they are, if a release of new records can have them."""
        mistakes = list(_unfit(self.name, self.learns, "limits" in self.keeps, roles))
        if mistakes:
            raise UsageError("\n".join(mistakes))
        return roles

    def least(self, mean: Array, R: Array) -> int:
        """The fewest records that a group can be drawn with."""
        return 1

    def portions(self, sizes: Array) -> Array:
        """What the numbers of records of the groups are in proportion to; `sizes`: their records or weights."""
        return sizes

    def learn(self, rows: Rows, design: Design) -> Any:
        """What is learnt of the records of a group, by folds."""
        return None

    def said(self, model: Any, design: Design) -> tuple[str, ...]:
        """Sentences for the data holder about what was learnt; below one, line by line, a table that pages show."""
        return ()

    def noted(self, design: Design) -> tuple[str, ...]:
        """Sentences for whoever uses the release."""
        return ()

    @abstractmethod
    def draw(self, mean: Array, R: Array, model: Any, count: int, stream: Stream) -> Array:
        """`count` records of a group, as numbers: a category is the number of its level, counted from 1.

        mean: of the columns
        R: their covariance matrix is R'R; fewer rows where columns are dependent
        model: what was learnt
        stream: random numbers of the group's own
        """


def records_of(rows: Rows, design: Design) -> tuple[Array, Array | None]:
    """The confidential columns of all records in memory, and their weights."""
    weight, names = design.roles.weight, design.confidential
    held = rows.gather([*names, *([] if weight is None else [weight])])
    return np.column_stack([as_float(held[name]) for name in names]), None if weight is None else as_float(held[weight])


def exact_step(sizes: Array) -> int | None:
    """Every group has exactly its share of any multiple of so many records; None where weights allow no such number.

    >>> exact_step(np.array([60.0, 30.0, 10.0]))
    10
    """
    whole = np.rint(sizes)
    if not np.array_equal(whole, sizes):
        return None
    return int(whole.sum()) // gcd(*map(int, whole))


def _unfit(method: str, learns: bool, bounds: bool, roles: Roles) -> Iterator[str]:
    """A new record has the columns drawn with it and a group, no more."""
    categories = [factor.column for term in roles.terms.terms for factor in term if factor.transform == "C"]
    for name in dict.fromkeys(categories):
        yield f"{method} draws new records, for which {name!r} cannot be given. Name it in `groups`."
    for name in [name for name in roles.terms.columns if name not in categories]:
        yield (
            f"{method} draws new records, for which {name!r} cannot be given. Name it in `confidential` to draw it "
            "with the others, in `groups` if it is a category, or leave it out."
        )
    if not roles.terms.intercept:
        yield f"{method} keeps means, so the intercept stays. Leave `given` empty."
    for role in ("keep", "labels"):
        for name in getattr(roles, role):
            yield f"{method} draws new records, so {name!r} in `{role}` cannot stay as it is. Leave it out."
    for role in ("integer", "edits") if bounds else ("bounds", "integer", "edits"):
        if getattr(roles, role):
            alone = "" if learns else " from means and covariances alone"
            yield f"{method} draws new records{alone} and cannot keep `{role}`. Leave them out."
    if roles.missing == "patterns":
        yield f"{method} draws records with all columns, so patterns of missing cells cannot stay. Use missing = drop."
