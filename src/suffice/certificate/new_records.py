"""Moments of a release of new records, none of which stands for one of the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from suffice.certificate.certificate import Certificate, certify, in_order
from suffice.certificate.columns import check_columns, scale
from suffice.certificate.comparands import Comparands
from suffice.design.design import Design
from suffice.design.limits import Limits
from suffice.design.roles import Roles
from suffice.errors import InputError, UsageError
from suffice.rows.rows import Rows
from suffice.statistics.comparison import compared
from suffice.statistics.promise import promised
from suffice.statistics.statistic import Promise
from suffice.statistics.sums import Reference

MOMENTS = ("mean", "covariance")
"""What is compared of new records; a fit is asked for with these where nothing is named, and left out."""


def redrawn(before: Rows, after: Rows, roles: Roles) -> bool:
    """Whether the release can only be one of new records, which have nothing that was given or kept."""
    fixed = (*roles.terms.columns, *roles.keep, *roles.labels)
    weightless = roles.weight is not None and roles.weight not in after.kinds
    return (before.n != after.n or weightless) and not fixed and roles.missing != "patterns"


def of_new_records(before: Rows, after: Rows, design: Design, coded: Sequence[str], asked: Comparands) -> Certificate:
    """Moments alone: overall, or in groups, which may have any number of the new records."""
    roles, weight = design.roles, design.roles.weight
    if coded:
        raise InputError(
            f"The files have {before.n:,} and {after.n:,} records, and {', '.join(map(repr, coded))} is no number.\n"
            "Of new records only means and covariances are compared: name columns of numbers."
        )
    if other := [name for name in asked.written() if name not in (*MOMENTS, "fit")]:
        raise UsageError(
            f"The files have {before.n:,} and {after.n:,} records: {', '.join(other)} cannot be compared.\n"
            "Of new records only means and covariances are: leave it out of `keeps`."
        )
    if not {*MOMENTS} & {*asked.statistics}:
        raise UsageError("Of new records only means and covariances are compared: name one of them in `keeps`.")
    plain = design if weight is None or weight in after.kinds else replace(design, roles=replace(roles, weight=None))
    check_columns(after, plain, plain.roles)
    limits = Limits.learn(before, design)
    reference = Reference(before, design, plain, *scale(before, design), limits, redrawn=True)
    exact = not design.roles.groups
    moments = promised([name for name in MOMENTS if name in asked.statistics], design)
    kept = (replace(each, exact=exact or not each.domain.whole) for each in moments)
    promises = in_order([*kept, Promise("limits")], redrawn=True)
    return certify(
        compared(reference, after, promises),
        promises,
        terms=(),
        method="unknown",
        source="both files",
        notes=(_said(before, after, design, plain), *before.notes),
    )


def _said(before: Rows, after: Rows, design: Design, plain: Design) -> str:
    differs = "is the same" if before.n == after.n else "differs"
    without = "" if plain is design else f", and {design.roles.weight} is not among its columns, so all count alike"
    return (
        f"the number of records {differs}: {before.n:,} in the original, {after.n:,} in the release{without}; means "
        "and covariances are compared, each with its own number of records as divisor"
    )
