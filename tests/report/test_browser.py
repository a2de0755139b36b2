"""Every kind of page in Chromium: no error, nothing fetched, no barrier that axe-core sees, nothing cut on paper."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import suffice
from suffice.demo import firms
from suffice.tables.methods import Suppress
from suffice.tables.rules import MinimumFrequency
from suffice.tables.sensitivity import find_sensitive
from suffice.tables.table import Table

CHROMIUM = shutil.which("chromium")
HOSTILE = "<img src=x onerror=alert(1)></td></script><script>alert(2)</script>{{7*7}} $\\frac{1}{"
LONG = "turnover_" * 14 + "end"
A4 = {"width": 703, "height": 1032}
"""What is left of a sheet between margins of 12 mm, in CSS pixels."""

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's chromium")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One page of each kind, of columns with hostile and with long names."""
    folder = tmp_path_factory.mktemp("pages")
    data = firms(300).select(["turnover", "wages", "taxes", "size"]).rename_columns([HOSTILE, LONG, "taxes", "size"])
    roles = suffice.Roles(confidential=[HOSTILE, LONG, "taxes"], given="C(size)")
    key = suffice.Seed.new_file(folder / "key")
    found = suffice.compare(data, roles, ["ipso", "shuffle", "pca-mask"], 2, workers=1, loss="information-loss")
    release = suffice.protect(data, roles, suffice.Ipso(), key)
    release.report(folder / "private.html", among=found)
    release.report(folder / "public.html", public=True)
    release.write(folder / "out.csv")
    release.assess(measures=["distance-linkage", "propensity-2", "information-loss"]).write(folder / "scores.html")
    found.write(folder / "comparison.html")
    _table(folder)
    names = ("private", "public", "out.csv.certificate", "scores", "comparison", "table", "table.csv.certificate")
    return {name: folder / f"{name}.html" for name in names}


def _table(folder: Path) -> None:
    rng = np.random.default_rng(3)
    cells = {HOSTILE: np.repeat([f"r{i}" for i in range(6)], 30), LONG: np.tile([f"c{i}" for i in range(5)], 36)}
    records = pa.table({**cells, "value": rng.lognormal(3, 1.5, 180).round()})
    made = Table.of_records(records, [HOSTILE, LONG], ["value"])
    secret = find_sensitive(made, [MinimumFrequency(7)])
    release = suffice.publish(made, secret.sensitive, secret, method=Suppress(search="auto"))
    release.report(folder / "table.html")
    release.write(folder / "table.csv")


class Seen:
    """A page as the browser has it, and everything that went wrong while it was opened."""

    def __init__(self, browser: Any, file: Path, **context: Any) -> None:
        self.page = browser.new_context(**context).new_page()
        self.wrong: list[str] = []
        self.page.on("console", lambda each: self.wrong.append(f"console: {each.text}"))
        self.page.on("pageerror", lambda each: self.wrong.append(f"error: {each}"))
        self.page.on("dialog", lambda each: (self.wrong.append(f"dialog: {each.message}"), each.dismiss()))
        self.page.on("request", lambda each: self.asked(each.url, file))
        self.page.goto(file.as_uri())

    def asked(self, url: str, file: Path) -> None:
        if url != file.as_uri() and not url.startswith("data:"):
            self.wrong.append(f"request: {url}")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


KINDS = ("private", "public", "out.csv.certificate", "scores", "comparison", "table", "table.csv.certificate")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_runs_nothing_is_fetched_and_axe_finds_no_barrier(browser, pages, kind, scheme):
    from axe_playwright_python.sync_playwright import Axe

    seen = Seen(browser, pages[kind], color_scheme=scheme)
    found = Axe().run(seen.page).response["violations"]
    told = [f"{each['id']}: {node['html'][:120]}" for each in found for node in each["nodes"]]
    assert (seen.wrong, told) == ([], [])


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("kind", KINDS)
def test_no_page_is_wider_than_the_screen(browser, pages, kind, width):
    seen = Seen(browser, pages[kind], viewport={"width": width, "height": 800})
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width


CUT = """() => [...document.querySelectorAll('table, img, p, dl, li')].filter(each => {
    const box = each.getBoundingClientRect();
    const inside = each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0;
    return inside || box.right > innerWidth + 1 || box.left < -1;
}).map(each => each.outerHTML.slice(0, 120))"""


@pytest.mark.parametrize("kind", KINDS)
def test_on_paper_nothing_is_cut(browser, pages, kind):
    seen = Seen(browser, pages[kind], viewport=A4, color_scheme="dark")
    seen.page.emulate_media(media="print")
    assert seen.page.evaluate(CUT) == []
    assert seen.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert seen.page.pdf(format="A4").startswith(b"%PDF")
