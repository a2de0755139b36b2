"""Runs of a candidate: a release judged by the guards, and as many more of the same request as are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from suffice.comparison.candidates import Candidate, refusal_of
from suffice.design.roles import Roles
from suffice.errors import SufficeError
from suffice.release.assess import of_release
from suffice.release.protect import protect
from suffice.release.release import Release
from suffice.rows.threads import one_blas_thread
from suffice.seed import BlockKey, Seed


@dataclass(frozen=True, repr=False)
class Question:
    """What all candidates are asked."""

    data: Any
    roles: Roles
    measures: tuple[str, ...]
    accept: Mapping[str, str]
    encoding: str | None
    source: Literal["entropy", "file", "tests"]
    """Where the key is from."""


@dataclass(frozen=True, repr=False)
class Task:
    """Some runs of a candidate, and the key that they follow from."""

    candidate: Candidate
    key: BlockKey
    numbers: Sequence[int]


@dataclass(frozen=True)
class Run:
    """What was found in one run of a candidate: shares and counts, no value of a record.

    figures: by measure; one that cannot be taken of such a release is not there
    stops: rules of guards that forbid the release; keeps: statistics that its certificate says are kept
    failed: why there is no release
    """

    candidate: str
    number: int
    figures: Mapping[str, float]
    stops: tuple[str, ...] = ()
    keeps: tuple[str, ...] = ()
    failed: str = ""
    lacking: tuple[str, ...] = ()
    """Measures that cannot be taken of such a release."""


def runs(request: Question, task: Task) -> Iterator[Run]:
    """Guards judge a request, not a key, so that they are asked once; the runs are numbered, and each has a key."""
    name, seed = task.candidate.name, Seed.of_trials(task.key, request.source)
    try:
        first = _protected(request, task.candidate, seed)
    except SufficeError as problem:
        yield from (Run(name, number, {}, failed=refusal_of(problem)) for number in task.numbers)
        return
    stops = tuple(finding.rule for finding in first.findings if finding.blocks)
    claims = [claim for each in first.certificates for claim in each.claims if claim.promised]
    broken = {claim.statistic for claim in claims if not claim.holds}
    keeps = tuple(dict.fromkeys(claim.statistic for claim in claims if claim.statistic not in broken))
    for number in task.numbers:
        try:
            made = _again(request, task.candidate, seed, first, number)
            figures = {each.name: each.value for each in of_release(made, measures=request.measures, some=True)}
            lacking = tuple(each for each in request.measures if each not in figures)
            yield Run(name, number, figures, stops, keeps, lacking=lacking)
        except SufficeError as problem:
            yield Run(name, number, {}, stops, keeps, refusal_of(problem))


def _protected(request: Question, candidate: Candidate, seed: Seed) -> Release:
    given = request.data, request.roles, candidate.method, seed, request.accept
    return protect(*given, threads=1, encoding=request.encoding)


def _again(request: Question, candidate: Candidate, seed: Seed, first: Release, number: int) -> Release:
    """The release that was judged, or another one of the same request."""
    if number == 0:
        return first
    own, again = seed.derive("run", str(number)), first.done.again
    if again is not None and not first.sets:
        with one_blas_thread():
            made = again(number, own)
        if made.rows.n == first.rows.n:
            return replace(first, done=made, _state={})
    return _protected(request, candidate, Seed.of_trials(own.block(number, "run"), request.source))
