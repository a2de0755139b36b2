"""Kept components: far by distance, and yet every record is linked through them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist

from suffice import PcaMask, Restore, ScoreCorrelation
from suffice.algebra.array import Array
from suffice.algebra.decomposition import scores
from suffice.microdata.pca_mask import components_of
from suffice.release.release import Release
from tests.attacks.victims import confidential, residuals, roles, rules, unguarded

N, K, KEPT = 300, 6, 2


def factors() -> pd.DataFrame:
    """Six columns with one strong factor: the last two components hold little of the variance."""
    rng = np.random.default_rng(3)
    Y = rng.normal(size=(N, 1)) * np.linspace(1, 2, K) + 0.4 * rng.normal(size=(N, K))
    return pd.DataFrame({"x": rng.normal(size=N), **{f"y{j}": Y[:, j] for j in range(K)}})


def linkage(released: Array, original: Array) -> float:
    """Share of records whose nearest released record is their own."""
    scale = original.std(axis=0)
    return float((cdist(original / scale, released / scale).argmin(axis=1) == np.arange(len(original))).mean())


def through_kept(release: Release, frame: pd.DataFrame) -> float:
    """The same with the loadings known: distances in the kept components alone."""
    _, W = scores(residuals(frame), "svd")
    kept = np.linalg.inv(W)[:, -KEPT:]
    return linkage(residuals(release.aligned()) @ kept, residuals(frame) @ kept)


def test_kept_scores_of_the_svd() -> None:
    frame = factors()
    release = unguarded(frame, ScoreCorrelation(d=(0.0,) * (K - KEPT) + (1.0,) * KEPT, by="svd"))
    assert release.assessment.resemblance.altered_share > 0.9
    assert linkage(confidential(release.aligned()), confidential(frame)) < 0.05
    assert through_kept(release, frame) == 1.0
    assert release.assessment.resemblance.canonical > 1 - 1e-9
    assert release.assessment.resemblance.kept_scores == KEPT
    assert "residual-correlation" in rules(release, "stop")
    assert "kept-scores" in rules(release, "warn")


def test_swapped_components_restored() -> None:
    """A masked file from elsewhere has no d: the canonical correlation alone speaks."""
    frame = factors()
    T, W = scores(residuals(frame), "svd")
    rng = np.random.default_rng(4)
    swapped = T.copy()
    swapped[:, :-KEPT] = T[rng.permutation(N), :-KEPT]
    candidate = frame.assign(**dict(zip(roles(frame).confidential, (swapped @ W).T, strict=True)))
    release = unguarded(frame, Restore(candidate))
    assert linkage(confidential(release.aligned()), confidential(frame)) < 0.05
    assert through_kept(release, frame) > 0.5
    assert max(map(abs, release.assessment.resemblance.correlations)) < 0.7
    assert "canonical-correlation" in rules(release, "stop")


def test_new_scores_leave_no_such_link() -> None:
    frame = factors()
    release = unguarded(frame, ScoreCorrelation(d=None, by="svd"))
    assert through_kept(release, frame) < 0.05
    assert not rules(release, "warn", "stop", "never") - {"seed"}


def test_components_that_are_not_altered() -> None:
    """PCA masking of the first components: distances say nothing, and the others link every record."""
    frame = factors()
    release = unguarded(frame, PcaMask(components=K - KEPT))
    assert release.assessment.resemblance.altered_share > 0.9
    assert linkage(confidential(release.aligned()), confidential(frame)) < 0.05
    V = components_of(confidential(frame)).W[:, -KEPT:]
    kept = [(confidential(each) - confidential(frame).mean(axis=0)) / confidential(frame).std(axis=0) @ V
            for each in (release.aligned(), frame)]  # fmt: skip
    assert linkage(kept[0], kept[1]) == 1.0
    assert "canonical-correlation" in rules(release, "stop")
    assert "kept-scores" in rules(release, "warn")


def test_less_than_half_of_the_variance_is_altered() -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"x": rng.normal(size=N), **{f"y{j}": rng.normal(size=N) for j in range(K)}})
    release = unguarded(frame, PcaMask(components=1))
    assert release.assessment.resemblance.altered_share < 0.5
    assert linkage(confidential(release.aligned()), confidential(frame)) > 0.5
    assert "kept-scores" in rules(release, "stop")
    assert not {"kept-scores", "canonical-correlation"} & rules(unguarded(frame, PcaMask()), "warn", "stop")
