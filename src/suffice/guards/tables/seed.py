"""A key that can be guessed, for a table."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.seed import guessed
from suffice.risk.tables import TableRisk


def seed(risk: TableRisk) -> Finding | None:
    """A key for tests: stop. Its numbers are anybody's."""
    return guessed(risk.seed)
