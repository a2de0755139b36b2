"""Forty requests that a statistician would make, of public files and of the demonstration's."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, NamedTuple

import pandas as pd

from suffice import (
    Ipso,
    Microaggregate,
    MicroHybrid,
    OutliersApart,
    ResidualCorrelation,
    Resize,
    Roles,
    Romm,
    Rotate,
)
from suffice.demo import firms
from suffice.method.method import Method
from tests.places import SHARED

BY_SECTOR = ["RESREVENUE", "RESSALES", "COMREVENUE", "COMSALES", "INDREVENUE", "INDSALES", "OTHREVENUE", "OTHRSALES"]
HOUSE = ["expend", "income", "savings"]
LIFE = ["unempdur", "nofriend", "nociga", "wkabdur"]
AMOUNTS = ["turnover", "wages", "taxes"]
TAXES = ["FEDTAX", "STATETAX", "FICA"]
RICH = "C(urbrur) * C(sex) + C(roof) + C(walls) + C(water) + C(relat) + age"
REGISTER = "C(region) + C(industry) + log(employees)"
POSITIVE = dict.fromkeys(HOUSE, (0, None))
REGISTERED = {"given": REGISTER, "weight": "weight", "keep": ["size"]}
FIRM = {"identifiers": ["firm_id"]}


class Ordinary(NamedTuple):
    """A request: what is asked of a file, and how it is to be protected."""

    file: str
    roles: dict[str, Any]
    method: Method
    records: str = ""
    """A condition on the records, as in "MONTH == 1"."""

    stops: tuple[str, ...] = ()
    """The rules that stop it, as they should."""

    @property
    def name(self) -> str:
        return f"{self.file} {self.columns} | {self.asked} | {self.how}{self.records and f' | {self.records}'}"

    @property
    def columns(self) -> str:
        named = self.roles.get("confidential")
        return "all other columns" if named is None else ", ".join(named) if len(named) < 4 else f"{len(named)} columns"

    @property
    def asked(self) -> str:
        said = [f"{key}={value}" for key, value in self.roles.items() if key not in ("confidential", "identifiers")]
        return ", ".join(said).replace("'", "") or "nothing given"

    @property
    def how(self) -> str:
        """The method and the parameters that are not as they come."""
        plain = {each.name: each.default for each in fields(self.method)}  # type: ignore[arg-type]
        told = {name: getattr(self.method, name) for name in plain}
        said = [f"{name}={_said(value)}" for name, value in told.items() if value != plain[name]]
        return " ".join([self.method.name, *said])

    def prepared(self) -> tuple[pd.DataFrame, Roles]:
        frame = firms(2000).to_pandas() if self.file == "firms" else _read(self.file)
        frame = frame.query(self.records) if self.records else frame
        roles = dict(self.roles)
        taken = str([value for key, value in roles.items() if key != "confidential"])
        roles.setdefault("confidential", [name for name in frame if name not in taken])
        if "missing" not in roles:
            frame = frame.dropna(subset=[name for name in frame if name in str(roles)])
        return frame.reset_index(drop=True), Roles(**roles)


def _said(value: Any) -> str:
    return f"{value.partition}:{value.k}" if isinstance(value, Microaggregate) else str(value)


def _read(file: str) -> pd.DataFrame:
    assert SHARED is not None
    frame = pd.read_csv(SHARED / "data" / f"{file}.csv")
    frame.columns = frame.columns.str.replace(".", "_")
    return frame


REQUESTS = [
    Ordinary("Tarragona", {}, Ipso()),
    Ordinary("Tarragona", {}, Rotate()),
    Ordinary("Tarragona", {"given": "log1p(SALES)"}, ResidualCorrelation(d=0.5)),
    Ordinary("Tarragona", {"given": "SALES"}, ResidualCorrelation(d=0.5)),
    Ordinary("Tarragona", {}, Microaggregate(k=5)),
    Ordinary("Tarragona", {}, MicroHybrid(clusters=Microaggregate(k=40))),
    Ordinary("Tarragona", {}, Resize(m=500)),
    Ordinary("CASCrefmicrodata", {"given": "AFNLWGT + AGI"}, Ipso(), stops=("equal-cells",)),
    Ordinary("CASCrefmicrodata", {}, Romm(correlation=0.5)),
    Ordinary("CASCrefmicrodata", {}, Rotate()),
    Ordinary("CASCrefmicrodata", {"confidential": TAXES, "given": "AGI"}, Rotate()),
    Ordinary("CASCrefmicrodata", {}, Microaggregate(k=5)),
    Ordinary("CASCrefmicrodata", {"confidential": ["AGI", "FEDTAX"]}, Microaggregate(k=3), stops=("nearness",)),
    Ordinary("CASCrefmicrodata", {}, MicroHybrid(clusters=Microaggregate(k=30))),
    Ordinary(
        "CASCrefmicrodata",
        {"confidential": ["PTOTVAL", "FEDTAX"], "given": "PEARNVAL + POTHVAL"},
        Ipso(),
        stops=("explained-columns",),
    ),
    Ordinary("EIA", {"confidential": BY_SECTOR, "given": "C(STATE) + C(MONTH)"}, Ipso()),
    Ordinary(
        "EIA", {"confidential": BY_SECTOR, "given": "C(STATE)", "merge_below": 5}, Ipso(), "MONTH == 1", ("dominance",)
    ),
    Ordinary("EIA", {"confidential": BY_SECTOR, "given": "C(STATE)"}, Ipso(), "MONTH == 1", ("dominance", "leverage")),
    Ordinary("EIA", {"confidential": BY_SECTOR[:4], "given": "C(MONTH)"}, Rotate()),
    Ordinary("EIA", {"confidential": BY_SECTOR, "groups": ["MONTH"]}, Ipso()),
    Ordinary("EIA", {"confidential": BY_SECTOR[:4]}, OutliersApart(), "MONTH == 6"),
    Ordinary(
        "testdata",
        {"confidential": HOUSE, "given": "C(urbrur) + C(sex) + age", "weight": "household_weights"},
        Ipso(),
    ),
    Ordinary(
        "testdata", {"confidential": HOUSE, "given": RICH, "weight": "household_weights", "merge_below": 5}, Ipso()
    ),
    Ordinary(
        "testdata",
        {"confidential": HOUSE, "given": RICH, "weight": "household_weights"},
        Ipso(),
        stops=("copies", "dominance", "leverage"),
    ),
    Ordinary("testdata", {"confidential": HOUSE, "groups": ["urbrur"], "given": "age"}, Ipso()),
    Ordinary("testdata", {"confidential": HOUSE, "given": "C(sex)", "bounds": POSITIVE}, Rotate()),
    Ordinary("testdata", {"confidential": HOUSE}, Microaggregate(k=10)),
    Ordinary("testdata", {"confidential": HOUSE, "given": "C(sex) + age"}, ResidualCorrelation(d=0.7)),
    Ordinary("SD2011", {"confidential": LIFE, "given": "sex + age + placesize + region"}, Ipso()),
    Ordinary("SD2011", {"confidential": LIFE, "given": "sex + age + placesize + region"}, ResidualCorrelation(d=0.5)),
    Ordinary("SD2011", {"confidential": ["income", "bmi"], "given": "C(sex) + age", "missing": "patterns"}, Ipso()),
    Ordinary(
        "SD2011",
        {"confidential": ["height", "weight"], "given": "C(sex) + age", "integer": ["height", "weight"]},
        Ipso(),
    ),
    Ordinary("SD2011", {"confidential": ["height", "weight", "income"], "groups": ["sex"]}, Romm(correlation=0.5)),
    Ordinary("SSB_sosialFiktiv", {"confidential": ["ant"], "given": "C(fylke) + C(hovedint)"}, Ipso()),
    Ordinary("francdat", {"confidential": ["Num1", "Num2", "Num3"]}, Ipso(), stops=("dominance",)),
    Ordinary("firms", {"confidential": AMOUNTS, "given": REGISTER, **FIRM}, Ipso()),
    Ordinary("firms", {"confidential": AMOUNTS, **REGISTERED, **FIRM}, Ipso()),
    Ordinary(
        "firms",
        {
            "confidential": AMOUNTS,
            "given": "C(region)",
            "bounds": dict.fromkeys(AMOUNTS, (0, None)),
            "edits": ["taxes <= 0.5 * turnover"],
            **FIRM,
        },
        Rotate(),
    ),
    Ordinary("firms", {"confidential": AMOUNTS, "groups": ["region"], **FIRM}, Romm(correlation=0.5)),
    Ordinary("firms", {"confidential": AMOUNTS, **FIRM}, MicroHybrid(clusters=Microaggregate(k=30))),
]
