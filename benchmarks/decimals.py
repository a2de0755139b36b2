"""Time of decimals in units of the floor of benchmarks/speed.py at (1e6, 10, 10), in one run.

python benchmarks/decimals.py
"""

from __future__ import annotations

import time

import numpy as np
from speed import floor
from threadpoolctl import threadpool_limits

from suffice.tables.decimals import decimals
from suffice.tables.table import Table


def table_with_gaps(shape: tuple[int, ...], share: float = 0.2) -> tuple[Table, np.ndarray]:
    """A table of magnitudes, and corners of boxes in it, so that few suppressed cells are alone in a line."""
    rng = np.random.default_rng(1)
    places = np.indices(shape).reshape(len(shape), -1)
    data = {f"d{k}": place.astype(str) for k, place in enumerate(places)}
    values = {"v": np.rint(rng.lognormal(5, 1.5, places.shape[1]))}
    table = Table.of_records(data | values, list(data), ["v"])
    marked = np.zeros(shape, dtype=bool)
    while marked.mean() < share:
        marked[np.ix_(*(rng.choice(length, 2, replace=False) for length in shape))] = True
    gaps = np.zeros(len(table), dtype=bool)
    gaps[[table.find(*codes) for codes in np.argwhere(marked).astype(str)]] = True
    return table, gaps


def main() -> None:
    with threadpool_limits(1):
        unit = floor(10**6, 10, 10)
    table, gaps = table_with_gaps((30, 30))
    decimals(table, gaps, "v")
    for shape in ((100, 100), (22, 22, 21), (316, 316), (47, 46, 46)):
        table, gaps = table_with_gaps(shape)
        begin, cpu = time.perf_counter(), time.process_time()
        error = decimals(table, gaps, "v").error
        spent, busy = time.perf_counter() - begin, time.process_time() - cpu
        told = f"{spent / unit:.2f} U, processor {busy / unit:.2f} U"
        print(f"{gaps.sum():,} suppressed of {np.prod(shape):,} inner cells {shape}: {told}; additivity {error:.1e}")
    print(f"U = {unit:.3f} s")


if __name__ == "__main__":
    main()
