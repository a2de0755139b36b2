"""verify(): any pair of files, by statistics that do not depend on the order of rows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from suffice.algebra.array import Array
from suffice.certificate.certificate import Certificate, certify, in_order
from suffice.certificate.overlap import Overlap
from suffice.certificate.paper import paper_beside
from suffice.design.coding import Coding
from suffice.design.design import Design
from suffice.design.inspection import misspelt
from suffice.design.limits import Limits
from suffice.design.missing import complete
from suffice.design.profile import Matrices, centre_of
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
from suffice.statistics.comparison import SumsOfBoth, compared
from suffice.statistics.distribution import Distribution
from suffice.statistics.domain import WHOLE, Domain
from suffice.statistics.promise import COMPARED, promised
from suffice.statistics.standing import Pair
from suffice.statistics.statistic import Claim, Promise, Statistic
from suffice.statistics.sums import Reference
from suffice.statistics.table import CountTable
from suffice.statistics.whole_numbers import WholeNumbers

ALL = ("mean", "covariance", "fit")
VALUES: tuple[Kind, ...] = ("category", "date")
"""Kinds of confidential columns whose values are compared and no moments."""
MOMENTS = ("mean", "covariance")
OPAQUE = {"date", "other"}
"""Kinds of columns that are released as they are and never looked into."""


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
    Bounds, edits and whole numbers are checked in every released record where the roles name them; of confidential
    categories and dates, which have no moments, the values are compared. Records of the original that stand in the
    release, identifiers, and a certificate beside the file that is of another file are findings that stop it.
    Nothing about the random numbers or the method is needed or known.

    encoding: of text that is not UTF-8, as `protect` takes it
    keeps: the statistics that a release of a method with other promises is to have: "mean", "covariance", "fit",
        "third-moment", "distribution"; and tables of counts by their columns: "sex*region"
    """
    asked = _asked(keeps)
    with one_blas_thread():
        progress = listener(progress)
        pair = both_in_encoding(original, released, encoding)
        source, leaving = (open_rows(data, threads or cores(), progress) for data in pair)
        coding = _coding(source, leaving, roles)
        before, after = complete(coding.encoded(source), roles), coding.encoded(leaving)
        design = Design.learn(before, roles)
        told = _of_new_records if _redrawn(before, after, roles) else _of_the_same
        fixed = tuple(name for name in roles.columns if name in after.kinds and name not in _changing(roles))
        opaque = [name for name in fixed if OPAQUE & {before.kinds[name], after.kinds[name]}]
        plain = tuple(name for name in fixed if name not in opaque)
        found = told(before, after, design, tuple(coding.types), plain, asked)
        alone = "distribution" in asked and len(design.confidential) + len(plain) == 1  # values are no records
        overlap = None if alone else Overlap.of(before, after, design.confidential, plain).finding()
        own, unchecked = paper_beside(released)
    findings = gravest([*([overlap] if overlap else []), *own, *found.findings, *_findings(leaving, roles)])
    unchecked = (*found.unchecked, *_unchecked(roles, opaque), *unchecked)
    return replace(found, findings=findings, unchecked=unchecked)


def _asked(keeps: Sequence[str] | None) -> tuple[str, ...]:
    if keeps is None:
        return ALL
    names = (keeps,) if isinstance(keeps, str) else tuple(keeps)
    tables = tuple(dict.fromkeys(name for name in names if "*" in name))
    other = [name for name in names if name not in (*COMPARED, *tables)]
    wrong = [f"There is no statistic {name!r} to compare.{suggest(name, COMPARED)}" for name in other]
    if wrong or not names:
        known = f"{', '.join(COMPARED)}, and tables of columns: sex*region"
        raise UsageError("\n".join([*wrong, f"Statistics that files are compared by: {known}."]))
    return *(name for name in COMPARED if name in names), *tables


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


def _of_the_same(
    before: Rows, after: Rows, design: Design, coded: Sequence[str], fixed: tuple[str, ...], asked: Sequence[str]
) -> Verification:
    """Every statistic of a release that has the records of the original."""
    numbers = tuple(name for name in design.confidential if name not in coded)
    tables = [tuple(name.strip() for name in each.split("*")) for each in asked if "*" in each]
    asked = [each for each in asked if "*" not in each]
    part = design.part(numbers) if numbers else design
    _check_columns(after, part, design.roles, valued=not numbers)
    reference = Reference(before, part, part, *_scale(before, part), Limits.learn(before, part))
    promises = in_order(_demanded(part, asked)) if numbers else in_order(())
    comparison, incomplete = _shared(compared(reference, after, promises))
    if incomplete:
        whole = replace(reference, design=_without_holes(part), outgoing=_without_holes(part), known={})
        found = {**comparison.found, **compared(whole, after, in_order(())).found}
        comparison = replace(comparison, found=found)
    certificate = certify(
        comparison,
        promises,
        terms=design.terms,
        method="unknown",
        source="both files",
        notes=(*design.notes, *before.notes),
        not_promised=tuple(f"{name}: its relations to other columns" for name in coded),
    )
    if part.roles.integer:
        told = *_rounded(certificate.claims, comparison.pair, part), *_unrounded(before, after, part, asked)
        certificate = replace(certificate, claims=told)
    if coded or tables:
        claims = _of_values(before, after, design, coded, tables)
        certificate = replace(certificate, claims=(*certificate.claims, *claims), confidential=design.confidential)
        certificate = replace(certificate, negative={name: certificate.negative[name] for name in numbers})
    same, in_place = _compared(before, after, fixed)
    order = Finding(
        "row-order",
        "warn",
        "the released rows stand in the order of the original",
        "Shuffle the rows: their order links the records.",
    )
    return Verification(certificate, Findings([order] * in_place), incomplete, same)


def _rounded(claims: Sequence[Claim], pair: Pair, design: Design) -> Iterator[Claim]:
    """Moments of the file that are farther off than rounding makes them count as promised, and are not kept.

    Cells move by less than 1, so a scaled mean or covariance by a + b + a b at most, a and b being 1 / sd of columns.
    """
    sd = dict(zip(design.confidential, pair.sd[-design.k :].tolist(), strict=True))
    a = max((1 / sd[name] for name in design.roles.integer if sd[name] > 0), default=0.0)
    for claim in claims:
        beyond = not (claim.promised or claim.level) and claim.error > 2 * a + a * a
        yield replace(claim, promised=True) if beyond else claim


def _unrounded(before: Rows, after: Rows, design: Design, asked: Sequence[str]) -> tuple[Claim, ...]:
    """What is demanded of the columns that are not rounded."""
    names = tuple(name for name in design.confidential if name not in design.roles.integer)
    if not names:
        return ()
    part = design.part(names)
    promises = tuple(promised(asked, part))
    comparison, _ = _shared(compared(Reference(before, part, part, *_scale(before, part)), after, promises))
    told = (comparison.claim(promise) for promise in promises)
    of = f", of {', '.join(names)}"
    return tuple(replace(claim, sentence=claim.sentence + of) for claim in told if claim is not None)


def _demanded(design: Design, asked: Sequence[str]) -> Iterator[Promise]:
    """Moments, and what roles ask of every record; where whole numbers were rounded, moments are told, not demanded."""
    roles, moments = design.roles, promised(asked, design)
    yield from (replace(each, exact=not roles.integer) for each in moments)
    yield Promise("limits")
    if roles.integer:
        means = [promise.domain for promise in moments if promise.name == "mean" and roles.weight is None]
        domains = [domain for domain in means if not domain.holes]  # which cells were blanked cannot be told
        yield from (Promise(WholeNumbers(totals=True), domain) for domain in domains)
        if WHOLE not in domains:
            yield Promise(WholeNumbers())


def _of_values(
    before: Rows, after: Rows, design: Design, coded: Sequence[str], tables: Sequence[tuple[str, ...]]
) -> list[Claim]:
    """Columns that are no numbers have the same values as often, and tables the same counts, in the file and in its
    groups."""
    names = coded or design.confidential
    if other := [name for table in tables for name in table if name not in before.kinds or name not in after.kinds]:
        raise UsageError(f"A table is asked for of {other[0]!r}, which is not in both files.")
    roles = Roles(confidential=names, groups=design.roles.groups, missing=design.roles.missing)
    own = Design.learn(before, roles)
    reference = Reference(before, own, own, np.zeros(own.m + own.k), np.ones(own.m + own.k))
    domains = [WHOLE, *([Domain.by_columns(tuple(roles.groups), False)] if roles.groups else [])]
    kept: list[Statistic] = [*([Distribution()] if coded else []), *(CountTable(table) for table in tables)]
    promises = [Promise(each, domain) for domain in domains for each in kept]
    comparison, said = compared(reference, after, promises), f"distributions of {', '.join(names)}, value by value"
    claims = [(each.name, claim) for each in promises if (claim := comparison.claim(each)) is not None]
    return [replace(claim, sentence=said) if name == "distribution" else claim for name, claim in claims]


def _redrawn(before: Rows, after: Rows, roles: Roles) -> bool:
    """Whether the release can only be one of new records, which have nothing that was given or kept."""
    fixed = (*roles.terms.columns, *roles.keep, *roles.labels)
    weightless = roles.weight is not None and roles.weight not in after.kinds
    return (before.n != after.n or weightless) and not fixed and roles.missing != "patterns"


def _of_new_records(
    before: Rows, after: Rows, design: Design, coded: Sequence[str], fixed: tuple[str, ...], asked: Sequence[str]
) -> Verification:
    """Moments alone: overall, or in groups, which may have any number of the new records."""
    roles, weight = design.roles, design.roles.weight
    if coded:
        raise InputError(
            f"The files have {before.n:,} and {after.n:,} records, and {', '.join(map(repr, coded))} is no number.\n"
            "Of new records only means and covariances are compared: name columns of numbers."
        )
    if other := [name for name in asked if name not in ALL]:
        raise UsageError(
            f"The files have {before.n:,} and {after.n:,} records: {', '.join(other)} cannot be compared.\n"
            "Of new records only means and covariances are: leave it out of `keeps`."
        )
    if not {*MOMENTS} & {*asked}:
        raise UsageError("Of new records only means and covariances are compared: name one of them in `keeps`.")
    plain = design if weight is None or weight in after.kinds else replace(design, roles=replace(roles, weight=None))
    _check_columns(after, plain, plain.roles)
    limits = Limits.learn(before, design)
    reference = Reference(before, design, plain, *_scale(before, design), limits, redrawn=True)
    exact = not design.roles.groups
    moments = promised([name for name in MOMENTS if name in asked], design)
    kept = (replace(each, exact=exact or not each.domain.whole) for each in moments)
    promises = in_order([*kept, Promise("limits")], redrawn=True)
    certificate = certify(
        compared(reference, after, promises),
        promises,
        terms=(),
        method="unknown",
        source="both files",
        notes=(_said(before, after, design, plain), *before.notes),
    )
    return Verification(certificate, Findings(), (), None)


def _said(before: Rows, after: Rows, design: Design, plain: Design) -> str:
    differs = "is the same" if before.n == after.n else "differs"
    without = "" if plain is design else f", and {design.roles.weight} is not among its columns, so all count alike"
    return (
        f"the number of records {differs}: {before.n:,} in the original, {after.n:,} in the release{without}; means "
        "and covariances are compared, each with its own number of records as divisor"
    )


def _shared(comparison: SumsOfBoth) -> tuple[SumsOfBoth, tuple[str, ...]]:
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


def _check_columns(rows: Rows, design: Design, roles: Roles, valued: bool = False) -> None:
    """valued: the confidential columns are no numbers, and whatever they hold is compared"""
    absent = [name for name in (*design.columns, *roles.keep) if name not in rows.kinds]
    if absent:
        raise InputError(f"The released file has no column {', '.join(map(repr, absent))}.")
    wrong = [name for name in design.confidential if rows.kinds[name] not in ("float", "integer")]
    if wrong:
        raise InputError(f"The released file's column {', '.join(map(repr, wrong))} is not numeric.")
    if not valued:
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
