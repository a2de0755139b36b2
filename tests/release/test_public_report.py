"""Public report and certificate hold nothing of the original, no path and no key; the private page is private."""

from __future__ import annotations

import base64
import re
import struct
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice.errors import GuardError
from suffice.seed import Seed


def people(seed: int, n: int = 240) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "income": np.round(rng.lognormal(10, 0.6, n), 2),
            "tax": np.round(rng.lognormal(8, 0.5, n), 2),
            "town": np.where(np.arange(n) < 2, "Kleinzschocher", rng.choice(["north", "south"], n)),
            "sex": rng.choice(["f", "m"], n),
        }
    )


def chunks(png: bytes) -> list[str]:
    """The kinds of the parts of a PNG."""
    found, at = [], 8
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at : at + 8])
        found.append(kind.decode())
        at += 12 + size
    return found


@pytest.mark.parametrize("method", ["ipso", "shuffle"])
@pytest.mark.parametrize("seed", range(3))
def test_nothing_of_the_original_is_in_a_public_page(seed: int, method: str, tmp_path: Path) -> None:
    data = people(seed)
    data.to_csv(tmp_path / "people.csv", index=False)
    key = Seed.new_file(tmp_path / "secret.key")
    roles = suffice.Roles(confidential=["income", "tax"], given="C(sex)")
    release = suffice.protect(tmp_path / "people.csv", roles, method, key)
    release.write(tmp_path / "out.csv")
    release.report(tmp_path / "public.html", public=True)
    public = ["public.html", "out.csv.certificate.html", "out.csv.certificate.json"]
    secret = (tmp_path / "secret.key").read_text().split()
    forms = (".2f", ".0f", ".6g", ".5g")
    values = [f"{value:{form}}" for value in data[["income", "tax"]].to_numpy().ravel() for form in forms]
    for text in ((tmp_path / name).read_text() for name in public):
        plain = re.sub(r"base64,[A-Za-z0-9+/=]+", "", text).replace(",", "")
        assert not [value for value in values if len(value) >= 5 and re.search(rf"(?<![\d.]){value}(?![\d.])", plain)]
        assert "Kleinzschocher" not in plain
        assert str(tmp_path) not in plain
        assert not any(word in text for word in secret if len(word) > 8)
        for picture in re.findall(r"base64,([A-Za-z0-9+/=]+)", text):
            assert {*chunks(base64.b64decode(picture))} <= {"IHDR", "IDAT", "IEND", "pHYs"}


@pytest.mark.parametrize("seed", range(3))
def test_no_rare_category_is_named_where_categories_are_drawn(seed: int, tmp_path: Path) -> None:
    """Two records of a town may be drawn again: the page for everybody adds such levels up."""
    data = people(seed)
    data.loc[2:7, "town"] = ["Mockau", "Mockau", "Mockau", "Thekla", "Thekla", "Thekla"]
    release = suffice.protect(data, suffice.Roles(confidential=["town", "income"]), "synthesis")
    release.report(tmp_path / "public.html", public=True)
    text = (tmp_path / "public.html").read_text()
    assert "north" in text
    assert not any(town in text for town in ("Kleinzschocher", "Mockau", "Thekla"))


def test_the_original_may_change_and_the_page_of_a_release_does_not(tmp_path: Path) -> None:
    """Made of the released rows alone: with another original behind the same release it is the same page."""
    from suffice.report.histograms import Histograms
    from suffice.report.public import report
    from suffice.rows.memory import MemoryRows

    release = suffice.protect(people(1), suffice.Roles(confidential=["income", "tax"]), suffice.Ipso())
    release.report(tmp_path / "public.html", public=True)
    frame = MemoryRows(release.frame)
    again = report(release.certificate, Histograms.of(frame, frame, ["income", "tax"]))
    drawn = [
        re.findall(r"<td>(.*?)</td><td class=\"number\">(.*?)</td>", p)
        for p in (again, (tmp_path / "public.html").read_text())
    ]
    assert drawn[0] == drawn[1]


def test_a_release_that_is_stopped_has_no_public_report(tmp_path: Path) -> None:
    data = people(2)
    data.loc[0, "income"] = 1e9
    release = suffice.protect(data, suffice.Roles(confidential=["income"]), suffice.Ipso())
    with pytest.raises(GuardError):
        release.report(tmp_path / "public.html", public=True)
    assert not (tmp_path / "public.html").exists()
    release.report(tmp_path / "private.html")
    assert (tmp_path / "private.html").stat().st_mode & 0o077 == 0


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    name = "<img src=x onerror=alert(1)>{{7*7}}"
    data = people(3).rename(columns={"income": name})
    suffice.protect(data, suffice.Roles(confidential=[name]), suffice.Ipso()).report(tmp_path / "p.html", public=True)
    text = (tmp_path / "p.html").read_text()
    assert "<img src=x" not in text
    assert "onerror=alert(1)&gt;{{7*7}}" in text
