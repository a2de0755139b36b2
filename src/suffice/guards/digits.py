"""Cells that leave unchanged, told from the others by their decimals."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import listed, share
from suffice.risk.assessment import Assessment


def digits(risk: Assessment) -> Finding | None:
    """Columns of few decimals in which cells leave as they are and others do not: warn."""
    if not risk.digits:
        return None
    same, of = max(risk.digits.values(), key=lambda each: each[0] / each[1])
    return Finding(
        "digits",
        "warn",
        f"Cells of {listed(risk.digits)} leave unchanged, {share(same, of)} at most, and the others have more "
        "decimals: whoever looks at the digits knows which values are genuine.",
        "Protect all records (more sweeps, looser limits), or call the column whole (integer=) where it is.",
        {"columns": len(risk.digits), "unchanged": same, "cells": of},
    )
