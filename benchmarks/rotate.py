"""One sweep of Rotate against gathering the rows once in random order, in one run, on one thread.

uv run python benchmarks/rotate.py [rows]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from suffice.rotation import turn as plain
from suffice.rotation.ground import Ground
from suffice.rotation.groups import deal, random_order
from suffice.task import Task

ROUNDS = 5


def best(job: Callable[[], object]) -> float:
    """Seconds of the fastest of a few runs."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return min(times)


class Floor:
    """Bounds at zero for every column, and nothing else."""

    def __init__(self, n: int, k: int) -> None:
        self.low, self.high = np.zeros(k), np.full(k, np.inf)
        self.C, self.rhs = np.empty((0, k)), np.empty((n, 0))


def main(n: int = 1_000_000, k: int = 10) -> None:
    generator = np.random.default_rng(1)
    Y = np.exp(generator.standard_normal((n, k)))
    order = generator.permutation(n)
    gather = best(lambda: Y[order])
    print(f"gather {n} x {k}: {gather:.3f} s")
    kernels = {"NumPy": plain.turn}
    try:
        from suffice.rotation import compiled

        kernels["numba"] = compiled.turn
    except ImportError:
        print("numba is not installed")
    for given, size in ((0, 3), (3, 6)):
        X = np.hstack([np.ones((n, 1)), generator.standard_normal((n, given))])
        for bounded in (True, False):
            ground = Ground.of(Task(X, Y, Y, limits=Floor(n, k) if bounded else None))  # type: ignore[arg-type]
            for name, kernel in kernels.items():

                def sweep(ground: Ground = ground, size: int = size, kernel: Callable[..., None] = kernel) -> None:
                    groups = deal(random_order(n, generator), size)
                    kernel(Y, ground, groups, plain.Chance.drawn(generator, ground, groups))

                sweep()
                took = best(sweep)
                said = "bounded" if bounded else "free"
                print(f"{given} given, groups of {size}, {said}, {name}: {took:.3f} s = {took / gather:.1f} gathers")


if __name__ == "__main__":
    with threadpool_limits(1):
        main(*(int(value) for value in sys.argv[1:2]))
