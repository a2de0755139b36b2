"""Adjustment of large tables in units of the floor of benchmarks/speed.py at (1e6, 10, 10), in one run.

python benchmarks/adjust.py [SECONDS OF BLOCKS [SEEDS]]
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np
from speed import floor
from threadpoolctl import threadpool_limits

from suffice.seed import Seed
from suffice.tables.adjust.adjust import Adjustment, adjust
from suffice.tables.sensitivity import Sensitivity
from suffice.tables.table import Table


def table_with_levels(shape: tuple[int, ...], secret: int, seed: int) -> tuple[Table, Sensitivity]:
    """A table of magnitudes, and inner cells with levels of 5 to 20 percent."""
    rng = np.random.default_rng(seed)
    places = np.stack(np.unravel_index(np.arange(np.prod(shape)), shape), axis=1)
    data = {f"d{k}": codes.astype(str) for k, codes in enumerate(places.T)}
    data["v"] = np.rint(rng.lognormal(5, 1.5, len(places))) + 5
    table = Table.of_records(data, [name for name in data if name != "v"], ["v"])
    inner = np.setdiff1d(np.arange(len(table)), table.totals)
    p = np.ceil(rng.uniform(0.05, 0.2, len(table)) * table.values["v"])
    p = np.where(np.isin(np.arange(len(table)), rng.choice(inner, secret, replace=False)), p, 0.0)
    return table, Sensitivity("v", p > 0, p, p, tuple(() for _ in p), p < 0, p)


def told(name: str, unit: float, table: Table, secret: Sensitivity, **how: float | str) -> Adjustment:
    begin, cpu = time.perf_counter(), time.process_time()
    found = adjust(table, secret, seed=Seed.for_tests(1), **how)  # type: ignore[arg-type]
    spent, busy = time.perf_counter() - begin, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{name}: {len(table):,} cells, {int(secret.sensitive.sum())} sensitive; cost {found.cost:,.0f}, gap "
        f"{found.gap:.2%}; {spent / unit:.1f} U, processor {busy / unit:.1f} U; peak {peak:.2f} GiB; "
        f"unsafe {found.unsafe}, additivity {found.error:.0e}",
        flush=True,
    )
    return found


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 120.0
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with threadpool_limits(1):
        unit = floor(10**6, 10, 10)
    print(f"U = {unit:.3f} s")
    gaps = []
    for seed in range(seeds):
        gaps.append(
            told(f"programme, seed {seed}", unit, *table_with_levels((60, 82), 60, seed), gap=0.01, seconds=600.0).gap
        )
    if gaps:
        print(f"gaps: median {np.median(gaps):.2%}, worst {max(gaps):.2%}")
    for shape, secret in (((50, 50, 10), 100), ((100, 100, 10), 400)):
        told("blocks", unit, *table_with_levels(shape, secret, 1), signs="blocks", seconds=seconds)


if __name__ == "__main__":
    main()
