"""Writes the table of docs/masking.md: uv run python docs/masking_table.py [KEYS [KEYS OF WALKS]]

Calvino's Score2 of Tarragona (../shared/data), 13 columns: as the method has it, with exact moments, and rotated.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
from rotate_table import File, no0, write

from suffice.algebra.array import Array
from suffice.comparison.score import Score
from suffice.design.design import Design
from suffice.design.roles import Roles
from suffice.method.masked import MaskedColumns
from suffice.method.method import Method
from suffice.method.records import Records
from suffice.method.recordwise import Recordwise
from suffice.method.rowwise import Rowwise
from suffice.microdata import (
    MicroaggregateDraws,
    MicroaggregateNoise,
    Noise,
    PcaMask,
    RankSwap,
    Restore,
    Rotate,
    Shuffle,
)
from suffice.rows.memory import MemoryRows
from suffice.seed import Seed, Stream

KEYS, WALKS = 30, 5
METHODS: dict[str, tuple[Method, Method]] = {
    "PCA, all 13 swapped": (PcaMask(), PcaMask()),
    "microaggregation plus noise, k = 3": (MicroaggregateDraws(k=3), MicroaggregateNoise(k=3)),
    "microaggregation plus noise, k = 5": (MicroaggregateDraws(k=5), MicroaggregateNoise(k=5)),
    "rank swapping .2": (RankSwap(p=0.2), RankSwap(p=0.2)),
    "rank swapping .5": (RankSwap(p=0.5), RankSwap(p=0.5)),
    "shuffling": (Shuffle(), Shuffle()),
    "Kim's noise, delta = 2": (Noise(delta=2.0), Noise(delta=2.0)),
}
"""As the literature has it, and what moments are made exact of."""
PRINTED = {"PCA, all 13 swapped": ".169", "microaggregation plus noise, k = 5": ".173", "rank swapping .2": ".321"}
"""Calvino (2017), Table 4."""


def masked(method: Method, file: File, stream: Stream) -> Array:
    if isinstance(method, Recordwise):
        return method.mask(file.records(file.names), stream).Ystar
    assert isinstance(method, Rowwise)
    rows = MemoryRows(pa.table(dict(zip(file.names, file.Y.T, strict=True))))
    found = method.columns(rows, Design.learn(rows, Roles(confidential=list(file.names))), stream)
    made = found.columns if isinstance(found, MaskedColumns) else found
    columns = rows.with_columns(made).gather(file.names)
    return np.column_stack([columns[name] for name in file.names])


def exact(method: Method, file: File, stream: Stream) -> Array:
    X, made = np.ones((len(file.Y), 1)), masked(method, file, stream)
    return Restore(candidate=made).solve(X, file.Y, stream.generator("restore").normal(size=file.Y.shape))


def rotated(method: Method, file: File, stream: Stream) -> Array:
    plain = file.records(file.names)
    start = Records(plain.X, exact(method, file, stream), file.Y, limits=plain.limits, names=plain.names, started=True)
    found = Rotate().walk(start, stream.child("rotate")).Ystar
    assert plain.limits is not None
    assert not plain.limits.broken(found).any()
    return found


def scored(make: Callable[[Method, File, Stream], Array], method: Method, file: File, keys: int) -> str:
    made = (make(method, file, Seed.for_tests(key).derive("masking table")) for key in range(1, keys + 1))
    scores = [Score.of(file.Y, each).second for each in made]
    return f"{no0(np.mean(scores))} ({no0(np.std(scores) / np.sqrt(keys))})"


if __name__ == "__main__":
    keys, walks = (int(each) for each in (*sys.argv[1:], *(str(KEYS), str(WALKS))[len(sys.argv) - 1 :]))
    file = File.read("Tarragona")
    lines = [
        "| method | as it is | printed | moments made exact | and then `Rotate` (no negative where there was none) |",
        "|---|---|---|---|---|",
    ]
    for words, (plain, noise) in METHODS.items():
        found = scored(masked, plain, file, keys), scored(exact, noise, file, keys), scored(rotated, noise, file, walks)
        lines.append(f"| {words} | {found[0]} | {PRINTED.get(words, '')} | {found[1]} | {found[2]} |")
        sys.stdout.write(f"{lines[-1]}\n")
        sys.stdout.flush()
    write(Path(__file__).with_name("masking.md"), "scores", Path(__file__).name, lines)
