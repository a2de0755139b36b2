"""What several releases of the same records keep, taken together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array, Flags
from suffice.algebra.decomposition import gqr
from suffice.design.design import Design
from suffice.design.formula import Factor, Term, label, parse
from suffice.design.profile import Matrices
from suffice.design.roles import Roles
from suffice.design.units import exact_words
from suffice.errors import SufficeError
from suffice.ledger import Scheme
from suffice.protection.fold import NONE, coordinates, fold, labels_of
from suffice.protection.solution import Regression
from suffice.risk.account import Account, unpacked
from suffice.risk.history import History
from suffice.risk.leverage import LOW, Leverage, LeverageMeasure, Peaks
from suffice.rows.arrow import as_float, concatenated
from suffice.rows.multiset import fingerprints
from suffice.rows.rows import Block, Rows

ANY = "any column"
"""X alone is looked at, and a design has a confidential column."""


@dataclass(frozen=True)
class StackedLeverage:
    """The highest leverage with what all earlier releases keep added, where this release adds anything to them.

    alone: that of this release by itself, where it is another than was measured, in the weights of the stack
    unstacked: earlier releases that could not be added; equations: that these and this one keep
    """

    highest: float = 0.0
    alone: float = 0.0
    unstacked: int = 0
    equations: int = 0

    @classmethod
    def of(cls, rows: Rows, account: Account, history: History, rank: int) -> Self:
        """rows: that are protected, with the columns that the method made; rank: equations of this release"""
        found, lost = [(0.0, 0.0)], [*history.lost]
        for schemes in {before.schemes for before in history.kept}:
            try:
                found.append(_highest(rows, account, sorted(schemes, key=repr)))
            except SufficeError:  # the stacked design is too large
                lost += [rank] * len(schemes)
        highest, alone = max(found)
        return cls(highest, alone, len(lost), rank + sum(lost) if lost else 0)


def _highest(rows: Rows, account: Account, schemes: Sequence[Scheme]) -> tuple[float, float]:
    """Of all releases, none where this one adds no equation; and of this one, where that was not measured before."""
    own, alike = account.entry.scheme, _alike([account.entry.scheme, *schemes])

    def of(*chosen: Scheme) -> tuple[float, int]:
        found, rank = _Stack.of(rows, account, chosen, alike).leverage(account.design.roles.unit)
        return found.highest, rank

    highest, rank = of(own, *schemes)
    if highest <= LOW:
        return highest, 0.0
    return (highest, 0.0 if alike else of(own)[0]) if of(*schemes)[1] < rank else (0.0, 0.0)


@dataclass
class _Stack:
    """The given terms of several releases, as one design on one file.

    A sum that a release keeps is that of x w y over its records, for a column x of its X. Where all have the same
    weight and records this is a regression with that weight. Where not, every release has a column of its own that is
    0 for records that it has not, and the weight, or 1, for those that it has; all its terms are multiplied by it.

    alike: whether all have the same weight and records; rows: these, or all records
    """

    rows: Rows
    alike: bool
    weight: str
    count: int = 0
    columns: dict[str, Any] = field(default_factory=dict)
    terms: dict[str, None] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Rows, account: Account, schemes: Iterable[Scheme], alike: bool) -> Self:
        """rows: that are protected, with the columns that the method made"""
        stack = cls(rows if alike else account.rows, alike, account.entry.scheme.weight)
        for scheme in schemes:
            stack.add(scheme, rows, account)
        return stack

    def add(self, scheme: Scheme, rows: Rows, account: Account) -> None:
        self.count += 1
        there: Flags | None = None
        first: Term = ()
        if not self.alike:
            rows, there = account.settled(scheme)
            w = as_float(rows.gather([scheme.weight])[scheme.weight]) if scheme.weight else np.ones(rows.n)
            first = (self._column("times", np.where(there, _spread(w, there), 0.0)),)
            self.terms[label(first)] = None
        made = {name: unpacked(text) for name, text in scheme.made}
        categories = self._categories(rows, scheme, there)
        for by, given in scheme.parts:
            values = rows.gather([name for name in by if name not in made]) | {n: made[n] for n in by if n in made}
            words = [exact_words(each) for each in values.values()]
            cell = (*first, self._column("cell", _spread(_codes(words), there), "C")) if by else first
            self.terms |= {label(cell): None} if by else {}
            for term in (term for text in given for term in parse(text).terms):
                self.terms[label((*cell, *(self._factor(each, rows, there, categories) for each in term)))] = None

    def _categories(self, rows: Rows, scheme: Scheme, there: Flags | None) -> dict[str, Factor]:
        """Categories whose small levels were joined, or that are not those of the file."""
        terms: list[Term] = [term for _, given in scheme.parts for text in given for term in parse(text).terms]
        names = sorted({factor.column for term in terms for factor in term if factor.transform == "C"})
        if not names or (there is None and not scheme.merge):
            return {}
        given = " + ".join(str(Factor(name, "C")) for name in names)
        roles = Roles(
            confidential=[ANY], given=given, merge_below=scheme.merge, groups=scheme.groups, unit=scheme.unit or None
        )
        known = Design.learn(rows.with_columns({ANY: np.zeros(rows.n)}), roles).categories
        found = {}
        for name in names:
            codes = [known[name].codes(block) for run in rows.runs([name, *scheme.groups]) for block in run]
            found[name] = self._column("level", _spread(concatenated(codes), there), "C")
        return found

    def _factor(self, factor: Factor, rows: Rows, there: Flags | None, categories: dict[str, Factor]) -> Factor:
        if factor.transform == "C" and factor.column in categories:
            return categories[factor.column]
        if there is None:
            return factor
        values = as_float(rows.gather([factor.column])[factor.column])
        return self._column("number", _spread(values, there), factor.transform)

    def _column(self, what: str, values: Any, transform: str | None = None) -> Factor:
        name = f"{what} {self.count}.{len(self.columns)}"
        self.columns[name] = values
        return Factor(name, transform)

    def request(self) -> tuple[Rows, Roles]:
        """The file with all columns of the stack, and its terms."""
        rows = self.rows.with_columns({**self.columns, ANY: np.arange(self.rows.n, dtype=np.float64)})
        given = " + ".join([*([] if self.alike else ["0"]), *self.terms])
        return rows, Roles(confidential=[ANY], given=given, weight=self.weight or None if self.alike else None)

    def leverage(self, unit: str | None) -> tuple[Leverage, int]:
        """The highest of a record, or of a unit; and how many equations there are."""
        rows, roles = self.request()
        known = regression(rows, Design.learn(rows, roles))
        if unit is not None:
            from suffice.risk.unit_leverage import unit_leverage

        found = Leverage(highest_leverage(rows, known)) if unit is None else unit_leverage(rows, known, unit)
        return found, known.rank


def by_units(rows: Rows, account: Account, records: Leverage) -> Leverage:
    """The leverages of units in what this release keeps; those of records where that is too wide to be judged whole."""
    if account.design.roles.unit is None:
        return records
    try:
        stack = _Stack.of(rows, account, [account.entry.scheme], True)
        return stack.leverage(account.design.roles.unit)[0]
    except SufficeError:
        return replace(records, unjudged=True)


def stacked_products(rows: Rows, account: Account, schemes: Iterable[Scheme], room: int) -> tuple[Rows, Array] | None:
    """All records, and what each is multiplied by in the sums that this and earlier releases keep, those that follow
    from others left out; None where that is too much."""
    chosen = [account.entry.scheme, *schemes]
    try:
        rows, roles = _Stack.of(rows, account, chosen, _alike(chosen)).request()
        design = Design.learn(rows, roles, absorb=False)
    except SufficeError:  # the stacked design is too large
        return None
    if rows.n * design.m > room:
        return None
    X = np.vstack([design.given(block) for run in rows.runs(design.columns) for block in run])
    X *= as_float(rows.gather([roles.weight])[roles.weight])[:, None] if roles.weight else 1.0
    return rows, X[:, list(gqr(X / np.maximum(np.linalg.norm(X, axis=0), 1e-300)).pivots)]


def _alike(schemes: Sequence[Scheme]) -> bool:
    """Whether all have the same weight and records."""
    return len({(each.weight, each.settled) for each in schemes}) == 1


def _spread(values: NDArray[Any], there: Flags | None) -> NDArray[Any]:
    """Among all records; those that are not there have any value."""
    if there is None:
        return values
    found = np.full(len(there), values[0])
    found[there] = values
    return found


def _codes(words: Sequence[Any]) -> NDArray[np.int64]:
    return np.unique(fingerprints(len(words[0]), words), return_inverse=True)[1].astype(np.int64)


def regression(rows: Rows, design: Design) -> Regression:
    """X folded to its small factor."""
    matrices = Matrices(design, False)
    profile = matrices.profile(rows)
    basis = coordinates(rows, matrices, profile, NONE)
    return Regression(matrices, profile, *fold(rows, matrices, basis, NONE, profile.spread))


def highest_leverage(rows: Rows, known: Regression) -> float:
    """Of a record."""
    basis, measure = known.isometry.basis, LeverageMeasure(known.hat)

    def of(block: Block) -> Peaks:
        A = known.matrices.matrix(block, centre=basis.centre)
        Y = A[:, known.confidential]
        basis.divide(A, labels_of(known.design, basis, block))
        return measure.of(known.aligned(block, A, Y, Y, Y))

    return rows.fold(of, known.matrices.columns, "stacking").highest.leverage
