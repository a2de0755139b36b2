"""Which terms of a model AIC keeps: whether a release would lead its users to the model that the original does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from suffice.design.formula import label
from suffice.measure.measure import SHARE, Measure, Value
from suffice.measure.pair import Columns, FilePair
from suffice.utility.analysis import Analysis, ModelMatrix, analyses_of, complete_records


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


def same_choice(analysis: Analysis, original: Columns, released: Sequence[Columns]) -> float:
    """The share of releases in which the terms that stay are those of the original."""
    files = [original, *released]
    chosen, *others = (chosen_terms(analysis, file, files) for file in files)
    return float(np.mean([other == chosen for other in others]))


def _measured(pair: FilePair) -> Value:
    analyses, weighted = analyses_of(pair)
    found = {each.text: same_choice(each, pair.before, pair.after) for each in analyses}
    return Value(float(np.mean(list(found.values()))), found, said=weighted)


MEASURES = (
    Measure(
        "model-choice",
        _measured,
        frozenset({"a formula"}),
        SHARE,
        "higher is better",
        "share of analyses and releases in which the terms that AIC keeps, where terms are dropped one by one as long "
        "as it falls, are those that it keeps in the original",
        "Akaike (1974)",
        together=True,
    ),
)
