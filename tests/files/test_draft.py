"""Drafts: whole or not at all, whatever the operating system says on the way."""

from __future__ import annotations

import errno
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from suffice.errors import FileError, UsageError
from suffice.files.draft import Draft, commit, refuse_overwriting


@pytest.fixture(params=["nameless", "hidden"])
def folder(request, tmp_path, monkeypatch) -> Path:
    """A folder on a file system with nameless files, and on one without."""
    if request.param == "hidden":
        monkeypatch.delattr(os, "O_TMPFILE")
    return tmp_path


def write(folder: Path, content: bytes = b"new", force: bool = False) -> None:
    target, paper = folder / "out.csv", folder / "out.csv.certificate.json"
    with Draft(target, force) as draft, Draft(paper, True) as beside:
        draft.write(content)
        beside.write(b"paper of " + content)
        commit((draft, beside), stale=(paper, folder / "out.csv.certificate.html"))


def found(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def both(content: bytes) -> dict[str, bytes]:
    return {"out.csv": content, "out.csv.certificate.json": b"paper of " + content}


def test_it_has_no_name_before_it_is_whole(tmp_path):
    with Draft(tmp_path / "out.csv") as draft:
        draft.write(b"half")
        assert list(tmp_path.iterdir()) == []
    assert list(tmp_path.iterdir()) == []


def test_a_hidden_one_is_its_owners_alone_until_it_is_whole(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "O_TMPFILE")
    with Draft(tmp_path / "out.csv"):
        (hidden,) = tmp_path.iterdir()
        assert stat.S_IMODE(hidden.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == []


def test_fresh_and_by_force(folder):
    write(folder, b"one")
    assert found(folder) == both(b"one")
    with pytest.raises(FileError, match="exists already"):
        write(folder, b"two")
    assert found(folder) == both(b"one")
    write(folder, b"two", force=True)
    assert found(folder) == both(b"two")


def test_an_old_page_does_not_stay_beside_a_new_release(folder):
    write(folder, b"one")
    (folder / "out.csv.certificate.html").write_text("page of one")
    write(folder, b"two", force=True)
    assert found(folder) == both(b"two")


def test_the_rights_of_an_ordinary_file(folder):
    (folder / "ordinary").touch()
    write(folder)
    assert (folder / "out.csv").stat().st_mode == (folder / "ordinary").stat().st_mode
    with Draft(folder / "private", mode=0o600) as draft:
        draft.settle()
        draft.name()
    assert stat.S_IMODE((folder / "private").stat().st_mode) == 0o600


CALLS = ["open", "write", "fsync", "fchmod", "link", "replace"]


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC, errno.EROFS])
@pytest.mark.parametrize("call", CALLS)
def test_an_error_at_any_call(folder, monkeypatch, call, number, force):
    """The old release or the new one; a new one has its certificate, and no certificate is another's."""
    if force:
        write(folder, b"old")
    before, real, failed = found(folder), getattr(os, call), 0
    for turn in range(12):
        calls = 0

        def broken(*rest, turn=turn, **more):
            nonlocal calls
            calls += 1
            if calls == turn + 1:
                raise OSError(number, "SECRET TEXT", "/secret/path")
            return real(*rest, **more)

        with monkeypatch.context() as patch:
            patch.setattr(os, call, broken)
            try:
                write(folder, b"new", force)
            except FileError as error:
                assert "SECRET" not in str(error)  # noqa: PT017
                assert "/secret" not in str(error)  # noqa: PT017
                failed += 1
        after = found(folder)
        if calls <= turn:
            assert after == both(b"new")
            break
        release = after.pop("out.csv", None)
        assert release in ({b"old", b"new"} if force else {None, b"new"})
        if release is None:
            assert after == {}  # nothing is left
        assert set(after.items()) <= set(both(release or b"").items())
        for name in os.listdir(folder):
            os.unlink(folder / name)
        for name, content in before.items():
            (folder / name).write_bytes(content)
    assert failed or calls == 0


def test_a_short_write_is_continued(folder, monkeypatch):
    real = os.write
    monkeypatch.setattr(os, "write", lambda place, data: real(place, data[:2]))
    write(folder, b"a longer text")
    assert found(folder) == both(b"a longer text")


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(FileError, match="folder does not exist"):
        Draft(tmp_path / "nowhere" / "out.csv")
    with pytest.raises(FileError, match="is a folder"):
        Draft(tmp_path, True)
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match="folder does not exist"):
        Draft(tmp_path / "file" / "out.csv")


def test_many_writers_and_one_name(folder):
    """Without force one wins and the others are told; with force the last one's paper lies beside its release."""

    def one(number: int, force: bool) -> bool:
        try:
            write(folder, b"%d" % number * 1000, force)
        except FileError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(lambda number: one(number, False), range(24))) == 1
        left = found(folder)
        assert left == both(left["out.csv"])
        assert all(pool.map(lambda number: one(number, True), range(100, 150)))
    left = found(folder)
    assert left == both(left["out.csv"])


def test_the_output_is_not_an_input(tmp_path):
    data, link = tmp_path / "data.csv", tmp_path / "link.csv"
    data.touch()
    link.symlink_to(data)
    for target in (data, link, tmp_path / "." / "data.csv"):
        with pytest.raises(UsageError, match="The output is the input"):
            refuse_overwriting(target, [data])
    with pytest.raises(UsageError, match="lies in the input's folder"):
        refuse_overwriting(tmp_path / "new.csv", [tmp_path])
    refuse_overwriting(tmp_path / "new.csv", [data])
