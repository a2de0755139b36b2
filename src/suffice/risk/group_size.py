"""What the guards may know of the groups in which something is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.decomposition import gqr
from suffice.method.method import Method
from suffice.protection.protected import Protected
from suffice.risk.dominance import Concentration
from suffice.risk.facts import GroupSummary
from suffice.risk.outliers import FAR
from suffice.risk.resemblance import pooled
from suffice.rows.arrow import as_float
from suffice.rows.derived import RELEASED
from suffice.rows.rows import Block
from suffice.statistics.domain import Domain
from suffice.statistics.promise import domains
from suffice.statistics.residual_covariance import AroundRegression
from suffice.statistics.statistic import Promise


def kept_in(done: Protected, level: Domain, method: Method) -> GroupSummary:
    """What the guards may know of the groups of a level; covariances of residuals count as covariances."""
    design, own = done.design, domains(method.own_promises(done.design))
    here = [promise for promise in method.promises(design) if promise.domain == level]
    statistics = tuple(dict.fromkeys(p.name for p in here if p.statistic.in_groups))
    around = any(isinstance(promise.statistic, AroundRegression) for promise in here)
    found = Concentration.learn(done.marked, design, level)
    sizes, rank = found.sizes[found.sizes > 0], gqr(pooled(done)[0]).rank
    if level.by == tuple(design.roles.groups):  # the groups that were protected by themselves
        nu = np.array([stratum.nu for stratum in done.strata])
    elif level in own[:-1]:
        nu = left_by(done, level, method)
    else:
        nu = sizes - 1 - _terms(here)
    covariance, made = "covariance" in statistics, bool({*level.by} & {*done.labels})
    return GroupSummary(
        level.name,
        (*statistics, *(["covariance"] if around and not covariance else [])),
        len(sizes),
        int(sizes.min()),
        (int((sizes < 3).sum()), int((sizes < 5).sum())),
        int(nu.min()) if covariance or around else None,
        (int((nu <= 1).sum()), int((nu < 5).sum()), int((nu < max(10, rank + 1)).sum())),
        rank,
        _groups(done, found, found.dominated, made),
        _groups(done, found, found.narrow, made) if covariance else 0,
    )


def _terms(promises: Sequence[Promise]) -> int:
    """Columns of X whose fits are kept."""
    return sum(len(promise.terms or ()) for promise in promises)


def left_by(done: Protected, level: Domain, method: Method) -> NDArray[np.int64]:
    """Dimensions that means and fits in smaller groups leave in each group of a level."""
    design, rows, promises = done.design, done.marked, method.own_promises(done.design)
    finest = domains(promises)[-1]
    columns = tuple(dict.fromkeys([*level.by, *finest.by, *design.confidential]))

    def words(run: Sequence[Block]) -> NDArray[np.uint64]:
        Y = [np.array([as_float(block.columns[name]) for name in design.confidential]) for block in run]
        both = (level, finest)
        return np.hstack([[at.labels(block, y, design) for at in both] for block, y in zip(run, Y, strict=True)])

    found = np.hstack(list(rows.map(words, columns, "looking at groups")))
    groups, place = np.unique(found[0], return_inverse=True)
    pairs = np.unique(np.vstack([place.astype(np.uint64), found[1]]), axis=1)
    smaller = np.bincount(pairs[0].astype(np.int64), minlength=len(groups))
    mine, p = (_terms([each for each in promises if each.domain == at]) for at in (level, finest))
    return np.asarray(np.bincount(place) - smaller * (1 + p) - max(0, mine - p))


def parts_apart(done: Protected, method: Method) -> Iterator[GroupSummary]:
    """Parts of the records that several methods protect: nobody is told them, and covariances are kept in each."""
    if method.apart_of and "covariance" in method.kept:
        nu, rank = np.array([stratum.nu for stratum in done.strata]), gqr(pooled(done)[0]).rank
        sizes = np.array([stratum.spread.rows for stratum in done.strata])
        thin = int((nu <= 1).sum()), int((nu < 5).sum()), int((nu < max(10, rank + 1)).sum())
        yield GroupSummary("part", method.kept, len(sizes), int(sizes.min()), (0, 0), int(nu.min()), thin, rank)


def _groups(done: Protected, found: Concentration, flags: NDArray[np.bool_], made: bool) -> int:
    """How many groups are flagged; of those that a method has made only where the largest record is known by its size.

    Nobody knows who else is in such a group, unless it stands out in the file.
    """
    spread = done.spread
    known = found.first - np.abs(spread.mean) > FAR * spread.sd if made else np.ones_like(flags)
    return int((flags & known).any(axis=1).sum())


def sharing(done: Protected) -> Iterator[GroupSummary]:
    """Groups of records that are released with the same value, column by column."""
    spread = done.spread
    for j, name in enumerate(done.design.confidential):

        def of(run: Sequence[Block], name: str = name) -> Concentration:
            values = np.concatenate([as_float(block.columns[RELEASED + name]) for block in run])
            own = np.concatenate([as_float(block.columns[name]) for block in run])
            return Concentration.of(values, own[:, None])

        found = reduce(add, done.aligned.map(of, (name, RELEASED + name), "looking at groups"))
        known = found.first[:, 0] - abs(spread.mean[j]) > FAR * spread.sd[j]
        yield GroupSummary(
            f"released value of {name}",
            ("mean",),
            len(found.sizes),
            int(found.sizes.min()),
            (int((found.sizes < 3).sum()), int((found.sizes < 5).sum())),
            dominated=int((found.dominated[:, 0] & known).sum()),
        )


def explained_within(done: Protected) -> Counter[tuple[str, bool]]:
    """In how many pieces a column has no residual, because it is constant there (True) or a function of X (False).

    Where X leaves no degree of freedom it explains everything, and other rules speak.
    """
    found: Counter[tuple[str, bool]] = Counter()
    for stratum in (each for each in done.strata if each.nu > 0):
        flat, still = stratum.spread.constant, np.flatnonzero(~stratum.E.any(axis=0))
        found.update((stratum.design.confidential[j], bool(flat[j])) for j in still)
    return found
