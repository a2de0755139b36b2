"""Makes the pictures of the pages, from firms that are made up: uv run python docs/pictures.py"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from suffice.algorithms.rotation.likeness import Likeness
from suffice.algorithms.rotation.walk import Walk
from suffice.demo import firms
from suffice.design.roles import Roles
from suffice.method.method import Method
from suffice.method.records import Records
from suffice.microdata import Ipso, MicroHybrid, Rotate
from suffice.progress import Progress
from suffice.release.protect import protect
from suffice.release.release import Release
from suffice.seed import Seed, Stream

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.ticker import Locator

PLACE = Path(__file__).with_suffix("")
FIRMS = firms(2000)
AMOUNTS = ("turnover", "wages", "taxes", "other_costs", "total_costs")
CELLS = "C(region) + C(industry)"
KEY = 2019
COLOURS = {"original": "#444444", "ipso": "#c0504d", "near": "#1f77b4", "random": "#2ca02c", "far": "#9467bd"}


@dataclass(frozen=True)
class Watched(Rotate):
    """Rotate, and what it saw and did."""

    walks: ClassVar[list[tuple[Likeness, Walk]]] = []

    def walk(self, records: Records, stream: Stream, progress: Progress | None = None) -> Walk:
        walk = super().walk(records, stream, progress)
        self.walks.append((Likeness.of(records), walk))
        return walk


def released(method: Method, given: str, key: int = KEY) -> Release:
    """Firms with no amount below zero and costs that add up, protected."""
    edits = ["total_costs == wages + taxes + other_costs"]
    roles = Roles(confidential=AMOUNTS, given=given, bounds=dict.fromkeys(AMOUNTS, (0, None)), edits=edits)
    return protect(FIRMS, roles, method, seed=Seed.for_tests(key))


def walked(method: Watched, given: str, key: int = KEY, start: Ipso | None = None) -> tuple[Likeness, Walk]:
    """The walk behind a release; `start`: the method that it starts from."""
    released(method if start is None else start.then(method), given, key)
    return Watched.walks.pop()


def marginals() -> Figure:
    """Two skewed columns: the original, IPSO, Rotate."""
    frames = {
        "original": FIRMS,
        "IPSO": released(Ipso(), CELLS).frame,
        "Rotate": released(Rotate(), CELLS).frame,
    }
    figure, grid = drawing(2, 3, sharey="row", sharex="row")
    for row, (name, width) in zip(grid, {"turnover": 1500, "wages": 500}.items(), strict=True):
        for axes, (title, frame), colour in zip(row, frames.items(), ("original", "ipso", "near"), strict=True):
            histogram(axes, np.asarray(frame[name], dtype=float), width, COLOURS[colour])
            axes.set_title(f"{name}, {title}")
    for axes in grid[:, 0]:
        axes.set_ylabel("firms")
    return figure


def scatter() -> Figure:
    """Wages against turnover, both from zero on: the original, IPSO, Rotate."""
    frames = {"original": FIRMS, "IPSO": released(Ipso(), CELLS).frame, "Rotate": released(Rotate(), CELLS).frame}
    figure, row = drawing(1, 3, sharey="row", sharex="row")
    for axes, (title, frame), colour in zip(row, frames.items(), ("original", "ipso", "near"), strict=True):
        x, y = (np.asarray(frame[name], dtype=float) for name in ("turnover", "wages"))
        axes.plot(x, y, ".", color=COLOURS[colour], markersize=2)
        axes.set(xlabel="turnover", title=title)
        axes.set_xscale("symlog", linthresh=100)
        axes.set_yscale("symlog", linthresh=100)
        axes.axvline(0, color="black", linewidth=0.8)
        axes.axhline(0, color="black", linewidth=0.8)
    row[0].set_ylabel("wages")
    return figure


def histogram(axes: Axes, values: np.ndarray, width: float, colour: str) -> None:
    """Firms by size; what lies beyond the last bar is in it."""
    edges = np.arange(-8, 25) * width
    bars = axes.hist(np.clip(values, edges[0], edges[-1] - width / 2), list(edges), color=colour)[2]
    for bar, left in zip(bars, edges, strict=False):  # type: ignore[arg-type]
        bar.set_alpha(0.45 if left < 0 else 1.0)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.text(0.97, 0.9, f"{int((values < 0).sum())} below 0", transform=axes.transAxes, ha="right", va="top")
    axes.xaxis.set_major_locator(ticker(4))


def starts() -> Figure:
    """With given columns: a walk from the original, and one from an IPSO release."""
    figure, row = drawing(1, 2, sharey=True)
    for axes, size in zip(row, ("employees", "log(employees)"), strict=True):
        for start, colour in ((None, "near"), (Ipso(), "ipso")):
            for number, (_, walk) in enumerate(repeated(f"{CELLS} + {size}", start)):
                label = f"from {'the original' if start is None else 'an IPSO release'}" if number == 0 else None
                axes.plot(range(1, 121), walk.course, color=COLOURS[colour], linewidth=0.9, label=label)
        axes.axhline(walk.null, color="black", linestyle=":", label="unrelated records, at most")
        finished(axes, f"given: region, industry, {size}")
    row[0].set_ylabel("canonical correlation with the original")
    row[0].set_ylim(0, 1.03)
    return figure


def repeated(given: str, start: Ipso | None) -> Iterator[tuple[Likeness, Walk]]:
    """The same walk under five keys."""
    for key in range(KEY, KEY + 5):
        yield walked(Watched(sweeps=120), given, key, start)


def clusters() -> Figure:
    """Wages against employees in size classes: the original, IPSO, MicroHybrid."""
    amounts = ("turnover", "wages", "taxes")
    plain, hybrid = Roles(confidential=amounts, given="employees", keep=["size"]), Roles(confidential=amounts)
    seed, local = Seed.for_tests(KEY), MicroHybrid(clusters="size", local="employees")
    frames = {
        "original": FIRMS,
        "IPSO, employees given": protect(FIRMS, plain, Ipso(), seed=seed).frame,
        "MicroHybrid in size classes": protect(FIRMS, hybrid, local, seed=seed).frame,
    }
    figure, grid = drawing(1, 3, sharey="row", sharex="row")
    for axes, (title, frame) in zip(grid, frames.items(), strict=True):
        for size, colour in zip(("small", "medium", "large"), ("near", "random", "far"), strict=True):
            chosen = np.asarray(frame["size"]) == size
            x, y = (np.asarray(frame[name], dtype=float)[chosen] for name in ("employees", "wages"))
            axes.plot(x, y, ".", color=COLOURS[colour], markersize=2, label=size)
            slope, start = np.polyfit(x, y, 1)
            ends = np.geomspace(x.min(), x.max())
            axes.plot(ends, start + slope * ends, color="black", linewidth=1)
        axes.set(xlabel="employees", xscale="log", yscale="symlog", title=title)
    grid[0].legend(frameon=False)
    grid[0].set_ylabel("wages")
    return figure


def drawing(rows: int, columns: int, **shared: object) -> tuple[Figure, np.ndarray]:
    from matplotlib import pyplot

    pyplot.switch_backend("Agg")
    pyplot.rcParams.update({"font.size": 8, "axes.spines.top": False, "axes.spines.right": False})
    size = (8.0, 3.0 if rows == 1 else 4.0)
    return pyplot.subplots(rows, columns, figsize=size, layout="constrained", **shared)  # type: ignore[call-overload,no-any-return]


def finished(axes: Axes, title: str) -> None:
    axes.set_title(title)
    axes.set_xlabel("sweeps")
    axes.legend(frameon=False)


def ticker(count: int) -> Locator:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(count)


if __name__ == "__main__":
    PLACE.mkdir(exist_ok=True)
    pictures = {"rotate": (marginals, scatter, starts), "micro_hybrid": (clusters,)}
    for page, made in pictures.items():
        for make in made:
            make().savefig(PLACE / f"{page}_{make.__name__}.png", dpi=90, metadata={"Software": None})
