"""Generalized microaggregation: some regressions kept in every cluster, others overall."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array
from suffice.algorithms.hybrid.algorithm import Parts, hybrid
from suffice.algorithms.hybrid.kept import kept
from suffice.algorithms.hybrid.slopes import BELOW, Slopes
from suffice.design.design import Design
from suffice.design.formula import Term, label, parse
from suffice.design.roles import Roles
from suffice.errors import UsageError, count_of
from suffice.method.masked import Masked
from suffice.method.parameter import Formula, Names, parameter
from suffice.method.records import Records
from suffice.method.recordwise import Recordwise
from suffice.microdata.microaggregate import Microaggregate
from suffice.progress import Progress
from suffice.seed import Stream
from suffice.statistics.crossed_regression import CrossedRegression
from suffice.statistics.domain import Domain
from suffice.statistics.residual_covariance import EqualSlopes, OwnResidualCovariance, ResidualCovariance
from suffice.statistics.statistic import Promise, Statistic

MADE = "cluster"
"""The column that tells clusters which the method has made."""
PLACES = {"cluster group": "groups", "cluster": "clusters", "piece": "pieces"}
"""The levels of `kept`, by what tells them."""
AROUND: dict[str, Callable[[CrossedRegression, Any], Statistic]] = {
    "residual covariance": ResidualCovariance,
    "own residual covariance": OwnResidualCovariance,
    "equal slopes": EqualSlopes,
}
"""What `kept` calls the statistics of residuals and slopes."""
FORMULAS = ("local", "overall", "pieces_given", "groups_given")


@dataclass(frozen=True)
class Clusters:
    """Columns that tell clusters, or microaggregation that makes them."""

    allowed: str = (
        "column names, a Microaggregate that makes them (on the command line mdav:10 or best:10), or none (one cluster)"
    )

    def read(self, value: object) -> tuple[str, ...] | Microaggregate | None:
        if isinstance(value, Microaggregate):
            if value.partition == "individual":
                raise ValueError
            return value
        return Names().read(value)

    def parse(self, text: str) -> tuple[str, ...] | Microaggregate | None:
        partition, _, k = text.strip().partition(":")
        if partition == Microaggregate.word():  # as methods are written elsewhere: microaggregate:k=12,partition=best
            given: dict[str, Any] = dict(item.split("=", 1) for item in k.split(",") if item)
            if not given.keys() <= {"k", "partition", "by"}:
                raise ValueError
            return self.read(Microaggregate(**given | {"k": int(given.get("k", Microaggregate.k))}))
        if partition in ("mdav", "best", "univariate") and k.isdecimal():
            return Microaggregate(k=int(k), partition=partition)  # type: ignore[arg-type]
        return Names().parse(text)


@dataclass(frozen=True)
class SlopeShare:
    """How much of the new slopes every cluster holds."""

    allowed: str = "a number in [0, 1], largest, or none (the main algorithm)"

    def read(self, value: object) -> Slopes:
        if value is None or value == "largest":
            return value
        if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
            raise ValueError
        return float(value)

    def parse(self, text: str) -> Slopes:
        text = text.strip().lower()
        return self.read(None if text == "none" else text if text == "largest" else float(text))


@dataclass(frozen=True)
class MicroHybrid(Recordwise):
    """Synthetic residuals inside clusters, with fits kept in pieces, clusters, groups of clusters and overall at once.

    Y  = Yhat_1 + Yhat_2 + E_3 + E_4                                 (19)
    Y* = Yhat_1 + Yhat_2 + alpha T_s3 W_3 + T_s4 C                   items 6, 9 and 10 of section 6

    **Promises** overall: means, covariances, regressions on all given columns. In every cluster: means and regressions
    on the local columns, and its covariances where nothing is overall. In every piece: means. The certificate says
    which, and checks each. What some cluster cannot hold is refused with the number of clusters and the largest alpha.

    clusters: columns whose values together tell the clusters; or microaggregation that makes them, whose labels are
        released as the column `cluster`, in random numbers. None: one cluster.
    local: X_A, terms whose regressions are kept in every cluster; the intercept is one of them.
    overall: X_B, terms whose regressions are kept overall; the terms in `given` are among them.
    pieces: columns that tell parts of clusters too small to be clusters; their means are kept (modification e).
    pieces_given: terms whose regressions are kept in every piece.
    cluster_groups: columns that tell groups of clusters (modification d).
    groups_given: terms whose regressions are kept in every group of clusters.
    slopes: none is the main algorithm; 0 gives all clusters the same slopes (modification a), 1 keeps the residual
        covariances of each cluster with new slopes (b), a number between is alpha of (c), largest stays at
        .95 of the largest alpha: at the limit itself one combination of a cluster's residuals is exact.

    Langsrud (2019), section 6; MHa is clusters and local, MHb is pieces and local (Domingo-Ferrer &
    Gonzalez-Nicolas 2010).

    >>> from suffice.seed import Seed
    >>> rng = np.random.default_rng(1)
    >>> Y, clusters = rng.normal(size=(40, 2)), np.arange(40) // 8
    >>> records = Records(np.ones((40, 1)), Y, Y, labels={"clusters": clusters})
    >>> Ystar = MicroHybrid(clusters="size").mask(records, Seed.for_tests(1).derive("doctest")).Ystar
    >>> np.allclose(np.cov(Ystar[:8].T), np.cov(Y[:8].T)), np.allclose(np.cov(Ystar.T), np.cov(Y.T))
    (True, True)
    """

    keeps: ClassVar = ("mean", "covariance", "fit")
    independent: ClassVar = True
    by_parts: ClassVar = False
    references: ClassVar = (
        "Langsrud (2019), section 6",
        "Domingo-Ferrer & Gonzalez-Nicolas (2010)",
    )

    clusters: Any = parameter(Clusters(), "columns that tell the clusters, or microaggregation that makes them", None)
    local: str = parameter(Formula(), "terms whose regressions are kept in every cluster", "")
    overall: str = parameter(Formula(), "terms whose regressions are kept overall, beside those in given", "")
    pieces: Any = parameter(Names(), "columns that tell parts of clusters whose means are kept", None)
    pieces_given: str = parameter(Formula(), "terms whose regressions are kept in every piece", "")
    cluster_groups: Any = parameter(Names(), "columns that tell groups of clusters", None)
    groups_given: str = parameter(Formula(), "terms whose regressions are kept in every group of clusters", "")
    slopes: Slopes = parameter(SlopeShare(), "how much of new slopes every cluster holds", None)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pieces_given and not self.pieces:
            raise UsageError("micro-hybrid: pieces_given needs pieces.")
        if bool(self.groups_given) != bool(self.cluster_groups):
            raise UsageError("micro-hybrid: cluster_groups and groups_given belong together.")
        for name in FORMULAS:
            if getattr(self, name) and not parse(getattr(self, name)).intercept:
                raise UsageError(f"micro-hybrid: {name} takes terms; the intercept is always kept.")

    @classmethod
    def mha(cls, clusters: Any, local: str = "") -> MicroHybrid:
        """MHa: IPSO in every cluster by itself."""
        return cls(clusters=clusters, local=local)

    @classmethod
    def mhb(cls, clusters: Any, local: str = "") -> MicroHybrid:
        """MHb: IPSO with a dummy for every cluster: means in clusters, covariances overall alone."""
        return cls(pieces=clusters, local=local)

    def parameters(self) -> dict[str, object]:
        made = self.clusters
        plain = {"name": made.name, **made.parameters()} if isinstance(made, Microaggregate) else made
        return {**super().parameters(), "clusters": plain}

    def given(self, roles: Roles) -> Roles:
        """The columns named here count as given."""
        formulas = [getattr(self, name) for name in FORMULAS if getattr(self, name)]
        terms = roles.terms
        if not terms.intercept:
            raise UsageError("micro-hybrid keeps means in every cluster: put the intercept back into `given`.")
        union = " + ".join([*(label(term) for term in terms.terms), *formulas])
        named = {*parse(union).columns, *roles.groups, *roles.labels} if union else {*roles.groups, *roles.labels}
        labels = dict.fromkeys(name for columns in self.groupings().values() for name in columns if name not in named)
        kept = tuple(name for name in roles.keep if name not in {*named, *labels})  # given is more than kept
        return replace(roles, given=union, labels=(*roles.labels, *labels), keep=kept)

    def groupings(self) -> Mapping[str, tuple[str, ...]]:
        clusters = None if isinstance(self.clusters, Microaggregate) else self.clusters
        named = {"clusters": clusters, "pieces": self.pieces, "cluster_groups": self.cluster_groups}
        return {name: columns for name, columns in named.items() if columns}

    def matrices(self, roles: Roles) -> Mapping[str, str]:
        formulas = {name: getattr(self, name) for name in FORMULAS if name != "overall"}
        crossed = {frozenset(term) for text in formulas.values() if text for term in parse(text).terms}
        overall = " + ".join(label(term) for term in roles.terms.terms if frozenset(term) not in crossed)
        return {name: text for name, text in {**formulas, "overall": overall}.items() if text}

    def mask(self, records: Records, stream: Stream, progress: Progress | None = None) -> Masked:
        """The hybrid records, and what the clusters held."""
        labels, made = dict(records.labels), {}
        if isinstance(self.clusters, Microaggregate):
            found = self.clusters.labels(records.original, progress)
            numbers = stream.generator("clusters").permutation(int(found.max()) + 1)  # the order of making tells much
            labels["clusters"] = made[MADE] = numbers[found].astype(np.int64)
        Z = stream.generator("scores").standard_normal(records.Y.shape)
        matrices = {name: X[:, 1:] for name, X in records.matrices.items()}  # the intercept is always kept
        parts = hybrid(
            records.Y, Z, **_present(labels, matrices), slopes=self.slopes, weights=records.w, progress=progress
        )
        return Masked(parts.Ystar, self._said(parts, labels.get("clusters")), made)

    def _said(self, parts: Parts, clusters: NDArray[np.int64] | None) -> tuple[str, ...]:
        sizes = np.unique(clusters, return_counts=True)[1] if clusters is not None else np.array([len(parts.Y)])
        said = (
            f"{count_of(parts.clusters, 'cluster')} of {sizes.min()} to {sizes.max()} records; independent columns: "
            f"{parts.ranks[0]} in clusters, {parts.ranks[1]} overall"
        )
        if self.slopes is None:
            return (said,)
        limit = f"{parts.largest:.4g}" if np.isfinite(parts.largest) else "not limited"
        stays = f", slopes stay at {BELOW:g} of it" if self.slopes == "largest" else ""
        return said, f"alpha = {parts.alpha:.4g}; largest alpha of all clusters: {limit}{stays}"

    def own_promises(self, design: Design) -> tuple[Promise, ...]:
        """What is kept in groups of clusters, in clusters and in pieces."""
        by, holes = self._by(design), design.roles.missing == "patterns"
        crossing = CrossedRegression(tuple(by.items()), tuple(self.matrices(design.roles).items()), holes)
        found = []
        for each in kept(self._parts(design.roles), self.slopes):
            place = PLACES.get(each.level, "")
            if not by.get(place):
                continue
            around = AROUND.get(each.what)
            terms = [term for name in each.columns for term in parse(getattr(self, name)).terms]
            columns = columns_of(design, terms) if each.what == "fit" else None
            statistic = each.what if around is None else around(crossing, place)
            found.append(Promise(statistic, Domain.by_columns(by[place], holes), columns))
        return tuple(found)

    def _by(self, design: Design) -> dict[str, tuple[str, ...]]:
        """Columns that tell clusters, pieces and groups of clusters; all of them lie within the groups of the file."""
        named = dict(self.groupings())
        clusters = (MADE,) if isinstance(self.clusters, Microaggregate) else named.get("clusters", ())
        own = {"all": (), "groups": named.get("cluster_groups"), "clusters": clusters}
        own["pieces"] = (*clusters, *named["pieces"]) if "pieces" in named else None
        groups = design.roles.groups
        return {place: tuple(dict.fromkeys([*groups, *by])) for place, by in own.items() if by is not None}

    def _parts(self, roles: Roles) -> set[Any]:
        named = {*self.groupings(), *self.matrices(roles)}
        return {*named, *(["clusters"] if self.clusters is not None else [])}

    @classmethod
    def examples(cls) -> tuple[MicroHybrid, ...]:
        made = Microaggregate(k=12)
        return cls(), cls(clusters=made), cls(clusters=Microaggregate(k=20, partition="univariate"))


def _present(labels: Mapping[str, Any], matrices: Mapping[str, Array]) -> dict[str, Any]:
    return {**labels, **{name: X for name, X in matrices.items() if X.shape[1]}}


def columns_of(design: Design, terms: list[Term]) -> tuple[str, ...]:
    """Names of the columns of X that some terms have."""
    wanted = {frozenset(map(str, term)) for term in terms}
    mine = [frozenset(map(str, expansion.term)) for expansion in design.expansions]
    bare = [frozenset(factor.column for factor in expansion.term) for expansion in design.expansions]
    plain = {frozenset(factor.column for factor in term) for term in terms if all(f.transform is None for f in term)}
    chosen = {i for i in range(len(mine)) if mine[i] in wanted or bare[i] in plain}
    return tuple(name for name, i in zip(design.names, design.term_of, strict=True) if i in chosen)
