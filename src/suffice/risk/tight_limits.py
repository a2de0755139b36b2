"""Bounds and edits that leave a value hardly any room: their middle is a guess."""

from __future__ import annotations

import numpy as np

from suffice.algebra.array import Array
from suffice.design.bounds import by_column
from suffice.risk.leaving import LeavingSample
from suffice.risk.told import Told
from suffice.rows.arrow import as_float


def by_limits(sample: LeavingSample) -> tuple[Told, ...]:
    """Columns that lie near the middle of what their bounds, and edits with given columns alone, leave them."""
    if not sample.design.roles.edits or not len(sample):
        return ()
    columns = zip(sample.design.confidential, sample.Y.T, strict=True)
    found = (Told.of(name, y, _middle(sample, name), sample.dates) for name, y in columns)
    return tuple(told for told in found if told is not None)


def _middle(sample: LeavingSample, name: str) -> Array:
    """Of the interval that every record has; not a number where it is open."""
    roles, names = sample.design.roles, {*sample.design.confidential}
    low, high = (np.full(len(sample), end) for end in (-np.inf, np.inf))
    if name in (bounds := by_column(roles.bounds)):
        low[:], high[:] = (
            end if side is None else side for side, end in zip(bounds[name], (-np.inf, np.inf), strict=True)
        )
    for edit in roles.conditions:
        parts = dict(edit.coefficients)
        if names & {*parts} == {name}:
            others = [float(c) * as_float(sample.block.columns[x]) for x, c in parts.items() if x != name]
            end = (float(edit.constant) - sum(others, np.zeros(len(sample)))) / float(parts[name])
            if parts[name] > 0 or edit.equality:
                high = np.minimum(high, end)
            if parts[name] < 0 or edit.equality:
                low = np.maximum(low, end)
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(low) & np.isfinite(high), (low + high) / 2, np.nan)
