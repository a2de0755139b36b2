"""Generalized microaggregation: regressions kept in pieces, clusters, groups of clusters and overall at once."""

from suffice.algorithms.hybrid.algorithm import Parts, hybrid
from suffice.algorithms.hybrid.kept import KeptStatistic, kept
from suffice.algorithms.hybrid.slopes import BELOW, ClustersInfeasible, Slopes

__all__ = ["BELOW", "ClustersInfeasible", "KeptStatistic", "Parts", "Slopes", "hybrid", "kept"]
