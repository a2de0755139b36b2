"""Two files compared: every promise a claim, the sums of each file added up once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from suffice.algebra.array import Array
from suffice.design.design import Design
from suffice.design.limits import Limits
from suffice.rows.rows import Rows
from suffice.statistics.promise import Promise
from suffice.statistics.standing import WHOLE_FILE, Pair
from suffice.statistics.statistic import Claim
from suffice.statistics.sums import Sums, looked


@dataclass(frozen=True, repr=False)
class Reference:
    """The original, with which rows that leave are compared; what was added up of it is kept."""

    rows: Rows
    design: Design
    outgoing: Design
    """The design of the rows that leave: drawn ones have no weight."""
    centre: Array
    """Of the columns [X Y]."""
    size: Array
    """The largest absolute value of each of them."""
    limits: Limits | None = None
    redrawn: bool = False
    """The records that leave are new ones, so that neither their number nor what each was given can be the same."""
    known: dict[Sums, Any] = field(default_factory=dict)

    def compared(self, rows: Rows, promises: Iterable[Promise]) -> Comparison:
        """What the promises need of both files; the file as a whole is looked at in any case."""
        needed = _needed(tuple(promises))
        wanted = tuple(dict.fromkeys([WHOLE_FILE, *needed.values()]))
        new = [sums for sums in wanted if sums not in self.known]
        self.known.update(zip(new, looked(self.rows, [sums.before(self) for sums in new]), strict=True))
        found = looked(rows, [sums.after(self.known[sums], self) for sums in wanted])
        pairs = {sums: (self.known[sums], after) for sums, after in zip(wanted, found, strict=True)}
        return Comparison(self, pairs[WHOLE_FILE], {promise: pairs[sums] for promise, sums in needed.items()})


def _needed(promises: tuple[Promise, ...]) -> dict[Promise, Sums]:
    return {each: each.statistic.sums([p for p in promises if p.domain == each.domain]) for each in promises}


@dataclass(frozen=True, repr=False)
class Comparison:
    """What was added up of the original and of the rows that leave: as a whole, and for every promise."""

    reference: Reference
    whole: tuple[Any, Any]
    found: Mapping[Promise, tuple[Any, Any]]

    @cached_property
    def pair(self) -> Pair:
        return Pair.of(*self.whole, self.reference)

    def claim(self, promise: Promise) -> Claim | None:
        """How exactly a promise is kept; None where there is nothing to keep."""
        claim = promise.statistic.claim(promise, *self.found[promise], self.reference)
        return None if claim is None else replace(claim, promised=promise.exact)
