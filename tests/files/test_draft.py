"""Drafts: whole or not at all, whatever the operating system says on the way."""

from __future__ import annotations

import errno
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from suffice.errors import FileError, UsageError
from suffice.files.draft import Draft, commit, keep_apart


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
        for each in (beside, draft):
            each.settle()
        commit([beside, draft])


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
    with pytest.raises(
        FileError, match=r"exists already.\nChoose another name, or overwrite it: force=True \(--force\)"
    ):
        write(folder, b"two")
    assert found(folder) == both(b"one")
    write(folder, b"two", force=True)
    assert found(folder) == both(b"two")


def test_what_killed_writes_left_goes_with_the_next_to_that_name(tmp_path):
    write(tmp_path)
    names = [path.name for path in tmp_path.iterdir()]
    others = {".other.csv.00c0ffee.former", f".{names[0]}.backup.former", f".{names[0]}.00c0ffee.swp"}
    for name in (*others, *(f".{name}.00c0ffee.{why}" for name in names for why in ("former", "partial"))):
        (tmp_path / name).write_bytes(b"old")
    write(tmp_path, b"newer", force=True)
    assert {path.name for path in tmp_path.iterdir()} == {*names, *others}


def test_the_rights_of_an_ordinary_file(folder):
    (folder / "ordinary").touch()
    write(folder)
    assert (folder / "out.csv").stat().st_mode == (folder / "ordinary").stat().st_mode
    with Draft(folder / "private", mode=0o600) as draft:
        draft.settle()
        commit([draft])
    assert stat.S_IMODE((folder / "private").stat().st_mode) == 0o600


CALLS = ["open", "write", "fsync", "fchmod", "link", "replace", "fstat"]


class Breaking:
    """A call of the operating system that fails the so-manieth time, before or after it has done its work."""

    def __init__(self, call: str, number: int, turn: int, after: bool) -> None:
        self.real, self.number, self.turn, self.after, self.calls = getattr(os, call), number, turn, after, 0

    def __call__(self, *rest, **more):
        self.calls += 1
        if self.calls != self.turn:
            return self.real(*rest, **more)
        if self.after:
            self.real(*rest, **more)
        raise OSError(self.number, "SECRET TEXT", "/secret/path")


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC, errno.EPERM])
@pytest.mark.parametrize("call", CALLS)
def test_an_error_at_any_call(folder, monkeypatch, call, number, force, after):
    """A refusal leaves the folder as it was; all else leaves the release with its paper."""
    if after and call == "open":
        pytest.skip("a descriptor that nobody holds")
    if force:
        write(folder, b"old")
    before, failed = found(folder), 0
    for turn in range(1, 40):
        broken = Breaking(call, number, turn, after)
        with monkeypatch.context() as patch:
            patch.setattr(os, call, broken)
            try:
                write(folder, b"new", force)
                expected = both(b"new")
            except FileError as error:
                assert "SECRET" not in str(error)  # noqa: PT017
                assert "/secret" not in str(error)  # noqa: PT017
                expected = before
                failed += 1
        assert found(folder) == expected
        if broken.calls < turn:
            break
        for name in os.listdir(folder):
            os.unlink(folder / name)
        for name, content in before.items():
            (folder / name).write_bytes(content)
    assert turn < 39
    assert failed or broken.calls == 0 or call == "fstat" or number == errno.EPERM  # which has another way


@pytest.mark.parametrize("force", [False, True])
def test_a_disk_that_fails_for_good_is_told_as_it_is(folder, monkeypatch, force):
    """What cannot be taken back is named."""
    if force:
        write(folder, b"old")

    def dead(*_, **__):
        raise OSError(errno.EIO, "SECRET TEXT")

    real, names = os.link, []

    def last(*rest, **more):
        names.append(real(*rest, **more))
        if len(names) == 2 + force:
            for call in ("link", "replace", "unlink", "fsync"):
                patch.setattr(os, call, dead)
            raise OSError(errno.EIO, "SECRET TEXT")

    with monkeypatch.context() as patch:
        patch.setattr(os, "link", last)
        if hasattr(os, "O_TMPFILE"):
            with pytest.raises(FileError, match=r"could not be taken back: .*out.csv.certificate.json"):
                write(folder, b"new", force)


def test_a_file_system_without_second_names(folder, monkeypatch):
    """The former file moves aside, and comes back."""
    write(folder, b"old")
    real, once = os.link, []

    def refused(source, *rest, **more):
        if str(source).startswith("/proc"):
            return real(source, *rest, **more)
        once.append(source)
        raise OSError(errno.EPERM, "no links")

    monkeypatch.setattr(os, "link", refused)
    write(folder, b"new", force=True)
    assert found(folder) == both(b"new")
    assert len(once) == 2
    monkeypatch.setattr(os, "fsync", Breaking("fsync", errno.EIO, 3, False))
    with pytest.raises(FileError):
        write(folder, b"newer", force=True)
    assert found(folder) == both(b"new")


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


def test_what_is_written_is_nothing_that_is_read(tmp_path):
    data, soft, hard = (tmp_path / f"{name}.csv" for name in ("data", "soft", "hard"))
    data.touch()
    soft.symlink_to(data)
    hard.hardlink_to(data)
    for target in (data, soft, hard, tmp_path / "." / "data.csv"):
        with pytest.raises(UsageError, match="The certificate's page is the data"):
            keep_apart([("the certificate's page", target)], [("the data", data)])
    with pytest.raises(UsageError, match="lies in the folder of the data"):
        keep_apart([("the output", tmp_path / "new.csv")], [("the data", tmp_path)])
    keep_apart([("the output", tmp_path / "new.csv")], [("the data", data)])


def test_what_is_written_is_not_written_twice_nor_under_names_that_differ_by_case(tmp_path):
    for other in ("out.html", "OUT.html"):
        with pytest.raises(UsageError, match="The report is the output"):
            keep_apart([("the output", tmp_path / "out.html"), ("the report", tmp_path / other)], [])
    with pytest.raises(UsageError, match="The report is the ledger"):
        keep_apart([("the report", tmp_path / "Key.ledger")], [("the ledger", tmp_path / "key.ledger")])
