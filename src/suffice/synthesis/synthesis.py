"""Synthesis: m files whose confidential columns are drawn from models of the original."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.design.bounds import by_column, observed
from suffice.design.condition import parse as condition
from suffice.design.design import Design
from suffice.errors import InputError, UsageError, count_of, suggest
from suffice.files.source import open_rows
from suffice.method.masked import MaskedColumns
from suffice.method.method import Method
from suffice.method.parameter import Count, Names, Switch, parameter
from suffice.method.rowwise import Rowwise
from suffice.rows.arrow import as_float
from suffice.rows.derived import all_beside
from suffice.rows.memory import ArrayRows
from suffice.rows.rows import Kind, Rows, Run
from suffice.rows.spool import stored
from suffice.seed import Seed, Stream
from suffice.statistics.domain import Domain
from suffice.statistics.statistic import Promise
from suffice.statistics.table import CountTable
from suffice.synthesis.cart import Cart
from suffice.synthesis.exact import chosen, restored
from suffice.synthesis.imputation import completed
from suffice.synthesis.linear import Linear
from suffice.synthesis.model import SynthesisModel
from suffice.synthesis.multinomial import Multinomial
from suffice.synthesis.parameters import ConditionRule, ModelRule, Population, SkipRules
from suffice.synthesis.rule import SkipRule
from suffice.synthesis.sequence import Learner, Part, Sequential, in_text, ordered
from suffice.synthesis.super_blocks import MOST, parts_of, super_blocks

if TYPE_CHECKING:
    from suffice.design.roles import Roles

Learnt = WeakKeyDictionary[Rows, dict[Any, Sequential]]
_learnt: Learnt = WeakKeyDictionary()
"""What was fitted to rows: all files of a request are drawn from it."""


TRIALS = Seed.for_tests(0).derive("imputation")
"""Numbers of an imputation that never leaves."""


@dataclass(frozen=True)
class Synthesis(Rowwise):
    """Draw the confidential columns anew, one after the other, each from a model fitted to the original.

    y*_j  drawn from  p(y_j | given columns, y*_1, ..., y*_{j-1})

    **Promises** nothing exactly but bounds, edits and rules, which hold in every record. What is estimated from m files
    together has a variance of its own: combine them by the rule that the certificate names.

    m: how many files; each is drawn by itself from the same models
    models: by column, or one for all; trees (`cart`) where nothing is said
    order: in which columns are drawn; that of the roles unless told
    where: only records for which this holds are replaced: models are fitted to these, and they are drawn inside it
    rules: skip patterns, which hold in every record
    records: of each file, fully synthetic: their given columns are those of records drawn from the original
    frame: a population in which the given columns are known, a file or a table: each file has a sample of its units
    proper: draw the parameters of the models from their posterior, for each file; trees have none
    r: missing cells are imputed, m times, and each completed file is drawn r times: m r files without missing cells
    margins: categories of which every one- and two-way table is the original's, to the last count: records are chosen
        among three to ten times as many; levels that few records have must be joined first
    exact: numbers are moved, in few cells, from one of a hundred, until means, covariances and means by the margins'
        levels are the original's; zeros, spikes and bounds stay where they can.
        `Synthesis(margins=...).then(Restore())` is this

    Rubin (1993); Reiter (2003, 2005); Raghunathan, Reiter & Rubin (2003).

    >>> import pandas as pd, suffice
    >>> data = pd.DataFrame({"smokes": ["no", "yes"] * 50, "cigarettes": [0, 7] * 50})
    >>> roles = suffice.Roles(confidential=["smokes", "cigarettes"])
    >>> drawn = suffice.protect(data, roles, Synthesis(m=2)).frames[1]
    >>> set(zip(drawn.smokes, drawn.cigarettes)) == {("no", 0), ("yes", 7)}
    True
    """

    keeps: ClassVar = ("limits",)
    independent: ClassVar = True
    holes: ClassVar = True
    learns: ClassVar = True
    references: ClassVar = (
        "Rubin (1993)",
        "Raghunathan, Reiter & Rubin (2003)",
        "Reiter (2003)",
        "Reiter (2005), trees",
    )

    m: int = parameter(Count(low=1), "how many files", 5)
    models: tuple[tuple[str, SynthesisModel], ...] = parameter(ModelRule(), "models by column, or one for all", None)
    order: tuple[str, ...] | None = parameter(Names(), "in which order columns are drawn", None)
    where: str | None = parameter(ConditionRule(), "which records are replaced", None)
    rules: tuple[str, ...] = parameter(SkipRules(), "skip patterns that hold in every record", ())
    records: int | None = parameter(
        Count(none="as many as the original, each in its place", low=1), "how many records each file has", None
    )
    proper: bool = parameter(Switch(), "draw parameters from their posterior", False)
    frame: Any = parameter(Population(), "units whose given columns are known: files are samples of them", None)
    r: int | None = parameter(
        Count(none="missing cells are drawn, not imputed", low=2), "files of each of m imputations", None, added=True
    )
    margins: tuple[str, ...] | None = parameter(
        Names(), "categories whose one- and two-way tables are kept", None, added=True
    )
    exact: bool = parameter(
        Switch(), "keep second moments: what then(Restore()) does beside margins", False, added=True
    )

    imputation: tuple[int, Stream | None] = field(default=(0, None), repr=False, compare=False)
    """Which of them a file is of, and the numbers that belong to it, without which it is for trials."""
    ends: Stream | None = field(default=None, repr=False, compare=False)
    """The numbers that stand for values which others are drawn between, the same in all files."""

    @property
    def sets(self) -> int:
        return self.m * (self.r or 1)

    def of_set(self, number: int, stream: Stream) -> Synthesis:
        ends = replace(self, ends=stream.child("ends"))
        if self.r is None:
            return ends
        return replace(ends, imputation=(number // self.r, stream.child(f"imputation {number // self.r}")))

    @property
    def redraws(self) -> bool:
        return self.records is not None or self.frame is not None

    def parameters(self) -> dict[str, object]:
        told = super().parameters()
        return {**told, "models": {name: str(model) for name, model in self.models}}

    def given(self, roles: Roles) -> Roles:
        names = roles.confidential
        if roles.groups:
            raise UsageError("synthesis draws all records together: give the columns of `groups` as given ones.")
        if self.redraws and (roles.weight is not None or self.where is not None):
            raise UsageError("synthesis: records of a number of its own have no weight, and no `where`. Leave it out.")
        if self.frame is not None and (not roles.terms.columns or roles.keep or roles.labels):
            raise UsageError(
                "synthesis takes the given columns from a frame: name some in `given`, and keep no others."
            )
        if roles.missing == "patterns":
            raise UsageError("synthesis draws which cells are missing: leave missing = patterns out.")
        if self.r is not None and (self.where is not None or roles.missing == "drop"):
            raise UsageError(
                "synthesis imputes the missing cells of all records (r): leave `where`, missing = drop out."
            )
        models = [name for name, _ in self.models if name]
        for what, named in (("models", models), ("order", self.order or ()), ("margins", self.margins or ())):
            for name in named:
                if name not in names:
                    raise UsageError(f"synthesis: {what} names {name!r}, not confidential.{suggest(name, names)}")
            if len({*named}) < len(named):
                twice = next(name for name in named if [*named].count(name) > 1)
                raise UsageError(f"synthesis: {what} names {twice!r} twice. Name every column once.")
        if self.margins or self.exact:
            self._check_exact(roles)
        for rule in map(SkipRule.read, self.rules):
            if rule.column not in names:
                raise UsageError(f"The rule {rule.text!r} settles {rule.column!r}, which is not confidential.")
        first = self.order or ()  # where it is told, the order of the roles decides nothing
        return replace(roles, confidential=[*first, *(name for name in names if name not in first)])

    def _check_exact(self, roles: Roles) -> None:
        """Records are chosen whole, so that nothing may stay with them; cells are moved, so that no rule binds them."""
        bound = {
            "given or kept columns": roles.terms.columns or roles.keep or roles.labels,
            "where": self.where,
            "records": self.records,
            "frame": self.frame is not None,
            "r": self.r,
            "a weight": roles.weight,
            **({"rules": self.rules, "edits": roles.edits, "whole numbers": roles.integer} if self.exact else {}),
        }
        if wrong := [what for what, there in bound.items() if there]:
            raise UsageError(
                f"synthesis with {'margins' if self.margins else 'exact'} draws whole records: leave out {wrong[0]}."
            )

    def about(self, design: Design) -> dict[str, object]:
        full = self.redraws or (not design.roles.terms.columns and not design.roles.keep and self.where is None)
        kind = "full" if full else "partial"
        exact = ["table"] * bool(self.margins) + ["mean", "covariance"] * self.exact
        known = {"frame": True} if self.frame is not None else {"some": True} if self.where is not None else {}
        return {"kind": kind, "m": self.m, "proper": self.proper, "exact": exact, "two_stage": self.r, **known}

    def replaced(self, rows: Rows, design: Design) -> NDArray[np.bool_] | None:
        if self.where is None:
            return None
        asked = condition(self.where)
        known = (*design.confidential, *design.roles.terms.columns)
        _check_names(asked.columns, known)
        levels, holes = rows.coding.levels, rows.coding.holes
        flags = [
            in_text(asked, run_block.columns, levels, holes) for run in rows.runs(asked.columns) for run_block in run
        ]
        found = np.concatenate(flags)
        if not found.any():
            raise InputError(f"No record fulfils the condition {self.where!r}: there is nothing to draw.")
        return found

    def makes(self, before: str) -> str:
        return "synthetic"

    def then(self, *methods: Method) -> Method:
        if not self.margins or not methods or methods[0].name != "restore":
            return super().then(*methods)
        exact = replace(self, exact=True)  # between two files: nothing is given, all was drawn
        return exact.then(*methods[1:]) if methods[1:] else exact

    @property
    def kinds(self) -> tuple[Kind, ...]:  # type: ignore[override]
        return ("category",) if self.exact else ("category", "integer", "date")

    @property
    def kept(self) -> tuple[str, ...]:
        return (*self.keeps, "mean", "covariance") if self.exact else self.keeps

    def tables(self, design: Design) -> tuple[tuple[str, ...], ...]:
        return tuple(combinations(self.margins or (), 2))

    def promises(self, design: Design) -> tuple[Promise, ...]:
        """Tables of two columns have those of one in them; with means by level they are the Gram matrix of all."""
        joint = self.tables(design) or tuple((name,) for name in self.margins or ())
        return (*super().promises(design), *(Promise(CountTable(table)) for table in joint))

    def own_promises(self, design: Design) -> tuple[Promise, ...]:
        names = self.margins or () if self.exact else ()
        return tuple(Promise("mean", Domain.by_columns((name,), False)) for name in names)

    def columns(self, rows: Rows, design: Design, stream: Stream) -> MaskedColumns:
        names, model = design.confidential, self.learnt(rows, design)
        if self.margins or self.exact:
            made, said = self._exact(rows, design, stream)
            told = dict(zip(names, made.T, strict=True))
            return MaskedColumns(told, (*self._remarks(rows, model), *said), "synthetic", True, model.facts)
        held = stored(rows, self.drawn(rows, design, stream), names)
        return MaskedColumns(all_beside(held, names), self._remarks(rows, model), "synthetic", True, model.facts)

    def made(self, rows: Rows, design: Design, stream: Stream, places: NDArray[np.int64]) -> MaskedColumns:
        """New records, with the given columns of those at some places, of the file or of the frame."""
        model, names = self.learnt(rows, design), design.confidential
        units = self.population(rows, design)
        source = rows if units is None else units
        given = {name: col.take(places) for name, col in source.gather(model.given).items()} if model.given else {}
        kinds: dict[str, Kind] = {**{name: rows.kinds[name] for name in given}, "": "integer"}
        values = np.vstack(list(self.drawn(ArrayRows({**given, "": places}, kinds), design, stream, model)))
        columns = {name: np.ascontiguousarray(y) for name, y in zip(names, values.T, strict=True)}
        return MaskedColumns(columns, self._remarks(rows, model), "synthetic", True, model.facts)

    def population(self, rows: Rows, design: Design) -> Rows | None:
        """The units of the frame, which have every given column, complete, and no level that the original has not."""
        if self.frame is None:
            return None
        units, model = open_rows(self.frame, rows.threads, None), self.learnt(rows, design)
        if absent := [name for name in model.given if name not in units.kinds]:
            raise InputError(f"The frame has no column {absent[0]!r}, which is given.")
        numbers = ("float", "integer")
        for name, column in units.gather(model.given).items():
            one, two = (each.kinds[name] in numbers for each in (rows, units))
            if one != two:
                raise InputError(f"{name!r} is not of the same kind in the frame and in the data.")
            if np.isnan(model.variables[name].numbers(column)).any():
                raise InputError(f"{name!r} has missing cells in the frame, or levels that the data do not have.")
        return units

    def drawn(self, rows: Rows, design: Design, stream: Stream, model: Sequential | None = None) -> Iterator[Array]:
        """New values, run by run; model: fitted to other rows than these, whose given columns are all that counts"""
        needs = () if model is None else ("", *model.given)
        model = (model or self.learnt(rows, design)).between(self.ends or TRIALS)
        if self.proper:
            model = model.proper(stream.generator("parameters"))

        def of(run: Run) -> Array:
            return np.vstack([model(block) for block in run])

        return rows.map(of, needs or (*model.given, *design.confidential), "drawing", stream)

    def _exact(self, rows: Rows, design: Design, stream: Stream) -> tuple[Array, tuple[str, ...]]:
        """A file in memory, with tables of the original and, where that is asked, its second moments."""
        names, model, rng = design.confidential, self.learnt(rows, design), stream.generator("exact")
        before = np.column_stack([as_float(column) for column in rows.gather(names).values()])
        joint, coding = self.margins or (), rows.coding
        tables, numbers = [names.index(name) for name in joint], [name for name in names if name not in joint]
        if plain := [name for name in joint if name not in coding.levels]:
            raise UsageError(f"synthesis: margins are of categories, and {plain[0]!r} is none.")
        if parts_of(rows.n) > 1:
            raise UsageError(f"synthesis keeps tables and moments of {MOST:,} records at most: leave them out.")

        for name in numbers if self.exact else ():
            if name in coding.levels:
                raise UsageError(
                    f"synthesis: {name!r} is a category: name it in `margins`, so that moments can be kept."
                )
            if name in coding.holes:
                raise UsageError(f"Cells of {name!r} are missing, so its moments cannot be kept: use missing = drop.")

        def draw(number: int) -> Array:
            return np.vstack(list(self.drawn(rows, design, stream.child(f"pool:{number}") if number else stream)))

        made = chosen(before, draw, tables, self.exact, rng)
        if not self.exact:
            return made, ()
        stages = {stage.name: stage for stage in model.stages}
        low, high = (np.array([getattr(stages[name], end) for name in numbers]) for end in ("low", "high"))
        made, told = restored(before, made, tables, low, high, rng, names)
        return made, (f"synthesis: {told}.",)

    def _remarks(self, rows: Rows, model: Sequential) -> tuple[str, ...]:
        told = "all records" if self.where is None else count_of(model.fitted, "record") + " that were chosen"
        parts = parts_of(rows.n)
        sampled = f"; trees to {parts} parts of them, dealt at random" if parts > 1 else ""
        return (f"synthesis: {count_of(len(model.stages), 'model')} fitted to {told}{sampled}.", *model.said)

    def learnt(self, rows: Rows, design: Design) -> Sequential:
        """The models, fitted once for all files of a request; the same rows may be asked for with other roles."""
        known = _learnt.setdefault(rows, {})
        request = design.roles, self.models, self.order, self.where, self.rules, self.r and self.imputation[0]
        if request not in known:
            known[request] = self._learn(rows, design)
        return known[request]

    def _learn(self, rows: Rows, design: Design) -> Sequential:
        roles, names, coding = design.roles, design.confidential, rows.coding
        if coding is None:
            raise UsageError("synthesis must be the first step: it draws from the original.")
        rules = tuple(map(SkipRule.read, self.rules))
        for rule in rules:
            rule.check_type(rule.column in coding.types and rule.column not in coding.levels, coding.dates)
        told = dict(self.models)
        models = {name: told.get(name) or self._common(name in coding.levels) for name in names}
        order = ordered((*(self.order or ()), *(name for name in names if name not in (self.order or ()))), rules)
        given = tuple(sorted({*roles.terms.columns} - {*names}))  # their order decides nothing
        asked = [
            name for text in (self.where, *(rule.when for rule in rules)) if text for name in condition(text).columns
        ]
        _check_names(asked, (*names, *given))
        trees = [model for model in models.values() if isinstance(model, Cart)]
        patterns = min(trees, key=lambda model: model.least, default=Cart())
        needs = (*given, *names)
        unit = [roles.unit] if roles.unit is not None and roles.unit in rows.kinds else []
        parts, holes = super_blocks(rows, needs, unit), coding.holes
        if self.r is not None:
            parts, holes = self._imputed(rows, parts, models), {}
        bounds = {
            n: (-np.inf if a is None else a, np.inf if b is None else b)
            for n, (a, b) in by_column(roles.bounds).items()
        }
        if observed(roles.bounds):
            free = [name for name in names if name not in bounds and name not in coding.levels]
            below = {name for part in parts for name, y in part()[0].items() if name in free and (y < 0).any()}
            bounds |= {name: (0.0, np.inf) for name in free if name not in below}
        learner = Learner(
            given, order, names, models, patterns, rules, tuple(roles.conditions), bounds, coding.levels, holes,
            self.where or "", len(parts) > 1,
        )  # fmt: skip
        return learner.learnt(parts)

    def _imputed(self, rows: Rows, parts: list[Part], models: Mapping[str, SynthesisModel]) -> list[Part]:
        """The records as one imputation has them."""
        if len(parts) > 1:
            raise UsageError(f"synthesis imputes missing cells of {MOST:,} records at most: leave r out.")
        columns, counted = parts[0]()
        draws, coding = (self.imputation[1] or TRIALS).generator("cells"), rows.coding
        made = completed(columns, models, coding.levels, coding.holes, draws)
        return [lambda: (made, counted)]

    def _common(self, category: bool) -> SynthesisModel:
        """The model for all columns, or its like for those that it does not draw."""
        model = dict(self.models).get("", Cart())
        if model.categories if category else model.numbers:
            return model
        return Multinomial() if category else Linear(scale="quantile")

    @classmethod
    def examples(cls) -> tuple[Synthesis, ...]:
        return cls(m=1), cls(m=1, models=(("", Linear()),))


def _check_names(asked: Iterable[str], known: Sequence[str]) -> None:
    for name in asked:
        if name not in known:
            raise UsageError(f"synthesis: {name!r} is neither confidential nor given.{suggest(name, known)}")
