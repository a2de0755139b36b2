"""Generalized microaggregation: regressions kept in pieces, clusters, groups of clusters and overall at once."""

from suffice.hybrid.algorithm import Parts, hybrid
from suffice.hybrid.kept import Kept, kept
from suffice.hybrid.slopes import BELOW, ClustersInfeasible, Slopes

__all__ = ["BELOW", "ClustersInfeasible", "Kept", "Parts", "Slopes", "hybrid", "kept"]
