"""An analysis that users of a release would make, as text: `lm: wages ~ turnover + C(region)`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
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
from suffice.measure.pair import Columns, FilePair
from suffice.rows.arrow import as_float
from suffice.rows.rows import Block
from suffice.utility.likelihood import FAMILIES, Maximum, TermBasis, held, maximum, pieces

MODELS = ("lm", *(f"glm-{name}" for name in FAMILIES))
WRITTEN = (
    f"Write one of {', '.join(MODELS)}, a colon and a formula: lm: wages ~ turnover + C(region). "
    "The response of glm-binomial is 0 or 1, a category of two levels, or a condition: poor == 'yes'."
)
ANALYSIS = re.compile(r"\s*(?:([\w-]+)\s*:)?([^~]*)~([^~]*)", re.DOTALL)
WIDEST = 500
"""Coefficients of one analysis."""
CELLS = 2**27
"""Of the matrix of a model that is fitted in steps: a gigabyte. Least squares need none."""


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
        left = parse_formula(f"{found[2]} - 1").terms if found[2].strip() else ()
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

    def settled(self, original: Columns) -> Analysis:
        """With text written as a category; refuses columns that are not there, or cannot be what is asked."""
        for name in self.columns:
            if name not in original:
                raise InputError(f"The analysis {self.text!r} names {name!r}, no column.{suggest(name, original)}")
        text = {name for name in self.columns if isinstance(original[name], pa.Array)}
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
    if weight is None or any(weight not in file for file in (pair.before, *pair.after)):
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


@dataclass(frozen=True, repr=False)
class ModelMatrix:
    """One analysis with the levels of several files, so that their coefficients are of the same columns."""

    analysis: Analysis
    expansions: tuple[Expansion, ...]
    levels: Mapping[str, Sequence[Any]]

    @classmethod
    def of(cls, analysis: Analysis, files: Sequence[Columns]) -> ModelMatrix:
        """The first file is the original; levels are those of complete records."""
        analysis = analysis.settled(files[0])
        for number_, file in enumerate(files[1:], 1):
            _check_alike(analysis, files[0], file, number_ if len(files) > 2 else 0)
        terms = analysis.terms
        named = dict.fromkeys(f.column for term in terms.terms for f in term if f.transform == "C")
        if isinstance(analysis.response, Factor) and isinstance(files[0][analysis.response.column], pa.Array):
            named[analysis.response.column] = None
        complete = [complete_records(analysis, file) for file in files]
        levels = {name: _levels([file[name] for file in complete]) for name in named}
        sizes = {name: len(each) for name, each in levels.items()}
        expansions = coding(terms.terms, terms.intercept, sizes)
        if (width := sum(each.width for each in expansions)) > WIDEST:
            raise InputError(f"The analysis {analysis.text!r} has {width:,} coefficients; {WIDEST} are allowed.")
        return cls(analysis, expansions, levels)

    @property
    def names(self) -> tuple[str, ...]:
        return ("1",) * self.analysis.terms.intercept + tuple(name for each in self.expansions for name in each.names)

    def coefficients(self, file: Columns) -> Estimates:
        """The model fitted to the records of a file that are complete."""
        columns = complete_records(self.analysis, file)
        n = len(next(iter(columns.values())))
        y, w = self._response(columns, n), self._weights(columns)
        if self.analysis.model == "lm":

            def factor(rows: slice) -> RFactor:
                A = np.column_stack([self._matrix(columns, rows), y[rows]])
                return RFactor.of(A if w is None else A * np.sqrt(w[rows])[:, None])

            return _least_squares(self.names, reduce(add, map(factor, pieces(n))).R, n)
        if (cells := n * len(self.names)) > CELLS:
            raise InputError(
                f"The analysis {self.analysis.text!r} needs {cells:,} numbers in memory, records times "
                f"coefficients; {CELLS:,} are allowed.\n"
                "Use fewer terms or levels, some of the records (where), or lm, which needs none."
            )
        X = self._matrix(columns, slice(0, n))
        basis = TermBasis.of(reduce(add, (RFactor.of(X[rows]) for rows in pieces(n))).R)
        Q, family = basis.columns(X), FAMILIES[self.analysis.model.removeprefix("glm-")]
        found = maximum(held(Q, y, *(() if w is None else (w,))), family)
        still = bool(np.abs(Q @ found.step).max() < STILL)
        return _likelihood(self.names, basis, replace(found, converged=found.converged and still), n)

    def _weights(self, columns: Columns) -> Array | None:
        """Those of the records, with a mean of 1."""
        if self.analysis.weight is None:
            return None
        w = as_float(columns[self.analysis.weight])
        return np.asarray(w / w.mean())

    def _matrix(self, columns: Columns, rows: slice) -> Array:
        block = Block(0, {name: column[rows] for name, column in columns.items()})
        codes = {name: _codes(block.columns[name], levels) for name, levels in self.levels.items()}
        constant = int(self.analysis.terms.intercept)
        out = np.ones((len(block), constant + sum(each.width for each in self.expansions)), order="F")
        at = constant
        for each in self.expansions:
            each.fill(out[:, at : at + each.width], block, codes)
            at += each.width
        if not np.isfinite(out).all():
            raise InputError(f"The analysis {self.analysis.text!r} takes a logarithm or root outside its range.")
        return out

    def _response(self, columns: Columns, n: int) -> Array:
        left, text = self.analysis.response, self.analysis.text
        if isinstance(left, Condition):
            return left.of(columns).astype(np.float64)
        if left.column in self.levels:
            if len(self.levels[left.column]) != 2:
                raise InputError(f"The analysis {text!r} needs two levels of {left.column!r}, or a condition.")
            return _codes(columns[left.column], self.levels[left.column]).astype(np.float64)
        y = as_float(number(left, Block(0, columns)))
        allowed = {"lm": np.isfinite(y), "glm-binomial": (y == 0) | (y == 1), "glm-poisson": y >= 0}
        if not allowed[self.analysis.model].all():
            needs = {"lm": "finite numbers", "glm-binomial": "0 and 1", "glm-poisson": "counts"}[self.analysis.model]
            raise InputError(f"The analysis {text!r} needs {needs} as its response {left}.")
        return y


def _check_alike(analysis: Analysis, original: Columns, file: Columns, number_: int) -> None:
    who = f"Release {number_}" if number_ else "The release"
    for name in analysis.columns:
        if name not in file or isinstance(file[name], pa.Array) != isinstance(original[name], pa.Array):
            raise InputError(f"{who} has no column {name!r} of the kind that the original has.")


def complete_records(analysis: Analysis, file: Columns) -> dict[str, Any]:
    """Those with every column, and a weight above zero."""
    columns = {name: file[name] for name in analysis.needs}
    there = ~np.logical_or.reduce([missing(column) for column in columns.values()])
    there &= True if analysis.weight is None else as_float(columns[analysis.weight]) > 0
    if not there.any():
        raise InputError(f"No record has every column of the analysis {analysis.text!r}.")
    if there.all():
        return columns
    mask = pa.array(there)
    return {
        name: column.filter(mask) if isinstance(column, pa.Array) else column[there] for name, column in columns.items()
    }


def _levels(columns: Sequence[Any]) -> list[Any]:
    found = (set(c.unique().to_pylist() if isinstance(c, pa.Array) else np.unique(c).tolist()) for c in columns)
    return sorted(set[Any]().union(*found))


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
    with np.errstate(all="ignore"):
        errors = np.sqrt(np.sum(inverse**2, axis=1) * rest / max(n - len(kept), 0))
        aic = float(n * (np.log(2 * np.pi * rest / n) + 1) + 2 * (len(kept) + 1))
    return Estimates(names, _placed(kept, inverse @ score, len(names)), _placed(kept, errors, len(names)), n, aic)


def _likelihood(names: tuple[str, ...], basis: TermBasis, found: Maximum, n: int) -> Estimates:
    kept = list(basis.kept)
    estimates = basis.inverse @ found.coefficients
    spread = np.linalg.pinv(found.curvature, rcond=1e-13, hermitian=True)
    errors = np.sqrt(np.einsum("ij,jk,ik->i", basis.inverse, spread, basis.inverse))
    b, se = (_placed(kept, each, len(names)) for each in (estimates, errors))
    return Estimates(names, b, se, n, 2 * len(kept) - 2 * found.likelihood, found.converged)


def _placed(kept: Sequence[int], values: Array, width: int) -> Array:
    out = np.full(width, np.nan)
    out[list(kept)] = values
    return out
