"""Every statistic of a release that has the records of the original."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from suffice.certificate.certificate import Certificate, certify, in_order
from suffice.certificate.columns import check_columns, scale
from suffice.certificate.comparands import Comparands
from suffice.design.design import Design
from suffice.design.limits import Limits
from suffice.design.roles import Roles
from suffice.errors import UsageError
from suffice.rows.rows import Rows
from suffice.statistics.comparison import SumsOfBoth, compared
from suffice.statistics.distribution import Distribution
from suffice.statistics.domain import WHOLE, Domain
from suffice.statistics.promise import promised
from suffice.statistics.standing import Pair
from suffice.statistics.statistic import Claim, Promise, Statistic
from suffice.statistics.sums import Reference
from suffice.statistics.table import CountTable
from suffice.statistics.whole_numbers import WholeNumbers


def of_the_same_records(
    before: Rows, after: Rows, design: Design, coded: Sequence[str], asked: Comparands
) -> tuple[Certificate, tuple[str, ...]]:
    """Every statistic of a release that has the records of the original, and what of it could not be checked."""
    numbers = tuple(name for name in design.confidential if name not in coded)
    part = design.part(numbers) if numbers else design
    check_columns(after, part, design.roles, valued=not numbers)
    reference = Reference(before, part, part, *scale(before, part), Limits.learn(before, part))
    promises = (
        in_order([*_demanded(part, asked.statistics), *_by_level(asked, before, after)]) if numbers else in_order(())
    )
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
        told = *_rounded(certificate.claims, comparison.pair, part), *_unrounded(before, after, part, asked.statistics)
        certificate = replace(certificate, claims=told)
    if coded or asked.tables:
        valued = coded if not asked.tables or "distribution" in asked.statistics else ()
        claims = _of_values(before, after, design, coded, valued, asked.tables)
        certificate = replace(certificate, claims=(*certificate.claims, *claims), confidential=design.confidential)
        certificate = replace(certificate, negative={name: certificate.negative[name] for name in numbers})
    return certificate, incomplete


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
    comparison, _ = _shared(compared(Reference(before, part, part, *scale(before, part)), after, promises))
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


def _by_level(asked: Comparands, before: Rows, after: Rows) -> list[Promise]:
    if other := [name for name in asked.levels if name not in before.kinds or name not in after.kinds]:
        raise UsageError(f"Means are asked for by {other[0]!r}, which is not in both files.")
    return [Promise("mean", Domain.by_columns((name,), False)) for name in asked.levels]


def _of_values(
    before: Rows,
    after: Rows,
    design: Design,
    coded: Sequence[str],
    valued: Sequence[str],
    tables: Sequence[tuple[str, ...]],
) -> list[Claim]:
    """Columns that are no numbers have the same values as often, and tables the same counts, in the file and in its
    groups.

    valued: those of the coded columns whose values are compared; where tables are asked for, they tell enough
    """
    names = coded or design.confidential
    if other := [name for table in tables for name in table if name not in before.kinds or name not in after.kinds]:
        raise UsageError(f"A table is asked for of {other[0]!r}, which is not in both files.")
    roles = Roles(confidential=names, groups=design.roles.groups, missing=design.roles.missing)
    own = Design.learn(before, roles)
    reference = Reference(before, own, own, np.zeros(own.m + own.k), np.ones(own.m + own.k))
    domains = [WHOLE, *([Domain.by_columns(tuple(roles.groups), False)] if roles.groups else [])]
    kept: list[Statistic] = [*([Distribution()] if valued else []), *(CountTable(table) for table in tables)]
    promises = [Promise(each, domain) for domain in domains for each in kept]
    comparison, said = compared(reference, after, promises), f"distributions of {', '.join(names)}, value by value"
    claims = [(each.name, claim) for each in promises if (claim := comparison.claim(each)) is not None]
    return [replace(claim, sentence=said) if name == "distribution" else claim for name, claim in claims]


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
