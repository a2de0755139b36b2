"""A promise: a statistic, kept in a domain."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from suffice.statistics import STATISTICS
from suffice.statistics.domain import WHOLE, Domain
from suffice.statistics.statistic import Statistic

if TYPE_CHECKING:
    from suffice.design.design import Design


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
        return STATISTICS[self.kept] if isinstance(self.kept, str) else self.kept

    @property
    def name(self) -> str:
        return self.kept if isinstance(self.kept, str) else self.kept.name


def promised(kept: Iterable[str], design: Design) -> tuple[Promise, ...]:
    """What is promised of a file where records are protected together that share groups and missing cells.

    An absorbed factor has no columns in X: that the fits on it are kept is that means are, in each of its levels.
    """
    holes, groups = design.roles.missing == "patterns", tuple(design.roles.groups)
    possible = [name for name in kept if name != "mean" or design.intercept]
    overall = [name for name in possible if not holes or STATISTICS[name].despite_holes]
    found = [Promise(name) for name in overall]
    if groups or holes:
        domain = Domain.by_columns(groups, holes)
        found += [Promise(name, domain) for name in possible if STATISTICS[name].in_groups]
    if design.absorbed is not None and "fit" in possible:
        found += [Promise("mean", Domain.by_columns((*groups, design.absorbed), holes))]
    return tuple(found)


def domains(promises: Iterable[Promise]) -> tuple[Domain, ...]:
    """The groups that promises are about, in their order; the whole file is none."""
    return tuple(dict.fromkeys(promise.domain for promise in promises if not promise.domain.whole))
