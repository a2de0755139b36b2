"""Pages are self-contained and escaped, and the private one is for its owner alone."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from suffice import Ipso, Roles, protect
from suffice.certificate.certificate import Certificate, Coefficients
from suffice.errors import FileError
from suffice.guards.finding import Finding
from suffice.report import private, public
from suffice.report.histograms import BINS, Histograms
from suffice.rows.memory import MemoryRows
from suffice.statistics.statistic import Claim
from tests.tolerances import ENGINE

HOSTILE = "<script>alert(1)</script>{{7*7}}"
CERTIFICATE = Certificate(
    claims=(Claim("mean", "means", 1e-16, 0.5, "wages"),),
    rows=500,
    given=("C(region)",),
    confidential=("wages", HOSTILE),
    method="ipso",
    source="the file that was written",
    coefficients=Coefficients(1e-15, 3.0),
    notes=(f"{HOSTILE}: joined",),
    not_promised=("signs",),
    same_rows=True,
)
FINDING = Finding("domain", "warn", f"{HOSTILE} has negatives", "Use logs.")


def table(seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    wages = rng.lognormal(0, 1, 500)
    return pa.table({"wages": wages, HOSTILE: wages + rng.normal(size=500), "w": rng.uniform(1, 2, 500)})


def binned(weight: str | None = None) -> Histograms:
    return Histograms.of(MemoryRows(table(1)), MemoryRows(table(2)), ["wages", HOSTILE], weight)


class Tags(HTMLParser):
    """What a browser would load or run."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.loads += [value for name, value in attrs if name in ("src", "href") or name.startswith("on")]


@pytest.fixture(scope="module", params=["public", "private"])
def page(request) -> str:
    if request.param == "public":
        return public.page(CERTIFICATE)
    return private.page(CERTIFICATE, [FINDING], binned())


def test_names_are_escaped_and_nothing_is_run_or_loaded(page: str):
    tags = Tags(page)
    assert not {"script", "iframe", "link", "object", "svg"} & set(tags.names)
    assert all(source.startswith("data:image/png;base64,") for source in tags.loads)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;{{7*7}}" in page
    assert "url(" not in page
    assert "http" not in re.sub(r"base64,[^\"]*|http-equiv", "", page)


def test_public_page_holds_only_what_the_json_holds():
    """Every word of the page that is not of the template is in the certificate."""
    other = replace(CERTIFICATE, rows=77, confidential=("a",), notes=(), method="romm")
    text, bare = public.page(CERTIFICATE), public.page(other)
    words = set(re.findall(r"\w+", re.sub(r"&\w+;", " ", text))) - set(re.findall(r"\w+", bare))
    allowed = set(re.findall(r"\w+", json.dumps(CERTIFICATE.as_dict()))) | {"Notes"}
    assert words <= allowed
    assert "CONFIDENTIAL" not in text


def test_private_page_says_so_and_shows_each_column():
    text = private.page(CERTIFICATE, [FINDING], binned())
    assert "CONFIDENTIAL - for the data holder" in text
    assert text.count("data:image/png;base64,") == 3
    assert "has negatives" in text
    assert "Use logs." in text


def test_a_release_too_large_to_draw_still_has_its_page():
    text = private.page(CERTIFICATE, [FINDING], None)
    assert "data:image/png" not in text
    assert "has negatives" in text


def test_private_page_is_for_its_owner_alone(tmp_path: Path):
    release = protect(table(1), Roles(confidential=["wages"]), Ipso())
    release.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [tmp_path / "report.html"]
    assert (tmp_path / "report.html").read_text().count("data:image/png;base64,") == 2
    with pytest.raises(FileError, match=r"report.html exists already"):
        release.report(tmp_path / "report.html")


def test_no_name_turns_the_direction_of_writing():
    """An override in a name would show the rest of a line backwards."""
    spoofed = replace(CERTIFICATE, confidential=("wages\u202e\x1b[2J\nkept",))
    text = public.page(spoofed)
    assert "\u202e" not in text
    assert "wages\\u202e\\x1b[2J\\nkept" in text


def test_a_certificate_that_does_not_hold_says_so():
    broken = replace(CERTIFICATE, claims=(Claim("mean", "means", 0.1, 1e14, "wages"),), same_rows=False)
    text = public.page(broken)
    assert "DOES NOT HOLD" in text
    assert "NOT KEPT at wages" in text
    assert "every promise is kept" not in text


def test_coefficients_of_a_steep_design_are_not_compared():
    assert "not compared" not in public.page(CERTIFICATE)
    steep = replace(CERTIFICATE, coefficients=Coefficients(float("nan"), 1e9))
    assert "not compared" in public.page(steep)
    assert "nan" not in public.page(steep)


@pytest.mark.parametrize("weight", [None, "w"])
def test_binned_counts_and_correlations(weight):
    one, two = table(1), table(2)
    found = binned(weight)
    for side, data in zip((0, 1), (one, two), strict=True):
        columns = np.array([data["wages"].to_numpy(), data[HOSTILE].to_numpy()])
        weights = data["w"].to_numpy() if weight else None
        expected = np.cov(columns, aweights=weights, ddof=0)
        expected = expected / np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
        assert found.counts[side].shape == (2, BINS)
        assert (found.counts[side].sum(axis=1) == 500).all()
        assert np.abs(found.correlations[side] - expected).max() < ENGINE


def test_a_constant_column_is_drawn_and_correlates_with_nothing():
    flat = pa.table({"a": [1.0, 2.0, 3.0], "b": [5.0, 5.0, 5.0]})
    found = Histograms.of(MemoryRows(flat), MemoryRows(flat), ["a", "b"])
    assert found.counts[0][1].max() == 3
    assert found.correlations[0][0, 1] == 0
    assert "png" in private.page(CERTIFICATE, [], found)
