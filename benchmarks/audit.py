"""Time of an audit in units of the floor of benchmarks/speed.py at (1e6, 10, 10), in one run.

python benchmarks/audit.py
"""

from __future__ import annotations

import time

import numpy as np
from speed import floor
from threadpoolctl import threadpool_limits

from suffice.tables.audit import PROTECTED, audit
from suffice.tables.sensitivity import Prior, find_sensitive
from suffice.tables.table import Table


def table_with_gaps(rows: int = 60, columns: int = 82, gaps: int = 400) -> tuple[Table, np.ndarray]:
    """A table of magnitudes, and suppressed cells in it: corners of rectangles, so that few are alone in a line."""
    rng = np.random.default_rng(1)
    row, column = np.divmod(np.repeat(np.arange(rows * columns), 3), columns)  # three firms a cell: nobody is alone
    data = {"row": row.astype(str), "column": column.astype(str), "v": np.rint(rng.lognormal(5, 1.5, len(row)))}
    table = Table.of_records(data, ["row", "column"], ["v"])
    marked: set[int] = set()
    while len(marked) < gaps:
        some = rng.integers(0, rows, 2).astype(str), rng.integers(0, columns, 2).astype(str)
        marked |= {table.find(a, b) for a in some[0] for b in some[1]}
    chosen = sorted(marked)[:gaps]
    return table, np.isin(np.arange(len(table)), chosen)


def main() -> None:
    with threadpool_limits(1):
        unit = floor(10**6, 10, 10)
    table, gaps = table_with_gaps()
    axes, x = table.grid.axes, table.values["v"]
    codes = [
        tuple(axis.codes[p] for axis, p in zip(axes, table.grid.codes[c], strict=True)) for c in np.flatnonzero(gaps)
    ]
    levels = [Prior(c, "unsafe", lower=0.1 * v, upper=0.1 * v) for c, v in zip(codes, x[gaps], strict=True)]
    secret = find_sensitive(table, [], "v", priors=levels)
    audit(table, gaps, secret)
    for exact in (True, False):
        begin, cpu = time.perf_counter(), time.process_time()
        found = audit(table, gaps, secret, exact=exact)
        spent, busy = time.perf_counter() - begin, time.process_time() - cpu
        fine = sum(target.verdict == PROTECTED for target in found.targets)
        how = "two problems for each cell" if exact else "screened"
        told = f"{spent / unit:.2f} U, processor {busy / unit:.2f} U"
        print(f"{gaps.sum()} suppressed cells of {len(table):,}, {how}: {told}; {fine} protected; U = {unit:.3f} s")


if __name__ == "__main__":
    main()
