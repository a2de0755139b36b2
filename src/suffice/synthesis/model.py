"""What a model of one column is: fitted to the original alone, then drawn from, given the columns before it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.errors import UsageError, suggest
from suffice.method.method import declared_parameters, kebab, refused, rule_of
from suffice.synthesis.variable import Board, Variable

Places = NDArray[np.int64]

TRIES = 20
"""How often a value outside its limits is drawn again before it is set to the nearest that is inside."""


@dataclass(frozen=True)
class SynthesisModel(ABC):
    """How one column is drawn, given those before it."""

    categories: ClassVar[bool] = False
    numbers: ClassVar[bool] = False

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

    @abstractmethod
    def fit(self, target: Variable, y: Array, names: Sequence[str], board: Board, counted: Array | None) -> ModelFit:
        """names: the columns of the board that come before it; counted: 0 for copies of other records"""


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

    @property
    def facts(self) -> Mapping[str, Any]:
        """What guards should know: counts."""
        return {}


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
