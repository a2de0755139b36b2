"""How far a release follows its original: one verdict for a request, whatever the key."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import reduce
from math import sqrt
from operator import add
from statistics import fmean

import numpy as np

from suffice.errors import InfeasibleError
from suffice.progress import Progress
from suffice.risk.closeness import Closeness
from suffice.risk.resemblance import Resemblance
from suffice.risk.sample import MOST
from suffice.risk.signs import SignCounts

TRIALS, RECORDS, STRATUM = 4, 50_000, 50
"""Trial releases, and the records of all: a large file has one. With two, chance finds 18 of 20 giants. A group costs
as much as so many records, and draws numbers of its own, so that one release of many groups is many trials."""
SHORT = 10_000
"""Records of a file that is walked over again for signs alone; of a larger one each release has its own."""
ALIKE, LIKE, SURE = 0.9, 0.7, 0.98
"""A correlation that stops, one that is warned of, and one that is no luck."""
KEPT = 0.5
"""A correlation, and a share of the trials, with which an end may stay one record's own."""


@dataclass(frozen=True)
class TrialSight:
    """What one release, or several together, have of the original's records.

    copies: records with their own values, which no other has; by_chance: as many if rows were dealt to any records
    unmoved: records that a walk has never moved
    """

    closeness: Closeness = field(default_factory=Closeness)
    resemblance: Resemblance = field(default_factory=Resemblance)
    copies: int = 0
    by_chance: float = 0.0
    unmoved: int = 0
    ends: tuple[float, ...] = ()
    """Of each column that is carried over: in which share of the releases an end stays one record's own."""
    signs: SignCounts | None = None
    carried: bool = True
    """Whether achieved correlations are judged: not where none is carried over, one was asked for, or groups share."""
    walked: bool = False
    """By a walk: for a warning about signs one trial is enough, which is the same for all keys."""

    def doubtful(self, n: int, further: bool = False) -> bool:
        """Whether another key might be judged otherwise; n: records, further: after a trial."""
        alike = self._alike(min(0.2, 20 / sqrt(n))) or self._at_the_ends() or self.closeness.doubtful
        return alike or (self.signs is not None and not (further and self.walked) and self.signs.doubtful(n))

    def _alike(self, margin: float) -> bool:
        alike = self.resemblance
        found = [*map(abs, alike.correlations if self.carried else ())]
        found += [alike.canonical] if alike.canonical > alike.null else []
        low = found if self.carried else []
        return any(abs(each - ALIKE) < margin and each < SURE for each in found) or any(
            abs(each - LIKE) < margin / 2 for each in low
        )

    def _at_the_ends(self) -> bool:
        """Whether about half of the columns keep an end: of few columns another key may have others."""
        most, k = max(map(abs, self.resemblance.correlations), default=0.0), len(self.ends)
        return KEPT < most < SURE and abs(sum(self.ends) - k / 2) < 1.3 * sqrt(k)

    def same(self, other: TrialSight) -> bool:
        """Whether nothing was drawn."""
        alike = other.resemblance
        mine = replace(self.resemblance, null=alike.null, ranked=alike.ranked)  # for which rows are permuted, sampled
        return replace(self, resemblance=mine) == other


def settled(
    first: TrialSight,
    again: Callable[[int], TrialSight],
    most: int,
    n: int,
    strata: int = 1,
    progress: Progress | None = None,
) -> TrialSight:
    """The release's own, or where that is doubtful that of trial releases, whose numbers do not follow from the key.

    Copies and records that never moved are the release's own: whoever verifies it counts them there.
    """
    if not first.doubtful(n):
        return first
    made: list[TrialSight] = []
    for number in range(trials := max(1, min(most, RECORDS // (n + STRATUM * (strata - 1))))):
        if progress is not None:
            progress("trial releases", number, trials)
        with suppress(InfeasibleError):  # a walk or a rounding may fail with some numbers
            made.append(again(number))
        if len(made) == 1 and made[0].same(first):
            return first
        if made and not _together(made).doubtful(n, further=True):
            break
    found = _together(made) if made else first
    found = replace(found, copies=first.copies, by_chance=first.by_chance, unmoved=first.unmoved)
    if n <= MOST:
        return found
    own = first.closeness
    return replace(found, closeness=replace(found.closeness, linkage=own.linkage, ranks=own.ranks))


def _together(made: list[TrialSight]) -> TrialSight:
    """Counts of what is near are added, the others are means."""
    every = [each.resemblance for each in made]
    alike = replace(
        every[0],
        canonical=fmean(each.canonical for each in every),
        null=fmean(each.null for each in every),
        correlations=tuple(np.abs([each.correlations for each in every]).mean(axis=0).tolist()),
        ranked=tuple(np.abs([each.ranked for each in every]).mean(axis=0).tolist()),
    )
    signs = [each.signs for each in made if each.signs is not None]
    k = max(len(each.ends) for each in made)  # records that are drawn anew keep no end, and other trials may
    return replace(
        made[0],
        closeness=reduce(add, (each.closeness for each in made)),
        resemblance=alike,
        ends=tuple(np.mean([each.ends or (0.0,) * k for each in made], axis=0).tolist()),
        signs=SignCounts.mean(signs) if signs else None,
        carried=any(each.carried for each in made),
    )
