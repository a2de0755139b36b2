"""The given columns themselves, and the weights: released as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import ClassVar

from suffice.statistics.standing import WHOLE_FILE, Standing
from suffice.statistics.statistic import Claim, Promise, Statistic
from suffice.statistics.sums import Reference, Sums


@dataclass(frozen=True)
class GivenRecords(Statistic):
    """The same records, bit for bit, in any order."""

    name: ClassVar = "given"
    words: ClassVar = "given columns and weights"

    def sums(self, beside: Sequence[Promise]) -> Sums:
        return WHOLE_FILE

    def claim(self, promise: Promise, before: Standing, after: Standing, reference: Reference) -> Claim:
        error = 0.0 if before.given == after.given else inf
        weight = reference.design.roles.weight
        said = "given columns, record by record" if weight is None else f"given columns and {weight}, record by record"
        return Claim(self.name, said, error, error, "the given columns")
