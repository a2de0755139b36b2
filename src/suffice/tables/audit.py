"""What an attacker can compute of a table with gaps, against what was to be kept from him."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from suffice.algebra.array import Array, Flags
from suffice.errors import count_of
from suffice.progress import Progress
from suffice.rows.threads import one_blas_thread
from suffice.tables.secret import EXPOSED, PROTECTED, UNJUDGED, Secret
from suffice.tables.sensitivity import Sensitivity, value_of
from suffice.tables.table import Table


@dataclass(frozen=True, repr=False)  # no value of a cell is printed
class Audit:
    """The verdict on every sensitive cell, every sum of suppressed cells, and again for each insider.

    unjudged: what could not be looked at, in sentences; it is never called safe
    """

    table: Table
    value: str
    suppressed: Flags
    targets: tuple[Secret, ...]
    unjudged: tuple[str, ...] = ()

    @property
    def exposed(self) -> tuple[Secret, ...]:
        return tuple(target for target in self.targets if target.verdict == EXPOSED)

    @property
    def holds(self) -> bool:
        """Whether all was judged and nothing is exposed."""
        return not self.unjudged and all(target.verdict == PROTECTED for target in self.targets)

    @property
    def verdict(self) -> str:
        return "HOLDS" if self.holds else "DOES NOT HOLD" if self.exposed else "NOT JUDGED IN FULL, so not called safe"

    def text(self) -> str:
        """The verdict in words: names of cells and numbers of them, no value."""
        lines = [f"{count_of(int(self.suppressed.sum()), 'suppressed cell')} of {int((~self.table.hidden).sum()):,}"]
        for what, some in self._kinds():
            bad = sum(target.verdict == EXPOSED for target in some)
            open_ = sum(target.verdict == UNJUDGED for target in some)
            lines.append(f"{what}: {bad:,} exposed, {len(some) - bad - open_:,} protected, {open_:,} not judged")
        counted = [t for t in self.targets if t.numbers is not None and t.insider is None and not t.is_sum]
        if counted:
            few = [sum(t.numbers == k for t in counted) for k in (1, 2)]
            lines.append(f"of {len(counted):,} counts {few[0]:,} have one possible whole number, {few[1]:,} have two")
        lines += [f"  exposed: {self.label(target)}" for target in self.exposed[:20]]
        lines += [f"  and {len(self.exposed) - 20:,} more"] if len(self.exposed) > 20 else []
        lines += [f"  not judged: {sentence}" for sentence in self.unjudged]
        return "\n".join([*lines, f"audit: {self.verdict}"])

    def document(self) -> dict[str, Any]:
        """The verdict for JSON: how many, and which cells; no value."""
        return {
            "holds": self.holds,
            "value": self.value,
            "suppressed": int(self.suppressed.sum()),
            "kinds": {
                what: {verdict: sum(t.verdict == verdict for t in some) for verdict in (EXPOSED, PROTECTED, UNJUDGED)}
                for what, some in self._kinds()
            },
            "exposed": [self.label(target) for target in self.exposed],
            "unjudged": list(self.unjudged),
        }

    def frame(self) -> dict[str, list[Any]]:
        """Columns for the frame of the table: what was computed of single cells, by anybody."""
        size = len(self.table)
        found: dict[str, list[Any]] = {
            "suppressed": self.suppressed.tolist(),
            "low": [None] * size,
            "high": [None] * size,
        }
        found |= {"numbers": [None] * size, "verdict": [""] * size}
        for target in self.targets:
            if target.insider is None and not target.is_sum:
                (cell, _), ends = target.cells[0], {"low": target.low, "high": target.high}
                for name, each in {**ends, "numbers": target.numbers, "verdict": target.verdict}.items():
                    found[name][cell] = each
        return found

    def _kinds(self) -> Iterator[tuple[str, list[Secret]]]:
        outside = [target for target in self.targets if target.insider is None]
        yield "sensitive cells", [target for target in outside if not target.is_sum]
        yield "sums of suppressed cells", [target for target in outside if target.is_sum]
        yield "cells and sums before insiders", [target for target in self.targets if target.insider is not None]

    def label(self, target: Secret) -> str:
        """A target in words."""
        first = self.table.label(target.cells[0][0])
        name = f"the sum of {len(target.cells)} cells with {first}" if target.is_sum else first
        return name + (", for a contributor of suppressed cells" if target.insider is not None else "")


@one_blas_thread()
def audit(
    table: Table,
    suppressed: Sequence[bool] | Flags,
    sensitivity: Sensitivity | None = None,
    value: str | None = None,
    *,
    beforehand: float | tuple[Array, Array] | None = None,
    exact: bool = False,
    threads: int | None = None,
    points: Sequence[Array] = (),
    hasty: bool = False,
    progress: Progress | None = None,
) -> Audit:
    """What can be computed of the suppressed cells, by anybody and by those who contribute to them.

    sensitivity: which cells, by which rules; without it all suppressed cells are looked at, none is called protected
    beforehand: the share of its value within which everybody knows each cell, or bounds below and above by cell; else
        that none is negative, if so
    exact: all intervals to their ends, not only as far as the verdict needs
    points: tables that somebody holds to be possible: those that are spare the solver work
    hasty: insiders are looked at until the first exposed target, if any

    >>> table = Table.of_records({"a": list("xxyy"), "b": list("uvuv"), "v": [1, 2, 3, 4]}, ["a", "b"], ["v"])
    >>> gaps = [cell == table.find("x", "u") for cell in range(len(table))]
    >>> target, = audit(table, gaps, value="v").targets
    >>> target.low, target.high, target.verdict
    (1.0, 1.0, 'exposed')
    """
    from suffice.tables.auditor import Auditor

    name = value_of(table, value if sensitivity is None else sensitivity.value)
    how = {"beforehand": beforehand, "exact": exact, "threads": threads, "progress": progress}
    return Auditor(table, sensitivity, name, **how).of(suppressed, points, hasty)  # type: ignore[arg-type]
