"""Propensity scores: how well a model tells released records from original ones (Woo et al. 2009)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import combinations
from operator import add
from typing import Any

import numpy as np

from suffice.algebra.array import Array
from suffice.algebra.factor import RFactor
from suffice.measure.measure import Measure, Value
from suffice.measure.numbers import FileNumbers, Numbers, total
from suffice.measure.pair import FilePair
from suffice.utility.discrimination import SPECKS, Discrimination
from suffice.utility.likelihood import FAMILIES, TermBasis, maximum, probability, stepwise
from suffice.utility.two_files import TwoFiles, column_terms, short_codes

CERTAIN = 1e-6
"""A probability this close to 0 or 1 tells a record's file without doubt."""
WIDEST = 300
"""Dummies of all categories."""
RANGE = (0.0, 0.25)
EXPECTED = f"ratio is over (k - 1) (1 - c)^2 c/N, expected of a right synthesis with k parameters; {SPECKS}"


@dataclass(frozen=True, repr=False)
class Propensity:
    """A logistic model of which file a record is from, fitted by maximum likelihood, and what to expect of it.

    Were the release drawn from a model of the original that is right, N pMSE / (c (1 - c)^2) would be chi-square with
    k - 1 degrees of freedom, k the parameters with the constant and c the share of released records: that gives
    `expected` and `sd` (Snoke et al. 2018). Two samples of one law, neither drawn from the other, have twice as much.

    parameters: k, dependent terms left out
    certain: the share of records whose file the model tells without doubt; where it is not 0, the maximum lies at
        infinity, or nearly (separation), and the fit stands where the likelihood no longer rises
    converged: whether it came to stand
    """

    told: Discrimination
    parameters: int
    certain: float
    converged: bool

    @property
    def pmse(self) -> float:
        return self.told.pmse

    @property
    def expected(self) -> float:
        c, N = self.told.share, self.told.original.sum() + self.told.released.sum()
        return float((self.parameters - 1) * c * (1 - c) ** 2 / N)

    @property
    def sd(self) -> float:
        return float(self.expected * np.sqrt(2 / max(self.parameters - 1, 1)))

    @property
    def ratio(self) -> float:
        """pMSE over its expectation: 1 for a release from the law of the original; NaN where no term is left."""
        return self.pmse / self.expected if self.parameters > 1 else float("nan")

    @property
    def standardised(self) -> float:
        """pMSE less its expectation, in standard deviations."""
        return (self.pmse - self.expected) / self.sd if self.parameters > 1 else float("nan")


def propensity(Y: Numbers, Ystar: Numbers, degree: int = 2) -> float:
    """Mean of (p - c)^2 over both files, p the fitted probability of being released, c the share of released records.

    The model is logistic in all linear, square and pairwise product terms of the columns, standardised over both
    files; degree 3 has their cubes besides. It is fitted without penalty, by Newton's steps that are halved until the
    likelihood rises, to convergence. 0: nothing tells the files apart; c (1 - c), a quarter for files of one size:
    everything does. (Calvino 2017, (21); her Table 4 has four times this.)
    """
    return polynomial_propensity(Y, Ystar, degree).pmse


def polynomial_propensity(Y: Numbers, Ystar: Numbers, degree: int = 2) -> Propensity:
    """The same with all that is known of it."""
    before, after = FileNumbers.of(Y), FileNumbers.of(Ystar)
    spread = before.spread + after.spread
    scale, (one, two) = np.where(spread.sd > 0, spread.sd, 1.0), np.triu_indices(len(spread.sd))

    def polynomial(A: Array) -> Array:
        """A constant, the standardised columns, their squares and products and, at degree 3, their cubes."""
        Z = np.ascontiguousarray(((A - spread.mean) / scale).T)  # rows are copied faster than columns
        cubes = [Z * Z * Z] if degree > 2 else []
        return np.asarray(np.vstack([np.ones((1, len(A))), Z, Z[one] * Z[two], *cubes]).T)

    return fit(before, after, polynomial)


def mixed_propensity(files: TwoFiles, pairs: bool = False) -> Propensity:
    """The model of numbers, dummies of categories, and missing cells; with `pairs`, of the products of each two too.

    Categories of so many levels that all have more than 300 dummies have those of their most frequent ones.

    >>> import pyarrow as pa
    >>> one = {"a": pa.array(["x", "y", "x", "y"]), "b": pa.array(["u", "u", "v", "v"])}
    >>> two = {"a": pa.array(["x", "y", "x", "y"]), "b": pa.array(["u", "v", "v", "u"])}
    >>> round(mixed_propensity(TwoFiles.of(one, two)).pmse, 9)
    0.0
    """
    columns = np.column_stack([{**files.codes, **files.numbers}[name] for name in files.names])
    before, after = (columns[files.released == side] for side in (0, 1))
    return coded_propensity(before, after, [name in files.codes for name in files.names], pairs)


def coded_propensity(before: Numbers, after: Numbers, coded: Sequence[bool], pairs: bool = False) -> Propensity:
    """The same of files whose columns are numbers, or codes of categories."""
    one, two = (FileNumbers.of(each) for each in (before, after))
    most, columns = max(WIDEST // len(coded), 1), zip(one.columns(), two.columns(), coded, strict=True)
    learnt = [column_terms(np.concatenate([a, b]), levels, most) for a, b, levels in columns]

    def terms(A: Array) -> Array:
        found = [of(column) for of, column in zip(learnt, A.T, strict=True)]
        crossed = combinations(found, 2) if pairs else ()
        products = [(a[:, :, None] * b[:, None, :]).reshape(len(A), -1) for a, b in crossed]
        return np.hstack([np.ones((len(A), 1)), *found, *products])

    return fit(one, two, terms)


def fit(before: Numbers, after: Numbers, terms: Callable[[Array], Array] = np.asarray) -> Propensity:
    """The model that is logistic in terms of the columns, of which the first is 1: of two files, block by block."""
    sides, N = [(FileNumbers.of(each), float(y)) for y, each in enumerate((before, after))], len(before) + len(after)

    def both(of: Callable[[Array, Array], Any]) -> Any:
        return reduce(add, (total(partial(_beside, of, y), side) for side, y in sides))

    size = np.sqrt(both(lambda A, y: np.square(terms(A)).sum(axis=0)))
    size = np.where(size > 0, size, 1.0)
    scaled = TermBasis.of(both(lambda A, y: RFactor.of(terms(A) / size)).R)
    basis = replace(scaled, inverse=scaled.inverse / size[list(scaled.kept), None])

    def made(of: Callable[[Array, Array], Any]) -> Any:
        return both(lambda A, y: of(basis.columns(terms(A)), y))

    fold = stepwise(made, N * len(basis.kept))
    found = maximum(fold, FAMILIES["binomial"])
    p = np.concatenate(fold(lambda Q, y: [probability(Q @ found.coefficients)]))
    certain = float(np.mean(np.minimum(p, 1 - p) < CERTAIN))
    released = np.repeat([0.0, 1.0], [len(before), len(after)])
    return Propensity(Discrimination.of(p, released), len(basis.kept), certain, found.converged)


def _beside(of: Callable[[Array, Array], Any], y: float, A: Array) -> Any:
    return of(A, np.full(len(A), y))


def told(found: Propensity) -> Value:
    """pMSE, what to expect of it, and what else the scores tell; separation is said."""
    parts = {"expected": found.expected, "sd": found.sd, "ratio": found.ratio, "standardised": found.standardised}
    parts |= {"specks": found.told.specks, "parameters": float(found.parameters)}
    said = (
        [f"separation, or nearly: {found.certain:.2%} of the records are told without doubt"] if found.certain else []
    )
    said += [] if found.converged else ["the fit did not come to stand"]
    return Value(found.pmse, parts, said="; ".join(said))


def _measure(degree: int) -> Measure:
    terms = "linear, square and pairwise product terms" + (" and cubes" if degree > 2 else "")
    return Measure(
        f"propensity-{degree}",
        lambda pair: told(polynomial_propensity(pair.original, pair.release, degree)),
        frozenset({"numbers"}),
        RANGE,
        "lower is better",
        f"mean of (p - c)^2 over both files, p the probability of being released by a logistic fit in all {terms} of "
        f"the columns, c the share of released records; {EXPECTED}",
        "Woo et al. (2009); Calvino (2017), (21), whose Table 4 has four times this; Snoke et al. (2018)",
        whole=True,
    )


def _mixed(pair: FilePair) -> Propensity:
    """Numbers as the files have them; codes of categories in memory, as short as they can be."""
    names = tuple(dict.fromkeys((*pair.numbers, *pair.categories)))
    files = (pair.holed or pair.all_rows)[:2]
    codes = {name: np.split(short_codes(pair, name), [files[0].n]) for name in pair.categories}
    before, after = (
        FileNumbers(rows.with_columns({name: each[i] for name, each in codes.items()}), names)
        for i, rows in enumerate(files)
    )
    return coded_propensity(before, after, [name in codes for name in names])


def shown(pair: FilePair) -> Propensity:
    """The model that a report shows: of the numbers, and where categories are confidential of both.

    With cubes, as exact moments leave a model of second degree nothing to see.
    """
    numbers = all(name in pair.numbers for name in pair.roles.confidential)
    return polynomial_propensity(pair.original, pair.release, 3) if numbers and pair.numbers else _mixed(pair)


MEASURES = (
    _measure(2),
    _measure(3),
    Measure(
        "propensity-mixed",
        lambda pair: told(_mixed(pair)),
        frozenset({"categories"}),
        RANGE,
        "lower is better",
        "mean of (p - c)^2 over both files, p the probability of being released by a logistic fit in numbers, levels "
        f"of categories (the most frequent, {WIDEST} in all) and missing cells, c the share of released records; "
        f"{EXPECTED}",
        "Woo et al. (2009); Snoke et al. (2018); synthpop: utility.gen, maxorder = 0",
        whole=True,
    ),
)
