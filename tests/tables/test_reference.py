"""Primary cells of every reference file, for every rule and both conventions of weights."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from suffice.tables.hierarchy import read_hierarchy
from suffice.tables.rules import DirectDisclosure, Dominance, FewContributors, MinimumFrequency, PPercent, PrimaryRule
from suffice.tables.sensitivity import find_sensitive
from suffice.tables.table import Table
from tests.places import SHARED, needs_shared

REGION, Z2 = ["region", "county", "k_group"], ["region", "fylke", "kostragr", "hovedint"]
MAGNITUDE: dict[str, Any] = {"values": ["value"], "contributor": "company"}
MUN: dict[str, Any] = {"dims": ["mun", "inj"], "frequency": "freq"}
CROSSED, LINKED = {"dims": ["sector4", "geo"], **MAGNITUDE}, {"formula": "sector2*geo + sector4*eu", **MAGNITUDE}
FORMULA = "main_income + region + county + main_income:k_group"


def below(minimum: float) -> list[PrimaryRule]:
    return [MinimumFrequency(minimum, zeros=True)]


TWO = [Dominance(1, 80), Dominance(2, 70)]
CASES: list[tuple[str, str, dict[str, Any], Sequence[PrimaryRule]]] = [
    ("gauss_small_mun", "data/SSB_mun_accidents", MUN, below(4)),
    ("gauss_small_mun_intervals", "data/SSB_mun_accidents", MUN, below(4)),
    ("gauss_small_mun_zeros", "data/SSB_mun_accidents", MUN, [MinimumFrequency(4)]),
    ("gauss_direct_mun", "data/SSB_mun_accidents", MUN, [DirectDisclosure(1)]),
    ("gauss_kdisc_mun", "data/SSB_mun_accidents", MUN, []),
    ("gauss_small_d2", "reference/gauss_in_d2", {"dims": REGION, "frequency": "f"}, below(3)),
    ("gauss_small_d2_formula", "reference/gauss_in_d2", {"formula": FORMULA, "frequency": "f"}, below(4)),
    ("gauss_small_d2_hier", "reference/gauss_in_d2", {"dims": ["main_income", "k_group"], "frequency": "f"}, below(3)),
    (
        "gauss_small_example1",
        "data/SSB_example1",
        {"formula": "age*geo*year + eu*year", "frequency": "freq"},
        below(2),
    ),
    ("gauss_dec_example1", "data/SSB_example1", {"dims": ["age", "geo"], "frequency": "freq"}, below(4)),
    ("gauss_small_z1", "data/SSB_z1", {"dims": ["region", "hovedint"], "frequency": "ant"}, below(4)),
    ("gauss_small_z2", "data/SSB_z2", {"dims": Z2, "frequency": "ant"}, below(6)),
    ("gauss_z2_publish", "data/SSB_z2", {"dims": Z2, "frequency": "ant"}, below(6)),
    ("gauss_small_z3", "data/SSB_z3", {"dims": [*Z2, "mnd", "mnd2"], "frequency": "ant"}, below(6)),
    ("gauss_dec_z3", "data/SSB_z3", {"dims": [*Z2, "mnd", "mnd2"], "frequency": "ant"}, [MinimumFrequency(6)]),
    ("gauss_small_magnitude1", "data/SSB_magnitude1", {"dims": ["geo", "sector2"]}, below(3)),
    ("gauss_dom_d", "reference/gauss_in_d", {"dims": ["v1"], "values": ["num"]}, TWO),
    ("gauss_pp7_d", "reference/gauss_in_d", {"formula": "v1 - 1", "values": ["num"]}, [PPercent(7)]),
    ("gauss_dom_d_w", "reference/gauss_in_d", {"dims": ["v1"], "values": ["num"], "weight": "sweight"}, TWO),
    ("gauss_dom_d_w_tau", "reference/gauss_in_d", {"dims": ["v1"], "values": ["num"], "weight": "sweight"}, TWO),
    ("gauss_pp5_magnitude1", "data/SSB_magnitude1", CROSSED, [PPercent(5)]),
    ("gauss_pp10_magnitude1", "data/SSB_magnitude1", CROSSED, [PPercent(10)]),
    ("gauss_dom_magnitude1", "data/SSB_magnitude1", LINKED, [Dominance(1, 80), Dominance(2, 99)]),
    ("gauss_pp10_magnitude1_formula", "data/SSB_magnitude1", LINKED, [PPercent(10)]),
    (
        "gauss_dom_magnitude1_nocontr",
        "data/SSB_magnitude1",
        {"dims": ["sector4", "geo"], "values": ["value"]},
        [Dominance(1, 80), Dominance(2, 95)],
    ),
    (
        "gauss_dom_d2v",
        "reference/gauss_in_d2v",
        {"dims": REGION, "values": ["v"]},
        [Dominance(1, 70), Dominance(2, 95)],
    ),
    ("gauss_few1_magnitude1", "data/SSB_magnitude1", CROSSED, [FewContributors(2)]),
    ("gauss_few2_magnitude1", "data/SSB_magnitude1", CROSSED, [FewContributors(3)]),
    (
        "gauss_few2_d2c",
        "reference/gauss_in_d2c",
        {"dims": REGION, "values": ["v"], "contributor": "family_id"},
        [FewContributors(3)],
    ),
]
"""The published table, its records, how they become a table, and the rules that were applied."""


def read(name: str) -> list[dict[str, str]]:
    assert SHARED is not None
    return list(csv.DictReader((SHARED / "reference" / f"{name}.csv").read_text().splitlines()))


def table_of(name: str, source: str, how: dict[str, Any]) -> Table:
    assert SHARED is not None
    if name == "gauss_small_d2_hier":
        tree = read_hierarchy("main_income", SHARED / "reference" / "gauss_in_ml.csv")
        how = {**how, "hierarchies": {"main_income": tree, "k_group": ["Total_Norway", "300", "400"]}}
    return Table.of_records(SHARED / f"{source}.csv", **how)


@needs_shared
@pytest.mark.parametrize(("name", "source", "how", "rules"), CASES, ids=[case[0] for case in CASES])
def test_primary_cells_are_those_of_the_reference(
    name: str, source: str, how: dict[str, Any], rules: Sequence[PrimaryRule]
):
    table = table_of(name, source, how)
    weights = "repeated" if name.endswith("_tau") else "largest"
    found = find_sensitive(table, rules, weights=weights)
    lines = [line for line in read(name) if line.get("isPublish", "TRUE") == "TRUE"]
    cells = [table.find(*(line[axis.name] for axis in table.grid.axes)) for line in lines]
    assert not table.hidden[cells].any()
    assert found.sensitive[cells].tolist() == [line["primary"] == "TRUE" for line in lines]
    assert set(cells) >= set(np.flatnonzero(found.sensitive))
    shown = next(key for key in ("weighted.num", "value", "num", "v", "f", "freq", "ant") if key in lines[0])
    assert np.allclose(table.values[found.value][cells], [float(line[shown]) for line in lines])
    if "dominant2" in lines[0]:
        makeup = table.makeup(found.value, weights)
        for count in (1, 2):
            shares = [float(line[f"dominant{count}"] or "nan") for line in lines]
            here = ~np.isnan(shares) & (makeup.size[cells] > 0)
            reached = makeup.top(count)[cells][here] / makeup.size[cells][here]
            assert np.allclose(reached, np.array(shares)[here])


@needs_shared
def test_every_reference_file_with_primary_cells_is_here():
    assert SHARED is not None
    files = (SHARED / "reference").glob("gauss_*.csv")
    judged = {path.stem for path in files if "primary" in path.read_text().splitlines()[0].split(",")}
    assert judged == {case[0] for case in CASES}
