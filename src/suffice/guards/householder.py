"""A release that differs from the original in one direction: a reflection, whatever method made it."""

from __future__ import annotations

from math import sqrt

from suffice.guards.finding import Finding
from suffice.guards.wording import count, listed
from suffice.risk.assessment import Assessment

LEAST = 0.3
"""Root mean square change of a column, in residual standard deviations."""
SLACK = 1e-9
"""A change of .3 that was asked for is not stopped by its last digit."""


def householder(risk: Assessment) -> Finding | None:
    """A column of whole numbers, a column that changes by less than .3, or an earlier release: stop.

    y* = y - lambda eps. Whole numbers less a small change are rounded, which gives eps; two differences of three
    releases have one direction in common, which is eps; and eps gives every column. A release without a residual of the
    original, as of IPSO, does not count as an earlier one.
    """
    if not risk.direction.reflected or risk.request.independent:
        return None
    change = min((sqrt(max(0.0, 2 * (1 - c))) for c in risk.direction.correlations), default=LEAST)
    earlier = sum(reach > 0 for reach in risk.history.earlier)
    whole = risk.direction.whole_numbers
    reasons = [f"{listed(whole)}: whole numbers, which rounding may bring back"] * bool(whole)
    reasons += [f"a column moves by {change:.3f} of a residual standard deviation"] * (change < LEAST - SLACK)
    reasons += [f"{count(earlier, 'earlier release')} of these columns: differences show the direction"] * bool(earlier)
    if not reasons:
        return None
    return Finding(
        "householder",
        "stop",
        f"All records move along one direction, and whoever finds it undoes the release. {'; '.join(reasons)}.",
        "Use IPSO; or ask for a change of 0.3 and more, of columns that are not whole numbers, once.",
        {"change": change, "whole numbers": len(whole), "earlier": earlier},
    )
