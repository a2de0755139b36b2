"""The ledger: what it remembers, what it must not hold, and what happens when it is damaged."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import Ipso, Roles, protect
from suffice.algebra.array import Array
from suffice.errors import FileError
from suffice.ledger import Entry, Ledger, Trace
from suffice.rows.fingerprint import Fingerprint, value_words
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


def test_other_releases_are_all_but_this_one(ledger: Ledger) -> None:
    ledger.add(FIRST)
    ledger.add(SECOND)
    assert ledger.others("") == (FIRST, SECOND)
    assert ledger.others("r3") == (FIRST, SECOND)


def test_the_same_release_written_again_is_no_earlier_release(ledger: Ledger) -> None:
    ledger.add(FIRST)
    ledger.add(SECOND)
    assert ledger.others("r2") == (FIRST,)
    ledger.add(replace(SECOND, date="2030-01-01"))
    assert ledger.entries() == (FIRST, SECOND)
    accepted = replace(SECOND, accepted={"outliers": "agreed"})
    ledger.add(accepted)  # a reason is never lost
    assert ledger.entries() == (FIRST, SECOND, accepted)
    assert ledger.others("") == (FIRST, accepted)


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("fault", ["changed", "gone"])
def test_lines_are_known_to_be_its_own(ledger: Ledger, place: int, fault: str) -> None:
    """Another reach would let averages pass; a line less, any release."""
    for entry in (FIRST, SECOND, replace(FIRST, release="r3")):
        ledger.add(entry)
    lines = ledger.path.read_text().splitlines(keepends=True)
    other = lines[place].replace('"reach": 0.', '"reach": 0.0') if fault == "changed" else ""
    assert other != lines[place]
    ledger.path.write_text("".join([*lines[:place], other, *lines[place + 1 :]]))
    with pytest.raises(FileError, match=f"damaged in line {place + 1}"):
        ledger.entries()


def test_a_ledger_from_before_lines_were_marked_is_read_and_continued(ledger: Ledger) -> None:
    Ledger.of(ledger.key).add(FIRST)
    older = json.loads(ledger.path.read_text())
    assert older.pop("mark") == older.pop("totals") == ""
    ledger.path.write_text(json.dumps(older) + "\n")
    ledger.add(SECOND)
    assert ledger.entries() == (FIRST, SECOND)
    ledger.path.write_text(ledger.path.read_text().splitlines()[1] + "\n" + json.dumps(older) + "\n")
    with pytest.raises(FileError, match="damaged in line 2"):
        ledger.entries()


def test_only_its_owner_can_read_it(ledger: Ledger) -> None:
    ledger.add(FIRST)
    assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600
    ledger.path.chmod(0o644)
    ledger.add(SECOND)
    assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600


NEW = ("totals", "cells", "mark")


def test_a_line_holds_these_fields_and_no_others(ledger: Ledger) -> None:
    ledger.add(FIRST)
    found = json.loads(ledger.path.read_text())
    old = ["date", "method", "terms", "reach", "columns", "release"]
    assert list(found) == [
        *old,
        "accepted",
        "rounded",
        "rank",
        "scheme",
        "traces",
        "ties",
        "records",
        "sets",
        "sketch",
        *NEW,
    ]
    ledger.path.write_text(json.dumps({name: found[name] for name in old}) + "\n")
    assert ledger.entries() == (FIRST,)  # a ledger of the first releases


def test_a_column_is_known_by_most_of_its_values() -> None:
    seed, rng = Seed.for_tests(1), np.random.default_rng(1)
    y = rng.lognormal(size=5000)

    def trace(values: Array, name: str = "y") -> Trace:
        half = np.split(values, [len(values) // 2])
        found = [Fingerprint.of(value_words(part), 7) for part in half]
        return Trace.of(seed, "confidential", name, found[0] + found[1])

    whole = trace(y)
    assert whole == trace(rng.permutation(y))
    assert whole.total == trace(y * 1000).total
    for few in (y[1:], np.append(y, 3.5), np.where(np.arange(5000) == 7, 2.5, y)):
        assert whole.same(trace(few, "z"))
        assert 1 <= whole.changed(trace(few)) <= 5
    assert not whole.same(trace(rng.lognormal(size=5000)))
    assert 200 <= whole.changed(trace(np.append(y[:4000], rng.lognormal(size=1000)))) <= 1500
    flags = (y > 1).astype(float)  # values that every column has tell nothing
    assert not trace(flags).telling
    assert not trace(flags).same(trace(flags, "z"))
    assert trace(flags).same(trace(rng.permutation(flags)))
    assert trace(flags).changed(trace(flags[1:])) == 1
    assert trace(np.where(y > 1, y, 0.0)).same(trace(np.where(y > 1, y, 0.0)[1:]))


def test_whole_numbers_of_few_digits_meet_by_chance() -> None:
    rng = np.random.default_rng(1)
    one, two = (rng.lognormal(mean, 1, 300).round() for mean in (5.2, 5.4))
    for key in range(40):
        seed = Seed.for_tests(key)

        def trace(values: Array, seed: Seed = seed, key: int = key) -> Trace:
            return Trace.of(
                seed, "confidential", "y", Fingerprint.of(value_words(values), key * 0x9E3779B97F4A7C15 % 2**64)
            )

        corrected = np.where(np.arange(300) < 9, two, one)
        assert not trace(one).same(trace(two))
        assert trace(one).same(trace(corrected))


def test_it_holds_no_value_and_no_name_of_a_confidential_column(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    secret = {"salary": rng.lognormal(9, 1, 300).round(2), "bonus": rng.integers(10**6, 10**7, 300)}
    frame = pd.DataFrame({**secret, "person": [f"person-{i:04}" for i in range(300)], "town": ["a", "b", "c"] * 100})
    roles = Roles(confidential=list(secret), given="C(town)", identifiers=["person"], missing="drop")
    frame.loc[5, "salary"] = np.nan
    protect(frame, roles, Ipso(), seed=Seed.new_file(tmp_path / "key")).write(tmp_path / "out.csv")
    text = (tmp_path / "key.ledger").read_text()
    words = {*re.findall(r"[\w.-]+", text)}
    assert not words & {str(value) for values in (*secret.values(), frame["person"]) for value in values}
    assert not any(name in text for name in (*secret, "person", str(tmp_path)))
    assert "C(town)" in text


def test_one_writer_at_a_time(ledger: Ledger) -> None:
    """Another process waits, and so does another thread."""
    code = f"from suffice.ledger import *\nwith Ledger(Path({str(ledger.path)!r})).alone(): print('in')"
    with ledger.alone(), pytest.raises(subprocess.TimeoutExpired):
        subprocess.run([sys.executable, "-c", code], timeout=3, check=True)
    done = subprocess.run([sys.executable, "-c", code], timeout=60, check=True, capture_output=True)
    assert done.stdout == b"in\n"


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


def test_a_key_that_was_moved_away_from_its_ledger_says_so(tmp_path: Path) -> None:
    frame, roles = pd.DataFrame({"y": np.random.default_rng(1).normal(size=100)}), Roles(confidential=["y"])
    key = Seed.new_file(tmp_path / "key")
    protect(frame, roles, Ipso(), seed=key).write(tmp_path / "one.csv")
    (tmp_path / "away").mkdir()
    moved = (tmp_path / "key").rename(tmp_path / "away" / "key")
    assert Seed.from_file(moved).digest("x") == key.digest("x")
    with pytest.raises(FileError, match="its ledger does not lie beside it"):
        protect(frame, roles, Ipso(), seed=Seed.from_file(moved))
    (tmp_path / "away" / "key.ledger").touch()  # emptied is gone, too
    with pytest.raises(FileError, match="its ledger does not lie beside it"):
        protect(frame, roles, Ipso(), seed=Seed.from_file(moved))
    (tmp_path / "key.ledger").rename(tmp_path / "away" / "key.ledger")
    again = protect(frame, roles, Ipso(), seed=Seed.from_file(moved))
    again.write(tmp_path / "two.csv")
    assert moved.read_text().count("used") == 1  # the same release, on one line
    moved.write_text(moved.read_text()[:-3])  # cut off
    assert Seed.from_file(moved).digest("x") == key.digest("x")


def test_lines_that_are_gone_from_the_end_are_missed(ledger: Ledger) -> None:
    """What is left of the chain is whole: the key says how long it was."""
    for number in range(4):
        ledger.add(replace(FIRST, release=f"r{number}"))
    lines = ledger.path.read_text().splitlines(keepends=True)
    ledger.path.write_text("".join(lines[:2]))
    with pytest.raises(FileError, match="lacks lines at its end: 2 are there, and there were 4 at least"):
        ledger.entries()
    with pytest.raises(FileError, match="lacks lines"):
        ledger.add(SECOND)
    ledger.path.write_text("".join(lines))
    ledger.key.write_text(ledger.key.read_text().rpartition("\nused")[0])  # a writer that was killed before its mark
    ledger.add(SECOND)
    assert ledger.key.read_text().split().count("used") == len(ledger.entries()) == 5


def test_a_key_that_cannot_be_written_to_is_not_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, opened = Ledger.of(tmp_path / "key"), os.open
    (tmp_path / "key").write_text("ab" * 32)

    def readonly(path: Any, flags: int, *more: Any) -> int:
        if flags & os.O_WRONLY and Path(path) == ledger.key:
            raise PermissionError(13, "Permission denied")
        return opened(path, flags, *more)

    monkeypatch.setattr(os, "open", readonly)
    ledger.add(FIRST)
    assert ledger.entries() == (FIRST,)
    assert (tmp_path / "key").read_text() == "ab" * 32
