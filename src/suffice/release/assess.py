"""assess(): what any pair of files gives away and what it is still good for, a number for every measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from suffice.design.condition import parse as parse_condition
from suffice.design.roles import Roles
from suffice.errors import UsageError
from suffice.files.format import in_encoding
from suffice.files.source import named_sources, open_rows
from suffice.measure.pair import FilePair
from suffice.measure.reading import paired
from suffice.progress import Progress, listener
from suffice.release.measures import chosen, scored, worded
from suffice.release.places import kept_files
from suffice.release.release import Release
from suffice.release.scores import MeasureScore, Scores
from suffice.risk import averaging
from suffice.risk.assessment import Assessment
from suffice.rows.bridge import arrow
from suffice.rows.memory import MemoryRows
from suffice.rows.rows import Rows
from suffice.rows.threads import cores, one_blas_thread
from suffice.utility.analysis import Analysis


def assess(
    original: Any,
    released: Any,
    roles: Roles,
    holdout: Any = None,
    measures: Sequence[str] | str | None = None,
    *,
    aligned: bool | None = None,
    analyses: Sequence[str] | str = (),
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
    if not isinstance(aligned, bool | np.bool_ | None):
        raise UsageError(f"`aligned` is {type(aligned).__name__}. Write True or False, or leave it out.")
    wanted, models = chosen(measures), _models(analyses)
    with one_blas_thread():
        listening = listener(progress)

        def opened(data: Any) -> Rows:
            return open_rows(in_encoding(data, encoding), threads or cores(), listening)

        before, *after = map(opened, (original, *several))
        aside = None if holdout is None else opened(holdout)
        _check_models(models, before)
        pair, notes = paired(before, after, roles.once, aligned, aside, models, _named(models, where), where)
        files = [original, *several, holdout]
        kept = tuple(("the data", each) for data in files for each in named_sources(data))
        return replace(scored(pair, notes, wanted, listening), kept=kept)


def _models(analyses: Sequence[str] | str) -> list[str]:
    return worded(analyses, "analyses", 'Write ["lm: wages ~ turnover"].')


def _check_models(analyses: Sequence[str], original: Rows) -> None:
    """Refuses one that the original cannot answer, before anything is measured."""
    for text in analyses:
        Analysis.parse(text).settled(original.kinds)


def _named(analyses: Sequence[str], where: str | None) -> list[str]:
    """Columns that analyses and a condition name."""
    if not isinstance(where, str | None):
        raise UsageError(f'`where` is {type(where).__name__}. Write a condition as text: "income > 110000".')
    named = [Analysis.parse(text).columns for text in analyses]
    return list(dict.fromkeys(chain(*named, parse_condition(where).columns if where is not None else ())))


def of_release(
    release: Release,
    holdout: Any = None,
    measures: Sequence[str] | str | None = None,
    analyses: Sequence[str] | str = (),
    where: str | None = None,
    some: bool = False,
) -> Scores:
    """Of a release that has not left.

    some: whether measures that cannot be taken are left out, though they were asked for
    """
    wanted = chosen(measures)
    with one_blas_thread():
        pair, notes = pair_of(release, holdout, _models(analyses), where)
        kept = kept_files(release.data, release.method, release.seed.path)
        found = replace(scored(pair, notes, wanted, some=some), kept=tuple(kept))
    risk = (release.sets or (release,))[0].assessment
    return found if release.done.drawn is not None or where is not None else _beside_guards(found, risk)


def pair_of(
    release: Release, holdout: Any = None, models: Sequence[str] = (), where: str | None = None
) -> tuple[FilePair, Sequence[str]]:
    """The rows of the original and of the release in one order, as they were read; and what is to be said of them."""
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

    aside = None if holdout is None else open_rows(holdout, release.rows.threads, None)
    plain = replace(roles, labels=(), missing="patterns" if roles.missing == "patterns" else "drop")
    _check_models(models, release.rows)
    after, named = [read(leaving(each)) for each in sets], _named(models, where)
    pair, notes = paired(read(release.rows), after, plain, not drawn, aside, models, named, where)
    return replace(pair, past=_past(sets[0].assessment), dates=(*pair.dates, *coding.dates)), notes


def _beside_guards(scores: Scores, risk: Assessment) -> Scores:
    """With what the guards judge beside the scores that they have in common."""
    seen, closest = risk.closeness, {"value": 0.0, "rank": 0.0}
    for (_, kind, _), matches in seen.nearness.items():
        closest[kind] = max(closest[kind], matches.excess)
    links = {"distance-linkage": seen.linkage, "rank-linkage": seen.ranks.linked, "rank-intersection": seen.ranks.alone}
    judged = {name: matches.found / matches.of for name, matches in links.items() if matches.of}
    judged |= {"nearness": closest["value"], "rank-nearness": closest["rank"]}
    judged |= {"canonical-correlation": risk.resemblance.canonical, "copies": risk.copies / risk.freedom.n}
    judged |= {"digits": max((same / of for same, of in risk.digits.values()), default=0.0)}
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
