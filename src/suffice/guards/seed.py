"""A key that can be guessed."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.risk.assessment import Assessment


def seed(risk: Assessment) -> Finding | None:
    """A key for tests: stop. Whoever has the key inverts every method but IPSO to the last digits."""
    return guessed(risk.request.seed)


def guessed(source: str) -> Finding | None:
    """The finding, by where the key comes from."""
    if source != "tests":
        return None
    return Finding(
        "seed",
        "stop",
        "The key is for tests, anyone can guess it: NOT FOR RELEASE.",
        "Leave the key out, or make one with: suffice key new FILE.",
        {"source": source},
    )
