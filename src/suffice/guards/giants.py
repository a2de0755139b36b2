"""The largest values of a column, found somewhere in the release."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import beyond, listed, share
from suffice.risk.assessment import Assessment
from suffice.risk.closeness import GIANTS as STOP

SEVERAL = 3
"""Trial releases in which one giant alone is no more found by chance."""
HANDED = 0.5
"""Of draws that a lone giant's value is found in: one drawn with replacement is there in 63 %."""


def giants(risk: Assessment) -> Finding | None:
    """Of the ten farthest cells of a column, those that some released value is near, beyond chance: > 2/3 stop.

    Where every value is to leave, if for another record (a kept distribution), that is what was asked for: warn. One
    record that has nearly all of the variance stops such a release, too (dominance). New records hand nothing on, but
    where they keep variance and shape, the size of one that is far beyond all others shows: stop.
    """
    if risk.cells.shown and "covariance" in risk.request.promises:
        return Finding(
            "giants",
            "stop",
            f"One record lies far beyond all others in {listed(risk.cells.shown)}: the variance and the shape, which "
            "are both kept, show its size, mostly within 5 %: whoever knows who it is reads it off.",
            "Use IPSO, which keeps the variance alone; release its logarithm; or leave that record out.",
            {"columns": ", ".join(risk.cells.shown)},
        )
    drawn = {name: share for name, share in risk.held_out.giants.items() if share > HANDED}
    if drawn:
        most = max(drawn.values())
        return Finding(
            "giants",
            "stop",
            f"In {listed(drawn)} one record lies far beyond all others, and {beyond(most, HANDED)} of trial draws have "
            "a value within 5 % of its distance: whoever knows that it is there reads it off.",
            "Ask for a larger h (bootstrap: h=1), use latin-hypercube, which draws between the two largest values, or "
            "resize; or leave the giants out.",
            {"columns": len(drawn), "handed on": round(most, 3)},
        )
    found = {
        name: each
        for name, each in risk.closeness.giants.items()
        if each.of > risk.closeness.releases * (risk.closeness.releases < SEVERAL)
        and each.excess > STOP
        and name not in risk.rare.columns
    }
    if not found:
        return None
    worst = max(found.values(), key=lambda each: each.excess)
    if "distribution" in risk.request.promises:
        return Finding(
            "giants",
            "warn",
            f"Every original value leaves, if for another record, and so do those that lie farthest out in "
            f"{listed(found)}: whoever knows who is the largest reads its value off.",
            "Use IPSO, or behind a method of numbers restore and then rotate, which give new values; or leave the "
            "giants out.",
            {"columns": len(found), "handed on": worst.found / worst.of, "chance": worst.chance / worst.of},
        )
    return Finding(
        "giants",
        "stop",
        f"The values that lie farthest out in {listed(found)} are found in the release within 5 %, if in other rows: "
        f"{share(worst.found, worst.of)} of them, where values half as far again or less are found in "
        f"{share(worst.chance, worst.of)}. Whoever knows that a giant is in the file reads them off.",
        _remedy(risk),
        {"columns": len(found), "handed on": worst.found / worst.of, "chance": worst.chance / worst.of},
    )


def _remedy(risk: Assessment) -> str:
    if risk.request.shared or any("cluster" in kept.name for kept in risk.groups):
        return "Make larger groups, or use IPSO; or leave the giants out."
    if risk.request.d:
        return "Ask for less correlation with the original, or use IPSO; or leave the giants out."
    return (
        "Use rotate alone without a number of sweeps, which begins with records drawn anew; begin with IPSO (ipso then "
        "rotate), or ask for less correlation with the original; where none comes inside the limits, loosen them or "
        "leave the giants out."
    )
