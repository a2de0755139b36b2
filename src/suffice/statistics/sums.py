"""Sums over the records of a file, and several of them in one pass."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

from suffice.algebra.array import Array
from suffice.design.design import Design
from suffice.design.limits import Limits
from suffice.rows.rows import Block, Rows


@dataclass(frozen=True, repr=False)
class Fold:
    """One pass: `of` some blocks of records, added up in the order of the file."""

    of: Callable[[Sequence[Block]], Any]
    columns: tuple[str, ...]

    @classmethod
    def by_block(cls, of: Callable[[Block], Any], columns: tuple[str, ...]) -> Fold:
        return cls(lambda run: reduce(add, map(of, run)), columns)


Look = Generator[Fold, Any, Any]
"""Asks for a fold at a time, is sent what it adds up to, and returns what was found."""


@dataclass(frozen=True, repr=False)
class Reference:
    """The original, with which rows that leave are compared; what was added up of it is kept."""

    rows: Rows
    design: Design
    outgoing: Design
    """The design of the rows that leave: drawn ones have no weight."""
    centre: Array
    """Of the columns [X Y]."""
    size: Array
    """The largest absolute value of each of them."""
    limits: Limits | None = None
    redrawn: bool = False
    """The records that leave are new ones, so that neither their number nor what each was given can be the same."""
    known: dict[Sums, Any] = field(default_factory=dict)

    @property
    def weighing(self) -> str:
        """What is said of a statistic of weighted records; drawn ones have no weight, so their plain ones are these."""
        weight = self.design.roles.weight
        if weight is None:
            return ""
        return f", weighted by {weight}" + " in the original" * (self.outgoing.roles.weight is None)


class Sums(ABC):
    """What is added up over a file for some statistics: a value, and equal ones are added up once."""

    @abstractmethod
    def before(self, reference: Reference) -> Look:
        """Of the original, where as many passes are allowed as are needed."""

    @abstractmethod
    def after(self, known: Any, reference: Reference) -> Look:
        """Of the rows that leave, in one pass; `known`: what was found of the original."""


def looked(rows: Rows, looks: Sequence[Look]) -> list[Any]:
    """What every look finds, in as many passes as the one that needs most."""
    found: list[Any] = [None] * len(looks)
    sent: dict[int, Any] = dict.fromkeys(range(len(looks)))
    while sent:
        folds: dict[int, Fold] = {}
        for place, value in sent.items():
            try:
                folds[place] = looks[place].send(value)
            except StopIteration as end:
                found[place] = end.value
        sent = dict(zip(folds, _added_up(rows, list(folds.values())), strict=True)) if folds else {}
    return found


def _added_up(rows: Rows, folds: Sequence[Fold]) -> list[Any]:
    columns = tuple(dict.fromkeys(name for fold in folds for name in fold.columns))
    runs = rows.map(lambda run: [fold.of(run) for fold in folds], columns, "certifying")
    return reduce(lambda one, two: [a + b for a, b in zip(one, two, strict=True)], runs)
