"""Some of the records, with some of their cells changed: what is settled of a file before it is protected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from suffice.algebra.array import Flags
from suffice.errors import InputError
from suffice.rows.rows import Rows


@dataclass(frozen=True, repr=False)
class Selection:
    """Which records stay, which of their cells are blanked or get a label, and what is said of it."""

    kept: Flags
    note: str
    blank: Mapping[str, Flags] = field(default_factory=dict)
    labels: Mapping[str, tuple[Flags, str | int]] = field(default_factory=dict)

    def of(self, rows: Rows, names: Sequence[str]) -> Rows:
        """names: the columns that are needed"""
        if not self.kept.any():
            raise InputError(
                "No record is left: every one has a missing cell, a pattern of them that too few share, or a small "
                "group.\nUse fewer confidential columns, fewer given terms, or fewer groups."
            )
        found = rows.select(self.kept, names, self.blank, self.labels)
        found.notes, found.progress = (*rows.notes, self.note), rows.progress
        found.behind = (*rows.behind, *(name for name in rows.kinds if name not in found.kinds))
        return found
