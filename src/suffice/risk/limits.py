"""Released records that leave a bound or an edit."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from suffice.design.limits import Limits
from suffice.protection.aligned import AlignedBlock


@dataclass(frozen=True, repr=False)
class LimitMeasure:
    """Counts, limit by limit."""

    limits: Limits

    def of(self, aligned: AlignedBlock) -> Counter[str]:
        rhs = self.limits.rhs_of(aligned.block) if self.limits.edits else np.empty((len(aligned.Ystar), 0))
        found = self.limits.violations(aligned.Ystar, rhs, aligned.hole)
        return Counter({name: count for name, count in found.items() if count})
