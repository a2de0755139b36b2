"""What is looked at while records are protected: every measure that can be folded over records before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from suffice.algebra.array import Array, Flags
from suffice.algebra.moments import Spread
from suffice.design.limits import Limits
from suffice.protection.aligned import BlockMeasure, StratumMeasure
from suffice.risk.cells import CellMeasure
from suffice.risk.copies import CopyMeasure
from suffice.risk.explained_columns import ChangeMeasure
from suffice.risk.extremes import ExtremeMeasure
from suffice.risk.far_cells import FarMeasure
from suffice.risk.leaving import LeavingMeasure
from suffice.risk.leverage import LeverageMeasure
from suffice.risk.limits import LimitMeasure
from suffice.risk.sample import SampleMeasure
from suffice.risk.signs import SignMeasure
from suffice.risk.zeros import ZeroMeasure


@dataclass(frozen=True, repr=False)
class RiskLooks:
    """The measures that the guards need; `independent`: the method carries nothing of single records over."""

    independent: bool
    sample: SampleMeasure
    limits: Limits | None = None
    leaving: LeavingMeasure | None = None

    def stratum(self, hat: Array) -> Mapping[str, StratumMeasure]:
        return {"leverage": LeverageMeasure(hat)}

    def file(self, spread: Spread, still: Flags) -> Mapping[str, BlockMeasure]:
        found: dict[str, BlockMeasure] = {
            "copies": CopyMeasure(spread, still),
            "far": FarMeasure(spread, still),
            "signs": SignMeasure(spread, still),
            "sample": self.sample,
            "zeros": ZeroMeasure(),
            "extremes": ExtremeMeasure(spread),
        }
        if self.leaving is not None:
            found["leaving"], found["cells"] = self.leaving, CellMeasure(self.leaving.design, spread)
        if self.independent:
            found["changed"] = ChangeMeasure()
        return found if self.limits is None else {**found, "limits": LimitMeasure(self.limits)}
