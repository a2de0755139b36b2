"""Every guard on ordinary requests for the field's own test files: which speak, and why that is right.

A guard that speaks on every file is one that nobody hears. `docs/guards.md` has this table with its numbers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pandas as pd
import pytest

from suffice import Ipso, ResidualCorrelation, Roles, Romm, Seed, protect
from suffice.method.method import Method
from tests.places import SHARED, needs_shared

pytestmark = needs_shared

ALWAYS = {"seed": "stop", "repeated-release": "note"}
"""The tests' key is for tests, and has no file."""

HYBRID = {"domain": "warn", "repeated-release": "warn"}
"""A hybrid without a key file is one of many that nobody counts."""

EIA = [
    "RESREVENUE",
    "RESSALES",
    "COMREVENUE",
    "COMSALES",
    "INDREVENUE",
    "INDSALES",
    "OTHREVENUE",
    "OTHRSALES",
]
HOUSE = ["expend", "income", "savings"]
RICH = "C(urbrur) * C(sex) + C(roof) + C(walls) + C(water) + C(relat) + age"
LIFE = ["unempdur", "nofriend", "nociga", "wkabdur"]
MONEY = "Normal residuals on skewed money: some of it turns negative, and the user is told how much."


class Case(NamedTuple):
    name: str
    file: str
    request: dict[str, Any]
    method: Method
    findings: dict[str, str]
    why: str


def business(given: str, method: Method, findings: dict[str, str], why: str) -> Case:
    return Case(f"Tarragona {given} {method.name}", "Tarragona", {"given": given}, method, findings, why)


CASES = [
    business("1", Ipso(), {"domain": "warn"}, MONEY),
    business("log1p(SALES)", ResidualCorrelation(d=0.5), HYBRID, MONEY),
    business(
        "SALES",
        ResidualCorrelation(d=0.5),
        HYBRID,
        "One in eight of the far cells moves by less than a tenth, and as many are as near to another giant's release.",
    ),
    Case(
        "Tarragona 40 firms",
        "Tarragona",
        {"given": "1", "records": 40},
        Ipso(),
        {"dominance": "stop", "canonical-correlation": "note", "domain": "warn"},
        "One firm has 95 % of the variance of LABOR_COSTS: mean + sd sqrt(39) is it to 1.3 %. 13 columns in 39 "
        "dimensions: unrelated residuals reach .98, so the rule says that it cannot tell.",
    ),
    Case(
        "Census",
        "CASCrefmicrodata",
        {"given": "AFNLWGT + AGI"},
        Ipso(),
        {"equal-cells": "stop", "explained-columns": "warn", "domain": "warn", "dependent-columns": "note"},
        "PTOTVAL is AGI for one person in five, and AGI tells TAXINC within 5 % of a third of them.",
    ),
    Case(
        "Census hybrid .8",
        "CASCrefmicrodata",
        {"given": "1"},
        Romm(correlation=0.8),
        {
            "linkage": "warn",
            "repeated-release": "warn",
            "residual-correlation": "warn",
            "canonical-correlation": "warn",
            "domain": "warn",
            "dependent-columns": "note",
        },
        "A correlation of .8 leaves .6 of a standard deviation, and 13 columns together link one record in eight.",
    ),
    Case(
        "Census total of given parts",
        "CASCrefmicrodata",
        {"confidential": ["PTOTVAL", "FEDTAX"], "given": "PEARNVAL + POTHVAL"},
        Ipso(),
        {"explained-columns": "stop", "domain": "warn"},
        "The total is confidential and its parts are not: it would be released as it is.",
    ),
    Case(
        "EIA by state",
        "EIA",
        {"confidential": EIA, "given": "C(STATE) + C(MONTH)"},
        Ipso(),
        {"domain": "warn"},
        MONEY,
    ),
    Case(
        "EIA with totals",
        "EIA",
        {"confidential": EIA, "given": "C(STATE) + TOTREVENUE + TOTSALES"},
        Ipso(),
        {"explained-columns": "warn", "domain": "warn"},
        "The given totals tell how large a utility is; which of the largest it is, the release does not.",
    ),
    Case(
        "EIA with logarithms of totals",
        "EIA",
        {"confidential": EIA, "given": "C(STATE) + log1p(TOTREVENUE) + log1p(TOTSALES)"},
        Ipso(),
        {"leverage": "warn", "explained-columns": "warn", "domain": "warn"},
        "Two records with hardly any sales are now the extreme ones.",
    ),
    Case(
        "EIA in January",
        "EIA",
        {"confidential": EIA, "given": "C(STATE)", "month": 1},
        Ipso(),
        {"leverage": "stop", "dominance": "stop", "domain": "warn"},
        "A state with two utilities: each knows itself, so the mean tells it the other.",
    ),
    Case(
        "EIA in January, small states together",
        "EIA",
        {"confidential": EIA, "given": "C(STATE)", "month": 1, "merge_below": 5},
        Ipso(),
        {"dominance": "stop", "domain": "warn"},
        "In ten states the second largest utility reads the largest off a total.",
    ),
    Case(
        "EIA in January, cells of ten",
        "EIA",
        {"confidential": EIA, "given": "C(STATE)", "month": 1, "merge_below": 10},
        Ipso(),
        {"domain": "warn"},
        "The remedy: cells of ten and more.",
    ),
    Case(
        "households",
        "testdata",
        {"confidential": HOUSE, "given": "C(urbrur) + C(sex) + age", "weight": "household_weights"},
        Ipso(),
        {"domain": "warn"},
        "Uniform money from nearly 0: one in 25 turns negative.",
    ),
    Case(
        "households, many categories",
        "testdata",
        {"confidential": HOUSE, "given": RICH, "weight": "household_weights"},
        Ipso(),
        {"leverage": "never", "dominance": "stop", "copies": "stop", "domain": "warn", "unique-records": "note"},
        "One person is alone in a category of relat, and would leave as it is.",
    ),
    Case(
        "households, small categories together",
        "testdata",
        {"confidential": HOUSE, "given": RICH, "weight": "household_weights", "merge_below": 5},
        Ipso(),
        {"leverage": "warn", "domain": "warn", "unique-records": "note"},
        "The remedy; one heavy weight in a small cell is left to warn of.",
    ),
    Case(
        "social survey",
        "SD2011",
        {"confidential": LIFE, "given": "sex + age + placesize + region"},
        Ipso(),
        {"domain": "warn", "unique-records": "note"},
        "An ordinary request of an ordinary survey: half of the persons are alone with what is given. "
        "41 codes below zero in nofriend become 889 values.",
    ),
    Case(
        "social survey hybrid",
        "SD2011",
        {"confidential": LIFE, "given": "sex + age + placesize + region"},
        ResidualCorrelation(d=0.5),
        {"domain": "warn", "repeated-release": "warn", "unique-records": "note"},
        "A moderate hybrid of it: it has no key file, so that nobody counts how many there are.",
    ),
]


def prepared(case: Case) -> tuple[pd.DataFrame, Roles]:
    assert SHARED is not None
    request = dict(case.request)
    frame = pd.read_csv(SHARED / "data" / f"{case.file}.csv")
    frame.columns = frame.columns.str.replace(".", "_")
    frame = frame[frame["MONTH"] == request.pop("month")] if "month" in request else frame
    frame = frame.head(request.pop("records", len(frame)))
    given = request["given"]
    request.setdefault("confidential", [name for name in frame if name not in given])
    return frame.dropna(subset=request["confidential"]).reset_index(drop=True), Roles(**request)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_speaks(case: Case) -> None:
    release = protect(*prepared(case), case.method, seed=Seed.for_tests(1))
    found = {finding.rule: finding.level for finding in release.findings}
    shape = "silent" if case.name == "Census total of given parts" else "note"  # normal residuals on skewed columns
    expected = {**ALWAYS, "shape": shape, **case.findings}
    assert {*found} <= {*expected}, case.why
    for rule, levels in expected.items():  # "warn/stop": the key decides
        assert found.get(rule, "silent") in levels.split("/"), f"{rule}: {case.why}"


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_verdict_depends_on_the_key(case: Case) -> None:
    releases = [protect(*prepared(case), case.method, seed=Seed.for_tests(key)) for key in (1, 2, 3, 4)]
    stops = [{finding.rule for finding in release.findings if finding.blocks} for release in releases]
    assert all(each == stops[0] for each in stops)


def test_perfect_releases_of_heavy_tails_seldom_pass_the_null() -> None:
    """Against a Gaussian null 43 % of perfect releases of these data do."""
    frame, roles = prepared(next(case for case in CASES if case.name == "Tarragona 40 firms"))
    levels = [
        finding.level
        for key in range(20)
        for finding in protect(frame, roles, Ipso(), seed=Seed.for_tests(key)).findings
        if finding.rule == "canonical-correlation"
    ]
    assert levels == ["note"] * 20
