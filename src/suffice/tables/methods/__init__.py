"""Methods that publish a table: one file each."""

from __future__ import annotations

from suffice.tables.methods.adjust import Adjust
from suffice.tables.methods.fill import Fill
from suffice.tables.methods.suppress import Suppress
from suffice.tables.publication import TableMethod

TABLE_METHODS: dict[str, type[TableMethod]] = {"suppress": Suppress, "decimals": Fill, "adjust": Adjust}
"""By the names that plans and commands use."""
