"""What a pooled analysis found: estimates with errors, intervals and tests, as a table, a page and data."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from suffice.algebra.array import Array
from suffice.certificate.paper import paper_of
from suffice.errors import UsageError, count_of, escaped, path_of
from suffice.files.draft import Draft, commit, keep_apart
from suffice.report.exhibit import Exhibit
from suffice.report.page import render
from suffice.utility.combination import JointTest

WORDS = {
    "T_p": "T_p = u k/n + b/m: records drawn given what stays, or exact, or all from the sample",
    "T_f": "T_f = (1 + 1/m) b - u: samples of synthetic populations",
    "T_s": "T_s = u (k/n + 1/m): all columns drawn with the fitted parameters",
    "T_d": "T_d = u (k/n + (1 + k/n)/m): all columns drawn, and the parameters too",
    "T_M": "T_M = (1 + 1/m) B - b/r + u: missing cells imputed, then replaced",
    "T_o": "T_o = u: one file analysed as if it were the original",
}


@dataclass(frozen=True)
class Inference(Exhibit):
    """Estimates of all files together with errors, intervals and tests; it holds statistics of released files alone."""

    names: tuple[str, ...]
    estimates: Array
    errors: Array
    freedom: Array
    within: Array
    between: Array
    rule: str
    m: int
    level: float
    joint: JointTest
    notes: tuple[str, ...] = ()
    sources: tuple[Path, ...] = field(default=(), repr=False, compare=False)

    @property
    def half(self) -> Array:
        """Of the length of the intervals."""
        return np.asarray(_quantile(self.freedom, self.level) * self.errors)

    @property
    def p(self) -> Array:
        """Of the test that an estimand is zero."""
        with np.errstate(all="ignore"):
            return np.asarray(_beyond(self.freedom, np.abs(self.estimates / self.errors)))

    def text(self) -> str:
        """A table, and below it the joint test and what is to be said."""
        wide = max(map(len, (*self.names, "estimand")))
        head = ("estimate", "error", "freedom", "low", "high", "p")
        lines = [f"suffice pool: {count_of(self.m, 'file')}", f"  {WORDS[self.rule]}", ""]
        lines += [f"  {'estimand':<{wide}}" + "".join(f"{each:>13}" for each in head)]
        lines += [
            f"  {row['name']:<{wide}}" + "".join(f"{_shown(row[each]):>13}" for each in head) for row in self._rows()
        ]
        lines += ["", f"  low, high: {100 * self.level:g} % intervals", f"  {self._joint()}"]
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(map(escaped, lines))

    def __str__(self) -> str:
        return self.text()

    def _joint(self) -> str:
        test = self.joint
        if test.why:
            return f"all but the intercept together: {test.why}"
        told = f"F = {_shown(test.statistic)} on {test.estimands} and {_shown(test.freedom)}, p = {_shown(test.p)}"
        return f"all but the intercept together: {told}"

    def _rows(self) -> list[dict[str, Any]]:
        parts = {
            "estimate": self.estimates,
            "error": self.errors,
            "freedom": self.freedom,
            "low": self.estimates - self.half,
            "high": self.estimates + self.half,
            "p": self.p,
            "within": self.within,
            "between": self.between,
        }
        return [
            {"name": name, **{key: _number(values[i]) for key, values in parts.items()}}
            for i, name in enumerate(self.names)
        ]

    def as_dict(self) -> dict[str, Any]:
        """For programs: what is not a number, or has no end, is null."""
        test = self.joint
        told = {"statistic": test.statistic, "freedom": test.freedom, "p": test.p}
        return {
            "suffice": "pool",
            "rule": self.rule,
            "said": WORDS[self.rule],
            "m": self.m,
            "level": self.level,
            "estimates": self._rows(),
            "joint": {"estimands": test.estimands, **{k: _number(v) for k, v in told.items()}, "why": test.why},
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False) + "\n"

    def to_html(self) -> str:
        """A page of its own."""
        return render("pool.html", **self.exhibit())

    def exhibit(self) -> dict[str, Any]:
        return {"kind": "pool", "shown": _shown, "together": self._joint(), **self.as_dict()}

    def write(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write it as .json or .html; never over one of the files."""
        target = path_of(path)
        made = {".json": self.to_json, ".html": self.to_html}.get(target.suffix.lower())
        if made is None:
            raise UsageError("A pool is written as .json or .html.\nName such a file.")
        papers = map(paper_of, self.sources)
        keep_apart([("the output", target)], [("the data", each) for each in (*self.sources, *papers)])
        with Draft(target, force) as draft:
            draft.write(made().encode())
            draft.settle()
            commit([draft])


def _quantile(freedom: Array, level: float) -> Array:
    from scipy.special import stdtrit

    return np.asarray(stdtrit(np.minimum(freedom, 1e12), (1 + level) / 2))


def _beyond(freedom: Array, t: Array) -> Array:
    from scipy.special import stdtr

    return np.asarray(2 * stdtr(np.minimum(freedom, 1e12), -t))


def _number(value: float) -> float | None:
    return float(value) if isfinite(value) else None


def _shown(value: float | None) -> str:
    return "" if value is None or not isfinite(value) else f"{value:.5g}"
