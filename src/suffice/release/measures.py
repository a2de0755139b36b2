"""All measures by name, and what each finds in a pair of files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from suffice.errors import InputError, UsageError, suggest
from suffice.measure.measure import UNMET, Measure, Value
from suffice.measure.pair import FilePair
from suffice.progress import Progress
from suffice.release.scores import MeasureScore, Scores
from suffice.risk import (
    attribute_disclosure,
    averaging,
    copies,
    digits,
    distance_linkage,
    identification,
    individual_risk,
    inference,
    interval_disclosure,
    k_anonymity,
    l_diversity,
    linkability,
    membership,
    memory,
    model_inference,
    model_risk,
    nearness,
    probabilistic_linkage,
    ranks,
    replicated_uniques,
    resemblance,
    robust_intervals,
    sd_intervals,
    singling_out,
    sparse_records,
    suda,
)
from suffice.utility import (
    correlations,
    eigenvalues,
    hellinger,
    information_loss,
    interval_overlap,
    kolmogorov_smirnov,
    model_choice,
    propensity,
    propensity_tree,
    shape_bias,
    standardised_change,
    table_fit,
    wasserstein,
)

RISK = (
    *(distance_linkage, ranks, probabilistic_linkage, interval_disclosure, sd_intervals, robust_intervals, nearness),
    *(copies, digits, resemblance, memory, membership, singling_out, linkability, inference, model_inference),
    *(identification, k_anonymity, l_diversity, individual_risk, suda, model_risk, replicated_uniques),
    *(attribute_disclosure, sparse_records, averaging),
)
UTILITY = (
    information_loss,
    propensity,
    propensity_tree,
    shape_bias,
    correlations,
    eigenvalues,
    standardised_change,
    kolmogorov_smirnov,
    wasserstein,
    hellinger,
    table_fit,
    interval_overlap,
    model_choice,
)
MEASURES: Mapping[str, Measure] = {each.name: each for file in (*RISK, *UTILITY) for each in file.MEASURES}
"""All measures by name: an import and a name above make one known."""


def worded(given: Sequence[str] | str, name: str, instead: str) -> list[str]:
    """One text, or several, as a list."""
    found = [given] if isinstance(given, str) or not isinstance(given, Iterable) else list(given)
    if other := [type(each).__name__ for each in found if not isinstance(each, str)]:
        raise UsageError(f"`{name}` holds {other[0]}, and must be text, or a list of texts. {instead}")
    return found


def chosen(names: Sequence[str] | str | None) -> list[Measure] | None:
    """Measures by their names; None where all are meant."""
    if names is None:
        return None
    found = worded(names, "measures", "Give names of measures.")
    if not found:
        raise UsageError("No measure is named. Leave `measures` out, and all that can be taken are.")
    for name in found:
        if name not in MEASURES:
            raise UsageError(
                f"There is no measure {name!r}.{suggest(name, MEASURES)}\nThere are: {', '.join(MEASURES)}."
            )
    return [MEASURES[name] for name in dict.fromkeys(found)]


def scored(
    pair: FilePair,
    notes: Sequence[str],
    wanted: Sequence[Measure] | None,
    progress: Progress | None = None,
    some: bool = False,
) -> Scores:
    """Every measure that can be taken; one that was asked for and cannot be is an error, unless some will do."""
    figures, left_out, all_ = [], {}, tuple(MEASURES.values() if wanted is None else wanted)
    for i, measure in enumerate(all_):
        if progress is not None:
            progress(f"measuring: {measure.name}, {i + 1} of {len(all_)}", i, len(all_))
        unmet = next(measure.unmet(pair), None)
        try:
            if unmet is not None:
                raise InputError(UNMET[unmet])
            figures.append(taken(measure, pair))
        except InputError as problem:
            if wanted is not None and not some:
                raise InputError(f"{measure.name} cannot be taken: {str(problem).rstrip('.')}.") from None
            left_out[measure.name] = " ".join(str(problem).rstrip(".").split("\n"))
    if progress is not None:
        progress("measuring", len(all_), len(all_))
    return Scores(tuple(figures), left_out, tuple(notes))


def taken(measure: Measure, pair: FilePair) -> MeasureScore:
    """The score of a measure: of every release by itself, or of all together."""
    some = pair if measure.whole else replace(pair.some(measure.most), rows=())
    sampled = "" if some.rows else some.sampled
    together = measure.together or "several releases" in measure.needs
    try:
        found = [_outcome(measure.of(each)) for each in ([some] if together else some.each())]
    except (ValueError, np.linalg.LinAlgError):  # of a library, whose text may hold data
        raise InputError("its equations have no solution here: values are too alike, too few or too large") from None
    if len(found) == 1:
        return MeasureScore(measure, found[0], (), sampled)
    shared = [name for name in found[0].parts if all(name in each.parts for each in found)]
    parts = {name: float(np.mean([each.parts[name] for each in found])) for name in shared}
    values = tuple(each.value for each in found)
    chance = (
        None if found[0].chance is None else float(np.mean([each.chance for each in found if each.chance is not None]))
    )
    mean = Value(float(np.mean(values)), parts, chance, "; ".join(dict.fromkeys(e.said for e in found if e.said)))
    return MeasureScore(measure, mean, values, sampled)


def _outcome(found: float | Value) -> Value:
    return found if isinstance(found, Value) else Value(float(found))
