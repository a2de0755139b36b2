"""Writes the tables of docs/paper_data.md: uv run python docs/paper_table.py [RUNS [FOLDER]]

Calvino's Tables 4 and 7 on Tarragona and Census (../shared/data), 100 runs of each method unless told, and methods of
this package beside them. Finished runs are kept in FOLDER, where there is one, and a call that was ended goes on there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow.csv as pc
from masking_table import masked
from rotate_table import DATA, File, write

import suffice
from suffice.algebra.array import Array
from suffice.algorithms.partition.mdav import mdav
from suffice.comparison.comparison import Contender, Spread95
from suffice.microdata import Ipso, PcaMask, ResidualCorrelation
from suffice.risk.interval_disclosure import interval_disclosure
from suffice.rows.threads import cores
from suffice.seed import Seed, Stream
from suffice.utility.propensity import propensity

PAGE = Path(__file__).with_name("paper_data.md")
RUNS, WALKS, KEY = 100, 3, 2017
RISK = ("distance-linkage", "interval-disclosure-nearest")
LOSS, MORE = ("information-loss", "propensity-2"), ("propensity-3", "skewness-bias", "kurtosis-bias")
Interval = tuple[float, float, float]
PRINTED_4: dict[str, tuple[Interval, Interval]] = {
    "pca-mask:components=1": ((0.2633, 0.2506, 0.2791), (0.2876, 0.2757, 0.2998)),
    "pca-mask:components=2": ((0.2156, 0.2064, 0.2308), (0.2556, 0.2450, 0.2716)),
    "pca-mask:components=3": ((0.1958, 0.1873, 0.2078), (0.2482, 0.2354, 0.2592)),
    "pca-mask:components=4": ((0.1850, 0.1755, 0.1957), (0.2511, 0.2372, 0.2623)),
    "pca-mask:components=5": ((0.1792, 0.1717, 0.1884), (0.2512, 0.2360, 0.2645)),
    "pca-mask:components=6": ((0.1751, 0.1666, 0.1856), (0.2517, 0.2342, 0.2642)),
    "pca-mask:components=7": ((0.1742, 0.1647, 0.1883), (0.2569, 0.2363, 0.2759)),
    "pca-mask:components=8": ((0.1718, 0.1653, 0.1889), (0.2545, 0.2293, 0.2735)),
    "pca-mask:components=9": ((0.1713, 0.1621, 0.1851), (0.2544, 0.2290, 0.2713)),
    "pca-mask:components=10": ((0.1709, 0.1619, 0.1811), (0.2545, 0.2373, 0.2710)),
    "pca-mask:components=11": ((0.1704, 0.1624, 0.1817), (0.2549, 0.2358, 0.2756)),
    "pca-mask:components=12": ((0.1694, 0.1608, 0.1808), (0.2525, 0.2367, 0.2702)),
    "pca-mask:components=13": ((0.1691, 0.1626, 0.1783), (0.2525, 0.2275, 0.2688)),
    "microaggregate-draws": ((0.1762, 0.1664, 0.1863), (0.2461, 0.2332, 0.2630)),
    "microaggregate-draws:k=5": ((0.1725, 0.1614, 0.1866), (0.2746, 0.2563, 0.2887)),
    "microaggregate-draws:k=7": ((0.1732, 0.1597, 0.1885), (0.3185, 0.2954, 0.3367)),
    "microaggregate-draws:k=10": ((0.1766, 0.1634, 0.1947), (0.3321, 0.3170, 0.3507)),
    "microaggregate-draws:k=25": ((0.1816, 0.1668, 0.1977), (0.3678, 0.3509, 0.3928)),
    "microaggregate-draws:k=50": ((0.1880, 0.1712, 0.2132), (0.3901, 0.3693, 0.4133)),
    "microaggregate-draws:k=75": ((0.1911, 0.1734, 0.2103), (0.3987, 0.3794, 0.4204)),
    "rank-swap:p=0.05,partner=behind": ((0.4888, 0.4785, 0.4992), (0.4914, 0.4817, 0.5022)),
    "rank-swap:p=0.1,partner=behind": ((0.4000, 0.3891, 0.4112), (0.4030, 0.3913, 0.4140)),
    "rank-swap:p=0.15,partner=behind": ((0.3418, 0.3309, 0.3537), (0.3436, 0.3318, 0.3549)),
    "rank-swap:p=0.2,partner=behind": ((0.3209, 0.3084, 0.3323), (0.3207, 0.3037, 0.3370)),
    "rank-swap:p=0.5,partner=behind": ((0.3515, 0.3404, 0.3606), (0.3363, 0.2972, 0.3566)),
    "rank-swap:p=1.0,partner=behind": ((0.3720, 0.3647, 0.3782), (0.3405, 0.2615, 0.3706)),
}
"""Score2 and Score3 of Table 4, with their intervals."""
BESIDE = ["rotate", "ipso", "shuffle", *([name, "restore"] for name in ("pca-mask", "microaggregate-draws", "shuffle"))]
BESIDE += [["rank-swap:p=0.2", "restore"]]


def scores(found: Contender, degree: int) -> list[float]:
    """Calvino's score of every run: the mean of linkage, intervals, loss and four times the propensity score."""
    parts = [found.values(name) for name in (*RISK, LOSS[0], f"propensity-{degree}")]
    return [(link + inside + loss + 4 * ps) / 4 for link, inside, loss, ps in zip(*parts, strict=True)]


def compared(name: str, methods: object, runs: int, folder: Path | None, bounds: str | None = None):
    data = pc.read_csv(DATA / f"{name}.csv")
    roles = suffice.Roles(confidential=data.column_names, **({"bounds": bounds} if bounds else {}))
    asked = {"limits": dict.fromkeys(RISK, 1.0), "loss": LOSS, "measures": MORE, "seed": Seed.for_tests(KEY)}
    told = None if folder is None else folder / f"{name}{' within bounds' * bool(bounds)}"
    return suffice.compare(data, roles, methods, runs, folder=told, progress=say, **asked)


def say(stage: str, done: int, total: int) -> None:
    if done % 50 == 0:
        sys.stderr.write(f"{stage} {done} of {total}\n")
        sys.stderr.flush()


def cell(values: list[float], printed: Interval | None = None, digits: int = 4) -> str:
    """Mean and interval, in bold where the mean lies outside what is printed."""
    found = Spread95.of(values)
    assert found is not None
    mean, low, high = (f"{each:.{digits}f}".replace("0.", ".", 1) for each in found.ends)
    inside = printed is None or printed[1] <= round(found.mean, digits) <= printed[2]
    return f"{mean if inside else f'**{mean}**'} ({low}, {high})"


def shown(printed: Interval) -> str:
    mean, low, high = (f"{each:.4f}".replace("0.", ".", 1) for each in printed)
    return f"{mean} ({low}, {high})"


def table_4(runs: int, folder: Path | None) -> Iterator[str]:
    found = compared("Tarragona", "paper", runs, folder)
    yield "| Table 4, Tarragona | Score2 | printed | Score3 | printed |\n|---|---|---|---|---|"
    for name, (two, three) in PRINTED_4.items():
        both = ((scores(found[name], 2), two), (scores(found[name], 3), three))
        yield " | ".join([f"| {name}", *(f"{cell(own, printed)} | {shown(printed)}" for own, printed in both)]) + " |"


@cache
def census() -> File:
    """Census without POTHVAL, which is a difference of two others."""
    whole = File.read("CASCrefmicrodata")
    kept = [j for j, name in enumerate(whole.names) if name != "POTHVAL"]
    return File(tuple(whole.names[j] for j in kept), whole.Y[:, kept])


@cache
def clusters(k: int) -> Array:
    Y = census().Y
    return mdav((Y - Y.mean(axis=0)) / Y.std(axis=0), k)


def smoothed(stream: Stream) -> Array:
    return masked(PcaMask(components=census().names[0], how="smooth"), census(), stream)


def drawn(Y: Array, d: float, stream: Stream) -> Array:
    """New values of the first column, the others given: IPSO, or MS with residuals that correlate by d."""
    X, Z = np.column_stack([np.ones(len(Y)), Y[:, 1:]]), stream.generator("Z").normal(size=(len(Y), 1))
    method = ResidualCorrelation(d) if d else Ipso()
    return np.column_stack([method.solve(X, Y[:, :1], Z), Y[:, 1:]])


def hybrid(k: int, stream: Stream) -> Array:
    """IPSO in each of the clusters of k alike records."""
    Ystar, labels = census().Y.copy(), clusters(k)
    for label in np.unique(labels):
        own = labels == label
        Ystar[own] = drawn(Ystar[own], 0.0, stream.child(str(label)))
    return Ystar


TABLE_7: dict[str, tuple[Callable[[Stream], Array], Interval, Interval]] = {
    "PCA, the third component smoothed": (smoothed, (0.1151, 0.0998, 0.1304), (0.0035, 0.0019, 0.0058)),
    "IPSO": (lambda s: drawn(census().Y, 0.0, s), (0.1088, 0.0946, 0.1223), (0.0100, 0.0068, 0.0137)),
    "MS, alpha = .4": (lambda s: drawn(census().Y, 0.4, s), (0.1540, 0.1380, 0.1704), (0.0089, 0.0059, 0.0125)),
    "MS, alpha = .9": (lambda s: drawn(census().Y, 0.9, s), (0.3597, 0.3442, 0.3771), (0.0008, 0.0003, 0.0015)),
    "MH, k = 54": (lambda s: hybrid(54, s), (0.2187, 0.2026, 0.2349), (0.0004, 0.0002, 0.0007)),
    "MH, k = 180": (lambda s: hybrid(180, s), (0.1592, 0.1441, 0.1760), (0.0049, 0.0032, 0.0066)),
    "MH, k = 540": (lambda s: hybrid(540, s), (0.1105, 0.0976, 0.1245), (0.0092, 0.0059, 0.0127)),
}
"""How the first column is made, and DR and DU as they are printed."""


def measured(name: str, number: int) -> tuple[float, float]:
    """DR: own records, the first column alone; DU: third degree, not times four, all twelve columns."""
    Y = census().Y
    made = TABLE_7[name][0](Seed.for_tests(KEY).derive(f"table 7: {name}, {number}"))
    return interval_disclosure(Y[:, :1], made[:, :1]), propensity(Y, made, 3)


def table_7(runs: int) -> Iterator[str]:
    yield "| Table 7, Census | DR | printed | DU | printed |\n|---|---|---|---|---|"
    with ProcessPoolExecutor(cores()) as pool:
        for name, (_, risk, loss) in TABLE_7.items():
            found = list(zip(*pool.map(measured, [name] * runs, range(runs), chunksize=5), strict=True))
            one, two = list(found[0]), list(found[1])
            yield f"| {name} | {cell(one, risk)} | {shown(risk)} | {cell(two, loss)} | {shown(loss)} |"


def beside(runs: int, folder: Path | None) -> Iterator[str]:
    yield "| | Score2 | Score3 | linked | kept exactly | stopped by |\n|---|---|---|---|---|---|"
    for file, title in (("Tarragona", "Tarragona"), ("CASCrefmicrodata", "Census")):
        found = compared(file, BESIDE, min(runs, WALKS), folder, "observed-sign")
        for own in sorted(found, key=lambda each: np.mean(scores(each, 2))):
            stops = ", ".join(rule for rule in own.stops if rule != "seed") or "-"  # the key of this page is known
            kept = ", ".join(own.keeps) or "-"
            cells = " | ".join(map(cell, (scores(own, 2), scores(own, 3), own.values(RISK[0]))))
            yield f"| {title}: {own.name} | {cells} | {kept} | {stops} |"


if __name__ == "__main__":
    runs, folder = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS, Path(sys.argv[2]) if len(sys.argv) > 2 else None
    made = (("table 4", table_4(runs, folder)), ("table 7", table_7(runs)), ("beside", beside(runs, folder)))
    for name, lines in made:
        written = list(lines)
        sys.stdout.write("\n".join([*written, "", ""]))
        sys.stdout.flush()
        write(PAGE, name, Path(__file__).name, written)
