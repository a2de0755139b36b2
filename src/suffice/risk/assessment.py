"""From a solution and what was watched to the facts that the guards judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.decomposition import gqr
from suffice.design.limits import Limits
from suffice.design.profile import precision
from suffice.ledger import Ledger
from suffice.method.method import Method
from suffice.protection.protected import Protected
from suffice.risk.facts import Facts
from suffice.risk.group_size import explained_within, kept_in, parts_apart, sharing
from suffice.risk.leverage import responsible, stacked
from suffice.risk.resemblance import alike, alike_columns, correlations, dependent, null_of, reflected, residuals
from suffice.rows.rows import Block, Rows
from suffice.rows.shuffle import BUCKET
from suffice.seed import Seed, Stream
from suffice.statistics.promise import domains

PLACES = 100_000
"""Rows whose places are compared: enough to see any order."""
WORTH = 0.7
"""A canonical correlation below this is no finding, so its null is not needed."""


def gather(
    done: Protected,
    method: Method,
    seed: Seed,
    columns: tuple[str, ...],
    order: NDArray[np.int64] | None,
    ledger: Ledger | None,
    keyed: Iterable[str],
    limits: Limits | None = None,
) -> Facts:
    """Everything that the guards may look at."""
    design, rows = done.design, done.rows
    spread = done.profile.spread.columns(slice(design.m, design.m + design.k))
    names = np.array(design.confidential, dtype=object)
    E, Estar, sample = residuals(done, method)
    watch, kept_levels = done.watch, [kept_in(done, each, method) for each in domains(method.promises(design))]
    rank = sum(piece.solution.rank for piece in done.pieces)
    own = domains(method.own_promises(design))
    rank += kept_levels[-1].groups - 1 if own else 0  # means in the method's own groups are kept too
    constant = spread.constant
    canonical, kept, altered = alike(E, Estar)
    earlier = () if ledger is None else ledger.earlier(keyed, done.stream.digest())
    highest, unstacked = stacked(rows, design, {term for entry in earlier for term in entry.terms})
    mirrored, still = reflected(done, method), explained_within(done)
    steepest = max(done.pieces, key=lambda piece: piece.watch.highest.leverage)
    return Facts(
        n=spread.rows,
        rank=rank,
        residual_rank=gqr(E).rank,
        confidential=design.confidential,
        promises=method.kept,
        independent=method.independent,
        kept=(*kept_levels, *parts_apart(done, method), *(sharing(done) if method.shared else ())),
        shared=method.shared,
        leverage=watch.highest.leverage,
        leverage_counts=_three(watch.leverage),
        leverage_term=responsible(steepest.solution, steepest.watch.highest),
        stacked_leverage=highest,
        unstacked=unstacked,
        canonical=canonical,
        canonical_null=null_of(done, sample, rank, spread.rows) if canonical > WORTH else 0.0,
        correlations=tuple(correlations(E, Estar)),
        d=method.asked(),
        kept_scores=kept,
        scores=gqr(E).rank,
        altered_share=altered,
        seed=seed.source,
        copies=_unique_copies(rows, design.confidential, watch.copies),
        outlying=watch.outlying,
        outlying_near=watch.outlying_near,
        giants=watch.giants[0].handed_on(watch.giants[1])[0],
        giants_handed_on=watch.giants[0].handed_on(watch.giants[1])[1],
        negatives={str(name): int(count) for name, count in zip(names, watch.negative, strict=True) if count},
        dependent=dependent(E, design.confidential),
        explained=tuple(name for name in names[~constant] if still[name, False]),
        constant=tuple(names[constant]),
        constant_within={name: still[name, True] for name in names[~constant] if still[name, True]},
        order=_order(done.stream, order, rows.n),
        places=min(rows.n, PLACES),
        precision=dict(zip(design.confidential, precision(spread).tolist(), strict=True)),
        unweighted=done.profile.unweighted,
        effective=done.profile.effective,
        earlier=tuple(entry.reach for entry in earlier),
        ledger=ledger is not None,
        columns=columns,
        unmoved=sum(piece.unmoved for piece in done.pieces),
        broken={} if limits is None else broken(done, limits),
        reflected=mirrored,
        whole_numbers=whole_numbers(rows, design.confidential) if mirrored else (),
        alike_columns=alike_columns(E, Estar, design.confidential),
    )


def whole_numbers(rows: Rows, names: tuple[str, ...]) -> tuple[str, ...]:
    """Columns that hold whole numbers only, missing cells aside."""

    def of(block: Block) -> NDArray[np.int64]:
        Y = np.column_stack([np.asarray(block.columns[name], dtype=np.float64) for name in names])
        return np.asarray(((np.rint(Y) != Y) & ~np.isnan(Y)).sum(axis=0))

    broken = rows.fold(of, names, "comparing")
    return tuple(name for name, count in zip(names, broken, strict=True) if not count)


def broken(done: Protected, limits: Limits) -> dict[str, int]:
    """Released records that leave each bound or edit."""

    def of(block: Block) -> Counter[str]:
        found = limits.violations(done.released(block), limits.rhs_of(block))
        return Counter({name: count for name, count in found.items() if count})

    return dict(done.rows.fold(of, done.columns, "checking limits"))


def _unique_copies(rows: Rows, names: tuple[str, ...], copies: tuple[int, ...], most: int = 10_000) -> int:
    """How many of the records released as they are have values that no other record has."""
    if not copies:
        return 0
    wanted = np.array(copies[:most])

    def keys(block: Block) -> list[bytes]:
        Y = np.column_stack([np.asarray(block.columns[name], dtype=np.float64) for name in names])
        return [row.tobytes() for row in Y]

    def chosen(block: Block) -> list[bytes]:
        here = set((wanted[(wanted >= block.start) & (wanted < block.start + len(block))] - block.start).tolist())
        return [key for i, key in enumerate(keys(block)) if i in here] if here else []

    candidates = set(rows.fold(chosen, names, "comparing"))
    found = rows.fold(lambda block: [key for key in keys(block) if key in candidates], names, "comparing")
    return sum(found.count(key) == 1 for key in candidates) if len(candidates) < 100 else _singles(found)


def _singles(keys: list[bytes]) -> int:
    from collections import Counter

    return sum(count == 1 for count in Counter(keys).values())


def _order(stream: Stream, order: NDArray[np.int64] | None, n: int) -> float:
    """Correlation of released and original places, of all rows or of the first bucket."""
    places = stream.permutation(0, min(n, BUCKET)) if order is None else order
    places = places[:PLACES]
    if len(places) < 3:
        return 0.0
    return float(np.corrcoef(places, np.arange(len(places)))[0, 1])


def _three(counts: NDArray[np.int64]) -> tuple[int, int, int]:
    low, middle, high = counts.tolist()
    return low, middle, high
