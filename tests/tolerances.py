"""Every tolerance of the tests. What a test may be off by is decided here, nowhere else."""

EXACT = 0
"""Integers, categories, additivity of tables: equal."""

ALGEBRA = 30.0
"""A promised statistic, scaled: error / (eps max(1, max|y| / sd)) is at most this."""

ENGINE = 1e-10
"""Same key, other engine or block size: relative difference."""

REFERENCE = 1e-10
"""A peer's number with the same random matrix: relative difference."""

SOLVER = 1e-6
"""Constraints of an optimisation, before repair; after it they are EXACT."""

CHANCE = 5.0
"""Distributional claims, fixed seeds: |z| is below this."""
