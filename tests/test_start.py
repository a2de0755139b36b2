"""What a start loads: heavy packages only where they are used. Modules are looked at, not the time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import suffice
from suffice import microdata
from suffice.demo import firms

HEAVY = ("numba", "sklearn", "matplotlib", "scipy.optimize", "scipy.stats", "pandas", "formulaic", "rich")
ROLES = "suffice.Roles(confidential=['turnover', 'wages', 'taxes'], given='C(region) + log(employees)')"


def loaded(code: str, folder: Path) -> set[str]:
    """The modules that a program has loaded at its end."""
    ends = f"{code}\nimport sys\nprint(*sys.modules, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", ends], capture_output=True, text=True, check=True, cwd=folder)
    return set(done.stdout.split())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pq.write_table(firms(400), tmp_path / "firms.parquet")
    return tmp_path


@pytest.mark.parametrize("data", ["pq.ParquetFile('firms.parquet').read()", "'firms.parquet'"], ids=["table", "file"])
@pytest.mark.parametrize("method", ["Ipso()", "Rotate(sweeps=20)"])  # more sweeps are soonest done by compiled loops
def test_protecting_loads_nothing_heavy(method: str, data: str, folder: Path):
    seed = "suffice.Seed.for_tests(1), dict.fromkeys(['seed', 'outliers', 'giants'], 'a test')"
    made = f"suffice.protect({data}, {ROLES}, suffice.{method}, {seed})"
    modules = loaded(f"import pyarrow.parquet as pq, suffice\n{made}.write('out.parquet')", folder)
    assert "suffice.release.protect" in modules
    assert [name for name in HEAVY if name in modules] == []
    assert (folder / "out.parquet").exists()


def test_a_method_is_loaded_alone(folder: Path):
    modules = loaded("import suffice\nsuffice.methods()['ipso']", folder)
    assert "suffice.microdata.ipso" in modules
    assert "suffice.microdata.micro_hybrid" not in modules
    assert [name for name in HEAVY if name in modules] == []


def test_a_file_needs_no_narwhals(folder: Path):
    modules = loaded(f"import suffice\nsuffice.protect('firms.parquet', {ROLES}, suffice.Ipso())", folder)
    assert not modules & {"narwhals", "pydantic", "jinja2"}


def test_all_names_can_be_taken_at_once():
    names: dict[str, object] = {}
    exec("from suffice import *", names)
    assert {"Roles", "Ipso", "protect", "verify"} <= {*names}
    assert {*dir(suffice)} <= {*names}


def test_every_name_of_a_method_leads_to_its_class():
    for name in microdata.__all__:
        assert getattr(microdata, name).__name__ == name
        assert getattr(suffice, name) is getattr(microdata, name)
    with pytest.raises(AttributeError):
        microdata.Nothing  # noqa: B018
