"""Decimals that know the suppressed counts."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.risk.tables import TableRisk
from suffice.tables.decimals import told_by_modulo


def modulo(risk: TableRisk) -> Finding | None:
    """Fits after a modulo operation: stop. Of 25 tables that fit the paper's example, two are left by modulo 4."""
    if risk.rounded is None:
        return None
    true, chance, cells = risk.rounded
    told = told_by_modulo(*risk.rounded)
    said = f"{told[0].upper()}{told[1:]}"
    numbers = {"true": true, "chance": chance, "cells": cells}
    return Finding("modulo", "stop", said, "Leave the modulo out.", numbers)
