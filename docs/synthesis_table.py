"""Writes the tables of docs/synthesis.md, a minute or two: uv run python docs/synthesis_table.py [risk | use]"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.spatial import KDTree

import suffice
from suffice import Cart, Roles, Seed, Synthesis
from suffice.risk.membership import membership

PAGE = Path(__file__).with_name("synthesis.md")
DATA = Path(__file__).parents[2] / "shared" / "data" / "SD2011.csv"
COLUMNS = ["sex", "age", "edu", "marital", "income", "ls", "wkabint", "smoke"]
LEAVES, KEYS, FILES = (1, 2, 5, 10, 20, 50), 2, 5


def people() -> pd.DataFrame:
    data = pd.read_csv(DATA)[COLUMNS]
    return data.assign(income=data.income.where(data.income >= 0))


def numbers(frame: pd.DataFrame, like: pd.DataFrame) -> np.ndarray:
    """Numbers by their standard deviations, levels as 0 and 1."""
    wide = pd.get_dummies(frame, dummy_na=True).reindex(columns=pd.get_dummies(like, dummy_na=True).columns)
    return wide.fillna(0).to_numpy(dtype=float)


def attacked(least: int, smooth: bool = True) -> list[float]:
    """Members told at 1 % false alarms; incomes within 1 % read off the nearest released record, of members and others;
    values of one record that are released."""
    data, found = people().dropna(subset=["income"]), []
    for key in range(KEYS):
        mixed = data.sample(frac=1, random_state=key)
        members, others = mixed[: len(mixed) // 2], mixed[len(mixed) // 2 :]
        method = Synthesis(m=1, models=Cart(least=least, smooth=smooth))
        made = suffice.protect(members, Roles(confidential=COLUMNS), method, Seed.for_tests(key)).frame
        told = membership(*(numbers(each, data) for each in (members, others, made))).found
        known = [numbers(each.drop(columns="income"), data.drop(columns="income")) for each in (made, members, others)]
        sd = np.where(known[0].std(axis=0) > 0, known[0].std(axis=0), 1.0)
        tree, income = KDTree(known[0] / sd), made.income.to_numpy()
        right = []
        for who, each in zip(known[1:], (members, others), strict=True):
            guess, real = income[tree.query(who / sd)[1]], each.income.to_numpy()
            right.append(float((np.abs(guess - real) <= 0.01 * real).mean()))
        alone = members.income.value_counts()
        found.append([told, *right, float(np.isin(alone.index[alone == 1], income).mean())])
    return [float(each) for each in np.mean(found, axis=0)]


def useful(method: Synthesis) -> list[float]:
    """Means over files: pMSE over its expectation, by logistic regression, by a tree, and of two-way tables."""
    data, found = people(), []
    names = data.select_dtypes("number").columns
    judged = Roles(confidential=list(names), keep=[name for name in COLUMNS if name not in names], missing="drop")
    for made in suffice.protect(data, Roles(confidential=COLUMNS), method, Seed.for_tests(1)).frames:
        wanted = ["propensity-mixed", "propensity-tree", "tables"]
        said = str(suffice.assess(data, made, judged, measures=wanted, aligned=False))
        found.append(
            [*map(float, re.findall(r"ratio ([\d.]+)", said)), float(re.findall(r"tables +([\d.]+)", said)[0])]
        )
    return [float(each) for each in np.mean(found, axis=0)]


def risk() -> Iterator[str]:
    yield "| least | smooth | members told at 1 % | income read, members | others | values of one record |"
    yield "|---|---|---|---|---|---|"
    for least, smooth in [*((each, True) for each in LEAVES), (10, False)]:
        figures = " | ".join(f"{each:.3f}" for each in attacked(least, smooth))
        yield f"| {least} | {'yes' if smooth else 'no'} | {figures} |"


def use() -> Iterator[str]:
    yield "| models | pMSE ratio, logistic | by a tree | two-way tables |"
    yield "|---|---|---|---|"
    for name in ("cart:least=5", "cart:least=10", "cart:least=20", "linear:scale=quantile"):
        figures = " | ".join(f"{each:.2f}" for each in useful(Synthesis(m=FILES, models=name)))  # type: ignore[arg-type]
        yield f"| `{name}` | {figures} |"


if __name__ == "__main__":
    for table in [each for each in (risk, use) if each.__name__ in (sys.argv[1:] or ("risk", "use"))]:
        lines = []
        for line in table():
            sys.stdout.write(f"{line}\n")
            lines.append(line)
        text, mark = PAGE.read_text(encoding="utf-8"), rf"(<!-- {table.__name__} -->\n).*?(<!-- end -->)"
        PAGE.write_text(re.sub(mark, "\\g<1>" + "\n".join(lines) + "\n\\g<2>", text, flags=re.DOTALL), encoding="utf-8")
