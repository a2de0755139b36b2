"""The turn of a group, record by record and column by column: the one source of both kernels.

A cell y[e, j] of record e and column j is a number where loops are compiled, group after group, and a row of numbers,
one for each of many groups side by side, where NumPy works. So there is no `if` on a value here, only `choose` (and
`some`, to pass over what changes nothing); and every sum is added in one order, so that both kernels make the same
bits. A walk amplifies: what differs in the last bit is another release a hundred sweeps later.
"""

# mypy: disable-error-code="no-untyped-call, no-untyped-def"
from __future__ import annotations

import numpy as np

from suffice.algebra.array import EPS
from suffice.algorithms.rotation.trigonometry import choose, some
from suffice.design.limits import CLOSE

VANISHED = 256 * EPS
"""A column whose part outside the columns before it is at most this share of it adds no direction in a group."""
SLACK = CLOSE / 2
"""A turn keeps an edit when it is exceeded by no more than this share of its terms: half of what a check allows."""
THIRD = 1 / 3**0.5


def circle_of_three(y, b, d) -> None:
    """The radius vectors of three records with the intercept alone: there is one plane."""
    for j in range(y.shape[1]):
        y0, y1, y2 = y[0, j], y[1, j], y[2, j]
        e1, e2 = y1 - y0, y2 - y0  # equal cells turn by nothing at all
        mean = (e1 + e2) / 3.0
        b[0, j], b[1, j], b[2, j] = -mean, e1 - mean, e2 - mean
        d[0, j], d[1, j], d[2, j] = (y2 - y1) * THIRD, (y0 - y2) * THIRD, e1 * THIRD


def dot(x, y):
    """x'y, record after record."""
    total = x[0] * y[0] + 0.0
    for e in range(1, len(x)):
        total = total + x[e] * y[e]
    return total


def orthonormalise(basis) -> None:
    """Gram-Schmidt, twice, of columns (columns x records), in place; a column without a direction of its own is 0."""
    own, count = np.empty(len(basis), dtype=np.int64), 0  # in small groups few of many given columns have a direction
    for c in range(len(basis)):
        size = dot(basis[c], basis[c])
        for _ in range(2):
            for o in own[:count]:
                column, other = basis[c], basis[o]
                along = dot(other, column)
                for e in range(len(column)):
                    column[e] = column[e] - along * other[e]
        rest = dot(basis[c], basis[c])
        counts = np.sqrt(rest) > VANISHED * np.sqrt(size)
        inverse = choose(counts, 1.0 / np.sqrt(rest), 0.0)
        for e in range(basis.shape[1]):
            basis[c, e] = basis[c, e] * inverse
        if some(counts):
            own[count] = c
            count += 1


def circle(y, u, v, root, centred, b, d, p, q) -> None:
    """The radius vectors b = u u'y + v v'y and d = v u'y - u v'y; zero where there are no two directions.

    root: sqrt(w) of the records. p, q: where u'y and v'y are worked out.
    """
    both = dot(u, u) * dot(v, v) > 0.5
    p[:], q[:] = 0.0, 0.0
    for e in range(len(y)):
        ue, ve = root[e] * u[e], root[e] * v[e]
        for j in range(y.shape[1]):
            away = y[e, j] - y[0, j] if centred else y[e, j] + 0.0  # equal cells turn by nothing at all
            p[j] += ue * away
            q[j] += ve * away
    for e in range(len(y)):
        ue, ve = choose(both, u[e] / root[e], 0.0), choose(both, v[e] / root[e], 0.0)
        for j in range(y.shape[1]):
            b[e, j] = ue * p[j] + ve * q[j]
            d[e, j] = ve * p[j] - ue * q[j]


def turned(y, b, d, cos, sin):
    """A cell after a turn: the change is added, so that no turn is no change."""
    return cos * b + sin * d + y


def beyond(cell, low, high):
    """Whether a cell breaks a bound."""
    return (cell < low) | (cell > high)


def edits_fail(new, C, rhs):
    """Whether a record breaks an edit, beyond the rounding of its terms."""
    out = False
    for c in range(len(C)):
        total, terms = 0.0, 0.0
        for j in range(len(new)):
            total = total + C[c, j] * new[j]
            terms = terms + abs(C[c, j] * new[j])
        out = out | (total > rhs[c] + SLACK * (terms + abs(rhs[c])))
    return out
