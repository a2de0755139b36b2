"""How near a release is to the records it was made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

from suffice.risk.distance_linkage import linkage
from suffice.risk.giants import giants
from suffice.risk.matches import Matches
from suffice.risk.nearness import Nearness, nearness
from suffice.risk.outliers import outliers
from suffice.risk.ranks import RankMatches, rank_matches
from suffice.risk.sample import RecordSample

ALONE = 30
"""A column with so many far cells is judged by itself; the others are judged together."""
OUTLIERS, GIANTS, NEARNESS, LINKAGE, RANKS = 0.2, 2 / 3, 0.7, 1 / 3, 0.05
"""Excesses that stop a release; the last: of what keeps ranks, records found by their ranks."""
OWN = 0.5
"""Nearness that stops where no other record shares a released value."""


@dataclass(frozen=True)
class Closeness:
    """Counts of what is found near, each beside what chance finds."""

    outliers: Mapping[str, Matches] = field(default_factory=dict)
    """Far cells released near their own value, by column."""
    giants: Mapping[str, Matches] = field(default_factory=dict)
    """The farthest cells of each column, found in the release."""
    nearness: Nearness = field(default_factory=dict)
    """Records released near their own value, by column, kind and part."""
    linkage: Matches = field(default_factory=Matches)
    """Records whose own released record is the nearest."""
    ranks: RankMatches = field(default_factory=RankMatches)
    """Records found by their ranks, where a method keeps these."""
    releases: int = 1
    """In how many releases was counted."""

    def __add__(self, other: Self) -> Closeness:
        return Closeness(
            _added(self.outliers, other.outliers),
            _added(self.giants, other.giants),
            _added(self.nearness, other.nearness),
            self.linkage + other.linkage,
            self.ranks + other.ranks,
            self.releases + other.releases,
        )

    def sets(self) -> list[tuple[tuple[str, ...], Matches]]:
        """Far cells that are judged together: those of every column with many, and of all columns with few."""
        few = {name: matches for name, matches in self.outliers.items() if matches.of < ALONE * self.releases}
        together: list[tuple[tuple[str, ...], Matches]] = [(tuple(few), sum(few.values(), Matches()))] if few else []
        return [*together, *(((name,), matches) for name, matches in self.outliers.items() if name not in few)]

    @property
    def doubtful(self) -> bool:
        """Whether another key might be judged otherwise."""
        judged = [(matches, OUTLIERS) for _, matches in self.sets()]
        judged += [(matches, GIANTS) for matches in self.giants.values()]
        judged += [(matches, rule) for matches in self.nearness.values() for rule in (NEARNESS, OWN)]
        few = any(matches.doubtful(RANKS, luck=True) for matches in (self.ranks.linked, self.ranks.alone))
        return few or any(matches.doubtful(threshold) for matches, threshold in judged)


Key = TypeVar("Key")
Seen = Mapping[str, Any]


def _added(ours: Mapping[Key, Matches], theirs: Mapping[Key, Matches]) -> dict[Key, Matches]:
    return {key: ours.get(key, Matches()) + theirs.get(key, Matches()) for key in {**ours, **theirs}}


def closeness(
    seen: Seen, sample: RecordSample, names: tuple[str, ...], handed: bool, ranks: bool, dates: tuple[str, ...] = ()
) -> Closeness:
    """Of what was seen of a release; `handed`: values may be handed on, `ranks`: they are kept near their ranks."""
    return Closeness(
        outliers(seen["far"], names),
        giants(seen["far"], names) if handed else {},
        nearness(sample, dates),
        linkage(sample),
        rank_matches(sample) if ranks else RankMatches(),
    )
