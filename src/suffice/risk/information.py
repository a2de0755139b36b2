"""Bits: what a column of few values holds against what its kept products with the given columns tell.

Cross-products that are kept to the last digits are equations in integers where a column holds small whole numbers. Once
they tell more bits than the column has, one column fits them, and lattice reduction finds it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from suffice.algebra.array import Array
from suffice.method.method import Method
from suffice.protection.protected import Protected
from suffice.risk.account import Account
from suffice.risk.cells import CellSummary
from suffice.risk.history import History
from suffice.risk.leaving import ROOM, LeavingSample
from suffice.risk.stacked_leverage import stacked_products
from suffice.rows.arrow import as_float
from suffice.rows.rows import Rows
from suffice.statistics.domain import Domain

KEPT = 48.0
"""Bits of a product with numbers of many digits that the digits of a release keep."""
DECIMALS = 6
"""Digits behind the point of numbers that are counted as multiples of a step; others have as many as a float."""
VALUES = 8
"""Different values that anyone may know, whatever they are multiples of."""
LEAST, REACH, SEARCHED = 5, 500, 128.0
"""Records, at least: of fewer, leverage speaks. Those that lattice reduction may cope with. Bits that can be searched
whatever the number of records."""
NOTHING = 5.0
"""Bits of a column that hardly varies: there is little to be found."""
MARGIN = 1.25
"""Lattice reduction has found columns up to four fifths of what is told."""
SPREAD = 2 * np.pi * np.e
"""A total with variance v, in steps, has log2(SPREAD (v + 1/12)) / 2 bits at most."""


@dataclass(frozen=True)
class FewBits:
    """A column, in the file, in groups or in cells that have fewer bits of it than are told.

    places: how many there are, and of how many; records: of the smallest one
    """

    column: str
    where: str
    places: int
    of: int
    records: int
    held: float
    told: float
    releases: int = 0
    """Earlier ones whose products are among them."""


@dataclass(frozen=True, repr=False)
class Lattice:
    """Values that are multiples of a step: their variance in steps, and the bits of one of them."""

    variance: float
    bits: float

    @classmethod
    def of(cls, values: Array) -> Self | None:
        """None where they are no multiples of anything, or are all the same."""
        values = values[np.isfinite(values)]
        steps = in_steps(values) if len(values) else None
        if steps is None and 4 * len(distinct := np.unique(values)) < len(values) and len(distinct) <= VALUES:
            steps = np.searchsorted(distinct, values).astype(np.int64)  # whoever knows the values counts them
        if steps is None or not (most := int(steps.max())):
            return None
        counts = np.unique(steps, return_counts=True)[1]
        share = counts / len(steps)
        entropy = float(-(share * np.log2(share)).sum() + (len(counts) - 1) / (2 * len(steps) * np.log(2)))
        bits = np.log2(most + 1)  # of few values, those that they seem to have
        return cls(float(steps.astype(np.float64).var()), min(bits, entropy) if 4 * len(counts) < len(steps) else bits)


def in_steps(values: Array) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]] | None:
    """How many steps each value is above the smallest, the step being the largest of which all are multiples."""
    for decimals in range(DECIMALS + 1):
        scaled = values * 10.0**decimals
        if np.abs(scaled).max() > 2.0**52:
            return None
        whole = np.rint(scaled)
        if (np.abs(scaled - whole) <= 1e-9 * np.maximum(1.0, np.abs(scaled))).all():
            steps = (whole - whole.min()).astype(np.int64)
            return np.asarray(steps // max(1, int(np.gcd.reduce(steps))))
    return None


def few_bits(
    done: Protected, method: Method, sample: LeavingSample, cells: Sequence[CellSummary]
) -> tuple[FewBits, ...]:
    """Columns that are to be rounded are none: rounding leaves few digits of their products."""
    design, n = done.design, done.spread.rows
    means, fits = "mean" in method.kept, "fit" in method.kept
    lattices = {
        name: lattice
        for name, y in zip(design.confidential, sample.Y.T, strict=True)
        if name not in design.roles.integer and (lattice := Lattice.of(y)) is not None
    }
    if not lattices or not (means or fits):
        return ()
    w = np.ones(len(sample)) if design.roles.weight is None else sample.numbers[design.roles.weight]
    columns = [column * w for column in sample.X.T] if fits else [w]
    spreads = [_spread(column) for column in columns]
    supports = _supports(columns, design.names, n) if fits and design.roles.groups == () else []
    domain = Domain.by_columns(tuple(design.roles.groups), design.roles.missing == "patterns")
    sizes = [n] if domain.whole else [stratum.spread.rows for stratum in done.strata]
    found = []
    for name, lattice in lattices.items():
        found += list(_short(name, lattice, spreads, sizes, domain.name))
        for cell in cells if fits else ():  # a total in each, weighted
            found += list(_short(name, lattice, [_spread(w)], [cell.smallest], cell.name))
        for said, size, own in supports:
            found += list(_short(name, lattice, own, [size], said))
    return tuple(found)


def stacked_bits(rows: Rows, account: Account, history: History) -> tuple[FewBits, ...]:
    """The same, with the products that earlier releases have kept of the same records."""
    found = []
    for before in history.kept:
        name, releases = before.columns[0], len(before.exact)
        if len(before.columns) > 1 or not before.exact or name in account.design.roles.integer:
            continue
        stack = stacked_products(rows, account, sorted(before.exact, key=repr), ROOM)
        if stack is None:
            continue
        y = as_float(stack[0].gather([name])[name])
        there = np.isfinite(y)
        columns, lattice = list(stack[1][there].T), Lattice.of(y[there])
        if lattice is not None:
            short = list(_short(name, lattice, [_spread(column) for column in columns], [int(there.sum())], ""))
            for said, size, own in _supports(columns, ["a kept column"] * len(columns), int(there.sum())):
                short += _short(name, lattice, own, [size], said)
            found += [replace(each, releases=releases) for each in short]
    return tuple(found)


def _supports(columns: Sequence[Array], names: Sequence[str], n: int) -> list[tuple[str, int, list[float]]]:
    """Columns that are zero but for some records: a name, how many these are, and the spreads of the columns there."""
    alike: dict[bytes, list[int]] = {}
    for j, column in enumerate(columns):
        if 0 < np.count_nonzero(column) < len(column):
            alike.setdefault(np.packbits(column != 0).tobytes(), []).append(j)
    found = []
    for places in alike.values():
        there = columns[places[0]] != 0
        size = round(there.mean() * n)
        found.append((f"non-zero {names[places[0]]}", size, [_spread(columns[j][there]) for j in places]))
    return found


def _short(
    name: str, lattice: Lattice, spreads: Sequence[float], sizes: Sequence[int], where: str
) -> Iterator[FewBits]:
    """The worst of places that hold too little."""
    short = []
    for n in {*sizes}:
        held = n * lattice.bits
        told = float(
            sum(
                min(KEPT, max(0.0, np.log2(SPREAD * (n * v * lattice.variance + 1 / 12)) / 2)) for v in spreads if v > 0
            )
        )
        if NOTHING < held < told / MARGIN and n >= LEAST and (n <= REACH or held <= SEARCHED):
            short.append((n, held, told))
    if short:
        n, held, told = min(short)
        places = sum(size in {each for each, _, _ in short} for size in sizes)
        yield FewBits(name, where, places, len(sizes), n, held, told)


def _spread(values: Array) -> float:
    """Mean square about the mean, in steps, of numbers that multiply; of one number for all, one."""
    if not len(values) or not np.isfinite(values).all():
        return 0.0
    steps = in_steps(values)
    if steps is None:
        return np.inf
    return float(steps.astype(np.float64).var()) if steps.any() else 1.0
