"""One sweep of Rotate against gathering the rows once in random order, in one run, on one thread.

uv run python benchmarks/rotate.py [rows]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from suffice.limits import Limits
from suffice.rotation import turn as plain
from suffice.rotation.ground import Ground
from suffice.rotation.groups import Dealer
from suffice.rotation.kernel import Kernel
from suffice.task import Task

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
        from suffice.rotation import compiled
    except ImportError:
        return {"NumPy": plain.turn}
    return {"numba": compiled.turn, "NumPy": plain.turn}


def main(n: int = 1_000_000) -> None:
    rng = np.random.default_rng(1)
    Y = np.exp(rng.standard_normal((n, COLUMNS)))
    order = rng.permutation(n)
    floor = Limits(np.zeros(COLUMNS), np.full(COLUMNS, np.inf), np.empty((0, COLUMNS)), np.empty((n, 0)), ())
    for name, given in (("intercept alone", 0), ("three given columns", 3)):
        X = np.hstack([np.ones((n, 1)), rng.standard_normal((n, given))])
        for limits in (floor, None):
            task = Task(X, Y, Y, limits=limits)
            for kind in ("random", "near"):
                dealer, ground = Dealer.of(task, kind, "free"), Ground.of(task)
                for kernel_name, kernel in kernels().items():
                    state = Y.copy()

                    def sweep(
                        state: np.ndarray = state,
                        dealer: Dealer = dealer,
                        ground: Ground = ground,
                        kernel: Kernel = kernel,
                    ) -> None:
                        groups = dealer.groups(state, 1, rng)
                        kernel(state, ground, groups, plain.Chance.drawn(rng, ground, groups))

                    sweep()
                    took, gather = best(sweep), best(lambda: Y[order])
                    said = "all >= 0" if limits else "no bounds"
                    print(
                        f"{name}, {said}, {kind} groups, {kernel_name}: {took:.3f} s = {took / gather:.1f} gathers",
                        flush=True,
                    )


if __name__ == "__main__":
    with threadpool_limits(1):
        main(*(int(value) for value in sys.argv[1:2]))
