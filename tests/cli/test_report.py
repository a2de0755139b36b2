"""Pages are self-contained and escaped, and the private one is for its owner alone."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
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
from suffice.report.histograms import BINS, SHARES, Histograms
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


def test_private_page_is_for_its_owner_alone(tmp_path: Path):
    release = protect(table(1), Roles(confidential=["wages"]), Ipso())
    release.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [tmp_path / "report.html"]
    assert (tmp_path / "report.html").read_text().count("data:image/png;base64,") == 3
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


def test_figures_are_those_of_the_cells_that_are_there():
    rng = np.random.default_rng(3)
    y, w = rng.normal(5, 2, 900), rng.uniform(1, 2, 900)
    y[::7] = np.nan
    data = pa.table({"y": y, "w": w})
    there = ~np.isnan(y)
    found = Histograms.of(MemoryRows(data), MemoryRows(data), ["y"], "w").figures[0]
    assert found.mean[0] == pytest.approx(np.average(y[there], weights=w[there]), rel=1e-12)
    assert found.sd[0] == pytest.approx(np.sqrt(np.cov(y[there], aweights=w[there], ddof=0)), rel=1e-12)
    assert found.plain_mean[0] == pytest.approx(y[there].mean(), rel=1e-12)
    assert (found.low[0], found.high[0]) == (y[there].min(), y[there].max())
    assert found.quantiles[0] == pytest.approx(np.quantile(y[there], SHARES))
    assert (found.negative[0], found.missing[0]) == ((y < 0).sum(), (~there).sum())


def test_quantiles_of_a_long_file_are_those_of_some_records(monkeypatch: pytest.MonkeyPatch):
    data = MemoryRows(pa.table({"y": np.arange(20_000.0)}))
    monkeypatch.setattr("suffice.report.histograms.MOST", 1000)
    found = Histograms.of(data, data, ["y"]).figures[0]
    assert found.quantiles[0] == pytest.approx(19_999 * np.array(SHARES), abs=20)
    assert found.high[0] == 19_999


def test_money_has_a_bent_axis_and_heights_have_not():
    rng = np.random.default_rng(4)
    data = pa.table({"money": rng.lognormal(9, 1.5, 2000), "height": rng.normal(170, 10, 2000)})
    found = Histograms.of(MemoryRows(data), MemoryRows(data), ["money", "height"])
    assert found.bends[0] is not None
    assert found.bends[1] is None
    assert (found.counts[0].sum(axis=1) == 2000).all()
    assert found.counts[0][0].max() < 400  # straight, 9 in 10 would stand in the first bin


def test_the_report_has_figures_remarks_and_coefficients_side_by_side(tmp_path: Path):
    rng = np.random.default_rng(5)
    x = rng.normal(size=300)
    data = pa.table({"y": np.exp(x + rng.normal(size=300)), "x": x, "w": rng.uniform(1, 2, 300)})
    release = protect(data, Roles(confidential=["y"], given="x", weight="w"), "romm:correlation=0.5")
    release.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    root = np.sqrt(data["w"].to_numpy())
    X = np.column_stack([np.ones(300), x])
    slope = np.linalg.lstsq(root[:, None] * X, root * data["y"].to_numpy(), rcond=None)[0][1]
    assert page.count(f"{slope:,.8g}") == 2
    assert "Remarks for you alone" in page
    assert "residual correlation with the original: y 0." in page
    for words in ("mean, weighted", "mean, unweighted", "sd, weighted", "50% quantile", "smallest", "negative cells"):
        assert words in page
    assert page.count(f"{data['y'].to_numpy().max():,.6g}") == 1
    with pytest.raises(FileError, match="exists already"):
        release.report(tmp_path / "report.html")


def test_a_table_is_not_broken_and_a_heading_stays_with_what_it_heads(page: str):
    rules = page.partition("@media print")[2].partition("</style>")[0]
    assert re.search(r"section, table[^{]*{ break-inside: avoid", rules)
    assert re.search(r"h2, h3[^{]*{ break-after: avoid", rules)


def test_a_release_of_new_records_and_one_with_holes_have_a_report(tmp_path: Path):
    data = table(1)
    protect(data, Roles(confidential=["wages", HOSTILE]), "resize:m=100").report(tmp_path / "new.html")
    assert "Regressions" not in (tmp_path / "new.html").read_text()
    wages = data["wages"].to_numpy().copy()
    wages[:40] = np.nan
    holes = pa.table({"wages": wages, "x": data["w"]})
    roles = Roles(confidential=["wages"], given="x", missing="patterns")
    protect(holes, roles).report(tmp_path / "holes.html")
    assert "missing cells" in (tmp_path / "holes.html").read_text()


@pytest.mark.skipif(not (shutil.which("chromium") and shutil.which("pdfinfo")), reason="needs a browser and pdfinfo")
@pytest.mark.parametrize("times", [1, 6])
def test_the_certificate_prints_on_one_page(times: int, tmp_path: Path):
    """An ordinary one, and one with as many claims and notes as methods with several levels make."""
    claims = (
        CERTIFICATE.claims + (Claim("fit", "cross-products, weighted by w, in each of 8 groups", 1e-15, 1, ""),) * 3
    )
    long = replace(
        CERTIFICATE,
        claims=claims * times,
        notes=("small levels were joined, each in its group",) * 2 * times,
        not_promised=("statistics of other groups, or regressions on other terms than those above",) * 2 * times,
        accepted={"outliers": "agreed with the owners of the three largest firms"},
        verify="suffice verify ORIGINAL release.parquet --confidential turnover,wages --bound turnover=0: " * 4,
        file="release.parquet",
        digest="0" * 64,
        date="2026-11-18",
    )
    (tmp_path / "page.html").write_text(public.page(long))
    quiet = {"check": True, "capture_output": True, "cwd": tmp_path, "timeout": 60}
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    subprocess.run(["chromium", *flags, "--print-to-pdf=page.pdf", "page.html"], **quiet)
    told = subprocess.run(["pdfinfo", "page.pdf"], **quiet).stdout.decode()
    assert re.search(r"Pages:\s+1\n", told)
