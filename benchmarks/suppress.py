"""Time of a pattern with its audit in units of the floor of benchmarks/speed.py at (1e6, 10, 10), in one run.

Twice: by the clock, and in processor time against the processor time of the floor, for a machine with other work.

python benchmarks/suppress.py [two three large linked]
"""

from __future__ import annotations

import sys
import time
from resource import RUSAGE_SELF, getrusage

import numpy as np
from speed import floor
from threadpoolctl import threadpool_limits

from suffice.seed import Seed
from suffice.tables.rules import PPercent
from suffice.tables.sensitivity import find_sensitive
from suffice.tables.suppress.suppression import suppress
from suffice.tables.table import Table

SHAPES = {"two": (100, 100), "three": (21, 21, 21), "large": (316, 316)}


def magnitudes(shape: tuple[int, ...], linked: bool = False) -> Table:
    """Four firms in every cell, so that nobody is alone; linked: with a second table of its first dimension."""
    rng = np.random.default_rng(1)
    at = np.repeat(np.arange(int(np.prod(shape))), 4)
    codes = np.unravel_index(at, shape)
    data = {f"d{k}": some.astype(str) for k, some in enumerate(codes)}
    data["v"] = np.rint(rng.lognormal(5, 1.5, len(at))) + 1
    if not linked:
        return Table.of_records(data, [f"d{k}" for k in range(len(shape))], ["v"])
    data["other"] = ((codes[1] + 79 * (np.arange(len(at)) % 4)) % shape[1]).astype(str)
    data["firm"] = np.arange(len(at)).astype(str)
    return Table.linked([Table.of_records(data, ["d0", name], ["v"], contributor="firm") for name in ("d1", "other")])


def main() -> None:
    with threadpool_limits(1):
        unit, busy_unit = (floor(10**6, 10, 10, clock) for clock in (time.perf_counter, time.process_time))
    for name in sys.argv[1:] or [*SHAPES, "linked"]:
        table = magnitudes(SHAPES.get(name, SHAPES["large"]), name == "linked")
        given = find_sensitive(table, [PPercent(1)], "v")
        begin, cpu = time.perf_counter(), time.process_time()
        found = suppress(table, given, search="fast", seed=Seed.for_tests(1), threads=1)
        spent, busy = time.perf_counter() - begin, time.process_time() - cpu
        told = ", ".join(each.verdict for each in found.audits.values())
        print(
            f"{name}: {len(table):,} cells, {int(given.sensitive.sum()):,} sensitive, {int(found.secondary.sum()):,} "
            f"besides, audit {told}: {spent / unit:.1f} U, "
            f"processor {busy / busy_unit:.1f} U; U = {unit:.3f} s, processor {busy_unit:.3f} s; "
            f"largest memory so far {getrusage(RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB"
        )


if __name__ == "__main__":
    main()
