"""Propensity scores: how well a model tells released records from original ones (Woo et al. 2009)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from suffice.algebra.array import Array
from suffice.measure.measure import Measure, Value
from suffice.measure.pair import FilePair
from suffice.utility.discrimination import SPECKS, Discrimination
from suffice.utility.likelihood import FAMILIES, TermBasis, maximum, probability
from suffice.utility.two_files import TwoFiles

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


def propensity(Y: Array, Ystar: Array, degree: int = 2) -> float:
    """Mean of (p - c)^2 over both files, p the fitted probability of being released, c the share of released records.

    The model is logistic in all linear, square and pairwise product terms of the columns, standardised over both
    files; degree 3 has their cubes besides. It is fitted without penalty, by Newton's steps that are halved until the
    likelihood rises, to convergence. 0: nothing tells the files apart; c (1 - c), a quarter for files of one size:
    everything does. (Calvino 2017, (21); her Table 4 has four times this.)
    """
    return polynomial_propensity(Y, Ystar, degree).pmse


def polynomial_propensity(Y: Array, Ystar: Array, degree: int = 2) -> Propensity:
    """The same with all that is known of it."""
    return fit(polynomial(np.vstack([Y, Ystar]), degree), np.repeat([0.0, 1.0], [len(Y), len(Ystar)]))


def mixed_propensity(files: TwoFiles, pairs: bool = False) -> Propensity:
    """The model of numbers, dummies of categories, and missing cells; with `pairs`, of the products of each two too.

    Categories of so many levels that all have more than 300 dummies have those of their most frequent ones.

    >>> import pyarrow as pa
    >>> one = {"a": pa.array(["x", "y", "x", "y"]), "b": pa.array(["u", "u", "v", "v"])}
    >>> two = {"a": pa.array(["x", "y", "x", "y"]), "b": pa.array(["u", "v", "v", "u"])}
    >>> round(mixed_propensity(TwoFiles.of(one, two)).pmse, 9)
    0.0
    """
    most = max(WIDEST // len(files.names), 1)
    columns = [files.terms(name, most) for name in files.names]
    crossed = combinations(columns, 2) if pairs else ()
    products = [(one[:, :, None] * two[:, None, :]).reshape(files.n, -1) for one, two in crossed]
    return fit(_scaled(np.hstack([*columns, *products])), files.released)


def fit(terms: Array, released: Array) -> Propensity:
    """The model that is logistic in these columns, of which the first is 1."""
    Q = TermBasis.of(terms).Q
    found = maximum(Q, released, FAMILIES["binomial"])
    p = probability(found.eta)
    certain = float(np.mean(np.minimum(p, 1 - p) < CERTAIN))
    return Propensity(Discrimination.of(p, released), Q.shape[1], certain, found.converged)


def polynomial(Y: Array, degree: int) -> Array:
    """A constant, the standardised columns, their squares and products and, at degree 3, their cubes."""
    sd = Y.std(axis=0)
    Z = (Y - Y.mean(axis=0)) / np.where(sd > 0, sd, 1.0)
    one, two = np.triu_indices(Z.shape[1])
    return _scaled(np.hstack([Z, Z[:, one] * Z[:, two], *([Z**3] if degree > 2 else [])]))


def _scaled(terms: Array) -> Array:
    size = np.linalg.norm(terms, axis=0)
    return np.hstack([np.ones((len(terms), 1)), terms / np.where(size > 0, size, 1.0)])


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
        lambda pair: told(polynomial_propensity(pair.Y, pair.Ystar, degree)),
        frozenset({"numbers"}),
        RANGE,
        "lower is better",
        f"mean of (p - c)^2 over both files, p the probability of being released by a logistic fit in all {terms} of "
        f"the columns, c the share of released records; {EXPECTED}",
        "Woo et al. (2009); Calvino (2017), (21), whose Table 4 has four times this; Snoke et al. (2018)",
        most=100_000,
    )


def _mixed(pair: FilePair) -> Value:
    return told(mixed_propensity(TwoFiles.of_pair(pair)))


MEASURES = (
    _measure(2),
    _measure(3),
    Measure(
        "propensity-mixed",
        _mixed,
        frozenset({"categories"}),
        RANGE,
        "lower is better",
        "mean of (p - c)^2 over both files, p the probability of being released by a logistic fit in numbers, levels "
        f"of categories (the most frequent, {WIDEST} in all) and missing cells, c the share of released records; "
        f"{EXPECTED}",
        "Woo et al. (2009); Snoke et al. (2018); synthpop: utility.gen, maxorder = 0",
        most=50_000,
    ),
)
