"""Comparison: methods side by side, the frontier, a recommendation; as text, JSON, CSV, a page and a map."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.comparison.candidates import Candidate
from suffice.comparison.judgement import Judgement, beaten
from suffice.comparison.neighbours import Neighbours
from suffice.comparison.runs import Run
from suffice.errors import UsageError, count_of, escaped, suggest
from suffice.files.draft import Draft, Labelled, commit, keep_apart
from suffice.release.scores import OWNER, PRIVATE, scores_target
from suffice.report.exhibit import Exhibit
from suffice.report.page import render
from suffice.report.pictures import MapPoint, embedded, risk_utility_map

if TYPE_CHECKING:
    from suffice.release.release import Release

KINDS = (".json", ".csv", ".html", ".png", ".svg")
ENDS = (2.5, 97.5)
"""Per cent of the runs between which an interval lies (Calvino 2017, section 4.1: of runs, not of their mean)."""


@dataclass(frozen=True)
class Spread95:
    """The mean over runs, and the interval in which 95 % of them lie."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread95 | None:
        if not len(values):
            return None
        low, high = np.percentile(values, ENDS)
        return cls(float(np.mean(values)), float(low), float(high))

    @property
    def ends(self) -> tuple[float, float, float]:
        return self.mean, self.low, self.high

    def __str__(self) -> str:
        return f"{self.mean:.4f} ({self.low:.4f}, {self.high:.4f})"

    def as_dict(self) -> dict[str, float]:
        return {"mean": self.mean, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class Contender:
    """A candidate with its runs, as they are judged."""

    candidate: Candidate
    runs: tuple[Run, ...]
    judgement: Judgement
    leads: bool = False
    """Whether no other beats it: none has less risk and less loss."""

    @property
    def name(self) -> str:
        return self.candidate.name

    @property
    def steps(self) -> list[dict[str, Any]]:
        """As [[method]] of a plan."""
        return self.candidate.steps

    def values(self, measure: str) -> list[float]:
        """What a measure found in each run that it could be taken of."""
        return [run.figures[measure] for run in self.runs if measure in run.figures]

    @cached_property
    def figures(self) -> dict[str, Spread95]:
        """Every measure that could be taken, over the runs."""
        found = ((name, Spread95.of(self.values(name))) for name in self.judgement.measures)
        return {name: each for name, each in found if each is not None}

    @cached_property
    def risks(self) -> dict[str, Spread95]:
        """Every risk with a limit."""
        found = [self.judgement.risks(run) for run in self.runs]
        named = ((name, Spread95.of([each[name] for each in found if name in each])) for name in self.judgement.limits)
        return {name: each for name, each in named if each is not None}

    @cached_property
    def risk(self) -> Spread95 | None:
        """The worst risk, in its limits."""
        return Spread95.of([each for run in self.runs if (each := self.judgement.risk(run)) is not None])

    @cached_property
    def loss(self) -> Spread95 | None:
        return Spread95.of([each for run in self.runs if (each := self.judgement.lost(run)) is not None])

    @property
    def point(self) -> tuple[float, float] | None:
        return None if self.risk is None or self.loss is None else (self.risk.mean, self.loss.mean)

    @property
    def stops(self) -> tuple[str, ...]:
        return next((run.stops for run in self.runs if run.stops), ())

    @property
    def keeps(self) -> tuple[str, ...]:
        return next((run.keeps for run in self.runs if run.keeps), ())

    @property
    def failed(self) -> int:
        return sum(bool(run.failed) for run in self.runs)

    @cached_property
    def against(self) -> tuple[str, ...]:
        """Everything that speaks against it, in words; nothing where it passes."""
        why = next((run.failed for run in self.runs if run.failed), "")
        found = [f"{self.failed} of {count_of(len(self.runs), 'run')} gave no release: {why}"] if self.failed else []
        if self.failed < len(self.runs):
            found += [f"stopped by {rule}" for rule in self.stops]
            for name, limit in self.judgement.limits.items():
                if name not in self.risks:
                    found.append(f"{name} cannot be seen")
                elif self.risks[name].mean > limit:
                    found.append(f"{name} {self.risks[name].mean:.4g} above {limit:g}")
            found += [f"{name} is not kept" for name in self.judgement.keep if name not in self.keeps]
            found += [] if self.loss is not None else ["what is lost cannot be seen"]
        return tuple(found)

    @property
    def passes(self) -> bool:
        return not self.against

    def as_dict(self) -> dict[str, Any]:
        told = {
            "method": self.name,
            "steps": [{name: _plain(value) for name, value in step.items()} for step in self.steps],
            "runs": len(self.runs) - self.failed,
            "risk": self.risk and self.risk.as_dict(),
            "loss": self.loss and self.loss.as_dict(),
            "risks": {name: each.as_dict() for name, each in self.risks.items()},
            "measures": {name: each.as_dict() for name, each in self.figures.items()},
        }
        return {**told, "keeps": list(self.keeps), "frontier": self.leads, "against": list(self.against)}


@dataclass(frozen=True)
class Recommendation:
    """The most useful release that passes, and why; without one, why none does."""

    name: str | None
    steps: tuple[dict[str, Any], ...]
    reasons: tuple[str, ...]

    def __bool__(self) -> bool:
        return self.name is not None

    def text(self) -> str:
        title = f"recommended: {self.name}" if self.name else "recommended: none"
        return "\n".join([title, *(f"  {reason}" for reason in self.reasons)])

    def __str__(self) -> str:
        return self.text()


Ask = Callable[[Candidate], Sequence[str]]
"""Rules of guards that stop the release of a candidate with the holder's own key."""


@dataclass(frozen=True)
class Comparison(Exhibit):
    """Methods side by side, in order of their loss; what is recommended; how it was judged."""

    contenders: tuple[Contender, ...]
    judgement: Judgement
    repeats: int
    recommendation: Recommendation
    ask: Ask = field(repr=False, compare=False)
    kept: tuple[Labelled, ...] = field(default=(), repr=False, compare=False)
    """The data and a key: never replaced by it."""

    @classmethod
    def of(
        cls,
        found: Mapping[Candidate, Sequence[Run]],
        judgement: Judgement,
        repeats: int,
        ask: Ask,
        kept: Sequence[Labelled] = (),
    ) -> Comparison:
        """Of runs in any order."""
        rows = [Contender(each, tuple(sorted(runs, key=_number)), judgement) for each, runs in found.items()]
        lead = beaten([row.point for row in rows])
        rows = [replace(row, leads=not behind) for row, behind in zip(rows, lead, strict=True)]
        rows.sort(key=_order)
        return cls(tuple(rows), judgement, repeats, _recommended(rows, judgement, ask), ask, tuple(kept))

    def __getitem__(self, name: str) -> Contender:
        found = {each.name: each for each in self.contenders}
        if name not in found:
            raise UsageError(f"{name!r} was not compared.{suggest(name, found)} There are: {', '.join(found)}.")
        return found[name]

    def __iter__(self) -> Iterator[Contender]:
        return iter(self.contenders)

    def __len__(self) -> int:
        return len(self.contenders)

    @property
    def frontier(self) -> tuple[Contender, ...]:
        """Those that no other beats, from the least risk to the least loss."""
        return tuple(
            sorted((each for each in self.contenders if each.leads), key=lambda each: each.point or (0.0, 0.0))
        )

    def recommend(self, max_risk: Any = None, keep: Sequence[str] | str | None = None) -> Comparison:
        """The same runs under other limits: of risks whose measures were taken, and of what must be kept."""
        old = self.judgement
        new = Judgement.of(
            old.limits if max_risk is None else max_risk, old.loss, old.keep if keep is None else keep, (), True, True
        )
        if lacking := [name for name in new.measures if name not in old.measures]:
            raise UsageError(f"{lacking[0]} was not taken. Compare again, with `measures` or `limits` that name it.")
        judged = replace(new, more=old.measures)
        return Comparison.of({c.candidate: c.runs for c in self.contenders}, judged, self.repeats, self.ask, self.kept)

    def text(self) -> str:
        """A table, and what is recommended."""
        wide = max(len(each.name) for each in self.contenders)
        lines = ["suffice comparison", "", f"  {'method':<{wide}}  {'risk':<26}  {'loss':<26}  "]
        for each in self.contenders:
            risk, loss = (str(value) if value else "-" for value in (each.risk, each.loss))
            said = "; ".join(each.against) or "passes"
            lines.append(f"{'*' if each.leads else ' '} {each.name:<{wide}}  {risk:<26}  {loss:<26}  {said}")
        lines += ["", *self._said(), "", self.recommendation.text(), PRIVATE]
        return "\n".join(map(escaped, "\n".join(lines).split("\n")))

    def __str__(self) -> str:
        return self.text()

    def _said(self) -> list[str]:
        """What the numbers are."""
        limits = ", ".join(f"{name} {limit:g}" for name, limit in self.judgement.limits.items())
        return [
            f"risk: the worst, each divided by its limit ({limits}): above 1 one is exceeded",
            f"loss: mean of {', '.join(self.judgement.loss)}, each divided by its range: 0 is the original",
            f"mean over {count_of(self.repeats, 'run')}, and in brackets where 95 % of the runs lie",
            "*: no other method has less risk and less loss",
        ]

    def as_dict(self) -> dict[str, Any]:
        found = self.recommendation
        return {
            "suffice": "comparison",
            "private": PRIVATE,
            "repeats": self.repeats,
            **self.judgement.as_dict(),
            "methods": [each.as_dict() for each in self.contenders],
            "recommendation": {"method": found.name, "steps": _plain(found.steps), "reasons": list(found.reasons)},
        }

    def to_json(self) -> str:
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False) + "\n"

    def to_csv(self) -> str:
        """A line for every method and number: mean, and the ends of the interval."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["method", "runs", "frontier", "passes", "what", "mean", "low", "high"])
        for each in self.contenders:
            own = [each.name, len(each.runs) - each.failed, each.leads, each.passes]
            named = {"risk": each.risk, "loss": each.loss, **each.figures}
            for name, value in named.items():
                writer.writerow([*own, name, *(["", "", ""] if value is None else value.as_dict().values())])
        return out.getvalue()

    @property
    def points(self) -> list[MapPoint]:
        """What the map shows: those with a risk and a loss."""
        best = self.recommendation.name
        return [
            MapPoint(each.name, r.ends, u.ends, each.leads, each.passes, each.name == best)
            for each in self.contenders
            if (r := each.risk) is not None and (u := each.loss) is not None
        ]

    def map(self, kind: str = "png") -> bytes:
        """The risk-utility map as png or svg: means with intervals, the frontier, what passes."""
        return risk_utility_map(self.points, kind)

    def place(self, release: Release) -> list[MapPoint]:
        """A release, by the same measures, before the methods that were compared."""
        return Neighbours(self.judgement, self.points).place(release)

    def exhibit(self) -> dict[str, Any]:
        told = {"comparison": self, "said": self._said(), "picture": embedded(self.map()), "private": PRIVATE}
        return {"kind": "comparison", **told}

    def to_html(self) -> str:
        """A page of its own."""
        return render("comparison.html", **self.exhibit())

    def write(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write it as .json, .csv or .html, or the map as .png or .svg, readable by you alone."""
        target = scores_target(path, force, (), KINDS)
        keep_apart([("the output", target)], self.kept)
        kind = target.suffix.lower()
        made = {".json": self.to_json, ".csv": self.to_csv, ".html": self.to_html}
        with Draft(target, force, OWNER) as draft:
            draft.write(made[kind]().encode() if kind in made else self.map(kind[1:]))
            draft.settle()
            commit([draft])


def _number(run: Run) -> int:
    return run.number


def _order(row: Contender) -> tuple[bool, float, float, str]:
    risk, loss = row.point or (float("inf"), float("inf"))
    return not row.passes, loss, risk, row.name


def _recommended(rows: Sequence[Contender], judgement: Judgement, ask: Ask) -> Recommendation:
    """The least loss among those that pass, and that no guard stops with the holder's own key."""
    passing, refused = [row for row in rows if row.passes], []
    for row in passing:
        assert row.loss is not None
        if stops := ask(row.candidate):
            refused.append(f"{row.name} loses less, and is stopped with your key and its ledger by {', '.join(stops)}.")
            continue
        risks = [
            f"{name} is {each.mean:.4g} on average, within {judgement.limits[name]:g}."
            for name, each in row.risks.items()
        ]
        kept = [f"It keeps {', '.join(row.keeps)} exactly."] if row.keeps else ["It keeps no statistic exactly."]
        why = f"Of {len(passing)} that pass it loses least" if len(passing) > 1 else "It is the only one that passes"
        first = f"{why}: {row.loss.mean:.4g} ({count_of(len(rows), 'method')} compared)."
        return Recommendation(row.name, tuple(row.steps), (first, *risks, *kept, "No guard stops it.", *refused))
    near = min(rows, key=lambda row: (len(row.against), _order(row)))
    told = f"No method passes. Nearest is {near.name}: {'; '.join(near.against)}." if near.against else "None is left."
    outside = any("limits" in row.stops for row in rows) and not any("rotate" in row.name for row in rows)
    inside = ("Bounds and edits are kept by rotate: name it among the methods.",) if outside else ()
    return Recommendation(None, (), (told, *inside, *refused))


def _plain(value: Any) -> Any:
    """As JSON has it."""
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, bool | int | float | None) else str(value)
