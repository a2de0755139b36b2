"""Writes the tables of docs/synthesis.md, some minutes: uv run python docs/synthesis_table.py [risk | use]"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
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
LEAVES, KEYS, FILES, FEW = (1, 2, 5, 10, 20, 50), 8, 20, 5
EVERY = (1, 5, 10)
"""Leaves of trees with every split that there is."""
ANALYSES = ["lm: income ~ C(sex) + age + C(edu) + C(marital)", "lm: age ~ C(marital) + C(edu) + C(ls)"]
PEER = Path(__file__).parents[2] / "shared" / "reference"


def people() -> pd.DataFrame:
    data = pd.read_csv(DATA)[COLUMNS]
    return data.assign(income=data.income.where(data.income >= 0))


def numbers(frame: pd.DataFrame, like: pd.DataFrame) -> np.ndarray:
    """Numbers by their standard deviations, levels as 0 and 1."""
    wide = pd.get_dummies(frame, dummy_na=True).reindex(columns=pd.get_dummies(like, dummy_na=True).columns)
    return wide.fillna(0).to_numpy(dtype=float)


def attacked(model: Cart) -> list[float]:
    """Members told at 1 % false alarms; incomes within 1 % read off the nearest released record, of members and others;
    values of one record that are released."""
    data, found = people().dropna(subset=["income"]), []
    for key in range(KEYS):
        mixed = data.sample(frac=1, random_state=key)
        members, others = mixed[: len(mixed) // 2], mixed[len(mixed) // 2 :]
        asked = members, Roles(confidential=COLUMNS), Synthesis(m=1, models=model), Seed.for_tests(key)  # type: ignore[arg-type]
        made = suffice.protect(*asked).frame
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


def useful(data: pd.DataFrame, files: Sequence[pd.DataFrame]) -> list[float]:
    """Means over files: pMSE over its expectation by logistic regression, by a tree, two-way tables, and how far 95 %
    intervals of two regressions overlap."""
    found = []
    names = data.select_dtypes("number").columns
    judged = Roles(confidential=list(names), keep=[name for name in data if name not in names], missing="drop")
    for made in files:
        wanted = ["propensity-mixed", "propensity-tree", "tables", "interval-overlap"]
        said = str(suffice.assess(data, made, judged, measures=wanted, aligned=False, analyses=ANALYSES))
        ratios = [*map(float, re.findall(r"ratio ([\d.]+)", said))]
        found.append([*ratios, *(float(re.findall(rf"{each} +([\d.]+)", said)[0]) for each in wanted[2:])])
    return [float(each) for each in np.mean(found, axis=0)]


def risk() -> Iterator[str]:
    yield "| least | gain | smooth | members told at 1 % | income read, members | others | values of one record |"
    yield "|---|---|---|---|---|---|---|"
    every = [Cart(least=each, gain=0) for each in EVERY]
    for model in [*(Cart(least=each) for each in LEAVES), *every, Cart(smooth=False)]:
        figures = " | ".join(f"{each:.3f}" for each in attacked(model))
        yield f"| {model.least} | {model.gain:g} | {'yes' if model.smooth else 'no'} | {figures} |"


def use() -> Iterator[str]:
    yield "| models | files | pMSE ratio, logistic | by a tree | two-way tables | intervals overlap |"
    yield "|---|---|---|---|---|---|"

    def line(name: str, data: pd.DataFrame, files: Sequence[pd.DataFrame]) -> str:
        return f"| {name} | {len(files)} | {' | '.join(f'{each:.2f}' for each in useful(data, files))} |"

    asked = (
        (people(), ("cart:least=5", "cart:least=10"), FILES),
        (people(), ("cart:least=5,gain=0", "linear:scale=quantile"), FEW),
        (people().drop(columns="smoke"), ("cart:least=5",), FILES),
    )
    for data, names, m in asked:
        for name in names:
            method, roles = Synthesis(m=m, models=name), Roles(confidential=list(data))  # type: ignore[arg-type]
            files = suffice.protect(data, roles, method, Seed.for_tests(1)).frames
            yield line(f"`{name}`{'' if 'smoke' in data else ', 7 columns'}", data, files)
    if PEER.exists():  # synthpop 1.9-3, recorded, measured alike
        data = pd.read_csv(PEER / "synthpop_obs.csv")
        for name, paths in (("trees", ["m1"]), ("parametric", [f"m5_{i}" for i in range(1, 6)])):
            files = [pd.read_csv(PEER / f"synthpop_syn_{path}.csv") for path in paths]
            yield line(f"synthpop, {name}, 7 columns", data, files)


if __name__ == "__main__":
    for table in [each for each in (risk, use) if each.__name__ in (sys.argv[1:] or ("risk", "use"))]:
        lines = []
        for line in table():
            sys.stdout.write(f"{line}\n")
            lines.append(line)
        text, mark = PAGE.read_text(encoding="utf-8"), rf"(<!-- {table.__name__} -->\n).*?(<!-- end -->)"
        PAGE.write_text(re.sub(mark, "\\g<1>" + "\n".join(lines) + "\n\\g<2>", text, flags=re.DOTALL), encoding="utf-8")
