"""The ledger: what it remembers, what it must not hold, and what happens when it is damaged."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from suffice.errors import FileError
from suffice.ledger import Entry, Ledger
from suffice.seed import Seed

FIRST = Entry.now("ipso", ("1", "C(region)"), 0.0, ("aa", "bb"), "r1")
SECOND = Entry.now("residual-correlation", ("1",), 0.8, ("bb", "cc"), "r2")


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    found = Ledger.beside(Seed.new_file(tmp_path / "key"))
    assert found is not None
    return found


def test_it_lies_beside_the_key_file_and_there_is_none_without_one(ledger: Ledger) -> None:
    assert ledger.path.name == "key.ledger"
    assert Ledger.beside(Seed()) is None
    assert Ledger.beside(Seed.for_tests(1)) is None


def test_what_was_added_is_found_again_in_order(ledger: Ledger) -> None:
    assert ledger.entries() == ()
    ledger.add(FIRST)
    ledger.add(SECOND)
    assert ledger.entries() == (FIRST, SECOND)


def test_earlier_releases_are_those_that_share_a_column(ledger: Ledger) -> None:
    ledger.add(FIRST)
    ledger.add(SECOND)
    assert ledger.earlier(["aa"]) == (FIRST,)
    assert ledger.earlier(["bb", "zz"]) == (FIRST, SECOND)
    assert ledger.earlier(["zz"]) == ()


def test_the_same_release_written_again_is_no_earlier_release(ledger: Ledger) -> None:
    ledger.add(FIRST)
    ledger.add(SECOND)
    assert ledger.earlier(["bb"], "r2") == (FIRST,)


def test_only_its_owner_can_read_it(ledger: Ledger) -> None:
    ledger.add(FIRST)
    assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600
    ledger.path.chmod(0o644)
    ledger.add(SECOND)
    assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600


def test_a_line_holds_these_fields_and_no_others(ledger: Ledger) -> None:
    ledger.add(FIRST)
    found = json.loads(ledger.path.read_text())
    assert list(found) == ["date", "method", "terms", "reach", "columns", "release"]


@pytest.mark.parametrize(
    "damage",
    [
        "nonsense\n",
        "\n",
        "[]\n",
        '{"date": "2026-01-01"}\n',
        FIRST.line().replace('"reach": 0.0', '"reach": "high"'),
        FIRST.line().replace('"reach": 0.0', '"reach": NaN'),
        FIRST.line().replace('["aa", "bb"]', '"aa"'),
        FIRST.line()[:-1],
        FIRST.line()[:40],
    ],
    ids=range(9),  # a line has its time in it
)
def test_a_damaged_line_is_named_by_its_number_alone(ledger: Ledger, damage: str) -> None:
    ledger.add(FIRST)
    with ledger.path.open("a") as file:
        file.write(damage)
    with pytest.raises(FileError, match="damaged in line 2") as caught:
        ledger.entries()
    assert caught.value.__cause__ is None
    assert "aa" not in str(caught.value)
    before = ledger.path.read_bytes()
    with pytest.raises(FileError):
        ledger.add(SECOND)
    assert ledger.path.read_bytes() == before


def test_a_full_disk_takes_the_line_back(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger.add(FIRST)
    whole = os.write
    monkeypatch.setattr(os, "write", lambda place, line: whole(place, line[:10]))
    with pytest.raises(FileError, match="cannot be written"):
        ledger.add(SECOND)
    monkeypatch.undo()
    assert ledger.entries() == (FIRST,)


def test_a_ledger_that_cannot_be_opened_is_said_without_its_path(ledger: Ledger) -> None:
    ledger.path.mkdir()
    with pytest.raises(FileError, match="cannot be read") as caught:
        ledger.entries()
    assert str(ledger.path.parent) not in str(caught.value)
    assert caught.value.exit_code == 7
