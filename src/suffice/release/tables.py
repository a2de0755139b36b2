"""publish(): from a table with suppressed cells to a release with its findings and its certificate."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from suffice.algebra.array import Array, Flags
from suffice.catalogue import build_table_method
from suffice.certificate.tables import CHANGED, NOT_PROMISED, TableCertificate, certify_cells
from suffice.errors import NotPreservedError, UsageError, count_of, failing, path_of
from suffice.files.draft import Draft, Labelled, commit, keep_apart
from suffice.files.format import Format
from suffice.files.kind import write_kind
from suffice.files.source import digest_of, read_back
from suffice.files.writer import write_table
from suffice.guards.finding import Findings, check_accepted, enforce, judge
from suffice.guards.tables import TABLE_GUARDS
from suffice.ledger import Entry, Ledger
from suffice.progress import Progress, listener
from suffice.release.places import PRIVATE, Places
from suffice.release.table_picture import pictures_of
from suffice.report import public
from suffice.report.exhibit import Exhibit
from suffice.report.tables import TablePicture, private_table
from suffice.risk.tables import CellMemory, FormerTable, TableRisk
from suffice.seed import Seed
from suffice.statistics.statistic import Claim
from suffice.tables.audit import Audit, audit
from suffice.tables.cellfiles import check_name, of_one_value, write_cells
from suffice.tables.pattern import known_ends
from suffice.tables.publication import MARK, CellsOfFile, Publication, TableMethod
from suffice.tables.sdmx import named_sdmx, sdmx_release
from suffice.tables.sensitivity import Sensitivity, value_of
from suffice.tables.table import Table


@dataclass(frozen=True, repr=False)
class TableRelease(Exhibit):
    """A table that has not left yet: look at it, at the findings and at the certificate, then write."""

    made: Publication
    method: TableMethod
    seed: Seed
    audits: Mapping[str, Audit | None]
    sensitivity: Mapping[str, Sensitivity]
    accept: Mapping[str, str]
    findings: Findings
    sources: tuple[Path, ...]
    _state: dict[str, Any]
    sets: tuple[TableRelease, ...] = ()
    beforehand: float | tuple[Array, Array] | None = None
    pattern: Path | None = None
    encoding: str | None = None

    @property
    def frame(self) -> pa.Table:
        """Exactly what `write` writes."""
        return self.made.frame

    @property
    def certificate(self) -> TableCertificate:
        """Recomputed from the released cells; after `write`, from the file."""
        if "certificate" not in self._state:
            self._state["certificate"] = self._certificate(self.frame, "the released cells")
        found: TableCertificate = self._state["certificate"]
        return found

    @property
    def told(self) -> str:
        """What the method did, for the data holder alone."""
        return self.made.told

    @property
    def certificates(self) -> tuple[TableCertificate, ...]:
        return (self.certificate,)

    @property
    def ledger(self) -> Ledger | None:
        return Ledger.beside(self.seed)

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        force: bool = False,
        report: str | os.PathLike[str] | None = None,
        progress: Progress | bool | None = None,
    ) -> TableCertificate:
        """Write the table with its certificate, and certify the file as it is read back, before it has a name.

        The certificate is out.csv.certificate.json, for programs, and .html, for people, which draws the table.

        path: .csv, .tsv, .parquet, .feather, .arrow, .sav, .dta or .xpt; .sdmx.csv for crosses of one value, with
            OBS_STATUS Q and CONF_STATUS N where a cell is suppressed
        force: overwrite existing files; never the data, the key or its ledger
        report: a private page for the data holder, written with it: see `report`
        """
        enforce(self.findings)
        kind, places, frame = write_kind(path), Places.of(path, report), self._frame_for(path_of(path))
        own_file = [] if self.pattern is None else [("the pattern", self.pattern)]
        keep_apart([*own_file, *places.labelled], self._kept_files)
        with ExitStack() as stack:
            drafts = places.drafts(force, stack)
            paper, page, *own, target = drafts
            write_table(frame, target.path, kind)
            with failing("The release cannot be read back"):
                back = read_back(target.path, Format.plain(kind), frame.schema, 1)
                digest = digest_of(target.path)
            found = self._certificate(back, f"the written {kind} file", target.target.name, digest)
            if not (found.holds or found.answered):
                raise NotPreservedError(f"The certificate does not hold; nothing was written.\n{found.text()}")
            paper.write(found.to_json().encode())
            page.write(public.page(found, self.pictures()).encode())
            for draft in own:
                draft.write(self._page(found).encode())
            drafts = [*self._status(force, stack), *drafts]
            for draft in drafts:
                draft.settle()
            if (ledger := self.ledger) is not None:
                stack.enter_context(ledger.alone())
                enforce(self._judged())  # with what others have released since
                ledger.add(self._entry())
            commit(drafts)
        self._state["certificate"] = found
        return found

    def _frame_for(self, path: Path) -> pa.Table:
        """The file in the columns that its name asks for."""
        if not named_sdmx(path):
            return self.frame
        made = self.made
        if len(made.values) > 1 or made.decimals is not None or made.published is not None:
            raise UsageError(
                "An SDMX file has one value, and no code for numbers that stand for others.\nName it .csv."
            )
        return sdmx_release(made.table, made.values[0], made.suppressed)

    def _status(self, force: bool, stack: ExitStack) -> list[Draft]:
        """The holder's own file of all cells, where one is asked for."""
        if self.pattern is None:
            return []
        name = self.made.values[0] if len(self.made.values) == 1 else None
        given, known = list(self.sensitivity.values()), self.beforehand
        secret = np.any([each.sensitive for each in given], axis=0)
        marks = given[0].frame() | {"sensitive": secret.tolist(), "suppressed": self.made.suppressed.tolist()}
        drafts = write_cells(
            self.made.table,
            marks,
            self.pattern,
            stack,
            value=name,
            beforehand=known if isinstance(known, float) else None,
            encoding=self.encoding,
            force=force,
        )
        keep_apart([("the pattern", draft.target) for draft in drafts], self._kept_files)
        return drafts

    def report(self, path: str | os.PathLike[str] = "report.html", *, force: bool = False) -> None:
        """Write a page for the data holder alone: findings, the table with sensitive and suppressed cells shaded."""
        target = path_of(path)
        keep_apart([("the report", target)], self._kept_files)
        with Draft(target, force, PRIVATE) as draft:
            draft.write(self._page(self.certificate).encode())
            draft.settle()
            commit([draft])

    def pictures(self, private: bool = False) -> tuple[TablePicture, ...]:
        """The table as it is drawn; private: with the original's suppressed cells."""
        made = self.made
        file = CellsOfFile.read(made.table, self.frame, made.values)
        sums = (made.unchanged & ~file.stored)[:, None] & ~np.isnan(made.before)  # as published, not as they add up
        shown = np.where(sums, made.before, file.cells)
        marked = {name: each.sensitive for name, each in self.sensitivity.items()} if private else {}
        return pictures_of(made, shown, private, marked)

    def _page(self, certificate: TableCertificate) -> str:
        audits = [(name, each.text() if each else "not audited") for name, each in self.audits.items()]
        done = [(self.method.name, self.made.told)] if self.made.told else []
        accounts = [("The audit", audits), ("What the method did", done)]
        return private_table(certificate, self.findings, self.pictures(private=True), accounts)

    @property
    def _kept_files(self) -> list[Labelled]:
        found = [("the data", path) for path in self.sources]
        key = self.seed.path
        return found if key is None else [*found, ("the key", key), ("the ledger", Ledger.of(key).path)]

    @property
    def _accepted(self) -> dict[str, str]:
        return {each.rule: " ".join(each.accepted.split()) for each in self.findings if each.accepted}

    def _certificate(self, file: Any, source: str, name: str = "", digest: str = "") -> TableCertificate:
        made, table = self.made, self.made.table
        after = CellsOfFile.read(table, file, made.values)
        dims = tuple(axis.name for axis in table.grid.axes)
        command = ["suffice", "table", "verify", "ORIGINAL", name or "RELEASE"]
        command += ["--dims", ",".join(dims), "--value", ",".join(made.values)]
        command += ["--counts"] if set(made.values) <= table.counts else []
        command += [] if self.method.audited else ["--changed", *made.check]
        totals = [f"{axis.name}={axis.total or ''}" for axis in table.grid.axes if axis.total != "Total"]
        command += ["--total", ",".join(totals)] if totals else []  # one option: the last of several would count
        for axis in table.grid.axes:
            command += ["--hierarchy", f"{axis.name}=FILE"] if len(axis.sums) > 1 else []
        bare = TableCertificate(
            (),
            self.frame.num_rows,
            dims,
            made.values,
            self.method.name,
            source,
            None,
            (),
            NOT_PROMISED if self.method.audited else CHANGED,
            True,
            accepted=self._accepted,
            verify=shlex.join(command),
            file=name,
            digest=digest,
            date=datetime.now(UTC).date().isoformat() if name else "",
            cells=int((~table.hidden).sum()),
            suppressed=int(made.suppressed.sum()),
            equations=table.relations.shape[0],
            about=made.about,
        )
        return certify_cells(made.before, after.cells, made.kept(after), bare, self._protection())

    def _protection(self) -> list[Claim]:
        """What the audit says, and no number of it: how many suppressed cells are sensitive is nobody's matter."""
        if not self.audits:
            return []
        holds = all(each is not None and each.holds for each in self.audits.values())
        said = "audit: what must not be told of suppressed cells cannot be computed, by anybody or by contributors"
        lost, accepted = 0.0 if holds else inf, "audit" in self._accepted
        return [Claim("protection", said, lost, lost, "" if holds else "the audit" + ", accepted" * accepted)]

    @cached_property
    def _memory(self) -> CellMemory:
        return CellMemory.of(self.made, self.seed)

    def _entry(self) -> Entry:
        """One line of the ledger: the same release twice is one release."""
        made, seed = self.made, self.seed
        settings = repr(sorted(self.method.parameters().items()))
        said = "".join(sorted(f"{word}{value}{hidden}" for word, (value, hidden) in self._memory.words.items()))
        cells = [] if self.method.audited else [repr(made.frame[name].to_pylist()) for name in made.values]
        name = seed.digest("table", self.method.name, settings, *made.values, said, *cells)  # changed cells tell apart
        columns = tuple(seed.digest("table column", value, said) for value in made.values)
        entry = Entry.now(self.method.name, (), 0.0, columns, name)
        return replace(entry, accepted=self._accepted, cells=self._memory.sealed(seed))

    def _judged(self) -> Findings:
        """All guards, with what the ledger knows now."""
        formers = list[tuple[str, CellMemory]]()
        if (ledger := self.ledger) is not None:
            for entry in ledger.others(self._entry().release):
                former = CellMemory.opened(entry, self.seed)
                if former is not None and self._memory.of_the_same(former):
                    formers.append((entry.method, former))
        risk = TableRisk.of(self.made, self.method, self.audits, self.seed, ledger is not None, self._together(formers))
        return judge(risk, self.accept, TABLE_GUARDS)

    def _together(self, formers: Sequence[tuple[str, CellMemory]]) -> list[FormerTable]:
        """Earlier releases beside this one: whether the audit holds with all that all of them publish."""
        size = len(self.made.table)
        opened = [self._memory.opened_by(former, size) for _, former in formers]
        holds = True
        for name in self.made.values if opened else ():
            cells = np.any([each[name] for each in opened], axis=0)
            if cells.any():
                rules, gaps = self.sensitivity.get(name), self.made.suppressed & ~cells
                holds &= rules is not None and audit(self.made.table, gaps, rules, beforehand=self.beforehand).holds
        found = list[FormerTable]()
        for (method, former), each in zip(formers, opened, strict=True):
            many, crossed = sum(int(cells.sum()) for cells in each.values()), self._memory.crosses(former)
            found.append(FormerTable(method, many, holds or not many, not method.startswith("adjust"), crossed))
        return found

    def exhibit(self) -> dict[str, Any]:
        return {"title": repr(self), "findings": self.findings, "certificate": self.certificate.as_dict()}

    def __repr__(self) -> str:
        state = "blocked" if any(finding.blocks for finding in self.findings) else "free to be written"
        cells = f"{count_of(len(self.made.table), 'cell')}, {int(self.made.suppressed.sum()):,} suppressed"
        return f"TableRelease({cells}, {self.method.name}, {state})"


def publish(
    table: Table,
    suppressed: Sequence[bool] | Flags,
    sensitivity: Sensitivity | Sequence[Sensitivity] = (),
    values: str | Sequence[str] | None = None,
    *,
    method: TableMethod | str | None = None,
    seed: Seed | None = None,
    accept: Mapping[str, str] | None = None,
    beforehand: float | tuple[Array, Array] | None = None,
    sources: Sequence[str | os.PathLike[str]] = (),
    threads: int | None = None,
    pattern: str | os.PathLike[str] | None = None,
    encoding: str | None = None,
    progress: Progress | bool | None = None,
) -> TableRelease:
    """A table with suppressed cells, audited, judged and certified; nothing has left then.

    sensitivity: by which rules each value is sensitive; a value without is not judged, and stops
    method: `Suppress()`, which leaves crosses, unless told; `Fill()`: decimals. `Suppress(search="auto")` finds what
        must be suppressed besides the sensitive cells
    seed: the key, whose ledger remembers what was published
    accept: findings that would stop it, by rule, each with a reason
    beforehand: as the audit takes it
    sources: files that the release may not replace
    pattern: a file for the holder alone, written with the release: all cells with their status, .csv, .sdmx.csv, .tab
        of tau-ARGUS with its metadata, or .jj; text in `encoding`

    >>> import numpy as np
    >>> from suffice.tables.rules import MinimumFrequency
    >>> from suffice.tables.sensitivity import find_sensitive
    >>> counts = {"a": list("xxxyyyzzz"), "b": list("uvw") * 3, "n": [1, 9, 9, 9, 8, 7, 9, 9, 2]}
    >>> table = Table.of_records(counts, ["a", "b"], frequency="n")
    >>> inner = [table.find(a, b) for a in "xyz" for b in "uvw"]
    >>> gaps = np.isin(np.arange(len(table)), inner)
    >>> publish(table, gaps, find_sensitive(table, [MinimumFrequency(3)]), method="decimals")
    TableRelease(16 cells, 9 suppressed, decimals, free to be written)
    """
    rules = {each.value: each for each in ([sensitivity] if isinstance(sensitivity, Sensitivity) else sensitivity)}
    asked = [values] if isinstance(values, str) else list(values or rules) or [value_of(table, None)]
    names = tuple(value_of(table, name) for name in asked)
    for each in rules.values():
        each.check(table)
    check_accepted(accept or {}, TABLE_GUARDS)
    taken = [axis.name for axis in table.grid.axes if axis.name in (*names, MARK)]
    if taken or MARK in names or len(set(names)) < len(names):
        raise UsageError(f"Dimensions and values need names of their own, none of them {MARK!r}.\nName each once.")
    own = None if pattern is None else path_of(pattern)
    if own is not None:
        check_name(own)
        if not rules or (len(names) > 1 and of_one_value(own)):
            raise UsageError("The pattern needs rules or levels, and such a file has one value.\nName it .csv.")
    gaps = table.gaps(suppressed)
    chosen = method if isinstance(method, TableMethod) else build_table_method(method or "suppress", {})
    key, watch = seed or Seed(), listener(progress)
    found = chosen.pattern(table, gaps, key, rules, beforehand=beforehand, threads=threads, progress=watch)
    gaps = gaps if found is None else found.suppressed
    audits: dict[str, Audit | None] = {
        name: None
        if name not in rules
        else found.audits[name]
        if found is not None
        else audit(table, gaps, rules[name], beforehand=beforehand, threads=threads, progress=watch)
        for name in (names if chosen.audited else ())
    }
    if beforehand is not None and not chosen.audited:
        rules = {name: replace(each, known=known_ends(table, name, beforehand)) for name, each in rules.items()}
    made = chosen.publish(table, gaps, names, key, rules, watch)
    made = made if found is None else replace(made, told=found.text())
    files = tuple(map(Path, sources))
    release = TableRelease(
        made, chosen, key, audits, rules, accept or {}, Findings(), files, {}, (), beforehand, own, encoding
    )
    return replace(release, findings=release._judged())
