"""Two files compared: every promise a claim, the sums of each file added up once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from suffice.rows.rows import Rows
from suffice.statistics.negatives import NEGATIVES
from suffice.statistics.standing import WHOLE_FILE, Pair
from suffice.statistics.statistic import Claim, Promise
from suffice.statistics.sums import Reference, looked


def compared(reference: Reference, rows: Rows, promises: Iterable[Promise]) -> SumsOfBoth:
    """What the promises need of both files; the file as a whole is looked at in any case."""
    every, known = tuple(promises), reference.known
    needed = {each: each.statistic.sums([p for p in every if p.domain == each.domain]) for each in every}
    wanted = tuple(dict.fromkeys([WHOLE_FILE, NEGATIVES, *needed.values()]))
    new = [sums for sums in wanted if sums not in known]
    known.update(zip(new, looked(reference.rows, [sums.before(reference) for sums in new]), strict=True))
    found = looked(rows, [sums.after(known[sums], reference) for sums in wanted])
    pairs = {sums: (known[sums], after) for sums, after in zip(wanted, found, strict=True)}
    by_promise = {promise: pairs[sums] for promise, sums in needed.items()}
    negative = dict(zip(reference.design.confidential, pairs[NEGATIVES][1].tolist(), strict=True))
    return SumsOfBoth(reference, rows.n, pairs[WHOLE_FILE], by_promise, negative)


@dataclass(frozen=True, repr=False)
class SumsOfBoth:
    """What was added up of the original and of the rows that leave: as a whole, and for every promise."""

    reference: Reference
    records: int
    """Of the released file; those of weight zero are in no sum."""
    whole: tuple[Any, Any]
    found: Mapping[Promise, tuple[Any, Any]]
    negative: Mapping[str, int]
    """How many released cells of each confidential column are below zero."""

    @cached_property
    def pair(self) -> Pair:
        return Pair.of(*self.whole, self.reference)

    def claim(self, promise: Promise) -> Claim | None:
        """How exactly a promise is kept; None where there is nothing to keep."""
        statistic = promise.statistic
        claim = statistic.claim(promise, *self.found[promise], self.reference)
        if claim is None:
            return None
        said = self.reference.weighing if statistic.weighted else ""
        return replace(claim, promised=promise.exact, sentence=claim.sentence + said)
