"""The original mixed with a data set that came from outside."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.risk.assessment import Assessment


def companion(risk: Assessment) -> Finding | None:
    """A data set that was given, and original records mixed into it: stop, unless somebody says that nobody has it.

    Y = (Y* - (1 - alpha) Ys) / alpha: the file is a key, and nothing here can tell who else has it.
    """
    if not risk.request.mixed:
        return None
    return Finding(
        "companion",
        "stop",
        "Records are mixed with a data set that was not made here: whoever has it too subtracts it, and holds every "
        "original value.",
        "Let a method make the synthetic records with your key: ipso then blend. If nobody else has the file, or "
        "ever will, accept the rule and say so.",
    )
