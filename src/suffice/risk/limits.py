"""Released records that leave a bound or an edit."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from suffice.design.limits import Limits
from suffice.protection.aligned import AlignedBlock


@dataclass(frozen=True, repr=False)
class LimitMeasure:
    """Counts, limit by limit."""

    limits: Limits

    def of(self, aligned: AlignedBlock) -> Counter[str]:
        found = self.limits.violations(aligned.Ystar, self.limits.rhs_of(aligned.block), aligned.hole)
        return Counter({name: count for name, count in found.items() if count})
