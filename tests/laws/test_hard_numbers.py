"""Hard numbers: the promises hold to the digits that the data have, whatever their condition, offset or scale.

Run with -s to see the table of ratios: what the test finds in extended precision, and (what the certificate says).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from suffice import Ipso, ResidualCorrelation, Roles, Romm, Seed, protect
from suffice.algebra.array import Array
from suffice.method.isometric import Isometric
from suffice.rows.rows import BLOCK
from tests.tolerances import ALGEBRA
from tests.truth import ratios

Pair = tuple[Array, Array]

N = 2000
PLAIN: list[Isometric] = [Ipso(), Romm(lam=0.3), ResidualCorrelation(0.5)]
METHODS = [*PLAIN, Ipso(by="svd")]
HONEST = 3.0
"""How far the certificate's own rounding may take a ratio from the truth."""


def data(n: int = N, m: int = 3, k: int = 3) -> Pair:
    """Given columns and confidential ones that depend on them."""
    rng = np.random.default_rng(20190101)
    X = rng.normal(size=(n, m))
    return X, X @ rng.normal(size=(m, k)) + rng.normal(size=(n, k)) @ (np.eye(k) + 0.3)


def noise(n: int = N) -> Array:
    return np.random.default_rng(7).normal(size=n)


def near_collinear(condition: float) -> Pair:
    X, Y = data()
    X[:, 2] = X[:, 0] + X[:, 1] + noise() / condition
    return X, Y


def offset(x: float, y: float) -> Pair:
    X, Y = data()
    return X + x, Y + y


def scaled(x: tuple[float, ...], y: tuple[float, ...]) -> Pair:
    X, Y = data()
    return X * x, Y * y


def dependent_given() -> Pair:
    X, Y = data()
    return np.column_stack([X, X[:, 0] - X[:, 1], X[:, 2], np.full(N, 3.7)]), Y


def third(of: Any) -> Pair:
    """The third confidential column is a function of the two before it."""
    X, Y = data()
    Y[:, 2] = of(Y)
    return X, Y


def whole_sum() -> Pair:
    X, Y = data()
    Y = np.round(1000 * Y)
    return X, np.column_stack([Y[:, 0], Y[:, 1], Y[:, 0] + Y[:, 1]])


def few(n: int, k: int) -> Pair:
    X, Y = data(k=2)
    return X[:n, :1], Y[:n, :k]


def mixed() -> Pair:
    """Near-collinear and dependent X at odd scales; Y with an offset, a constant, a sum and a tiny scale."""
    X, Y = near_collinear(1e8)
    X = np.column_stack([X * (1e-8, 1.0, 1e12) + (0.0, 1e6, 0.0), 3e-8 * X[:, 0]])
    Y = Y * (1e12, 1e-8, 1.0) + (0.0, 1e-3, 1e6)
    return X, np.column_stack([Y, np.full(N, 0.1), Y[:, 0] + Y[:, 0]])


CASES = {
    **{f"cond(X) {c:.0e}": (near_collinear, (c,)) for c in (1e2, 1e4, 1e6, 1e8, 1e10, 1e12)},
    **{f"offset {o:.0e} in Y": (offset, (0.0, o)) for o in (1e6, 1e9)},
    **{f"offset {o:.0e} in X": (offset, (o, 0.0)) for o in (1e6, 1e9)},
    "offset 1e9 in X and Y": (offset, (1e9, 1e9)),
    "scales of X 1e-8 .. 1e12": (scaled, ((1e-8, 1.0, 1e12), (1.0, 1.0, 1.0))),
    "scales of Y 1e-8 .. 1e12": (scaled, ((1.0, 1.0, 1.0), (1e12, 1e-8, 1.0))),
    "dependent X": (dependent_given, ()),
    "Y3 = Y1 + Y2, whole numbers": (whole_sum, ()),
    "Y3 = Y1 + Y2": (third, (lambda Y: Y[:, 0] + Y[:, 1],)),
    "Y3 = Y1": (third, (lambda Y: Y[:, 0],)),
    "Y3 = Y1 + Y2 + 1e-7 noise": (third, (lambda Y: Y[:, 0] + Y[:, 1] + 1e-7 * noise(),)),
    "Y3 = Y1 + Y2 + 1e-10 noise": (third, (lambda Y: Y[:, 0] + Y[:, 1] + 1e-10 * noise(),)),
    "constant Y3": (third, (lambda Y: np.full(len(Y), 0.1),)),
    "n = 5": (few, (5, 1)),
    "n = 6, k = 2": (few, (6, 2)),
    "n = 8, k = 2": (few, (8, 2)),
    "mixed": (mixed, ()),
}
every_case = pytest.mark.parametrize("case", CASES)
every_method = pytest.mark.parametrize("method", METHODS, ids=lambda m: f"{m.name}-{m.parameters()}")


def made(case: str) -> Pair:
    of, arguments = CASES[case]
    X, Y = of(*arguments)
    return X, Y


def file_of(X: Array, Y: Array) -> tuple[pd.DataFrame, Roles]:
    given = [f"x{i}" for i in range(X.shape[1])]
    confidential = [f"y{i}" for i in range(Y.shape[1])]
    frame = pd.DataFrame(np.hstack([X, Y]), columns=[*given, *confidential])
    return frame, Roles(confidential=confidential, given=given)


def released(source: Any, roles: Roles, method: Isometric) -> tuple[Array, Array, dict[str, float]]:
    """X and Y of the release, and the ratios of its certificate, which holds."""
    release = protect(source, roles, method, seed=Seed.for_tests(1))
    assert release.certificate.holds, release.certificate.text()
    frame = release.frame if isinstance(release.frame, pd.DataFrame) else release.frame.to_pandas()
    said = {claim.statistic: claim.ratio for claim in release.certificate.claims}
    return frame[list(roles.given)].to_numpy(), frame[list(roles.confidential)].to_numpy(), said


def check(case: str, engine: str, source: Any, X: Array, Y: Array, roles: Roles, method: Isometric) -> None:
    Xstar, Ystar, said = released(source, roles, method)
    found = ratios(X, Y, Xstar, Ystar)
    figures = " ".join(f"{name} {found[name]:5.2f} ({said[name]:5.2f})" for name in found)
    print(f"{case:<28} {engine:<8} {method.name:<21} {figures}")
    assert max(found.values()) <= ALGEBRA
    for name, ratio in found.items():
        assert abs(said[name] - ratio) <= HONEST, name
    constant = Y.std(axis=0) == 0
    assert np.array_equal(Ystar[:, constant], Y[:, constant])  # bit for bit; all rows are equal, so in any order
    assert constant.all() or not np.array_equal(np.sort(Ystar[:, ~constant], axis=0), np.sort(Y[:, ~constant], axis=0))


@every_case
@every_method
def test_in_memory(case: str, method: Isometric) -> None:
    X, Y = made(case)
    frame, roles = file_of(X, Y)
    check(case, "memory", frame, X, Y, roles, method)


@every_case
@pytest.mark.parametrize("method", PLAIN, ids=lambda m: m.name)
def test_in_parquet(case: str, method: Isometric, tmp_path: Path) -> None:
    X, Y = made(case)
    frame, roles = file_of(X, Y)
    path = tmp_path / "hard.parquet"
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), path, row_group_size=301)
    check(case, "parquet", path, X, Y, roles, method)


@pytest.mark.slow
@pytest.mark.parametrize(("at", "engine"), [(0.0, "memory"), (1e9, "parquet")])
def test_a_million_rows(at: float, engine: str, tmp_path: Path) -> None:
    X, Y = data(1_000_000, 2, 2)
    Y = Y + at
    frame, roles = file_of(X, Y)
    source: Any = frame
    if engine == "parquet":
        source = tmp_path / "hard.parquet"
        pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), source)
    check(f"n = 1e6, offset {at:.0e} in Y", engine, source, X, Y, roles, Ipso())


FIRST = np.arange(20_000) < BLOCK
"""The rows that the coordinates are chosen from, where one block is all that is looked at."""


def misled(case: str) -> Pair:
    """Files whose first block says nothing of the others."""
    X, Y = data(20_000)
    match case:
        case "dependent X":
            X[FIRST, 2] = X[FIRST, 0] + X[FIRST, 1]
        case "nearly dependent X":
            X[FIRST, 2] = X[FIRST, 0] + X[FIRST, 1] + 1e-9 * X[FIRST, 2]
        case "nearly dependent Y":
            Y[FIRST, 2] = Y[FIRST, 0] + Y[FIRST, 1] + 1e-9 * Y[FIRST, 2]
        case "dependent Y":
            Y[FIRST, 2] = Y[FIRST, 0] + Y[FIRST, 1]
        case "constant X":
            X[FIRST, 2] = 1.0
        case "constant Y":
            Y[FIRST, 2] = 1.0
        case "large X":
            X[FIRST] *= 1e9
        case "small Y":
            Y[FIRST] *= 1e-9
        case "nearly dependent X elsewhere":
            X[~FIRST, 2] = X[~FIRST, 0] + X[~FIRST, 1] + 1e-9 * X[~FIRST, 2]
        case "a category seen nowhere":
            X[:, 2] = np.arange(len(X)) >= len(X) - 5
    return X, Y


@pytest.mark.parametrize(
    "case",
    [
        "dependent X",
        "dependent Y",
        "nearly dependent X",
        "nearly dependent Y",
        "constant X",
        "constant Y",
        "large X",
        "small Y",
        "nearly dependent X elsewhere",
        "a category seen nowhere",
    ],
)
def test_a_first_block_that_misleads(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.design.profile.SAMPLES", 1)
    X, Y = misled(case)
    frame, roles = file_of(X, Y)
    check(f"first block: {case}", "memory", frame, X, Y, roles, Ipso())


@pytest.mark.parametrize("case", ["Y3 = Y1 + Y2, whole numbers", "Y3 = Y1 + Y2", "Y3 = Y1"])
@every_method
def test_relations_between_confidential_columns_stay_true(case: str, method: Isometric) -> None:
    X, Y = made(case)
    frame, roles = file_of(X, Y)
    _, Ystar, _ = released(frame, roles, method)
    total = Ystar[:, 0] + (Ystar[:, 1] if "+" in case else 0.0)
    assert np.abs(Ystar[:, 2] - total).max() <= 1e-12 * np.abs(Y).max()


@pytest.mark.parametrize("n", [6, 7, 12, 200])
def test_dependent_columns_on_nearly_collinear_ones(n: int) -> None:
    """What is left of a dependent column beside its parts is rounding; the parts themselves are not."""
    rng = np.random.default_rng(n)
    a = rng.normal(size=n)
    b = a + 0.01 * rng.normal(size=n)
    data = pd.DataFrame({"a": a, "b": b, "c": (b - a) / 0.01, "d": a + b})
    release = protect(data, Roles(confidential=list("abcd")), Ipso(), Seed.for_tests(n))
    assert max(claim.ratio for claim in release.certificate.claims) <= ALGEBRA


@pytest.mark.parametrize("n", [5, 6, 7, 8])
def test_fewer_records_than_nearly_dependent_columns(n: int) -> None:
    rng = np.random.default_rng(n)
    Y = rng.normal(size=(n, 1)) + 0.01 * rng.normal(size=(n, 6))
    data = pd.DataFrame(Y, columns=list("abcdef"))
    release = protect(data, Roles(confidential=list("abcdef")), Ipso(), Seed.for_tests(n))
    assert max(claim.ratio for claim in release.certificate.claims) <= ALGEBRA
