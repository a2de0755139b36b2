"""Tables to part, and MDAV in ten lines: what every faster form must agree with."""

from __future__ import annotations

from math import fsum

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from numpy.typing import NDArray

from suffice.algebra.array import Array
from tests.places import SHARED

EIA = [
    *("UTILITYID", "RESREVENUE", "RESSALES", "COMREVENUE", "COMSALES"),
    *("INDREVENUE", "INDSALES", "OTHREVENUE", "OTHRSALES", "TOTREVENUE", "TOTSALES"),
]


def shared(name: str) -> Array:
    """The numeric columns that the literature's figures use."""
    assert SHARED is not None
    data = pd.read_csv(SHARED / "data" / f"{name}.csv")
    return (data[EIA] if name == "EIA" else data).to_numpy(dtype=np.float64)


def definition(V: Array, k: int) -> NDArray[np.int64]:
    """MDAV as it is written down; the lowest row of equals."""
    labels, left, groups = np.full(len(V), -1), list(range(len(V))), 0

    def away(q: list[float]) -> dict[int, float]:
        return {i: sum(t * t for t in (float(v) - c for v, c in zip(V[i], q, strict=True))) for i in left}

    while len(left) >= 2 * k:
        q = [fsum(V[left, j]) / len(left) for j in range(V.shape[1])]
        for _ in range(2 if len(left) >= 3 * k else 1):
            d = away(q)
            r = min(left, key=lambda i: (-d[i], i))
            q, d = [float(v) for v in V[r]], away([float(v) for v in V[r]])
            group = [r, *sorted((i for i in left if i != r), key=lambda i: (d[i], i))[: k - 1]]
            labels[group], groups = groups, groups + 1
            left = [i for i in left if i not in group]
    labels[left] = groups
    return labels


@st.composite
def tables(draw: st.DrawFn, most: int = 60) -> tuple[Array, int]:
    """Records and a group size: normal, skewed, far from zero, or few whole numbers with many duplicates and ties."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    k, p = draw(st.integers(1, 6)), draw(st.integers(1, 7))
    V = rng.standard_normal((k + draw(st.integers(0, most)), p))
    kind = draw(st.sampled_from(["normal", "skewed", "offset", "whole", "equal", "grid"]))
    if kind == "skewed":
        V = np.exp(2 * V)
    elif kind == "offset":
        V = 1e9 + V
    elif kind in ("whole", "equal", "grid"):
        V = rng.integers(0, {"whole": 3, "equal": 1, "grid": 10}[kind], V.shape).astype(float)
    return V, k
