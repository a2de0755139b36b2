"""What the certificate of a release says: every promise recomputed, at every level, and what its reader must know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from suffice.algebra.moments import Spread
from suffice.algebra.third_moments import ThirdMoments
from suffice.certificate.certificate import Certificate, certify
from suffice.design.design import Design
from suffice.design.limits import Limits
from suffice.method.method import Method
from suffice.protection.protected import Protected
from suffice.risk.facts import Facts
from suffice.rows.rows import Rows
from suffice.statistics.domain import Domain, DomainStanding, claims
from suffice.statistics.residual_covariance import ResidualStanding
from suffice.statistics.standing import Pair, stand
from suffice.statistics.statistic import Claim
from suffice.statistics.third_moment import third_moments


@dataclass(frozen=True, repr=False)
class Attestation:
    """A release and its original, compared; `known` holds the original's side, which is looked at once."""

    rows: Rows
    done: Protected
    method: Method
    facts: Facts
    limits: Limits | None
    known: dict[str, Any] = field(default_factory=dict)

    @property
    def design(self) -> Design:
        return self.done.design

    def certificate(self, rows: Rows | None, source: str) -> Certificate:
        """Recomputed from the rows that leave; None: as they will be written.

        source: what the rows are, in words
        """
        done, design = self.done, self.done.outgoing
        leaving = done.leaving if rows is None else rows
        size = done.profile.spread.size[: design.m + design.k]
        after, third = stand(leaving, design, done.centre), self._third(leaving)
        pair = Pair.of(done.original, after, size, design, self._broken(rows), third)
        holes, rounded = design.roles.missing == "patterns", bool(design.roles.integer)
        promises = [name for name in self.method.promises if name == "limits" or not holes]
        reached = rounded or not (done.drawn is None or done.drawn.proportional)
        return certify(
            pair,
            ("limits",) if reached else promises,
            reached=[name for name in promises if name != "limits"] if reached else (),
            redrawn=done.drawn is not None,
            levels=self._within(leaving, promised=not rounded),
            terms=design.terms,
            method=self.method.name,
            source=source,
            notes=self._notes(),
            private=self._private_notes(),
            not_promised=tuple(
                f"{name}: released unchanged, its relations to other columns" for name in design.roles.keep
            ),
        )

    def _third(self, rows: Rows) -> tuple[ThirdMoments, ThirdMoments] | None:
        """Third moments of both files, where they are promised; the original's side is looked at once."""
        if "third-moment" not in self.method.promises:
            return None
        if "third" not in self.known:
            self.known["third"] = third_moments(self.done.rows, self.design, self.done.centre)
        return self.known["third"], third_moments(rows, self.design, self.done.centre)

    def _within(self, rows: Rows, promised: bool) -> list[tuple[Claim, ...]]:
        """What is kept in groups; the original's side is looked at once."""
        found, known = [], self.known.setdefault("levels", {})
        for level in self.done.levels:
            if level not in known:
                known[level] = DomainStanding.learn(self.done.marked, self.design, level)
            before = known[level]
            after = replace(before, design=self.done.outgoing).of(rows)
            told = claims(before, after, redrawn=self.done.drawn is not None)
            told = (*told, *self._residuals(level, rows))
            found.append(tuple(replace(claim, promised=promised) for claim in told))
        return found

    def _residuals(self, level: Domain, rows: Rows) -> tuple[Claim, ...]:
        """What is kept of residuals and slopes; the original's side is looked at once."""
        kept = self.method.residuals(self.design)
        if kept is None or level not in kept.levels:
            return ()
        if "residuals" not in self.known:
            self.known["residuals"] = kept.standing(self.done.marked, self.design)
        before: ResidualStanding = self.known["residuals"]
        return before.claims(before.of(rows), level)

    def _broken(self, rows: Rows | None) -> Mapping[str, int] | None:
        """Released records that leave each bound or edit, counted in the rows that leave."""
        if self.limits is None or rows is None:
            return None if self.limits is None else self.facts.broken
        return self.limits.left(rows, self.design)

    def _notes(self) -> tuple[str, ...]:
        design, facts = self.design, self.facts
        drawn = self.done.drawn
        notes = [*(() if drawn is None else drawn.notes), self._ranks(), *design.notes, *self.rows.notes]
        if not design.intercept:
            notes += ["no intercept in the span of the given columns: means are not promised, second moments are raw"]
        counted = running_numbers(self.rows, design, self.done.profile.spread)
        if counted:
            notes += [f"{_some(counted)} is a running number: if it tells records apart, name it in identifiers"]
        if facts.constant:
            notes += [f"constant, kept as they are: {_some(facts.constant)}"]
        if facts.unweighted:
            notes += [f"{facts.unweighted} records have weight zero: they are protected and count in no statistic"]
        dropped = [*design.roles.dropped((*self.rows.kinds, *self.rows.behind)), *design.roles.identifiers]
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
        pairs = zip(self.facts.confidential, self.facts.correlations, strict=True)
        reached = ", ".join(f"{name} {value:.3f}" for name, value in pairs)
        return (*self.done.remarks, f"residual correlation with the original: {reached}")


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
