"""protect(): from a confidential file to a release with its findings and its certificate."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from suffice.catalogue import chosen
from suffice.design.coding import Coding
from suffice.design.design import Design
from suffice.design.limits import Limits
from suffice.design.missing import complete_beside
from suffice.design.profile import Matrices, profiled
from suffice.design.roles import Roles
from suffice.errors import InfeasibleError, UsageError
from suffice.files.format import in_encoding
from suffice.files.source import open_rows
from suffice.guards.finding import check_accepted
from suffice.method.isometric import Isometric
from suffice.method.method import Method
from suffice.method.synthetic import Synthetic
from suffice.microdata.controlled_rounding import ControlledRounding
from suffice.progress import Progress, listener
from suffice.protection.protected import Protected
from suffice.protection.replacement import Replacement
from suffice.protection.runner import protected
from suffice.protection.steps import Original
from suffice.protection.strata import Strata
from suffice.release.apart import beside_numbers
from suffice.release.release import Release
from suffice.risk.account import Account
from suffice.risk.leaving import LeavingMeasure
from suffice.risk.looks import RiskLooks
from suffice.risk.sample import SampleMeasure
from suffice.rows.derived import aligned
from suffice.rows.rows import Rows
from suffice.rows.threads import cores, hold_memory, one_blas_thread
from suffice.seed import Seed, Stream

FIXED = ("mean", "covariance", "limits")
"""What leaves a column that stands at its two bounds as it is."""
LUCK = 5
"""Releases that are drawn, at most, until none of the records has its own values by luck."""


def protect(
    data: Any,
    roles: Roles,
    method: Method | str | Sequence[Method | str] | None = None,
    seed: Seed | None = None,
    accept: Mapping[str, str] | None = None,
    *,
    progress: Progress | bool | None = None,
    threads: int | None = None,
    encoding: str | None = None,
) -> Release:
    """Protect the confidential columns of a file or frame.

    Folds the rows to their small factor, solves, runs the guards, and certifies what leaves. Neither the engine,
    nor the block size, nor the number of threads changes a release made with the same key.

    data: a pandas, polars or pyarrow frame, a NumPy array (columns x0, x1, ...), or a path; or the rows of an engine
        of one's own (`suffice.rows.rows.Rows`), which has its own threads and progress.
    roles: what each column is.
    method: how; `suffice.methods()` lists them, `first.then(second)` puts them in order. Names are enough, also with
        parameters: "romm", "romm:correlation=0.5", ["mixture:d=0.3", "restore"]. Without one: IPSO, and where there are
        bounds or edits `Rotate(zeros="free")`.
    seed: the secret key; without one a new one is drawn and the release cannot be repeated.
    accept: rules of guards that may stop the release, each with the reason for accepting it.
    progress: True for a bar, or a function that is called with a stage's name, rows done and rows in all.
    threads: how many to use; as many as there are cores unless told.
    encoding: of a text file that is not UTF-8: latin-1, cp1252, utf-16; the release is written in it too.
    """
    if not isinstance(roles, Roles):
        raise UsageError(f"{type(roles).__name__} is no Roles. Write suffice.Roles(confidential=[...], given=...).")
    if not isinstance(seed, Seed | None):
        raise UsageError(f"{type(seed).__name__} is no Seed: a short key can be guessed. Use Seed.from_file, or none.")
    check_accepted(accept or {})
    seed, listening = Seed() if seed is None else seed, listener(progress)
    request = data, roles, seed, accept or {}, listening, threads or cores(), encoding
    return _protected(chosen(method, roles), *request)


@dataclass(frozen=True, repr=False)
class Material:
    """The rows of a request, as they came, and as they are protected: coded, complete, a companion's beside them."""

    data: Any
    whole: Rows
    rows: Rows
    start: Rows | None
    coding: Coding
    """Of all parts; `rows` have it but for given columns, which are read as they are."""
    roles: Roles

    @classmethod
    def of(
        cls, method: Method, data: Any, roles: Roles, threads: int, progress: Progress | None, encoding: str | None
    ) -> Material:
        data = in_encoding(data, encoding)
        source, coding = open_rows(data, threads, progress), Coding()
        for part, own in method.requests(roles):
            coding = coding.with_others(Coding.learn(source, own, part.kinds, part.holes and own.missing != "drop"))
        whole = coding.without(roles.terms.columns).encoded(source)
        start = None if method.companion is None else open_rows(method.companion, whole.threads, progress)
        rows, start = complete_beside(whole, start, roles.once)
        return cls(data, whole, rows, start, coding, roles)

    def of_part(self, roles: Roles) -> tuple[Rows, Coding]:
        """The rows as a part of the request sees them: its own confidential columns are numbers."""
        coding = self.coding.without(roles.terms.columns)
        there = [name for name in (*coding.types, *coding.holes) if name not in self.roles.drawn]
        rows = coding.without(there).encoded(self.rows)
        rows.coding = coding
        return rows, coding

    def account(
        self, seed: Seed, done: Protected, method: Method, digests: list[str], name: str, apart: Release | None
    ) -> Account:
        """One line for the ledger, with the columns that another method drew."""
        settled = self.rows is not self.whole
        if apart is None:
            return Account.of(seed, self.whole, settled, done, method, digests, name)
        told = dict(zip(apart.design.confidential, apart.account.entry.columns, strict=True))
        others = [name for name in told if name not in self.roles.drawn]
        every = Design.learn(self.rows, replace(self.roles.once, confidential=(*others, *done.design.confidential)))
        account = Account.of(seed, self.whole, settled, replace(done, design=every), method, digests, name)
        drawn = {account.keyed(name) for name in self.roles.drawn}  # given, and confidential all the same
        traces = (replace(each, role="drawn") if each.name in drawn else each for each in account.entry.traces)
        columns = (*(told[name] for name in others), *account.entry.columns)
        return replace(account, entry=replace(account.entry, columns=columns, traces=tuple(traces)))


def _protected(
    method: Method,
    data: Any,
    roles: Roles,
    seed: Seed,
    accept: Mapping[str, str],
    progress: Progress | None,
    threads: int,
    encoding: str | None,
) -> Release:
    hold_memory()
    with one_blas_thread():
        roles = method.given(roles)
        material, made = Material.of(method, data, roles, threads, progress, encoding), None
        for part, own in method.requests(roles):
            made = _released(part, own, material, seed, accept, made)
        assert made is not None
        return made


def _released(
    method: Method,
    roles: Roles,
    material: Material,
    seed: Seed,
    accept: Mapping[str, str],
    apart: Release | None,
) -> Release:
    """apart: of the columns that another method drew, which leave with these"""
    (rows, coding), start = material.of_part(roles), material.start
    design = Design.learn(rows, roles, absorb=isinstance(method, Isometric))
    limits = Limits.learn(rows, design)
    if limits is not None and limits.pinned and {*FIXED} <= {*method.kept}:
        raise _no_other_values(limits.pinned)
    beside = rows if start is None else aligned(rows, start, design.confidential)
    matrices = Matrices(design, start is not None)
    strata = Strata.of(rows, design)
    profile = profiled(beside, matrices)
    digests = {name: profile.digest.column(name) for name in matrices.columns}
    values = (digests[name] for name in sorted(digests))  # the order of terms decides nothing
    request = roles.canonical(), method.name, json.dumps(method.parameters()), *values
    stream, trials = seed.derive(*request), Seed.for_tests(0).derive("trial", *request)
    original = Original(rows, design, profile, limits, stream, (ControlledRounding(tuple(roles.integer)),))
    replaced = method.replaced(rows, design)
    part = None if replaced is None else Replacement.of(original, replaced)
    if part is not None:  # these are judged as if there were no others
        original = part.original
    leaving = LeavingMeasure.of_file(original.rows.n, original.design, 1 if strata is None else strata.count)
    if method.apart_of:
        strata = Strata.crossed(strata, method.apart(rows, design, stream), design)
    looks = RiskLooks(method.independent, SampleMeasure.of_file(original.rows.n, strata), limits, leaving)

    def trial(number: int, own: Stream = trials) -> Protected:
        again = replace(original, stream=own.child(str(number)))
        return protected(again, method, start, strata, looks)

    made: list[Release] = []
    for number in range(method.sets):
        method = method.of_set(number, stream)
        own = stream if method.sets == 1 else stream.child(f"set {number}")
        others = tuple(release.assessment.reach for release in made)
        for luck in range(LUCK):  # a record may meet its own values: such numbers do not leave, others are drawn
            again = replace(original, stream=own.child(f"anew {luck}") if luck else own)
            if isinstance(method, Synthetic) and not method.aligned:
                from suffice.protection.drawing import redrawn

                done = redrawn(again, method, strata, looks)
            elif method.redraws:
                from suffice.protection.drawing import from_models

                done = from_models(again, method, looks)
            else:
                done = replace(protected(again, method, start, strata, looks), again=trial)
            if not made:
                told = [digests[name] for name in design.confidential]
                account = material.account(seed, done, method, told, stream.digest(), apart)
            known = accept, limits, coding, account, others
            done = done if part is None else replace(done, beside=part.others)
            whole_file = done if part is None else part.among_others(done)
            if apart is not None:
                drawn = apart.done
                whole_file = replace(whole_file, others=beside_numbers(drawn, roles), first=drawn.remarks)
            release = Release._made(material.data, rows, whole_file, method, seed, *known, judged=done, apart=apart)
            if not release.unlucky:
                break
        made.append(release)
    return made[0] if len(made) == 1 else Release._together(made, stream)


def _no_other_values(columns: Sequence[str]) -> InfeasibleError:
    one = len(columns) == 1
    return InfeasibleError(
        f"{', '.join(columns)} {'stands' if one else 'stand'} at one of two bounds in every record: with "
        f"{'its' if one else 'their'} mean and variance kept, there are no other values between them.\n"
        f"Leave {'its bounds' if one else 'these bounds'} out, or one end of them."
    )
