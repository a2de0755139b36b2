"""Section 6 of Langsrud (2019) word for word, with loops over clusters and all dummy variables made."""

from __future__ import annotations

import numpy as np

from suffice.algebra.addition import share
from suffice.algebra.array import Array
from suffice.algebra.decomposition import scores, split
from tests.algorithms.hybrid.cases import Request, crossed, design


def oracle(Y: Array, Z: Array, given: Request, slopes: float | None = None) -> Array:
    n = len(Y)
    clusters = given.get("clusters", np.zeros(n, dtype=int))
    rows = [np.flatnonzero(clusters == c) for c in np.unique(clusters)]
    XB = given.get("overall", np.zeros((n, 0)))
    if "groups_given" in given:  # modification d
        XB = np.hstack([XB, crossed(given["groups_given"], given["cluster_groups"])])
    Y1, Ys1, X2 = np.empty_like(Y), np.empty_like(Y), np.empty_like(XB)
    Y2ext, Ys2ext = np.empty_like(Y), np.empty_like(Y)
    for r in rows:
        XA = design({p: given[p][r] for p in ("local", "pieces", "pieces_given") if p in given}, len(r))  # and e
        Y1[r], Ys1[r] = split(Y[r], XA)[0], split(Z[r], XA)[0]  # item 2
        X2[r] = split(XB[r], XA)[1]  # item 3
        Y2ext[r], Ys2ext[r] = split(Y[r], X2[r])[0], split(Z[r], X2[r])[0]  # item 4
    E4, Es4 = Y - Y1 - Y2ext, Z - Ys1 - Ys2ext  # item 5
    E4[np.abs(E4) < 1e-11], Es4[np.abs(Es4) < 1e-11] = 0, 0
    Y2, Ys2 = split(Y, X2)[0], split(Z, X2)[0]  # item 7
    E3, Es3 = Y2ext - Y2, Ys2ext - Ys2  # item 8
    E3[np.abs(E3) < 1e-11], Es3[np.abs(Es3) < 1e-11] = 0, 0
    Ts3 = scores(Es3)[0]
    W3 = scores(E3)[1][
        : Ts3.shape[1]
    ]  # X_3 has no more dimensions; what a small first column leaves of others is rounding
    E3star = (1.0 if slopes is None else slopes) * Ts3[:, : len(W3)] @ W3  # item 9
    E4star = np.zeros_like(Y)
    for r in rows:
        W = scores(E4[r])[1] if slopes is None else share(E3[r] + E4[r], E3star[r]).C(1.0)  # item 6; a, b and c
        E4star[r] = scores(Es4[r])[0][:, : len(W)] @ W
    return Y1 + Y2 + E3star + E4star  # item 10
