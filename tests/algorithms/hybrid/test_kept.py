"""The list of what is kept is true, and nothing is missing from it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algorithms.hybrid.algorithm import hybrid
from suffice.algorithms.hybrid.kept import KeptStatistic, kept
from suffice.algorithms.hybrid.slopes import Slopes
from tests.algorithms.hybrid.cases import Request, asked, design, file, pairs, residuals

MODELS: tuple[tuple[str, ...], ...] = (
    (),
    ("local",),
    ("overall",),
    ("clusters",),
    ("clusters", "local"),  # MHa
    ("pieces", "local"),  # MHb
    ("pieces", "pieces_given"),
    ("clusters", "overall"),
    ("clusters", "local", "overall"),
    ("clusters", "pieces", "local"),
    ("clusters", "pieces", "local", "overall"),
    ("clusters", "pieces", "pieces_given", "local", "overall"),
    ("clusters", "cluster_groups", "groups_given"),
    ("clusters", "cluster_groups", "groups_given", "local"),
    ("clusters", "cluster_groups", "groups_given", "local", "overall"),
    ("clusters", "pieces", "pieces_given", "cluster_groups", "groups_given", "local", "overall"),
)
SLOPES: tuple[Slopes, ...] = (None, 0, 0.4, "largest")
GIVEN = ("local", "pieces_given", "groups_given", "overall")
NEAR, FAR = 1e-12, 1e-4
"""Kept or not: nothing may lie between."""


def requests() -> Iterator[tuple[tuple[str, ...], Slopes]]:
    for parts in MODELS:
        free = {"overall", "groups_given"} & set(parts)
        yield from ((parts, slopes) for slopes in (SLOPES if free and "clusters" in parts else (None,)))


@pytest.mark.parametrize(("parts", "slopes"), list(requests()))
def test_kept_is_what_the_numbers_say(parts: tuple[str, ...], slopes: Slopes) -> None:
    Y, Z, given = file()
    request = asked(given, *parts)
    Ystar = hybrid(Y, Z, **request, slopes=slopes).Ystar
    assert np.abs(Ystar - Y).max() > 0.1
    found = {claim for claim, error in candidates(request, Y, Ystar) if small(error)}
    claims = set(kept(parts, slopes))
    assert claims <= found
    assert not {claim for claim in found - claims if not implied(claim, claims)}


def small(error: float) -> bool:
    assert error < NEAR or error > FAR, "neither kept nor lost"
    return error < NEAR


def implied(claim: KeptStatistic, claims: set[KeptStatistic]) -> bool:
    """By another claim at the same level: a fit on fewer columns, or residuals where fit and covariance are kept."""
    here = [other for other in claims if other.level == claim.level]
    if claim.what == "fit":
        return any(other.what == "fit" and set(claim.columns) <= set(other.columns) for other in here)
    return "residual" in claim.what and any(other.what == "covariance" for other in here)


def candidates(request: Request, Y: Array, Ystar: Array) -> Iterator[tuple[KeptStatistic, float]]:
    """Everything that might be kept, with its largest error over the parts of its level."""
    X = design(request, len(Y))
    E, Estar = residuals(Y, X).astype(float), residuals(Ystar, X).astype(float)
    columns = tuple(part for part in GIVEN if part in request)
    fits = {tuple(c for c in columns if c in which) for which in (columns, *subsets(columns)) if which}
    for level, labels in levels(request, len(Y)):
        rows = [np.flatnonzero(labels == label) for label in np.unique(labels)]
        yield KeptStatistic(level, "mean"), max(gap(Y[r].mean(axis=0), Ystar[r].mean(axis=0)) for r in rows)
        yield KeptStatistic(level, "covariance"), max(gap(np.cov(Y[r].T), np.cov(Ystar[r].T)) for r in rows)
        for which in fits:
            F = np.hstack([np.ones((len(Y), 1)), *(request[part] for part in which)])
            yield KeptStatistic(level, "fit", which), max(gap(F[r].T @ Y[r], F[r].T @ Ystar[r]) for r in rows)
        yield (
            KeptStatistic(level, "residual covariance", columns),
            max(gap(E[r].T @ E[r], Estar[r].T @ Estar[r]) for r in rows),
        )
        if level == "cluster":
            yield from of_clusters(request, Y, Ystar, rows)


def of_clusters(
    request: Request, Y: Array, Ystar: Array, rows: list[NDArray[np.int64]]
) -> Iterator[tuple[KeptStatistic, float]]:
    columns = tuple(part for part in GIVEN if part in request)
    free = tuple(part for part in columns if part in ("groups_given", "overall"))
    own, slope, group_slopes = 0.0, [], []
    for r in rows:
        inside = {part: value[r] for part, value in request.items() if part not in ("clusters", "cluster_groups")}
        inside |= {"overall": np.hstack([request[part][r] for part in free] or [np.zeros((len(r), 0))])}
        inside.pop("groups_given", None)
        D = design(inside, len(r))
        E, Estar = residuals(Y[r], D).astype(float), residuals(Ystar[r], D).astype(float)
        own = max(own, gap(E.T @ E, Estar.T @ Estar))
        rest = residuals(inside["overall"], design(inside | {"overall": np.zeros((len(r), 0))}, len(r))).astype(float)
        slope.append(np.linalg.lstsq(rest, Ystar[r], rcond=None)[0])
        group_slopes.append(int(request["cluster_groups"][r[0]]) if "cluster_groups" in request else 0)
    if columns:
        yield KeptStatistic("cluster", "own residual covariance", columns), own
    if free:
        same = [gap(a, b) for a, g in zip(slope, group_slopes, strict=True)
                for b, h in zip(slope, group_slopes, strict=True) if g == h]  # fmt: skip
        yield KeptStatistic("cluster", "equal slopes", free), max(same)


def levels(request: Request, n: int) -> Iterator[tuple[str, NDArray[np.int64]]]:
    clusters = request.get("clusters", np.zeros(n, dtype=int))
    yield "overall", np.zeros(n, dtype=int)
    if "cluster_groups" in request:
        yield "cluster group", request["cluster_groups"]
    if "clusters" in request:
        yield "cluster", clusters
    if "pieces" in request:
        yield "piece", pairs(clusters, request["pieces"])


def subsets(columns: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for bits in range(1, 2 ** len(columns)):
        yield tuple(c for j, c in enumerate(columns) if bits >> j & 1)


def gap(a: Array, b: Array) -> float:
    return float(np.abs(a - b).max(initial=0.0) / max(1.0, np.abs(a).max(initial=0.0)))
