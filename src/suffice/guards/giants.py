"""The largest records, found whole somewhere in the release."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import count
from suffice.risk.assessment import Assessment

WARN, STOP = 0.2, 0.5
FEWEST = 2
"""One may be found by chance."""


def giants(risk: Assessment) -> Finding | None:
    """Of the ten records farthest out, those that some released record is near in every column: half stops."""
    found, of = risk.giants.handed_on, risk.giants.few
    if found < FEWEST or found < WARN * of:
        return None
    return Finding(
        "giants",
        "stop" if found >= STOP * of else "warn",
        f"{found} of the {count(of, 'record')} that lie farthest out are found in the release, within 10 % in every "
        "column, if in other rows: whoever knows that a giant is in the file reads off its values.",
        "Ask for more sweeps, begin with IPSO (ipso then rotate), or protect the giants apart.",
        {"giants": of, "handed on": found},
    )
