"""Zeros that stay where they are: who has nothing is told."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import listed, share
from suffice.risk.assessment import Assessment

WARN, FEWEST = 0.5, 5


def zeros(risk: Assessment) -> Finding | None:
    """Half of the exact zeros of a column stay zero, beyond chance: warn."""
    found = {name: each for name, each in risk.zeros.items() if each.of >= FEWEST and each.excess > WARN}
    if not found:
        return None
    words = [f"{name} {share(each.found, each.of)} of {each.of:,.0f}" for name, each in found.items()]
    return Finding(
        "zeros",
        "warn",
        f"Zeros stay where they are: {listed(words)}. The release tells who has none of it.",
        "If that is confidential: rotate with zeros=free, or IPSO.",
        {name: each.found / each.of for name, each in found.items()},
    )
