"""An analysis that users of a release would make, as text: `lm: wages ~ turnover + C(region)`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

import numpy as np
import pyarrow as pa

from suffice.algebra.array import Array
from suffice.algebra.decomposition import independent
from suffice.algebra.factor import RFactor
from suffice.design.condition import Condition
from suffice.design.condition import parse as parse_condition
from suffice.design.formula import Factor, Term, Terms
from suffice.design.formula import parse as parse_formula
from suffice.design.levels import missing
from suffice.design.term import Codes, Expansion, coding, number
from suffice.errors import InputError, UsageError, suggest
from suffice.measure.pair import Columns, FilePair, as_rows
from suffice.rows.arrow import as_float
from suffice.rows.rows import Block, Kind, Product, Rows
from suffice.utility.likelihood import FAMILIES, Maximum, TermBasis, maximum, stepwise

MODELS = ("lm", *(f"glm-{name}" for name in FAMILIES))
WRITTEN = (
    f"Write one of {', '.join(MODELS)}, a colon and a formula: lm: wages ~ turnover + C(region). "
    "The response of glm-binomial is 0 or 1, a category of two levels, or a condition: poor == 'yes'."
)
ANALYSIS = re.compile(r"\s*(?:([\w-]+)\s*:)?([^~]*)~([^~]*)", re.DOTALL)
WIDEST = 500
"""Coefficients of one analysis."""
STILL = 0.1
"""Of a linear predictor: a fit that has a maximum would hardly move any more; without one a step is 1, ever again."""
PERFECT = 1e-12
"""Of the length of a response: what a fit leaves below this is rounding."""


@dataclass(frozen=True)
class Analysis:
    """A model of one response: least squares (lm), or maximum likelihood (glm-binomial, glm-poisson).

    >>> Analysis.parse("lm: log(wages) ~ turnover * C(region)").columns
    ('wages', 'turnover', 'region')
    """

    text: str
    model: str
    response: Factor | Condition
    terms: Terms
    weight: str | None = None
    """The column of weights: the fit is of the weighted sums, its errors those of weights that average 1."""

    @classmethod
    def parse(cls, text: str) -> Analysis:
        """Nothing in the text is evaluated."""
        written, found = " ".join(text.split()), ANALYSIS.fullmatch(text)
        if found is None or (found[1] or "lm") not in MODELS:
            raise UsageError(f"The analysis {written!r} is not understood. {WRITTEN}")
        model, terms = found[1] or "lm", parse_formula(found[3])
        if model == "glm-binomial" and re.search(r"[=<>!]", found[2]):
            return cls(written, model, parse_condition(found[2]), terms)
        left = parse_formula(found[2].strip()).terms if found[2].strip() else ()
        if len(left) != 1 or len(left[0]) != 1 or left[0][0].transform == "C":
            raise UsageError(f"The analysis {written!r} needs one column, or a transform of one, before ~. {WRITTEN}")
        own = left[0][0]
        if any(term in ((own,), (Factor(own.column, "C"),)) for term in terms.terms):
            raise UsageError(f"The analysis {written!r} explains {own} by itself. Leave it out behind ~.")
        return cls(written, model, left[0][0], terms)

    @property
    def columns(self) -> tuple[str, ...]:
        left = self.response.columns if isinstance(self.response, Condition) else (self.response.column,)
        return tuple(dict.fromkeys([*left, *self.terms.columns]))

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns, with the weight."""
        return self.columns if self.weight in (None, *self.columns) else (*self.columns, str(self.weight))

    def without(self, term: Term) -> Analysis:
        terms = tuple(each for each in self.terms.terms if each != term)
        return replace(self, terms=Terms(self.terms.intercept, terms))

    def settled(self, kinds: Mapping[str, Kind]) -> Analysis:
        """With text written as a category; refuses columns that are not there, or cannot be what is asked."""
        for name in self.columns:
            if name not in kinds:
                raise InputError(f"The analysis {self.text!r} names {name!r}, no column.{suggest(name, kinds)}")
        text = {name for name in self.columns if kinds[name] == "category"}
        for factor in (factor for term in self.terms.terms for factor in term):
            if factor.column in text and factor.transform not in (None, "C"):
                raise InputError(f"The analysis {self.text!r} takes {factor}, and {factor.column!r} is text.")
        if isinstance(self.response, Factor) and self.response.column in text and self.model != "glm-binomial":
            raise InputError(f"The analysis {self.text!r} needs numbers in {self.response.column!r}, which is text.")
        settled = [tuple(dict.fromkeys(_settled(f, text) for f in term)) for term in self.terms.terms]
        unique = tuple({frozenset(term): term for term in settled}.values())
        return replace(self, terms=Terms(self.terms.intercept, unique))


def analyses_of(pair: FilePair) -> tuple[list[Analysis], str]:
    """Those that were asked for, weighted where every file has the weight; and what is to be said of that."""
    weight = pair.roles.weight
    found = [Analysis.parse(text) for text in pair.analyses]
    if weight is None or any(weight not in file.kinds for file in pair.all_rows):
        return found, "" if weight is None else "not every file has the weight, and no fit uses it"
    return [replace(each, weight=weight) for each in found], "weighted fits, with errors as if weights averaged 1"


def _settled(factor: Factor, text: set[str]) -> Factor:
    return Factor(factor.column, "C") if factor.column in text else factor


@dataclass(frozen=True)
class Estimates:
    """Estimates, and their standard errors, of a fitted model; NaN where a coefficient cannot be told from others.

    A level is named by its place among the levels of all files, in their order, counted from 1.
    """

    names: tuple[str, ...]
    estimates: Array
    errors: Array
    records: int
    aic: float
    converged: bool = True
    covariance: Array = field(default_factory=lambda: np.empty((0, 0)), repr=False, compare=False)
    """Of the estimates, with NaN as they have."""
    freedom: float = inf
    """Of the residuals; of a likelihood none are counted."""


@dataclass(frozen=True, repr=False)
class ModelMatrix:
    """One analysis with the levels of several files, so that their coefficients are of the same columns.

    needs: columns that a record must have to count
    """

    analysis: Analysis
    expansions: tuple[Expansion, ...]
    levels: Mapping[str, Sequence[Any]]
    needs: tuple[str, ...]

    @classmethod
    def of(cls, analysis: Analysis, files: Sequence[Columns | Rows]) -> ModelMatrix:
        """The first file is the original; levels are those of complete records."""
        first, *others = map(as_rows, files)
        analysis = analysis.settled(first.kinds)
        for number_, file in enumerate(others, 1):
            _check_alike(analysis, first.kinds, file.kinds, number_ if len(others) > 1 else 0)
        named = dict.fromkeys(f.column for term in analysis.terms.terms for f in term if f.transform == "C")
        if isinstance(analysis.response, Factor) and first.kinds[analysis.response.column] == "category":
            named[analysis.response.column] = None
        bare = cls(analysis, (), {}, analysis.needs)
        found = [bare._levels(file, tuple(named)) for file in (first, *others)]
        levels = {name: sorted(set[Any]().union(*(each[name] for each in found))) for name in named}
        return replace(bare, levels=levels)._expanded()

    def _levels(self, file: Rows, names: Sequence[str]) -> dict[str, set[Any]]:
        """What complete records of a file have in some columns."""

        def of(block: Block) -> Product:
            columns = self._complete(block)
            return Product(len(columns), [[_distinct(columns.columns[name]) for name in names]])

        n, found = file.fold(of, self.needs, "measuring")
        if not n:
            raise InputError(f"No record has every column of the analysis {self.analysis.text!r}.")
        return {name: set[Any]().union(*each) for name, each in zip(names, zip(*found, strict=True), strict=True)}

    def _expanded(self) -> ModelMatrix:
        terms = self.analysis.terms
        found = coding(terms.terms, terms.intercept, {name: len(each) for name, each in self.levels.items()})
        if (width := sum(each.width for each in found)) > WIDEST:
            raise InputError(f"The analysis {self.analysis.text!r} has {width:,} coefficients; {WIDEST} are allowed.")
        return replace(self, expansions=found)

    def without(self, term: Term) -> ModelMatrix:
        """A smaller model of the same records."""
        return replace(self, analysis=self.analysis.without(term))._expanded()

    @property
    def names(self) -> tuple[str, ...]:
        return ("1",) * self.analysis.terms.intercept + tuple(name for each in self.expansions for name in each.names)

    def coefficients(self, file: Columns | Rows) -> Estimates:
        """The model fitted to the records of a file that are complete, block by block."""
        rows, linear = as_rows(file), self.analysis.model == "lm"

        def both(of: Callable[..., Any]) -> Any:
            return rows.fold(lambda block: of(*self._seen(self._complete(block))), self.needs, "measuring")

        def counted(X: Array, y: Array, w: Array | None = None) -> Product:
            A = np.column_stack([X, y]) if linear else X
            scaled = A if w is None or not linear else A * np.sqrt(w)[:, None]
            return Product(len(y), float(len(y) if w is None else w.sum()), RFactor.of(scaled))

        n, weight, factor = both(counted)
        mean = weight / n
        if linear:
            return _least_squares(self.names, factor.R / np.sqrt(mean), n)
        basis, family = TermBasis.of(factor.R), FAMILIES[self.analysis.model.removeprefix("glm-")]

        def made(of: Callable[..., Any]) -> Any:
            return both(lambda X, y, *w: of(basis.columns(X), y, *(each / mean for each in w)))

        fold = stepwise(made, n * len(basis.kept))
        found = maximum(fold, family)
        step = max(fold(lambda Q, *_: [float(np.abs(Q @ found.step).max(initial=0.0))]))
        return _likelihood(self.names, basis, replace(found, converged=found.converged and step < STILL), n)

    def _complete(self, block: Block) -> Block:
        """The records with every column, and a weight above zero."""
        columns = {name: block.columns[name] for name in self.needs}
        there = ~np.logical_or.reduce([missing(column) for column in columns.values()])
        there &= True if self.analysis.weight is None else as_float(columns[self.analysis.weight]) > 0
        if there.all():
            return Block(0, columns)
        kept = np.flatnonzero(there)
        return Block(0, {name: column.take(kept) for name, column in columns.items()})

    def _seen(self, block: Block) -> tuple[Array, ...]:
        """Terms, response and, if there are any, weights."""
        weight = self.analysis.weight
        own = self._matrix(block), self._response(block)
        return own if weight is None else (*own, as_float(block.columns[weight]))

    def _matrix(self, block: Block) -> Array:
        codes = {name: _codes(block.columns[name], levels) for name, levels in self.levels.items()}
        constant = int(self.analysis.terms.intercept)
        out = np.ones((len(block), constant + sum(each.width for each in self.expansions)), order="F")
        at = constant
        for each in self.expansions:
            each.fill(out[:, at : at + each.width], block, codes, np.zeros(each.width))
            at += each.width
        if not np.isfinite(out).all():
            raise InputError(f"The analysis {self.analysis.text!r} takes a logarithm or root outside its range.")
        return out

    def _response(self, block: Block) -> Array:
        left, text = self.analysis.response, self.analysis.text
        if isinstance(left, Condition):
            return left.of(block.columns).astype(np.float64)
        if left.column in self.levels:
            if len(self.levels[left.column]) != 2:
                raise InputError(f"The analysis {text!r} needs two levels of {left.column!r}, or a condition.")
            return _codes(block.columns[left.column], self.levels[left.column]).astype(np.float64)
        y = as_float(number(left, block))
        allowed = {"lm": np.isfinite(y), "glm-binomial": (y == 0) | (y == 1), "glm-poisson": y >= 0}
        if not allowed[self.analysis.model].all():
            needs = {"lm": "finite numbers", "glm-binomial": "0 and 1", "glm-poisson": "counts"}[self.analysis.model]
            raise InputError(f"The analysis {text!r} needs {needs} as its response {left}.")
        return y


def _check_alike(analysis: Analysis, original: Mapping[str, Kind], file: Mapping[str, Kind], number_: int) -> None:
    who = f"Release {number_}" if number_ else "The release"
    for name in analysis.columns:
        if name not in file or (file[name] == "category") != (original[name] == "category"):
            raise InputError(f"{who} has no column {name!r} of the kind that the original has.")


def _distinct(column: Any) -> list[Any]:
    found: list[Any] = column.unique().to_pylist() if isinstance(column, pa.Array) else np.unique(column).tolist()
    return found


def _codes(column: Any, levels: Sequence[Any]) -> Codes:
    if not isinstance(column, pa.Array):
        return np.asarray(np.searchsorted(np.asarray(levels), column), dtype=np.intp)
    coded, place = column.dictionary_encode(), {level: i for i, level in enumerate(levels)}
    places = np.array([place[level] for level in coded.dictionary.to_pylist()], dtype=np.intp)
    return np.asarray(places[coded.indices.to_numpy(zero_copy_only=False)])


def _least_squares(names: tuple[str, ...], R: Array, n: int) -> Estimates:
    """From R of [X y]: the residual is what y has beyond the independent columns of X; none where it is rounding."""
    kept = list(independent(R[:, :-1]))
    Q, T = np.linalg.qr(R[:, kept])
    inverse = np.linalg.inv(T)
    score = Q.T @ R[:, -1]
    rest = float(np.sum((R[:, -1] - Q @ score) ** 2))
    rest = 0.0 if rest <= PERFECT**2 * float(np.sum(R[:, -1] ** 2)) else rest
    freedom = max(n - len(kept), 0)
    with np.errstate(all="ignore"):
        errors = np.sqrt(np.sum(inverse**2, axis=1) * rest / freedom)
        covariance = (inverse @ inverse.T) * (np.float64(rest) / freedom)
        aic = float(n * (np.log(2 * np.pi * rest / n) + 1) + 2 * (len(kept) + 1))
    b, se = (_placed(kept, each, len(names)) for each in (inverse @ score, errors))
    return Estimates(names, b, se, n, aic, True, _crossed(kept, covariance, len(names)), freedom)


def _likelihood(names: tuple[str, ...], basis: TermBasis, found: Maximum, n: int) -> Estimates:
    kept = list(basis.kept)
    estimates = basis.inverse @ found.coefficients
    spread = np.linalg.pinv(found.curvature, rcond=1e-13, hermitian=True)
    covariance = basis.inverse @ spread @ basis.inverse.T
    b, se = (_placed(kept, each, len(names)) for each in (estimates, np.sqrt(np.diag(covariance))))
    aic = 2 * len(kept) - 2 * found.likelihood
    return Estimates(names, b, se, n, aic, found.converged, _crossed(kept, covariance, len(names)))


def _placed(kept: Sequence[int], values: Array, width: int) -> Array:
    out = np.full(width, np.nan)
    out[list(kept)] = values
    return out


def _crossed(kept: Sequence[int], values: Array, width: int) -> Array:
    out = np.full((width, width), np.nan)
    out[np.ix_(kept, kept)] = values
    return out
