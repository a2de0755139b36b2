"""Scores that a method leaves as they are: each is an exact equation about every record."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import count, share
from suffice.risk.assessment import Assessment

ALTERED = 0.5


def kept_scores(risk: Assessment) -> Finding | None:
    """Scores with |d| = 1: all, or less than half of the residual variance altered: stop; one or more: warn.

    Whoever learns the loadings has one exact equation for each kept score and record, and links through them
    records that are far apart by distance.
    """
    number = kept(risk)
    if number == 0:
        return None
    alike = risk.resemblance
    stop = number >= alike.scores or alike.altered_share < ALTERED
    return Finding(
        "kept-scores",
        "stop" if stop else "warn",
        f"{number} of {count(alike.scores, 'score')} kept: "
        f"{count(number, 'exact equation')} about the residuals of every record; "
        f"{share(alike.altered_share)} of the residual variance is altered.",
        "Keep fewer scores, or give them a correlation of .7 or less.",
        {"kept": number, "scores": alike.scores, "altered": alike.altered_share},
    )


def kept(risk: Assessment) -> int:
    """Scores kept by intent: asked for, or found beyond those that any two sets of residuals share.

    Two subspaces of r dimensions have 2 r - nu of them in common in a space of nu, whatever the method: such
    scores belong to combinations that only the holder of the original can name.
    """
    if risk.request.independent:
        return 0
    asked = sum(d == 1 for d in risk.request.d_told)
    alike = risk.resemblance
    return max(asked, alike.kept_scores if alike.kept_scores > 2 * alike.scores - risk.freedom.nu else 0)
