"""A measure declares itself: what it needs, what its values mean, and where its definition stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Literal

import numpy as np

from suffice.algebra.array import Array
from suffice.measure.numbers import FileNumbers, Numbers
from suffice.measure.pair import FilePair

Need = Literal[
    "aligned rows",
    "hold-out",
    "numbers",
    "two numbers",
    "categories",
    "known categories",
    "numbers or categories",
    "weights",
    "several releases",
    "a formula",
    "a ledger",
]
Direction = Literal["higher is riskier", "lower is riskier", "higher is better", "lower is better"]

UNMET: Mapping[Need, str] = {
    "aligned rows": "it needs to know which released record is whose: say aligned=True (--aligned) where both files "
    "have the same records in the same order, or name identifiers that both files have",
    "hold-out": "it needs a hold-out: records of the same kind that were kept back before the release was made",
    "numbers": "it needs a confidential column of numbers",
    "two numbers": "it needs two confidential columns of numbers",
    "categories": "it needs categories among the columns that have roles, in every file",
    "known categories": "it needs categories among the given or kept columns, in every file",
    "numbers or categories": "it needs a column of numbers that varies, or categories",
    "weights": "it needs a weight",
    "several releases": "it needs several releases",
    "a formula": "it needs an analysis, 'lm: y ~ x'",
    "a ledger": "it needs release.assess() of a release made with a key file, whose ledger knows the earlier ones",
}


SHARE, LOSS = (0.0, 1.0), (0.0, inf)
"""Ranges that many measures have."""
DEALT = 100_000
"""Records that are dealt at random, at most."""


@dataclass(frozen=True)
class Value:
    """What a measure found.

    parts: figures that it is made of: by column, by family, or the ends of an interval
    chance: what is found where the release has nothing to do with the original; None where that is the range's end
    said: what a reader must know of this value: that a fit was not found, that only some were tried
    """

    value: float
    parts: Mapping[str, float] = field(default_factory=dict)
    chance: float | None = None
    said: str = ""


@dataclass(frozen=True)
class Measure:
    """One number about a pair of files, with its definition.

    of: a function of the pair; one that needs several releases sees all of them, others are asked of each
    range: the least and the largest value that is possible
    most: records that are looked at, at most; a larger file is sampled, and that is said
    """

    name: str
    of: Callable[[FilePair], float | Value]
    needs: frozenset[Need]
    range: tuple[float, float]
    direction: Direction
    definition: str
    reference: str = ""
    most: int | None = None
    together: bool = False
    """Whether it sees several releases at once, and one as well."""
    whole: bool = False
    """Whether it sees all records however many they are: a fold over blocks, or a column at a time."""

    @property
    def family(self) -> Literal["risk", "utility"]:
        return "risk" if self.direction.endswith("riskier") else "utility"

    @property
    def of_a_copy(self) -> float:
        """The end of the range where a release lies that is the original: the riskiest, and the most useful."""
        return self.range[self.direction.startswith("higher")]

    def unmet(self, pair: FilePair) -> Iterator[Need]:
        """What it needs and the pair has not."""
        there: Mapping[Need, bool] = {
            "aligned rows": pair.aligned,
            "hold-out": pair.aside is not None,
            "numbers": bool(pair.numbers),
            "two numbers": len(pair.numbers) > 1,
            "categories": bool(pair.categories),
            "known categories": bool(pair.known),
            "numbers or categories": bool(pair.numbers or pair.categories),
            "weights": pair.weight is not None,
            "several releases": len(pair.after) > 1,
            "a formula": bool(pair.analyses),
            "a ledger": bool(pair.past),
        }
        return (need for need in UNMET if need in self.needs and not there[need])


def beside_chance(share: Callable[..., float], Y: Numbers, Ystar: Numbers) -> Value:
    """A share of aligned records, and what it is with the released ones dealt at random: where many values are alike,
    many agree that have nothing to do with each other. Of many records some are dealt."""
    rng = np.random.default_rng(1)
    one, two = (FileNumbers.of(each).some(DEALT) for each in (Y, Ystar))
    dealt = [share(one, two[rng.permutation(len(two))]) for _ in range(5)]
    return Value(share(Y, Ystar), chance=float(np.mean(dealt)))


def largest(of: Callable[[Numbers, Numbers], Array]) -> Callable[[FilePair], Value]:
    """The largest of what is found of every column, with all of them."""

    def found(pair: FilePair) -> Value:
        each = of(pair.original, pair.release)
        return Value(float(each.max()), dict(zip(pair.numbers, each.tolist(), strict=True)))

    return found
