"""pool(): one analysis of several synthetic files, combined by the rule that their certificate names."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite
from pathlib import Path
from typing import Any

import numpy as np

from suffice.algebra.array import Array
from suffice.errors import InputError, UsageError, count_of, escaped, path_of, suggest
from suffice.files.draft import Draft, commit, keep_apart
from suffice.files.source import digest_of, open_rows
from suffice.release.release import Release
from suffice.report.exhibit import Exhibit
from suffice.report.page import render
from suffice.rows.memory import MemoryRows
from suffice.rows.threads import one_blas_thread
from suffice.utility.analysis import Analysis, Estimates, ModelMatrix
from suffice.utility.combination import RULES, JointTest, joint_test

WORDS = {
    "T_p": "T_p = u + b/m: records drawn given what stays, or exact, or all from the sample",
    "T_f": "T_f = (1 + 1/m) b - u: samples of synthetic populations",
    "T_s": "T_s = u (k/n + 1/m): all columns drawn with the fitted parameters",
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
        papers = [each.with_name(f"{each.name}.certificate.json") for each in self.sources]
        keep_apart([("the output", target)], [("the data", each) for each in (*self.sources, *papers)])
        with Draft(target, force) as draft:
            draft.write(made().encode())
            draft.settle()
            commit([draft])


def pool(
    files: Any, analysis: Any, *, rule: str | None = None, level: float = 0.95, encoding: str | None = None
) -> Inference:
    """Make one analysis of every synthetic file, and combine what is found.

    files: a release, or a list of its files; the rule is read from the certificates beside them.
    analysis: "income ~ C(sex) + age" (also "glm-binomial: ..."); or a function of a frame that gives (estimates, their
        variances or covariance matrix) or a fit with `params` and `cov_params()`; or a list of these, one a file.
    rule: T_p, T_f, T_s or T_o, for files that have no certificate; never asked of those that have.
    level: of the intervals.
    encoding: of text files that are not UTF-8.
    """
    if not 0 < level < 1:
        raise UsageError("The level of intervals is between 0 and 1. Write level=0.95.")
    given = _Files.of(files, encoding)
    with one_blas_thread():
        found, lost = given.analysed(analysis)
    known = given.rule(rule)
    return _pooled(found, known, level, (*known.notes, *lost), given.paths)


@dataclass(frozen=True)
class KnownRule:
    """A rule, records of a release over those of the original, releases of one imputation, and what is to be said."""

    name: str
    share: float = 1.0
    stages: int = 1
    notes: tuple[str, ...] = ()

    @classmethod
    def read(cls, made: Mapping[str, Any] | None, m: int, k: int) -> KnownRule:
        """What certificates say: `made` is their key `synthesis`; None of a release of another method.

        After exactness the rule is T_p whatever was drawn: the parameters of every file are the original's. T_f needs
        a population in which the rest is known, and parameters drawn from their posterior.
        """
        made = made or {}
        original = made.get("records")
        share = k / original if original else 1.0
        exact, stages = bool(made.get("exact")), int(made.get("two_stage") or 1)
        few = () if m == (told := int(made.get("m") or m) * stages) else (f"{m} of {told} files are used",)
        if m == 1:
            if not made or exact:
                return cls("T_o", share, notes=("right for what the certificate lists as kept, and for nothing else",))
            alone = "one file tells nothing of the variance between files: the error is that of all cells drawn anew"
            return cls("T_s", share, notes=(alone, *few))
        if stages > 1:
            if few:
                raise UsageError(f"Files of two stages are pooled all together: {told} of them, and {m} are given.")
            return cls("T_M", share, stages)
        if exact or made.get("kind") != "full" or not made.get("frame"):
            return cls("T_p", share, notes=few)
        if made.get("proper"):
            return cls("T_f", share, notes=few)
        wide = "the parameters were not drawn (proper), so intervals may be too wide, never too narrow"
        return cls("T_p", share, notes=(wide, *few))


@dataclass(frozen=True, repr=False)
class _Files:
    """Files to be analysed, and what their certificates say."""

    data: tuple[Any, ...]
    papers: tuple[Mapping[str, Any], ...]
    paths: tuple[Path, ...]
    encoding: str | None = None

    @classmethod
    def of(cls, files: Any, encoding: str | None) -> _Files:
        if isinstance(files, Release):
            return cls(files.frames, tuple(each.as_dict() for each in files.certificates), ())
        several = list(files) if isinstance(files, list | tuple) else [files]
        if not several:
            raise UsageError("No file is given. Give all files of a release.")
        if not all(isinstance(each, str | os.PathLike) for each in several):
            return cls(tuple(several), (), (), encoding)
        paths = [path_of(each) for each in several]
        found = [_certificate(path) for path in paths]
        papers = [each for each in found if each is not None]
        if papers and len(papers) < len(paths):
            bare = next(path.name for path, paper in zip(paths, found, strict=True) if paper is None)
            raise InputError(
                f"{escaped(bare)} has no certificate beside it, and others have.\nGive files of one release."
            )
        if len({json.dumps(each.get("synthesis"), sort_keys=True) for each in papers}) > 1:
            raise InputError("The certificates name different requests.\nGive the files of one release.")
        if len({os.path.realpath(path) for path in paths}) < len(paths):
            raise InputError("A file is given twice.\nGive every file of the release once.")
        return cls(tuple(paths), tuple(papers), tuple(paths), encoding)

    def rule(self, told: str | None) -> KnownRule:
        m = len(self.data)
        if self.papers:
            if told is not None:
                raise UsageError("The certificate names the rule. Leave `rule` (--rule) out.")
            return KnownRule.read(self.papers[0].get("synthesis"), m, int(self.papers[0]["rows"]))
        allowed = [each for each in WORDS if each != "T_M"]
        if told not in allowed:
            raise UsageError(
                f"No certificate is beside the files, so that the rule is not known.{suggest(told or '', allowed)}\n"
                f"Say rule (--rule): {', '.join(allowed)}. T_p for partially synthetic files."
            )
        if m == 1 and told not in ("T_s", "T_o"):
            raise UsageError(f"{told} needs two files at least: one tells nothing of the variance between them.")
        return KnownRule(told)

    def analysed(self, analysis: Any) -> tuple[list[Estimates], tuple[str, ...]]:
        """Estimates of every file, and what is to be said of them."""
        if isinstance(analysis, str):
            parsed = Analysis.parse(analysis)
            files = [open_rows(_encoded(each, self.encoding), 1, None) for each in self.data]
            model = ModelMatrix.of(parsed, files)
            found = [model.coefficients(each) for each in files]
            still = (
                () if all(each.converged for each in found) else ("a fit did not come to stand: its error is not told",)
            )
            named = tuple(name for each in model.expansions for name in each.named(model.levels))
            names = ("1",) * parsed.terms.intercept + named
            return [_as_named(each, names) for each in found], still
        fits = (
            analysis
            if isinstance(analysis, list | tuple)
            else list(map(_applied(analysis), map(self._frame, self.data)))
        )
        if len(fits) != len(self.data):
            raise UsageError(
                f"There are {count_of(len(self.data), 'file')} and {count_of(len(fits), 'fit')}: give one each."
            )
        return list(map(_estimates, fits)), ()

    def _frame(self, data: Any) -> Any:
        """For a function: the frame as it is; of a file a pandas frame where pandas is, else an Arrow table."""
        if not isinstance(data, Path):
            return data
        rows = open_rows(_encoded(data, self.encoding), 1, None)
        table: Any = (
            rows.native if isinstance(rows, MemoryRows) else rows.frame(list(rows.kinds), {}, np.arange(rows.n))
        )
        try:
            return table.to_pandas()
        except ImportError:
            return table


def _encoded(data: Any, encoding: str | None) -> Any:
    from suffice.files.format import in_encoding

    return in_encoding(data, encoding)


def _certificate(path: Path) -> Mapping[str, Any] | None:
    """What lies beside a file, if it is of this file."""
    paper = path.with_name(f"{path.name}.certificate.json")
    if not paper.exists():
        return None
    try:
        found = json.loads(paper.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = None
    if not isinstance(found, dict) or found.get("suffice") != "certificate" or not isinstance(found.get("rows"), int):
        raise InputError(f"{escaped(paper.name)} is no certificate.\nGive the files as they were released.")
    if path.exists() and found.get("digest") != digest_of(path):
        raise InputError(
            f"{escaped(path.name)} is not the file that its certificate is of.\nGive it as it was released."
        )
    return found


def _applied(analysis: Any) -> Callable[[Any], Any]:
    if not callable(analysis):
        raise UsageError(f"The analysis is {type(analysis).__name__}. Write a formula, a function, or a list of fits.")
    return analysis  # type: ignore[no-any-return]


def _as_named(found: Estimates, names: tuple[str, ...]) -> Estimates:
    still = np.where(found.converged, 1.0, np.nan)
    return Estimates(
        names,
        found.estimates,
        found.errors * still,
        found.records,
        found.aic,
        True,
        found.covariance * still,
        found.freedom,
    )


def _estimates(fit: Any) -> Estimates:
    """Of a pair (estimates, variances or covariance), or of a fit that has both."""
    if hasattr(fit, "params") and hasattr(fit, "cov_params"):
        q, U = fit.params, fit.cov_params()
        freedom = getattr(fit, "df_resid", inf) if getattr(fit, "use_t", True) else inf
    elif isinstance(fit, tuple | list) and len(fit) == 2:
        (q, U), freedom = fit, inf
    else:
        raise UsageError(f"A fit is {type(fit).__name__}. Give (estimates, variances), or params and cov_params().")
    index = getattr(q, "index", None)
    b, V = np.atleast_1d(np.asarray(q, dtype=float)), np.asarray(U, dtype=float)
    names = (
        tuple(map(str, index))
        if index is not None and not callable(index)
        else tuple(f"q{i + 1}" for i in range(b.size))
    )
    V = V if V.ndim == 2 else np.diag(np.atleast_1d(V))
    if b.ndim != 1 or V.shape != (len(b), len(b)):
        raise UsageError(
            f"{count_of(b.size, 'estimate')} and variances of shape {V.shape}: give one for each, or a square."
        )
    if (np.diag(V) < 0).any():
        raise UsageError("A variance is negative. Give variances, not standard errors or a precision.")
    return Estimates(names, b, np.sqrt(np.diag(V)), 0, np.nan, True, V, float(freedom))


def _pooled(
    found: Sequence[Estimates], known: KnownRule, level: float, notes: tuple[str, ...], paths: tuple[Path, ...]
) -> Inference:
    names = found[0].names
    if any(each.names != names for each in found):
        raise InputError("The fits have different estimands.\nUse the same model in every file.")
    q, U = np.array([each.estimates for each in found]), np.array([each.covariance for each in found])
    u, most = np.array([each.errors**2 for each in found]), min(each.freedom for each in found)
    m, stages = len(found), known.stages
    shape = (m // stages, stages, -1) if stages > 1 else (m, -1)
    one = RULES[known.name](q.reshape(shape), u.reshape(shape), known.share, most)
    if one.raised.any():
        which = ", ".join(name for name, up in zip(names, one.raised, strict=True) if up)
        notes += (f"the variance was not positive and stands raised: {which}",)
    told = np.isfinite(one.variance)
    if not told.all():
        gone = ", ".join(name for name, there in zip(names, told, strict=True) if not there)
        notes += (f"not every file tells: {gone}",)
    tested = [i for i, name in enumerate(names) if told[i] and name not in ("1", "Intercept", "const")]
    test = joint_test(known.name, q[:, tested], U[:, tested][:, :, tested], known.share, most)
    between = q.var(axis=0, ddof=1) if m > 1 else np.full(len(names), np.nan)
    errors = np.sqrt(one.variance)
    return Inference(
        names, one.mean, errors, one.freedom, u.mean(axis=0), between, known.name, m, level, test, notes, paths
    )


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
