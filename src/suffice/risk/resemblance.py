"""How far released residuals follow the original ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algebra.canonical import null
from suffice.algebra.decomposition import gqr, split
from suffice.algebra.group_moments import centred
from suffice.method.method import Method
from suffice.protection.protected import Protected
from suffice.protection.steps import SAMPLED
from suffice.rows.derived import RELEASED
from suffice.rows.rows import Block
from suffice.statistics.domain import Domain
from suffice.statistics.promise import domains

SAME = 1e-6
"""A second direction of change below this share of the first is rounding."""


def pooled(done: Protected) -> tuple[Array, Array]:
    """Original and released residuals of all strata, one below the other; columns that one lacks are zero there."""
    pairs = [stratum.among(done.design.confidential, stratum.E, stratum.Estar) for stratum in done.strata]
    return np.vstack([E for E, _ in pairs]), np.vstack([Estar for _, Estar in pairs])


def within(done: Protected, level: Domain) -> tuple[Array, Array, tuple[tuple[Array, Array], ...]]:
    """Residuals beside means of groups and all given columns, before and after: a small factor, and some records."""
    design = done.design
    released = [RELEASED + name for name in design.confidential]
    columns = tuple(dict.fromkeys([*level.by, *design.columns, *released]))

    def values(run: Sequence[Block]) -> tuple[NDArray[np.uint64], Array, Array]:
        parts = [design.matrix(block) for block in run]
        words = [level.labels(block, W[:, design.m :].T, design) for block, W in zip(run, parts, strict=True)]
        after = [np.column_stack([block.columns[name] for name in released]) for block in run]
        return np.concatenate(words), np.vstack(parts), np.vstack(after)

    words, W, Ystar = (
        np.concatenate(part) for part in zip(*done.aligned.map(values, columns, "looking at groups"), strict=True)
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


def residuals(done: Protected, method: Method) -> tuple[Array, Array, tuple[tuple[Array, Array], ...]]:
    """What is left beside all that is kept: where a method keeps means in groups of its own, about these."""
    own = domains(method.own_promises(done.design))
    if own:
        return within(done, own[-1])
    samples = [each.among(done.design.confidential, *each.sample) for each in done.strata]
    return *pooled(done), tuple((E, Estar) for E, Estar in samples)


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


def alike_columns(E: Array, Estar: Array, names: tuple[str, ...]) -> tuple[str, ...]:
    """The columns that make up the combination in which two sets of residuals are most alike."""
    Q, Qstar = gqr(E).Q, gqr(Estar).Q
    if not Q.size or not Qstar.size:
        return ()
    variate = Q @ np.linalg.svd(Q.T @ Qstar)[0][:, 0]
    norms = np.linalg.norm(E, axis=0)
    share = np.abs(variate @ E) / np.where(norms > 0, norms, 1.0)
    return tuple(name for name, value in zip(names, share, strict=True) if value >= 0.5 * share.max())


def correlations(E: Array, Estar: Array) -> list[float]:
    inner, norms = (E * Estar).sum(axis=0), np.linalg.norm(E, axis=0) * np.linalg.norm(Estar, axis=0)
    return np.where(norms > 0, inner / np.where(norms > 0, norms, 1.0), 0.0).tolist()  # type: ignore[no-any-return]


def null_of(done: Protected, sample: Iterable[tuple[Array, Array]], rank: int, rows: int) -> float:
    """What unrelated residuals reach, in the rows that were sampled; of the effective number of rows, with weights."""
    pairs = list(sample)
    Q, Qstar = (gqr(np.vstack([pair[side] for pair in pairs])).Q for side in (0, 1))
    records = rows if done.profile.effective is None else int(done.profile.effective)
    return null(Q, Qstar, records - rank, done.stream.generator("null"))


def reflected(done: Protected, method: Method) -> bool:
    """Whether a stratum of two columns and more was moved along one direction, or a method did so by intent."""
    return "householder" in method.name or any(one_direction(each.E, each.Estar) for each in done.strata)


def one_direction(E: Array, Estar: Array) -> bool:
    """Whether two sets of residuals, of two columns and more, differ in one direction."""
    norms = np.linalg.norm(E, axis=0)
    s = np.linalg.svd((Estar - E)[:, norms > 0] / norms[norms > 0], compute_uv=False)
    return len(s) > 1 and bool(Estar.any()) and bool(s[1] <= SAME * s[0]) and gqr(E).rank > 1


def dependent(E: Array, names: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
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
