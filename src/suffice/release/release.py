"""protect(): from a confidential file to a release with its findings and its certificate."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.certificate.certificate import Certificate
from suffice.design.coding import Coding
from suffice.design.design import Design
from suffice.design.limits import Limits
from suffice.errors import FileError, NotPreservedError, UsageError, count_of, failing, path_of
from suffice.files.draft import Draft, commit, keep_apart
from suffice.files.format import Format
from suffice.files.kind import EncodedFile, write_kind
from suffice.files.source import digest_of, read_back
from suffice.files.writer import Writer
from suffice.guards.finding import Finding, Findings, enforce, gravest, judge
from suffice.method.method import Method
from suffice.method.steps import ByColumns
from suffice.progress import Progress, listener
from suffice.protection.protected import Protected
from suffice.release.attestation import Attestation
from suffice.release.delivery import delivered
from suffice.release.places import PRIVATE, Places, kept_files
from suffice.report import public
from suffice.report.exhibit import Exhibit
from suffice.risk.account import Account
from suffice.risk.assessment import Assessment, assess, assessed_again
from suffice.risk.averaging import information
from suffice.rows.memory import MemoryRows, as_table
from suffice.rows.rows import Rows
from suffice.rows.threads import one_blas_thread
from suffice.seed import Seed, Stream

if TYPE_CHECKING:
    from suffice.release.private import Surroundings
    from suffice.release.scores import Scores

LARGEST = 2**30
"""Bytes of a release that `frame` will hold in memory."""
FEW = 10
"""Records with their own values, up to which that may be luck."""


@dataclass(frozen=True, repr=False)
class Release(Exhibit):
    """Protected rows that have not left yet: look at them, at the findings and at the certificate, then write."""

    data: Any
    rows: Rows
    done: Protected
    method: Method
    seed: Seed
    assessment: Assessment
    findings: Findings
    columns: tuple[str, ...]
    account: Account
    accept: Mapping[str, str]
    attestation: Attestation
    coding: Coding
    _state: dict[str, Any]
    sets: tuple[Release, ...] = ()
    """The data sets of a request that gives several; findings and certificate are those of all."""

    @classmethod
    def _made(
        cls,
        data: Any,
        rows: Rows,
        done: Protected,
        method: Method,
        seed: Seed,
        accept: Mapping[str, str],
        limits: Limits | None,
        coding: Coding,
        account: Account,
        beside: tuple[float, ...] = (),
        *,
        judged: Protected,
        apart: Release | None = None,
    ) -> Release:
        """account: what it is to leave in the ledger; beside: what other data sets of the request carry over
        judged: those of its records that were protected, where others leave as they are
        apart: that of the columns which another method drew, to leave with these"""
        taken = [name for name in done.labels if name in (*rows.kinds, *rows.behind)]
        if taken:
            raise UsageError(
                f"{method.name} makes a column {taken[0]!r} and the data have one.\nRename that of the data."
            )
        own = done.outgoing.roles.leaving
        names = (*(name for name in rows.kinds if name in (*own, *done.others)), *done.labels)
        held, order = rows.held or done.drawn is not None, done.order()
        places = order if judged is done else judged.order()
        here = tuple(name for name in names if name not in done.others)
        assessment = assess(judged, method, seed, here, places, account, beside, coding.dates)
        state: dict[str, Any] = {}
        if done.drawn is not None:
            drawn = {**coding.decoded(done.drawn.columns), **done.drawn.beside}
            state["frame"] = rows.frame(names, drawn, done.drawn.places)
        elif rows.held and order is not None:
            state["frame"] = rows.frame(names, coding.decoded(moved(done, order)), order)
        findings = judge(assessment, accept)
        if apart is not None:
            findings, method = _gravest_of((findings, apart.findings)), ByColumns((apart.method, method))
        encoding = data.encoding if isinstance(data, EncodedFile) else None
        attestation = Attestation(rows, done, method, assessment, limits, encoding)
        known = assessment, findings, names, account, accept
        release = cls(data, rows, done, method, seed, *known, attestation, coding, state)
        if held:
            shown = release._table() if isinstance(release.frame, np.ndarray) else release.frame
            back = coding.encoded(MemoryRows(shown, rows.threads))
            state["certificate"] = attestation.certificate(back, "the released rows", release._accepted)
        return release

    @classmethod
    def _together(cls, sets: Sequence[Release], stream: Stream) -> Release:
        """Several data sets as one release: what any of them shows is found, once a rule, at its gravest."""
        first = sets[0]
        done, findings = replace(first.done, stream=stream), _gravest_of(release.findings for release in sets)
        return replace(first, done=done, findings=findings, sets=tuple(sets), _state={})

    @property
    def _accepted(self) -> dict[str, str]:
        return {finding.rule: finding.accepted for finding in self.findings if finding.accepted}

    @property
    def unlucky(self) -> bool:
        """Whether nothing stops the release but a few records with their own values: other numbers may have none."""
        stops, risk = {finding.rule for finding in self.findings if finding.blocks}, self.assessment
        return bool(stops) and stops <= {"copies", "unmoved-records"} and max(risk.copies, risk.unmoved) <= FEW

    @property
    def design(self) -> Design:
        return self.done.design

    @property
    def frames(self) -> tuple[Any, ...]:
        """The data sets of the release, each exactly as `write` writes it."""
        return tuple(release.frame for release in self.sets or (self,))

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """Of every data set what of it stands in the certificate."""
        return tuple(release.certificate for release in self.sets or (self,))

    def _alone(self) -> None:
        if self.sets:
            raise UsageError(f"The release has {len(self.sets)} data sets: use release.frames.")

    @property
    def frame(self) -> Any:
        """Exactly what `write` writes: shuffled, without index and identifiers, the kind of frame that came in."""
        self._alone()
        if "frame" not in self._state:
            size = self.rows.n * len(self.columns) * 8
            if size > LARGEST:
                raise UsageError(
                    f"The release has {self.rows.n} rows x {len(self.columns)} columns: over {LARGEST // 2**20} MB.\n"
                    "Write it to a file instead: release.write(path)."
                )
            with one_blas_thread():
                self._state["frame"] = pa.concat_tables(self._delivered(None))
        return self._state["frame"]

    def aligned(self) -> Any:
        """NOT FOR RELEASE: the released values in the original order of rows, for research."""
        if self.done.drawn is not None:
            raise UsageError(f"{self.method.name} draws new records: none of them stands for one of the original.")
        self._alone()
        with one_blas_thread():
            order = np.arange(self.rows.n)
            return self.rows.frame(self.columns, self.coding.decoded(moved(self.done, order)), order)

    def assess(
        self,
        holdout: Any = None,
        measures: Sequence[str] | str | None = None,
        *,
        analyses: Sequence[str] | str = (),
        where: str | None = None,
    ) -> Scores:
        """NOT FOR RELEASE: what it gives away and what it is good for, before it is written: see `suffice.assess`.

        It is known here which released record is whose, unless the method draws new ones.
        """
        from suffice.release.assess import of_release  # all measures, where they are wanted

        return of_release(self, holdout, measures, analyses, where)

    @property
    def certificate(self) -> Certificate:
        """Recomputed from the released rows; after `write`, from the file. Several data sets have one together."""
        if self.sets:
            return Certificate.together(self.certificates)
        if "certificate" not in self._state:
            with one_blas_thread():
                said = "the released rows, as they will be written"
                self._state["certificate"] = self.attestation.certificate(None, said, self._accepted)
        certificate: Certificate = self._state["certificate"]
        return certificate

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        force: bool = False,
        report: str | os.PathLike[str] | None = None,
        among: Surroundings | None = None,
        progress: Progress | bool | None = None,
    ) -> Certificate:
        """Write the release with its certificate, and certify the file as it is read back, before it has a name.

        The certificate is out.parquet.certificate.json, for programs, and .html, for people. All files are complete
        before the first has its name, and the release has its name last: what fails on the way leaves everything as it
        was. Several data sets become out-1.parquet, out-2.parquet and so on; their one certificate, which lists all,
        lies beside the first.

        path: .parquet, .csv, .tsv, .feather, .arrow, .sav, .dta or .xpt.
        force: overwrite existing files; never the data, the key or its ledger.
        report: a private page for the data holder, written with it; among: methods beside it there. See `report`.
        """
        enforce(self.findings)
        kind, sets = write_kind(path), self.sets or (self,)
        places = Places.of(path, report, len(self.sets))
        keep_apart(places.labelled, kept_files(self.data, self.method, self.seed.path))
        if progress is not None:
            for release in sets:
                release.rows.progress = listener(progress)
        with one_blas_thread(), ExitStack() as stack:
            drafts = places.drafts(force, stack)
            paper, page, *others = drafts  # in the order of `places.labelled`: the releases last
            own, files = others[: -len(sets)], others[-len(sets) :]
            found = [release._drafted(draft, kind) for release, draft in zip(sets, files, strict=True)]
            one = Certificate.together(found) if self.sets else found[0]
            paper.write(one.to_json().encode())
            page.write(public.page(one).encode())
            if own:
                from suffice.release.private import private_page  # histograms and pictures, where they are wanted

                own[0].write(private_page(self, one, among).encode())
            for draft in drafts:
                draft.settle()
            if self.account.ledger is not None:
                stack.enter_context(self.account.ledger.alone())
                self._judge_again()
                self._remember()  # first: after a crash one release too many is known, never one too few
            commit(drafts)
        for release, certificate in zip(sets, found, strict=True):
            release._state["certificate"] = certificate
        return one

    def report(
        self,
        path: str | os.PathLike[str] = "report.html",
        *,
        force: bool = False,
        public: bool = False,
        among: Surroundings | None = None,
    ) -> None:
        """Write a page for the data holder alone: what was kept, findings, risk and utility, every confidential column
        before and after, and the plan that makes the release again.

        force: overwrite an existing file.
        among: a comparison, whose methods the page shows beside this release.
        public: a page for everybody instead: the certificate, and the released columns as the file shows them.
        """
        from suffice.release.private import private_page, public_page

        target = path_of(path)
        keep_apart([("the report", target)], kept_files(self.data, self.method, self.seed.path))
        if public:
            enforce(self.findings)
        with one_blas_thread(), Draft(target, force, 0o666 if public else PRIVATE) as draft:
            told = self.certificate
            draft.write((public_page(self, told) if public else private_page(self, told, among)).encode())
            draft.settle()
            commit([draft])

    def _drafted(self, draft: Draft, kind: str) -> Certificate:
        """The certificate of one data set, whose rows are written and checked, and not yet under their name."""
        form = Format.like(self.data, draft.target)
        schema = self._write_rows(draft.path, form, str(draft.target.parent))
        with failing("The release cannot be read back"):
            needed = (*self.done.outgoing.columns, *self.done.others, *self.done.labels)
            back = read_back(draft.path, form, pa.schema([schema.field(n) for n in needed]), self.rows.threads)
            digest = digest_of(draft.path)
        name, seen = draft.target.name, self.coding.encoded(back)
        certificate = self.attestation.certificate(seen, f"the written {kind} file", self._accepted, name, digest)
        if not certificate.holds:
            raise NotPreservedError(f"The certificate does not hold; nothing was written.\n{certificate.text()}")
        return certificate

    def _write_rows(self, path: str, form: Format, folder: str) -> Any:
        """Writes all rows, and gives back their schema."""
        with failing("The release cannot be written"):
            schema = self._written(path, form, folder)
        if schema is None:
            raise FileError(
                f"The release cannot be written as {form.kind}: the type of a column is not allowed there.\n"
                "Write Parquet, or leave the column out."
            )
        return schema

    def _written(self, path: str, form: Format, folder: str) -> Any | None:
        """None where Arrow cannot write: its errors quote cells, so they end here."""
        schema = None
        try:
            writer = Writer(path, form)
            for table in [self._table()] if "frame" in self._state else self._delivered(folder):
                writer.write(table)
                schema = table.schema
            writer.close()
        except MemoryError:
            raise
        except pa.ArrowException:
            return None
        return schema

    def _delivered(self, folder: str | None) -> Iterator[pa.Table]:
        return map(self.coding.restored, delivered(self.done, self.columns, folder))

    def _table(self) -> pa.Table:
        return as_table(self.frame, self.columns)

    def _judge_again(self) -> None:
        """What others have released since, or another release that was protected at the same time, counts too."""
        for release in self.sets or (self,):
            risk, ledger = release.assessment, self.account.ledger
            assert ledger is not None
            if len(ledger.others(self.account.entry.release)) != risk.history.entries:
                enforce(judge(assessed_again(risk, release.done, self.account), self.accept))

    def _remember(self) -> None:
        risk, ledger = self.assessment, self.account.ledger
        assert ledger is not None
        r = sum(information(release.assessment.reach) for release in self.sets or (self,))
        reach = risk.reach if not self.sets else (r / (1 + r)) ** 0.5 if r < float("inf") else 1.0
        entry = replace(self.account.entry, reach=reach, sets=max(len(self.sets), 1))
        ledger.add(replace(entry, accepted=self._accepted, rank=risk.freedom.rank))

    def exhibit(self) -> dict[str, Any]:
        known: Certificate | None = self._state.get("certificate")  # that of a file takes a pass
        told = {"certificate": known.as_dict(), "private": known.private} if known else {}
        return {"title": repr(self), "findings": self.findings, **told}

    def __repr__(self) -> str:
        state = "blocked" if any(finding.blocks for finding in self.findings) else "free to be written"
        n = count_of(self.rows.n if self.done.drawn is None else self.done.drawn.n, "row")
        many = f"{len(self.sets)} x " if self.sets else ""
        return f"Release({many}{n} x {count_of(len(self.columns), 'column')}, {self.method.name}, {state})"


def _gravest_of(parts: Iterable[Findings]) -> Findings:
    """What any of them has found, once a rule, at its gravest."""
    worst: dict[str, Finding] = {}
    for finding in (each for findings in parts for each in findings):
        if finding.rule not in worst or not worst[finding.rule].graver(finding):
            worst[finding.rule] = finding
    return gravest(worst.values())


def moved(done: Protected, places: NDArray[np.int64]) -> dict[str, Any]:
    """The columns that were made, in another order."""
    columns = [*done.design.confidential, *done.others, *done.labels]
    held = done.leaving.gather(columns)

    def taken(name: str) -> Any:
        column = held[name]  # places are those of rows: to look at each first takes as long as to take it
        return np.take(column, places, mode="clip") if isinstance(column, np.ndarray) else column.take(places)

    return dict(zip(columns, done.rows.ahead(taken, columns), strict=True))
