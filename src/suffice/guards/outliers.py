"""The cells that everybody knows, released near their value."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import count, share
from suffice.risk.assessment import Assessment

STOP, WARN = 0.10, 0.02


def outliers(risk: Assessment) -> Finding | None:
    """Of the cells over 5 sd out, the share moved by 10 % of that distance or less: > 10 % stop, > 2 % warn.

    A single such cell stops where there are fewer than ten: where a file has one giant, it is the giant.
    Among more it is silent, as it may be chance: of cells 5 sd out, nothing explained, IPSO moves 3 in a
    million that little, a hybrid with d = .5 one in a hundred.
    """
    cells = risk.outliers
    near = cells.near / cells.far if cells.far else 0.0
    if not near > (WARN if cells.near > 1 else STOP):
        return None
    return Finding(
        "outliers",
        "stop" if near > STOP else "warn",
        f"{cells.near:,} of {count(cells.far, 'cell')} more than 5 standard deviations out "
        f"({share(near)}) moved by less than a tenth of their distance from the mean.",
        "Protect the logarithm of a skewed column or the largest records apart; ask for less correlation.",
        {"outlying": cells.far, "near": cells.near, "share": near},
    )
