"""Time and memory of partitions for microaggregation, in U: the floor of `speed.py` at (1e6, 10, 10), in the same run.

Processor time throughout, so that other work on the machine counts for less.

uv run python benchmarks/microaggregate.py [mdav | numpy | best | all]
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from unittest.mock import patch

import numpy as np
from speed import floor
from threadpoolctl import threadpool_limits

from suffice.algorithms.partition.best import best
from suffice.algorithms.partition.loss import information_loss, standardised
from suffice.algorithms.partition.mdav import mdav

K = 3
Array = np.ndarray


def normal(n: int, p: int) -> Array:
    return np.random.default_rng(1).standard_normal((n, p))


def skewed(n: int, p: int) -> Array:
    return standardised(np.exp(normal(n, p)))


def structured(n: int, p: int) -> Array:
    """Four factors and some noise, as columns of a business survey have."""
    rng = np.random.default_rng(2)
    return standardised(rng.standard_normal((n, 4)) @ rng.standard_normal((4, p)) + 0.3 * rng.standard_normal((n, p)))


def rounded(n: int, p: int) -> Array:
    """Whole numbers with many equal records and half of the cells zero."""
    return standardised(np.floor(np.maximum(normal(n, p) * 3, 0)))


KINDS: dict[str, Callable[[int, int], Array]] = {
    "normal": normal,
    "skewed": skewed,
    "structured": structured,
    "rounded": rounded,
}


def peak() -> int:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def timed(job: Callable[[], object]) -> tuple[float, int, object]:
    """Seconds, bytes at the peak beyond what was there, and the result."""
    gc.collect()
    with open("/proc/self/clear_refs", "w") as refs:
        refs.write("5")
    before, begin = peak(), time.process_time()
    result = job()
    return time.process_time() - begin, peak() - before, result


def compare(
    what: str, jobs: list[tuple[int, int, float]], part: Callable[[Array], Array], kinds: list[str], U: float
) -> None:
    for n, p, allowed in jobs:
        for kind in kinds:
            V = KINDS[kind](n, p)
            seconds, memory, labels = timed(lambda V=V: part(V))
            assert np.bincount(labels).min() >= K
            said = f", at most {allowed:g} U asked" if allowed else ""
            space = f"; peak {memory / V.nbytes:.1f} x the input" if kind == kinds[0] else ""  # later ones reuse it
            loss = f"; loss {information_loss(V, labels):.4f} %"
            print(
                f"{what}, n = {n}, p = {p}, {kind}: {seconds:.2f} s = {seconds / U:.1f} U{said}{space}{loss}",
                flush=True,
            )


def main(part: str = "all") -> None:
    with patch("time.perf_counter", time.process_time):
        U = floor(10**6, 10, 10)
    print(f"U = {U:.3f} s; k = {K}")
    mdav(normal(300, 2), K), best(normal(300, 2), K)  # what numba compiles is not timed
    every = list(KINDS)
    if part in ("mdav", "all"):
        sizes = [(50_000, 13, 10.0), (100_000, 5, 6.0), (1_000_000, 5, 150.0)]
        compare("MDAV, numba", sizes, lambda V: mdav(V, K, compiled=True), every, U)
    if part in ("numpy", "all"):
        sizes = [(50_000, 13, 0.0), (100_000, 5, 0.0)]
        compare("MDAV, NumPy", sizes, lambda V: mdav(V, K, compiled=False), ["normal"], U)
    if part in ("best", "all"):
        compare("best, numba", [(10_000, 5, 0.0), (100_000, 5, 0.0)], lambda V: best(V, K), ["normal", "skewed"], U)


if __name__ == "__main__":
    with threadpool_limits(1):
        main(*sys.argv[1:2])
