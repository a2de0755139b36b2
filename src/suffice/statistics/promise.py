"""What is promised of a file, from what a method keeps."""

from __future__ import annotations

from collections.abc import Iterable

from suffice.design.design import Design
from suffice.statistics import STATISTICS
from suffice.statistics.domain import Domain
from suffice.statistics.statistic import Promise

COMPARED = ("mean", "covariance", "fit", "third-moment", "distribution")
"""What any two files can be compared by."""


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
