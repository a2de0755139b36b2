"""Tables of the same data that were published before."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import count
from suffice.risk.tables import TableRisk


def repeated_release(risk: TableRisk) -> Finding | None:
    """Cells that an earlier release published are suppressed now, and the audit fails with them: stop.

    Without a ledger nobody knows of earlier ones: a note. The same cells once more, or more gaps than before that hold
    with all that is out, are harmless: decimals of two keys average to fits that follow from published cells. Cells
    that a method changed are not: any second release of these stops. Where each has cells that the other has not, no
    audit has seen what both tell: warn.
    """
    if not risk.ledger:
        return Finding(
            "repeated-release",
            "note",
            "No key file, hence no ledger: whether these cells were published before cannot be judged.",
            "Use one key file for all releases of a file (suffice key new FILE).",
        )
    others = [each for each in risk.earlier if not (risk.method.audited and each.audited)]
    if others:
        return Finding(
            "repeated-release",
            "stop",
            f"{count(len(others), 'earlier release')} of the same cells: two sets of changes, or changed cells beside "
            "true ones, tell what neither tells alone.",
            "Publish the first release again.",
            {"releases": len(others)},
        )
    failed = [each for each in risk.earlier if not each.holds]
    crossed = sum(each.crossed for each in risk.earlier)
    if not failed and crossed:
        return Finding(
            "repeated-release",
            "warn",
            f"{count(crossed, 'earlier release')} of the same data with other cells, some suppressed: what they "
            "tell together was not audited.",
            "Audit them as one: Table.linked([...]).",
            {"releases": crossed},
        )
    if not failed:
        return None
    opened = max(each.opened for each in failed)
    return Finding(
        "repeated-release",
        "stop",
        f"{count(len(failed), 'earlier release')} published cells that are suppressed now ({opened:,}): together with "
        "this one the audit does not hold.",
        "Suppress the cells that were suppressed before, and no others; or audit both as linked tables.",
        {"releases": len(failed), "opened": opened},
    )
