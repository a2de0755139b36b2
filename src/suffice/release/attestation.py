"""What the certificate of a release says: every promise recomputed, at every level, and what its reader must know."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property

import numpy as np

from suffice.algebra.moments import Spread
from suffice.certificate.certificate import Certificate, certify, in_order
from suffice.certificate.comparands import Comparands
from suffice.certificate.regressions import Regressions
from suffice.design.bounds import OBSERVED, by_column, observed
from suffice.design.design import Design
from suffice.design.limits import Limits
from suffice.errors import count_of
from suffice.method.method import Method
from suffice.protection.protected import Protected
from suffice.risk.assessment import Assessment
from suffice.rows.rows import Rows
from suffice.statistics.comparison import compared
from suffice.statistics.domain import WHOLE, Domain
from suffice.statistics.promise import COMPARED
from suffice.statistics.standing import WHOLE_FILE
from suffice.statistics.statistic import Promise
from suffice.statistics.sums import Reference
from suffice.statistics.table import CountTable
from suffice.statistics.whole_numbers import WholeNumbers

ALL = "the confidential columns"
UNCHANGED = ": released unchanged, its relations to other columns"


@dataclass(frozen=True, repr=False)
class Attestation:
    """A release and its original, compared."""

    rows: Rows
    done: Protected
    method: Method
    assessment: Assessment
    limits: Limits | None
    encoding: str | None = None
    """Of the data's text, where that is not UTF-8."""

    @property
    def design(self) -> Design:
        return self.done.design

    def certificate(
        self, rows: Rows | None, source: str, accepted: Mapping[str, str], file: str = "", digest: str = ""
    ) -> Certificate:
        """Recomputed from the rows that leave; None: as they will be written.

        source: what the rows are, in words
        accepted: rules of findings, each with the reason for which it was accepted
        file, digest: the name of the file that was written, and its SHA-256
        """
        leaving, promises = self.done.leaving if rows is None else rows, self._promises()
        found = certify(
            compared(self._reference, leaving, promises),
            promises,
            terms=self.design.terms,
            method=self.method.name,
            source=source,
            notes=self._notes(),
            private=self._private_notes(),
            not_promised=(*self._apart(), *(f"{name}{UNCHANGED}" for name in self.design.roles.keep)),
        )
        others = tuple(self.done.others)
        known = self.rows.coding
        unsigned = (*known.levels, *known.dates) if known else ()  # their numbers are places, or count from anywhere
        words = (name for name in others if name in unsigned)
        confidential = (*words, *self.design.confidential)  # else by their moments
        roles = replace(self.design.roles, confidential=confidential)
        options = [*roles.options("verify"), *(["--encoding", self.encoding] if self.encoding else [])]
        by = ((), tuple(self.design.roles.groups))
        kept = {each.name for each in promises if each.domain.by in by}
        asks = {"covariance"} if self.done.drawn is not None else {"covariance", "fit"}  # what any two files are asked
        tables = [each.kept.of for each in promises if isinstance(each.kept, CountTable) and each.domain.whole]
        levels = [
            name for each in promises if each.name == "mean" for name in confidential if each.domain.by == (name,)
        ]
        named = Comparands(tuple(name for name in COMPARED if name in kept), tuple(tables), tuple(levels)).written()
        options += [] if asks <= kept and not (others or tables) else ["--keeps", ",".join(named)]
        about = self.method.about(self.design)
        if not about and self.done.drawn is not None:  # another number of records, and what of it is the original's own
            exact = [name for name in ("mean", "covariance") if name in kept]
            about = {"kind": "full", "m": None, "proper": False, "exact": exact, "two_stage": None}
        if about and found.rows != self.rows.n:  # variances are then those of another number of records
            about |= {"records": self.rows.n}
        return replace(
            found,
            confidential=(*others, *found.confidential),
            claims=tuple(replace(claim, sentence=self._of_numbers(claim.sentence)) for claim in found.claims),
            not_promised=tuple(map(self._of_numbers, found.not_promised)),
            synthesis=about,
            negative={name: cells for name, cells in found.negative.items() if name not in unsigned},
            accepted={rule: " ".join(reason.split()) for rule, reason in accepted.items()},
            verify=shlex.join(["suffice", "verify", "ORIGINAL", file or "RELEASE", *options]) if named else "",
            file=file,
            digest=digest,
            date=datetime.now(UTC).date().isoformat() if file else "",
        )

    def _apart(self) -> list[str]:
        """Of columns that were drawn apart from the numbers, what joins both: the given columns, and no more."""
        drawn, numbers = ", ".join(self.done.others), ", ".join(self.design.confidential)
        terms = " + ".join(self.design.terms)
        joined = f"more than {terms}, and the tables above, carry over" if terms else "anything"
        return [f"{numbers} in the levels of {drawn}: {joined}"] if drawn else []

    def _of_numbers(self, sentence: str) -> str:
        """Where others were drawn, moments are those of the numbers alone."""
        return sentence.replace(ALL, _some(self.design.confidential)) if self.done.others else sentence

    def regressions(self) -> Regressions | None:
        """On the given columns, before and after; None where the method does not keep them, or records are new."""
        if self.done.drawn is not None or not any(
            each.name == "fit" and each.domain.whole for each in self._promises()
        ):
            return None
        return Regressions.of(compared(self._reference, self.done.leaving, ()).pair)

    @cached_property
    def _reference(self) -> Reference:
        """The original, which is looked at once; some of it was while it was protected."""
        done, design = self.done, self.done.design
        return Reference(
            done.marked,
            design,
            done.outgoing,
            done.centre,
            done.profile.spread.size[: design.m + design.k],
            self.limits,
            redrawn=done.drawn is not None,
            known={} if done.original is None else {WHOLE_FILE: done.original},
        )

    def _promises(self) -> tuple[Promise, ...]:
        """Those of the method; after rounding, or where groups have no exact share, most are reached and no more."""
        drawn, rounded = self.done.drawn, bool(self.design.roles.integer)
        overall = not rounded and (drawn is None or drawn.proportional)
        kept = [
            replace(promise, exact=overall if promise.domain.whole else not rounded)
            for promise in self.method.promises(self.design)
            if overall or promise.name != "limits"
        ]
        more = [] if overall else [Promise("limits")]
        roles = self.design.roles
        stays = roles.terms.columns or roles.keep or roles.groups or roles.labels or roles.weight
        return in_order([*kept, *more, *self._whole_numbers(kept)], redrawn=drawn is not None or not stays)

    def _whole_numbers(self, kept: Sequence[Promise]) -> list[Promise]:
        """Totals of the file and of its groups are integers that stay, where plain means are kept."""
        roles = self.design.roles
        if not roles.integer:
            return []
        plain = self.done.drawn is None and roles.weight is None
        groups = Domain.by_columns(tuple(roles.groups), roles.missing == "patterns")
        means = {promise.domain for promise in kept if plain and promise.name == "mean"}
        within = [Promise(WholeNumbers(totals=True), groups)] if groups in means and not groups.whole else []
        return [Promise(WholeNumbers(totals=WHOLE in means)), *within]

    def _notes(self) -> tuple[str, ...]:
        design, constant = self.design, self.assessment.explained.constant
        drawn = self.done.drawn
        notes = [*(() if drawn is None else drawn.notes), self._ranks(), *design.notes, *self.rows.notes]
        made = {stratum.makes for stratum in self.done.strata}
        if "" not in made:  # groups that differ: some components of some records are their own
            notes += [f"the release is {made.pop() if len(made) == 1 else 'hybrid'} data"]
        if not design.intercept:
            notes += ["no intercept in the span of the given columns: means are not promised, second moments are raw"]
        counted = running_numbers(self.rows, design, self.done.profile.spread)
        if counted:
            notes += [f"{_some(counted)} is a running number: if it tells records apart, name it in identifiers"]
        if constant:
            notes += [f"constant, kept as they are: {_some(constant)}"]
        notes += self._shapes()
        if unweighted := self.assessment.weights.unweighted:
            notes += [f"{count_of(unweighted, 'record')} of weight zero: protected, and counted in no statistic"]
        named = design.roles.dropped((*self.rows.kinds, *self.rows.behind)), design.roles.columns
        leaving = {*design.roles.leaving, *self.done.others}
        dropped = [n for names in named for n in names if n not in leaving]
        if dropped:
            notes += [f"columns dropped: {_some(dropped)}"]
        if design.roles.keep:
            notes += [f"columns released unchanged: {_some(design.roles.keep)}"]
        return tuple(notes)

    def _ranks(self) -> str:
        design, strata = self.design, self.done.strata
        if len(strata) > 1:
            ranks = [stratum.rank for stratum in strata]
            span = f"{min(ranks)}" if min(ranks) == max(ranks) else f"{min(ranks)} to {max(ranks)}"
            return f"independent columns of X: {span} of {design.width} in each of {len(strata)} groups"
        lost = [name for j, name in enumerate(design.names) if j not in strata[0].pivots]
        said = f"independent columns of X: {strata[0].rank} of {design.width}"
        return said + (f" (dependent: {_some(lost)})" if lost else "")

    def _private_notes(self) -> tuple[str, ...]:
        if self.done.drawn is not None:  # a record that stands for none correlates with none
            return self.done.remarks
        pairs = zip(self.design.confidential, self.assessment.resemblance.correlations, strict=True)
        reached = ", ".join(f"{name} {value:.3f}" for name, value in pairs)
        return (*self.done.remarks, *self._signs(), f"residual correlation with the original: {reached}")

    def _signs(self) -> list[str]:
        """Which columns observed-sign binds, and why not the others."""
        bounds = self.design.roles.bounds
        if not observed(bounds):
            return []
        cells_of = zip(self.design.confidential, self.done.seen["signs"].table[0].tolist(), strict=True)
        negative = {name: cells for name, cells in cells_of if name not in by_column(bounds)}
        bound = [name for name, cells in negative.items() if not cells]
        free = [f"{name} ({cells:,})" for name, cells in negative.items() if cells]
        said = [f"{OBSERVED}: at least 0 in {_some(bound)}"] if bound else [f"{OBSERVED} binds no column"]
        return [f"{said[0]}; free, since they have negative values: {_some(free)}" if free else said[0]]

    def _shapes(self) -> list[str]:
        """Public: which columns have kept their shape, and no number."""
        lost = [name for name, shape in self.assessment.shapes.items() if shape.lost]
        return [f"shape not kept: {_some(lost)}"] if lost else ["shape kept"] * bool(self.assessment.shapes)


def _some(names: Sequence[str], most: int = 12) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def running_numbers(rows: Rows, design: Design, spread: Spread) -> list[str]:
    """Columns of whole numbers that count the records: range, mean and variance of n numbers in a row."""
    n = rows.n
    if design.roles.weight is not None:
        return []
    squares = n * (n**2 - 1) / 12
    counted = (spread.high - spread.low == n - 1) & (np.abs(spread.squares - squares) <= 1e-9 * squares)
    names = zip((*design.names, *design.confidential), counted, strict=False)
    return [name for name, is_counted in names if is_counted and rows.kinds.get(name) == "integer"]
