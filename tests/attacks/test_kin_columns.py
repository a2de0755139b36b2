"""Columns of another file that tell what was protected - sums, parts, units, other names - are known again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import Ipso, ResidualCorrelation, Roles, Seed, protect
from suffice.release.release import Release
from tests.attacks.victims import rules, uncertain
from tests.tolerances import ENGINE

Frame = pd.DataFrame
IPSO = Ipso()


def victims(n: int = 300, seed: int = 5) -> Frame:
    """Cells by a and by b that differ in the first record; y is y1 and y2, flag is 0 or 1."""
    rng = np.random.default_rng(seed)
    a = np.array(["p", "q", "r"])[np.arange(n) % 3]
    b = np.where(np.arange(n) == 0, "q", a)
    y1, y2 = rng.lognormal(4, 0.5, n).round(2), rng.lognormal(3, 0.5, n).round(2)
    flag = (rng.random(n) < 0.4).astype(int)
    return Frame({"a": a, "b": b, "y": y1 + y2, "y1": y1, "y2": y2, "flag": flag, "other": rng.normal(50, 5, n)})


def cell(frame: Frame, by: str, *columns: str) -> float:
    """What is kept of the records that are in cell p."""
    return float(sum(frame.groupby(by)[name].sum()["p"] for name in columns))


@dataclass(frozen=True)
class Attack:
    """Columns of the first and of the second release; what was done to the file between; what undoes it in a total."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    changed: Callable[[Frame], Frame] = lambda frame: frame
    undone: Callable[[float], float] = lambda total: total
    by: str = "b"


ATTACKS = {
    "a sum, then its parts": Attack(("y",), ("y1", "y2")),
    "parts, then the sum": Attack(("y1", "y2"), ("y",)),
    "one more": Attack(("y",), ("y",), lambda f: f.assign(y=f["y"] + 1), lambda t: t - 99),
    "the other sign": Attack(("y",), ("y",), lambda f: f.assign(y=-f["y"]), lambda t: -t),
    "another currency": Attack(("y",), ("y",), lambda f: f.assign(y=3.7 * f["y"]), lambda t: t / 3.7),
    "another name": Attack(("y",), ("z",), lambda f: f.rename(columns={"y": "z"})),
    "groups of another name": Attack(("y",), ("y",), lambda f: f.rename(columns={"a": "c"})),
    "levels of other names": Attack(("y",), ("y",), lambda f: f.assign(a=f["a"].map({"p": "3", "q": "1", "r": "2"}))),
    "all of it": Attack(
        ("y",),
        ("z",),
        lambda f: Frame({"c": f["a"].map({"p": 7, "q": 1, "r": 2}), "b": f["b"], "z": 5 - 3.7 * f["y"]}),
        lambda t: (5 * 99 - t) / 3.7,
    ),
}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_two_releases_give_a_record_by_subtraction(attack: Attack) -> None:
    first = protect(victims(), Roles(confidential=attack.first, groups=["a"]), IPSO, seed=Seed())
    second = protect(attack.changed(victims()), Roles(confidential=attack.second, groups=["b"]), IPSO, seed=Seed())
    assert all(rules(release, "stop", "never") == set() for release in (first, second))
    before, now = cell(first.frame, "a", *attack.first), attack.undone(cell(second.frame, "b", *attack.second))
    assert before - now == pytest.approx(victims()["y"][0], rel=ENGINE * 1000)


@pytest.mark.parametrize("shuffled", [False, True], ids=["in order", "sorted anew"])
@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_the_ledger_stops_the_second(attack: Attack, shuffled: bool, tmp_path: Path) -> None:
    """Sorted anew, records are known again by what names them."""
    key, frame = Seed.new_file(tmp_path / "key"), victims().assign(id=[f"firm {i}" for i in range(300)])
    more: dict[str, Any] = {"identifiers": ["id"]} if shuffled else {}
    protect(frame, Roles(confidential=attack.first, groups=["a"], **more), IPSO, seed=key).write(tmp_path / "one.csv")
    now = attack.changed(frame).assign(id=frame["id"])
    now = now.sample(frac=1, random_state=1) if shuffled else now
    second = protect(now, Roles(confidential=attack.second, groups=["b"], **more), IPSO, seed=key)
    assert rules(second, "stop", "never") == {"stacked-leverage"}


ROUNDED = {
    "to units": lambda f: f["y"].round(),
    "to one decimal": lambda f: f["y"].round(1),
    "in another unit": lambda f: (f["y"] / 10).round(2),
    "revised a little": lambda f: f["y"] * (1 + 1e-3 * np.random.default_rng(1).normal(size=len(f))),
}


@pytest.mark.parametrize("how", ROUNDED)
@pytest.mark.parametrize("shuffled", [False, True], ids=["in order", "sorted anew"])
def test_rounded_values_are_the_same_column(how: str, shuffled: bool, tmp_path: Path) -> None:
    """Two totals still give the record, within what rounding takes; other values of the same spread give nothing."""
    key, frame = Seed.new_file(tmp_path / "key"), victims().assign(id=[f"firm {i}" for i in range(300)])
    more: dict[str, Any] = {"identifiers": ["id"]} if shuffled else {}
    first = protect(frame, Roles(confidential=["y"], groups=["a"], **more), IPSO, seed=key)
    first.write(tmp_path / "one.csv")
    now = frame.assign(y=ROUNDED[how](frame), new=victims(seed=6)["y"])
    now = now.sample(frac=1, random_state=1) if shuffled else now
    second = protect(now, Roles(confidential=["y"], groups=["b"], **more), IPSO, seed=key)
    unit = 10 if how == "in another unit" else 1
    told = cell(first.frame, "a", "y") - unit * cell(second.frame, "b", "y")
    assert told == pytest.approx(frame["y"][0], rel=0.1)
    assert rules(second, "stop", "never") == {"stacked-leverage"}
    other = protect(now, Roles(confidential=["new"], groups=["b"], **more), IPSO, seed=key)
    assert rules(other, "stop", "never") == set()


def test_parts_of_several_releases_and_then_the_sum(tmp_path: Path) -> None:
    key = Seed.new_file(tmp_path / "key")
    for name in ("y1", "y2"):
        release = protect(victims(), Roles(confidential=[name], groups=["a"]), IPSO, seed=key)
        assert rules(release, "stop", "never") == set()
        release.write(tmp_path / f"{name}.csv")
    by_b, by_a = (protect(victims(), Roles(confidential=["y"], groups=[name]), IPSO, seed=key) for name in "ba")
    assert rules(by_b, "never") == {"stacked-leverage"}
    assert rules(by_a, "stop", "never") == set()


LEAVING: dict[str, tuple[tuple[str, ...], Callable[[Frame], Frame]]] = {
    "in another currency": (("y",), lambda f: Frame({"k": 3.7 * f["y"]})),
    "a logarithm": (("y",), lambda f: Frame({"k": np.log(f["y"])})),
    "rounded": (("y",), lambda f: Frame({"k": f["y"].round()})),
    "with the other sign": (("y",), lambda f: Frame({"k": 1 - f["y"]})),
    "in parts": (("y",), lambda f: f[["y1", "y2"]]),
    "the sum": (("y1", "y2"), lambda f: f[["y"]]),
    "the other part": (("y", "y1"), lambda f: f[["y2"]]),
    "labels": (("flag",), lambda f: Frame({"k": f["flag"].map({0: "no", 1: "yes"})})),
    "another code": (("flag",), lambda f: Frame({"k": 2 - f["flag"]})),
}


@pytest.mark.parametrize("role", ["keep", "given"])
@pytest.mark.parametrize(("protected", "made"), LEAVING.values(), ids=LEAVING)
def test_once_confidential_always(
    protected: tuple[str, ...], made: Callable[[Frame], Frame], role: str, tmp_path: Path
) -> None:
    frame, key = victims(), Seed.new_file(tmp_path / "key")
    names = list(made(frame).columns)
    frame = Frame({"other": frame["other"], **{name: frame[name] for name in protected}, **made(frame)})
    roles = Roles(confidential=["other"], **{role: names})
    assert rules(protect(frame, roles, IPSO, seed=Seed()), "stop", "never") == set()  # without a ledger it leaves
    protect(frame, Roles(confidential=protected), IPSO, seed=key).write(tmp_path / "one.csv")
    assert "former-role" in rules(protect(frame, roles, IPSO, seed=key), "stop")


READ: dict[str, Callable[[pd.Series], pd.Series]] = {
    "text": lambda y: y.map("{:.2f}".format),
    "an amount with a comma": lambda y: "EUR " + y.map("{:.2f}".format).str.replace(".", ","),
    "a decimal number": lambda y: y.map("{:.2f}".format).map(Decimal),
    "a date": lambda y: pd.Timestamp("1970-01-01") + pd.to_timedelta(y.round(), "D"),
    "a day as text": lambda y: (pd.Timestamp("1970-01-01") + pd.to_timedelta(y.round(), "D")).dt.strftime("%d/%m/%Y"),
}


@pytest.mark.parametrize("how", READ)
def test_what_a_reader_takes_for_its_numbers_is_the_column(how: str, tmp_path: Path) -> None:
    frame, key = victims(), Seed.new_file(tmp_path / "key")
    frame = frame.assign(k=READ[how](frame["y"]))
    roles = Roles(confidential=["other"], keep=["k"])
    assert "former-role" not in rules(protect(frame, roles, IPSO, seed=key), "stop")
    protect(frame, Roles(confidential=["y"]), IPSO, seed=key).write(tmp_path / "one.csv")
    assert "former-role" in rules(protect(frame, roles, IPSO, seed=key), "stop")


def test_hybrids_of_a_column_and_of_its_logarithm_average_back(tmp_path: Path) -> None:
    frame, key, method = victims(), Seed.new_file(tmp_path / "key"), ResidualCorrelation(d=0.9)
    frame = Frame({"x": np.arange(300.0), "y": np.exp(frame["other"] / 50)})
    other = frame.assign(y=np.log(frame["y"]))
    accept = {"unique-records": "-"}

    def released(data: Frame, seed: Seed) -> Release:
        return protect(data, Roles(confidential=["y"], keep=["x"]), method, seed=seed, accept=accept)

    one, two = (released(each, Seed()).frame.sort_values("x")["y"].to_numpy() for each in (frame, other))
    alone, both = (uncertain(guess[:, None], frame[["y"]].to_numpy()) for guess in (one, np.log(np.abs(one)) + two))
    assert both < 0.8 * alone
    released(frame, key).write(tmp_path / "one.csv")
    found = released(other, key)
    assert found.assessment.history.earlier == (pytest.approx(0.9),)
    assert "repeated-release" in rules(found, "warn")


@pytest.mark.parametrize("named", [False, True])
def test_a_column_of_zeros_and_ones_with_one_record_less(named: bool, tmp_path: Path) -> None:
    frame, key = victims().assign(id=[f"firm {i}" for i in range(300)]), Seed.new_file(tmp_path / "key")
    roles = Roles(confidential=["flag"], identifiers=["id"] if named else [])
    fewer = frame.drop(index=7)
    totals = [protect(each, roles, IPSO, seed=Seed()).frame["flag"].sum() for each in (frame, fewer)]
    assert totals[0] - totals[1] == pytest.approx(frame["flag"][7], abs=1e-9)
    protect(frame, roles, IPSO, seed=key).write(tmp_path / "one.csv")
    assert "changed-records" in rules(protect(fewer, roles, IPSO, seed=key), "stop")


def year(frame: Frame, seed: int) -> Frame:
    rng = np.random.default_rng(seed)
    numbers = {name: frame[name] * rng.normal(1.03, 0.02, len(frame)) for name in ("y", "y1", "y2", "other")}
    return frame.assign(**numbers, flag=np.where(rng.random(len(frame)) < 0.05, 1 - frame["flag"], frame["flag"]))


def correlated(frame: Frame) -> Frame:
    noise = frame["y"].std() * np.random.default_rng(9).normal(size=len(frame))
    return frame.assign(y=frame["y"] + 0.1 * noise, flag=(noise > 0).astype(int))


INNOCENT: dict[str, Callable[[Frame], Frame]] = {
    "correlated .99": correlated,
    "the next year": lambda frame: year(frame, 1),
    "the next year, sorted by size": lambda frame: year(frame, 1).sort_values("y"),
    "another file": lambda frame: frame.assign(**victims(300, 6)[["y", "y1", "y2", "other", "flag"]]),
    "records more": lambda frame: pd.concat([year(frame, 2), year(frame, 3)[:40]]),
}


@pytest.mark.parametrize("sort", [False, True], ids=["as it is", "sorted"])
@pytest.mark.parametrize("made", INNOCENT.values(), ids=INNOCENT)
def test_other_columns_are_free(made: Callable[[Frame], Frame], sort: bool, tmp_path: Path) -> None:
    frame, key = victims().assign(id=[f"firm {i}" for i in range(300)]), Seed.new_file(tmp_path / "key")
    frame = frame.sort_values("y") if sort else frame
    roles = {"identifiers": ["id"]}
    first = Roles(confidential=["y", "flag"], groups=["a"], **roles)
    protect(frame, first, IPSO, seed=key, accept={"dominance": "-"}).write(tmp_path / "one.csv")
    now = made(frame)
    for request in (
        Roles(confidential=["y", "flag"], groups=["b"], **roles),
        Roles(confidential=["other"], given="y + flag", **roles),
        Roles(confidential=["other"], keep=["y", "y1", "flag"]),
    ):
        found = protect(now, request, IPSO, seed=key)
        history = found.assessment.history
        told = history.earlier, history.revealed, history.public, history.changed, history.kept, history.lost
        assert told == ((), (), (), 0, (), ())


def test_totals_of_either_file_tell_nothing_of_the_other(tmp_path: Path) -> None:
    """Where columns add up, multiples of any size cancel: these fit no other column."""
    rng, key = np.random.default_rng(3), Seed.new_file(tmp_path / "key")
    costs = {f"cost{i}": rng.lognormal(5, 1, 300).round() for i in range(4)}
    sales = {f"sales{i}": (cost * rng.lognormal(1, 0.2, 300)).round() for i, cost in enumerate(costs.values())}
    frame = Frame(
        {**costs, "cost": sum(costs.values()), **sales, "sales": sum(sales.values()), "id": np.arange(300) + 1000}
    )
    first = Roles(confidential=[*costs, "cost"], identifiers=["id"])
    protect(frame, first, IPSO, seed=key, accept=dict.fromkeys(("dominance", "giants"), "-")).write(
        tmp_path / "one.csv"
    )
    for names in ({"confidential": [*sales, "sales"]}, {"confidential": ["sales0"], "keep": ["sales", "sales1"]}):
        history = protect(frame, Roles(**names, identifiers=["id"]), IPSO, seed=key).assessment.history
        assert (history.earlier, history.revealed, history.public) == ((), (), ())


def test_the_same_request_is_free_where_a_sum_is_given(tmp_path: Path) -> None:
    key, roles = Seed.new_file(tmp_path / "key"), Roles(confidential=["y1", "y2"], given="y")
    protect(victims(), roles, IPSO, seed=key, accept={"outliers": "-"}).write(tmp_path / "one.csv")
    again = protect(victims().sample(frac=1, random_state=1), roles, IPSO, seed=key)
    assert "former-role" not in rules(again, "warn", "stop")
