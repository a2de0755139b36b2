"""Time of generalized microaggregation in U, the floor at (1e6, 10, 10) of the same run.

    python benchmarks/hybrid.py [clusters of ten: 1e4 1e5]

Five confidential columns, one local and two overall variables, on one thread; the random matrix is given. The last line
is the whole way: `protect`, with guards and a certificate of every cluster.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import pyarrow as pa
from speed import floor
from threadpoolctl import threadpool_limits

from suffice import MicroHybrid, Roles, protect
from suffice.algorithms.hybrid.algorithm import hybrid

VARIANTS: dict[str, dict[str, Any]] = {
    "main": {},
    "a": {"slopes": 0},
    "largest": {"slopes": "largest"},
    "pieces": {"pieces": 3},
    "groups": {"cluster_groups": 20},
    "weights": {"weights": 1},
}


def request(n: int, clusters: int, variant: str) -> dict[str, Any]:
    """n records in clusters of different sizes, ten on average and at least eight with modifications a to c."""
    rng = np.random.default_rng(5)
    labels = np.concatenate([np.repeat(np.arange(clusters), 8), rng.integers(clusters, size=n - 8 * clusters)])
    if variant in ("a", "largest"):  # needs 1 + 1 + 2 + 5 dimensions in every cluster
        labels = np.repeat(np.arange(clusters), n // clusters)
    X, Y, Z = rng.normal(size=(n, 3)), rng.normal(size=(n, 5)), rng.normal(size=(n, 5))
    made = {"Y": Y, "Z": Z, "clusters": rng.permutation(labels), "local": X[:, :1], "overall": X[:, 1:]}
    more = dict(VARIANTS[variant])
    if "pieces" in more:
        more["pieces"] = rng.integers(more["pieces"], size=n)
    if "cluster_groups" in more:
        more |= {"cluster_groups": made["clusters"] % more["cluster_groups"], "groups_given": X[:, 2:]}
        made["overall"] = X[:, 1:2]
    if "weights" in more:
        more["weights"] = rng.uniform(1, 5, size=n)
    return made | more


def timed(n: int, clusters: int, variant: str, repeats: int) -> float:
    made, best = request(n, clusters, variant), np.inf
    for _ in range(repeats):
        begin = time.perf_counter()
        found = hybrid(made["Y"], made["Z"], **{name: made[name] for name in made if name not in ("Y", "Z")}).Ystar
        best = min(best, time.perf_counter() - begin)
        del found
    return best


def protected(n: int, clusters: int) -> float:
    made = request(n, clusters, "main")
    columns = {
        "cluster": made["clusters"],
        "a": made["local"][:, 0],
        "b": made["overall"][:, 0],
        "c": made["overall"][:, 1],
    }
    table = pa.table({**columns, **{f"y{j}": y for j, y in enumerate(made["Y"].T)}})
    method = MicroHybrid(clusters="cluster", local="a", overall="b + c")
    best = np.inf
    for _ in range(2):  # the first time reads modules
        begin = time.perf_counter()
        protect(table, Roles(confidential=[f"y{j}" for j in range(5)]), method, threads=1)
        best = min(best, time.perf_counter() - begin)
    return best


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clusters", nargs="*", type=float, default=[1e4, 1e5])
    with threadpool_limits(1):
        U = floor(10**6, 10, 10)
        print(f"U = {U:.3f} s")
        for clusters in map(int, parser.parse_args().clusters):
            for variant in VARIANTS:
                spent = timed(10 * clusters, clusters, variant, 3 if clusters <= 10**4 else 1)
                print(f"{10 * clusters} records, {clusters} clusters, {variant}: {spent / U:.2f} U")
            print(
                f"{10 * clusters} records, {clusters} clusters, protect: {protected(10 * clusters, clusters) / U:.2f} U"
            )
