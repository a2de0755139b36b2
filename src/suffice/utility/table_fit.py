"""Tables of categories: how far the counts of a release are from the original's (Raab, Nowok & Dibben 2021)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from suffice.algebra.array import Array
from suffice.measure.measure import LOSS, SHARE, Measure, Value
from suffice.measure.pair import FilePair
from suffice.utility.discrimination import Discrimination
from suffice.utility.two_files import TwoFiles

WORST = 10
"""Tables that are named."""


@dataclass(frozen=True, repr=False)
class TableFit:
    """Counts o of the original and s of the release, cell by cell; cells that are empty in both are left out.

    Where the files have other numbers of records, o is taken times n*/n. With p = o/n and q = s/n*:

    - voas_williamson: sum of (s - o)^2 / ((s + o) / 2);
    - freeman_tukey: 4 sum of (sqrt s - sqrt o)^2;
    - jensen_shannon: the mean of the two divergences from (p + q) / 2, in bits, 0 to 1;
    - likelihood: G = 2 sum of s log((s / S) / (o / O)) over the cells that both files have, S and O their sums;
    - weighted_difference: sum of |s - o| / sqrt((s + o) / 2), times sqrt(pi / 2);
    - absolute_difference: sum of |p - q|, 0 to 2; hellinger: sqrt(1 - sum of sqrt(p q)), 0 to 1;
    - pMSE, SPECKS, PO50, U: of the score s / (s + o), a model with one parameter a cell.

    `ratios` has each of those that have one over its expectation, were the release drawn from the original's cells: 1.

    >>> fit = TableFit.of(np.array([30.0, 20.0, 0.0]), np.array([20.0, 30.0, 0.0]))
    >>> fit.freedom, fit.voas_williamson, fit.ratios["VW"], fit.told.correct
    (1, 8.0, 8.0, 10.0)
    """

    original: Array
    released: Array

    @classmethod
    def of(cls, original: Array, released: Array) -> TableFit:
        there = (original + released) > 0
        return cls(original[there], released[there])

    @cached_property
    def _shares(self) -> tuple[Array, Array]:
        return self.original / self.original.sum(), self.released / self.released.sum()

    @cached_property
    def _counts(self) -> tuple[Array, Array]:
        return self.original * (self.released.sum() / self.original.sum()), self.released

    @property
    def freedom(self) -> int:
        return len(self.original) - 1

    @property
    def voas_williamson(self) -> float:
        o, s = self._counts
        return float(((s - o) ** 2 / ((s + o) / 2)).sum())

    @property
    def freeman_tukey(self) -> float:
        o, s = self._counts
        return float(4 * ((np.sqrt(s) - np.sqrt(o)) ** 2).sum())

    @property
    def jensen_shannon(self) -> float:
        p, q = self._shares
        return (_divergence(p, (p + q) / 2) + _divergence(q, (p + q) / 2)) / 2

    @property
    def likelihood(self) -> float:
        both = (self.original > 0) & (self.released > 0)
        o, s = self.original[both], self.released[both]
        return float(2 * (s * np.log((s / s.sum()) / (o / o.sum()))).sum())

    @property
    def weighted_difference(self) -> float:
        o, s = self._counts
        return float((np.abs(s - o) / np.sqrt((s + o) / 2)).sum() * np.sqrt(np.pi / 2))

    @property
    def absolute_difference(self) -> float:
        return float(np.abs(np.subtract(*self._shares)).sum())

    @property
    def hellinger(self) -> float:
        p, q = self._shares
        return float(np.sqrt(max(1.0 - np.sqrt(p * q).sum(), 0.0)))

    @cached_property
    def told(self) -> Discrimination:
        return Discrimination.counted(self.released / (self.original + self.released), self.original, self.released)

    @property
    def statistics(self) -> dict[str, float]:
        """All of them, by the names that are usual."""
        return {
            "VW": self.voas_williamson,
            "FT": self.freeman_tukey,
            "JSD": self.jensen_shannon,
            "G": self.likelihood,
            "WMabsDD": self.weighted_difference,
            "MabsDD": self.absolute_difference,
            "dBhatt": self.hellinger,
            "pMSE": self.told.pmse,
            "SPECKS": self.told.specks,
            "PO50": self.told.correct,
            "U": self.told.wilcoxon,
        }

    @property
    def ratios(self) -> dict[str, float]:
        """1 as expected of a release that was drawn from the cells of the original; nothing where there is one cell."""
        if not self.freedom:
            return {}
        both, common = int(((self.original > 0) & (self.released > 0)).sum()), self.told.share
        expected = {
            "VW": self.freedom,
            "FT": self.freedom,
            "JSD": self.freedom / (8 * np.log(2) * self.released.sum()),  # JSD is near VW / (8 n log 2)
            "G": both - 1,
            "WMabsDD": self.freedom,
            "pMSE": self.freedom * common * (1 - common) ** 2 / (self.original.sum() + self.released.sum()),
        }
        found = self.statistics
        return {name: float(found[name] / each) for name, each in expected.items() if each}


def _divergence(p: Array, mid: Array) -> float:
    there = p > 0
    return float((p[there] * np.log2(p[there] / mid[there])).sum())


def two_way(files: TwoFiles) -> dict[str, TableFit]:
    """The table of every two columns, numbers in five groups; of one column alone, its own."""
    pairs: list[tuple[str, ...]] = [*combinations(files.names, 2)] or [files.names]
    return {":".join(pair): TableFit.of(*files.counts(pair)) for pair in pairs}


def _ratio(pair: FilePair) -> Value:
    return _mean({name: each.ratios.get("pMSE", 0.0) for name, each in two_way(TwoFiles.in_levels(pair)).items()})


def _divergences(pair: FilePair) -> Value:
    return _mean({name: each.jensen_shannon for name, each in two_way(TwoFiles.in_levels(pair)).items()})


def _mean(found: Mapping[str, float]) -> Value:
    worst = sorted(found, key=lambda name: -found[name])[:WORST]
    return Value(float(np.mean(list(found.values()))), {name: found[name] for name in worst})


MEASURES = (
    Measure(
        "tables",
        _ratio,
        frozenset({"categories"}),
        LOSS,
        "lower is better",
        "mean over the tables of every two columns, numbers in five groups, of pMSE over its expectation, in files of "
        "one size sum of (s - o)^2/((s + o)/2), o and s their counts, over its degrees of freedom: 1 is expected of a "
        f"right synthesis; the {WORST} worst",
        "Voas & Williamson (2001); Raab, Nowok & Dibben (2021); synthpop: utility.tables, S_pMSE",
        whole=True,
    ),
    Measure(
        "tables-divergence",
        _divergences,
        frozenset({"categories"}),
        SHARE,
        "lower is better",
        "mean over the tables of every two columns, numbers in five groups, of the Jensen-Shannon divergence of the "
        f"two files' shares, in bits; the {WORST} worst",
        "Lin (1991); synthpop: utility.tables, JSD",
        whole=True,
    ),
)
