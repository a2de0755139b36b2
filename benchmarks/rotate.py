"""One sweep of Rotate against gathering the rows once in random order, and a release against its sweeps, on one thread.

uv run python benchmarks/rotate.py [rows]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from suffice import Roles, Rotate, protect
from suffice.algorithms.rotation import turn as plain
from suffice.algorithms.rotation.constraints import Constraints
from suffice.algorithms.rotation.dealing import Dealer
from suffice.algorithms.rotation.densities import Densities
from suffice.algorithms.rotation.kernel import Kernel
from suffice.design.limits import Limits
from suffice.method.records import Records
from suffice.microdata.rotate import _Walker
from suffice.seed import Seed

Rows = NDArray[np.int64]

ROUNDS = 5
COLUMNS = 10


def best(job: Callable[[], object]) -> float:
    """Processor seconds of the fastest of a few runs."""
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        job()
        times.append(time.process_time() - start)
    return min(times)


def kernels() -> dict[str, Kernel]:
    """numba first, where it is installed."""
    try:
        from suffice.algorithms.rotation import compiled
    except ImportError:
        return {"NumPy": plain.turn}
    return {"numba": compiled.turn, "NumPy": plain.turn}


def timed(task: Records, shape: str, name: str, order: Rows) -> str:
    """One sweep, and the gather beside it."""
    dealer, ground, state = Dealer.of(task, "given", "free"), Constraints.of(task), task.Y.copy()
    law = Densities.of(task.Y, ground.low, ground.high, shape)
    generator = Seed.for_tests(1).derive("benchmark").generator("sweep")  # as slow as those of a release
    known = np.full(len(state), np.nan)

    def job() -> None:
        groups = dealer.groups(state, 2, generator)
        kernels()[name](state, ground, law, groups, plain.Chance.drawn(generator, ground, groups), known)

    with nullcontext() if name == "numba" else patch("suffice.algorithms.rotation.compass.loaded", lambda: None):
        job()
        took, gather = best(job), best(lambda: task.Y[order])
    return f"{took:.3f} s = {took / gather:.1f} gathers"


def release(Y: NDArray[np.float64]) -> str:
    """A release of the default, guards and certificate included, in the time of the mean of its sweeps."""
    swept, sweep = [0.0, 0.0], _Walker.sweep

    def timed_sweep(walker: _Walker, most: int, sure: bool = True) -> None:
        start = time.process_time()
        sweep(walker, most, sure)
        swept[0] += time.process_time() - start
        swept[1] += 1

    columns = [f"y{j}" for j in range(COLUMNS)]
    data, roles = pa.table(dict(zip(columns, Y.T, strict=True))), Roles(confidential=columns, bounds="observed-sign")
    with patch.object(_Walker, "sweep", timed_sweep):
        start = time.process_time()
        protect(data, roles, Rotate())
        took = time.process_time() - start
    return f"{took:.1f} s = {took / (swept[0] / swept[1]):.0f} sweeps, of which {swept[1]:.0f} were walked"


def main(n: int = 1_000_000) -> None:
    rng = np.random.default_rng(1)
    Y = np.exp(rng.standard_normal((n, COLUMNS)))
    order = rng.permutation(n)
    print(f"a release, all >= 0: {release(Y)}", flush=True)
    floor = Limits(np.zeros(COLUMNS), np.full(COLUMNS, np.inf), np.empty((0, COLUMNS)), np.empty((n, 0)), ())
    for title, given in (("intercept alone", 0), ("three given columns", 3)):
        X = np.hstack([np.ones((n, 1)), rng.standard_normal((n, given))])
        for said, limits in (("all >= 0", floor), ("no bounds", None)):
            task = Records(X, Y, Y, limits=limits)
            for shape in ("copula", "marginals", "uniform"):
                for name in kernels():
                    print(f"{title}, {said}, {shape}, {name}: {timed(task, shape, name, order)}", flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):
        main(*(int(value) for value in sys.argv[1:2]))
