"""Sums that hold in every record, found by rank: total = part + part, with small whole coefficients."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from suffice.algebra.array import Array

LARGEST = 3
"""A coefficient of a sum that people mean, at most."""
WITNESSES = 20
"""Different records that a sum must hold in, at least, and four for each of its columns: fewer may meet by chance."""
ALIKE = 1e-9
"""Share of its largest term by which a sum may miss: what decimals lose when they are added."""


@dataclass(frozen=True)
class Sum:
    """total = sum_j c_j part_j.

    >>> print(Sum("income", {"wages": 1, "rents": 1, "losses": -2}))
    income == wages + rents - 2*losses
    """

    total: str
    parts: Mapping[str, int]

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.total, *self.parts)

    def __str__(self) -> str:
        terms = [
            f"{'-' if c < 0 else '+'} {'' if abs(c) == 1 else f'{abs(c)}*'}{_quoted(n)}" for n, c in self.parts.items()
        ]
        return f"{_quoted(self.total)} == {' '.join(terms).removeprefix('+ ')}"

    def misses(self, columns: Mapping[str, Array]) -> Array:
        """Which records have all of its columns and another sum."""
        terms = np.array([-columns[self.total], *(c * columns[name] for name, c in self.parts.items())])
        return np.asarray(np.abs(terms.sum(0)) > ALIKE * np.abs(terms).max(0))


def sums(columns: Mapping[str, Array]) -> Iterator[Sum]:
    """Of columns without missing numbers, the sums that hold in these records and are not there by chance.

    The null space of the scaled columns in reduced echelon form: each of its rows says one column by independent ones.
    Later columns are said by earlier ones, and of equally long sums the one with whole coefficients is kept.
    """
    names = [name for name, values in columns.items() if np.ptp(values) > 0]
    scale = {name: float(np.sqrt(np.mean(columns[name] ** 2))) for name in names}
    if not names or len(columns[names[0]]) < max(WITNESSES, 2 * len(names)):
        return
    Z = np.column_stack([columns[name] / scale[name] for name in names])
    for row in _null_rows(np.asarray(np.linalg.qr(Z, mode="r"))):
        raw = row / [scale[name] for name in names]
        lead = np.abs(raw[np.abs(row) > 1e-6]).min()
        whole = np.round(raw / lead)
        if np.abs(whole).max() > LARGEST or np.abs(raw / lead - whole).max() > 1e-6:
            continue
        found = _spelt({name: int(c) for name, c in zip(names, whole, strict=True) if c})
        if found and not found.misses(columns).any() and _witnessed(found, columns):
            yield found


def _null_rows(R: Array) -> Array:
    """A basis of the null space of R, each row with a 1 at a column that no other row has."""
    _, s, Vt = np.linalg.svd(R)
    N = Vt[int((s > ALIKE * s[0]).sum()) :].copy()
    for at in range(len(N)):  # from the last column to the first: a total usually stands behind its parts
        free = [j for j in range(N.shape[1]) if not (np.abs(N[:at, j]) > 0.5).any()]
        best = max(free, key=lambda j: (round(float(np.abs(N[at:, j]).max()), 6) > 0.2, j))
        pivot = at + int(np.argmax(np.abs(N[at:, best])))
        N[[at, pivot]] = N[[pivot, at]]
        N[at] /= N[at, best]
        others = np.arange(len(N)) != at
        N[others] -= np.outer(N[others, best], N[at])
    return N


def _spelt(terms: Mapping[str, int]) -> Sum | None:
    """The one column whose sign no other has is the total, with the coefficient 1; of several the last."""
    for sign in (1, -1):
        alone = [name for name, c in terms.items() if c * sign > 0]
        if len(alone) == 1 and abs(terms[alone[0]]) == 1 and len(terms) > 1:
            return Sum(alone[0], {name: -sign * c for name, c in terms.items() if name != alone[0]})
    single = [name for name, c in terms.items() if abs(c) == 1]
    if not single or len(terms) < 2:
        return None
    total = single[-1]
    return Sum(total, {name: -terms[total] * c for name, c in terms.items() if name != total})


def _witnessed(found: Sum, columns: Mapping[str, Array]) -> bool:
    """Whether enough different records tell it, with more than one column in most of them."""
    values = np.column_stack([columns[name] for name in found.columns])
    different = np.unique(values[(values != 0).sum(1) > 1], axis=0)
    return len(different) >= max(WITNESSES, 4 * len(found.columns))


def _quoted(name: str) -> str:
    return name if name.isidentifier() and name.isascii() else f"`{name}`"


def holding(found: Sequence[Sum], columns: Mapping[str, Array]) -> list[bool]:
    """Of each sum, whether it holds in these records, as far as none of its columns is missing."""
    with np.errstate(invalid="ignore"):
        return [not each.misses(columns).any() for each in found]
