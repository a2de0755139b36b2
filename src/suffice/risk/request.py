"""What was asked for, as far as it decides what a release may give away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from suffice.design.bounds import observed
from suffice.design.design import Design
from suffice.method.method import Method
from suffice.risk.group_summary import joined_by
from suffice.seed import Seed


@dataclass(frozen=True)
class Request:
    """What the method promises and carries over, the columns, and where the key is from."""

    confidential: tuple[str, ...]
    promises: tuple[str, ...]
    independent: bool
    """The released residuals carry nothing of the original ones but their covariance."""
    shared: bool = False
    """Every released value is that of a group of records, which hide each other."""
    d: tuple[float | None, ...] = ()
    """The correlations that a hybrid was asked for, as used (alpha included)."""
    seed: str = "entropy"
    columns: tuple[str, ...] = ()
    """Names of the released columns."""
    parts: bool = False
    """Parts of the records are protected by methods of their own."""
    merged: int = 0
    """The `merge_below` that was asked for."""
    joined_by: str = ""
    """What makes its groups, or patterns of missing cells, larger, if there are any."""
    signs: bool = False
    """Whether bounds are to follow from the signs of the data."""
    mixed: bool = False
    """Whether records of the original are mixed into a data set that was given."""

    @classmethod
    def of(cls, method: Method, design: Design, seed: Seed, columns: tuple[str, ...]) -> Self:
        names, promises = design.confidential, method.kept
        roles = design.roles
        joined = roles.merge_below, joined_by(design, tuple(roles.groups), roles.missing == "patterns")
        carried = method.independent, method.shared, method.asked()
        return cls(
            names,
            promises,
            *carried,
            seed.source,
            columns,
            bool(method.apart_of),
            *joined,
            observed(roles.bounds),
            method.mixes and method.companion is not None,
        )

    @property
    def d_told(self) -> tuple[float, ...]:
        """The sizes of those correlations that were asked for."""
        return tuple(abs(d) for d in self.d if d is not None)
