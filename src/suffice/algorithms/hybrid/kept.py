"""What generalized microaggregation keeps, and at which level."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, NamedTuple

from suffice.algorithms.hybrid.slopes import Slopes

Domain = Literal["overall", "cluster group", "cluster", "piece"]
What = Literal["mean", "covariance", "fit", "residual covariance", "own residual covariance", "equal slopes"]
Part = Literal["clusters", "local", "overall", "pieces", "pieces_given", "cluster_groups", "groups_given"]


class KeptStatistic(NamedTuple):
    """One statistic that is kept in every part of a level."""

    level: Domain
    what: What
    columns: tuple[Part, ...] = ()
    """The given columns that a fit is on, or that have residuals or slopes."""


def kept(parts: Collection[Part], slopes: Slopes = None) -> tuple[KeptStatistic, ...]:
    """What is kept where: the weakest level last.

    mean                     of every confidential column
    covariance               of the confidential columns
    fit                      on the constant and the columns, as a regression within that level
    residual covariance      of the residuals E_3 + E_4 of the whole regression (18), not of each cluster's own
    own residual covariance  of the residuals E_4 of each cluster's own regression on all columns
    equal slopes             each cluster's own slopes have become those of the whole regression

    Covariances of clusters themselves are kept only where no column is overall or of groups: modifications a to c keep
    those of residuals, since the fit of the whole regression and E_3 are not orthogonal inside a cluster.
    With one cluster, or groups of one cluster, more is kept than is listed.

    parts: which of the parameters of `hybrid` are given.
    slopes: as in `hybrid`.

    Langsrud (2019), section 6: the main algorithm and modifications a to e.

    >>> for claim in kept({"clusters", "overall"}):
    ...     print(claim.level, claim.what, *claim.columns)
    overall mean
    overall fit overall
    overall covariance
    cluster mean
    cluster own residual covariance overall
    """
    levels: tuple[tuple[Domain, Part | None, tuple[Part, ...]], ...] = (
        ("overall", None, ("local", "pieces_given", "groups_given", "overall")),
        ("cluster group", "cluster_groups", ("local", "pieces_given", "groups_given")),
        ("cluster", "clusters", ("local", "pieces_given")),
        ("piece", "pieces", ("pieces_given",)),
    )
    return tuple(
        claim
        for level, needs, fitted in levels
        if needs is None or needs in parts
        for claim in (*_at(level, fitted, parts), *_covariances(level, parts, slopes))
    )


def _at(level: Domain, fitted: tuple[Part, ...], parts: Collection[Part]) -> list[KeptStatistic]:
    columns = tuple(part for part in fitted if part in parts)
    return [KeptStatistic(level, "mean"), *([KeptStatistic(level, "fit", columns)] if columns else [])]


def _covariances(level: Domain, parts: Collection[Part], slopes: Slopes) -> list[KeptStatistic]:
    order: tuple[Part, ...] = ("local", "pieces_given", "groups_given", "overall")
    given = tuple(part for part in order if part in parts)
    free = tuple(part for part in given if part in ("groups_given", "overall"))  # not crossed with clusters
    if level == "overall" or (level == "cluster" and not free):
        return [KeptStatistic(level, "covariance")]
    if level == "cluster group" and slopes is not None and "overall" not in parts:
        return [KeptStatistic(level, "covariance")]
    if level == "cluster" and slopes is None:
        return [KeptStatistic(level, "own residual covariance", given)]
    if level == "piece" or slopes is None:
        return []
    same = [KeptStatistic(level, "equal slopes", free)] if level == "cluster" and slopes == 0 else []
    return [KeptStatistic(level, "residual covariance", given), *same]
