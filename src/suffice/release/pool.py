"""pool(): one analysis of several synthetic files, combined by the rule that their certificate names."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from suffice.certificate.paper import Paper
from suffice.errors import InputError, UsageError, count_of, escaped, path_of
from suffice.files.source import digest_of, open_rows
from suffice.release.estimates import applied, as_named, estimates_of
from suffice.release.inference import Inference
from suffice.release.known_rule import KnownRule
from suffice.release.release import Release
from suffice.rows.threads import one_blas_thread
from suffice.utility.analysis import Analysis, Estimates, ModelMatrix
from suffice.utility.combination import RULES, joint_test


def pool(
    files: Any,
    analysis: Any,
    *,
    rule: str | None = None,
    records: int | None = None,
    level: float = 0.95,
    encoding: str | None = None,
) -> Inference:
    """Make one analysis of every synthetic file, and combine what is found.

    files: a release, or a list of its files; the rule is read from the certificate beside the first.
    analysis: "income ~ C(sex) + age" (also "glm-binomial: ..."); or a function of a frame that gives (estimates, their
        variances or covariance matrix) or a fit with `params` and `cov_params()`; or a list of these, one a file.
    rule: T_p, T_f, T_s, T_d or T_o, for files that have no certificate; never asked of those that have.
    records: of the original, where files without a certificate have another number of them.
    level: of the intervals.
    encoding: of text files that are not UTF-8.
    """
    if not 0 < level < 1:
        raise UsageError("The level of intervals is between 0 and 1. Write level=0.95.")
    given = _Files.of(files, encoding)
    known = given.rule(rule, records)
    with one_blas_thread():
        found, lost = given.analysed(analysis)
    return _pooled(found, known, level, (*known.notes, *lost), given.paths)


@dataclass(frozen=True, repr=False)
class _Files:
    """Files to be analysed, and what their certificate says."""

    data: tuple[Any, ...]
    paper: Mapping[str, Any] | None
    paths: tuple[Path, ...] = ()
    encoding: str | None = None

    @classmethod
    def of(cls, files: Any, encoding: str | None) -> _Files:
        if isinstance(files, Release):
            return cls(files.frames, files.certificate.as_dict())
        several = list(files) if isinstance(files, list | tuple) else [files]
        if not several:
            raise UsageError("No file is given. Give all files of a release.")
        if not all(isinstance(each, str | os.PathLike) for each in several):
            return cls(tuple(several), None, (), encoding)
        paths = [path_of(each) for each in several]
        if len({os.path.realpath(path) for path in paths}) < len(paths):
            raise InputError("A file is given twice.\nGive every file of the release once.")
        found = [(path, Paper.beside(path)) for path in paths]
        if bare := [path.name for path, paper in found if paper is None]:
            if len(bare) < len(paths):
                raise InputError(
                    f"{escaped(bare[0])} has no certificate beside it, and others have.\nGive files of one release."
                )
            return cls(tuple(paths), None, tuple(paths), encoding)
        papers = [_checked(path, paper) for path, paper in found if paper is not None]
        if any(paper.content != papers[0].content for paper in papers):
            raise InputError("The files are of different requests.\nGive the files that one certificate lists.")
        place = {digest: number for number, digest in enumerate(papers[0].digests)}
        paths.sort(key=lambda path: place[digest_of(path)])  # those of one imputation stand together
        return cls(tuple(paths), papers[0].content, tuple(paths), encoding)

    def rule(self, told: str | None, records: int | None) -> KnownRule:
        m = len(self.data)
        if self.paper is not None:
            if told is not None or records is not None:
                raise UsageError("The certificate names the rule. Leave `rule` and `records` (--rule, --records) out.")
            return KnownRule.read(self.paper.get("synthesis"), m, int(self.paper["rows"]))
        return KnownRule.told(told, m, open_rows(_encoded(self.data[0], self.encoding), 1, None).n, records)

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
            return [as_named(each, names) for each in found], still
        fits = (
            analysis
            if isinstance(analysis, list | tuple)
            else list(map(applied(analysis), map(self._frame, self.data)))
        )
        if len(fits) != len(self.data):
            raise UsageError(
                f"There are {count_of(len(self.data), 'file')} and {count_of(len(fits), 'fit')}: give one each."
            )
        return list(map(estimates_of, fits)), ()

    def _frame(self, data: Any) -> Any:
        """For a function: the frame as it is; of a file a pandas frame where pandas is, else an Arrow table."""
        if not isinstance(data, Path):
            return data
        rows = open_rows(_encoded(data, self.encoding), 1, None)
        table = rows.frame(list(rows.kinds), {}, np.arange(rows.n))
        try:
            return table.to_pandas()
        except ImportError:
            return table


def _encoded(data: Any, encoding: str | None) -> Any:
    from suffice.files.format import in_encoding

    return in_encoding(data, encoding)


def _checked(path: Path, paper: Paper) -> Paper:
    """The paper, if it is a certificate of the file as it is."""
    known = paper.content or {}
    if known.get("suffice") != "certificate" or not isinstance(known.get("rows"), int):
        raise InputError(f"{escaped(paper.path.name)} is no certificate.\nGive the files as they were released.")
    if digest_of(path) not in paper.digests:
        raise InputError(
            f"{escaped(path.name)} is not the file that its certificate is of.\nGive it as it was released."
        )
    return paper


def _pooled(
    found: Sequence[Estimates], known: KnownRule, level: float, notes: tuple[str, ...], paths: tuple[Path, ...]
) -> Inference:
    names = found[0].names
    if any(each.names != names for each in found):
        raise InputError("The fits have different estimands.\nUse the same model in every file.")
    q, U = np.array([each.estimates for each in found]), np.array([each.covariance for each in found])
    u, most = np.array([each.errors**2 for each in found]), min(each.freedom for each in found) - known.surplus
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
