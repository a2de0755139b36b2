"""suppress(): the pattern of a table, the sensitive cells and whatever else keeps them from being told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from suffice.algebra.array import Array, Flags
from suffice.errors import InfeasibleError, InputError, UsageError, count_of
from suffice.progress import Progress
from suffice.rows.threads import one_blas_thread
from suffice.seed import Seed, Stream
from suffice.tables.adjust.request import stream_of
from suffice.tables.audit import Audit
from suffice.tables.sensitivity import Sensitivity
from suffice.tables.solver import SECONDS
from suffice.tables.suppress.demand import PatternRequest
from suffice.tables.suppress.exact import ExactSearch
from suffice.tables.suppress.search import PatternSearch
from suffice.tables.table import Table

COSTS = ("logarithm", "value", "count", "records", "given")
SEARCHES = ("auto", "exact", "fast")
MOST = 400
"""Cells that may be suppressed, up to which `auto` looks for the least cost."""
WORK = 20_000.0
"""Problems of an attacker in a table of 100 cells, after which `auto` ends: about half a minute."""
LAST = 0.1
"""Of its cost: what a cell costs that was suppressed last time."""
TIES = 1e-4
"""Of the costs: what the key adds, so that one pattern is the cheapest on any machine."""


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class Suppression:
    """A pattern with its audits.

    needed: cells besides the sensitive ones without which the audit was seen to fail
    cost, bound: what the cells besides cost, and what no pattern costs less than; not a number where nobody looked
    points: possible tables, by value, which spare an audit its work
    by_clock: whether time ended an exact search: another machine may find another pattern
    untried: cells besides that may not be needed: the audits that are spent on that ended before
    """

    table: Table
    values: tuple[str, ...]
    suppressed: Flags
    primary: Flags
    needed: Flags
    audits: Mapping[str, Audit]
    cost: float
    bound: float
    points: Mapping[str, Sequence[Array]]
    by_clock: bool = False
    untried: int = 0

    @property
    def secondary(self) -> Flags:
        return self.suppressed & ~self.primary

    @property
    def proven(self) -> bool:
        """Whether no pattern is cheaper."""
        return bool(self.cost <= self.bound + 2 * TIES * max(self.cost, 1.0))

    @property
    def gap(self) -> float:
        return 0.0 if self.proven else float((self.cost - self.bound) / self.cost)

    @property
    def holds(self) -> bool:
        return all(each.holds for each in self.audits.values())

    def frame(self) -> dict[str, list[bool]]:
        """Columns for the frame of the table."""
        return {"suppressed": self.suppressed.tolist(), "secondary": self.secondary.tolist()}

    def text(self) -> str:
        """What was done, for the data holder: numbers of cells, no value."""
        more = int(self.secondary.sum())
        lines = [f"{count_of(int(self.primary.sum()), 'sensitive cell')}, {count_of(more, 'cell')} suppressed besides"]
        if self.proven:
            lines.append("no pattern that passes the audit costs less: proven")
        elif not np.isnan(self.bound):
            lines.append(f"the search ended: a pattern may cost up to {self.gap:.0%} less")
            if self.by_clock:
                lines.append("time ended it: another machine may find another pattern by this key")
        if more:
            needed = int((self.needed & self.secondary).sum())
            lines.append(f"{needed:,} of these are known to be needed: the audit fails without any one of them")
        if self.untried:
            lines.append(f"{self.untried:,} of these may not be: the audits that are spent on trying ended before them")
        return "\n".join(lines)

    def __repr__(self) -> str:
        state = "proven" if self.proven else "passes" if self.holds else "not judged in full"
        return f"Suppression({count_of(int(self.suppressed.sum()), 'cell')} of {len(self.table):,}, {state})"


@one_blas_thread()
def suppress(
    table: Table,
    sensitivity: Sensitivity | Sequence[Sensitivity],
    *,
    search: str = "auto",
    cost: str | Array = "logarithm",
    suppressed: Sequence[bool] | Flags | None = None,
    last: Sequence[bool] | Flags | None = None,
    keep_zeros: bool = False,
    beforehand: float | tuple[Array, Array] | None = None,
    gap: float = 0.0,
    seconds: float = SECONDS,
    seed: Seed | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Suppression:
    """Cells to suppress besides the sensitive ones, so that the audit passes: for one value, or for all together.

    search: exact, the least cost by cutting planes (Fischetti and Salazar-Gonzalez); fast; auto, exact for small tables
    cost: of a cell: the logarithm of its value, its value, 1 (count), its records, what is laid down (given), or
        a number for each
    suppressed: cells that are, whatever comes
    last: the pattern of an earlier table, whose cells cost a tenth
    keep_zeros: cells that are zero are published; impossible ones never are suppressed
    beforehand: as the audit takes it
    gap: share by which the cost may exceed the least one
    seconds: for an exact search; after that the fast one's pattern is taken. `auto` ends by its work before, mostly

    >>> from suffice.tables.rules import MinimumFrequency
    >>> from suffice.tables.sensitivity import find_sensitive
    >>> counts = {"a": list("xxxyyyzzz"), "b": list("uvw") * 3, "n": [1, 9, 9, 9, 8, 7, 9, 9, 6]}
    >>> table = Table.of_records(counts, ["a", "b"], frequency="n")
    >>> suppress(table, find_sensitive(table, [MinimumFrequency(3)]))
    Suppression(4 cells of 16, proven)
    """
    if search not in SEARCHES:
        raise UsageError(f"`search` is {search!r}; known are {', '.join(SEARCHES)}.")
    given = (sensitivity,) if isinstance(sensitivity, Sensitivity) else tuple(sensitivity)
    if not given:
        raise UsageError("Nothing says which cells are sensitive.\nGive rules or levels.")
    stream = stream_of(seed or Seed(), table, given, "suppress")
    primary, open_ = _cells(table, given, suppressed, keep_zeros)
    earlier = [each.last for each in given if each.last is not None] if last is None else [table.gaps(last)]
    price = _costs(table, given, cost, earlier, stream)
    request = PatternRequest(table, given, primary, open_ & ~primary, price, beforehand, threads, progress)
    quick, bound, by_clock = PatternSearch(request, stream), np.nan, False
    if search == "exact" or (search == "auto" and request.open.sum() <= MOST):
        first = quick.first(0)
        exact = ExactSearch(request, first, gap, seconds, WORK if search == "auto" else np.inf)
        found, bound = exact.run(), exact.bound
        by_clock = exact.by_clock
        if found is first:
            found = quick.best(first, exact.last)
    else:
        found = quick.run()
    paid = float(price[found.gaps & ~primary].sum())
    names = tuple(each.value for each in given)
    told = (found.gaps, primary, found.needed, found.audits, paid, bound, found.points)
    return Suppression(table, names, *told, by_clock, found.untried)


def _cells(
    table: Table, given: Sequence[Sensitivity], suppressed: Sequence[bool] | Flags | None, keep_zeros: bool
) -> tuple[Flags, Flags]:
    """Cells that are suppressed whatever comes, and those that may be."""
    for each in given:
        each.check(table)
        if np.isnan(table.values[each.value]).any():
            raise InputError(f"A pattern needs all cells of {each.value!r}, and some have no value.")
    marks = np.zeros(len(table), dtype=bool) if suppressed is None else table.gaps(suppressed)
    primary = np.any([each.sensitive for each in given], axis=0) | marks
    forced = np.any([each.forced for each in given], axis=0)
    both = primary & forced
    if both.any():
        label = table.label(int(np.flatnonzero(both)[0]))
        raise InfeasibleError(
            f"{count_of(int(both.sum()), 'cell')} must be published and is to be suppressed (the first: {label}).\n"
            "Call it safe, or do not force it."
        )
    primary = table.gaps(primary)
    zero = np.all([table.values[each.value] == 0 for each in given], axis=0)
    return primary, ~table.impossible & ~table.hidden & ~forced & ~(zero & keep_zeros)


def _costs(
    table: Table,
    given: Sequence[Sensitivity],
    cost: str | Array,
    last: Sequence[Flags],
    stream: Stream,
) -> Array:
    """Of every cell, in shares of the usual one; the key adds so little that only ties are decided by it."""
    size = np.abs(table.values[given[0].value])
    if isinstance(cost, str):
        if cost not in COSTS:
            raise UsageError(f"`cost` is {cost!r}; known are {', '.join(COSTS)}.")
        records = np.nan_to_num(table.makeup(given[0].value).records) if cost == "records" else size
        price = {"count": np.ones(len(size)), "value": size, "records": records, "given": given[0].cost}.get(
            cost, np.log1p(size)
        )
    else:
        price = np.asarray(cost, dtype=np.float64)
    if price.shape != size.shape or not (np.isfinite(price).all() and (price >= 0).all()):
        raise InputError("Costs are numbers from zero, one for each cell.")
    if last:
        price = np.where(np.any(last, axis=0), LAST * price, price)
    usual = float(np.median(price[price > 0])) if (price > 0).any() else 1.0
    price = np.maximum(price / usual, 1e-3)  # nothing is free: a cell that costs nothing would be suppressed at will
    return np.asarray(np.round(price * (1 + TIES * stream.generator("ties").random(len(price))), 9))
