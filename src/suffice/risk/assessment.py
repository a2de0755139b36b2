"""From a solution and what was watched to the facts that the guards judge."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.decomposition import gqr
from suffice.design.profile import precision
from suffice.ledger import Ledger
from suffice.method.method import Method
from suffice.protection.protected import Protected
from suffice.risk.copies import Copies
from suffice.risk.facts import Facts
from suffice.risk.group_size import explained_within, kept_in, parts_apart, sharing
from suffice.risk.leverage import stacked, steepest
from suffice.risk.outliers import Outliers
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
) -> Facts:
    """Everything that the guards may look at."""
    design, rows = done.design, done.rows
    spread = done.spread
    names = np.array(design.confidential, dtype=object)
    E, Estar, sample = residuals(done, method)
    kept_levels = [kept_in(done, each, method) for each in domains(method.promises(design))]
    rank = sum(stratum.rank for stratum in done.strata)
    own = domains(method.own_promises(design))
    rank += kept_levels[-1].groups - 1 if own else 0  # means in the method's own groups are kept too
    constant = spread.constant
    canonical, kept, altered = alike(E, Estar)
    earlier = () if ledger is None else ledger.earlier(keyed, done.stream.digest())
    highest, unstacked = stacked(rows, design, {term for entry in earlier for term in entry.terms})
    mirrored, still = reflected(done, method), explained_within(done)
    leverage, term = steepest(done.strata)
    seen = {"copies": Copies(), "outliers": Outliers(), **done.seen}
    giants, handed_on = seen["giants"].handed_on()
    return Facts(
        n=spread.rows,
        rank=rank,
        residual_rank=gqr(E).rank,
        confidential=design.confidential,
        promises=method.kept,
        independent=method.independent,
        kept=(*kept_levels, *parts_apart(done, method), *(sharing(done) if method.shared else ())),
        shared=method.shared,
        leverage=leverage.highest.leverage,
        leverage_counts=leverage.counts,
        leverage_term=term,
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
        copies=seen["copies"].unique(rows, design.confidential),
        outlying=seen["outliers"].far,
        outlying_near=seen["outliers"].near,
        giants=giants,
        giants_handed_on=handed_on,
        negatives={str(name): int(count) for name, count in zip(names, seen["signs"], strict=True) if count},
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
        unmoved=sum(stratum.unmoved for stratum in done.strata),
        broken=dict(seen.get("limits", {})),
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


def _order(stream: Stream, order: NDArray[np.int64] | None, n: int) -> float:
    """Correlation of released and original places, of all rows or of the first bucket."""
    places = stream.permutation(0, min(n, BUCKET)) if order is None else order
    places = places[:PLACES]
    if len(places) < 3:
        return 0.0
    return float(np.corrcoef(places, np.arange(len(places)))[0, 1])
