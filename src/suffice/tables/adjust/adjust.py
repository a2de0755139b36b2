"""A table adjusted: sensitive cells at safe values, the others as near as can be, all sums and statistics kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from suffice.algebra.array import Array
from suffice.errors import GuardError, UsageError
from suffice.progress import Progress
from suffice.seed import Seed
from suffice.tables.adjust.adjustment import Adjustment
from suffice.tables.adjust.easing import with_room
from suffice.tables.adjust.moments import CellSets
from suffice.tables.adjust.request import TILT, AdjustmentRequest, stream_of
from suffice.tables.adjust.search import AdjustmentSearch
from suffice.tables.adjust.signs import Budget
from suffice.tables.sensitivity import Sensitivity
from suffice.tables.solver import SECONDS
from suffice.tables.table import Table

OBJECTIVES = ("l1", "relative", "l2", "largest")
SIGNS = ("best", "ordering", "blocks")
KEEPS = ("means", "slope", "moments")
SIZES = ("drawn", "least")
SHARE = 0.25
"""Of the gap that is allowed: what is left to the key."""


def adjust(
    table: Table,
    sensitivity: Sensitivity | Sequence[Sensitivity],
    *,
    objective: str = "l1",
    signs: str = "best",
    sizes: str = "drawn",
    q: float = 2.0,
    capacity: float | Mapping[str, Array] = 1.0,
    fixed: Sequence[int] = (),
    known: Mapping[str, tuple[Array, Array]] | None = None,
    keep: str | None = None,
    sets: Mapping[str, Sequence[int]] | None = None,
    whole: bool = False,
    seed: Seed | None = None,
    seconds: float = SECONDS,
    gap: float = 0.0,
    repair: bool = True,
    accept: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> Adjustment:
    """Sensitive cells moved to safe values, the others as little as can be, T x = 0 to the last bit (Cox 1-5).

    sensitivity: of one value, or of several, each with its protection levels
    objective: l1, the sum of changes; relative, in shares of the cells; l2; largest, the least largest one, then l1
    signs: best, by a mixed programme; ordering, Cox's section 5; blocks, few cells at a time, for large tables
    sizes: drawn by the key between the level and half as much again; least is stopped unless accepted
    q: a sensitive cell changes by at most q times its level; where sizes are drawn, so is how much less
    capacity: other cells change by at most this share of them, or by so much each
    fixed: cells that stay; cells that are zero always do
    known: between which every attacker knows the cells to be, by value: adjusted cells are there, too
    keep: means, slope (adjusted on original: slope 1, intercept 0) or moments, of `sets`
    sets: cells by name, the k-th of each belonging together; without: the inner cells
    whole: whole numbers, whose statistics are near and not exact
    repair: where the ordering does not fit, directions of the smallest cells are chosen

    >>> cells = {"a": ["Total", "x", "y", "z"], "v": [60, 10, 20, 30]}
    >>> from suffice.tables.sensitivity import Prior, find_sensitive
    >>> table = Table.of_cells(cells, ["a"], ["v"])
    >>> secret = find_sensitive(table, [], "v", priors=[Prior(("x",), "unsafe", lower=2, upper=2)])
    >>> made = adjust(table, secret, fixed=[table.find("Total")])
    >>> made.error, made.unsafe, bool(abs(made.cells()[1] - 10) >= 2)
    (0.0, 0, True)
    """
    refuse_words(objective=(objective, OBJECTIVES), signs=(signs, SIGNS), sizes=(sizes, SIZES))
    if keep is not None:
        refuse_words(keep=(keep, KEEPS))
    given = (sensitivity,) if isinstance(sensitivity, Sensitivity) else tuple(sensitivity)
    _refuse_least(sizes, accept or {})
    tilt = 0.0 if sizes == "least" and signs == "ordering" else max(TILT, SHARE * gap)  # there as the paper has it
    stream = stream_of(seed or Seed(), table, given)
    request = AdjustmentRequest(table, given, objective, sizes, q, keep, whole, stream, tilt)
    limits = capacity, fixed, known or {}
    family = CellSets.of(table, request.names, sets) if keep else None
    search = AdjustmentSearch(request, limits, family, signs, Budget(seconds, (1 - SHARE) * gap, progress), repair)
    search, problem, choice, y, places = with_room(search)
    statistics = family.promise(keep, not whole) if family and keep else None
    kept = statistics.ratios(problem.original, problem.original + y) if statistics else {}
    return Adjustment(
        table,
        given,
        dict(zip(request.names, np.split(y, len(given)), strict=True)),
        objective,
        search.signs,
        sizes,
        *search.costs(problem, y, choice),
        statistics,
        kept,
        places,
        choice.freed,
        whole,
        choice.eased,
        int((problem.one_way != 0).sum()),
        choice.stopped,
        q,
        search.open_at_best(),
        search.asked.reach,
    )


def refuse_words(**given: tuple[str, Sequence[str]]) -> None:
    """Refuses words that are none of those that are known."""
    for name, (word, known) in given.items():
        if word not in known:
            raise UsageError(f"{name} is one of {', '.join(known)}, not {word!r}.")


def _refuse_least(sizes: str, accept: Mapping[str, str]) -> None:
    if set(accept) - {"least-sizes"}:
        raise UsageError("Of an adjustment, 'least-sizes' is the one rule that can be accepted.")
    if sizes == "least" and not accept.get("least-sizes", "").strip():
        raise GuardError(
            "least-sizes: changes of exactly the protection level leave two candidates for each sensitive cell, and "
            "who adjusts the adjusted table again finds which.\n"
            "Let the sizes be drawn, or accept it with a reason: accept={'least-sizes': ...}."
        )
