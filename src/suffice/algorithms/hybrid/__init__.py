"""Generalized microaggregation: regressions kept in pieces, clusters, groups of clusters and overall at once."""
