"""Rules on tables that are to be published: one file each, a function of `TableRisk`."""

from __future__ import annotations

from collections.abc import Callable

from suffice.guards.finding import Finding
from suffice.guards.tables.audit import audit
from suffice.guards.tables.degrees_of_freedom import degrees_of_freedom
from suffice.guards.tables.directions import directions
from suffice.guards.tables.information import information
from suffice.guards.tables.least_sizes import least_sizes
from suffice.guards.tables.modulo import modulo
from suffice.guards.tables.negative_cells import negative_cells
from suffice.guards.tables.repeated_release import repeated_release
from suffice.guards.tables.seed import seed
from suffice.guards.tables.spreadsheet import spreadsheet
from suffice.guards.tables.whole_numbers import whole_numbers
from suffice.risk.tables import TableRisk

TABLE_GUARDS: dict[str, Callable[[TableRisk], Finding | None]] = {
    "audit": audit,
    "repeated-release": repeated_release,
    "modulo": modulo,
    "least-sizes": least_sizes,
    "information": information,
    "directions": directions,
    "degrees-of-freedom": degrees_of_freedom,
    "whole-numbers": whole_numbers,
    "seed": seed,
    "negative-cells": negative_cells,
    "spreadsheet": spreadsheet,
}
"""By the name that `accept` takes, in the order in which findings of one level are shown."""
