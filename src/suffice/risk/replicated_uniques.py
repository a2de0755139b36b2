"""Uniques that a release repeats: alone with their categories in both files (Raab, Nowok & Dibben 2024)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.measure.measure import SHARE, Measure
from suffice.risk.keys import Levels, combined


@dataclass(frozen=True)
class ReplicatedUniques:
    """Records alone in the original, in the release, released uniques that are in the original, and alone in both."""

    original: int
    released: int
    present: int
    replicated: int
    records: int

    @property
    def share(self) -> float:
        """Replicated uniques among the released records."""
        return self.replicated / max(1, self.records)


def replicated_uniques(key: Levels, released: Levels) -> ReplicatedUniques:
    """key, released: the records' combinations of values in either file, by number.

    >>> replicated_uniques(np.array([0, 1, 2, 2]), np.array([0, 2, 3, 3]))
    ReplicatedUniques(original=2, released=2, present=2, replicated=1, records=4)
    """
    size = int(max(key.max(initial=0), released.max(initial=0))) + 1
    before, after = np.bincount(key, minlength=size), np.bincount(released, minlength=size)
    one, alone = before == 1, after == 1
    return ReplicatedUniques(
        int(one.sum()), int(alone.sum()), int((alone & (before > 0)).sum()), int((one & alone).sum()), len(released)
    )


MEASURES = (
    Measure(
        "replicated-uniques",
        lambda pair: replicated_uniques(*combined(pair)).share,
        frozenset({"categories"}),
        SHARE,
        "higher is riskier",
        "share of released records that are alone with their known categories in the release and in the original",
        "Raab, Nowok & Dibben (2024)",
        whole=True,
    ),
)
