"""The Python of CONTRIBUTING.md is run: each example is what the page says it is, all the way through `protect`."""

from __future__ import annotations

import doctest
import re
import sys
from collections.abc import Iterator
from dataclasses import make_dataclass, replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

from suffice import Restore, Roles, Seed, protect
from suffice.demo import firms
from suffice.design.role import declared
from suffice.errors import NotPreservedError, UsageError
from suffice.method.synthetic import Synthetic
from suffice.risk.looks import RiskLooks
from suffice.statistics import STATISTICS
from tests.tolerances import ENGINE

PAGE = Path(__file__).resolve().parents[1] / "CONTRIBUTING.md"
N = 9_001
"""Two logical blocks, the second one short."""
AMOUNTS = ["turnover", "wages", "taxes"]
ROLES = Roles(confidential=AMOUNTS, given="log(employees)", groups=["region"])
HYBRID = ("canonical-correlation", "residual-correlation", "kept-scores")
ACCEPTED = dict.fromkeys(("seed", "copies", "outliers", "giants", "dominance", *HYBRID), "a test")
SHAPES = ["Halve", "Blur", "Deal", "Redraw"]


def written() -> dict[str, str]:
    """Every Python block by the file that the page names before it."""
    found, file, text = {}, "", PAGE.read_text("utf-8")
    for path, block in re.findall(r"`src/(suffice/[\w/]+)\.py`|```python\n(.*?)```", text, re.DOTALL):
        if block:
            assert file not in found, file
            found[file] = block
        else:
            file = path.replace("/", ".")
    return found


@pytest.fixture(scope="module")
def examples() -> Iterator[dict[str, Any]]:
    """All that the blocks define, each run as the module that it would be."""
    known, names, blocks = dict(STATISTICS), dict[str, Any](), written()
    try:
        for file, block in blocks.items():
            module = ModuleType(file)
            kept = sys.modules.get(file)
            sys.modules[file] = module  # dataclasses look their module up
            exec(compile(block, f"CONTRIBUTING.md: {file}", "exec"), vars(module))
            if kept is not None:  # a block that stands in a file that exists
                sys.modules[file] = kept
            names.update(vars(module))
        yield names
    finally:
        STATISTICS.clear()
        STATISTICS.update(known)
        for file in blocks:
            if getattr(sys.modules.get(file), "__file__", None) is None:
                sys.modules.pop(file, None)


@pytest.fixture(scope="module")
def data() -> pl.DataFrame:
    frame = pl.DataFrame(pl.from_arrow(firms(N)))
    return frame.with_columns(size=pl.col("employees").cast(pl.Int32), employees=pl.col("employees").cast(pl.Float64))


def made(data: Any, method: Any, roles: Roles = ROLES) -> Any:
    if isinstance(method, Synthetic):  # a new record is given nothing
        roles = replace(roles, given="")
    return protect(data, roles, method, seed=Seed.for_tests(1), accept=ACCEPTED)


def test_a_block_belongs_to_a_file_of_its_own() -> None:
    blocks = written()
    assert len(blocks) == 9
    for name in SHAPES:
        assert f"class {name}(" in blocks[f"suffice.microdata.{name.lower()}"]


@pytest.mark.parametrize("name", [*SHAPES, "Extremes"])
def test_the_docstring_is_true(name: str, examples: dict[str, Any]) -> None:
    own = examples[name]
    runner = doctest.DocTestRunner()
    for test in doctest.DocTestFinder(recurse=False).find(own, name, module=False, globs=dict(examples)):
        assert runner.run(test).failed == 0


@pytest.mark.parametrize("name", SHAPES)
def test_a_method_of_every_shape_protects(name: str, examples: dict[str, Any], data: pl.DataFrame) -> None:
    for method in examples[name].examples():
        release = made(data, method)
        certificate = release.certificate
        assert certificate.holds
        assert {claim.statistic for claim in certificate.claims if claim.promised} >= {*method.keeps}
        assert not set(release.frame["wages"]) >= set(data["wages"]) or name == "Deal"
        assert made(data, method).frame.equals(release.frame)


@pytest.mark.parametrize("name", SHAPES)
def test_a_file_gives_what_memory_gives(
    name: str, examples: dict[str, Any], data: pl.DataFrame, tmp_path: Path
) -> None:
    method = examples[name].examples()[0]
    pq.write_table(data.to_arrow(), tmp_path / "in.parquet", row_group_size=777)
    made(tmp_path / "in.parquet", method).write(tmp_path / "out.parquet")
    one, two = pl.read_parquet(tmp_path / "out.parquet"), made(data, method).frame
    for column in AMOUNTS:
        assert np.abs(one[column] - two[column]).max() <= ENGINE * data[column].std()


def test_noise_is_made_exact(examples: dict[str, Any], data: pl.DataFrame) -> None:
    release = made(data, examples["Blur"]().then(Restore()))
    assert release.certificate.holds
    assert {claim.statistic for claim in release.certificate.claims} >= {"mean", "covariance", "fit"}


def test_kinds_are_released_as_they_came(examples: dict[str, Any], data: pl.DataFrame) -> None:
    roles = Roles(confidential=["industry", "size", "wages"])
    frame = made(data, examples["Deal"](), roles).frame
    for name in roles.confidential:
        assert frame[name].dtype == data[name].dtype
        assert sorted(frame[name]) == sorted(data[name])
        assert frame[name].to_list() != data[name].to_list()


def test_a_statistic_is_promised_and_seen_to_be_broken(
    examples: dict[str, Any], data: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deal, halve = examples["Deal"], examples["Halve"]
    monkeypatch.setattr(deal, "keeps", ("extremes",))
    claims = {claim.statistic: claim for claim in made(data, deal()).certificate.claims}
    assert claims["extremes"].error == 0
    monkeypatch.setattr(halve, "keeps", ("extremes",))
    with pytest.raises(NotPreservedError, match=r"smallest and largest values .*NOT KEPT"):
        made(data, halve()).write(tmp_path / "out.parquet")


@pytest.mark.parametrize("groups", [(), ("region",)])
def test_a_measure_is_folded_while_records_are_protected(
    groups: tuple[str, ...], examples: dict[str, Any], data: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, measure, deal = RiskLooks.file, examples["FixedCellMeasure"], examples["Deal"]

    def file(self: RiskLooks, spread: Any, still: Any) -> Any:
        return {**before(self, spread, still), "fixed": measure(still)}

    monkeypatch.setattr(RiskLooks, "file", file)
    release = made(data, deal(), Roles(confidential=AMOUNTS, groups=groups))
    aligned = release.aligned()
    expected = [(aligned[name] == data[name]).sum() for name in AMOUNTS]
    assert release.done.seen["fixed"].tolist() == expected
    assert sum(expected) > 0


def test_a_guard_is_a_function_of_results(examples: dict[str, Any]) -> None:
    guard = examples["fixed_cells"]
    assert guard(SimpleNamespace(fixed={"wages": 0})) is None
    finding = guard(SimpleNamespace(fixed={"wages": 2, "taxes": 0}))
    assert (finding.rule, finding.level, finding.blocks) == ("fixed-cells", "warn", False)
    assert "wages" in finding.message
    assert "taxes" not in finding.message


@pytest.mark.parametrize("name", SHAPES)
def test_an_engine_is_one_file(name: str, examples: dict[str, Any], data: pl.DataFrame, tmp_path: Path) -> None:
    numbers = data.select(*AMOUNTS, "employees")
    for column in numbers.columns:
        np.save(tmp_path / f"{column}.npy", numbers[column].to_numpy())
    rows, roles = examples["NumpyFolder"](tmp_path), Roles(confidential=AMOUNTS, given="log(employees)")
    method = examples[name].examples()[0]
    expected = made(numbers, method, roles).frame
    release = made(rows, method, roles)
    assert release.certificate.holds
    for column in AMOUNTS:
        apart = release.frame[column].to_numpy() - expected[column].to_numpy()
        assert np.abs(apart).max() <= ENGINE * data[column].std()


def test_a_role_is_one_field(examples: dict[str, Any]) -> None:
    field = [("household", "str | None", examples["household"])]
    more = make_dataclass("MoreRoles", field, bases=(Roles,), frozen=True)
    [role] = [each for each in declared(more) if each.name == "household"]
    assert role.option == "--household"
    assert more(confidential=["y"], household="home").columns == ("y", "home")
    assert more(confidential=["y"]).canonical() == Roles(confidential=["y"]).canonical()
    assert "household" in more(confidential=["y"], household="home").canonical()
    with pytest.raises(UsageError, match="`household` must be one column name"):
        more(confidential=["y"], household=["home"])
