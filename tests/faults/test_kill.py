"""A write that is killed, terminated or interrupted at any line leaves the old file or a complete certified one."""

from __future__ import annotations

import os
import signal
import stat
from pathlib import Path
from typing import Any

import pytest

from suffice.certificate.paper import paper_beside, paper_of
from tests.faults.places import OLD, OLD_PAPER, Place, Trials, is_paper

CASES = [(kind, force) for kind in ("csv", "parquet") for force in (False, True)]
Papers = list[bytes | None]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def whole(tmp_path_factory, tried: Trials) -> dict[tuple[str, bool], tuple[Papers, int]]:
    """For each kind: what an undisturbed write leaves, and how many lines it takes."""
    places = [Place.made(tmp_path_factory.mktemp("whole"), kind, old=force) for kind, force in CASES]
    undisturbed = {"line": 10**9, "signal": "SIGKILL"}
    counted = [{**undisturbed, "count": str(place.root / "count")} for place in places]
    assert set(tried([_trial(*pair) for pair in zip(places, counted, strict=True)])) == {0}
    for place in places:
        assert place.left() == {path.name for path in (place.target, place.paper, place.page, place.report)}
        assert place.complete()
        assert place.releases() == 1
    found = [(place.papers(), int((place.root / "count").read_text())) for place in places]
    return dict(zip(CASES, found, strict=True))


def _trial(place: Place, settings: dict[str, Any]) -> dict[str, Any]:
    return place.trial("--force", **settings, bucket=100)


def disturbed(tried: Trials, root: Path, whole: Any, every: int, last: int, cases: Any, **settings: Any) -> Any:
    """Places, how the write ended there, and what an undisturbed one leaves: one per line that is tried."""
    made, asked = [], []
    for kind, force in cases:
        new, lines = whole[kind, force]
        for line in sorted({*range(1, lines, lines // every), *range(lines - last, lines, 2)}):
            place = Place.made(root / f"{kind}{force}{line}", kind, old=force)
            made.append((place, force, new))
            asked.append(_trial(place, {"line": line, **settings}))
    return [(*each, ended) for each, ended in zip(made, tried(asked), strict=True)]


def fits(place: Place, force: bool, new: Papers) -> None:
    """The target is the old file or the new one with all its papers; papers alone, and whole, may come before it."""
    release, *papers = place.papers()
    assert release in ((OLD, new[0]) if force else (None, new[0]))
    if release == new[0]:
        assert place.complete()
        assert place.releases() >= 1  # no release that the ledger does not know
    if release is not None and papers[0] not in (None, OLD_PAPER):  # a certificate names the file that it is of
        found = [finding.rule for finding in paper_beside(place.target)[0]]
        assert found == ([] if release == new[0] else ["digest"])
    assert all(paper == (OLD_PAPER if force else None) or is_paper(paper) for paper in papers)


def hidden(place: Place) -> list[str]:
    return [name for name in place.left() if name.startswith((".", "temp/"))]


def test_sigkill(tried, tmp_path, whole):
    """No bucket and no temporary file is left: they have no names.

    To replace a file, the finished and certified one must have a name for a moment before it has its own, and the
    former one after it.
    """
    found = disturbed(tried, tmp_path, whole, 6, 24, CASES, signal="SIGKILL")
    for place, force, new, ended in found:
        assert ended == -signal.SIGKILL
        fits(place, force, new)
        for name in hidden(place):
            assert force
            content = (place.target.parent / name).read_bytes()
            assert content in (OLD, OLD_PAPER, new[0]) or is_paper(content)
    assert {place.papers()[0] == new[0] for place, _, new, _ in found} == {True, False}
    told = [place for place, *_ in found if place.papers()[0] == OLD != place.papers()[1] != OLD_PAPER]
    assert told  # some have an old file beside a new certificate, which says so: see `fits`


def test_sigkill_between_two_data_sets(tried, tmp_path):
    """Each is the old file or the new one; of an old one the new certificate, which names both, is not."""

    def made(root: Path) -> tuple[Place, list[Path]]:
        place = Place.made(root, "parquet", old=False)
        files = [place.target.with_name(f"release-{number}.parquet") for number in (1, 2)]
        for path in (*files, paper_of(files[0]), paper_of(files[0], "html")):
            path.write_bytes(OLD_PAPER if "certificate" in path.name else OLD)
        return place, files

    def trial(place: Place, **settings: Any) -> dict[str, Any]:
        return place.trial("--method", "synthesis:m=2", "--force", **settings, signal="SIGKILL", bucket=100)

    undisturbed, files = made(tmp_path / "whole")
    count = tmp_path / "count"
    assert tried([trial(undisturbed, line=10**9, count=str(count))]) == [0], undisturbed.said()
    whole, lines = [path.read_bytes() for path in files], int(count.read_text())
    assert OLD not in whole
    ends = range(2 * lines // 3, lines, 9)  # of the last third, in which files are named
    places = [made(tmp_path / str(line)) for line in ends]
    asked = [trial(place, line=line) for line, (place, _) in zip(ends, places, strict=True)]
    assert {*tried(asked)} == {-signal.SIGKILL}
    seen = set()
    for _, files in places:
        paper = paper_of(files[0]).read_bytes()
        for path, new in zip(files, whole, strict=True):
            assert path.read_bytes() in (OLD, new)
            assert path.read_bytes() == OLD or paper != OLD_PAPER
            if paper != OLD_PAPER:
                found = [finding.rule for finding in paper_beside(path)[0]]
                assert found == ([] if path.read_bytes() == new else ["digest"])
        seen.add((paper != OLD_PAPER, *(path.read_bytes() != OLD for path in files)))
    assert {(False, False, False), (True, False, False), (True, True, False), (True, True, True)} <= seen


@pytest.mark.parametrize("named", [False, True])
def test_sigterm_and_sigint(tried, tmp_path, whole, named):
    """The way out is walked: nothing hidden is left, even where the file system has no nameless files."""
    for sign, code in (("SIGTERM", 143), ("SIGINT", 130)):
        cases = [("parquet", False), ("parquet", True)]
        for place, force, new, ended in disturbed(tried, tmp_path / sign, whole, 4, 6, cases, signal=sign, named=named):
            assert ended in (code, 0)
            assert place.complete() or place.papers() == ([OLD, *[OLD_PAPER] * 3] if force else [None] * 4)
            assert ended == code or place.complete()
            fits(place, force, new)
            assert hidden(place) == []
            assert "Traceback" not in place.said()


def test_sigkill_without_nameless_files(tried, tmp_path, whole):
    """All that can be left is one's own: a hidden file that nobody else can read, or a complete release."""
    cases = [("parquet", False), ("csv", True)]
    for place, force, new, _ in disturbed(tried, tmp_path, whole, 6, 4, cases, signal="SIGKILL", named=True):
        fits(place, force, new)
        for name in hidden(place):
            assert not name.startswith("temp/")
            path = place.target.parent / name
            assert path.read_bytes() in (OLD, OLD_PAPER, *new) or stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_a_release_stopped_once_can_be_made_again(tried, tmp_path, whole):
    """The ledger knows it already, and it is the same release: no guard objects."""
    new, lines = whole["parquet", False]
    place = Place.made(tmp_path / "again", "parquet", old=False)
    stopped = _trial(place, {"line": lines - 30, "signal": "SIGKILL"})
    assert tried([stopped, _trial(place, {})]) == [-signal.SIGKILL, 0]
    assert place.papers()[:1] == new[:1]
