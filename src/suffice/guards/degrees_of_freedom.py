"""Too few residual directions: few releases keep the covariance, and the truth is one of them."""

from __future__ import annotations

from suffice.guards.finding import Finding, Severity
from suffice.guards.wording import count
from suffice.risk.assessment import Assessment
from suffice.risk.group_summary import GroupSummary

NEVER, STOP, WARN = 1, 5, 10


def degrees_of_freedom(risk: Assessment) -> Finding | None:
    """nu = n - rank X where a covariance is kept: <= 1 never, < 5 stop, < max(10, rank E + 1) warn.

    At nu = 1 the only releases are +E and -E; at nu = 2, 3, 5, 10 the median correlation of release and truth
    is .71, .45, .31, .23 by chance alone.
    """
    groups = min((kept for kept in risk.groups if kept.nu is not None), key=_nu, default=None)
    if groups is not None and (level := _level(_nu(groups), groups.residual_rank)) is not None:
        return _in_groups(groups, level)
    freedom = risk.freedom
    level = _level(freedom.nu, freedom.residual_rank)
    if "covariance" not in risk.request.promises or level is None:
        return None
    return Finding(
        "degrees-of-freedom",
        level,
        f"{count(freedom.n, 'record')} and {count(freedom.rank, 'independent given column')} leave "
        f"{count(freedom.nu, 'degree')} of freedom for {count(freedom.residual_rank, 'residual')}: {MEANING[level]}.",
        "Use fewer given terms, join small categories (merge_below), or protect more records together.",
        {"nu": freedom.nu, "records": freedom.n, "rank": freedom.rank, "residual_rank": freedom.residual_rank},
    )


MEANING = {
    "never": "the release is the original up to a sign",
    "stop": "a release lies near the original by chance",
    "warn": "a release lies near the original by chance",
}


def _in_groups(kept: GroupSummary, level: Severity) -> Finding:
    groups = kept.thin[{"never": 0, "stop": 1, "warn": 2}[level]]
    join = f"Join or drop small groups ({kept.joined_by})" if kept.joined_by else "Make larger groups"
    return Finding(
        "degrees-of-freedom",
        level,
        f"{count(groups, 'group')} of {kept.groups:,} by {kept.name} with too few degrees of freedom, the fewest "
        f"{_nu(kept)} for {count(kept.residual_rank, 'residual')}, in groups of {kept.smallest} records and more: "
        f"{MEANING[level]}.",
        f"{join}, use fewer given terms, or protect fewer columns together.",
        {"nu": _nu(kept), "groups": groups, "by": kept.name, "residual_rank": kept.residual_rank},
    )


def _nu(kept: GroupSummary) -> int:
    return 0 if kept.nu is None else kept.nu


def _level(nu: int, residual_rank: int) -> Severity | None:
    if nu <= NEVER:
        return "never"
    if nu < STOP:
        return "stop"
    return "warn" if nu < max(WARN, residual_rank + 1) else None
