"""The certificate of a table: every promise recomputed from the cells of two files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from suffice.algebra.array import Array
from suffice.certificate.certificate import Certificate
from suffice.errors import count_of
from suffice.statistics.cells import CellPromise
from suffice.statistics.statistic import Claim

NOT_PROMISED = (
    "numbers in suppressed cells: they are not the original's",
    "sums of suppressed cells that do not follow from published ones",
    "what earlier or other tables of the same records tell together with this one",
    "anything after rounding or editing the released file",
)
CHANGED = ("any single cell: it may be changed", *NOT_PROMISED[2:])
UNPROTECTED = "the audit is not passed, which was accepted with a reason"


@dataclass(frozen=True)
class TableCertificate(Certificate):
    """What of a table was kept, how exactly, and what is not promised: `given` are its dimensions."""

    cells: int = 0
    suppressed: int = 0
    equations: int = 0
    about: str = ""
    """What the method has done, in a sentence."""

    @property
    def answered(self) -> bool:
        lost = {claim.statistic for claim in self.claims if not claim.holds}
        return lost == {"protection"} and "audit" in self.accepted

    @property
    def verdict(self) -> str:
        return f"{super().verdict}: {UNPROTECTED}" if self.answered else super().verdict

    @property
    def summary(self) -> str:
        many = f"{count_of(self.cells, 'cell')} of {', '.join(self.confidential)} by {' and '.join(self.given)}"
        some = f", {self.suppressed:,} of them suppressed" * bool(self.suppressed)
        said = [f"{self.file or 'The release'} is a table of {many}{some}."]
        said += [self.about] if self.about else []
        if self.answered:
            said += ["Its suppressed cells are NOT shown to be protected: the audit is not passed."]
        elif not self.holds:
            return " ".join([*said, "NOT everything that was promised is there: see below."])
        said += ["What is listed as kept is what the confidential original gives, up to the error beside it."]
        last = "All else may differ." + " Suppressed cells are not to be read as the original's." * bool(
            self.suppressed
        )
        return " ".join([*said, last])

    @property
    def head(self) -> list[str]:
        return [
            f"  {count_of(self.cells, 'cell')}{f', {self.suppressed:,} suppressed' * bool(self.suppressed)}, "
            f"{count_of(self.equations, 'equation')} . values: {', '.join(self.confidential)}",
            f"  dimensions: {' x '.join(self.given)} . method: {self.method}",
        ]

    @property
    def unit(self) -> str:
        others = any(claim.statistic in ("means", "slope", "moments") for claim in self.claims)
        return "errors are shares of the absolute cells that are added up" + ", of moments standard deviations" * others


def certify_cells(
    before: Array,
    after: Array,
    promises: Sequence[CellPromise],
    certificate: TableCertificate,
    more: Sequence[Claim] = (),
) -> TableCertificate:
    """The certificate with a claim for every promise, in their order, from the cells of two tables.

    more: claims that were judged elsewhere: the audit's
    """
    return replace(certificate, claims=(*(promise.claim(before, after) for promise in promises), *more))
