"""Columns drawn anew from distributions that are fitted to them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa

from suffice.algebra.array import Array
from suffice.algorithms.families import CRITERIA, FAMILIES, FamilyFit, fitted
from suffice.algorithms.frequencies import Frequencies, frequencies, of_few_values, shares
from suffice.design.design import Design
from suffice.design.roles import Roles
from suffice.errors import UsageError
from suffice.method.parameter import Choice, Count, Number, parameter
from suffice.method.synthetic import Synthetic
from suffice.rows.arrow import as_float
from suffice.rows.rows import Kind, Rows
from suffice.seed import Stream

EXACT = 2.0**53
"""Whole numbers below it are held as they are."""
AGAIN = 100
"""Times that values which a type cannot hold are drawn again."""
MOST = 20_000
"""Values that families are fitted to, at most: of more, evenly spread ones in their order."""


@dataclass(frozen=True)
class FamilyRule:
    """Some of the families."""

    allowed: str = f"some of {', '.join(FAMILIES)} (on the command line with + between them), or none (all)"

    def read(self, value: object) -> tuple[str, ...] | None:
        if value is None:
            return None
        names = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else ()
        if not names or not all(name in FAMILIES for name in names):
            raise ValueError
        return tuple(name for name in FAMILIES if name in names)

    def parse(self, text: str) -> tuple[str, ...] | None:
        return self.read(None if text.strip().lower() == "none" else [part.strip() for part in text.split("+")])


@dataclass(frozen=True, repr=False)
class ValueGrid:
    """What all values of a column are multiples of, and between which ends its type can hold them."""

    step: int
    low: float
    high: float

    @classmethod
    def of(cls, x: Array, kind: Any) -> Self:
        """kind: the type; dates count days or parts of seconds

        >>> ValueGrid.of(np.array([0.0, 20.0, 60.0]), pa.uint8()).step
        20
        """
        whole = x.astype(np.int64) if np.abs(x).max(initial=0) < EXACT else np.ones(1, dtype=np.int64)
        bits = np.dtype(kind.to_pandas_dtype()) if pa.types.is_integer(kind) else np.dtype(f"i{kind.bit_width // 8}")
        low, high = float(np.iinfo(bits).min), float(np.iinfo(bits).max)
        return cls(max(1, int(np.gcd.reduce(whole))), low, high if high < EXACT else float(np.nextafter(high, 0)))

    def drawn(self, law: FamilyFit | Frequencies, count: int, draws: np.random.Generator) -> Array:
        """Overflow is discarded, and drawn again; what does so forever stays at the end."""
        values = np.empty(count)
        out = np.ones(count, dtype=bool)
        for _ in range(AGAIN):
            values[out] = law.draw(int(out.sum()), draws)
            values = self.step * np.rint(values / self.step)
            out = (values < self.low) | (values > self.high)
            if not out.any():
                break
        return np.clip(values, self.low, self.high)


@dataclass(frozen=True, repr=False)
class ColumnLaws:
    """Of every column its values in their rows, the fits that were tried, and what it is drawn from.

    whole: of whole numbers and dates
    """

    values: tuple[Array, ...]
    whole: tuple[ValueGrid | None, ...]
    fits: tuple[list[FamilyFit], ...]
    drawn_from: tuple[FamilyFit | Frequencies, ...]


@dataclass(frozen=True)
class Distort(Synthetic):
    """Draw every column from the distribution that fits it best, in the order of its ranks or in any.

    x* ~ F_theta,   theta of most likelihood,   F the family nearest by Kolmogorov and Smirnov's distance
    x*_(r) in the place of x_(r)                                            (order = rank)

    **Promises** nothing exactly: distributions as near as the family is, which the private report says; `Restore`
    behind it makes means and covariances exact. Unless families are named, a column of few values that records share
    is drawn by their frequencies, those of one or two records as the nearest other. One that no family fits is drawn by
    frequencies of 8 to 20 intervals, uniformly inside each; what a twentieth of the records share stays as it is. A
    category is drawn by the frequencies of its levels, but of those of one or two records. Whole numbers and dates
    leave as such. Ends of a column are round numbers outside it. With order = rank every record keeps its ranks, and is
    known by them if it has more than one column; with order = free columns are independent.

    order: rank maps what was drawn by rank; free releases the distributions of columns and no more
    families: those that are tried
    by: the distance that chooses
    level: a fit is refused where a smaller share of its samples is as far off, by that distance
    m: how many records, with order = free; as many as there were unless told

    Liew, Choi & Liew (1985).

    >>> x = np.array([186.0, 693, 830, 1177, 1219, 1428, 1902, 1903, 2496, 3406])
    >>> fits = fitted(x, [*FAMILIES], "kolmogorov-smirnov")
    >>> near = {fit.family: round(fit.statistics["kolmogorov-smirnov"], 4) for fit in fits}
    >>> near["weibull"], near["extreme-value"]
    (0.1086, 0.1138)
    """

    learns: ClassVar = True
    ranks: ClassVar = True
    references: ClassVar = ("Liew, Choi & Liew (1985)", "ESSnet (2009), section 1.1")

    order: str = parameter(Choice(("rank", "free")), "whether values are mapped by rank", "free")
    families: tuple[str, ...] | None = parameter(FamilyRule(), "the families that are tried", None)
    by: str = parameter(Choice(CRITERIA), "the distance that chooses", CRITERIA[0])
    level: float = parameter(Number(0, 1), "share of samples that are farther off, at least", 0.05)
    m: int | None = parameter(Count("as many as there were", low=1), "how many records to draw", None)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.m is not None and self.aligned:
            raise UsageError("distort: with order = rank every record has one in its place. Leave m out.")

    @property
    def records(self) -> int | None:
        return self.m

    @property
    def aligned(self) -> bool:
        return self.order == "rank"

    def given(self, roles: Roles) -> Roles:
        return roles if self.aligned else super().given(roles)

    @property
    def kinds(self) -> tuple[Kind, ...]:  # type: ignore[override]
        return ("integer", "date") if self.aligned else ("integer", "date", "category")  # levels have no ranks

    def learn(self, rows: Rows, design: Design) -> ColumnLaws:
        held = rows.gather(design.confidential)
        values = tuple(as_float(held[name]) for name in design.confidential)
        nominal = () if rows.coding is None else tuple(rows.coding.levels)
        found = [self._law(name, x, name in nominal) for name, x in zip(design.confidential, values, strict=True)]
        types = {} if rows.coding is None else rows.coding.types
        whole = tuple(
            ValueGrid.of(x, types[name]) if name in types and name not in nominal else None
            for name, x in zip(design.confidential, values, strict=True)
        )
        return ColumnLaws(values, whole, tuple(fits for fits, _ in found), tuple(law for _, law in found))

    def _law(self, name: str, x: Array, nominal: bool) -> tuple[list[FamilyFit], FamilyFit | Frequencies]:
        """The fits that were tried, and what is drawn from."""
        if nominal:
            if (law := shares(x)) is None:
                raise UsageError(
                    f"distort: every level of {name!r} is that of one or two records. Name it in identifiers."
                )
            return [], law
        some = np.sort(x)[:: -(-len(x) // MOST)]
        few = np.ptp(x) == 0 or (self.families is None and of_few_values(x))
        tried = [] if few else fitted(some, self.families or tuple(FAMILIES), self.by)
        near = next((fit for fit in tried[:1] if fit.p[self.by] >= self.level), None)
        return tried, near or frequencies(x)

    def said(self, model: ColumnLaws, design: Design) -> tuple[str, ...]:
        told = []
        for name, tried, law in zip(design.confidential, model.fits, model.drawn_from, strict=True):
            near = _said(tried[0], self.by) if tried else ""
            if isinstance(law, Frequencies):
                drawn = f"frequencies of {len(law.share)}{f'; the nearest family is {near}' if near else ''}"
            else:
                drawn = near
            told.append("\n".join([f"distort: {name} drawn from {drawn}.", *_table(tried)]))
        return tuple(told)

    def draw(self, mean: Array, R: Array, model: ColumnLaws, count: int, stream: Stream) -> Array:
        made = []
        for number, (x, whole, law) in enumerate(zip(model.values, model.whole, model.drawn_from, strict=True)):
            draws = stream.generator("column", number)
            drawn = law.draw(count, draws) if whole is None else whole.drawn(law, count, draws)
            made.append(_by_ranks(x, drawn, draws) if self.aligned else drawn)
        return np.column_stack(made)

    @classmethod
    def examples(cls) -> tuple[Distort, ...]:
        return cls(families=("normal", "gamma", "uniform")), cls("rank", ("normal",)), cls(families=("normal",), m=40)


def _said(fit: FamilyFit, by: str) -> str:
    return f"{fit.family}, {by} {fit.statistics[by]:.4g} (p {fit.p[by]:.3f})"


def _table(fits: list[FamilyFit]) -> list[str]:
    """All fits, the nearest first, with all distances and their p: a line each below its head, with tabs."""
    lines = [["family", *(word for each in CRITERIA for word in (each, "p"))]] if fits else []
    for fit in fits:
        both = ((f"{fit.statistics[each]:.4g}", f"{fit.p[each]:.3f}") for each in CRITERIA)
        lines.append([fit.family, *(word for pair in both for word in pair)])
    return ["\t".join(line) for line in lines]


def _by_ranks(x: Array, drawn: Array, draws: np.random.Generator) -> Array:
    """The values that were drawn, each in the place of the one that has its rank; equal ones in random order."""
    order = np.lexsort((draws.random(len(x)), x))
    made = np.empty(len(x))
    made[order] = np.sort(drawn)
    return made
