"""Which terms of a model AIC keeps: whether a release would lead its users to the model that the original does."""

from __future__ import annotations

import numpy as np

from suffice.design.formula import label
from suffice.measure.measure import SHARE, Measure, Value
from suffice.measure.pair import Columns, FilePair
from suffice.rows.rows import Rows
from suffice.utility.analysis import Analysis, ModelMatrix, analyses_of


def chosen_terms(model: ModelMatrix, file: Columns | Rows) -> tuple[str, ...]:
    """The terms that stay where terms are dropped one by one as long as AIC falls; none that another one contains."""
    best = model.coefficients(file).aic
    while True:
        terms = model.analysis.terms.terms
        free = [term for term in terms if not any(set(term) < set(other) for other in terms)]
        tried = [(less.coefficients(file).aic, less) for less in map(model.without, free)]
        if not tried or min(aic for aic, _ in tried) >= best:
            return tuple(sorted(label(term) for term in terms))
        best, model = min(tried, key=lambda each: each[0])


def same_choice(analysis: Analysis, *files: Columns | Rows) -> float:
    """The share of releases in which the terms that stay are those of the original, the first file."""
    model = ModelMatrix.of(analysis, files)
    chosen, *others = (chosen_terms(model, file) for file in files)
    return float(np.mean([other == chosen for other in others]))


def _measured(pair: FilePair) -> Value:
    analyses, weighted = analyses_of(pair)
    found = {each.text: same_choice(each, *pair.all_rows) for each in analyses}
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
        whole=True,
    ),
)
