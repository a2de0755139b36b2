"""Before and after, for the data holder only: findings, remarks, columns, correlations, coefficients, certificate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from suffice.algebra.array import Array
from suffice.report import pictures
from suffice.report.histograms import SHARES, Histograms
from suffice.report.levels import LevelCounts
from suffice.report.page import Document, render
from suffice.report.pictures import MapPoint

Line = tuple[str, str, str, str]
MOST = 60
"""Coefficients of a column that are shown."""


class ScoreLine(Protocol):
    """What a measure found: its name and definition, the value, what chance gives."""

    @property
    def name(self) -> str: ...
    @property
    def value(self) -> float: ...
    @property
    def measure(self) -> Any: ...
    @property
    def outcome(self) -> Any: ...


class CoefficientTable(Protocol):
    """Coefficients before and after: a row for every term, a column for every confidential one."""

    @property
    def terms(self) -> tuple[str, ...]: ...
    @property
    def before(self) -> Array: ...
    @property
    def after(self) -> Array: ...
    @property
    def error(self) -> Array: ...


def page(
    certificate: Document,
    findings: Iterable[object],
    binned: Histograms | None,
    levels: Sequence[LevelCounts] = (),
    weighted: bool = False,
    remarks: Sequence[str] = (),
    table: CoefficientTable | None = None,
    scores: Iterable[ScoreLine] = (),
    told: tuple[Array, Array, Array] | None = None,
    points: Sequence[MapPoint] = (),
    plan: str = "",
) -> str:
    """The page as HTML.

    binned: of columns of numbers; levels: of categories
    weighted: whether means, standard deviations, correlations and coefficients are
    remarks: what the method says of the release, for the data holder
    scores: of risk and utility
    told: probabilities of being released by a model, in their order; original and released records that have each
    points: this release, and methods that it was compared with
    plan: what makes the release again
    """
    gap = 0.0 if binned is None else float(np.abs(binned.correlations[1] - binned.correlations[0]).max())
    judged = list(scores)
    return render(
        "private.html",
        certificate=certificate.as_dict(exact=True),
        findings=list(findings),
        weighted=weighted,
        remarks=remarks,
        columns=[] if binned is None else list(_columns(binned, weighted)),
        categories=[(each.name, each.lines()) for each in levels],
        correlations=None if binned is None else pictures.correlations(*binned.correlations, binned.names),
        difference=gap,
        coefficients=list(_coefficients(binned.names, table)) if binned and table and table.terms else (),
        more=max(0, len(table.terms) - MOST) if table else 0,
        scores=[(family, [each for each in judged if each.measure.family == family]) for family in ("risk", "utility")],
        propensity=None if told is None else pictures.propensity(*told),
        apart=None if told is None else _apart(*told),
        map=pictures.embedded(pictures.risk_utility_map(points)) if points else None,
        points=points,
        plan=plan,
    )


def _apart(score: Array, original: Array, released: Array) -> tuple[str, str]:
    """The mean probability of the records of each file."""
    return tuple(f"{np.average(score, weights=each):.3f}" for each in (original, released))  # type: ignore[return-value]


def _columns(binned: Histograms, weighted: bool) -> Iterator[dict[str, Any]]:
    """Every column: its name, its picture, and its figures, line by line."""
    one, two = binned.figures
    for j, name in enumerate(binned.names):
        counts = [count[j] for count in binned.counts]
        lines = [
            ("mean, weighted" if weighted else "mean", one.mean[j], two.mean[j]),
            *([("mean, unweighted", one.plain_mean[j], two.plain_mean[j])] if weighted else []),
            ("sd, weighted" if weighted else "sd", one.sd[j], two.sd[j]),
            ("smallest", one.low[j], two.low[j]),
            *((f"{share:.0%} quantile", one.quantiles[j, i], two.quantiles[j, i]) for i, share in enumerate(SHARES)),
            ("largest", one.high[j], two.high[j]),
        ]
        whole = [("negative cells", one.negative[j], two.negative[j])]
        if one.missing[j] or two.missing[j]:
            whole += [("missing cells", one.missing[j], two.missing[j])]
        yield {
            "name": name,
            "picture": pictures.histogram(binned.edges[j], binned.bends[j], *counts),
            "bent": binned.bends[j] is not None,
            "lines": [
                *((title, f"{before:,.6g}", f"{after:,.6g}") for title, before, after in lines),
                *((title, f"{before:,}", f"{after:,}") for title, before, after in whole),
            ],
        }


def _coefficients(names: Sequence[str], table: CoefficientTable) -> Iterator[tuple[str, list[Line]]]:
    """Every confidential column, with a line for every term."""
    for j, name in enumerate(names):
        both = zip(table.terms, table.before[:, j], table.after[:, j], table.error[:, j], strict=True)
        yield name, [(term, f"{b:,.8g}", f"{a:,.8g}", f"{e:,.3g}") for term, b, a, e in both][:MOST]
