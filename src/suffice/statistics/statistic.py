"""A statistic: promised by a method, demanded by a user, checked by the certificate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import floor, inf, log10
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import EPS, Array
from suffice.statistics.domain import WHOLE, Domain
from suffice.statistics.sums import Reference, Sums

Codes = NDArray[np.intp]

BOUND = 30.0
"""A promise holds while e / (eps max(1, max|y|/sd)) is at most this."""
TOLD = 1e-12
"""Smaller errors are told as this one."""
SMALLEST = 1e-150
"""Standard deviation of a column of zeros: its square is still a number."""


def at_most(error: float) -> float:
    """An error as it may be told: rounded up to one digit, and not below 1e-12.

    >>> at_most(3.21e-16), at_most(0.00312), at_most(inf)
    (1e-12, 0.004, inf)
    """
    if not TOLD < error < inf:
        return TOLD if error <= TOLD else error
    near = float(f"{error:.0e}")
    return near if near >= error else float(f"{near + 10.0 ** floor(log10(near)):.0e}")


@dataclass(frozen=True)
class Claim:
    """One statistic, how far the released rows are from it, and what the digits of the data allow.

    Error and ratio are for the data holder: sd error / (eps ratio) is the largest value of a column. What leaves is
    `told`.
    """

    statistic: str
    sentence: str
    error: float = field(repr=False)
    ratio: float = field(repr=False)
    where: str
    promised: bool = True
    """Where not, the error was reached and is told; nothing depends on it."""
    level: str = ""
    """In what groups it is kept, in words: "in each of 7 groups by region"; empty: in the whole file."""
    group: int = 0
    """Which of the groups is the worst one, counted from 1 in an order of their own; 0: there are none."""

    @property
    def holds(self) -> bool:
        return not self.promised or self.ratio <= BOUND

    @property
    def told(self) -> tuple[float, float]:
        """Error and ratio as they may be told: bounds, the second one the same for all that hold.

        A claim that is bit for bit, in every record or not at all has ratio 0 or none, and its error tells nothing.
        """
        if self.ratio in (0.0, inf):
            return self.error, self.ratio
        return at_most(self.error), BOUND if self.ratio <= BOUND else inf

    @property
    def said(self) -> str:
        """The sentence with its level."""
        return f"{self.sentence}, {self.level}" if self.level else self.sentence

    @classmethod
    def worst(cls, statistic: str, sentence: str, errors: Array, lost: Array, names: Sequence[str]) -> Claim:
        """The claim at its worst entry; `lost` is max(1, max|y|/sd) of each, the last axis the groups if there are."""
        if not errors.size:
            return cls(statistic, sentence, 0.0, 0.0, "")
        errors = np.where(np.isfinite(errors), errors, np.inf)
        with np.errstate(over="ignore"):  # a column of zeros that is no longer one
            ratios = errors / (EPS * lost)
        top = np.unravel_index(ratios.argmax(), ratios.shape)
        group = int(top[1]) + 1 if errors.ndim > 1 else 0
        return cls(statistic, sentence, float(errors.max()), float(ratios[top]), names[int(top[0])], group=group)


class Statistic(ABC):
    """Something that is added up over two files and compared."""

    name: ClassVar[str]
    words: ClassVar[str] = ""
    """What the catalogue calls it."""
    in_groups: ClassVar[bool] = False
    """Whether to keep it of the records that are protected together is to keep it in every group of a file."""
    weighted: ClassVar[bool] = False
    """Whether it is one of weighted records, where there is a weight."""
    despite_holes: ClassVar[bool] = False
    """Whether it is kept of a whole file in which missing cells stay."""
    grants: ClassVar[str] = ""
    """What a certificate says is never promised, and does not say where this is kept in the whole file."""

    def __init_subclass__(cls) -> None:
        if "name" in vars(cls):
            STATISTICS[cls.name] = cls

    @abstractmethod
    def sums(self, beside: Sequence[Promise]) -> Sums:
        """What it needs of a file, given all that is promised in the same domain: what can be shared is."""

    @abstractmethod
    def claim(self, promise: Promise, before: Any, after: Any, reference: Reference) -> Claim | None:
        """How exactly the rows that leave have it, from its sums of both files; None where there is nothing to have."""


STATISTICS: dict[str, type[Statistic]] = {}
"""By name: those that were imported."""


@dataclass(frozen=True)
class Promise:
    """A statistic that the rows that leave have from the original.

    kept: the statistic, or its name
    domain: in every group of which records; the whole file unless told
    terms: names of the columns of X that it is about; all unless told
    exact: where not, it is told how nearly it was reached, and nothing depends on it

    >>> Promise("mean", Domain("region", ("region",))).statistic.name
    'mean'
    """

    kept: Statistic | str
    domain: Domain = WHOLE
    terms: tuple[str, ...] | None = None
    exact: bool = field(default=True, compare=False)

    @property
    def statistic(self) -> Statistic:
        return STATISTICS[self.kept]() if isinstance(self.kept, str) else self.kept

    @property
    def name(self) -> str:
        return self.kept if isinstance(self.kept, str) else self.kept.name
