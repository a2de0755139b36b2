"""Full disks, limits and folders that cannot be written: exit code 7, a sentence, and the folder as it was."""

from __future__ import annotations

import errno
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.places import OLD, OLD_PAPER, Place, firms

pytestmark = pytest.mark.slow
NOBODY = 65534


def untouched(place: Place, old: bool) -> None:
    assert place.papers() == ([OLD, *[OLD_PAPER] * 3] if old else [None] * 4)
    assert not [name for name in place.left() if name.startswith((".", "temp/"))]
    assert "Traceback" not in place.said()


@pytest.mark.parametrize("named", [False, True])
def test_a_limit_on_the_size_of_files(tried, tmp_path, named):
    """The file that grows too large is a bucket, the release or, with room for these, nothing."""
    cases = [(kind, old) for kind in ("csv", "parquet") for old in (False, True)]
    places = [Place.made(tmp_path / f"{kind}{old}", kind, old) for kind, old in cases]
    ended = tried([place.trial("--force", largest=4096, named=named) for place in places])
    assert ended == [7] * len(cases)
    for place, (_, old) in zip(places, cases, strict=True):
        untouched(place, old)
        assert "the file is larger than allowed" in place.said()


@pytest.mark.parametrize(
    ("kind", "every", "after", "lasting", "number"),
    [
        ("parquet", 1, False, False, errno.EIO),
        ("csv", 3, False, False, errno.ENOSPC),
        ("parquet", 3, True, False, errno.EIO),
        ("parquet", 3, False, True, errno.EROFS),
    ],
)
def test_a_disk_that_fails_at_any_call(tried, tmp_path, kind, every, after, lasting, number):
    """Exit code and files agree: all new with 0, nothing new with 7, or a sentence that names what stayed."""
    for old in (False, True):
        counted = Place.made(tmp_path / f"{old}", kind, old)
        told = {"count": str(tmp_path / f"count{old}")}
        assert tried([counted.trial("--force", fault=(10**9, 0, False, False), **told)]) == [0]
        assert counted.complete()
        calls = range(1, int((tmp_path / f"count{old}").read_text()) + 1, every)
        places = [Place.made(tmp_path / f"{old}{turn}", kind, old) for turn in calls]
        asked = [
            place.trial("--force", fault=(turn, number, after, lasting))
            for turn, place in zip(calls, places, strict=True)
        ]
        for place, ended in zip(places, tried(asked), strict=True):
            assert ended in (0, 7), place.said()
            assert "Traceback" not in place.said()
            if ended == 0:
                assert place.complete()
            elif "could not be taken back" in place.said():
                assert lasting
            else:
                assert place.papers() == ([OLD, *[OLD_PAPER] * 3] if old else [None] * 4)
                assert lasting or not [name for name in place.left() if name.startswith((".", "temp/"))]
        assert place.releases() >= 1  # it was known before it was named


@pytest.fixture
def small() -> Iterator[Path]:
    """A disk of 96 kB."""
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=96k", "tmpfs", folder], capture_output=True, check=False
        )
        if made.returncode:
            pytest.skip("this user cannot make a small disk")
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_full_disk(tried, tmp_path, small, kind):
    place = Place.made(tmp_path / "place", kind, old=False, table=firms(6000))
    target = small / f"release.{kind}"
    target.write_bytes(OLD)
    words = [str(target) if word == str(place.target) else word for word in place.words("--force")]
    assert tried([place.trial() | {"words": words}]) == [7]
    assert "the disk is full" in place.said()
    assert os.listdir(small) == [target.name]
    assert target.read_bytes() == OLD
    assert os.listdir(place.root / "temp") == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only a superuser can become another user")
@pytest.mark.parametrize("old", [False, True])
def test_a_folder_that_cannot_be_written(tried, old):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        place = Place.made(Path(folder) / "place", "parquet", old)
        for path in (place.key, place.key.parent, place.root / "temp"):
            os.chown(path, NOBODY, NOBODY)
        assert tried([place.trial("--force", user=NOBODY)]) == [7]
        untouched(place, old)
        assert "permission denied" in place.said()
        assert place.releases() == 0
