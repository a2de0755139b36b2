"""Sine, cosine and arc tangent by arithmetic alone: the same bits on every machine and in both kernels.

A walk amplifies: what differs in the last bit is another release a hundred sweeps later.
"""

from __future__ import annotations

from typing import Any

import numpy as np

QUARTER = np.pi / 2
_S3, _S5, _S7, _S9, _S11, _S13, _S15 = (
    -1 / 6,
    1 / 120,
    -1 / 5040,
    1 / 362880,
    -1 / 39916800,
    1 / 6227020800,
    -1 / 1307674368000,
)
_C2, _C4, _C6, _C8, _C10, _C12, _C14, _C16 = (
    -1 / 2,
    1 / 24,
    -1 / 720,
    1 / 40320,
    -1 / 3628800,
    1 / 479001600,
    -1 / 87178291200,
    1 / 20922789888000,
)


def choose(condition: Any, one: Any, other: Any) -> Any:
    """One where a condition holds, the other where not; compiled loops have their own (`compiled`)."""
    return np.where(condition, one, other)


def sine(r: Any) -> Any:
    """sin r for |r| <= pi / 4, by its series.

    >>> bool(abs(sine(0.7) - np.sin(0.7)) < 2e-16)
    True
    """
    s = r * r
    return r + r * s * (_S3 + s * (_S5 + s * (_S7 + s * (_S9 + s * (_S11 + s * (_S13 + s * _S15))))))


def versine(r: Any) -> Any:
    """cos r - 1 for |r| <= pi / 4, by its series: small angles keep their digits.

    >>> bool(abs(versine(0.7) - (np.cos(0.7) - 1)) < 2e-16)
    True
    """
    s = r * r
    return s * (_C2 + s * (_C4 + s * (_C6 + s * (_C8 + s * (_C10 + s * (_C12 + s * (_C14 + s * _C16)))))))


def arctangent(z: Any) -> Any:
    """arctan z for |z| <= 1: the angle is halved twice, then the series.

    >>> bool(abs(arctangent(0.9) - np.arctan(0.9)) < 3e-16)
    True
    """
    h = z / (1.0 + np.sqrt(1.0 + z * z))
    h = h / (1.0 + np.sqrt(1.0 + h * h))
    s = h * h
    tail = 1 / 17 - s * (1 / 19 - s * (1 / 21 - s * (1 / 23 - s / 25)))
    return 4.0 * (
        h
        - h
        * s
        * (1 / 3 - s * (1 / 5 - s * (1 / 7 - s * (1 / 9 - s * (1 / 11 - s * (1 / 13 - s * (1 / 15 - s * tail)))))))
    )


def direction(turns: Any) -> Any:
    """cos - 1 and sin of an angle given in turns, in [0, 1].

    >>> c, s = direction(np.array([0.0, 0.25, 0.5, 0.75, 1.0]))
    >>> (c + 1).tolist(), (s + 0).tolist()
    ([1.0, 0.0, -1.0, 0.0, 1.0], [0.0, 1.0, 0.0, -1.0, 0.0])
    """
    x = 4.0 * turns
    quarter = np.floor(x + 0.5)
    r = (x - quarter) * QUARTER
    s, v, across = sine(r), versine(r), abs(quarter - 2.0) - 1.0  # of the nearest quarter: 1, 0, -1, 0, 1
    up = choose(quarter < 2.0, 1.0 - abs(across), abs(across) - 1.0)  # 0, 1, 0, -1, 0
    return (across * v - up * s) + (across - 1.0), up * (1.0 + v) + across * s


def turns(t: Any) -> Any:
    """The angle, in turns, of a bearing (a number that goes round in four quarters, see `arcs`).

    >>> turns(np.array([0.0, 0.5, 3.0, 4.0])).tolist()
    [0.0, 0.125, 0.75, 1.0]
    """
    quarter = np.floor(t)
    return np.maximum(0.25 * (quarter + 0.5 + arctangent(2.0 * (t - quarter) - 1.0) / QUARTER), 0.0)
