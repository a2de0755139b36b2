"""What an audit looks at: sensitive cells, and sums of suppressed cells that are sensitive together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.algebra.array import Array, Flags
from suffice.errors import UsageError
from suffice.tables.contributors import Makeup
from suffice.tables.secret import Secret
from suffice.tables.sensitivity import BY_NUMBERS, Sensitivity
from suffice.tables.table import Table


@dataclass(frozen=True)
class Targets:
    """One value of a table, and what is sensitive of it; None: nobody has said it."""

    table: Table
    name: str
    sensitivity: Sensitivity | None

    @property
    def whole(self) -> bool:
        return self.name in self.table.counts

    def of(self, gaps: Flags) -> tuple[list[Secret], list[str]]:
        """Sensitive cells and sums of suppressed cells that are sensitive together."""
        x, given = self.table.values[self.name], self.sensitivity
        if given is None:
            return [Secret(((int(cell), 1),), float(x[cell]), 0.0, 0.0) for cell in np.flatnonzero(gaps)], []
        cells = [
            Secret(((int(cell), 1),), float(x[cell]), float(given.lower[cell]), float(given.upper[cell]))
            for cell in np.flatnonzero(given.sensitive)
        ]
        sums, unjudged = self.sums(gaps, np.arange(self.table.relations.shape[0]))
        return [*cells, *sums], unjudged

    def sums(
        self,
        gaps: Flags,
        equations: NDArray[np.int64],
        who: NDArray[np.int64] | None = None,
        alone: NDArray[np.int64] | None = None,
    ) -> tuple[list[Secret], list[str]]:
        """The suppressed parts of equations, where they are several and not all, judged with pooled contributors.

        who, alone: before whom each equation is looked at, and the one who knows each cell; without them anybody
        """
        given, relations = self.sensitivity, sparse.csr_array(self.table.relations[equations])
        assert given is not None
        rows, totals = relations.tocoo(), self.table.totals[equations]
        part = (rows.col != totals[rows.row]) & (rows.data != 0) & ~self.table.impossible[rows.col]
        here = part & (gaps | self.table.hidden)[rows.col]
        if alone is not None and who is not None:
            here &= ~(gaps[rows.col] & (alone[rows.col] == who[rows.row]))
        parts = sparse.csr_array((rows.data[here], (rows.row[here], rows.col[here])), shape=relations.shape)
        count = np.diff(parts.indptr)
        some = (count > 1) & (count < np.bincount(rows.row[part], minlength=len(count)))
        parts = sparse.csr_array(parts[np.flatnonzero(some)])
        before = [None] * parts.shape[0] if who is None else who[some].tolist()
        if not parts.shape[0]:
            return [], []
        if not given.rules:
            return [], ["sums of suppressed cells: no rules were given to judge them by"]
        try:
            pooled = self.table.makeup(self.name, given.weights, parts)
            flags = [rule.sensitive(pooled) for rule in given.rules]
        except UsageError:
            return [], ["sums of suppressed cells: who stands behind the cells is not known"]
        below, above = self._levels(pooled, flags)
        unjudged = self._if_the_same(parts, np.any(flags, axis=0), below, above)
        value = parts @ np.nan_to_num(self.table.values[self.name])
        found: dict[tuple[object, ...], Secret] = {}
        for row in np.flatnonzero(np.any(flags, axis=0)):
            begin, end = parts.indptr[row : row + 2]
            cells = tuple(
                sorted(zip(parts.indices[begin:end].tolist(), parts.data[begin:end].astype(int).tolist(), strict=True))
            )
            lower = below[row] if self.signed else min(below[row], abs(value[row]))
            secret = Secret(cells, float(value[row]), float(lower), float(above[row]), insider=before[row])
            found[before[row], cells] = secret
        return list(found.values()), unjudged

    def _levels(self, pooled: Makeup, flags: Sequence[Flags]) -> tuple[Array, Array]:
        """Lower and upper protection levels: of the rules that are met, the largest."""
        assert self.sensitivity is not None
        below, above = np.zeros(len(pooled.value)), np.zeros(len(pooled.value))
        for rule, flag in zip(self.sensitivity.rules, flags, strict=True):
            if not (self.whole and isinstance(rule, BY_NUMBERS)):
                below = np.where(flag, np.maximum(below, rule.lower(pooled)), below)
                above = np.where(flag, np.maximum(above, rule.level(pooled)), above)
        return below, above

    def _if_the_same(self, parts: sparse.csr_array, judged: Flags, below: Array, above: Array) -> list[str]:
        """What summaries of cells leave open: the same contributors may stand behind several."""
        given = self.sensitivity
        if self.table.contributors is not None or given is None:
            return []
        worst = self.table.makeup(self.name, given.weights, parts, same=True)
        flags = [rule.sensitive(worst) for rule in given.rules]
        pairs = zip(self._levels(worst, flags), (below, above), strict=True)
        more = np.any([~judged, *(then > now * (1 + 1e-9) for then, now in pairs)], axis=0) & np.any(flags, axis=0)
        return ["sums of suppressed cells: whether the same contributors stand behind them"] if more.any() else []

    @property
    def signed(self) -> bool:
        people, values = self.table.contributors, self.table.values[self.name]
        records = people.values.get(self.name) if people is not None else None
        return bool((values < 0).any() or (records is not None and (records < 0).any()))
