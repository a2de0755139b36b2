"""Pictures as PNG text: binned counts and correlations only, never points, never vectors; and the map of methods."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.algebra.array import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BEFORE, AFTER = "#9aa5b1", "#0b6e75"


def histogram(edges: Array, bend: float | None, before: NDArray[np.int64] | None, after: NDArray[np.int64]) -> str:
    """Records per bin before and after, on one scale; released ones of another number are drawn to it.

    bend: where the axis begins to go with the logarithm
    before: None in a page that is not for the data holder alone
    """
    figure = _figure(5.2, 3.0)
    axes = figure.add_subplot()
    _beside(axes, edges, before, after)
    if bend is None:
        axes.locator_params(nbins=5)
    else:
        _bent(axes, edges, bend)
    return _png(figure)


def propensity(score: Array, original: Array, released: Array) -> str:
    """Records of both files by the probability of being released that a model gives them; chance is c, their share."""
    figure = _figure(5.2, 3.0)
    axes = figure.add_subplot()
    edges = np.linspace(0, 1, 41)
    _beside(axes, edges, *(np.histogram(score, edges, weights=each)[0] for each in (original, released)))
    axes.axvline(released.sum() / (original.sum() + released.sum()), color="#1d2733", linewidth=0.8, linestyle="--")
    axes.set_xlabel("probability of being a released record")
    return _png(figure)


def _beside(axes: Any, edges: Array, before: NDArray[Any] | None, after: NDArray[Any]) -> None:
    """Records per bin, filled and as a line."""
    scale, label = 1.0, "released"
    if before is not None:
        axes.stairs(before, edges, fill=True, color=BEFORE, label="original")
        scale = before.sum() / max(int(after.sum()), 1)
        label = label if before.sum() == after.sum() else f"released, times {scale:.3g}"
    axes.stairs(after * scale, edges, color=AFTER, linewidth=1.6, label=label)
    axes.set_ylabel("records")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)


ROOM = 0.16
"""Of the axis, the share that a number takes."""


def _bent(axes: Any, edges: Array, bend: float) -> None:
    """An axis straight about zero and logarithmic beyond, with powers of ten to read it by."""
    from matplotlib.ticker import FuncFormatter

    axes.set_xscale("asinh", linear_width=bend)
    axes.set_xlim(edges[0], edges[-1])
    axes.set_xticks(_ticks(float(edges[0]), float(edges[-1]), bend))
    axes.minorticks_off()
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}" if bend >= 1 else f"{x:g}"))


def _ticks(low: float, high: float, bend: float) -> list[float]:
    """Zero and powers of ten, from the middle outwards, where there is room for them.

    >>> _ticks(-1400.0, 110_000.0, 1000.0)
    [0.0, 10000.0, 100000.0]
    """
    top = max(abs(low), abs(high))
    powers = 10.0 ** np.arange(np.floor(np.log10(bend)) - 1, np.floor(np.log10(top)) + 1)
    powers = powers[powers >= bend / 5][:: max(1, len(powers) // 4)]
    ticks = [0.0] if low <= 0 <= high else []
    for tick in np.stack([powers, -powers], axis=1).ravel().tolist():
        place = np.arcsinh(np.array([low, high, tick, *ticks]) / bend)
        if low <= tick <= high and (np.abs(place[3:] - place[2]) > ROOM * (place[1] - place[0])).all():
            ticks.append(tick)
    return sorted(ticks)


def correlations(before: Array | None, after: Array, names: Sequence[str]) -> str:
    """The correlation matrices of original and released columns, and their difference; without `before` one of them."""
    panels = [("released", after, 1.0)]
    if before is not None:
        gap = after - before
        scale = max(float(np.abs(gap).max()), float(np.finfo(np.float64).eps))
        panels = [("original", before, 1.0), *panels, ("released - original", gap, scale)]
    figure = _figure(0.4 + 3.05 * len(panels), 3.4)
    for place, (title, matrix, limit) in enumerate(panels, 1):
        axes = figure.add_subplot(1, len(panels), place)
        image = axes.imshow(matrix, cmap="RdBu_r", vmin=-limit, vmax=limit)
        axes.set_title(title)
        _name_sides(axes, names if place == 1 else [""] * len(names), names)
        figure.colorbar(image, ax=axes, fraction=0.045)
    return _png(figure)


def loadings(panels: Sequence[tuple[str, Array]]) -> str:
    """Loadings about zero, a panel for each column or component (Calvino, Figure 1): for the data holder alone."""
    figure = _figure(3.2 * len(panels), 3.0)
    for place, (title, values) in enumerate(panels, 1):
        axes = figure.add_subplot(1, len(panels), place)
        large = np.abs(values) >= np.abs(values).max(initial=0.0)
        axes.axhline(0.0, color=BEFORE, linewidth=0.8)
        axes.scatter(np.arange(1, len(values) + 1), values, c=np.where(large, AFTER, BEFORE))
        axes.set_title(_plain(title))
        axes.set_ylim(-1.05, 1.05)
    return _png(figure)


def _name_sides(axes: Any, rows: Sequence[str], columns: Sequence[str]) -> None:
    axes.set_yticks(range(len(rows)), [_plain(name) for name in rows])
    axes.set_xticks(range(len(columns)), [_plain(name) for name in columns], rotation=60, ha="right")


def _plain(name: str, most: int = 24) -> str:
    """A name without the signs that matplotlib reads as mathematics, and short."""
    return name.replace("$", r"\$")[:most]


def _figure(width: float, height: float) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _png(figure: Figure) -> str:
    """The figure as base64 text, without metadata."""
    file = io.BytesIO()
    figure.savefig(file, format="png", metadata={"Software": None})
    return embedded(file.getvalue())


def embedded(png: bytes) -> str:
    """As it stands in a page."""
    return base64.b64encode(png).decode("ascii")


class MapPoint(NamedTuple):
    """A method on the risk-utility map: mean, low and high of each; whether none beats it, it passes, it is the one."""

    name: str
    risk: tuple[float, float, float]
    loss: tuple[float, float, float]
    leads: bool
    passes: bool
    best: bool


def risk_utility_map(points: Sequence[MapPoint], kind: str = "png") -> bytes:
    """Risk against loss with intervals, the frontier joined, the limit drawn: means over runs, nothing of a record."""
    figure = _figure(8.2, max(5.4, 0.5 + 0.17 * len(points)))  # all names stand beside it
    axes = figure.add_subplot()
    axes.axvspan(0, 1, color=AFTER, alpha=0.06, linewidth=0)
    axes.axvline(1, color=AFTER, linewidth=0.8, linestyle="--")
    lead = sorted((each.risk[0], each.loss[0]) for each in points if each.leads)
    axes.plot(*(zip(*lead, strict=True) if lead else ((), ())), color=AFTER, linewidth=1.0, zorder=1)
    for number, each in enumerate(points, 1):
        colour = AFTER if each.passes else BEFORE
        (x, *across), (y, *up) = each.risk, each.loss
        axes.plot(across, [y, y], color=colour, linewidth=1.2, alpha=0.6)
        axes.plot([x, x], up, color=colour, linewidth=1.2, alpha=0.6)
        size, sign = (150, "*") if each.best else (34, "o")
        axes.scatter([x], [y], s=size, marker=sign, c=colour if each.passes else "white", edgecolors=colour, zorder=3)
        axes.annotate(str(number), (x, y), xytext=(5, 4), textcoords="offset points", fontsize=8)
        axes.plot([], [], " ", label=f"{number}  {_plain(each.name, 44)}")
    axes.set_xscale("asinh", linear_width=1.0)
    axes.set_xlim(left=-0.05)
    axes.set_ylim(bottom=0)
    ends = [0, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
    most = max([each.risk[2] for each in points], default=1.0)
    axes.set_xticks([end for end in ends if end <= 2 * max(1.0, most)])
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    axes.minorticks_off()
    axes.set_xlabel("risk: the worst, in its limit (1: the limit)")
    axes.set_ylabel("loss: 0 is the original")
    axes.spines[["top", "right"]].set_visible(False)
    shown = {"loc": "outside right upper", "frameon": False, "fontsize": 8, "handlelength": 0, "handletextpad": 0}
    figure.legend(**shown)
    file = io.BytesIO()
    figure.savefig(file, format=kind, metadata={"Software": None} if kind == "png" else {"Date": None, "Creator": None})
    return file.getvalue()
