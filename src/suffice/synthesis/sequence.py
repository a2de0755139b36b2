"""Columns drawn one after the other, each from a model that was fitted to the original."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from suffice.algebra.array import Array, Flags
from suffice.design.condition import Condition
from suffice.design.condition import parse as condition
from suffice.design.edits import Edit
from suffice.errors import InfeasibleError, InputError, count_of
from suffice.rows.bridge import arrow
from suffice.rows.rows import Block
from suffice.seed import Stream
from suffice.synthesis.model import ModelFit, ModelFits, SynthesisModel
from suffice.synthesis.rule import SkipRule
from suffice.synthesis.variable import Board, Variable

AGAIN = 100
"""How often records that leave the region they were chosen by are drawn again."""
CONTINUOUS = 256
"""A column of more values makes records that are the same in all columns copies, and no chance."""
DIGITS = 1e-9


Part = Callable[[], tuple[Mapping[str, Any], Array | None]]
"""The columns of a super-block as blocks hold them, and 0 for records that do not count."""


@lru_cache(maxsize=64)
def _condition(text: str) -> Condition:
    return condition(text)


def in_text(
    asked: Condition, columns: Mapping[str, Any], levels: Mapping[str, Sequence[str]], holes: Mapping[str, float | None]
) -> Flags:
    """Records that a condition holds for; a column that is coded is read as the text or the number that it is."""
    seen = dict(columns)
    for name in asked.columns:
        if name in levels and name in seen and not isinstance(seen[name], pa.Array):
            texts = pa.array([None, *levels[name]], pa.string())
            seen[name] = texts.take(arrow(np.rint(seen[name]).astype(np.int64)))
        elif holes.get(name) is not None and name in seen:
            seen[name] = np.where(seen[name] == holes[name], np.nan, seen[name])
    return asked.of(seen)


@dataclass(frozen=True, repr=False)
class Stage:
    """One column: whether its cell is missing, then its value; or what follows from those before."""

    name: str
    holed: ModelFit | None
    fit: ModelFit | None
    rules: tuple[SkipRule, ...] = ()
    edits: tuple[Edit, ...] = ()
    low: float = -np.inf
    high: float = np.inf

    def limits(self, board: Board, n: int) -> tuple[Array, Array]:
        """Between which numbers the value of every record must lie, given those before it."""
        low, high = np.full(n, self.low), np.full(n, self.high)
        for edit in self.edits:
            others = [name for name in edit.columns if name != self.name]
            hole = np.any([board.variables[name].holes(board.values[name]) for name in others], axis=0)
            c, gap = float(dict(edit.coefficients)[self.name]), self._gap(edit, board, n)
            if edit.equality or c > 0:
                high = np.where(hole, high, np.minimum(high, gap))
            if edit.equality or c < 0:
                low = np.where(hole, low, np.maximum(low, gap))
        return low, high

    def _gap(self, edit: Edit, board: Board, n: int) -> Array:
        rest = np.full(n, float(edit.constant))
        for name, c in edit.coefficients:
            if name != self.name:
                rest -= float(c) * board.values[name]
        return rest / float(dict(edit.coefficients)[self.name])


@dataclass(frozen=True, repr=False)
class Sequential:
    """All columns in their order; called with a block, it gives new values of the confidential columns."""

    variables: Mapping[str, Variable]
    given: tuple[str, ...]
    names: tuple[str, ...]
    """The confidential columns as the file has them."""
    stages: tuple[Stage, ...]
    levels: Mapping[str, tuple[str, ...]]
    where: str = ""
    fitted: int = 0
    said: tuple[str, ...] = ()

    def proper(self, draws: np.random.Generator) -> Self:
        """With parameters drawn from their posteriors."""
        stages = [replace(each, fit=each.fit and each.fit.proper(draws)) for each in self.stages]
        return replace(self, stages=tuple(stages))

    def between(self, stream: Stream) -> Self:
        """With numbers that stand for the values that others are drawn between."""
        ends = {each.name: self.variables[each.name].ends(stream.generator(each.name)) for each in self.stages}
        stages = [replace(each, fit=each.fit and each.fit.between(ends[each.name])) for each in self.stages]
        return replace(self, stages=tuple(stages))

    @property
    def facts(self) -> dict[str, Any]:
        """The smallest leaf of all trees, the columns whose rare values are handed on, and those that are regressed."""
        fits = [fit for each in self.stages for fit in (each.holed, each.fit) if fit is not None]
        leaves = [fit.facts["leaf"] for fit in fits if "leaf" in fit.facts]
        rough = tuple(each.name for each in self.stages if each.fit and not each.fit.facts.get("smooth", True))
        regressed = tuple(each.name for each in self.stages if each.fit and "leaf" not in each.fit.facts)
        return {"leaf": min(leaves, default=None), "rough": rough, "regressed": regressed}

    def __call__(self, block: Block) -> Array:
        assert block.key is not None
        draws = block.key.generator()
        if not self.where:
            return self._drawn(block.columns, len(block), draws)
        found, rows, columns = np.empty((len(block), len(self.names))), np.arange(len(block)), block.columns
        for _ in range(AGAIN):
            made = self._drawn(columns, len(rows), draws)
            inside = self.fulfil(_condition(self.where), {**columns, **dict(zip(self.names, made.T, strict=True))})
            found[rows[inside]] = made[inside]
            rows = rows[~inside]
            if not len(rows):
                return found
            columns = {name: column.take(rows) for name, column in block.columns.items()}
        raise InfeasibleError(
            f"{count_of(len(rows), 'record')} drawn {AGAIN} times did not come inside the region {self.where!r}.\n"
            "Let the condition name fewer columns, or give these another model."
        )

    def fulfil(self, asked: Condition, columns: Mapping[str, Any]) -> Flags:
        """Records that a condition holds for."""
        return in_text(asked, columns, self.levels, {name: each.hole for name, each in self.variables.items()})

    def _drawn(self, columns: Mapping[str, Any], n: int, draws: np.random.Generator) -> Array:
        board = Board(self.variables, {name: self.variables[name].numbers(columns[name]) for name in self.given})
        for stage in self.stages:
            board.put(stage.name, self._stage(stage, board, columns, n, draws))
        return np.column_stack([board.values[name] for name in self.names])

    def _stage(
        self, stage: Stage, board: Board, columns: Mapping[str, Any], n: int, draws: np.random.Generator
    ) -> Array:
        hole = self.variables[stage.name].hole
        y = np.full(n, 0.0 if hole is None else hole)
        free = np.ones(n, dtype=bool)
        for rule in stage.rules:
            seen = {name: board.values.get(name, columns.get(name)) for name in _condition(rule.when).columns}
            seen |= {name: columns[name] for name in seen if name in self.given}
            fixed = self.fulfil(_condition(rule.when), seen)
            value = rule.number(self.levels.get(stage.name), hole)
            if (both := fixed & ~free & (y != value)).any():
                raise InfeasibleError(
                    f"Rules settle {stage.name!r} in two ways, in {count_of(int(both.sum()), 'drawn record')}: "
                    f"{rule.text!r} and one before it.\nLet their conditions leave each other out."
                )
            y[fixed] = value
            free &= ~fixed
        if stage.holed is not None:
            wide = np.full(n, np.inf)
            free &= stage.holed.draw(board, n, draws, -wide, wide) < 0.5
        if stage.fit is not None and free.any():
            low, high = stage.limits(board, n)
            part = board if free.all() else board.at(free)
            y[free] = stage.fit.draw(part, int(free.sum()), draws, low[free], high[free])
        return y


@dataclass(frozen=True, repr=False)
class Learner:
    """Fits the models of all columns to the records of the original."""

    given: tuple[str, ...]
    order: tuple[str, ...]
    names: tuple[str, ...]
    models: Mapping[str, SynthesisModel]
    patterns: SynthesisModel
    """Which cells are missing is drawn by this."""
    rules: tuple[SkipRule, ...]
    conditions: tuple[Edit, ...]
    bounds: Mapping[str, tuple[float, float]]
    levels: Mapping[str, tuple[str, ...]]
    holes: Mapping[str, float]
    where: str
    many: bool = False
    """Whether there are several super-blocks."""

    def learnt(self, parts: Sequence[Part]) -> Sequential:
        """parts: super-blocks of the records that models are fitted to: trees to each of them, and what is fitted by
        sums to all, the models of all columns in the same passes."""
        whole = Sequential(self._variables(parts), self.given, self.names, (), self.levels, self.where)
        fittings: dict[tuple[str, bool], ModelFits] = {}
        asked, wrong, fitted, more = Counter[str](), Counter[str](), 0, 1
        while more:
            first, seen, tally = not fitted, 0, (Counter[str](), Counter[str]()) if fitted else (asked, wrong)
            for part in parts:
                columns, counted = part()
                board = self._board(whole.variables, columns)
                counted = _not_copies(board, counted) if first else None
                self._see(whole, board, columns, counted, fittings, *tally)
                seen += len(board)
            fitted = seen
            more = sum(each.answer() for each in fittings.values())
        told = "not so in {} of the original, and now in none"
        said = [f"{text}: {told.format(count_of(n, 'record'))}" for text, n in wrong.items()]
        said += [f"{r.text}: its condition holds in no record of the original" for r in self.rules if not asked[r.text]]
        return replace(whole, stages=tuple(self._stages(fittings)), fitted=fitted, said=tuple(said))

    def _board(self, variables: Mapping[str, Variable], columns: Mapping[str, Any]) -> Board:
        return Board(variables, {name: variables[name].numbers(columns[name]) for name in (*self.given, *self.order)})

    def _variables(self, parts: Sequence[Part]) -> dict[str, Variable]:
        """Numbers as the first super-block has them, levels as all have them."""
        columns, counted = parts[0]()
        texts = [{n: pc.unique(y) for n, y in part()[0].items() if isinstance(y, pa.Array)} for part in parts[1:]]
        found = {}
        for name in (*self.given, *self.order):
            others = [each[name] for each in texts if name in each]
            known = pa.concat_arrays([pc.unique(columns[name]), *others]) if others else None
            levels, hole = len(self.levels.get(name, ())), self.holes.get(name)
            found[name] = Variable.learn(name, columns[name], levels, hole, known)
        board = self._board(found, columns)
        if (counted := _not_copies(board, counted)) is not None:
            found = {name: each.counted(board.values[name], counted) for name, each in found.items()}
        return found

    def _see(
        self, whole: Sequential, board: Board, columns: Mapping[str, Any], counted: Array | None,
        fittings: dict[tuple[str, bool], ModelFits], asked: Counter[str], wrong: Counter[str],
    ) -> None:  # fmt: skip
        """Lets the models of all columns see a super-block; asked, wrong: how often each rule applied, was broken."""
        before = list(self.given)
        for name in self.order:
            target, y = board.variables[name], board.values[name]
            self.models[name].check(target)
            free = np.ones(len(y), dtype=bool)
            for rule in self.rules:
                if rule.column == name:
                    fixed = whole.fulfil(_condition(rule.when), columns)
                    asked[rule.text] += int(fixed.sum())
                    if broken := int((y[fixed] != rule.number(self.levels.get(name), target.hole)).sum()):
                        wrong[rule.text] += broken
                    free &= ~fixed
            hole = target.holes(y)
            flag = Variable(name, 0, None, np.array([0.0, 1.0]), np.array([len(y), len(y)]))
            holed = hole[free].any() or (self.many and target.hole is not None)
            wanted = [(True, self.patterns, flag, hole.astype(np.float64), free)] if holed else []
            for pattern, model, of, values, chosen in (*wanted, (False, self.models[name], target, y, free & ~hole)):
                if len(rows := np.flatnonzero(chosen)):
                    fitting = fittings.setdefault((name, pattern), ModelFits(model, of, tuple(before), self.many))
                    if model.binned:
                        board.bin(before)
                    part = board if len(rows) == len(y) else board.at(rows)
                    fitting.see(values[rows], part, None if counted is None else counted[rows])
            before.append(name)

    def _stages(self, fittings: Mapping[tuple[str, bool], ModelFits]) -> Iterator[Stage]:
        for name in self.order:
            holed, fit = (fittings[name, each].fit if (name, each) in fittings else None for each in (True, False))
            rules = tuple(rule for rule in self.rules if rule.column == name)
            edits = tuple(each for each in self.conditions if self._last(each) == name)
            yield Stage(name, holed, fit, rules, edits, *self.bounds.get(name, (-np.inf, np.inf)))

    def _last(self, edit: Edit) -> str:
        """The column of an edit that is drawn last: it is drawn inside what the others leave."""
        return max((name for name in edit.columns if name in self.order), key=self.order.index)


def _not_copies(board: Board, counted: Array | None) -> Array | None:
    """0 for records that are others again, in a file where chance does not make such; and for more of one unit."""
    if not any(len(each.values) > CONTINUOUS for each in board.variables.values() if not each.levels):
        return counted
    matrix = np.column_stack([np.nan_to_num(values) for values in board.values.values()]) + 0.0
    weights = np.random.default_rng(1).integers(2**63, size=matrix.shape[1], dtype=np.uint64) | np.uint64(1)
    bits = np.ascontiguousarray(matrix).view(np.uint64)
    words = ((bits ^ (bits >> np.uint64(29))) * weights).sum(axis=1, dtype=np.uint64)
    first = np.unique(words, return_index=True)[1]
    if len(first) == len(words):
        return counted
    own = np.zeros(len(words))
    own[first] = 1.0
    return own if counted is None else own * counted


def ordered(names: Sequence[str], rules: Sequence[SkipRule]) -> tuple[str, ...]:
    """The columns with those that rules ask before those that they settle, else in their order."""
    needs = {
        name: {n for rule in rules if rule.column == name for n in _condition(rule.when).columns} for name in names
    }
    found: list[str] = []
    while len(found) < len(names):
        ready = [n for n in names if n not in found and not (needs[n] & {*names}) - {*found}]
        if not ready:
            raise InputError("The rules settle columns in a circle: each must ask columns that it does not settle.")
        found.append(ready[0])
    return tuple(found)
