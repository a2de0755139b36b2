"""Which terms of a model AIC keeps: whether a release would lead its users to the model that the original does."""

from __future__ import annotations

from collections.abc import Sequence

from suffice.design.formula import label
from suffice.measure.pair import Columns
from suffice.utility.analysis import Analysis, ModelMatrix, complete_records


def chosen_terms(analysis: Analysis, file: Columns, files: Sequence[Columns]) -> tuple[str, ...]:
    """The terms that stay where terms are dropped one by one as long as AIC falls; none that another one contains."""
    current = analysis.settled(files[0])
    complete, *others = (complete_records(current, each) for each in (file, *files))  # the same for every model
    best = ModelMatrix.of(current, others).coefficients(complete).aic
    while True:
        terms = current.terms.terms
        free = [term for term in terms if not any(set(term) < set(other) for other in terms)]
        tried = [(ModelMatrix.of(less, others).coefficients(complete).aic, less) for less in map(current.without, free)]
        if not tried or min(aic for aic, _ in tried) >= best:
            return tuple(sorted(label(term) for term in terms))
        best, current = min(tried, key=lambda each: each[0])
