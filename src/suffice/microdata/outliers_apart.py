"""Outlying records protected apart from the others, each group in its own way."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algebra.decomposition import gqr, independent
from suffice.design.design import Design
from suffice.errors import InfeasibleError, UsageError
from suffice.method.isometric import Isometric
from suffice.method.method import AMethod, Method
from suffice.method.parameter import Number, parameter
from suffice.method.recordwise import Recordwise
from suffice.method.steps import Several
from suffice.microdata.ipso import Ipso
from suffice.microdata.micro_hybrid import MicroHybrid
from suffice.rows.arrow import as_float
from suffice.rows.rows import Block, Rows
from suffice.seed import Stream

SAMPLED = 20_000
"""Records from which the robust centre and scatter are learnt, at most."""
HOLLOW = 0.01
"""A column of which half of the records leave no more than this share beside the columns before it is not looked at."""
PARTS = ("rest", "outlying")


@dataclass(frozen=True)
class OutliersApart(Method):
    """A robust split into outlying and other records, each then protected by a method of its own.

    d_i^2 = (y_i - m)' S^-1 (y_i - m), m and S of the minimum covariance determinant; outlying: d_i^2 beyond the
    `beyond` point of chi squared

    **Promises** what both methods promise, inside each of the two groups and hence overall. No column tells which
    records are outlying, but their distances do, since both groups keep their means and covariances.

    rest: how the records that are not outlying are protected.
    outlying: how those are that are.
    beyond: the point of the distribution of distances beyond which a record is outlying.

    Langsrud (2019), section 8; Templ & Meindl (2008); minimum covariance determinant: Rousseeuw & Van Driessen (1999),
    by scikit-learn.

    >>> apart = OutliersApart()
    >>> apart.kept
    ('mean', 'covariance', 'fit')
    """

    keeps: ClassVar[tuple[str, ...]] = ("mean", "covariance", "fit")
    references: ClassVar = ("Langsrud (2019), section 8", "Templ & Meindl (2008)", "Rousseeuw & Van Driessen (1999)")

    rest: Any = parameter(AMethod(), "how records that are not outlying are protected", Ipso())
    outlying: Any = parameter(AMethod(), "how outlying records are protected", Ipso())
    beyond: float = parameter(
        Number(0.5, 1, closed=False), "the point of the distances beyond which lie outliers", 0.975
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        parts = (self.rest, self.outlying)
        if not all(isinstance(part, Isometric | Recordwise | Several) for part in parts):
            raise UsageError("outliers-apart: its parts cannot be split again, nor be other records.")
        if any(isinstance(step, MicroHybrid) for part in parts for step in getattr(part, "steps", (part,))):
            raise UsageError(
                "outliers-apart: micro-hybrid keeps what is in clusters, which a part does not have whole."
            )
        if self.rest.shared != self.outlying.shared:
            raise UsageError(
                "outliers-apart: records released with the values of a group would show who is outlying.\n"
                "Let both parts do that or neither; microaggregation with Restore after it does not."
            )
        object.__setattr__(self, "independent", all(part.independent for part in parts))
        object.__setattr__(self, "shared", self.rest.shared)

    @property
    def kept(self) -> tuple[str, ...]:
        """What both parts do."""
        return tuple(name for name in self.rest.kept if name in self.outlying.kept)

    def parameters(self) -> dict[str, object]:
        told = {name: getattr(self, name) for name in PARTS}
        return {
            **super().parameters(),
            **{name: {"name": method.name, **method.parameters()} for name, method in told.items()},
        }

    def asked(self) -> tuple[float | None, ...]:
        """Of both parts."""
        return (*self.rest.asked(), *self.outlying.asked())

    @property
    def apart_of(self) -> tuple[Method, ...]:
        return (self.rest, self.outlying)

    def apart(self, rows: Rows, design: Design, stream: Stream) -> NDArray[np.int64]:
        """For every record 1 where it is outlying, else 0."""
        names = design.confidential

        def of(run: Sequence[Block]) -> Array:
            return np.vstack([np.column_stack([as_float(block.columns[name]) for name in names]) for block in run])

        some = np.sort(stream.generator("robust").permutation(rows.n)[:SAMPLED])
        sample, start = [], 0
        for Y in rows.map(of, names, "looking for outliers"):
            sample.append(Y[some[(some >= start) & (some < start + len(Y))] - start])
            start += len(Y)
        distance = Robust.of(np.vstack(sample), int(stream.generator("robust", 1).integers(2**31)))
        far = [distance.outlying(Y, self.beyond) for Y in rows.map(of, names, "splitting")]
        return np.concatenate(far).astype(np.int64)

    @classmethod
    def examples(cls) -> tuple[OutliersApart, ...]:
        return cls(), cls(beyond=0.9)


@dataclass(frozen=True, repr=False)
class Robust:
    """A centre and a scatter that outliers do not move, of columns that vary and are independent."""

    columns: tuple[int, ...]
    centre: Array
    root: Array
    """S^-1 = root root'."""

    @classmethod
    def of(cls, Y: Array, state: int) -> Robust:
        low, middle, high = np.quantile(Y, [0.25, 0.5, 0.75], axis=0)
        moved = np.median(np.abs(Y - middle), axis=0)  # zero where half of the values are equal: they have no scatter
        varying = np.flatnonzero((high > low) & (moved > 0))
        scale = (high - low)[varying]
        Z = (Y[:, varying] - middle[varying]) / scale
        inside = Z[np.abs(Z).max(axis=1, initial=0.0) <= 10]
        kept = list(gqr(inside - inside.mean(axis=0)).pivots) if len(inside) > 1 else []
        if not kept or len(Y) < 5 * len(kept):
            raise _no_split(len(Y), len(kept), Y.shape[1])
        kept, found = _scatter(Z, kept, state)
        S = scale[kept]
        root = np.linalg.inv(np.linalg.cholesky(found.covariance_)).T / S[:, None]
        return cls(tuple(varying[kept].tolist()), middle[varying][kept] + S * found.location_, root)

    def outlying(self, Y: Array, beyond: float) -> NDArray[np.bool_]:
        from scipy.stats import chi2

        distance = (((Y[:, list(self.columns)] - self.centre) @ self.root) ** 2).sum(axis=1)
        return np.asarray(distance > chi2.ppf(beyond, len(self.columns)))


def _scatter(Z: Array, kept: list[int], state: int) -> tuple[list[int], Any]:
    """The minimum covariance determinant, of columns that are no combination of others in half of the records.

    Where they are, as two columns that are mostly equal, the determinant is zero and every other record an outlier.
    """
    from sklearn.covariance import MinCovDet

    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of determinants that do not fall: the best of several starts is taken
            found = MinCovDet(random_state=state).fit(Z[:, kept])
        half = found.raw_covariance_  # of the half alone, before records near it are counted as well
        sd = np.sqrt(np.diagonal(half))
        varying = np.flatnonzero(sd > HOLLOW)  # in units of the quartiles' distance
        S = half[np.ix_(varying, varying)] / np.outer(sd[varying], sd[varying])
        chosen = [int(varying[j]) for j in independent(S, HOLLOW)]
        if len(chosen) == len(kept):
            return kept, found
        if not chosen:
            raise _no_split(len(Z), 0, len(kept))
        kept = [kept[j] for j in chosen]


def _no_split(records: int, columns: int, of: int) -> InfeasibleError:
    return InfeasibleError(
        f"A robust split needs columns whose middle half varies and 5 records for each.\n"
        f"  records {records} . such columns {columns} of {of}\n"
        "Split the records by a column of your own, named in `groups`."
    )
