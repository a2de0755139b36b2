"""Rules that call a cell sensitive, and how far from its value an attacker must be kept.

Sensitivity and protection levels are those of the Handbook on Statistical Disclosure Control, Table 4.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from suffice.algebra.array import Array, Flags
from suffice.errors import UsageError, suggest
from suffice.tables.contributors import Makeup

if TYPE_CHECKING:
    from suffice.tables.table import Table

SLACK = 1e-9
"""Share of a cell by which a threshold must be passed: the last digit does not decide."""


class PrimaryRule:
    """A rule: which cells are sensitive, by how much an interval must go beyond their value."""

    name: ClassVar[str]

    def __post_init__(self) -> None:
        """Refuses numbers that no rule can have; shares of which others are taken are above zero."""
        for name, number in vars(self).items():
            if number is not None and not (0 <= number < np.inf and (number or name not in ("k", "q"))):
                above = " above zero" if name in ("k", "q") else ", which is not negative"
                raise UsageError(f"The rule {self.name} needs a number {name}{above}.")

    def sensitive(self, cells: Makeup) -> Flags:
        """Which cells are sensitive, seen by themselves."""
        return np.asarray(self.level(cells) > SLACK * cells.size)

    def level(self, cells: Makeup) -> Array:
        """The upper protection level; positive where a cell is sensitive."""
        raise NotImplementedError

    def lower(self, cells: Makeup) -> Array:
        """The lower protection level; the upper one, unless a rule tells them apart."""
        return self.level(cells)

    def in_table(self, table: Table, value: str) -> Flags:
        """Which cells are sensitive because of the cells around them."""
        return np.zeros(len(table), dtype=bool)


@dataclass(frozen=True)
class MinimumFrequency(PrimaryRule):
    """Fewer records than `minimum`, unweighted; cells without any where `zeros` are sensitive too.

    share, below: of the value, that an interval must go above it, and below; a count is judged by its possible whole
        numbers instead
    """

    minimum: float
    zeros: bool = False
    share: float = 0.1
    below: float | None = None
    name: ClassVar[str] = "frequency"

    def sensitive(self, cells: Makeup) -> Flags:
        _needs(cells.records, self.name, "the number of records")
        return np.asarray((cells.records < self.minimum) & (self.zeros | (cells.records > 0)) & ~_all_waived(cells))

    def level(self, cells: Makeup) -> Array:
        return self.share * cells.size

    def lower(self, cells: Makeup) -> Array:
        return (self.share if self.below is None else self.below) * cells.size


@dataclass(frozen=True)
class FewContributors(PrimaryRule):
    """Fewer contributors than `minimum`, and at least one: those of zero do not count."""

    minimum: float
    share: float = 0.1
    below: float | None = None
    name: ClassVar[str] = "contributors"

    def sensitive(self, cells: Makeup) -> Flags:
        _needs(cells.units, self.name, "the number of contributors")
        return np.asarray((cells.units < self.minimum) & (cells.units > 0) & ~_all_waived(cells))

    def level(self, cells: Makeup) -> Array:
        return self.share * cells.size

    def lower(self, cells: Makeup) -> Array:
        return (self.share if self.below is None else self.below) * cells.size


@dataclass(frozen=True)
class Dominance(PrimaryRule):
    """(n, k): the n largest contribute more than k % of the cell.

    >>> one = np.ones((1, 1), dtype=bool)
    >>> cell = Makeup(*np.array([[100.0], [100.0], [3.0], [3.0]]), np.array([[77.0, 20, 3]]), one, one & False)
    >>> Dominance(1, 70).level(cell)  # Cox: v1 / .7 - v
    array([10.])
    """

    n: float
    k: float
    name: ClassVar[str] = "dominance"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n % 1 or not 1 <= self.n <= 8:
            raise UsageError(
                "Dominance looks at a whole number of the largest contributors, 1 to 8.\nWrite dominance=n,k."
            )

    def sensitive(self, cells: Makeup) -> Flags:
        top = slice(0, int(self.n))
        unwaived = (~cells.waived[:, top] & (cells.largest[:, top] > 0)).any(axis=1)
        return super().sensitive(cells) & unwaived

    def level(self, cells: Makeup) -> Array:
        return 100 / self.k * cells.top(int(self.n)) - cells.size


@dataclass(frozen=True)
class PPercent(PrimaryRule):
    """The second largest contributor can tell the largest one within p %."""

    p: float
    name: ClassVar[str] = "p"

    def level(self, cells: Makeup) -> Array:
        target, attacker = _target_and_attacker(cells)
        return np.asarray(self.p / 100 * target - (cells.size - target - attacker))


@dataclass(frozen=True)
class PriorPosterior(PrimaryRule):
    """pq: as p %, where everybody knows the others within q % beforehand. Cox's text has q / 100 times this level."""

    p: float
    q: float
    name: ClassVar[str] = "pq"

    def level(self, cells: Makeup) -> Array:
        target, attacker = _target_and_attacker(cells)
        return np.asarray(self.p / self.q * target - (cells.size - target - attacker))


@dataclass(frozen=True)
class OnRequest(PrimaryRule):
    """The largest contributor has asked for protection and contributes more than k % of the cell."""

    k: float
    name: ClassVar[str] = "request"

    def sensitive(self, cells: Makeup) -> Flags:
        return super().sensitive(cells) & cells.asked[:, 0]

    def level(self, cells: Makeup) -> Array:
        return 100 / self.k * cells.top(1) - cells.size


@dataclass(frozen=True)
class DirectDisclosure(PrimaryRule):
    """All of a total but at most `coalition` lie in one part of it: whoever is counted there is told a category."""

    coalition: float
    name: ClassVar[str] = "direct"

    def sensitive(self, cells: Makeup) -> Flags:
        return np.zeros(len(cells.value), dtype=bool)

    def level(self, cells: Makeup) -> Array:
        return np.zeros(len(cells.value))

    def in_table(self, table: Table, value: str) -> Flags:
        x, rows = table.values[value], table.relations.tocoo()
        part = (rows.data > 0) & (rows.col != table.totals[rows.row])
        cell, total = rows.col[part], table.totals[rows.row[part]]
        found = np.zeros(len(x), dtype=bool)
        found[cell[(x[cell] > 0) & (x[total] - x[cell] <= self.coalition)]] = True
        return found


RULES: dict[str, type[PrimaryRule]] = {
    rule.name: rule
    for rule in (MinimumFrequency, FewContributors, Dominance, PPercent, PriorPosterior, OnRequest, DirectDisclosure)
}


def rule_of(text: str) -> PrimaryRule:
    """A rule as the command line says it.

    >>> rule_of("dominance=2,85")
    Dominance(n=2.0, k=85.0)
    """
    word, _, numbers = text.partition("=")
    rule = RULES.get(word.strip())
    if rule is None:
        raise UsageError(f"There is no rule {word!r}.{suggest(word, RULES)}\nKnown are {', '.join(RULES)}.")
    names = [field.name for field in fields(rule) if field.name not in ("zeros", "share", "below")]  # type: ignore[arg-type]
    shape = f"{word}={','.join(names)}"
    try:
        given: Any = [float(number) for number in numbers.split(",")]
    except ValueError:
        raise UsageError(f"The rule {text!r} needs numbers.\nWrite {shape}.") from None
    if len(given) != len(names):
        raise UsageError(f"The rule {text!r} needs {len(names)} numbers.\nWrite {shape}.")
    return rule(*given)


def rules_of(texts: Sequence[str], zeros: bool = False) -> list[PrimaryRule]:
    """Rules as plans and commands say them; zeros: cells without records are too few records."""
    rules = [rule_of(text) for text in texts]
    rules = [replace(rule, zeros=zeros) if isinstance(rule, MinimumFrequency) else rule for rule in rules]
    for rule, text in zip(rules, texts, strict=True):
        if _idle(rule):
            raise UsageError(f"No cell can meet the rule {text!r}.\nGive it other numbers, or leave it out.")
    return rules


def _idle(rule: PrimaryRule) -> bool:
    """Whether a rule calls no cell sensitive, whatever stands behind it."""
    match rule:
        case MinimumFrequency():
            return rule.minimum <= (0 if rule.zeros else 1)
        case FewContributors():
            return rule.minimum <= 1
        case Dominance() | OnRequest():
            return rule.k >= 100
        case PPercent() | PriorPosterior():
            return rule.p == 0
    return False


def _needs(known: Array, rule: str, what: str) -> None:
    lacking = int(np.isnan(known).sum())
    if lacking:
        raise UsageError(
            f"The rule {rule} needs {what} of every cell; of {lacking:,} of {len(known):,} it is not known.\n"
            "Make the table from records, name the column that has it, or fill in the cells without a value."
        )


def _all_waived(cells: Makeup) -> Flags:
    """Whether every contributor does without protection."""
    there = cells.largest > 0
    few = np.nan_to_num(cells.units, nan=np.inf) <= there.sum(axis=1)
    return np.asarray(few & there.any(axis=1) & (cells.waived | ~there).all(axis=1))


def _target_and_attacker(cells: Makeup) -> tuple[Array, Array]:
    """The largest contribution without a waiver, and the largest other one."""
    cells.top(2)
    wide = np.pad(cells.largest, ((0, 0), (0, max(0, 2 - cells.largest.shape[1]))))
    waived = np.pad(cells.waived, ((0, 0), (0, wide.shape[1] - cells.waived.shape[1])))
    exposed = np.where(waived, 0.0, wide)
    first = np.argmax(exposed, axis=1)
    rows = np.arange(len(wide))
    return exposed[rows, first], np.where(first == 0, wide[:, 1], wide[:, 0])
