"""What an audit looks at: sensitive cells, and sums of suppressed cells that are sensitive together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.algebra.array import Array, Flags
from suffice.errors import UsageError
from suffice.tables.connected import blocks
from suffice.tables.contributors import Makeup
from suffice.tables.insiders import Insiders
from suffice.tables.secret import Secret
from suffice.tables.sensitivity import BY_NUMBERS, Sensitivity
from suffice.tables.table import Table

EQUAL = 1e-12
"""Share within which a contribution is the largest one."""


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class Relief:
    """Pairs of insiders and targets that they contribute to, by number, with levels.

    first: whether the insider is the largest contributor
    secret: whether there is anything to be kept from it
    """

    who: NDArray[np.int64]
    which: NDArray[np.int64]
    down: Array
    up: Array
    first: Flags
    secret: Flags

    @property
    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64], Array, Array]:
        """Insiders and targets, with levels."""
        return self.who, self.which, self.down, self.up


@dataclass(frozen=True)
class Targets:
    """One value of a table, and what is sensitive of it; None: nobody has said it."""

    table: Table
    name: str
    sensitivity: Sensitivity | None

    @property
    def whole(self) -> bool:
        return self.name in self.table.counts

    def of(self, gaps: Flags, untold: Flags) -> tuple[list[Secret], list[str]]:
        """Sensitive cells and sums of suppressed cells that are sensitive together.

        untold: unknown cells that do not follow from the others: the others hide nothing of their equations
        """
        x, given = self.table.values[self.name], self.sensitivity
        if given is None:
            return [Secret(((int(cell), 1),), float(x[cell]), 0.0, 0.0) for cell in np.flatnonzero(gaps)], []
        cells = [
            Secret(((int(cell), 1),), float(x[cell]), float(given.lower[cell]), float(given.upper[cell]))
            for cell in np.flatnonzero(given.sensitive)
        ]
        sums, unjudged = self._sums(*self._parts(untold))
        return [*cells, *sums], unjudged

    def before(self, gaps: Flags, untold: Flags, who: Insiders) -> tuple[list[Secret], list[str]]:
        """Sums that are left of equations for those who stand alone behind cells of them."""
        units, cells = self.known(gaps, untold, who)
        if not len(cells):
            return [], []
        parts, equations = self._parts(untold)
        found = sparse.csr_array((np.ones(len(cells)), cells, np.arange(len(cells) + 1)), shape=(len(cells), len(gaps)))
        hits = (found @ abs(parts).T).tocoo()
        pairs = np.unique(np.column_stack([units[hits.row], hits.col]).astype(np.int64), axis=0)
        left = sparse.csr_array(parts[pairs[:, 1]]).tocoo()
        keys, size = np.sort(units * len(gaps) + cells), len(gaps)
        keep = ~np.isin(pairs[left.row, 0] * size + left.col, keys)
        rest = sparse.csr_array((left.data[keep], (left.row[keep], left.col[keep])), shape=left.shape)
        return self._sums(rest, equations[pairs[:, 1]], pairs[:, 0])

    def known(self, gaps: Flags, untold: Flags, who: Insiders) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Who knows which unknown cells: those that one stands alone behind, and what follows from them one by one."""
        own = np.flatnonzero(gaps & untold & (who.alone >= 0))
        if not len(own):
            return own, own
        relations = self.table.relations
        unknown, columns = np.asarray(abs(relations) @ untold.astype(np.float64)), relations.tocsc()
        units, cells, more = who.alone[own], own, list[tuple[int, int]]()
        touched = sparse.csr_array((np.ones(len(own)), own, np.arange(len(own) + 1)), shape=(len(own), len(gaps)))
        hits = (touched @ abs(relations).T).tocoo()
        pairs, known = np.unique(
            np.column_stack([units[hits.row], hits.col]).astype(np.int64), axis=0, return_counts=True
        )
        for unit in np.unique(pairs[unknown[pairs[:, 1]] - known == 1, 0]).tolist():
            mine = set(cells[units == unit].tolist())
            rows = set(np.unique(columns[:, sorted(mine)].indices).tolist())
            while rows:
                row = rows.pop()
                some = relations.indices[relations.indptr[row] : relations.indptr[row + 1]]
                left = [cell for cell in some[untold[some]].tolist() if cell not in mine]
                if len(left) == 1:
                    mine.add(left[0])
                    more.append((unit, left[0]))
                    rows.update(columns[:, left].indices.tolist())
        told = np.array(more, dtype=np.int64).reshape(-1, 2)
        return np.concatenate([units, told[:, 0]]), np.concatenate([cells, told[:, 1]])

    def _parts(self, untold: Flags) -> tuple[sparse.csr_array, NDArray[np.int64]]:
        """The unknown parts of every equation, those of each block apart, and which equation they are of."""
        rows, totals = self.table.relations.tocoo(), self.table.totals
        here = (rows.col != totals[rows.row]) & (rows.data != 0) & untold[rows.col]
        keys = rows.row[here].astype(np.int64) * len(untold) + blocks(self.table.relations, untold)[rows.col[here]]
        found, part = np.unique(keys, return_inverse=True)
        shape = len(found), len(untold)
        return sparse.csr_array((rows.data[here], (part, rows.col[here])), shape=shape), found // len(untold)

    def _sums(
        self, parts: sparse.csr_array, equations: NDArray[np.int64], before: NDArray[np.int64] | None = None
    ) -> tuple[list[Secret], list[str]]:
        """Parts of equations, where they are several and not all, judged with pooled contributors.

        before: whom each is to be kept from
        """
        given, count = self.sensitivity, np.diff(parts.indptr)
        assert given is not None
        some = np.flatnonzero((count > 1) & (count < self._possible[equations]))
        parts = sparse.csr_array(parts[some])
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
            insider = None if before is None else int(before[some[row]])
            secret = Secret(cells, float(value[row]), float(lower), float(above[row]), insider=insider)
            found[insider, cells] = secret
        return list(found.values()), unjudged

    @cached_property
    def _possible(self) -> NDArray[np.int64]:
        """Parts of every equation that may be anything but zero."""
        rows = self.table.relations.tocoo()
        part = (rows.col != self.table.totals[rows.row]) & (rows.data != 0) & ~self.table.impossible[rows.col]
        return np.bincount(rows.row[part], minlength=rows.shape[0])

    def against(self, targets: Sequence[Secret], costs: sparse.csr_array, mine: sparse.csr_array) -> Relief:
        """Where insiders contribute to targets: what is to be kept from each of them.

        Nobody is protected from itself: of what it is the largest contributor of, what is left is judged. And however
        much is to be kept below, its own part is no secret.

        costs: targets x cells; mine: insiders x targets, what each contributes
        """
        pairs, given = mine.tocoo(), self.sensitivity
        some = pairs.data > 0
        who, which, part = pairs.row[some].astype(np.int64), pairs.col[some].astype(np.int64), pairs.data[some]
        value = np.array([target.value for target in targets])
        down, up = (np.array([getattr(t, name) for t in targets])[which] for name in ("lower", "upper"))
        added = np.asarray(costs.min(axis=1).toarray()).ravel() >= 0  # what is taken away has no highest part
        down = np.where(added[which], np.minimum(down, np.maximum(value[which] - part, 0.0)), down)
        first, secret = np.zeros(len(who), dtype=bool), np.ones(len(who), dtype=bool)
        people = self.table.contributors
        plain = people is None or bool((people.weight == 1).all())
        if given is not None and given.rules and not (self.whole or self.signed) and plain and len(who):
            named = {rule.name for rule in given.rules}
            ours = np.array([t.is_sum or named.issuperset(given.why[t.cells[0][0]]) for t in targets])
            whole = self._behind(targets, costs)
            if whole.largest.shape[1]:
                first = ours[which] & (part >= whole.largest[which, 0] * (1 - EQUAL)) & ~whole.waived[which, 0]
                rest = whole.others()
                flags = [rule.sensitive(rest) for rule in given.rules]
                below, above = self._levels(rest, flags)
                secret = ~first | np.any(flags, axis=0)[which]
                down = np.where(first, np.minimum(down, below[which]), down)
                up = np.where(first, np.minimum(up, above[which]), up)
        return Relief(who, which, down, up, first, secret)

    def _behind(self, targets: Sequence[Secret], costs: sparse.csr_array) -> Makeup:
        """Who stands behind targets: behind single cells it is known."""
        assert self.sensitivity is not None
        every, several = self.table.makeup(self.name, self.sensitivity.weights), [t.is_sum for t in targets]
        if not any(several):
            return every[np.array([target.cells[0][0] for target in targets])]
        sums = self.table.makeup(self.name, self.sensitivity.weights, sparse.csr_array(costs[np.flatnonzero(several)]))
        cells = np.array([target.cells[0][0] for target in targets if not target.is_sum], dtype=np.int64)
        return Makeup.stacked([every[cells], sums])[np.argsort(np.argsort(several, kind="stable"))]

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

    @cached_property
    def signed(self) -> bool:
        people, values = self.table.contributors, self.table.values[self.name]
        records = people.values.get(self.name) if people is not None else None
        return bool((values < 0).any() or (records is not None and (records < 0).any()))
