"""Some combination of the released residuals follows some combination of the original ones."""

from __future__ import annotations

from suffice.algebra.canonical import chance
from suffice.guards.finding import Finding, Severity
from suffice.guards.residual_correlation import ALIKE, FURTHER, largest
from suffice.guards.wording import beyond, count, listed
from suffice.risk.assessment import Assessment

STOP, WARN = 0.9, 0.7


def canonical_correlation(risk: Assessment) -> Finding | None:
    """Largest canonical correlation of original and released residuals, above its null: > .9 stop, > .7 warn.

    It sees kept components, which distances between records do not. The null is a 99.9 % point, so that few
    records do not cry wolf: of random permutations of the released rows, for heavy tails, and, if that is higher,
    of new residuals in the nu dimensions that X leaves (of the effective n, with weights). Methods that carry
    nothing over are judged too: bad luck gives as much away as intent. Where each released value is that of a
    group of records, the sizes of the groups are judged instead.
    """
    if risk.request.shared:
        return None
    freedom = risk.freedom
    records = risk.weights.records(freedom.n)  # weights leave fewer dimensions
    null = max(risk.resemblance.null, chance(freedom.residual_rank, records - freedom.rank))
    level = _level(risk, null)
    if level is None:
        return None
    numbers = {"canonical": risk.resemblance.canonical, "null": null}
    return Finding("canonical-correlation", level, _message(risk, null, level), _remedy(risk, level), numbers)


def _level(risk: Assessment, null: float) -> Severity | None:
    canonical = risk.resemblance.canonical
    if canonical <= null:
        return "note" if null > WARN else None
    if canonical <= largest(risk) + ALIKE:  # the residual-correlation rule has said so
        return None
    return "stop" if canonical > STOP else "warn" if canonical > WARN else None


def _message(risk: Assessment, null: float, level: Severity) -> str:
    if level == "note":
        freedom = risk.freedom
        return (
            f"With {count(freedom.residual_rank, 'residual column')} and {count(freedom.nu, 'degree')} of freedom even "
            f"unrelated residuals reach a canonical correlation of {null:.2f}: this rule cannot tell."
        )
    alike = risk.resemblance
    return (
        f"A combination of the released residuals correlates {beyond(alike.canonical, WARN)} with one of the original "
        f"residuals (unrelated residuals: below {null:.2f}), most of all in {listed(alike.columns) or 'all'}."
    )


def _remedy(risk: Assessment, level: Severity) -> str:
    if level == "note":
        return "Protect fewer columns together, use fewer given terms, or more records."
    if risk.request.independent and risk.zeros:
        return "Zeros that stay tell it: rotate with zeros=free, or IPSO; or protect fewer columns together."
    if risk.request.independent or risk.request.d:
        return "Use IPSO or a smaller correlation; where nothing is carried over, protect fewer columns together."
    return FURTHER
