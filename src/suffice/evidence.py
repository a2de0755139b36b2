"""From a solution and what was watched to the facts that the guards judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.basis import EPS
from suffice.algebra.decomposition import gqr, split
from suffice.algebra.moments import Spread
from suffice.algebra.unrelated import null
from suffice.coding import as_float
from suffice.concentration import Concentration
from suffice.design import Design
from suffice.errors import SufficeError
from suffice.facts import Facts, Kept
from suffice.folding import Draws, coordinates, fold, labels_of
from suffice.formula import parse
from suffice.ledger import Ledger
from suffice.level import Level
from suffice.limits import Limits
from suffice.method import Method
from suffice.order import BUCKET
from suffice.partition.within import centred
from suffice.rows import Block, Rows
from suffice.seed import Seed, Stream
from suffice.solution import Solution
from suffice.survey import Frame, precision
from suffice.watch import FAR, Peak, Tally
from suffice.watching import Hat
from suffice.work import SAMPLED, Done, placed

Array = NDArray[np.float64]

PLACES = 100_000
"""Rows whose places are compared: enough to see any order."""
SAME = 1e-6
"""A second direction of change below this share of the first is rounding."""
WORTH = 0.7
"""A canonical correlation below this is no finding, so its null is not needed."""


def gather(
    done: Done,
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
    spread = done.survey.spread.columns(slice(design.m, design.m + design.k))
    names = np.array(design.confidential, dtype=object)
    E, Estar, sample = residuals(done, method)
    watch, kept_levels = done.watch, [kept_in(done, level, method) for level in done.levels]
    rank = sum(piece.solution.rank for piece in done.pieces)
    rank += kept_levels[-1].groups - 1 if method.levels(design) else 0  # means in the method's own groups are kept too
    constant = spread.sd <= 4 * EPS * spread.size
    canonical, kept, altered = alike(E, Estar)
    earlier = () if ledger is None else ledger.earlier(keyed, done.stream.digest())
    stacked, unstacked = _stacked(rows, design, {term for entry in earlier for term in entry.terms})
    mirrored, still = reflected(done, method), explained_within(done)
    steepest = max(done.pieces, key=lambda piece: piece.watch.highest.leverage)
    return Facts(
        n=spread.rows,
        rank=rank,
        residual_rank=gqr(E).rank,
        confidential=design.confidential,
        promises=method.promises,
        independent=method.independent,
        kept=(*kept_levels, *parts_apart(done, method), *(sharing(done) if method.shared else ())),
        shared=method.shared,
        leverage=watch.highest.leverage,
        leverage_counts=_three(watch.leverage),
        leverage_term=_responsible(steepest.solution, steepest.watch.highest),
        stacked_leverage=stacked,
        unstacked=unstacked,
        canonical=canonical,
        canonical_null=_null(done, sample, rank, spread.rows) if canonical > WORTH else 0.0,
        correlations=tuple(_correlations(E, Estar)),
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
        dependent=_dependent(E, design.confidential),
        explained=tuple(name for name in names[~constant] if still[name, False]),
        constant=tuple(names[constant]),
        constant_within={name: still[name, True] for name in names[~constant] if still[name, True]},
        order=_order(done.stream, order, rows.n),
        places=min(rows.n, PLACES),
        precision=dict(zip(design.confidential, precision(spread).tolist(), strict=True)),
        unweighted=done.survey.unweighted,
        effective=done.survey.effective,
        earlier=tuple(entry.reach for entry in earlier),
        ledger=ledger is not None,
        columns=columns,
        unmoved=sum(piece.unmoved for piece in done.pieces),
        broken={} if limits is None else broken(done, limits),
        reflected=mirrored,
        whole_numbers=whole_numbers(rows, design.confidential) if mirrored else (),
        alike_columns=alike_columns(E, Estar, design.confidential),
    )


def pooled(done: Done) -> tuple[Array, Array]:
    """Original and released residuals of all pieces, one below the other; a column that a piece lacks is zero there."""
    among, solutions = done.design.confidential, [piece.solution for piece in done.pieces]
    E = np.vstack([placed(each.E, each.design.confidential, among) for each in solutions])
    Estar = np.vstack([placed(each.Estar, each.design.confidential, among) for each in solutions])
    return E, Estar


def reflected(done: Done, method: Method) -> bool:
    """Whether a piece of two columns and more was moved along one direction, or a method did so by intent."""
    pairs = [(piece.solution.E, piece.solution.Estar) for piece in done.pieces]
    return "householder" in method.name or any(one_direction(E, Estar) for E, Estar in pairs)


def one_direction(E: Array, Estar: Array) -> bool:
    """Whether two sets of residuals, of two columns and more, differ in one direction."""
    norms = np.linalg.norm(E, axis=0)
    s = np.linalg.svd((Estar - E)[:, norms > 0] / norms[norms > 0], compute_uv=False)
    return len(s) > 1 and bool(Estar.any()) and bool(s[1] <= SAME * s[0]) and gqr(E).rank > 1


def explained_within(done: Done) -> Counter[tuple[str, bool]]:
    """In how many pieces a column has no residual, because it is constant there (True) or a function of X (False).

    Where X leaves no degree of freedom it explains everything, and other rules speak.
    """
    found: Counter[tuple[str, bool]] = Counter()
    for solution in (piece.solution for piece in done.pieces if piece.solution.nu > 0):
        spread = solution.survey.spread.columns(solution.confidential)
        flat = spread.sd <= 4 * EPS * spread.size
        still = np.flatnonzero(~solution.E.any(axis=0))
        found.update((solution.design.confidential[j], bool(flat[j])) for j in still)
    return found


def whole_numbers(rows: Rows, names: tuple[str, ...]) -> tuple[str, ...]:
    """Columns that hold whole numbers only, missing cells aside."""

    def of(block: Block) -> NDArray[np.int64]:
        Y = np.column_stack([np.asarray(block.columns[name], dtype=np.float64) for name in names])
        return np.asarray(((np.rint(Y) != Y) & ~np.isnan(Y)).sum(axis=0))

    broken = rows.fold(of, names, "comparing")
    return tuple(name for name, count in zip(names, broken, strict=True) if not count)


def within(done: Done, level: Level) -> tuple[Array, Array, tuple[tuple[Array, Array], ...]]:
    """Residuals beside means of groups and all given columns, before and after: a small factor, and some records."""
    design, rows = done.design, done.marked(done.rows)
    columns = tuple(dict.fromkeys([*level.by, *done.columns]))

    def values(run: Sequence[Block]) -> tuple[NDArray[np.uint64], Array, Array]:
        parts = [design.matrix(block) for block in run]
        words = [level.labels(block, W[:, design.m :].T, design) for block, W in zip(run, parts, strict=True)]
        return np.concatenate(words), np.vstack(parts), np.vstack([done.released(block) for block in run])

    words, W, Ystar = (
        np.concatenate(part) for part in zip(*rows.map(values, columns, "looking at groups"), strict=True)
    )
    labels = np.unique(words, return_inverse=True)[1]
    X, Y = centred(labels, W[:, : design.m]), W[:, design.m :]
    hole, sd = np.isnan(Y), np.nanstd(Y, axis=0)
    scale = np.where(sd > 0, sd, 1.0)
    apart = (centred(labels, np.where(hole, 0.0, each / scale)) for each in (Y, Ystar))  # a hole is one in its group
    E, Estar = (split(each, X)[1] for each in apart)
    R = np.asarray(np.linalg.qr(np.hstack([E, Estar]), mode="r"))
    some = done.stream.generator("sample").permutation(len(Y))[:SAMPLED]
    return R[:, : design.k], R[:, design.k :], ((E[some], Estar[some]),)


def residuals(done: Done, method: Method) -> tuple[Array, Array, tuple[tuple[Array, Array], ...]]:
    """What is left beside all that is kept: where a method keeps means in groups of its own, about these."""
    own = method.levels(done.design)
    return within(done, own[-1]) if own else (*pooled(done), done.watch.sample)


def kept_in(done: Done, level: Level, method: Method) -> Kept:
    """What the guards may know of the groups of a level; covariances of residuals count as covariances."""
    design, residual = done.design, method.residuals(done.design)
    around = residual is not None and level in residual.levels
    found = Concentration.learn(done.marked(done.rows), design, level)
    sizes, rank = found.sizes[found.sizes > 0], gqr(pooled(done)[0]).rank
    own = level.by == tuple(design.roles.groups)  # the groups that were protected by themselves
    finest = method.levels(design)[-1:]
    if own:
        nu = np.array([p.solution.nu for p in done.pieces])
    elif level in method.levels(design) and level not in finest:
        nu = left_by(done, level, finest[0])
    else:
        nu = sizes - 1 - len(level.terms or ())
    covariance, made = "covariance" in level.statistics, bool({*level.by} & {*done.labels})
    return Kept(
        level.name,
        (*level.statistics, *(["covariance"] if around and not covariance else [])),
        len(sizes),
        int(sizes.min()),
        (int((sizes < 3).sum()), int((sizes < 5).sum())),
        int(nu.min()) if covariance or around else None,
        (int((nu <= 1).sum()), int((nu < 5).sum()), int((nu < max(10, rank + 1)).sum())),
        rank,
        _groups(done, found, found.dominated, made),
        _groups(done, found, found.narrow, made) if covariance else 0,
    )


def left_by(done: Done, level: Level, finest: Level) -> NDArray[np.int64]:
    """Dimensions that means and fits in smaller groups leave in each group of a level."""
    design, rows = done.design, done.marked(done.rows)
    columns = tuple(dict.fromkeys([*level.by, *finest.by, *design.confidential]))

    def words(run: Sequence[Block]) -> NDArray[np.uint64]:
        Y = [np.array([as_float(block.columns[name]) for name in design.confidential]) for block in run]
        both = (level, finest)
        return np.hstack([[at.labels(block, y, design) for at in both] for block, y in zip(run, Y, strict=True)])

    found = np.hstack(list(rows.map(words, columns, "looking at groups")))
    groups, place = np.unique(found[0], return_inverse=True)
    pairs = np.unique(np.vstack([place.astype(np.uint64), found[1]]), axis=1)
    smaller, p = np.bincount(pairs[0].astype(np.int64), minlength=len(groups)), len(finest.terms or ())
    return np.asarray(np.bincount(place) - smaller * (1 + p) - max(0, len(level.terms or ()) - p))


def parts_apart(done: Done, method: Method) -> Iterator[Kept]:
    """Parts of the records that several methods protect: nobody is told them, and covariances are kept in each."""
    if method.apart_of and "covariance" in method.promises:
        nu, rank = np.array([piece.solution.nu for piece in done.pieces]), gqr(pooled(done)[0]).rank
        sizes = np.array([piece.solution.survey.spread.rows for piece in done.pieces])
        thin = int((nu <= 1).sum()), int((nu < 5).sum()), int((nu < max(10, rank + 1)).sum())
        yield Kept("part", method.promises, len(sizes), int(sizes.min()), (0, 0), int(nu.min()), thin, rank)


def _groups(done: Done, found: Concentration, flags: NDArray[np.bool_], made: bool) -> int:
    """How many groups are flagged; of those that a method has made only where the largest record is known by its size.

    Nobody knows who else is in such a group, unless it stands out in the file.
    """
    spread = done.survey.spread.columns(slice(done.design.m, done.design.m + done.design.k))
    known = found.first - np.abs(spread.mean) > FAR * spread.sd if made else np.ones_like(flags)
    return int((flags & known).any(axis=1).sum())


def sharing(done: Done) -> Iterator[Kept]:
    """Groups of records that are released with the same value, column by column."""
    spread = done.survey.spread.columns(slice(done.design.m, done.design.m + done.design.k))
    for j, name in enumerate(done.design.confidential):

        def of(run: Sequence[Block], j: int = j, name: str = name) -> Concentration:
            values = np.concatenate([done.released(block)[:, j] for block in run])
            own = np.concatenate([as_float(block.columns[name]) for block in run])
            return Concentration.of(values, own[:, None])

        found = reduce(add, done.rows.map(of, done.columns, "looking at groups"))
        known = found.first[:, 0] - abs(spread.mean[j]) > FAR * spread.sd[j]
        yield Kept(
            f"released value of {name}",
            ("mean",),
            len(found.sizes),
            int(found.sizes.min()),
            (int((found.sizes < 3).sum()), int((found.sizes < 5).sum())),
            dominated=int((found.dominated[:, 0] & known).sum()),
        )


def alike_columns(E: Array, Estar: Array, names: tuple[str, ...]) -> tuple[str, ...]:
    """The columns that make up the combination in which two sets of residuals are most alike."""
    Q, Qstar = gqr(E).Q, gqr(Estar).Q
    if not Q.size or not Qstar.size:
        return ()
    variate = Q @ np.linalg.svd(Q.T @ Qstar)[0][:, 0]
    norms = np.linalg.norm(E, axis=0)
    share = np.abs(variate @ E) / np.where(norms > 0, norms, 1.0)
    return tuple(name for name, value in zip(names, share, strict=True) if value >= 0.5 * share.max())


def broken(done: Done, limits: Limits) -> dict[str, int]:
    """Released records that leave each bound or edit."""

    def of(block: Block) -> Counter[str]:
        found = limits.violations(done.released(block), limits.rhs_of(block))
        return Counter({name: count for name, count in found.items() if count})

    return dict(done.rows.fold(of, done.columns, "checking limits"))


def alike(E: Array, Estar: Array) -> tuple[float, int, float]:
    """The largest canonical correlation of residuals, how many are one, and the share of variance apart from those."""
    Q, Qstar = gqr(E).Q, gqr(Estar).Q
    if not Q.size or not Qstar.size:
        return 0.0, 0, 1.0
    U, s, _ = np.linalg.svd(Q.T @ Qstar)
    kept = int((s > 1 - 1e-9).sum())
    norms = np.linalg.norm(E, axis=0)
    unit = E[:, norms > 0] / norms[norms > 0]
    share = float(((Q @ U[:, :kept]).T @ unit).__pow__(2).sum() / unit.shape[1]) if kept else 0.0
    return float(min(s[0], 1.0)), kept, 1.0 - share


def _null(done: Done, sample: Iterable[tuple[Array, Array]], rank: int, rows: int) -> float:
    """What unrelated residuals reach, in the rows that were sampled; of the effective number of rows, with weights."""
    pairs = list(sample)
    Q, Qstar = (gqr(np.vstack([pair[side] for pair in pairs])).Q for side in (0, 1))
    records = rows if done.survey.effective is None else int(done.survey.effective)
    return null(Q, Qstar, records - rank, done.stream.generator("null"))


def _correlations(E: Array, Estar: Array) -> list[float]:
    inner, norms = (E * Estar).sum(axis=0), np.linalg.norm(E, axis=0) * np.linalg.norm(Estar, axis=0)
    return np.where(norms > 0, inner / np.where(norms > 0, norms, 1.0), 0.0).tolist()  # type: ignore[no-any-return]


def _responsible(solution: Solution, peak: Peak) -> str:
    """The term without which the record with the highest leverage has the least."""
    design, q = solution.design, np.array(peak.q)
    if design.absorbed and peak.own >= 0.5 * peak.leverage:
        return design.terms[-1]
    if not design.terms or not len(q):
        return ""
    S = solution.isometry.columns(range(design.m))[: len(q)]
    of = np.array(design.term_of)
    left = [float(((gqr(S[:, of != t]).Q.T @ q) ** 2).sum()) for t in range(len(design.terms))]
    return design.terms[int(np.argmin(left))]


def _stacked(rows: Rows, design: Design, terms: set[str]) -> tuple[float, int]:
    """The highest leverage when the terms of earlier releases are given as well, and how many could not be."""
    new = sorted(terms - set(design.terms))
    earlier = [term for term in new if _usable(term, rows, design)]
    if not earlier:
        return 0.0, len(new)
    formula = " + ".join([*design.terms, *earlier])
    try:
        wide = Design.learn(rows, replace(design.roles, given=formula, keep=(), identifiers=()))
        return highest_leverage(rows, wide), len(new) - len(earlier)
    except SufficeError:  # the stacked design is too large, or no longer fits the file
        return 0.0, len(new)


def _usable(term: str, rows: Rows, design: Design) -> bool:
    columns = parse(term).columns
    return all(name in rows.kinds and name not in design.confidential for name in columns)


def highest_leverage(rows: Rows, design: Design) -> float:
    frame, none = Frame(design, False), Draws(Stream(b""), 0)
    survey = frame.survey(rows)
    basis = coordinates(rows, frame, survey, none)
    hat = Hat.of(design, fold(rows, frame, basis, none, survey.spread)[0], survey.spread)

    def of(block: Block) -> Tally:
        A = frame.matrix(block)
        A -= basis.centre
        basis.divide(A, labels_of(design, basis, block))
        return Tally(hat(A, block)[1])

    return rows.fold(of, frame.columns, "stacking").peak.leverage


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


def _dependent(E: Array, names: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Columns whose residuals are a combination of those of columns before them."""
    found = gqr(E)
    pivots = list(found.pivots)
    relations = {}
    for j in found.dropped:
        size = np.linalg.norm(E[:, j])
        if size == 0:
            continue
        parts = np.linalg.lstsq(E[:, pivots], E[:, j], rcond=None)[0] * np.linalg.norm(E[:, pivots], axis=0)
        relations[names[j]] = tuple(names[p] for p, part in zip(pivots, parts, strict=True) if abs(part) > 1e-9 * size)
    return relations


def _order(stream: Stream, order: NDArray[np.int64] | None, n: int) -> float:
    """Correlation of released and original places, of all rows or of the first bucket."""
    places = stream.permutation(0, min(n, BUCKET)) if order is None else order
    places = places[:PLACES]
    if len(places) < 3:
        return 0.0
    return float(np.corrcoef(places, np.arange(len(places)))[0, 1])


def running_numbers(rows: Rows, design: Design, spread: Spread) -> list[str]:
    """Columns of whole numbers that count the records: range, mean and variance of n numbers in a row."""
    n = rows.n
    if design.roles.weight is not None:
        return []
    squares = n * (n**2 - 1) / 12
    counted = (spread.high - spread.low == n - 1) & (np.abs(spread.squares - squares) <= 1e-9 * squares)
    names = zip((*design.names, *design.confidential), counted, strict=False)
    return [name for name, is_counted in names if is_counted and rows.kinds.get(name) == "integer"]


def _three(counts: NDArray[np.int64]) -> tuple[int, int, int]:
    low, middle, high = counts.tolist()
    return low, middle, high
