"""protect(): from a confidential file to a release with its findings and its certificate."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.certificate.certificate import Certificate
from suffice.design.design import Design
from suffice.design.limits import Limits
from suffice.design.roles import Roles
from suffice.errors import FileError, NotPreservedError, UsageError, failing
from suffice.files.draft import Draft, commit, refuse_overwriting
from suffice.files.kind import write_kind
from suffice.files.source import named_sources, read_back
from suffice.files.writer import Writer
from suffice.guards.finding import Finding, enforce, judge
from suffice.ledger import Entry, Ledger
from suffice.method.method import Method
from suffice.progress import Progress
from suffice.protection.protected import Protected
from suffice.release.attestation import Attestation
from suffice.release.delivery import delivered
from suffice.risk.assessment import gather
from suffice.risk.facts import Facts
from suffice.rows.memory import MemoryRows, as_table
from suffice.rows.rows import Rows
from suffice.rows.threads import one_blas_thread
from suffice.seed import Seed

LARGEST = 2**30
"""Bytes of a release that `frame` will hold in memory."""


@dataclass(frozen=True, repr=False)
class Release:
    """Protected rows that have not left yet: look at them, at the findings and at the certificate, then write."""

    data: Any
    rows: Rows
    done: Protected
    method: Method
    seed: Seed
    facts: Facts
    findings: tuple[Finding, ...]
    columns: tuple[str, ...]
    keyed: tuple[str, ...]
    attestation: Attestation
    _state: dict[str, Any]

    @classmethod
    def _made(
        cls,
        data: Any,
        rows: Rows,
        done: Protected,
        method: Method,
        seed: Seed,
        accept: Mapping[str, str],
        keyed: tuple[str, ...],
        limits: Limits | None,
    ) -> Release:
        taken = [name for name in done.labels if name in (*rows.kinds, *rows.behind)]
        if taken:
            raise UsageError(
                f"{method.name} makes a column {taken[0]!r} and the data have one.\nRename that of the data."
            )
        names = (*(name for name in rows.kinds if name in _leaving(done.outgoing.roles)), *done.labels)
        held, order = rows.held or done.drawn is not None, done.order()
        facts = gather(done, method, seed, names, order, Ledger.beside(seed), keyed)
        state: dict[str, Any] = {} if done.drawn is None else {"frame": done.drawn.frame}
        if rows.held and done.drawn is None and order is not None:
            state["frame"] = rows.frame(names, moved(done, order), order)
        findings = judge(facts, accept)
        attestation = Attestation(rows, done, method, facts, limits)
        release = cls(data, rows, done, method, seed, facts, findings, names, keyed, attestation, state)
        if held:
            shown = release._table() if isinstance(release.frame, np.ndarray) else release.frame
            state["certificate"] = attestation.certificate(MemoryRows(shown, rows.threads), "the released rows")
        return release

    @property
    def design(self) -> Design:
        return self.done.design

    @property
    def frame(self) -> Any:
        """Exactly what `write` writes: shuffled, without index and identifiers, the kind of frame that came in."""
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
        with one_blas_thread():
            order = np.arange(self.rows.n)
            return self.rows.frame(self.columns, moved(self.done, order), order)

    @property
    def certificate(self) -> Certificate:
        """Recomputed from the released rows; after `write`, from the file."""
        if "certificate" not in self._state:
            with one_blas_thread():
                said = "the released rows, as they will be written"
                self._state["certificate"] = self.attestation.certificate(None, said)
        certificate: Certificate = self._state["certificate"]
        return certificate

    def write(
        self, path: str | os.PathLike[str], *, force: bool = False, progress: Progress | None = None
    ) -> Certificate:
        """Write the release and, beside it, its certificate; the file is certified as read back, before it has a name.

        path: .parquet, .csv, .tsv, .feather, .arrow, .sav, .dta or .xpt.
        force: overwrite an existing file.
        """
        enforce(self.findings)
        target, kind = Path(path), write_kind(path)
        refuse_overwriting(target, self._sources())
        if progress is not None:
            self.rows.progress = progress
        beside = certificate_path(target)
        with one_blas_thread(), Draft(target, force) as draft, Draft(beside, True) as paper:
            schema = self._write_rows(draft.path, kind, str(target.parent))
            with failing("The release cannot be read back"):
                needed = (*self.done.outgoing.columns, *self.done.labels)
                back = read_back(draft.path, kind, pa.schema([schema.field(n) for n in needed]), self.rows.threads)
            certificate = self.attestation.certificate(back, f"the written {kind} file")
            if not certificate.holds:
                raise NotPreservedError(f"The certificate does not hold; nothing was written.\n{certificate.text()}")
            paper.write(certificate.to_json().encode())
            self._remember()  # first: after a crash one release too many is known, never one too few
            commit(draft, paper, stale=(beside, beside.with_suffix(".html")))
        self._state["certificate"] = certificate
        return certificate

    def _write_rows(self, path: str, kind: str, folder: str) -> Any:
        """Writes all rows, and gives back their schema."""
        with failing("The release cannot be written"):
            schema = self._written(path, kind, folder)
        if schema is None:
            raise FileError(
                f"The release cannot be written as {kind}: the type of a column is not allowed there.\n"
                "Write Parquet, or leave the column out."
            )
        return schema

    def _written(self, path: str, kind: str, folder: str) -> Any | None:
        """None where Arrow cannot write: its errors quote cells, so they end here."""
        schema = None
        try:
            writer = Writer(path, kind)
            for table in [self._table()] if "frame" in self._state else self._delivered(folder):
                writer.write(table)
                schema = table.schema
            writer.close()
        except pa.ArrowException:
            return None
        return schema

    def _sources(self) -> list[Path]:
        """Files that a release never replaces: the data, what is beside them, the key and its ledger."""
        key, ledger = self.seed.path, Ledger.beside(self.seed)
        secret = [] if key is None or ledger is None else [key, ledger.path]
        return [*named_sources(self.data), *named_sources(self.method.companion), *secret]

    def _delivered(self, folder: str | None) -> Iterator[pa.Table]:
        return delivered(self.done, self.columns, folder)

    def _table(self) -> pa.Table:
        return as_table(self.frame, self.columns)

    def _remember(self) -> None:
        ledger = Ledger.beside(self.seed)
        if ledger is not None:
            design = self.design
            name = self.done.stream.digest()
            ledger.add(Entry.now(self.method.name, tuple(design.terms), self.facts.reach, self.keyed, name))

    def __repr__(self) -> str:
        state = "blocked" if any(finding.blocks for finding in self.findings) else "free to be written"
        n = self.rows.n if self.done.drawn is None else self.done.drawn.n
        return f"Release({n} rows x {len(self.columns)} columns, {self.method.name}, {state})"


def moved(done: Protected, places: NDArray[np.int64]) -> dict[str, Any]:
    """The columns that were made, in another order."""
    columns = [*done.design.confidential, *done.labels]
    held = done.leaving.gather(columns)
    return dict(zip(columns, done.rows.ahead(lambda name: held[name].take(places), columns), strict=True))


def certificate_path(target: Path) -> Path:
    return target.with_name(target.name + ".certificate.json")


def _leaving(roles: Roles) -> set[str]:
    return {*roles.columns} - {*roles.identifiers}
