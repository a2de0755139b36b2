"""Columns of another shape than the original's: what is kept is kept, and their histograms differ."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import listed
from suffice.risk.assessment import Assessment


def shape(risk: Assessment) -> Finding | None:
    """Quantiles, skewness, kurtosis or the farthest value are farther off than in another sample: note."""
    lost = {name: each.lost for name, each in risk.shapes.items() if each.lost}
    if not lost:
        return None
    kinds = dict.fromkeys(kind for each in lost.values() for kind in each)
    return Finding(
        "shape",
        "note",
        f"The shape of {listed(lost)} is not the original's: {listed(kinds)}, beyond what another sample would show.",
        _remedy(risk),
        {f"{name}, {kind}": round(risk.shapes[name].found[kind], 3) for name, each in lost.items() for kind in each},
    )


def _remedy(risk: Assessment) -> str:
    if not (risk.request.independent and "limits" in risk.request.promises):
        return (
            "Where shapes matter: rotate, alone, for as many sweeps as it takes by itself. Where that began at the "
            "original, as the remarks for you say: looser limits, fewer given terms, or zeros that are kept."
        )
    if risk.weights.effective is not None:  # records are drawn whatever their weight, for the weighted statistics
        return "Name among the given terms what the weights go by, as classes of size: these shapes are unweighted."
    return "Numbers among the given terms, and small cells, leave shapes little room: give fewer; or tell the users."
