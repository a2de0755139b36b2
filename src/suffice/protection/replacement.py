"""Some of the records protected and judged as if they were the file, and put back among the others."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from suffice.algebra.array import Flags
from suffice.design.design import Design
from suffice.design.profile import Matrices, profiled
from suffice.protection.protected import Protected, ReleasedColumns
from suffice.protection.steps import Original
from suffice.rows.derived import RELEASED
from suffice.rows.rows import Rows


@dataclass(frozen=True, repr=False)
class Replacement:
    """The records that a method replaces, out of a file whose others leave as they are."""

    whole: Original
    chosen: Flags
    original: Original
    others: Rows
    """The records that leave as they are."""

    @classmethod
    def of(cls, whole: Original, chosen: Flags) -> Replacement:
        roles = whole.design.roles
        names = [name for name in whole.rows.kinds if name in roles.columns]
        rows, others = (whole.rows.select(kept, names, {}) for kept in (chosen, ~chosen))
        rows.coding, rows.progress = whole.rows.coding, whole.rows.progress
        design = Design.learn(rows, roles)
        matrices = Matrices(design, False)
        return cls(whole, chosen, replace(whole, rows=rows, design=design, profile=profiled(rows, matrices)), others)

    def among_others(self, done: Protected) -> Protected:
        """The whole file, with the records that were protected in their places."""
        names, whole = self.whole.design.confidential, self.whole
        before = whole.rows.gather(names)
        values = np.column_stack([np.asarray(before[name], dtype=np.float64) for name in names])
        made = done.rows.with_columns(done.released.under(RELEASED)).gather([RELEASED + name for name in names])
        values[self.chosen] = np.column_stack(list(made.values()))
        about = whole.design, whole.profile, done.stream, whole.centre, None
        return Protected(whole.rows, ReleasedColumns(names, values), done.strata, *about, done.seen)
