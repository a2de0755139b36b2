"""How alike residuals are that have nothing to do with each other: the null of their largest canonical correlation."""

from __future__ import annotations

from math import asin, exp, log, pi, sin, sqrt, tan

import numpy as np

from suffice.algebra.array import Array

POINT = 0.999
"""Of unrelated residuals, so many stay below the null."""
PERMUTATIONS, FEWEST, WORK = 1000, 20, 2e7
"""As many permutations, or fewer where rows times permutations would be above WORK."""
TRACY_WIDOM = 3.2724
"""The 99.9 % point of Tracy and Widom's law of order 1."""


def null(Q: Array, Qstar: Array, nu: int, generator: np.random.Generator) -> float:
    """The 99.9 % point of the largest canonical correlation of residuals that are unrelated.

    Of random permutations of the rows, for heavy tails, and, if that is higher, of new residuals in the nu dimensions
    that X leaves: permuted rows are not orthogonal to X.

    Q, Qstar: orthonormal bases of two sets of residuals, in the same rows.

    >>> rng = np.random.default_rng(1)
    >>> Q, Qstar = (np.linalg.qr(rng.normal(size=(400, 2)))[0] for _ in range(2))
    >>> bool(np.linalg.norm(Q.T @ Qstar, 2) < null(Q, Qstar, 400, rng) < 0.3)
    True
    """
    if not Q.size or not Qstar.size:
        return 0.0
    return max(_permuted(Q, Qstar, generator), chance(min(Q.shape[1], Qstar.shape[1]), nu))


def _permuted(Q: Array, Qstar: Array, generator: np.random.Generator) -> float:
    n = len(Q)
    if n * PERMUTATIONS > WORK:
        C = np.stack([Q.T @ Qstar[generator.permutation(n)] for _ in range(max(int(WORK // n), FEWEST))])
    else:
        C = np.concatenate([_turned(Q, Qstar[generator.permutation(n)]) for _ in range(-(-PERMUTATIONS // n))])
    largest = np.linalg.svd(C, compute_uv=False)[:, 0]
    return float(min(np.quantile(largest, POINT), 1.0))


def _turned(Q: Array, Qstar: Array) -> Array:
    """Q'Q* with the rows of Q* moved on by 0, 1, 2... places in a circle: convolutions, all for the price of a few.

    >>> _turned(np.array([[1.0], [2.0], [0.0]]), np.array([[3.0], [5.0], [7.0]])).round(12).ravel().tolist()
    [13.0, 19.0, 13.0]
    """
    n, places = len(Q), np.linspace(0, len(Q), min(len(Q), PERMUTATIONS), endpoint=False).astype(np.intp)
    F, G = np.fft.rfft(Q, axis=0).conj(), np.fft.rfft(Qstar, axis=0)
    return np.stack([np.fft.irfft(f[:, None] * G, n, axis=0)[places] for f in F.T], axis=1)


def chance(k: int, nu: int) -> float:
    """The 99.9 % point of the largest canonical correlation of k columns and k new ones in nu dimensions.

    One column: exact, the square is Beta(1/2, (nu - 1)/2). More: Johnstone (2008), Multivariate analysis and
    Jacobi ensembles, Annals of Statistics 36, theorem 1: the logit of the square is mu + sigma F, F of Tracy and
    Widom's law of order 1; here p = n = k, m = nu - k, so that the two angles are equal.

    >>> round(chance(1, 100), 3), round(chance(10, 30), 2), chance(10, 19)  # simulated: .322, .98, 1
    (0.323, 0.98, 1.0)
    """
    if k == 0 or nu < 2 * k:
        return float(k > 0)
    if k == 1:
        from scipy.special import betaincinv  # the one thing needed of a large package

        return sqrt(float(betaincinv(0.5, (nu - 1) / 2, POINT)))
    angle = 2 * asin(sqrt((k - 0.5) / (nu - 1)))
    if 2 * angle >= pi:
        return 1.0
    mu = 2 * log(tan(angle))
    sigma = (16 / (nu - 1) ** 2 / (sin(2 * angle) * sin(angle)) ** 2) ** (1 / 3)
    return sqrt(1 / (1 + exp(-mu - sigma * TRACY_WIDOM)))
