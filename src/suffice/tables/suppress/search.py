"""A pattern that passes the audit: changes that reach all levels, repairs, and what is not needed removed."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.errors import InfeasibleError
from suffice.seed import Stream
from suffice.tables.audit import Audit
from suffice.tables.secret import Secret
from suffice.tables.suppress.demand import Demand, PatternRequest
from suffice.tables.suppress.flow import Flow
from suffice.tables.suppress.hypercubes import Hypercubes

ROUNDS = 100
"""Of audits and repairs, before a pattern is given up."""
TRIES = 2
"""Draws of directions for tables of up to FEW cells, of which the cheapest pattern is taken."""
FEW = 500
WORSE = 1.2
"""Times the cost of hypercubes: programmes that cost more after a pass are given up."""
SMALL = 2_000
PASSES = 3
"""Over all changes, each seeing which cells the others use."""
FREE = 1e-3
"""Of its cost: what a cell costs that is suppressed already: little, so that it is not used without need."""
REMOVALS = 400
"""Audits that are spent on removing cells, for up to SMALL cells and few targets; half of that for TARGETS of them."""
TARGETS = 100


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class CellPattern:
    """A pattern with its audits.

    needed: cells without which the audit fails: it was tried
    points: possible tables, by value, which the audit takes
    untried: cells without which no audit was spent
    """

    gaps: Flags
    audits: dict[str, Audit]
    needed: Flags
    points: dict[str, list[Array]] = field(default_factory=dict)
    untried: int = 0


class PatternSearch:
    """Patterns of one request, by one key."""

    def __init__(self, request: PatternRequest, stream: Stream) -> None:
        self.request, self.stream = request, stream

    def run(self) -> CellPattern:
        """The cheapest of some patterns that pass, without what is not needed."""
        tries = TRIES if len(self.request.table) <= FEW else 1
        return self._cheapest([self.removed(self.first(number)) for number in range(tries)])

    def best(self, first: CellPattern, others: Flags | None) -> CellPattern:
        """The cheaper of the pattern by programmes and of others that still lack something, where there are any."""
        found = [self.removed(first)]
        if others is not None:
            gaps = self.request.primary | (others & self.request.open)
            found.append(self.removed(self.repaired(gaps, {each.value: [] for each in self.request.given})))
        return self._cheapest(found)

    def _cheapest(self, some: Sequence[CellPattern]) -> CellPattern:
        return min(some, key=lambda each: self._cost(each.gaps))

    def first(self, number: int) -> CellPattern:
        """Directions are drawn; all levels are reached at once, then once more the other way round.

        Or the cells of hypercubes, where these cost less.
        """
        request = self.request
        rng = self.stream.generator("directions", number)
        gaps, demands = request.primary.copy(), request.demands()
        points: dict[str, list[Array]] = {each.value: [] for each in request.given}
        work = list[tuple[str, list[Demand], Flags]]()
        for given in request.given:
            some = [each for each in demands if each.value == given.value]
            up = rng.random(len(some)) < 0.5
            work += [(given.value, some, side) for side in (up, ~up) if some]
        changes = [np.zeros(len(gaps)) for _ in work]
        hypercubes = Hypercubes(request) if not number and work and Hypercubes.fit(request) else None
        cubes = None if hypercubes is None else hypercubes.pattern()
        for again in range(PASSES):  # first with any cell, then with those in use, each change for what others need not
            for number_, (value, some, side) in enumerate(work):
                self._tell("programmes", again * len(work) + number_, PASSES * len(work))
                others = np.any(
                    [gaps, request.always, *(c != 0 for k, c in enumerate(changes) if k != number_)], axis=0
                )
                usable = others | (changes[number_] != 0 if again else request.open)
                changes[number_] = self._change(value, some, side, others, usable)
            moved = np.any([change != 0 for change in changes], axis=0) & request.open if work else gaps
            if cubes is not None and self._cost(gaps | moved) > WORSE * self._cost(cubes):
                break  # no further pass would save so much
        if hypercubes is not None and cubes is not None and self._cost(cubes) < self._cost(gaps | moved):
            for value, change in hypercubes.changes.items():
                points[value].append(request.table.values[value] + change)
            return self.repaired(cubes, points)
        for (value, _, _), change in zip(work, changes, strict=True):
            gaps |= (change != 0) & request.open
            points[value].append(request.table.values[value] + change)
        return self.repaired(gaps, points)

    def _cost(self, gaps: Flags) -> float:
        return float(self.request.cost[gaps].sum())

    def _change(self, value: str, demands: Sequence[Demand], up: Flags, free: Flags, usable: Flags) -> Array:
        """The cheapest change of all, and again with the cells that it uses, each at its cost for what it carries."""
        cost = self.request.cost * np.where(free, FREE, 1.0)
        change = Flow(self.request, value, usable).all(demands, up, cost)
        used = (change != 0) & ~free
        if used.any():
            size = float(np.median(np.abs(change[used])))
            cost = np.where(free, FREE, 1.0) * self.request.cost * size / (np.abs(change) + 0.1 * size)
            change = Flow(self.request, value, free | used).all(demands, up, cost)
        return change

    def repaired(self, gaps: Flags, points: dict[str, list[Array]]) -> CellPattern:
        """More cells for whatever the audit still calls exposed, until it calls nothing so."""
        rough = True
        for _ in range(ROUNDS):
            audits = self.request.audits(gaps, points, rough=rough)
            exposed = self.request.exposed(audits)
            if not exposed:
                return CellPattern(gaps, audits, np.zeros(len(gaps), dtype=bool), points)
            before = gaps.copy()
            able = list[bool]()
            for demand, target in exposed:
                self._tell("repairing", len(able), len(exposed))
                able.append(self._repair(demand, target, gaps, points))
            if rough and (gaps == before).all():
                rough = False  # what was called exposed may be safe
                continue
            if not (rough or all(able)):
                raise self._infeasible(exposed[able.index(False)][0])
            if (gaps == before).all():
                self._more(exposed, gaps)
        raise InfeasibleError("No pattern was found that passes the audit.\nPublish a coarser table.")

    def _repair(self, demand: Demand, target: Secret, gaps: Flags, points: dict[str, list[Array]]) -> bool:
        """Whether some cells protect a target; these are suppressed."""
        request, whole = self.request, target.numbers is not None
        free = gaps | request.always
        flow = Flow(request, demand.value, free | request.open, demand)
        changes = flow.cheapest(demand, np.where(free, 0.0, request.cost), whole)
        for change in changes or ():
            gaps |= (change != 0) & request.open
            points[demand.value].append(request.table.values[demand.value] + change)
        return changes is not None

    def _more(self, exposed: Sequence[tuple[Demand, Secret]], gaps: Flags) -> None:
        """A sum stays sensitive whatever its cells do: one more cell of its equation, the cheapest."""
        request = self.request
        rows = request.table.relations.tocsc()
        for demand, _ in exposed:
            cells = [cell for cell, _ in demand.cells]
            lines = np.unique(np.concatenate([rows[:, [cell]].indices for cell in cells]))
            near = np.unique(request.table.relations[lines].indices)
            near = near[(request.open & ~gaps)[near]]
            if not len(near):
                raise self._infeasible(demand)
            gaps[near[np.argmin(request.cost[near])]] = True

    def _infeasible(self, demand: Demand) -> InfeasibleError:
        """Which rule stands in the way: what would do if it were not there."""
        request, table = self.request, self.request.table
        given = next(each for each in request.given if each.value == demand.value)
        cell = demand.cells[0][0]
        label = (
            table.label(cell)
            if len(demand.cells) == 1
            else f"the sum of {len(demand.cells)} cells with {table.label(cell)}"
        )
        label += ", for a contributor of suppressed cells" if demand.insider is not None else ""
        why = " and ".join(given.why[cell]) or "a sum of suppressed cells"
        every = ~table.impossible & ~table.hidden
        forced = np.any([each.forced for each in request.given], axis=0)
        zero = np.all([table.values[each.value] == 0 for each in request.given], axis=0)
        reasons = [
            (every & ~forced | request.open, "zeros may not be suppressed", "Let zeros be suppressed"),
            (every & ~zero | request.open, "cells that must be published stand around it", "Force fewer cells"),
            (every, "cells that must be published and zeros stand around it", "Force fewer cells, and let zeros be"),
        ]
        reason, remedy = next(
            ((reason, remedy) for usable, reason, remedy in reasons if self._possible(demand, usable)),
            ("nothing around it can change so much", "Lower its level"),
        )
        return InfeasibleError(
            f"No pattern protects {label} ({demand.value}; {why}): {reason}.\n{remedy}, or publish a coarser table."
        )

    def _possible(self, demand: Demand, usable: Flags) -> bool:
        flow = Flow(self.request, demand.value, usable | self.request.primary | self.request.always, demand)
        return flow.cheapest(demand, self.request.cost) is not None

    def removed(self, found: CellPattern) -> CellPattern:
        """Dear cells first: each that the audit can do without is published again; each removal is audited.

        Which sums are sensitive depends on the pattern: where there are some, what was needed is tried once more.
        """
        request, gaps = self.request, found.gaps.copy()
        needed, audits, points = np.zeros(len(gaps), dtype=bool), found.audits, found.points
        targets = sum(target.insider is None for each in audits.values() for target in each.targets)
        larger = max(len(request.table), SMALL) / SMALL
        budget = int(REMOVALS / larger**1.8 / (1 + targets / TARGETS))  # numbers alone: no clock decides on a pattern
        waiting = deque(self._order(gaps & ~request.primary))
        size, went = 1, 0  # several at once after some that could go, until that fails
        begun = budget
        while waiting and budget:
            self._tell("removing", begun - budget, min(begun, begun - budget + len(waiting)))
            some, budget = [waiting.popleft() for _ in range(min(size, len(waiting)))], budget - 1
            gaps[some] = False
            tried = request.audits(gaps, points, hasty=True)
            if any(each.exposed for each in tried.values()) or _vaguer(tried, audits):
                gaps[some], size, went = True, 1, 0
                if len(some) > 1:
                    waiting.extendleft(reversed(some))
                else:
                    needed[some] = True
                continue
            audits, went = tried, went + 1
            size *= 2 if went > 1 else 1
            if any(target.is_sum for each in tried.values() for target in each.targets):
                waiting.extend(self._order(needed))
                needed[:] = False
        return CellPattern(gaps, audits, needed, points, len(waiting))

    def _tell(self, stage: str, done: int, total: int) -> None:
        if self.request.progress is not None:
            self.request.progress(stage, done, total)

    def _order(self, cells: Flags) -> NDArray[np.int64]:
        some = np.flatnonzero(cells)
        return some[np.argsort(-self.request.cost[some], kind="stable")]


def _vaguer(tried: dict[str, Audit], before: dict[str, Audit]) -> bool:
    """Whether something can no longer be judged."""
    return any(not set(tried[name].unjudged) <= set(before[name].unjudged) for name in tried)
