"""assess(): what any pair of files gives away and what it is still good for, a number for every measure."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
import pyarrow as pa

from suffice.design.condition import parse as parse_condition
from suffice.design.roles import Roles
from suffice.errors import FileError, InputError, UsageError, escaped, path_of, suggest
from suffice.files.draft import Draft, Labelled, commit, keep_apart
from suffice.files.format import in_encoding
from suffice.files.source import named_sources, open_rows
from suffice.measure.measure import UNMET, Measure, Value
from suffice.measure.pair import FilePair, length
from suffice.measure.reading import paired
from suffice.progress import Progress, listener
from suffice.release.release import Release, kept_files
from suffice.report.exhibit import Exhibit
from suffice.report.page import render
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
from suffice.risk.assessment import Assessment
from suffice.rows.bridge import arrow
from suffice.rows.memory import MemoryRows
from suffice.rows.rows import Rows
from suffice.rows.threads import cores, one_blas_thread
from suffice.seed import is_key
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
from suffice.utility.analysis import Analysis

RISK = (
    *(distance_linkage, ranks, probabilistic_linkage, interval_disclosure, sd_intervals, robust_intervals, nearness),
    *(
        copies,
        digits,
        resemblance,
        memory,
        membership,
        singling_out,
        linkability,
        inference,
        model_inference,
        identification,
    ),
    *(k_anonymity, l_diversity, individual_risk, suda, model_risk, replicated_uniques, attribute_disclosure),
    *(sparse_records, averaging),
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
PRIVATE = "Scores are for the data holder: they hold no value of a record, and they are about confidential data."
OWNER = 0o600


@dataclass(frozen=True)
class MeasureScore:
    """What a measure found in a pair of files; of several releases the mean, unless it sees them together."""

    measure: Measure
    outcome: Value
    by_release: tuple[float, ...] = ()
    sampled: str = ""

    @property
    def name(self) -> str:
        return self.measure.name

    @property
    def value(self) -> float:
        return self.outcome.value

    def as_dict(self) -> dict[str, Any]:
        """For programs: what is not a number is null."""
        declared, outcome = self.measure, self.outcome
        return {
            "name": declared.name,
            "family": declared.family,
            "value": _number(outcome.value),
            "range": [_number(end) for end in declared.range],
            "direction": declared.direction,
            "definition": declared.definition,
            "reference": declared.reference,
            "chance": _number(outcome.chance),
            "parts": {name: _number(value) for name, value in outcome.parts.items()},
            "by_release": [_number(value) for value in self.by_release],
            "sampled": self.sampled,
            "said": outcome.said,
        }


@dataclass(frozen=True)
class Scores(Exhibit):
    """The scores of a pair of files, measures that could not be taken and why, and what was done with the files."""

    figures: tuple[MeasureScore, ...]
    left_out: Mapping[str, str]
    notes: tuple[str, ...] = ()
    kept: tuple[Labelled, ...] = field(default=(), repr=False, compare=False)
    """Files that they are of, and a key: never replaced by them."""

    def __getitem__(self, name: str) -> MeasureScore:
        found = {each.name: each for each in self.figures}
        if name not in found:
            why = self.left_out.get(name)
            raise UsageError(
                f"There is no score {name!r}: {why}." if why else f"No score {name!r}.{suggest(name, found)}"
            )
        return found[name]

    def __iter__(self) -> Iterator[MeasureScore]:
        return iter(self.figures)

    def __len__(self) -> int:
        return len(self.figures)

    def text(self) -> str:
        """A table, with every definition under its number."""
        wide = max((len(each.name) for each in self.figures), default=0)
        lines = ["suffice scores"]
        for family in ("risk", "utility"):
            here = [each for each in self.figures if each.measure.family == family]
            lines += [f"\n{family}", *(line for each in here for line in _lines(each, wide))] if here else []
        lines += ["", *(f"not taken: {', '.join(names)}: {why}" for why, names in self._by_reason().items())]
        lines += [*(f"note: {note}" for note in self.notes), PRIVATE]
        return "\n".join(map(escaped, "\n".join(lines).split("\n")))

    def __str__(self) -> str:
        return self.text()

    def _by_reason(self) -> dict[str, list[str]]:
        """Measures that could not be taken, those of one reason together."""
        return {why: [name for name, each in self.left_out.items() if each == why] for why in self.left_out.values()}

    def as_dict(self) -> dict[str, Any]:
        return {
            "suffice": "scores",
            "private": PRIVATE,
            "scores": [each.as_dict() for each in self.figures],
            "left_out": dict(self.left_out),
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False) + "\n"

    def to_csv(self) -> str:
        """A line for every score; parts and what each release has by itself are in the JSON."""
        out = io.StringIO()
        fields = [
            "name",
            "family",
            "value",
            "low",
            "high",
            "direction",
            "chance",
            "sampled",
            "said",
            "definition",
            "reference",
            "private",
        ]
        writer = csv.DictWriter(out, fields, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        for each in self.figures:
            low, high = each.measure.range
            writer.writerow({**each.as_dict(), "low": low, "high": high, "private": PRIVATE})
        return out.getvalue()

    def to_html(self) -> str:
        """A page of its own."""
        return render("scores.html", **self.exhibit())

    def exhibit(self) -> dict[str, Any]:
        return {"kind": "scores", "shown": _shown, "by_reason": self._by_reason(), **self.as_dict()}

    def write(self, path: str | os.PathLike[str], *, force: bool = False, apart: Sequence[Any] = ()) -> None:
        """Write them as .json, .csv or .html, readable by you alone.

        apart: more data that must not be replaced; those that were measured never are
        """
        target = scores_target(path, force, apart)
        keep_apart([("the output", target)], self.kept)
        made = {".json": self.to_json, ".csv": self.to_csv, ".html": self.to_html}[target.suffix.lower()]
        with Draft(target, force, OWNER) as draft:
            draft.write(made().encode())
            draft.settle()
            commit([draft])


def scores_target(path: str | os.PathLike[str], force: bool, apart: Sequence[Any]) -> Path:
    """Where scores can be written: a kind of file that holds them, not there already, and none of the data."""
    target = path_of(path)
    if target.suffix.lower() not in (".json", ".csv", ".html"):
        raise UsageError("Scores are written as .json, .csv or .html.\nName such a file.")
    keep_apart([("the output", target)], [("the data", each) for data in apart for each in named_sources(data)])
    if target.name.lower().endswith(".certificate.json"):
        raise UsageError("That is the name of a certificate, which is public, and scores are private.\nChoose another.")
    if is_key(target):
        raise UsageError(
            f"The output is a key file: {escaped(target.name)}.\nA key is never overwritten: choose another name."
        )
    if target.exists() and not force:
        raise FileError(f"{escaped(target.name)} exists already.\nChoose another name, or overwrite it with --force.")
    return target


def assess(
    original: Any,
    released: Any,
    roles: Roles,
    holdout: Any = None,
    measures: Sequence[str] | str | None = None,
    *,
    aligned: bool | None = None,
    analyses: Sequence[str] = (),
    where: str | None = None,
    progress: Progress | bool | None = None,
    threads: int | None = None,
    encoding: str | None = None,
) -> Scores:
    """Measure what a release gives away and what it is still good for, whoever made it.

    The scores are about confidential data, and for the data holder. Measures that need to know which released record is
    whose are taken where `aligned` says so, or identifiers of the roles are in all files and join them; a release of
    this package is shuffled, and `release.assess()` knows its order.

    original, released: as `protect` takes data; a list or tuple of files is several releases of one original.
    roles: what each column is; confidential columns are measured, other categories may be known to intruders.
    holdout: records of the same kind that were kept back before the release was made; some measures need one.
    measures: names of those that are wanted; all that can be taken unless told.
    aligned: True where all files have the same records in the same order, False where identifiers do not count.
    analyses: regressions an analyst would make, "lm: wages ~ turnover + C(region)".
    where: a condition, "income > 110000 and region == 'north'": only records of every file for which it holds there.
    encoding: of text files that are not UTF-8.
    """
    if not isinstance(roles, Roles):
        raise UsageError(f"{type(roles).__name__} is no Roles. Write suffice.Roles(confidential=[...], given=...).")
    several = list(released) if isinstance(released, list | tuple) else [released]
    if not several:
        raise UsageError("No release is given. Give one at least.")
    wanted = chosen(measures)
    with one_blas_thread():
        listening = listener(progress)

        def opened(data: Any) -> Rows:
            return open_rows(in_encoding(data, encoding), threads or cores(), listening)

        before, *after = map(opened, (original, *several))
        aside = None if holdout is None else opened(holdout)
        pair, notes = paired(before, after, roles, aligned, aside, analyses, _named(analyses, where))
        files = [original, *several, holdout]
        kept = tuple(("the data", each) for data in files for each in named_sources(data))
        return replace(scored(*_where(pair, where, notes), wanted, listening), kept=kept)


def _named(analyses: Sequence[str], where: str | None) -> list[str]:
    """Columns that analyses and a condition name."""
    named = [Analysis.parse(text).columns for text in analyses]
    return list(dict.fromkeys(chain(*named, parse_condition(where).columns if where is not None else ())))


def of_release(
    release: Release, holdout: Any, wanted: list[Measure] | None, analyses: Sequence[str], where: str | None
) -> Scores:
    """Of a release that has not left: the rows of both in one order, as they were read."""
    sets, coding = release.sets or (release,), release.coding
    roles, drawn = release.design.roles, release.done.drawn is not None

    def read(rows: Rows) -> Rows:  # categories as they leave; what else is coded is measured as numbers
        if not coding.levels:
            return rows
        held = {**rows.gather([name for name in rows.kinds if rows.kinds[name] != "other"])}
        return MemoryRows(
            coding.restored(pa.table({n: c if isinstance(c, pa.Array) else arrow(c) for n, c in held.items()}))
        )

    def leaving(each: Release) -> Rows:
        return each.done.leaving if each.done.drawn is None else MemoryRows(pa.table(dict(each.done.drawn.columns)))

    with one_blas_thread():
        aside = None if holdout is None else open_rows(holdout, release.rows.threads, None)
        plain = replace(roles, labels=(), missing="drop")
        pair, notes = paired(
            read(release.rows),
            [read(leaving(each)) for each in sets],
            plain,
            not drawn,
            aside,
            analyses,
            _named(analyses, where),
        )
        pair = replace(pair, past=_past(sets[0].assessment))
        kept = kept_files(release.data, release.method, release.seed.path)
        found = replace(scored(*_where(pair, where, notes), wanted), kept=tuple(kept))
        return found if drawn or where is not None else _beside_guards(found, sets[0].assessment)


def _beside_guards(scores: Scores, risk: Assessment) -> Scores:
    """With what the guards judge beside the scores that they have in common."""
    seen, closest = risk.closeness, {"value": 0.0, "rank": 0.0}
    for (_, kind, _), matches in seen.nearness.items():
        closest[kind] = max(closest[kind], matches.excess)
    judged = {"distance-linkage": seen.linkage.found / max(1.0, seen.linkage.of), "nearness": closest["value"]}
    judged |= {"rank-nearness": closest["rank"], "canonical-correlation": risk.resemblance.canonical}
    many = (
        f"the mean over {seen.releases} trial releases" if seen.releases > 1 else "of sampled records of this release"
    )

    def beside(each: MeasureScore) -> MeasureScore:
        said = "; ".join(filter(None, (each.outcome.said, f"guard: what the guard judges, {many}")))
        parts = {**each.outcome.parts, "guard": judged[each.name]}
        return replace(each, outcome=replace(each.outcome, parts=parts, said=said))

    return replace(scores, figures=tuple(beside(each) if each.name in judged else each for each in scores.figures))


def _past(risk: Assessment) -> dict[str, float]:
    """What the guards judge of this release with all that the ledger knows; empty without a ledger."""
    history = risk.history
    if not history.ledger:
        return {}
    left = averaging.uncertain((*history.earlier, *history.beside, risk.reach))
    highest = max(risk.stacked.highest, risk.stacked.alone, risk.leverage.highest)
    return {"uncertain": left, "releases": float(len(history.earlier)), "leverage": min(1.0, highest)}


def chosen(names: Sequence[str] | str | None) -> list[Measure] | None:
    """Measures by their names; None where all are meant."""
    if names is None:
        return None
    found = [names] if isinstance(names, str) else list(names)
    for name in found:
        if name not in MEASURES:
            raise UsageError(
                f"There is no measure {name!r}.{suggest(name, MEASURES)}\nThere are: {', '.join(MEASURES)}."
            )
    return [MEASURES[name] for name in dict.fromkeys(found)]


def _where(pair: FilePair, where: str | None, notes: Sequence[str]) -> tuple[FilePair, list[str]]:
    """The records for which a condition holds, and how many these are."""
    if where is None:
        return pair, [*notes]
    part = pair.within(where)
    pairs = zip((part.before, *part.after), (pair.before, *pair.after), strict=True)
    counts = ", ".join(f"{length(some):,} of {length(all_):,}" for some, all_ in pairs)
    lost = " These are others in each file, so that none stands for another." * (pair.aligned and not part.aligned)
    return part, [*notes, f"Only records where {' '.join(where.split())}: {counts} in the files.{lost}"]


def scored(
    pair: FilePair, notes: Sequence[str], wanted: Sequence[Measure] | None, progress: Progress | None = None
) -> Scores:
    """Every measure that can be taken; one that was asked for and cannot be is an error."""
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
            if wanted is not None:
                raise InputError(f"{measure.name} cannot be taken: {str(problem).rstrip('.')}.") from None
            left_out[measure.name] = " ".join(str(problem).rstrip(".").split("\n"))
    if progress is not None:
        progress("measuring", len(all_), len(all_))
    return Scores(tuple(figures), left_out, tuple(notes))


def taken(measure: Measure, pair: FilePair) -> MeasureScore:
    """The score of a measure: of every release by itself, or of all together."""
    some = pair.some(measure.most)
    together = measure.together or "several releases" in measure.needs
    try:
        found = [_outcome(measure.of(each)) for each in ([some] if together else some.each())]
    except (ValueError, np.linalg.LinAlgError):  # of a library, whose text may hold data
        raise InputError("its equations have no solution here: values are too alike, too few or too large") from None
    if len(found) == 1:
        return MeasureScore(measure, found[0], (), some.sampled)
    shared = [name for name in found[0].parts if all(name in each.parts for each in found)]
    parts = {name: float(np.mean([each.parts[name] for each in found])) for name in shared}
    values = tuple(each.value for each in found)
    chance = (
        None if found[0].chance is None else float(np.mean([each.chance for each in found if each.chance is not None]))
    )
    mean = Value(float(np.mean(values)), parts, chance, "; ".join(dict.fromkeys(e.said for e in found if e.said)))
    return MeasureScore(measure, mean, values, some.sampled)


def _outcome(found: float | Value) -> Value:
    return found if isinstance(found, Value) else Value(float(found))


def _number(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)


def _shown(value: float | None, none: str = "-") -> str:
    return none if value is None else f"{value:.4g}"


def _lines(each: MeasureScore, wide: int) -> Iterator[str]:
    declared, outcome = each.measure, each.outcome
    low, high = (f"{end:.4g}" for end in declared.range)
    chance = "" if outcome.chance is None else f", by chance {_shown(outcome.chance)}"
    yield f"  {each.name:<{wide}}  {_shown(_number(each.value)):>9}  ({low} to {high}, {declared.direction}{chance})"
    more = [declared.definition, *([declared.reference] if declared.reference else [])]
    more += [f"sampled: {each.sampled}"] if each.sampled else []
    yield fill(
        ". ".join([*more, *([outcome.said] if outcome.said else [])]) + ".",
        110,
        initial_indent=" " * 6,
        subsequent_indent=" " * 6,
    )
    if each.by_release:
        told = "by release: " + ", ".join(_shown(_number(value)) for value in each.by_release)
        yield fill(told, 110, initial_indent=" " * 6, subsequent_indent=" " * 6)
    if outcome.parts:
        told = ", ".join(f"{name} {_shown(_number(value))}" for name, value in outcome.parts.items())
        yield fill(told, 110, initial_indent=" " * 6, subsequent_indent=" " * 6)
