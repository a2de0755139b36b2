"""Records that a release tells apart from those that were never in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.guards.finding import Finding
from suffice.guards.wording import beyond, share

if TYPE_CHECKING:
    from suffice.risk.assessment import Assessment

TOLD, NOTICEABLE = 0.03, 4.0
"""Share of the members that is too much where 1 % of others are taken for some; standard deviations beyond chance."""
STOP, WARN, SURE = 0.6, 0.55, 2.0
"""Share of pairs, a member and another, in which the first lies nearer; standard errors that chance may have added."""


def membership(risk: Assessment) -> Finding | None:
    """By trials with a hold-out, beyond chance: a member is nearer to the draws than another in .6 of pairs: stop; .55,
    or more than 3 % of the members told at 1 % false alarms: warn."""
    models, seen = risk.models, risk.held_out
    auc = seen.auc - SURE * seen.error
    if auc > WARN:
        return Finding(
            "membership",
            "stop" if auc > STOP else "warn",
            "Of a record that the draws were learnt from and one that was held out, the first is told by the nearest "
            f"draw in {beyond(seen.auc, STOP)} of all pairs.",
            "Ask for a larger h (bootstrap), fewer records, as a quarter (latin-hypercube) or tables of fewer columns "
            "(loglinear), or for draws that learn less of records: distort, resize, ipso.",
            {"auc": round(seen.auc, 3), "error": round(seen.error, 4)},
        )
    if models.found <= max(TOLD, 0.01 + NOTICEABLE * models.sd):
        return None
    return Finding(
        "membership",
        "warn",
        f"{share(models.found)} of the records that trial files were drawn from are told to be behind them where 1 % "
        "of others are.",
        "Ask for larger leaves (models = cart:least=20), or for fewer columns or files.",
        {"found": round(models.found, 3)},
    )
