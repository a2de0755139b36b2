"""What is asked of a release: limits of its risk, what is lost, what must be kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from suffice.comparison.runs import Run
from suffice.errors import UsageError, suggest
from suffice.release.measures import MEASURES, chosen, worded
from suffice.statistics import STATISTICS

RISKS: Mapping[str, tuple[str, ...]] = {
    "linkage": ("distance-linkage", "rank-linkage", "copies-anywhere"),
    "categories": ("replicated-uniques", "attribute-disclosure"),
}
"""Risks that several measures see: the worst of them counts. A limit may name a measure as well."""
LIMIT = 0.01
NUMBERS, CATEGORIES = ("information-loss", "propensity-3"), ("hellinger", "propensity-mixed")
"""What is lost, unless told: of numbers, and of categories."""


@dataclass(frozen=True)
class Judgement:
    """Limits by risk, measures whose mean is the loss, statistics that must be kept.

    The risk of a run is the worst of its risks, each divided by its limit: above 1 one of them is exceeded. A loss is
    between 0 and 1, every measure being divided by its range.
    """

    limits: Mapping[str, float]
    loss: tuple[str, ...]
    keep: tuple[str, ...] = ()
    more: tuple[str, ...] = field(default=(), compare=False)
    """Measures that are taken and not judged."""

    @classmethod
    def of(cls, limits: Any, loss: Any, keep: Any, more: Any, numbers: bool, categories: bool) -> Judgement:
        """With what suits the columns where nothing is told.

        numbers, categories: which kinds of confidential columns there are
        """
        there = {"linkage": numbers, "categories": categories}
        told = {name: LIMIT for name in RISKS if there[name]} if limits is None else _limits(limits)
        lost = (
            (*NUMBERS * numbers, *CATEGORIES * categories) if loss is None else worded(loss, "loss", "Name measures.")
        )
        chosen([*lost] or None)
        for name in lost:
            if MEASURES[name].family != "utility" or not all(map(isfinite, MEASURES[name].range)):
                raise UsageError(f"{name} cannot be a loss: it must be a measure of utility between two numbers.")
        kept = tuple(worded(keep, "keep", "Name statistics."))
        for name in kept:
            if name not in STATISTICS:
                raise UsageError(f"There is no statistic {name!r}.{suggest(name, STATISTICS)} {', '.join(STATISTICS)}.")
        extra = worded(more, "measures", "Name measures.")
        chosen(extra or None)
        if not lost:
            raise UsageError("No measure of utility is named. Name one at least as `loss`.")
        return cls(told, tuple(lost), kept, tuple(extra))

    @property
    def measures(self) -> tuple[str, ...]:
        """All that are taken, each once."""
        seen = [name for risk in self.limits for name in RISKS.get(risk, (risk,))]
        return tuple(dict.fromkeys([*seen, *self.loss, *self.more]))

    def risks(self, run: Run) -> dict[str, float]:
        """What a run shows of every risk that has a limit; one that nobody can see is not there."""
        found = {}
        for risk in self.limits:
            seen = [run.figures[name] for name in RISKS.get(risk, (risk,)) if name in run.figures]
            if seen:
                found[risk] = max(seen)
        return found

    def risk(self, run: Run) -> float | None:
        """The worst, each in its limits."""
        return max((value / self.limits[name] for name, value in self.risks(run).items()), default=None)

    def lost(self, run: Run) -> float | None:
        """The mean of what is lost, each between 0 and 1."""
        found = [_scaled(name, run.figures[name]) for name in self.loss if name in run.figures]
        return sum(found) / len(found) if len(found) == len(self.loss) else None

    def as_dict(self) -> dict[str, Any]:
        return {"limits": dict(self.limits), "loss": list(self.loss), "keep": list(self.keep)}


def _limits(given: Any) -> dict[str, float]:
    """A number is the limit of linkage."""
    told = {"linkage": given} if isinstance(given, int | float) else given
    if not isinstance(told, Mapping) or not told:
        raise UsageError('Limits are numbers by risk. Write {"linkage": 0.01}.')
    names = [*RISKS, *(name for name, each in MEASURES.items() if each.direction == "higher is riskier")]
    for name, limit in told.items():
        if name not in names:
            raise UsageError(f"There is no risk {name!r}.{suggest(str(name), names)}\nThere are: {', '.join(names)}.")
        if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 < limit <= 1:
            raise UsageError(f"The limit of {name} must be a number above 0, and at most 1.")
    return {name: float(limit) for name, limit in told.items()}


def _scaled(name: str, value: float) -> float:
    """0: the original; 1: as far from it as can be."""
    low, high = MEASURES[name].range
    best = MEASURES[name].of_a_copy
    return abs(value - best) / (high - low)


def beaten(points: Sequence[tuple[float, float] | None]) -> list[bool]:
    """Whether another point is smaller in one direction and not larger in the other; None is beaten.

    >>> beaten([(0.0, 1.0), (1.0, 0.0), (1.0, 1.0), None])
    [False, False, True, True]
    """
    there = [point for point in points if point is not None]
    return [
        point is None or any(a <= point[0] and b <= point[1] and (a, b) != point for a, b in there) for point in points
    ]
