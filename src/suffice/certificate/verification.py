"""verify(): any pair of files, by statistics that do not depend on the order of rows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from suffice.certificate.certificate import Certificate
from suffice.certificate.comparands import Comparands
from suffice.certificate.new_records import of_new_records, redrawn
from suffice.certificate.overlap import Overlap
from suffice.certificate.paper import paper_beside
from suffice.certificate.same_records import of_the_same_records
from suffice.design.coding import Coding
from suffice.design.design import Design
from suffice.design.inspection import misspelt
from suffice.design.missing import complete
from suffice.design.roles import Roles
from suffice.errors import InputError, UsageError, escaped, suggest
from suffice.files.format import both_in_encoding
from suffice.files.source import open_rows
from suffice.guards.finding import Finding, Findings, gravest
from suffice.progress import Progress, listener
from suffice.report.exhibit import Exhibit
from suffice.rows.digest import Digest
from suffice.rows.multiset import Multiset
from suffice.rows.rows import Kind, Product, Rows
from suffice.rows.threads import cores, one_blas_thread
from suffice.statistics.promise import COMPARED

ALL = ("mean", "covariance", "fit")
VALUES: tuple[Kind, ...] = ("category", "date")
"""Kinds of confidential columns whose values are compared and no moments."""
OPAQUE = {"date", "other"}
"""Kinds of columns that are released as they are and never looked into."""
IN_PLACE = Finding(
    "row-order",
    "warn",
    "the released rows stand in the order of the original",
    "Shuffle the rows: their order links the records.",
)


@dataclass(frozen=True)
class Verification(Exhibit):
    """What a pair of files has in common, what gives concern, and what could not be checked."""

    certificate: Certificate
    findings: Findings
    unchecked: tuple[str, ...]
    same_multiset: bool | None
    """Of given columns, weights and kept columns; None where the release has other records and none of these."""

    @property
    def holds(self) -> bool:
        return self.certificate.holds and self.same_multiset is not False

    @property
    def passes(self) -> bool:
        """Whether everything is kept and nothing was found that forbids to release the file."""
        return self.holds and not any(finding.blocks for finding in self.findings)

    def text(self) -> str:
        lines = [*([] if self.holds == self.certificate.holds else ["suffice verification: DOES NOT HOLD"])]
        lines += [self.certificate.text()]
        if self.same_multiset is not None:
            lines += [f"  {self._same()}"]
        lines += [f"  {finding}" for finding in self.findings]
        lines += [f"  not checked: {escaped(each)}" for each in self.unchecked]
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
                    "passes": self.passes,
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
    encoding: str | None = None,
    keeps: Sequence[str] | None = None,
) -> Verification:
    """Certify a pair of files, whoever made the second one.

    Means, covariances and cross-products are compared, or what `keeps` names, and the given columns, weights and kept
    columns must be the same multiset of records. With groups, and with patterns of missing cells, the same is compared
    within each: records that `missing` leaves out and cells that it blanks are left out and blanked in the original.
    A release with another number of records, and with no columns but confidential ones and groups, is one of new
    records: means and covariances are compared, in groups if there are any, each with its own number as divisor.
    Columns that are confidential and given, since they were drawn before others, count as given.
    Bounds, edits and whole numbers are checked in every released record where the roles name them; of confidential
    categories and dates, which have no moments, the values are compared. Records of the original that stand in the
    release, identifiers, and a certificate beside the file that is of another file are findings that stop it.
    Nothing about the random numbers or the method is needed or known.

    encoding: of text that is not UTF-8, as `protect` takes it
    keeps: the statistics that a release of a method with other promises is to have: "mean", "covariance", "fit",
        "third-moment", "distribution"; tables of counts by their columns: "sex", "sex*region"; means in every level of
        a column: "mean by sex"
    """
    roles = roles.once
    asked = _asked(keeps, roles)
    with one_blas_thread():
        progress = listener(progress)
        pair = both_in_encoding(original, released, encoding)
        source, leaving = (open_rows(data, threads or cores(), progress) for data in pair)
        coding = _coding(source, leaving, roles)
        before, after = complete(coding.encoded(source), roles), coding.encoded(leaving)
        design = Design.learn(before, roles)
        fixed = tuple(name for name in roles.columns if name in after.kinds and name not in _changing(roles))
        opaque = [name for name in fixed if OPAQUE & {before.kinds[name], after.kinds[name]}]
        plain = tuple(name for name in fixed if name not in opaque)
        incomplete: tuple[str, ...] = ()
        same: bool | None = None
        in_place, coded = False, tuple(coding.types)
        if redrawn(before, after, roles):
            certificate = of_new_records(before, after, design, coded, asked)
        else:
            certificate, incomplete = of_the_same_records(before, after, design, coded, asked)
            same, in_place = _compared(before, after, plain)
        alone = (
            "distribution" in asked.statistics and len(design.confidential) + len(plain) == 1
        )  # values are no records
        overlap = None if alone else Overlap.of(before, after, design.confidential, plain).finding()
        own, unchecked = paper_beside(released)
    findings = [*([overlap] if overlap else []), *own, *([IN_PLACE] if in_place else []), *_findings(leaving, roles)]
    unchecked = (*incomplete, *_unchecked(roles, opaque), *unchecked)
    return Verification(certificate, gravest(findings), unchecked, same)


def _asked(keeps: Sequence[str] | None, roles: Roles) -> Comparands:
    if keeps is None:
        return Comparands(ALL)
    names = (keeps,) if isinstance(keeps, str) else tuple(keeps)
    asked = Comparands.of(names, (*roles.columns, *roles.leaving))
    other = [name for name in asked.statistics if name not in COMPARED]
    wrong = [f"There is no statistic {name!r} to compare.{suggest(name, COMPARED)}" for name in other]
    if wrong or not names:
        known = f"{', '.join(COMPARED)}, tables of columns: sex*region, and means in their levels: mean by sex"
        raise UsageError("\n".join([*wrong, f"Statistics that files are compared by: {known}."]))
    return asked


def _changing(roles: Roles) -> tuple[str, ...]:
    return (*roles.confidential, *roles.identifiers)


def _coding(before: Rows, after: Rows, roles: Roles) -> Coding:
    """Confidential categories and dates as numbers: their values are compared, no moments of them."""
    coded = [name for name in roles.confidential if before.kinds.get(name) in VALUES]
    if spelt := misspelt(before, coded):
        raise InputError("\n".join(spelt))
    other = [name for name in coded if after.kinds.get(name) != before.kinds[name]]
    if other:
        named = ", ".join(map(repr, other))
        raise InputError(f"The released file's column {named} is not there, or not of the kind that the original has.")
    return Coding.learn(before, roles, VALUES)


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


def _findings(after: Rows, roles: Roles) -> Iterator[Finding]:
    named = [name for name in roles.identifiers if name in after.kinds]
    if named:
        yield Finding("identifiers", "stop", f"the released file has identifiers: {', '.join(named)}", "Drop them.")
    extra = [name for name in after.kinds if name not in (*roles.leaving, *roles.identifiers)]
    if extra:
        yield Finding("unknown-columns", "warn", f"{_columns(len(extra))} no role: {', '.join(extra)}")


def _columns(count: int) -> str:
    return "1 released column has" if count == 1 else f"{count} released columns have"


def _unchecked(roles: Roles, opaque: Sequence[str]) -> Iterator[str]:
    yield "which original record a released one came from: outliers, residual correlation, values that are near"
    yield "the key, the method and earlier releases"
    if not (roles.terms.columns or roles.keep or roles.weight or roles.groups or roles.labels):
        yield "given columns: there are none"
    asked = {"bounds": roles.bounds, "edits": roles.edits, "whole numbers": roles.integer, "groups": roles.groups}
    absent = [name for name, value in {**asked, "a weight": roles.weight}.items() if not value]
    if absent:
        yield f"{', '.join(absent)}: none was named"
    if opaque:
        yield f"kept columns that are neither numbers nor categories: {', '.join(opaque)}"
