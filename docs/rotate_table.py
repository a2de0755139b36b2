"""Writes the tables of docs/rotate.md: uv run python docs/rotate_table.py [KEYS [TABLE ...]]

Tarragona and Census (../shared/data) with nothing given, and no value below zero in columns that had none; every
column by itself; Census with three columns given. The default is made with as many keys (30 unless told).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from suffice.algebra.array import Array
from suffice.algorithms.rotation.likeness import Likeness
from suffice.algorithms.rotation.walk import Walk
from suffice.comparison.score import Score
from suffice.demo import firms
from suffice.design.limits import Limits
from suffice.method.records import Records
from suffice.microdata import Ipso, Rotate
from suffice.risk.distance_linkage import distance_linkage
from suffice.risk.memory import Memory, aligned, average_correlation, permuted, unaligned
from suffice.seed import Seed
from suffice.utility.kolmogorov_smirnov import kolmogorov_smirnov
from suffice.utility.shape_bias import kurtosis, shape_bias, skewness

PAGE = Path(__file__).with_name("rotate.md")
DATA = Path(__file__).parents[2] / "shared" / "data"
KEYS, SCORED, FEW = 30, 5, 4
"""Keys the default is made with, the first of them whose releases are scored, and keys of the walks beside it."""
SOME = ("SALES", "DEPRECIATION", "FEDTAX", "TAXINC", "POTHVAL", "INTVAL", "turnover")
GIVEN = ("AFNLWGT", "AGI", "EMCONTRB")
WALKS = {
    "IPSO, no limits": None,
    "`uniform`, 2,000 sweeps": Rotate(shape="uniform", sweeps=2000),
    "`marginals`": Rotate(shape="marginals"),
    "`copula`, the default": Rotate(),
}


class File(NamedTuple):
    names: tuple[str, ...]
    Y: Array

    @classmethod
    def read(cls, name: str) -> File:
        lines = (DATA / f"{name}.csv").read_text().splitlines()
        return cls(tuple(lines[0].split(",")), np.array([line.split(",") for line in lines[1:]], dtype=float))

    def records(self, columns: tuple[str, ...], given: tuple[str, ...] = ()) -> Records:
        """Some columns with others given, none below zero that was not."""
        Y = self.Y[:, [self.names.index(name) for name in columns]]
        X = np.column_stack([np.ones(len(Y)), *(self.Y[:, self.names.index(name)] for name in given)])
        low = np.where(Y.min(axis=0) >= 0, 0.0, -np.inf)
        named = tuple(f"bounds of {name}" for name, end in zip(columns, low, strict=True) if end == 0)
        k = len(columns)
        limits = Limits(low, np.full(k, np.inf), np.empty((0, k)), np.empty((len(Y), 0)), named) if named else None
        return Records(X, Y, Y, limits=limits, names=columns)


def walks(records: Records, method: Rotate, keys: int) -> list[Walk]:
    return [method.walk(records, Seed.for_tests(key).derive("rotate table")) for key in range(1, keys + 1)]


def releases(records: Records, method: Rotate | None, keys: int) -> tuple[list[Array], str]:
    """And how many sweeps were walked."""
    if method is None:
        draws = (np.random.default_rng(key).normal(size=records.Y.shape) for key in range(1, keys + 1))
        return [Ipso().solve(records.X, records.Y, Z) for Z in draws], ""
    found = walks(records, method, keys)
    sweeps = sorted({walk.sweeps for walk in found})
    return [walk.Ystar for walk in found], f"{sweeps[0]:,}" + (f"-{sweeps[-1]:,}" if len(sweeps) > 1 else "")


def together(keys: int) -> Iterator[str]:
    """All columns of a file, nothing given."""
    yield (
        "| file | walk | sweeps | Score2 / Score3 | KS | skewness, kurtosis off by | DBRL (chance) "
        "| average of all with the original (p) | rank of the original: aligned, unaligned | distance from releases |"
    )
    yield "|" + "---|" * 10
    for name in ("Tarragona", "CASCrefmicrodata"):
        file = File.read(name)
        records = file.records(file.names)
        Y = records.Y
        for words, method in WALKS.items():
            made, sweeps = releases(records, method, keys if method == Rotate() else min(keys, FEW))
            scores = [Score.of(Y, each) for each in made[:SCORED]]
            ks = np.mean([kolmogorov_smirnov(Y, each).mean() for each in made])
            skew, kurt = np.mean([shape_bias(Y, each) for each in made], axis=0)
            linked = np.mean([distance_linkage(Y, each) for each in made])
            memory = [Memory.of_releases(Y, made, distance) for distance in (aligned, unaligned)]
            two, three = (np.mean([getattr(score, which) for score in scores]) for which in ("second", "third"))
            yield (
                f"| {'Census' if name.startswith('CASC') else name} | {words} | {sweeps} "
                f"| {no0(two)} / {no0(three)} | {no0(ks)} "
                f"| {skew:.0%}, {kurt:.0%} | {linked:.2%} ({1 / len(Y):.2%}) "
                f"| {no0(average_correlation(Y, made))} ({no0(permuted(Y, made))}) "
                f"| {memory[0].rank}, {memory[1].rank} of {memory[0].of} "
                f"| {memory[0].apart:.2f}, {memory[1].apart:.2f} |"
            )


def alone(keys: int) -> Iterator[str]:
    """Every column by itself, nothing given."""
    yield from _by_itself(keys, lambda name, other: ())


def one_given(keys: int) -> Iterator[str]:
    """Some of them with one column given."""
    yield from _by_itself(keys, lambda name, other: (other,) if name in SOME else None)


def _by_itself(keys: int, given_to: Callable[[str, str], tuple[str, ...] | None]) -> Iterator[str]:
    """The worst of some keys."""
    yield (
        "| column | given | sweeps | KS | largest value, factor | skewness | below zero | ratio "
        "| average with the original (p) |"
    )
    yield "|" + "---|" * 9
    demo = firms(2000)
    columns = ("turnover", "employees")
    files = {
        "Tarragona": (File.read("Tarragona"), "LABOR.COSTS"),
        "CASCrefmicrodata": (File.read("CASCrefmicrodata"), "AFNLWGT"),
        "firms": (
            File(columns, np.column_stack([demo[name].to_numpy() for name in columns]).astype(float)),
            "employees",
        ),
    }
    for file, other in files.values():
        for name in file.names:
            given = given_to(name, other)
            if given is not None and name != "employees":
                yield _alone(name, given, file.records((name,), given), keys)


def _alone(name: str, given: tuple[str, ...], records: Records, keys: int) -> str:
    found = walks(records, Rotate(), keys)
    y, made = records.Y, [walk.Ystar for walk in found]
    ks = max(float(kolmogorov_smirnov(y, each)[0]) for each in made)
    factor = max((each.max() / y.max() for each in made), key=lambda f: abs(np.log(f)))
    before, after = float(skewness(y)[0]), [float(skewness(each)[0]) for each in made]
    worst = max(after, key=lambda b: abs(b - before))
    below = max(int((each < 0).sum()) for each in made) if y.min() >= 0 else None
    ratio, sweeps = max(walk.ratio for walk in found), max(walk.sweeps for walk in found)
    # with a column given both follow it: what is compared is what is left about the line
    E, *rest = (A - records.X @ np.linalg.lstsq(records.X, A, rcond=None)[0] for A in (y, *made))
    memory = f"{no0(average_correlation(E, rest))} ({no0(permuted(E, rest, 199))})"
    return (
        f"| {name} | {', '.join(given)} | {sweeps:,} | {no0(ks)} | {factor:.2f} | {before:.2f} -> {worst:.2f} "
        f"| {'(free)' if below is None else below} | {ratio:.1f} | {memory} |"
    )


def three_given(keys: int) -> Iterator[str]:
    """Census, ten columns, three given."""
    file = File.read("CASCrefmicrodata")
    records = file.records(tuple(name for name in file.names if name not in GIVEN), GIVEN)
    said = "canonical correlation (null)", "linked", "KS", "skewness, kurtosis off by", "a kurtosis off by, at most"
    yield f"| walk | sweeps | {' | '.join(said)} |"
    yield "|" + "---|" * 7
    for words, method in WALKS.items():
        if method is None:
            continue
        found, likeness = walks(records, method, keys), Likeness.of(records)
        made = [walk.Ystar for walk in found]
        canonical = np.median([walk.canonical for walk in found])
        linked = np.mean([likeness.linked(each) / len(likeness.sample) for each in made])
        ks = np.mean([kolmogorov_smirnov(records.Y, each).mean() for each in made])
        skew, kurt = np.mean([shape_bias(records.Y, each) for each in made], axis=0)
        k = kurtosis(records.Y)
        most = np.max(np.mean([np.abs(kurtosis(each) - k) / k for each in made], axis=0))
        sweeps = sorted({walk.sweeps for walk in found})
        yield (
            f"| {words} | {sweeps[0]:,}-{sweeps[-1]:,} | {no0(canonical)} ({no0(found[0].null)}) | {linked:.2%} "
            f"| {no0(ks)} | {skew:.0%}, {kurt:.0%} | {most:.0%} |"
        )


def no0(value: float) -> str:
    return f"{value:.3f}".replace("0.", ".", 1)


def write(path: Path, name: str, by: str, lines: list[str]) -> None:
    """Put a table where a page has its last one."""
    page = path.read_text("utf-8")
    first, last = f"<!-- {name}: written by docs/{by} -->", f"<!-- end of {name} -->"
    before, _, rest = page.partition(first)
    _, _, after = rest.partition(last)
    path.write_text(f"{before}{first}\n\n{chr(10).join(lines)}\n\n{last}{after}", "utf-8")


TABLES = {"together": together, "alone": alone, "one": one_given, "three": three_given}

if __name__ == "__main__":
    keys = int(sys.argv[1]) if len(sys.argv) > 1 else KEYS
    for each in sys.argv[2:] or TABLES:
        lines = []
        for line in TABLES[each](keys if each == "together" else min(keys, 3 if each in ("alone", "one") else 5)):
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
            lines.append(line)
        write(PAGE, each, Path(__file__).name, lines)
