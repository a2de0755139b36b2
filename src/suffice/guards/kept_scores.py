"""Scores that a method leaves as they are: each is an exact equation about every record."""

from __future__ import annotations

from suffice.facts import Facts
from suffice.guard import Finding
from suffice.guards.wording import count, share

ALTERED = 0.5


def kept_scores(facts: Facts) -> Finding | None:
    """Scores with |d| = 1: all, or less than half of the residual variance altered: stop; one or more: warn.

    Whoever learns the loadings has one exact equation for each kept score and record, and links through them
    records that are far apart by distance.
    """
    if facts.kept_scores == 0:
        return None
    stop = facts.kept_scores >= facts.scores or facts.altered_share < ALTERED
    return Finding(
        "kept-scores",
        "stop" if stop else "warn",
        f"{facts.kept_scores} of {count(facts.scores, 'score')} kept: "
        f"{count(facts.kept_scores, 'exact equation')} about the residuals of every record; "
        f"{share(facts.altered_share)} of the residual variance is altered.",
        "Keep fewer scores, or give them a correlation of .7 or less.",
        {"kept": facts.kept_scores, "scores": facts.scores, "altered": facts.altered_share},
    )
