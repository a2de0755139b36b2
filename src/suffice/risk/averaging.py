"""Averaging: what all releases of the same records leave uncertain, together."""

from __future__ import annotations

from collections.abc import Iterable

from suffice.measure.measure import SHARE, Measure, Value


def information(d: float) -> float:
    """d^2 / (1 - d^2): signal over noise of one release whose residuals correlate d with the original's."""
    return d * d / (1 - d * d) if abs(d) < 1 else float("inf")


def uncertain(correlations: Iterable[float]) -> float:
    """The share of a residual standard deviation that the best average of all leaves: 1 / sqrt(1 + sum of signals).

    >>> round(uncertain([0.7] * 60), 2), uncertain([0.0, 0.0])
    (0.13, 1.0)
    """
    return float((1 + sum(map(information, correlations))) ** -0.5)


MEASURES = (
    Measure(
        "averaging",
        lambda pair: Value(1 - pair.past["uncertain"], {"releases": pair.past["releases"]}),
        frozenset({"a ledger"}),
        SHARE,
        "higher is riskier",
        "1 - 1 / sqrt(1 + r), r the sum of d^2 / (1 - d^2) over this release and those of the ledger, d the largest "
        "residual correlation: the share of a residual standard deviation that their average tells",
    ),
    Measure(
        "differencing",
        lambda pair: pair.past["leverage"],
        frozenset({"a ledger"}),
        SHARE,
        "higher is riskier",
        "highest leverage of a record in all that this release and those of the ledger keep: at 1 its values follow "
        "from differences",
    ),
)
