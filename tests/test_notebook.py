"""What a notebook shows: everything that a release is looked at with, escaped, without data."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import pytest

import suffice

HOSTILE = "<img src=x onerror=alert(1)>{{7*7}}"


@pytest.fixture(scope="module")
def shown() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    data = pd.DataFrame({HOSTILE: rng.lognormal(9, 0.5, 80), "x": rng.normal(size=80)})
    roles = suffice.Roles(confidential=[HOSTILE], given=["x"])
    release = suffice.protect(data, roles, suffice.Ipso(), suffice.Seed.for_tests(1), {"seed": "a test"})
    return {
        "release": release,
        "certificate": release.certificate,
        "findings": release.findings,
        "finding": next(each for each in release.findings if each.rule == "domain"),
        "verification": suffice.verify(data, release.frame, roles),
        "method": suffice.ResidualCorrelation(d=0.5),
        "methods": suffice.methods(),
    }


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.depth = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.names.append(tag)
        self.depth += tag not in ("br", "meta")

    def handle_endtag(self, tag: str) -> None:
        self.depth -= 1


NAMES = ["release", "certificate", "findings", "finding", "verification", "method", "methods"]


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_shows_it_and_runs_nothing(name: str, shown: dict[str, Any]) -> None:
    page = shown[name]._repr_html_()
    tags = Tags(page)
    assert not {"img", "script", "html", "body"} & set(tags.names)
    assert tags.depth == 0
    assert (HOSTILE.replace("<", "&lt;").replace(">", "&gt;") in page) is (not name.startswith("method"))


def test_each_says_what_it_is_about(shown: dict[str, Any]) -> None:
    pages = {name: shown[name]._repr_html_() for name in NAMES}
    assert "80 rows x 2 columns, ipso, free to be written" in pages["release"]
    for name in ("release", "certificate", "verification"):
        assert "What was kept" in pages[name]
    assert "domain" in pages["findings"]
    assert "the same records in both files" in pages["verification"]
    assert "residual-correlation" in pages["method"]
    assert "0.5" in pages["method"]
    assert all(name in pages["methods"] for name in suffice.methods())


def test_findings_print_line_by_line(shown: dict[str, Any]) -> None:
    findings = shown["findings"]
    assert str(findings).splitlines()[0].startswith("stop  seed: ")
    assert findings == tuple(findings)


def test_a_certificate_that_fails_is_shown() -> None:
    data = pd.DataFrame({"y": np.arange(40.0), "x": np.ones(40) / 3})
    worse = data.assign(x=0.5, y=0.0)
    page = suffice.verify(data, worse, suffice.Roles(confidential=["y"], given=["x"]))._repr_html_()
    assert "DOES NOT HOLD" in page
