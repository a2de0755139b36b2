"""Exact products of small whole numbers are a knapsack: lattice reduction finds all of them from a release alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import Ipso, Roles, Seed, protect
from suffice.algebra.array import Array
from suffice.errors import GuardError
from suffice.release.release import Release

Basis = list[list[int]]


def reduced(basis: Basis) -> Basis:
    """Lenstra, Lenstra and Lovász in whole numbers: d[i] are Gram determinants, lam[i][j] = d[j+1] mu[i][j]."""
    b, n = [row[:] for row in basis], len(basis)
    d, lam = [1] + [0] * n, [[0] * n for _ in range(n)]

    def learn(k: int) -> None:
        for j in range(k + 1):
            u = sum(x * y for x, y in zip(b[k], b[j], strict=True))
            for i in range(j):
                u = (d[i + 1] * u - lam[k][i] * lam[j][i]) // d[i]
            if j < k:
                lam[k][j] = u
            else:
                d[k + 1] = u

    def shorten(k: int, i: int) -> None:
        if 2 * abs(lam[k][i]) <= d[i + 1]:
            return
        q = (2 * lam[k][i] + d[i + 1]) // (2 * d[i + 1])
        b[k] = [x - q * y for x, y in zip(b[k], b[i], strict=True)]
        lam[k][i] -= q * d[i + 1]
        for j in range(i):
            lam[k][j] -= q * lam[i][j]

    def swap(k: int, known: int) -> None:
        b[k], b[k - 1] = b[k - 1], b[k]
        for j in range(k - 1):
            lam[k][j], lam[k - 1][j] = lam[k - 1][j], lam[k][j]
        m = lam[k][k - 1]
        new = (d[k - 1] * d[k + 1] + m * m) // d[k]
        for i in range(k + 1, known + 1):
            t = lam[i][k]
            lam[i][k] = (d[k + 1] * lam[i][k - 1] - m * t) // d[k]
            lam[i][k - 1] = (new * t + m * lam[i][k]) // d[k + 1]
        d[k] = new

    learn(0)
    k, known = 1, 0
    while k < n:
        if k > known:
            known = k
            learn(k)
        shorten(k, k - 1)
        if 4 * d[k + 1] * d[k - 1] < 3 * d[k] ** 2 - 4 * lam[k][k - 1] ** 2:
            swap(k, known)
            k = max(1, k - 1)
        else:
            for i in range(k - 2, -1, -1):
                shorten(k, i)
            k += 1
    return b


def found(X: Array, products: Array, total: float, bits: int) -> Array | None:
    """All y of zeros and ones with these sums of x y, for each column of X, and of y: short vectors of a lattice."""
    n, scale, heavy = len(X), 2.0**bits / np.abs(X).max(axis=0), 1 << 10
    a, s = ([[round(v) for v in row] for row in (M * scale).tolist()] for M in (X, products[None]))
    rows = [[2 * (i == j) for j in range(n)] + [0, heavy * 2, *(8 * v for v in a[i])] for i in range(n)]
    rows.append([1] * n + [1, heavy * 2 * round(total), *(8 * v for v in s[0])])
    for row in reduced(rows):
        y = (1 - np.array(row[:n]) * np.sign(row[n] or 1)) / 2
        if ((y == 0) | (y == 1)).all() and (np.abs(y @ X - products) < 1e-9 * np.abs(products)).all():
            return np.asarray(y)
    return None


def persons(n: int = 20) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    x = rng.lognormal(3, 0.5, n)
    return pd.DataFrame({"x": x, "town": np.arange(n) % 2, "y": (rng.random(n) < 0.5).astype(float)})


def released(data: pd.DataFrame, **roles: Any) -> Release:
    return protect(data, Roles(confidential=["y"], **roles), Ipso(), seed=Seed.for_tests(1))


def attacked(release: Release, weights: Array | None = None) -> Array | None:
    """From the released rows alone."""
    frame = release.frame
    numbers = np.log(frame["x"].to_numpy()) if weights is None else weights
    y = frame["y"].to_numpy()
    return found(numbers[:, None], numbers[None] @ y, float(y.sum()), 38)


def truth(release: Release, data: pd.DataFrame) -> Array:
    """Persons are told apart by x."""
    return data.set_index("x")["y"].loc[release.frame["x"]].to_numpy()


def level(release: Release) -> str | None:
    return next((finding.level for finding in release.findings if finding.rule == "information"), None)


def test_twenty_answers_are_found_from_one_logarithm() -> None:
    data = persons()
    release = released(data, given="log(x)")
    assert np.array_equal(attacked(release), truth(release, data))
    assert level(release) == "stop"


def test_three_releases_that_tell_too_little_each_tell_it_together() -> None:
    """46 answers: 48 bits of a logarithm, of a root and of a square, each in a release of its own."""
    data = persons(46)
    releases = [released(data, given=f"{name}(x)") for name in ("log", "sqrt", "square")]
    assert not any(map(level, releases))
    y = [release.frame.sort_values("x")["y"].to_numpy() for release in releases]
    x = data["x"].sort_values().to_numpy()
    X = np.column_stack([np.log(x), np.sqrt(x), np.square(x)])
    X -= X.mean(axis=0).round()  # the total is known
    told = np.array([X[:, j] @ y[j] for j in range(3)])
    assert np.array_equal(found(X, told, float(y[0].sum()), 42), data.sort_values("x")["y"])


def test_the_ledger_adds_bits_up(tmp_path: Path) -> None:
    data, key = persons(46), Seed.new_file(tmp_path / "key")

    def request(given: str, **more: Any) -> Release:
        return protect(data, Roles(confidential=["y"], given=given, **more), Ipso(), seed=key)

    request("log(x)").write(tmp_path / "one.csv")
    again = request("log(x) + C(town)")
    assert level(again) is None  # a count is few bits, and the same product none
    again.write(tmp_path / "two.csv")
    second = request("sqrt(x)")
    assert level(second) == "stop"
    with pytest.raises(GuardError, match="with 2 earlier releases"):
        second.write(tmp_path / "three.csv")
    assert level(request("sqrt(x)", integer=["y"])) is None


def test_what_was_rounded_tells_few_bits_in_later_releases(tmp_path: Path) -> None:
    data, key = persons(46), Seed.new_file(tmp_path / "key")
    roles = Roles(confidential=["y"], given="log(x)", integer=["y"])
    protect(data, roles, Ipso(), seed=key).write(tmp_path / "one.csv")
    assert level(protect(data, Roles(confidential=["y"], given="sqrt(x)"), Ipso(), seed=key)) is None


def test_rounding_is_a_remedy() -> None:
    data = persons()
    release = released(data, given="log(x)", integer=["y"])
    guess = attacked(release)
    assert guess is None or (guess == truth(release, data)).mean() < 0.9
    assert level(release) is None


@pytest.mark.parametrize(
    ("n", "given", "expected"),
    [
        (40, "log(x)", "stop"),
        (60, "log(x)", None),  # 48 bits tell no more than 48 answers
        (60, "log(x) + sqrt(x)", "stop"),
        (120, "log(x) + sqrt(x)", None),
        (60, "C(town)", None),  # counts are few bits
    ],
)
def test_records_against_bits(n: int, given: str, expected: str | None) -> None:
    assert level(released(persons(n), given=given)) == expected


def test_amounts_are_not_solved() -> None:
    data = persons(40)
    data["y"] = np.random.default_rng(1).lognormal(8, 1, 40)
    assert level(released(data, given="log(x)")) is None
    data["y"] = data["y"].round()  # whole, and with many values
    assert level(released(data, given="log(x)")) is None


def test_groups_and_weights_are_judged_as_files_are() -> None:
    rng = np.random.default_rng(2)
    data = persons(400)
    data["group"], data["w"] = np.arange(400) // 25, rng.uniform(1, 2, 400)
    assert level(released(data, given="log(x)")) is None
    assert level(released(data, given="log(x)", groups=["group"])) == "stop"
    assert level(released(data, given="C(group)")) is None
    assert level(released(data, given="C(group)", weight="w")) == "stop"  # each cell has a weighted total
    assert level(released(data.assign(w=data["w"].round(1)), given="C(group)", weight="w")) is None


@pytest.mark.parametrize(
    ("given", "values"),
    [
        ("sparse", (0.0, 1.0)),
        ("C(g) + C(g):log(x)", (0.0, 1.0)),
        ("log(x[:24]) + log(z)", (0.0, 1 / 7)),
        ("log(x[:24]) + log(z)", (-0.3, 2**0.5)),
    ],
    ids=["a column of few records", "a slope in a small cell", "sevenths", "any two values"],
)
def test_few_records_and_odd_values_are_lattices_too(given: str, values: tuple[float, float]) -> None:
    """What is zero elsewhere is a file of its own to lattice reduction; and two values are a 0 and a 1 to anybody."""
    rng = np.random.default_rng(4)
    n = 24 if "[:24]" in given else 1200
    frame = pd.DataFrame({"x": rng.lognormal(size=n), "z": rng.lognormal(size=n)})
    frame["y"] = np.where(rng.random(n) < 0.5, *values)
    frame["g"] = np.where(np.arange(n) < 26, "few", "many")
    frame["sparse"] = np.where(np.arange(n) < 30, frame["x"], 0.0)
    roles = Roles(confidential=["y"], given=given.replace("[:24]", ""))
    stops = {finding.rule for finding in protect(frame, roles, Ipso(), seed=Seed.for_tests(1)).findings}
    assert "information" in stops
    if n > 24:
        plain = Roles(confidential=["y"], given="C(g) + log(x)")
        assert "information" not in {f.rule for f in protect(frame, plain, Ipso(), seed=Seed.for_tests(1)).findings}
