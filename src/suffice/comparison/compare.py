"""compare(): many runs of many methods on one file, and the most useful release that passes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from suffice.comparison.candidates import Candidate, candidates
from suffice.comparison.comparison import Comparison
from suffice.comparison.judgement import Judgement
from suffice.comparison.runs import Question, Run, Task
from suffice.comparison.store import Store
from suffice.comparison.workers import worked
from suffice.design.roles import NUMERIC, Roles
from suffice.errors import SufficeError, UsageError
from suffice.files.draft import keep_apart
from suffice.files.format import in_encoding
from suffice.files.source import digest_of, named_sources, open_rows
from suffice.guards.finding import check_accepted
from suffice.progress import Progress, listener
from suffice.release.places import kept_files
from suffice.release.protect import protect
from suffice.rows.digest import Digest
from suffice.rows.threads import cores
from suffice.seed import Seed

MOST = 10_000
"""Runs of a method."""


def compare(
    data: Any,
    roles: Roles,
    methods: Any = "quick",
    repeats: int = 100,
    limits: Mapping[str, float] | float | None = None,
    *,
    loss: Sequence[str] | str | None = None,
    keep: Sequence[str] | str = (),
    measures: Sequence[str] | str = (),
    seed: Seed | None = None,
    accept: Mapping[str, str] | None = None,
    folder: str | os.PathLike[str] | None = None,
    progress: Progress | bool | None = None,
    workers: int | None = None,
    encoding: str | None = None,
) -> Comparison:
    """Compare methods: what each gives away and what it is still good for, over many runs, and which is recommended.

    Every run is a release by a key of its own, which follows from `seed`, and never leaves; guards judge each method.
    Neither the order of methods nor the number of workers changes a figure. The figures are about confidential data,
    and for the data holder.

    data, roles, accept, encoding: as `protect` takes them.
    methods: a preset, "quick", "all" or "paper"; or a list of methods: names, "rank-swap:p=0.2", objects, lists of
        methods in order, and grids {"rank-swap": {"p": [0.1, 0.2]}}.
    repeats: runs of each.
    limits: the most that each risk may be, on average: {"linkage": 0.01}; a measure of risk may be named as well.
    loss: measures of utility whose mean, each divided by its range, says what is lost.
    keep: statistics that a method must keep exactly to be recommended: "mean", "covariance", "fit" and others.
    measures: more of them, which are taken and not judged.
    seed: the secret key; what is recommended is asked of the guards once more with it and its ledger.
    folder: finished runs are kept there; a comparison that was ended goes on where it was.
    progress: True for a bar, or a function that is called with a stage's name, runs done and runs in all.
    workers: processes; as many as there are cores unless told. With 1 all is done in this one.
    """
    if not isinstance(roles, Roles):
        raise UsageError(f"{type(roles).__name__} is no Roles. Write suffice.Roles(confidential=[...], given=...).")
    if isinstance(repeats, bool) or not isinstance(repeats, int) or not 1 <= repeats <= MOST:
        raise UsageError(f"`repeats` must be a whole number, 1 or more, and at most {MOST:,}.")
    check_accepted(accept or {})
    asked, listening = candidates(methods, roles), listener(progress)
    kinds = open_rows(in_encoding(data, encoding), 1, None).kinds
    roles.check({**kinds, **{name: "float" for name in roles.confidential if name in kinds}})  # methods know the rest
    plain = [kinds.get(name) in NUMERIC for name in roles.confidential]
    judgement = Judgement.of(limits, loss, keep, measures, any(plain), not all(plain))
    workers = workers or cores()
    with nullcontext() if folder is None else Store.alone(folder) as store:
        seed = seed or (Seed() if store is None else store.seed())
        request = Question(data, roles, judgement.measures, accept or {}, encoding, seed.source)
        found = _found(request, asked, repeats, seed, store, workers, listening)

    def ask(candidate: Candidate) -> Sequence[str]:
        try:
            release = protect(data, roles, candidate.method, seed, accept, encoding=encoding)
        except SufficeError as problem:
            return [" ".join(str(problem).split())]
        return [finding.rule for finding in release.findings if finding.blocks]

    runs = {each: tuple(own.values()) for each, own in found.items()}
    return Comparison.of(runs, judgement, repeats, ask, kept_files(data, asked[0].method, seed.path))


def _found(
    request: Question,
    asked: Sequence[Candidate],
    repeats: int,
    seed: Seed,
    store: Store | None,
    workers: int,
    listening: Progress | None,
) -> dict[Candidate, dict[int, Run]]:
    """All runs by candidate and number: those that are there already, and those that are made now."""
    done: list[Run] = []
    if store is not None:
        keep_apart([("the folder's file of runs", store.path)], kept_files(request.data, asked[0].method, seed.path))
        done = store.read(_digest(request, seed), seed)
    found: dict[Candidate, dict[int, Run]] = {each: {} for each in asked}
    by_name = {each.name: each for each in asked}
    for run in done:
        if run.candidate in by_name and run.number < repeats and (run.failed or _whole(run, request)):
            found[by_name[run.candidate]][run.number] = run
    tasks = [
        Task(each, seed.derive("comparison", each.name).block(0, "trials"), numbers)
        for each in asked
        for numbers in _parts([n for n in range(repeats) if n not in found[each]], len(asked), workers)
    ]
    coming, total = worked(request, tasks, workers), repeats * len(asked)
    for number, run in enumerate(coming if store is None else store.kept(coming), total - _left(tasks) + 1):
        found[by_name[run.candidate]][run.number] = run
        if listening is not None:
            listening(f"comparing: {run.candidate}", number, total)
    return found


def _whole(run: Run, request: Question) -> bool:
    """Whether every measure that is asked for now was tried then."""
    return {*request.measures} <= {*run.figures, *run.lacking}


def _left(tasks: Sequence[Task]) -> int:
    return sum(len(task.numbers) for task in tasks)


def _parts(numbers: list[int], count: int, workers: int) -> list[list[int]]:
    """Runs of one candidate share what is learnt of the file; few candidates are dealt to all workers."""
    parts = 1 if count >= 3 * workers else workers
    return [part for i in range(parts) if (part := numbers[i::parts])]


def _digest(request: Question, seed: Seed) -> str:
    """A keyed digest of what the runs are of."""
    data = request.data
    if isinstance(data, str | os.PathLike):
        told = " ".join(digest_of(path) for path in named_sources(data) if path.is_file())
    else:
        rows = open_rows(data, 1, None)
        names = [name for name in request.roles.columns if rows.kinds.get(name) in (*NUMERIC, "category")]
        found = rows.fold(lambda block: Digest.of(block, names), names, "reading")
        told = " ".join([f"{rows.n} {dict(rows.kinds)}", *map(found.column, names)])
    parts = request.roles.canonical(), str(sorted(request.accept.items())), request.encoding or "", told
    return seed.digest("comparison", *parts)
