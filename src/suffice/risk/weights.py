"""Records that count nowhere, and how many records the weights leave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from suffice.design.profile import Profile


@dataclass(frozen=True)
class WeightSummary:
    """Records of weight zero, and Kish's effective number of records, (sum w)^2 / sum w^2; None without weights."""

    unweighted: int = 0
    effective: float | None = None

    @classmethod
    def of(cls, profile: Profile) -> Self:
        return cls(profile.unweighted, profile.effective)

    def records(self, n: int) -> int:
        """As many as n records are worth."""
        return n if self.effective is None else int(self.effective)
