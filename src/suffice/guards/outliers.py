"""The cells that everybody knows, released near their value."""

from __future__ import annotations

from suffice.facts import Facts
from suffice.guard import Finding
from suffice.guards.wording import count, share

STOP, WARN = 0.10, 0.02


def outliers(facts: Facts) -> Finding | None:
    """Of the cells over 5 sd out, the share released within 10 % of their value: > 10 % stop, > 2 % warn.

    One such cell counts in full, however few there are. It is not chance - a fresh residual lands that near
    to one 5 sd out with probability 3e-6 - but the fit or a high correlation; and where a file has one giant,
    it is the giant.
    """
    near = facts.outlying_near / facts.outlying if facts.outlying else 0.0
    if not near > WARN:
        return None
    return Finding(
        "outliers",
        "stop" if near > STOP else "warn",
        f"{facts.outlying_near:,} of {count(facts.outlying, 'cell')} more than 5 standard deviations out "
        f"({share(near)}) released within 10 % of their value.",
        "Protect the logarithm of a skewed column or the largest records apart; ask for less correlation.",
        {"outlying": facts.outlying, "near": facts.outlying_near, "share": near},
    )
