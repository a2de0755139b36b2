"""What a finding tells to do, done: the rule has nothing more to say, and no other rule stops in its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import Blend, Margins, Roles, Seed, Synthesis, protect
from suffice.errors import InputError
from suffice.guards import GUARDS
from suffice.guards.finding import SEVERITIES
from suffice.release.release import Release

Frame = pd.DataFrame
Change = dict[str, Any]
N = 240


def firms() -> Frame:
    """Money of 240 firms; `few` has a cell of two, `alone` one of one, and `b` is `a` but for the first record."""
    rng = np.random.default_rng(3)
    i, size = np.arange(N), rng.lognormal(3, 0.5, N)
    y, z, v = (size * rng.lognormal(0, 0.6, N) for _ in range(3))
    a = np.array(["p", "q", "r"])[i % 3]
    return Frame(
        {
            "y": y,
            "z": z,
            "v": v,
            "x": rng.normal(size=N),
            "a": a,
            "b": np.where(i == 0, "q", a),
            "few": np.where(i < 2, "s", a),
            "alone": np.where(i < 1, "s", a),
            "flag": (rng.random(N) < 0.4) * 1.0,
            "long": rng.normal(size=N),
            "w": rng.uniform(1, 3, N),
            "firm": [f"firm {k // 2}" for k in i],
            "id": [f"record {k}" for k in i],
        }
    )


@dataclass(frozen=True)
class Case:
    """A request of which a rule speaks, at a level, and changes of it that are remedies.

    asked, and every remedy: roles, or `method`, `file` (what is done to the file), `key`
    before: requests that were released with the key file before
    """

    level: str
    asked: Change
    remedies: dict[str, Change]
    also: frozenset[str] = frozenset()
    """Other rules that stop what is left: their remedies are others."""
    before: tuple[Change, ...] = ()


def made(change: Change, seed: Seed) -> Release:
    told = {"confidential": ["y", "z"], "method": "ipso", "file": lambda frame: frame, "key": seed} | change
    method, file, key = (told.pop(name) for name in ("method", "file", "key"))
    return protect(file(firms()), Roles(**told), method, seed=key)


def largest(name: str, times: float) -> Callable[[Frame], Frame]:
    """The first record is a giant."""
    return lambda frame: frame.assign(**{name: np.where(frame.index == 0, times * frame[name].max(), frame[name])})


def classes(frame: Frame) -> Frame:
    return frame.assign(long=np.where(frame["long"] > 0, "high", "low"))


def giants(frame: Frame) -> Frame:
    """Ten far ones."""
    far = 40 * (1 + frame.index / 9)
    return frame.assign(**{name: np.where(frame.index < 10, far * frame[name].mean(), frame[name]) for name in "yz"})


def dominated(frame: Frame) -> Frame:
    """One of twelve has nearly all that the cell t of k has."""
    small = np.where(frame.index < 12, 0.01 * frame["y"], frame["y"])
    y = np.where(frame.index == 0, 1.5 * frame["y"].max(), small)
    return frame.assign(k=np.where(frame.index < 12, "t", frame["a"]), y=y)


def holes(frame: Frame, count: int = 2) -> Frame:
    """The first records lack z."""
    return frame.assign(z=frame["z"].where(frame.index >= count))


def many_levels(frame: Frame) -> Frame:
    """As many as are absorbed."""
    parts = [firms().assign(k=frame["a"] + str(part)) for part in range(22)]
    return pd.concat([frame, *parts], ignore_index=True)


def pinned(frame: Frame) -> Frame:
    """Limits that leave twelve records no room; money has one decimal."""
    y, few = frame["y"].round(1), frame.index < 12
    return frame.assign(y=y, low=np.where(few, y, 0.0), high=np.where(few, y, 2000.0))


def places(frame: Frame) -> Frame:
    """Categories, most records alone with four of them."""
    rng = np.random.default_rng(5)
    return frame.assign(**{name: rng.integers(8, size=N).astype(str) for name in "abcd"})


PINNED: Change = {
    "file": pinned,
    "confidential": ["y"],
    "given": "low + high",
    "edits": ["y <= high", "y >= low"],
    "method": "rotate:sweeps=200",
}
GIANT = largest("y", 300)
HOLES: Change = {"file": holes, "missing": "patterns"}
ROTATE, D9, D5 = "rotate:sweeps=200", "residual-correlation:d=0.95", "residual-correlation:d=0.5"
SIGNS: Change = {"bounds": {"y": (0, None), "z": (0, None)}, "method": ROTATE}
PLACES = [list(names) for names in ("ab", "bc", "cd")]
CASES: dict[str, Case] = {
    "leaf": Case(
        "warn",
        {"method": Synthesis(m=1, models="cart:least=1")},
        {"larger leaves": {"method": Synthesis(m=1, models="cart:least=20")}},
    ),
    "rare-values": Case(
        "stop",
        {"method": Synthesis(m=1, models="cart:least=20,smooth=false")},
        {"smooth": {"method": Synthesis(m=1, models="cart:least=20")}},
    ),
    "membership": Case(
        "stop",
        {"confidential": ["y", "z", "v"], "method": "bootstrap:h=0.02"},
        {"larger h": {"method": "bootstrap"}, "others": {"method": "latin-hypercube"}},
    ),
    "rare-cells": Case(
        "stop",
        {"file": places, "confidential": list("abc"), "method": Margins(keep=[list("abc")])},
        {"fewer columns": {"method": Margins(keep=PLACES[:2])}, "leave it out": {"method": "margins"}},
    ),
    "replicated-records": Case(
        "stop",
        {"file": places, "confidential": list("abcd"), "method": Margins(keep=[list("abcd")])},
        {"fewer columns": {"method": Margins(keep=PLACES)}},
    ),
    "degrees-of-freedom": Case(
        "stop",
        {"file": lambda f: f[60:70], "given": "x + w + v + long + flag + C(a)"},
        {"fewer terms": {"given": "1"}, "more records": {"file": lambda f: f}},
    ),
    "degrees-of-freedom of groups": Case(
        "never",
        {"groups": ["few"]},
        {"join": {"small_groups": "join"}, "drop": {"small_groups": "drop"}},
    ),
    "group-size": Case(
        "stop",
        {"groups": ["few"], "method": "microaggregate:k=2", "confidential": ["y", "z", "v", "x"]},
        {
            "join": {"small_groups": "join", "method": "microaggregate:k=5"},
            "drop": {"small_groups": "drop", "method": "microaggregate:k=5"},
        },
    ),
    "dominance": Case(
        "stop",
        {"file": GIANT},
        {
            "left out": {"file": lambda f: GIANT(f)[1:]},
            "its logarithm": {"file": lambda f: GIANT(f).assign(y=lambda g: np.log(g["y"]))},
        },
    ),
    "dominance of cells": Case(
        "stop",
        {"file": lambda f: GIANT(f).assign(k=np.arange(N) // 6 % 40), "given": "C(k)"},
        {"left out, larger classes": {"file": lambda f: f.assign(k=np.arange(N) % 6), "given": "C(k)"}},
    ),
    "degrees-of-freedom of patterns": Case(
        "never",
        {**HOLES, "smallest_pattern": 2, "given": "1"},
        {"smallest_pattern": {"smallest_pattern": 20}},
    ),
    "group-size of patterns": Case(
        "stop",
        {**HOLES, "smallest_pattern": 2, "given": "1", "method": "fitted"},
        {"smallest_pattern": {"smallest_pattern": 20}},
    ),
    "dominance of patterns": Case(
        "stop",
        {**HOLES, "file": lambda f: holes(dominated(f), 12), "smallest_pattern": 5},
        {"smallest_pattern": {"smallest_pattern": 20}},
    ),
    "leverage of patterns": Case(
        "warn",
        {**HOLES, "file": lambda f: holes(f, 12), "given": "x", "smallest_pattern": 5},
        {"smallest_pattern": {"smallest_pattern": 20}},
    ),
    "leverage": Case(
        "never",
        {"given": "C(alone)"},
        {"merge_below=5": {"merge_below": 5}, "dropped": {"given": "1"}},
    ),
    "leverage of a weighted record": Case(
        "warn",
        {
            "file": lambda f: f.assign(k=np.where(f.index < 8, "t", f["a"]), w=np.where(f.index == 0, 3.0, 1.0)),
            "given": "C(k)",
            "weight": "w",
        },
        {"merge_below=10": {"merge_below": 10}},
    ),
    "leverage of a number": Case(
        "stop",
        {"given": "k", "file": lambda f: f.assign(k=np.exp(3 * f["x"]))},
        {"log()": {"given": "log(k)"}},
    ),
    "stacked-leverage": Case(
        "never",
        {"given": "C(b)"},
        {"as before": {"given": "C(a)"}, "coarser": {"given": "1"}},
        before=({"given": "C(a)"},),
    ),
    "changed-records": Case(
        "stop",
        {"file": lambda f: f[1:]},
        {"as they were": {"file": lambda f: f}, "more have changed": {"file": lambda f: f[12:]}},
        before=({},),
    ),
    "changed-records of a cell": Case(
        "stop",
        {"file": lambda f: f[f.index % 3 > 0].iloc[:100], "given": "C(a)"},
        {"three and more": {"file": lambda f: f[f.index % 3 > 0].iloc[:90], "given": "C(a)"}},
        before=({"file": lambda f: f[(f.index % 3 > 0)].iloc[:102], "given": "C(a)"},),
    ),
    "former-role": Case(
        "stop",
        {"confidential": ["z"], "keep": ["y"]},
        {"confidential again": {"keep": [], "confidential": ["y", "z"]}, "left out": {"keep": []}},
        before=({},),
    ),
    "explained-columns": Case(
        "stop",
        {"given": "v", "file": lambda f: f.assign(y=2 * f["v"] + 1)},
        {"dropped": {"given": "1"}, "given": {"confidential": ["z"], "given": "v + y"}},
    ),
    "information": Case(
        "stop",
        {"confidential": ["flag"], "given": "long", "file": lambda f: f[:30]},
        {
            "integer": {"integer": ["flag"]},
            "classes": {"given": "C(long)", "file": lambda f: classes(f[:30])},
            "fewer terms": {"given": "1"},
            "larger groups": {"file": lambda f: f},
        },
    ),
    "equal-cells": Case(
        "stop",
        {"given": "k", "file": lambda f: f.assign(k=np.where(f.index % 4 == 0, f["y"], f["v"]))},
        {
            "confidential too": {"confidential": ["y", "z", "k"], "given": "1"},
            "left out": {"given": "1"},
            "classes": {"given": "C(k)", "file": lambda f: f.assign(k=pd.qcut(f["y"], 3, labels=["l", "m", "h"]))},
        },
    ),
    "kept-columns": Case(
        "stop",
        {"keep": ["k"], "file": lambda f: f.assign(k=1.1 * f["y"])},
        {"left out": {"keep": []}, "confidential too": {"confidential": ["y", "z", "k"], "keep": []}},
    ),
    "kept-columns of lists": Case(
        "warn",
        {"keep": ["k"], "file": lambda f: f.assign(k=[(value,) for value in np.roll(f["y"], 1)])},
        {"left out": {"keep": []}, "text": {"file": lambda f: f.assign(k=np.roll(f["y"], 1).astype(str))}},
    ),
    "tight-limits": Case(
        "stop",
        {
            "file": lambda f: f.assign(k=f["y"] * (1 + 0.01 * np.sin(f["x"]))),
            "given": "k",
            "method": ROTATE,
            "edits": ["y <= 1.02 * k", "y >= 0.98 * k"],
        },
        {"one side": {"edits": ["y <= 1.02 * k"]}, "wider": {"edits": ["y <= 5 * k", "y >= 0"]}},
        frozenset({"explained-columns", "nearness"}),  # k tells y as well
    ),
    "limits": Case(
        "stop",
        {"bounds": {"y": (0, None)}},
        {"rotate": {"method": ROTATE}, "after this one": {"method": ["ipso", ROTATE]}},
    ),
    "seed": Case("stop", {"key": Seed.for_tests(1)}, {"left out": {"key": Seed()}}),
    "residual-correlation": Case(
        "stop", {"method": D9}, {".7": {"method": "residual-correlation:d=0.7"}, "ipso": {"method": "ipso"}}
    ),
    "residual-correlation of ranks": Case(
        "stop", {"method": "rank-swap:p=0.05"}, {"p": {"method": "rank-swap:p=0.5"}, "ipso": {"method": "ipso"}}
    ),
    "canonical-correlation of noise": Case(
        "stop",
        {"method": "noise:delta=0.05"},
        {"more noise": {"method": "noise:delta=3"}, "ipso": {"method": "ipso"}},
    ),
    "canonical-correlation": Case(
        "stop",
        {"method": "romm:lam=0.02"},
        {"ipso": {"method": "ipso"}, "less": {"method": "romm:correlation=0.5"}},
    ),
    "householder": Case(
        "stop",
        {"method": "householder"},
        {"ipso": {"method": "ipso"}},
    ),
    "repeated-release": Case(
        "stop",
        {"method": "residual-correlation:d=0.9", "given": "w"},
        {"ipso": {"method": "ipso"}},
        before=tuple({"method": "residual-correlation:d=0.9", "given": given} for given in ("1", "x")),
    ),
    "nearness": Case(
        "stop",
        {"confidential": ["y"], "method": "microaggregate:k=3"},
        {
            "ipso": {"method": "ipso"},
            "more columns": {"confidential": ["y", "z", "v", "x"], "method": "microaggregate:k=5"},
        },
    ),
    "linkage": Case(
        "stop",
        {"confidential": ["y", "z", "v", "x"], "method": "noise:delta=0.01"},
        {"ipso": {"method": "ipso"}},
    ),
    "zeros": Case(
        "warn",
        {"file": lambda f: f.assign(y=f["y"] * f["flag"]), "method": ROTATE},
        {"free": {"method": "rotate:sweeps=200,zeros=free"}, "ipso": {"method": "ipso"}},
    ),
    "precision": Case(
        "warn",
        {"file": lambda f: f.assign(y=f["x"] + 1e9)},
        {"an offset": {"file": lambda f: f.assign(y=f["x"])}},
    ),
    "domain": Case("warn", {}, {"bounds and rotate": SIGNS}),
    "domain of few negatives": Case(
        "warn",
        {"file": lambda f: f.assign(y=np.where(f.index < 3, -1.0, f["y"]))},
        {"left out": {**SIGNS, "file": lambda f: f[3:]}, "corrected": {**SIGNS, "file": lambda f: f}},
    ),
    "domain of zeros": Case(
        "warn",
        {"file": lambda f: f.assign(y=f["y"] * f["flag"]), "method": ["ipso", ROTATE], "bounds": "observed-sign"},
        {"rotate alone": {"method": ROTATE}},
    ),
    "zero-weights": Case(
        "warn",
        {"weight": "k", "file": lambda f: f.assign(k=f["w"] * (f.index > 3))},
        {"dropped": {"file": lambda f: f.assign(k=f["w"])[4:]}},
    ),
    "spreadsheet": Case(
        "warn",
        {"keep": ["=k"], "file": lambda f: f.rename(columns={"a": "=k"})},
        {"renamed": {"keep": ["a"], "file": lambda f: f}},
    ),
    "unique-records": Case("warn", {"keep": ["id"]}, {"identifiers": {"keep": [], "identifiers": ["id"]}}),
    "repeated-identifiers": Case(
        "note", {"identifiers": ["firm"]}, {"unit": {"unit": "firm", "identifiers": ["firm"]}}
    ),
}
COLUMNS = ["y", "z", "v", "x"]
HEALED_BY_RANKS: dict[str, Change] = {"p": {"method": "rank-swap:p=0.5"}, "shuffle": {"method": "shuffle"}}
CASES |= {
    "dominance of groups": Case(
        "stop",
        {"file": dominated, "groups": ["k"]},
        {
            "larger": {"groups": ["a"]},
            "smallest_group": {"small_groups": "join", "smallest_group": 20},
            "left out": {"file": lambda f: dominated(f)[1:]},
        },
    ),
    "dominance of small cells": Case(
        "stop", {"file": dominated, "given": "C(k)"}, {"merge_below": {"merge_below": 20}, "dropped": {"given": "1"}}
    ),
    "dominance of many levels": Case(
        "stop",
        {"file": lambda f: many_levels(dominated(f)), "given": "C(k)"},
        {"merge_below": {"merge_below": 20}, "left out": {"file": lambda f: many_levels(dominated(f))[1:]}},
    ),
    "explained-columns of cells": Case(
        "stop",
        {"file": lambda f: dominated(f).assign(y=np.where(f.index < 12, 1000.0, f["y"])), "given": "C(k)"},
        {"merge_below": {"merge_below": 20}, "dropped": {"given": "1"}},
    ),
    "copies": Case("stop", {"method": "residual-correlation:d=0.9999999999999"}, {"less": {"method": D5}}),
    "kept-scores": Case(
        "stop",
        {"confidential": ["y", "z", "v"], "method": "score-correlation:d=1"},
        {"less": {"method": "score-correlation:d=0.5"}},
    ),
    "outliers": Case(
        "stop",
        {"file": giants, "method": "residual-correlation:d=0.9"},
        {
            "ipso": {"method": "ipso"},
            "less": {"method": "residual-correlation:d=0.4"},
            "apart": {"method": "outliers-apart"},
        },
    ),
    "giants": Case(
        "stop",
        {"file": giants, "method": "rotate:correlation=0.9"},
        {"ipso first": {"method": ["ipso", ROTATE]}, "less": {"method": "rotate:correlation=0.3"}},
    ),
    "giants of a hybrid": Case(
        "stop",
        {"file": giants, "method": "residual-correlation:d=0.99"},
        {"ipso": {"method": "ipso"}, "less": {"method": "residual-correlation:d=0.3"}},
    ),
    "rank-intersection": Case("stop", {"confidential": COLUMNS, "method": "rank-swap:p=0.05"}, HEALED_BY_RANKS),
    "rank-linkage": Case("stop", {"confidential": COLUMNS, "method": "rank-swap:p=0.05"}, HEALED_BY_RANKS),
    "companion": Case(
        "stop",
        {"method": Blend(firms()[["y", "z"]] * 1.1, alpha=0.3)},
        {"made with the key": {"method": ["ipso", "blend:alpha=0.3"]}},
    ),
    "unmoved-records": Case(
        "stop",
        PINNED,
        {"looser": {"edits": ["y >= 0", "y <= 5000"]}},
        frozenset({"leverage"}),  # of the limits, which stay given
    ),
    "unmoved-records that what is kept decides": Case(
        "stop",
        {"given": "C(alone)", "bounds": "observed-sign", "method": "rotate"},
        {"merge_below": {"merge_below": 5}, "dropped": {"given": "1"}},
    ),
    "unmoved-records of whole numbers": Case(
        "stop",
        {**PINNED, "file": lambda f: pinned(f.assign(y=f["y"].round())), "integer": ["y"]},
        {"looser": {"edits": ["y >= 0", "y <= 5000"]}},
        frozenset({"leverage"}),
    ),
    "digits": Case(
        "warn",
        PINNED,
        {"looser": {"edits": ["y >= 0", "y <= 5000"]}},
        frozenset({"leverage"}),
    ),
    "extremes": Case("warn", {"method": "residual-correlation:d=0.99"}, {"ipso": {"method": "ipso"}}),
    "parts": Case("warn", {"file": giants, "method": "outliers-apart"}, {"together": {"method": "ipso"}}),
    "shape": Case("note", {"file": giants}, {"rotate": {"method": "rotate"}}),
}
REMEDIES = [(case, remedy) for case, each in CASES.items() for remedy in each.remedies]


ELSEWHERE = {"row-order", "dependent-columns"}
"""Nothing is left in order by `protect`; of what adds up there is a note at all times."""


def test_what_adds_up_is_restored() -> None:
    def told(method: Any) -> Release:
        return made({"file": lambda f: f.assign(t=f["y"] + f["z"]), "confidential": ["y", "z", "t"], **method}, Seed())

    lost, healed = told({"method": "rank-swap:p=0.5"}), told({"method": ["rank-swap:p=0.5", "restore"]})
    assert [each.rule for each in lost.findings if "Follow the method with Restore" in each.remedy]
    assert lost.assessment.loosened
    assert not healed.assessment.loosened
    assert np.allclose(healed.frame["t"], healed.frame["y"] + healed.frame["z"], rtol=1e-9)


def test_every_rule_is_tried() -> None:
    assert {rule_of(name) for name in CASES} | ELSEWHERE == {*GUARDS}


OPTIONS = {"of patterns": "smallest_pattern", "of groups": "small_groups", "of many levels": "merge_below"}


@pytest.mark.parametrize("name", [name for name in CASES if any(name.endswith(end) for end in OPTIONS)])
def test_groups_are_joined_by_what_made_them(name: str) -> None:
    """Any other option is refused, or is of no use."""
    remedy = next(each.remedy for each in made(CASES[name].asked, Seed()).findings if each.rule == rule_of(name))
    right = next(option for end, option in OPTIONS.items() if name.endswith(end))
    wrong = {*OPTIONS.values()} - {right, "merge_below"}  # categories are joined in any group
    assert right in remedy
    assert not {option for option in wrong if option in remedy}


def test_a_bound_that_the_original_leaves_is_refused_so_its_records_are_named() -> None:
    case = CASES["domain of few negatives"]
    with pytest.raises(InputError, match="leaves its own limits"):
        made(case.asked | SIGNS, Seed())
    remedy = next(each.remedy for each in made(case.asked, Seed()).findings if each.rule == "domain")
    assert "correct or leave out those records first" in remedy


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("residual-correlation", "correlation of at most"),
        ("residual-correlation of ranks", "a larger p"),
        ("canonical-correlation of noise", "more noise"),
        ("unmoved-records", "looser bounds"),
        ("unmoved-records that what is kept decides", "merge_below"),
    ],
)
def test_a_way_is_one_that_the_request_has(name: str, way: str) -> None:
    assert way in next(each.remedy for each in made(CASES[name].asked, Seed()).findings if each.rule == rule_of(name))


def rule_of(name: str) -> str:
    return name.partition(" ")[0]


def seed_of(case: Case, folder: Path) -> Seed:
    """The same key at all times, with a ledger of what was released before."""
    (folder / "key").write_text(sha256(b"remedies").hexdigest())
    (folder / "key").chmod(0o600)
    seed = Seed.from_file(folder / "key")
    for number, change in enumerate(case.before):
        made(change, seed).write(folder / f"{number}.csv")
    return seed


def levels(release: Release) -> dict[str, str]:
    return {finding.rule: finding.level for finding in release.findings}


@pytest.mark.parametrize("name", CASES)
def test_the_rule_speaks(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    assert levels(made(case.asked, seed_of(case, tmp_path))).get(rule_of(name)) == case.level


@pytest.mark.parametrize(("name", "remedy"), REMEDIES)
def test_the_remedy_heals(name: str, remedy: str, tmp_path: Path) -> None:
    case = CASES[name]
    release = made({**case.asked, **case.remedies[remedy]}, seed_of(case, tmp_path))
    found = levels(release)
    rank = [*SEVERITIES].index
    assert rank(found.get(rule_of(name), "note")) < max(1, rank(case.level)), release.findings
    assert {rule for rule, level in found.items() if level in ("stop", "never")} <= case.also, release.findings
