"""Margins beside the sorts that it needs, and other generators: python benchmarks/generators.py [N]"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

from suffice.algorithms.latin_hypercube import rank_correlations, reordered, stratified
from suffice.algorithms.margins import branches, cell_numbers, dealt_below
from suffice.microdata.bootstrap import Bootstrap, SmoothKernel
from suffice.seed import Seed


def best(of: Callable[[], object], times: int = 5) -> float:
    """Processor seconds."""
    found = []
    for _ in range(times):
        begin = time.process_time()
        of()
        found.append(time.process_time() - begin)
    return min(found)


def main() -> None:
    n = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**6
    rng = np.random.default_rng(1)
    levels = dict(zip("abcdef", (2, 5, 6, 16, 9, 4), strict=True))
    codes = {name: rng.integers(many, size=n).astype(np.uint8) for name, many in levels.items()}
    steps = branches([("a", "b", "c"), ("b", "d"), ("d", "e"), ("e", "f")])
    assert steps is not None

    def sorts() -> None:
        """Two of each step: of what was, mixed, and of what was drawn."""
        for step in steps:
            mixed = rng.permutation(n)
            if step.separator:
                number = cell_numbers([codes[name] for name in step.separator], n)
                np.argsort(number[mixed], kind="stable")
                np.argsort(number, kind="stable")

    drawn, needed = best(lambda: dealt_below(codes, steps, rng)), best(sorts)
    print(f"margins: {n:,} x 6 in {drawn:.3f} s, its sorts {needed:.3f} s: {drawn / needed:.2f} times")
    Y = np.exp(rng.normal(size=(n // 10, 6)))
    none = np.full(6, np.inf)
    kernel, R = SmoothKernel(Y, None, -none, none), np.linalg.cholesky(np.cov(Y.T)).T
    spent = best(lambda: Bootstrap().draw(Y.mean(axis=0), R, kernel, len(Y), Seed.for_tests(1).derive()), 3)
    print(f"bootstrap: {len(Y):,} x 6 in {spent:.3f} s")
    values = np.column_stack([stratified(np.sort(y), None, len(Y), rng) for y in Y.T])
    wanted = rank_correlations(Y)
    spent = best(lambda: reordered(values, wanted, rng), 1)
    print(f"latin-hypercube: {len(Y):,} x 6 in {spent:.3f} s, error and rounds {reordered(values, wanted, rng)[1:]}")


if __name__ == "__main__":
    main()
