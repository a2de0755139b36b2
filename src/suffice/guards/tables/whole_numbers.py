"""Decimals that look like published counts."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import count
from suffice.risk.tables import TableRisk


def whole_numbers(risk: TableRisk) -> Finding | None:
    """A suppressed count that is filled with a whole number (within 1e-6): stop. It would be read as published."""
    if not risk.wholes:
        return None
    return Finding(
        "whole-numbers",
        "stop",
        f"{count(risk.wholes, 'suppressed count')} filled with a whole number: it would be read as published.",
        "Use a larger spread, or another key.",
        {"cells": risk.wholes},
    )
