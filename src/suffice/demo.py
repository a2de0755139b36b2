"""A made-up register of firms, for the demonstration, the documentation and the tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

REGIONS = ("Aldermark", "Brenfjord", "Costavera", "Dunholm", "Elmsund", "Fairhaven", "Grenvik", "Highmoor")
REGION_SHARES = (0.24, 0.19, 0.15, 0.12, 0.10, 0.08, 0.07, 0.05)
INDUSTRIES = ("accommodation", "construction", "information", "manufacturing", "trade", "transport")
INDUSTRY_SHARES = (0.10, 0.19, 0.09, 0.22, 0.28, 0.12)
OUTPUT = (60.0, 110.0, 150.0, 190.0, 240.0, 130.0)  # turnover per employee, by industry
SIZES = ("small", "medium", "large")
SIZE_FROM = (10, 50, 200)  # employees at which a size class begins
SAMPLED = (0.1, 0.5, 1.0)  # share of each size class in the survey: the weight is its inverse

PLAN = """\
# The whole request in one file: suffice run plan.toml
# No [[method]] is named: records drawn anew, rotated inside the bounds.

[data]
path = "firms.parquet"

[roles]
confidential = ["turnover", "wages", "taxes", "other_costs", "total_costs"]
given = "C(region) + C(industry) + C(size)"  # regressions on these are kept
weight = "weight"                     # the statistics that are kept are weighted ones
bounds = "observed-sign"              # what was never negative stays so
identifiers = ["firm_id"]             # dropped

[seed]
key_file = "secret.key"

[compare]                             # suffice compare plan.toml
methods = ["default", "ipso", "shuffle", "rank-swap:p=0.2"]
repeats = 2                           # 100 where it counts
limits = {linkage = 0.01}
keep = ["mean", "covariance"]         # of what is recommended

[release]
path = "release.parquet"
"""


def firms(n: int = 2000, seed: int = 2019) -> pa.Table:
    """Firms with ten or more employees: skewed, correlated amounts, and a total that is the sum of its parts.

    total_costs = wages + taxes + other_costs, exactly: amounts are whole numbers (thousands), as floats.

    Args:
        n: number of firms.
        seed: decides the firms; they are invented, so this is no secret.

    >>> table = firms(50)
    >>> parts = [table[name].to_numpy() for name in ("wages", "taxes", "other_costs")]
    >>> bool((sum(parts) == table["total_costs"].to_numpy()).all())
    True
    """
    import numpy as np
    import pyarrow as pa

    rng = np.random.default_rng(seed)
    industry = rng.choice(len(INDUSTRIES), n, p=INDUSTRY_SHARES)
    employees = np.rint(10 + rng.lognormal(3.4, 0.9, n)).astype(np.int64)
    size = np.searchsorted(SIZE_FROM, employees, side="right") - 1
    return pa.table(
        {
            "firm_id": [f"F{number:06d}" for number in rng.permutation(n) + 1],
            "region": np.asarray(REGIONS)[rng.choice(len(REGIONS), n, p=REGION_SHARES)],
            "industry": np.asarray(INDUSTRIES)[industry],
            "size": np.asarray(SIZES)[size],
            "employees": employees,
            **_money(rng, employees, np.asarray(OUTPUT)[industry]),
            "weight": np.round(1 / np.asarray(SAMPLED)[size] * rng.uniform(0.9, 1.1, n), 3),
        }
    )


def _money(rng: np.random.Generator, employees: Any, output: Any) -> dict[str, Any]:
    """Amounts that share a firm's luck, so that they correlate beyond its size and industry."""
    import numpy as np

    n = len(employees)
    luck = rng.normal(0, 0.25, n)
    turnover = np.rint(employees * output * np.exp(luck + rng.normal(0, 0.2, n)))
    wages = np.rint(employees * 45 * np.exp(0.4 * luck + rng.normal(0, 0.2, n)))
    taxes = np.rint(0.06 * turnover * rng.lognormal(0, 0.3, n))
    other_costs = np.rint(0.35 * turnover * rng.lognormal(0, 0.25, n))
    total_costs = wages + taxes + other_costs
    return {
        "turnover": turnover,
        "wages": wages,
        "taxes": taxes,
        "other_costs": other_costs,
        "total_costs": total_costs,
    }
