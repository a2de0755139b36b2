"""Without a method: exact, inside what was asked for, and the same from Python, a plan and the command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import Ipso, Plan, Restore, Roles, Rotate, Seed, protect
from suffice.catalogue import chosen
from suffice.demo import firms
from suffice.errors import InfeasibleError, UsageError
from tests.tolerances import ENGINE

AMOUNTS = ["turnover", "wages", "taxes"]
ROLES = Roles(confidential=AMOUNTS, given="C(region)", identifiers=["firm_id"])
BOUNDED = Roles(confidential=AMOUNTS, given="C(region)", identifiers=["firm_id"], bounds="observed-sign")


@pytest.mark.parametrize(
    ("roles", "method"), [(ROLES, Ipso()), (BOUNDED, Rotate(zeros="free"))], ids=["plain", "bounded"]
)
def test_the_default_is_exact_and_inside_the_bounds(roles: Roles, method: object, tmp_path: Path):
    data = firms(400).to_pandas()
    Seed.new_file(tmp_path / "key")
    seed = Seed.from_file(tmp_path / "key")
    release = protect(data, roles, seed=seed)
    assert release.certificate.holds
    assert release.method == method
    assert bool((release.frame[AMOUNTS] < 0).any(axis=None)) is (roles is ROLES)
    data.to_parquet(tmp_path / "in.parquet")
    bounds = ["--bound", "observed-sign"] if roles is BOUNDED else []
    words = ["--confidential", ",".join(AMOUNTS), "--given", "C(region)", "--identifiers", "firm_id", *bounds]
    command = ["protect", "in.parquet", "-o", "out.parquet", *words, "--key-file", "key", "--quiet"]
    subprocess.run([sys.executable, "-m", "suffice", *command], cwd=tmp_path, check=True)
    made = pd.read_parquet(tmp_path / "out.parquet")
    assert (made[AMOUNTS] - release.frame[AMOUNTS]).abs().max().max() <= ENGINE * data["turnover"].std()


def test_a_plan_without_a_method_is_the_same():
    tables = {"data": {"path": "in.csv"}, "release": {"path": "out.csv"}}
    plan = Plan.of({**tables, "roles": {"confidential": ["y"], "edits": ["y <= 3"]}})
    assert plan.build_method() == chosen(None, plan.roles.build()) == Rotate(zeros="free")
    assert Plan.parse(plan.to_toml()) == plan


@pytest.mark.parametrize(
    ("said", "method"),
    [
        ("ipso", Ipso()),
        ("ipso:by=svd", Ipso(by="svd")),
        (["ipso", "rotate:sweeps=5"], Ipso().then(Rotate(sweeps=5))),
        (["ipso", Restore()], Ipso().then(Restore())),
        ([Ipso()], Ipso()),
    ],
)
def test_names_are_enough(said: object, method: object):
    assert chosen(said, ROLES) == method


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("romn", "no method 'romn'.*romm"),
        ("romm:corelation=1", "no parameter 'corelation'.*correlation"),
        ("ipso:by", "by"),
        (3, "int is not a method"),
        ([], "list is not a method"),
        ([3, "restore"], "int is not a method"),
        (Ipso, "is not a method"),
    ],
)
def test_what_is_no_method_is_said(said: object, words: str):
    with pytest.raises(UsageError, match=words):
        protect(firms(30), ROLES, said)


def test_the_module_runs_and_shows_help():
    for words in ([], ["--help"]):
        done = subprocess.run([sys.executable, "-m", "suffice", *words], capture_output=True, text=True, check=False)
        assert "protect" in done.stdout + done.stderr
        assert "Usage: " in done.stdout + done.stderr
        assert "Traceback" not in done.stderr


def test_python_and_the_command_leave_the_same_files(tmp_path: Path):
    for folder in ("python", "command"):
        (tmp_path / folder).mkdir()
    firms(300).to_pandas().to_csv(tmp_path / "in.csv", index=False)
    protect(tmp_path / "in.csv", ROLES).write(
        tmp_path / "python" / "out.csv", report=tmp_path / "python" / "report.html"
    )
    words = ["--confidential", ",".join(AMOUNTS), "--given", "C(region)", "--identifiers", "firm_id"]
    command = ["protect", "in.csv", "-o", "command/out.csv", "--report", "command/report.html", *words, "--quiet"]
    subprocess.run([sys.executable, "-m", "suffice", *command], cwd=tmp_path, check=True)
    left = [{(p.name, p.stat().st_mode) for p in (tmp_path / folder).iterdir()} for folder in ("python", "command")]
    assert left[0] == left[1]
    assert {name for name, _ in left[0]} == {
        "out.csv", "out.csv.certificate.json", "out.csv.certificate.html", "report.html",
    }  # fmt: skip


def test_one_column_with_a_giant_of_half_the_variance_has_a_release() -> None:
    y = np.random.default_rng(1).lognormal(3, 1, 100)
    y[0] = y[1:].mean() + np.sqrt(((y[1:] - y[1:].mean()) ** 2).sum() * 100 / 99)
    release = protect(pd.DataFrame({"y": y}), Roles(confidential=["y"], bounds={"y": (0, None)}))
    assert not any(finding.blocks for finding in release.findings)
    assert release.certificate.holds
    assert (release.frame["y"] >= 0).all()


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """New values that never come inside the limits."""

    def refusing(Y: Any, ground: Any, *_: Any, **__: Any) -> tuple[Any, int]:
        if ground.feasible(Y).all():
            return Y, 0
        raise InfeasibleError("Rotate found no release within the limits.")

    monkeypatch.setattr("suffice.microdata.rotate.repaired", refusing)


@pytest.mark.usefixtures("outside")
def test_where_new_values_do_not_come_inside_the_original_is_turned() -> None:
    """A default is no error on ordinary data; what was asked for by name is."""
    data = firms(120).to_pandas()
    release = protect(data, BOUNDED, seed=Seed.for_tests(1))
    assert not any("from records drawn anew" in remark for remark in release.certificate.private)
    assert all((release.frame[name] >= 0).all() for name in AMOUNTS)
    with pytest.raises(InfeasibleError):
        protect(data, BOUNDED, Ipso().then(Rotate(sweeps=30)), seed=Seed.for_tests(1))


def test_zeros_are_nobodys_own() -> None:
    """Who has nothing is not told by a release that nobody asked a method of."""
    rng = np.random.default_rng(2)
    y = np.where(rng.random(240) < 0.4, 0.0, rng.lognormal(size=240))
    roles = Roles(confidential=["y", "x"], bounds="observed-sign")
    data = pd.DataFrame({"y": y, "x": y + rng.lognormal(size=240)})
    rules = {finding.rule for finding in protect(data, roles, seed=Seed.for_tests(1)).findings}
    kept = {finding.rule for finding in protect(data, roles, "rotate", seed=Seed.for_tests(1)).findings}
    assert "zeros" not in rules
    assert "zeros" in kept


@pytest.mark.parametrize("key", [1, 2, 3])
def test_drawn_records_have_the_time_to_come_inside(key: int) -> None:
    """Numbers among the given terms leave little room: with 200 sweeps some keys began at the original."""
    roles = Roles(confidential=AMOUNTS, given="C(region) + C(industry) + log(employees)", bounds="observed-sign")
    release = protect(firms(2000).to_pandas(), roles, Rotate(most=2), seed=Seed.for_tests(key))
    assert any("drawn anew" in remark for remark in release.certificate.private)


def test_zeros_and_ones_between_both_bounds_have_no_other_values() -> None:
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"y": rng.integers(0, 2, 80) * 1.0, "w": rng.lognormal(size=80)})
    with pytest.raises(InfeasibleError, match="y stands at one of two bounds in every record") as caught:
        protect(data, Roles(confidential=["y", "w"], bounds={"y": (0, 1), "w": (0, None)}), seed=Seed.for_tests(1))
    assert caught.value.exit_code == 5
    free = protect(
        data, Roles(confidential=["y", "w"], bounds={"y": (0, None), "w": (0, None)}), seed=Seed.for_tests(1)
    )
    assert free.certificate.holds  # what the message says heals
