"""Records drawn from half of a file, beside the other half: what a draw tells of those that it learnt from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algebra.decomposition import gqr
from suffice.design.design import Design
from suffice.method.method import Method
from suffice.method.synthetic import Synthetic, records_of
from suffice.protection.protected import Protected
from suffice.risk.leaving import cells_at
from suffice.rows.memory import ArrayRows
from suffice.rows.rows import Rows
from suffice.seed import Seed

SPLITS, MOST = 4, 2000
"""Times that a file is halved, and records of a half at most."""
DRAWN = 10_000
"""Records that are drawn from a half, at most, or as many as it has."""
LEAST = 20
"""Records of a half, at least, for it to tell anything."""
NEAR = 0.05
"""An end is reproduced within this share of the range, where the other half's end is farther off."""
LONE, TIMES = 1.25, 12
"""A giant lies so many times as far out as the next record; times that all records are drawn from, where there are."""
ELSEWHERE = (0.8, 0.9)
"""Other multiples of its distance: draws that are found there, too, are chance."""


@dataclass(frozen=True)
class HeldOut:
    """auc: the chance that a record that was learnt from is nearer to what was drawn than one that was not
    error: how far chance alone brings that from .5, one standard error
    ends: of each column the share of draws that reproduce an end of the half that was learnt from, and not the other's
    giants: of columns with one, the share of draws that have a value within 5 % of its distance, beyond chance
    """

    auc: float = 0.5
    error: float = 0.0
    ends: tuple[float, ...] = ()
    giants: Mapping[str, float] = field(default_factory=dict)


def held_out(done: Protected, method: Method) -> HeldOut:
    """Of methods that draw records from more than means and covariances; the same whatever the key."""
    first = getattr(method, "steps", (method,))[0]
    if not (isinstance(first, Synthetic) and first.learns) or first.aligned or done.rows.n < 2 * LEAST:
        return HeldOut()
    from suffice.risk.membership import membership  # SciPy's statistics, where they are wanted

    design, rng = done.design, np.random.default_rng(0)
    place = rng.permutation(done.rows.n)[: 2 * MOST]
    columns = {name: cells_at(values, place) for name, values in done.rows.gather(design.columns).items()}
    half, found, ends = len(place) // 2, [], []
    share = 1.0 if first.records is None else first.records / done.rows.n
    for number in range(SPLITS):
        mixed = rng.permutation(len(place))
        inside, outside = (_part(columns, part, done.rows) for part in (mixed[:half], mixed[half:]))
        Y, others = (records_of(part, design)[0] for part in (inside, outside))
        Ystar = _drawn(first, first.learn(inside, design), Y, number, share)
        found.append(membership(Y, others, Ystar).auc)
        ends.append(_reproduced(Y, others, Ystar))
    error = np.sqrt((2 * half + 1) / (12 * half * half) / SPLITS)
    return HeldOut(
        float(np.mean(found)),
        float(error),
        tuple(np.mean(ends, axis=0).tolist()),
        _giants(done.rows, design, first, share),
    )


def _part(columns: Mapping[str, Any], place: NDArray[np.int64], rows: Rows) -> Rows:
    """Some of the rows, in memory."""
    part = ArrayRows({name: cells_at(values, place) for name, values in columns.items()}, rows.kinds)
    part.coding = rows.coding
    return part


def _giants(rows: Rows, design: Design, method: Synthetic, share: float) -> dict[str, float]:
    """Records that lie far beyond all others in a column, looked for in draws from a file that has them."""
    Y = records_of(rows, design)[0]
    mean, cells = Y.mean(axis=0), np.arange(design.k)
    out = np.abs(Y - mean)
    who = out.argmax(axis=0)
    far = Y[who, cells] - mean
    out[who, cells] = 0.0
    lone = np.flatnonzero(np.abs(far) > LONE * out.max(axis=0))
    if not len(lone):
        return {}
    some = np.random.default_rng(0).permutation(len(Y))[: 2 * MOST]
    place = np.union1d(some, who[lone])
    model, seen = method.learn(_part(rows.gather(design.columns), place, rows), design), []
    for number in range(TIMES):
        drawn = _drawn(method, model, Y[place], SPLITS + number, share)[:, lone] - mean[lone]
        there = [(np.abs(drawn - far[lone] * at) <= NEAR * np.abs(far[lone])).any(axis=0) for at in (1.0, *ELSEWHERE)]
        seen.append(there)
    own, *other = np.mean(seen, axis=0)
    chance = np.mean(other, axis=0)
    beyond = np.maximum(own - chance, 0.0) / np.maximum(1 - chance, 1e-9)
    return {design.confidential[j]: float(share) for j, share in zip(lone, beyond, strict=True)}


def _drawn(method: Synthetic, model: Any, Y: Array, number: int, share: float) -> Array:
    """As many records for each of Y as the release has for each of its file; the more, the more they tell."""
    count = int(np.clip(round(share * len(Y)), 1, max(len(Y), DRAWN)))
    mean, stream = Y.mean(axis=0), Seed.for_tests(0).derive("half", str(number))
    return method.draw(mean, gqr(Y - mean).R / np.sqrt(len(Y)), model, count, stream)


def _reproduced(Y: Array, others: Array, Ystar: Array) -> Array:
    near = NEAR * np.ptp(Y, axis=0)
    own, theirs, drawn = (np.array([A.max(axis=0), A.min(axis=0)]) for A in (Y, others, Ystar))
    there = (np.abs(drawn - own) <= near) & (np.abs(theirs - own) > near)
    return np.asarray(there.any(axis=0), dtype=np.float64)
