"""A few records that are others than in an earlier release: the difference is theirs."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.leverage import STOP, WARN, level_of
from suffice.guards.wording import count
from suffice.risk.assessment import Assessment


def changed_records(risk: Assessment) -> Finding | None:
    """Equations of this release over the records that have changed: the mean leverage of these in the difference.

    From .5 on stop, above .2 warn, as the leverage rule. A record that was left out, or has moved to another cell of a
    given column, is the difference of two totals; a corrected value shows by how much. That it is one record, or two,
    is seen of every total of the file, of a group and of a cell, and of sums of up to five releases; so is that it is
    three or four: warn.
    """
    changed = risk.history.changed
    if risk.history.singled:
        return _singled(risk.history.singled)
    if not changed or level_of(risk.freedom.rank / changed) is None:
        return _singled(risk.history.several, few=False) if risk.history.several else None
    enough = int(risk.freedom.rank / WARN) + 1
    return Finding(
        "changed-records",
        "stop" if risk.freedom.rank >= STOP * changed else "warn",
        f"Few records, {changed:,} or somewhat more, were left out, added or corrected since an earlier release of "
        f"these columns: {count(risk.freedom.rank, 'kept total')} less those of before are sums over these alone.",
        f"Protect the records as they were, or wait until about {enough:,} have changed.",
        {"records": changed, "equations": risk.freedom.rank},
    )


def _singled(totals: int, few: bool = True) -> Finding:
    return Finding(
        "changed-records",
        "stop" if few else "warn",
        f"{count(totals, 'kept total')} - of the file, of a group or of a cell - less those of earlier releases "
        f"{'is' if totals == 1 else 'are'} of {'one record or two' if few else 'three records or four'}.",
        f"Protect the records as they were; or parts, groups and cells that differ by {'three' if few else 'five'} "
        "records or more.",
        {"totals": totals},
    )
