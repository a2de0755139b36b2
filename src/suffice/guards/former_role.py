"""A column that was confidential and leaves as it is now, or the other way round."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import listed
from suffice.risk.assessment import Assessment


def former_role(risk: Assessment) -> Finding | None:
    """Once confidential, always: a column that leaves now and was protected in an earlier release stops.

    Beside the release that protected it it gives every record; so does a column that tells it - a logarithm, another
    unit, other labels, its parts - or a sum of several. Where a column that is confidential now has left
    before, nothing new is lost, but nothing is protected either: warn.
    """
    history = risk.history
    if history.revealed:
        return Finding(
            "former-role",
            "stop",
            f"{listed(history.revealed)} would leave unchanged and was confidential in an earlier release, or tells "
            "what was.",
            "Make it confidential again, or leave it out.",
            {"columns": len(history.revealed)},
        )
    if history.public:
        return Finding(
            "former-role",
            "warn",
            f"{listed(history.public)} is confidential and has left unchanged in an earlier release: "
            "whoever has that one knows it.",
            "Withdraw the earlier release, or call the column given.",
            {"columns": len(history.public)},
        )
    return None
