"""Writes the table of docs/measures.md that has Calvino's Tables 4 and 7: uv run python docs/calvino_table.py [KEYS]

Tarragona, 13 columns, Score2 and Score3; Census without POTHVAL, DR and DU of its first column (../shared/data).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from masking_table import masked
from rotate_table import File, write

from suffice.algebra.array import Array
from suffice.algorithms.partition.mdav import mdav
from suffice.comparison.score import Score
from suffice.method.method import Method
from suffice.microdata import Ipso, MicroaggregateDraws, PcaMask, RankSwap, ResidualCorrelation
from suffice.risk.interval_disclosure import interval_disclosure
from suffice.seed import Seed, Stream
from suffice.utility.propensity import propensity

KEYS = 4


def sweep(Y: Array, file: File, stream: Stream) -> Array:
    """Rank swapping as Moore (1996) has it: in order of rank, each with one that is free among the next 5 %."""
    rng, window, Ystar = stream.generator("sweep"), len(Y) // 20, Y.copy()
    for y, made in zip(Y.T, Ystar.T, strict=True):
        order, free = np.lexsort((rng.random(len(y)), y)), np.ones(len(y), dtype=bool)
        for i in range(len(y)):
            others = i + 1 + np.flatnonzero(free[i + 1 : i + 1 + window])
            if free[i] and len(others):
                j = rng.choice(others)
                made[order[[i, j]]], free[j] = y[order[[j, i]]], False
    return Ystar


TABLE_4: dict[str, tuple[Method | Callable[[Array, File, Stream], Array], str]] = {
    "PCA, 1 component": (PcaMask(components=1), ".263, .288"),
    "PCA, 3 components": (PcaMask(components=3), ".196, .248"),
    "PCA, 13 components": (PcaMask(), ".169, .253"),
    "microaggregation plus noise, 5": (MicroaggregateDraws(k=5), ".173, .275"),
    "rank swapping .05": (RankSwap(p=0.05), ".489, .491"),
    "rank swapping .05, Moore's sweep": (sweep, ".489, .491"),
    "rank swapping .5": (RankSwap(p=0.5), ".352, .336"),
    "rank swapping 1": (RankSwap(p=1.0), ".372, .341"),
}
"""What is masked, and the Score2 and Score3 that are printed."""


def pca(Y: Array, file: File, stream: Stream) -> Array:
    return masked(PcaMask(components=file.names[0], how="smooth"), file, stream)


def hybrid(d: float) -> Callable[[Array, File, Stream], Array]:
    def made(Y: Array, file: File, stream: Stream) -> Array:
        X, Z = np.column_stack([np.ones(len(Y)), Y[:, 1:]]), stream.generator("Z").normal(size=(len(Y), 1))
        method = ResidualCorrelation(d) if d else Ipso()
        return np.column_stack([method.solve(X, Y[:, :1], Z), Y[:, 1:]])

    return made


def clustered(k: int) -> Callable[[Array, File, Stream], Array]:
    """IPSO in each of the clusters of k alike records."""

    def made(Y: Array, file: File, stream: Stream) -> Array:
        Ystar, labels = Y.copy(), mdav((Y - Y.mean(axis=0)) / Y.std(axis=0), k)
        for label in np.unique(labels):
            own = labels == label
            Ystar[own] = hybrid(0.0)(Y[own], file, stream.child(str(label)))
        return Ystar

    return made


TABLE_7: dict[str, tuple[Callable[[Array, File, Stream], Array], str]] = {
    "PCA, the third component smoothed": (pca, ".1151, .0035"),
    "IPSO": (hybrid(0.0), ".1088, .0100"),
    "MS, alpha = .4": (hybrid(0.4), ".1540, .0089"),
    "MS, alpha = .9": (hybrid(0.9), ".3597, .0008"),
    "MH, k = 54": (clustered(54), ".2187, .0004"),
    "MH, k = 180": (clustered(180), ".1592, .0049"),
    "MH, k = 540": (clustered(540), ".1105, .0092"),
}
"""What is made of the first column, and the DR and DU that are printed."""


def line(words: str, printed: str, found: list[tuple[float, float]], digits: int) -> str:
    mean, spread = np.mean(found, axis=0), np.std(found, axis=0, ddof=1)
    one, two = (f"{m:.{digits}f} ({s:.{digits}f})".replace("0.", ".") for m, s in zip(mean, spread, strict=True))
    return f"| {words} | {one} | {two} | {printed} |"


def lines(keys: int) -> Iterator[str]:
    yield "| Table 4, Tarragona | Score2 (sd) | Score3 (sd) | printed |\n|---|---|---|---|"
    streams = [Seed.for_tests(key).derive("calvino table") for key in range(1, keys + 1)]
    file = File.read("Tarragona")
    for words, (method, printed) in TABLE_4.items():
        made = [masked(method, file, s) if isinstance(method, Method) else method(file.Y, file, s) for s in streams]
        scores = [Score.of(file.Y, each) for each in made]
        yield line(words, printed, [(each.second, each.third) for each in scores], 3)
    yield "\n| Table 7, Census | DR (sd) | DU (sd) | printed |\n|---|---|---|---|"
    whole = File.read("CASCrefmicrodata")
    kept = [j for j, name in enumerate(whole.names) if name != "POTHVAL"]
    file = File(tuple(whole.names[j] for j in kept), whole.Y[:, kept])
    for words, (make, printed) in TABLE_7.items():
        made = [make(file.Y, file, stream) for stream in streams]
        found = [(interval_disclosure(file.Y[:, :1], each[:, :1]), propensity(file.Y, each, 3)) for each in made]
        yield line(words, printed, found, 4)


if __name__ == "__main__":
    written = []
    for each in lines(int(sys.argv[1]) if len(sys.argv) > 1 else KEYS):
        sys.stdout.write(f"{each}\n")
        sys.stdout.flush()
        written.append(each)
    write(Path(__file__).with_name("measures.md"), "calvino", Path(__file__).name, written)
