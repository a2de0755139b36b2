"""Angles, sine, cosine and a logarithm by arithmetic alone: the same bits on every machine and in both kernels.

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

_FRACTION = 2.0**-52
_ONE = int(np.float64(1.0).view(np.int64))
_STEPS = np.array([i * 0x9E3779B97F4A7C15 % 2**64 for i in range(1, 65)], dtype=np.uint64)
_FACTORS = np.array([0xBF58476D1CE4E5B9, 0x94D049BB133111EB], dtype=np.uint64)
_SHIFTS = np.array([30, 27, 31, 11], dtype=np.uint64)


def choose(condition: Any, one: Any, other: Any) -> Any:
    """One where a condition holds, the other where not; compiled loops have their own (`compiled`)."""
    return np.where(condition, one, other)


def some(flags: Any) -> Any:
    """Whether a condition holds in any of many groups; in compiled loops it is that of the one."""
    return flags.any()


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


def direction(turns: Any) -> Any:
    """cos - 1 and sin of an angle given in turns, in [-1, 1].

    >>> c, s = direction(np.array([0.0, 0.25, 0.5, 0.75, 1.0]))
    >>> (c + 1).tolist(), (s + 0).tolist()
    ([1.0, 0.0, -1.0, 0.0, 1.0], [0.0, 1.0, 0.0, -1.0, 0.0])
    """
    x = 4.0 * choose(turns < 0.0, turns + 1.0, turns)
    quarter = np.floor(x + 0.5)
    r = (x - quarter) * QUARTER
    s, v, across = sine(r), versine(r), abs(quarter - 2.0) - 1.0  # of the nearest quarter: 1, 0, -1, 0, 1
    up = choose(quarter < 2.0, 1.0 - abs(across), abs(across) - 1.0)  # 0, 1, 0, -1, 0
    return (across * v - up * s) + (across - 1.0), up * (1.0 + v) + across * s


def angle(seed: Any, number: int) -> Any:
    """A number in [0, 1): the next one of a seed (splitmix64), or of many.

    >>> angle(np.array([7, 7], dtype=np.uint64), 0).tolist() == angle(np.array([7, 8], dtype=np.uint64), 1).tolist()
    False
    """
    z = seed + _STEPS[number]
    z = (z ^ (z >> _SHIFTS[0])) * _FACTORS[0]
    z = (z ^ (z >> _SHIFTS[1])) * _FACTORS[1]
    return ((z ^ (z >> _SHIFTS[2])) >> _SHIFTS[3]) * 2.0**-53


def narrowed(left: Any, right: Any, t: Any) -> Any:
    """The bracket around 0 that is left where t is not allowed."""
    return choose(t > 0.0, left, t), choose(t > 0.0, t, right)


def lg(v: Any) -> Any:
    """The logarithm of v >= 1 to the base 2, straight between powers of two: the bits of v, read as a number.

    It rises with v and is off by less than 0.09; and it is the same on every machine.

    >>> lg(np.array([1.0, 2.0, 3.0, 4.0])).tolist()
    [0.0, 1.0, 1.5, 2.0]
    """
    return (np.float64(v).view(np.int64) - _ONE) * _FRACTION  # numba wants the type said


def signed_lg(y: Any, scale: float) -> Any:
    """sign(y) lg(1 + |y| / scale)."""
    return np.copysign(lg(1.0 + np.abs(y) / scale), y)
