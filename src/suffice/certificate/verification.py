"""verify(): any pair of files, by statistics that do not depend on the order of rows."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from suffice.algebra.array import Array
from suffice.certificate.certificate import Certificate, certify, in_order
from suffice.design.design import Design
from suffice.design.missing import complete
from suffice.design.profile import Matrices, centre_of
from suffice.design.roles import Roles
from suffice.errors import InputError
from suffice.files.source import open_rows
from suffice.guards.finding import Finding
from suffice.progress import Progress, listener
from suffice.report.exhibit import Exhibit
from suffice.rows.digest import Digest
from suffice.rows.multiset import Multiset
from suffice.rows.rows import Product, Rows
from suffice.rows.threads import cores, one_blas_thread
from suffice.statistics.comparison import Comparison, compared
from suffice.statistics.promise import promised
from suffice.statistics.sums import Reference

ALL = ("mean", "covariance", "fit")
MOMENTS = ("mean", "covariance")
OPAQUE = {"date", "other"}
"""Kinds of columns that are released as they are and never looked into."""


@dataclass(frozen=True)
class Verification(Exhibit):
    """What a pair of files has in common, what gives concern, and what could not be checked."""

    certificate: Certificate
    findings: tuple[Finding, ...]
    unchecked: tuple[str, ...]
    same_multiset: bool | None
    """Of given columns, weights and kept columns; None where the release has other records and none of these."""

    @property
    def holds(self) -> bool:
        return self.certificate.holds and self.same_multiset is not False

    def text(self) -> str:
        lines = [self.certificate.text()]
        if self.same_multiset is not None:
            lines += [f"  {self._same()}"]
        lines += [f"  {finding}" for finding in self.findings]
        lines += [f"  not checked: {each}" for each in self.unchecked]
        return "\n".join(lines)

    def _same(self) -> str:
        same = "the same records" if self.same_multiset else "NOT the same records"
        return f"given columns, weights and kept columns: {same} in both files"

    def to_json(self) -> str:
        found = [{"rule": f.rule, "level": f.level, "message": f.message} for f in self.findings]
        return (
            json.dumps(
                {
                    "suffice": "verification",
                    "holds": self.holds,
                    "same_multiset": self.same_multiset,
                    "certificate": self.certificate.as_dict(),
                    "findings": found,
                    "unchecked": self.unchecked,
                },
                indent=2,
            )
            + "\n"
        )

    def __str__(self) -> str:
        return self.text()

    def exhibit(self) -> dict[str, Any]:
        return {
            "title": "" if self.same_multiset is None else self._same(),
            "certificate": self.certificate.as_dict(),
            "findings": self.findings,
            "unchecked": self.unchecked,
        }


def verify(
    original: Any,
    released: Any,
    roles: Roles,
    *,
    progress: Progress | bool | None = None,
    threads: int | None = None,
) -> Verification:
    """Certify a pair of files, whoever made the second one.

    Means, covariances and cross-products are compared, and the given columns, weights and kept columns must be the
    same multiset of records. With groups, and with patterns of missing cells, the same is compared within each: records
    that `missing` leaves out and cells that it blanks are left out and blanked in the original first.
    A release with another number of records, and with no columns but confidential ones and groups, is one of new
    records: means and covariances are compared, in groups if there are any, each with its own number as divisor.
    Nothing about the random numbers or the method is needed or known.
    """
    with one_blas_thread():
        progress = listener(progress)
        before = complete(open_rows(original, threads or cores(), progress), roles)
        after = open_rows(released, threads or cores(), progress)
        design = Design.learn(before, roles)
        if _redrawn(before, after, roles):
            return _of_new_records(before, after, design)
        _check_columns(after, design, roles)
        reference = Reference(before, design, design, *_scale(before, design))
        promises = in_order(promised(ALL, design))
        comparison, incomplete = _shared(compared(reference, after, promises))
        if incomplete:
            whole = replace(reference, design=_without_holes(design), outgoing=_without_holes(design), known={})
            found = {**comparison.found, **compared(whole, after, in_order(())).found}
            comparison = replace(comparison, found=found)
        fixed = [name for name in roles.columns if name not in (*roles.confidential, *roles.identifiers)]
        opaque = [name for name in fixed if OPAQUE & {before.kinds[name], after.kinds[name]}]
        same, in_place = _compared(before, after, tuple(name for name in fixed if name not in opaque))
        certificate = certify(
            comparison,
            promises,
            terms=design.terms,
            method="unknown",
            source="both files",
            notes=(*design.notes, *before.notes),
        )
    unchecked = (*_unchecked(fixed, opaque), *incomplete)
    return Verification(certificate, _findings(after, roles, in_place), unchecked, same)


def _redrawn(before: Rows, after: Rows, roles: Roles) -> bool:
    """Whether the release can only be one of new records, which have nothing that was given or kept."""
    fixed = (*roles.terms.columns, *roles.keep, *roles.labels)
    weightless = roles.weight is not None and roles.weight not in after.kinds
    return (before.n != after.n or weightless) and not fixed and roles.missing != "patterns"


def _of_new_records(before: Rows, after: Rows, design: Design) -> Verification:
    """Moments alone: overall, or in groups, which may have any number of the new records."""
    roles, weight = design.roles, design.roles.weight
    plain = design if weight is None or weight in after.kinds else replace(design, roles=replace(roles, weight=None))
    _check_columns(after, plain, plain.roles)
    reference = Reference(before, design, plain, *_scale(before, design), redrawn=True)
    exact = not design.roles.groups
    kept = (replace(each, exact=exact or not each.domain.whole) for each in promised(MOMENTS, design))
    promises = in_order(kept, redrawn=True)
    certificate = certify(
        compared(reference, after, promises),
        promises,
        terms=(),
        method="unknown",
        source="both files",
        notes=(_said(before, after, design, plain), *before.notes),
    )
    return Verification(certificate, _findings(after, roles, False), _unchecked([], []), None)


def _said(before: Rows, after: Rows, design: Design, plain: Design) -> str:
    differs = "is the same" if before.n == after.n else "differs"
    without = "" if plain is design else f", and {design.roles.weight} is not among its columns, so all count alike"
    return (
        f"the number of records {differs}: {before.n:,} in the original, {after.n:,} in the release{without}; means "
        "and covariances are compared, each with its own number of records as divisor"
    )


def _shared(comparison: Comparison) -> tuple[Comparison, tuple[str, ...]]:
    """With missing cells only the groups that both files have: whether cells were blanked cannot be told."""
    found, unchecked = dict(comparison.found), []
    for promise, (one, two) in comparison.found.items():
        if not promise.domain.holes:
            continue
        shared = one.shared(two)
        if not shared.all() or two.strangers:
            found[promise] = one.only(shared), two.only(shared)
            words = (
                f"{(~shared).sum()} of {len(shared)} groups by {promise.domain.name}: they have not the same records"
            )
            unchecked.append(f"{words} in both files, which blanked cells explain")
    return replace(comparison, found=found), tuple(dict.fromkeys(unchecked))


def _without_holes(design: Design) -> Design:
    """Where cells were blanked, the patterns of missing cells are not part of what is given."""
    return replace(design, roles=replace(design.roles, missing="error"))


def _check_columns(rows: Rows, design: Design, roles: Roles) -> None:
    absent = [name for name in (*design.columns, *roles.keep) if name not in rows.kinds]
    if absent:
        raise InputError(f"The released file has no column {', '.join(map(repr, absent))}.")
    wrong = [name for name in design.confidential if rows.kinds[name] not in ("float", "integer")]
    if wrong:
        raise InputError(f"The released file's column {', '.join(map(repr, wrong))} is not numeric.")
    _scale(rows, design)  # refuses what is missing, infinite or of an unknown level


def _scale(rows: Rows, design: Design) -> tuple[Array, Array]:
    """Means and largest values of all columns; where cells may be missing, nothing is compared about these."""
    if design.roles.missing == "patterns":
        design.complain(rows)
        return np.zeros(design.m + design.k), np.ones(design.m + design.k)
    spread = Matrices(design, False).profile(rows).spread
    return centre_of(design, spread), spread.size


def _compared(before: Rows, after: Rows, names: tuple[str, ...]) -> tuple[bool, bool]:
    """Whether these columns are the same multiset of rows, and whether they stand in the same order."""
    if not names:
        return before.n == after.n, False
    (one, digest), (two, other) = (
        rows.fold(lambda block: Product(Multiset.of(block, names), Digest.of(block, names)), names, "comparing")
        for rows in (before, after)
    )
    ordered = all(digest.column(name) == other.column(name) for name in names)
    several = any(len(set(digests)) > 1 for digests in digest.columns.values()) or before.n > 1
    return one == two, ordered and several


def _findings(after: Rows, roles: Roles, in_order: bool) -> tuple[Finding, ...]:
    found = []
    if in_order:
        found.append(
            Finding(
                "row-order",
                "warn",
                "the released rows stand in the order of the original",
                "Shuffle the rows: their order links the records.",
            )
        )
    named = [name for name in roles.identifiers if name in after.kinds]
    if named:
        found.append(
            Finding("identifiers", "stop", f"the released file has identifiers: {', '.join(named)}", "Drop them.")
        )
    extra = [name for name in after.kinds if name not in roles.columns]
    if extra:
        found.append(
            Finding("unknown-columns", "warn", f"{len(extra)} released columns have no role: {', '.join(extra)}")
        )
    return tuple(found)


def _unchecked(fixed: list[str], opaque: list[str]) -> tuple[str, ...]:
    unchecked = [
        "which original record a released one came from: records given away, outliers, residual correlation",
        "the key, the method and earlier releases",
    ]
    if not fixed:
        unchecked.append("given columns: there are none")
    if opaque:
        unchecked.append(f"kept columns that are neither numbers nor categories: {', '.join(opaque)}")
    return tuple(unchecked)
