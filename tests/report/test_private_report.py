"""The private page tells risk and utility, stands among neighbours, and holds the plan that repeats the release."""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest

import suffice
from suffice import cli
from suffice.comparison.neighbours import OWN, Neighbours
from suffice.demo import firms
from suffice.errors import InputError
from suffice.report.levels import FEWEST, LevelCounts
from suffice.rows.memory import MemoryRows

NAMES = ["turnover", "wages", "taxes"]

pytestmark = pytest.mark.usefixtures("one_trial")


def plan_in(page: str) -> str:
    return html.unescape(page.partition("<pre>")[2].partition("</pre>")[0])


@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("ipso", {"bounds": {"turnover": (None, 1e9)}, "edits": ["wages <= 3 * turnover"]}),
        (["pca-mask:components=2", "restore"], {}),
        (None, {"bounds": "observed-sign", "given": "C(size)"}),
    ],
)
def test_the_plan_of_the_page_makes_the_same_release(tmp_path: Path, method, more) -> None:
    pc.write_csv(firms(200), tmp_path / "firms.csv")
    key = suffice.Seed.new_file(tmp_path / "key")
    release = suffice.protect(tmp_path / "firms.csv", suffice.Roles(confidential=NAMES, **more), method, key)
    release.report(tmp_path / "report.html")
    text = plan_in((tmp_path / "report.html").read_text())
    assert "RELEASE" in text
    again = suffice.Plan.parse(text.replace("RELEASE", "out.csv"), tmp_path).protect()
    assert again.frame.equals(release.frame)


def test_risk_utility_and_propensity_are_told(tmp_path: Path) -> None:
    release = suffice.protect(firms(200).select(NAMES), suffice.Roles(confidential=NAMES), "ipso")
    release.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    for each in release.assess(measures=["distance-linkage", "information-loss", "propensity-2"]):
        assert re.search(rf"<th scope=\"row\">{each.name} .*?<td class=\"number\">{each.value:.4f}</td>", page)
    told = [float(each) for each in re.findall(r"it gives ([\d.]+) to original records, ([\d.]+) to", page)[0]]
    assert told[0] + told[1] == pytest.approx(1, abs=2e-3)  # of files of one size, by maximum likelihood
    assert told[1] > 0.5


def test_a_release_stands_among_the_methods_that_were_compared(tmp_path: Path) -> None:
    data, roles = firms(150).select(NAMES), suffice.Roles(confidential=NAMES)
    found = suffice.compare(data, roles, ["ipso", "shuffle"], 1, workers=1, loss="information-loss")
    found.write(tmp_path / "c.json")
    release = suffice.protect(data, roles, "pca-mask")
    own, *others = Neighbours.read(tmp_path / "c.json").place(release)
    assert (own.name, own.loss[0]) == (OWN, release.assess(measures="information-loss")["information-loss"].value)
    assert others == [each._replace(best=False) for each in found.points]
    assert [own, *others] == found.place(release)
    release.report(tmp_path / "report.html", among=found)
    page = (tmp_path / "report.html").read_text()
    assert "2. ipso" in page or "3. ipso" in page
    for wrong in ("{}", "[]", "x", '{"limits": {"linkage": 1}, "loss": ["hellinger"], "keep": [], "methods": 3}'):
        (tmp_path / "c.json").write_text(wrong)
        with pytest.raises(InputError, match="no comparison"):
            Neighbours.read(tmp_path / "c.json")


def test_the_command_shows_it_among_them(tmp_path: Path, monkeypatch, capsys) -> None:
    def run(*words: str) -> int:
        monkeypatch.setattr(sys, "argv", ["suffice", *words])
        with pytest.raises(SystemExit) as end:
            cli.main()
        return int(end.value.code or 0)

    monkeypatch.chdir(tmp_path)
    data = firms(150).select(NAMES)
    pc.write_csv(data, "firms.csv")
    found = suffice.compare(data, suffice.Roles(confidential=NAMES), "ipso", 1, workers=1, loss="information-loss")
    found.write("c.json")
    asked = ("protect", "firms.csv", "-o", "out.csv", "--confidential", ",".join(NAMES))
    assert run(*asked, "--among", "c.json") == 2
    assert "--report" in capsys.readouterr().err
    assert run(*asked, "--report", "r.html", "--among", "nowhere.json") == 7
    assert not Path("out.csv").exists()
    assert run(*asked, "--report", "r.html", "--among", "c.json") == 0
    assert OWN in Path("r.html").read_text()


def test_categories_are_counted_by_level_and_rare_ones_not_named_in_public(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    town = np.where(np.arange(300) < 2, "Kleinzschocher", rng.choice(["north", "south"], 300))
    data = pa.table({"town": town, "income": rng.normal(5, 1, 300)})
    release = suffice.protect(data, suffice.Roles(confidential=["town", "income"]), "synthesis")
    release.report(tmp_path / "private.html")
    page = (tmp_path / "private.html").read_text()
    assert re.search(rf"<th scope=\"row\">north</th><td class=\"number\">{(town == 'north').sum()}</td>", page)
    coded = MemoryRows(pa.table({"a": [1.0] * 12 + [2.0] * 9 + [3.0] + [0.0] * 2}))
    (found,) = LevelCounts.of((coded, coded), {"a": ("x", "y", "z")})
    assert found.lines() == [("x", ["12", "12"]), ("y", ["9", "9"]), ("z", ["1", "1"]), ("missing cells", ["2", "2"])]
    assert found.lines(FEWEST) == [("x", ["12", "12"]), ("2 others", ["10", "10"]), ("missing cells", ["2", "2"])]
    many = {f"c{j}": tuple(f"{j} {i}" for i in range(40 * j + 1)) for j in range(2)}
    codes = MemoryRows(pa.table({"c0": [1.0] * 41, "c1": [float(i + 1) for i in range(41)]}))
    short, long = LevelCounts.of((codes,), many)
    assert short.lines() == [("0 0", ["41"])]
    assert long.lines()[-1] == ("17 others", ["17"])
