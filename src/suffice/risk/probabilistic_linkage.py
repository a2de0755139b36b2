"""Probabilistic record linkage: by which columns agree, and what agreement is worth (Fellegi & Sunter 1969)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.measure.measure import SHARE, Measure, Value
from suffice.measure.pair import FilePair
from suffice.risk.attack import ROOM, tried
from suffice.risk.linkage import SAME

TOLERANCE, MOST, STEPS, LEAST = 0.1, 500, 200, 1e-6
"""Standard deviations within which values agree; originals that are linked; steps of EM; the least probability."""


@dataclass(frozen=True, repr=False)
class ProbabilisticLinkage:
    """share: originals whose own released record has the largest weight, and of those that have it is nearest
    m, u: for each column, how often records agree that belong together, and any two others
    """

    share: float
    m: Array
    u: Array
    tried: int


def probabilistic_linkage(Y: Array, Ystar: Array, tolerance: Array | None = None) -> ProbabilisticLinkage:
    """Released records are ranked by the sum of log(m/u) where a column agrees, of log((1-m)/(1-u)) where not.

    Values agree within the tolerance, .1 standard deviations of the original unless told. m and u are found by EM from
    the patterns of agreement of all pairs alone, one in n of which belongs together (Jaro 1989): a linker knows no
    more. Of more than 500 originals 500 are linked, among all released records; 1 / n is chance.

    >>> Y = np.random.default_rng(1).normal(size=(50, 3))
    >>> round(probabilistic_linkage(Y, Y).share, 2), probabilistic_linkage(Y, Y[::-1]).share
    (1.0, 0.0)
    """
    n, some = len(Ystar), tried(len(Y), MOST)
    sd = Y.std(axis=0)
    scale = np.where(sd > 0, sd, 1.0)
    reach = TOLERANCE * sd if tolerance is None else np.asarray(tolerance)
    patterns: Counter[int] = Counter()
    for _, agreed in _agreements(Y, Ystar, reach, some):
        codes = sum(each.astype(np.int64) << j for j, each in enumerate(agreed))
        found, count = np.unique(codes, return_counts=True)
        patterns.update(dict(zip(found.tolist(), count.tolist(), strict=True)))
    codes, count = (np.array(list(each)) for each in (patterns.keys(), patterns.values()))
    G = (codes[:, None] >> np.arange(Y.shape[1]) & 1).astype(np.float64)
    m, u = _estimated(G, count.astype(np.float64), 1 / n)
    plus, minus = np.log(m / u), np.log((1 - m) / (1 - u))
    linked = 0.0
    for places, agreed in _agreements(Y, Ystar, reach, some):
        weight = sum(np.where(each, a, b) for each, a, b in zip(agreed, plus, minus, strict=True))
        best = weight >= weight.max(axis=1)[:, None] - 1e-9
        for place, among in zip(places, best, strict=True):
            if among[place]:
                far = (np.abs(Ystar[among] - Y[place]) / scale).sum(axis=1)
                own = float((np.abs(Ystar[place] - Y[place]) / scale).sum())
                linked += 0.0 if (far < own * (1 - SAME)).any() else 1 / float((far <= own * (1 + SAME) + SAME).sum())
    return ProbabilisticLinkage(linked / max(1, len(some)), m, u, len(some))


def _agreements(
    Y: Array, Ystar: Array, reach: Array, some: NDArray[np.intp]
) -> Iterator[tuple[NDArray[np.intp], list[NDArray[np.bool_]]]]:
    """Which released records agree with some originals, a column after the other, some originals at a time."""
    step = max(1, ROOM // max(1, len(Ystar)))
    for places in (some[i : i + step] for i in range(0, len(some), step)):
        pairs = zip(Y[places].T, Ystar.T, reach, strict=True)
        yield places, [np.abs(a[:, None] - b) <= r for a, b, r in pairs]


def _estimated(G: Array, count: Array, prior: float) -> tuple[Array, Array]:
    """EM for m and u of a mixture whose columns agree independently; m starts near 1."""
    u = np.clip(count @ G / count.sum(), LEAST, 1 - LEAST)
    m = np.clip(0.9 + 0.1 * u, LEAST, 1 - LEAST)
    for _ in range(STEPS):
        a, b = (G @ np.log(p) + (1 - G) @ np.log(1 - p) for p in (m, u))
        g = 1 / (1 + (1 - prior) / prior * np.exp(np.clip(b - a, -700, 700)))
        one, two = count * g, count * (1 - g)
        now = np.clip(one @ G / max(one.sum(), LEAST), LEAST, 1 - LEAST)
        u, far, m = np.clip(two @ G / two.sum(), LEAST, 1 - LEAST), np.abs(now - m).max(), now
        if far < 1e-9:
            break
    return m, u


def _measured(pair: FilePair) -> Value:
    found = probabilistic_linkage(pair.Y, pair.Ystar)
    said = "" if found.tried == len(pair.Y) else f"{found.tried} records are looked for"
    return Value(found.share, {}, 1 / len(pair.Ystar), said)


MEASURES = (
    Measure(
        "probabilistic-linkage",
        _measured,
        frozenset({"aligned rows", "numbers"}),
        SHARE,
        "higher is riskier",
        "share of records whose own released record has the largest weight of agreement, columns agreeing within .1 "
        "standard deviations and weighing log(m/u) or log((1-m)/(1-u)) with m and u by EM; of equals the nearest",
        "Fellegi & Sunter (1969); Jaro (1989)",
        most=20_000,
    ),
)
