"""What a model of one column is: fitted to the original alone, then drawn from, given the columns before it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import reduce
from operator import add
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.errors import UsageError, suggest
from suffice.method.method import declared_parameters, kebab, refused, rule_of
from suffice.synthesis.variable import Board, Variable

Places = NDArray[np.int64]
Sums = Callable[[Array, Board], Any]
"""What is added up over the records: of the values of some of them, and the columns before."""
Passes = Generator[Sums, Any, "ModelFit"]
"""Asks for sums over all records, one after the other, and gives the model that was fitted by them."""

PART = 2**13
"""Records that sums are made of at a time."""
TRIES = 20
"""How often a value outside its limits is drawn again before it is set to the nearest that is inside."""


@dataclass(frozen=True)
class SynthesisModel:
    """How one column is drawn, given those before it."""

    categories: ClassVar[bool] = False
    numbers: ClassVar[bool] = False
    binned: ClassVar[bool] = False
    """Whether it sees columns by their bins."""

    def __post_init__(self) -> None:
        for declared in declared_parameters(type(self)):  # type: ignore[arg-type]
            try:
                value = rule_of(declared).read(getattr(self, declared.name))
            except ValueError:
                raise refused(kebab(type(self).__name__), declared) from None
            object.__setattr__(self, declared.name, value)

    def __str__(self) -> str:
        told = [f"{each.name}={getattr(self, each.name)}" for each in fields(self)]
        return ":".join([kebab(type(self).__name__), ",".join(told)] if told else [kebab(type(self).__name__)])

    def check(self, target: Variable) -> None:
        """Refuses a column of a kind that it does not draw."""
        if not (self.categories if target.levels else self.numbers):
            kind, other = ("a category", "cart") if target.levels else ("numbers", "cart or linear")
            raise UsageError(
                f"{kebab(type(self).__name__)} does not draw {kind}, and {target.name!r} is that. Use {other} for it."
            )

    def passes(self, target: Variable, names: Sequence[str], board: Board) -> Passes | None:
        """How it is fitted by sums over records, wherever they are; none where a model must see them.

        board: of some of the records, for the scales of columns
        """
        return None

    def fit(self, target: Variable, y: Array, names: Sequence[str], board: Board, counted: Array | None) -> ModelFit:
        """names: the columns of the board that come before it; counted: 0 for copies of other records"""
        passes = self.passes(target, names, board)
        assert passes is not None, "a model that must see records has a fit of its own"
        asked = Inquiry(passes)
        while asked.fit is None:
            asked.answer(added(asked.sums, y, board))
        return asked.fit


class Inquiry:
    """Passes on their way: the sums that are asked for now, and at last the model."""

    def __init__(self, passes: Passes) -> None:
        self.passes, self.sums = passes, next(passes)
        self.fit: ModelFit | None = None

    def answer(self, total: Any) -> None:
        try:
            self.sums = self.passes.send(total)
        except StopIteration as done:
            self.fit = done.value


class ModelFits:
    """A model of one column on its way, fitted to every super-block or by sums over all of them."""

    def __init__(self, model: SynthesisModel, target: Variable, names: Sequence[str], many: bool) -> None:
        self.model, self.target, self.names, self.many = model, target, names, many
        self.asked: Inquiry | None = None
        self.fits: list[ModelFit] = []
        self.total: Any = None
        self.done = False

    def see(self, y: Array, board: Board, counted: Array | None) -> None:
        if self.done:
            return
        if self.asked is None and not self.fits and self.many:
            passes = self.model.passes(self.target, self.names, board)
            self.asked = None if passes is None else Inquiry(passes)
        if self.asked is None:
            self.fits.append(self.model.fit(self.target, y, self.names, board, counted))
        else:
            found = added(self.asked.sums, y, board)
            self.total = found if self.total is None else self.total + found

    def answer(self) -> bool:
        """After all super-blocks: whether they are to be seen again."""
        if self.asked is not None and not self.done:
            self.asked.answer(self.total)
            self.total = None
            self.fits = [self.asked.fit] if self.asked.fit else []
        self.done = bool(self.fits)
        return not self.done

    @property
    def fit(self) -> ModelFit:
        return self.fits[0] if len(self.fits) == 1 else MixtureFit(tuple(self.fits))


def added(sums: Sums, y: Array, board: Board) -> Any:
    """The sums over all records of a board, some thousand at a time."""
    cuts = (slice(at, at + PART) for at in range(0, max(len(y), 1), PART))
    return reduce(add, (sums(y[part], board.at(part)) for part in cuts))


class ModelFit(ABC):
    """A model that was fitted."""

    @staticmethod
    def inside(drawn: Callable[[Places], Array], low: Array, high: Array) -> Array:
        """Values for all records, drawn again where they leave their limits, and set to the nearest end at last."""
        y = drawn(np.arange(len(low)))
        wrong = np.flatnonzero((y < low) | (y > high))
        for _ in range(TRIES if len(wrong) else 0):
            y[wrong] = drawn(wrong)
            wrong = wrong[(y[wrong] < low[wrong]) | (y[wrong] > high[wrong])]
        y[wrong] = np.clip(y[wrong], low[wrong], high[wrong])
        return y

    @abstractmethod
    def draw(self, board: Board, n: int, draws: np.random.Generator, low: Array, high: Array) -> Array:
        """A value for each of n records, inside their limits."""

    def proper(self, draws: np.random.Generator) -> Self:
        """With parameters drawn from their posterior."""
        return self

    def between(self, ends: Array) -> Self:
        """ends: numbers that stand for the column's values, where it is drawn between two of them"""
        return self

    @property
    def facts(self) -> Mapping[str, Any]:
        """What guards should know: counts."""
        return {}


@dataclass(frozen=True, repr=False)
class MixtureFit(ModelFit):
    """A model fitted to each super-block of records; a record is drawn from one of them, by chance."""

    fits: tuple[ModelFit, ...]

    def proper(self, draws: np.random.Generator) -> Self:
        return replace(self, fits=tuple(fit.proper(draws) for fit in self.fits))

    def between(self, ends: Array) -> Self:
        return replace(self, fits=tuple(fit.between(ends) for fit in self.fits))

    def draw(self, board: Board, n: int, draws: np.random.Generator, low: Array, high: Array) -> Array:
        which, y = draws.integers(len(self.fits), size=n), np.empty(n)
        for number, fit in enumerate(self.fits):
            rows = np.flatnonzero(which == number)
            y[rows] = fit.draw(board.at(rows), len(rows), draws, low[rows], high[rows])
        return y

    @property
    def facts(self) -> Mapping[str, Any]:
        told = [fit.facts for fit in self.fits]
        return {name: min(each[name] for each in told) for name in told[0]}  # the smallest leaf; smooth if all are


def spelt(text: object, known: Mapping[str, type[SynthesisModel]]) -> SynthesisModel:
    """A model, or one from its name and parameters: cart:least=20."""
    if isinstance(text, SynthesisModel):
        return text
    if not isinstance(text, str):
        raise ValueError
    name, _, given = text.strip().partition(":")
    if name not in known:
        raise UsageError(f"There is no model {name!r}.{suggest(name, known)} Known: {', '.join(known)}.")
    rules = {each.name: each for each in declared_parameters(known[name])}  # type: ignore[arg-type]
    values = {}
    for item in filter(None, given.split(",")):
        key, _, value = item.partition("=")
        if key.strip() not in rules:
            raise UsageError(f"{name} has no parameter {key.strip()!r}. It has: {', '.join(rules) or 'none'}.")
        try:
            values[key.strip()] = rule_of(rules[key.strip()]).parse(value)
        except ValueError:
            raise refused(name, rules[key.strip()]) from None
    return known[name](**values)
