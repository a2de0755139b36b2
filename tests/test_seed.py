"""The secret key: what it shows, what it refuses, and what decides the random numbers."""

from __future__ import annotations

import copy
import os
import pickle
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice import Ipso, Roles, Romm, Seed, protect
from suffice.errors import FileError, GuardError, UsageError
from suffice.method.isometric import Isometric
from suffice.seed import MARK, Stream, guessable
from tests.tolerances import CHANCE

ROLES = Roles(confidential=["y"], given=["x"])


def frame(n: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame({"x": rng.normal(size=n), "y": rng.normal(size=n), "other": rng.normal(size=n)})


def drawn(
    data: Any, roles: Roles = ROLES, method: Isometric | None = None, key: int = 1, **more: Any
) -> np.ndarray[Any, Any]:
    """Z of a release, as it was drawn."""
    release = protect(data, roles, method or Ipso(), seed=Seed.for_tests(key), **more)
    return release.done.stream.normals(0, 20, 2)


def write_key(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o600)
    return path


def test_a_seed_says_nothing() -> None:
    seed = Seed.for_tests(0xABCDEF)
    stream = seed.derive("one")
    for shown in (repr(seed), str(seed), f"{seed}", repr(stream), str(stream), repr([seed]), repr({"seed": seed})):
        assert "abcdef" not in shown.lower()
        assert "11259375" not in shown
        assert "b'" not in shown
    assert repr(seed) == "Seed(...)"


@pytest.mark.parametrize("secret", [Seed(), Seed().derive("release")], ids=["seed", "stream"])
def test_secrets_are_not_pickled_or_copied(secret: object) -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="secret"):
            pickle.dumps(secret, protocol)
    for how in (copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="secret"):
            how(secret)


def test_new_keys_differ_and_have_256_bits(tmp_path: Path) -> None:
    keys = {Seed.new_file(tmp_path / f"key{i}").derive("x").normals(0, 1, 1).item() for i in range(20)}
    assert len(keys) == 20
    digits = (tmp_path / "key1").read_text().split()
    assert digits[0] == MARK
    assert len(bytes.fromhex(digits[1])) == 32


def test_a_key_file_is_its_owners_alone_and_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "key"
    old = os.umask(0)
    try:
        first = Seed.new_file(path)
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.read_text()
    with pytest.raises(FileError, match="never overwritten"):
        Seed.new_file(path)
    assert path.read_text() == before
    assert np.array_equal(Seed.from_file(path).derive("a").normals(0, 5, 2), first.derive("a").normals(0, 5, 2))
    path.chmod(0o640)
    with pytest.raises(UsageError, match="chmod 600"):
        Seed.from_file(path)


def test_a_key_file_in_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be written") as told:
        Seed.new_file(tmp_path / "nowhere" / "key")
    assert "nowhere" not in str(told.value)
    with pytest.raises(FileError, match="cannot be read"):
        Seed.from_file(tmp_path / "nowhere" / "key")


@pytest.mark.parametrize("text", ["42", "", "not a key", "ab" * 15, "ab" * 15 + "a", "g" * 64, MARK, "0x" + "ab" * 32])
def test_short_and_strange_keys_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="at least 128 bits") as told:
        Seed.from_file(write_key(tmp_path / "key", text))
    assert not text or text == MARK or text not in str(told.value)


def test_128_bits_are_enough(tmp_path: Path) -> None:
    assert Seed.from_file(write_key(tmp_path / "key", "8f3c01d97ae25b64c0187d3f92e6ab45")).source == "file"


@pytest.mark.parametrize(
    "text", ["0" * 32, "0" * 64, "ab" * 16, "deadbeef" * 4, bytes(range(16)).hex(), "01" * 7 + "00" * 9]
)
def test_a_pattern_is_no_key(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="a pattern, which can be guessed") as told:
        Seed.from_file(write_key(tmp_path / "key", text))
    assert text not in str(told.value)


def test_no_random_key_is_a_pattern() -> None:
    assert not any(guessable(np.random.default_rng(i).bytes(16)) for i in range(2000))


def test_a_number_is_no_seed() -> None:
    for wrong in (42, "42", b"42"):
        with pytest.raises(UsageError):
            protect(frame(), ROLES, Ipso(), seed=wrong)  # type: ignore[arg-type]


def test_a_key_for_tests_stops_the_release(tmp_path: Path) -> None:
    release = protect(frame(), ROLES, Ipso(), seed=Seed.for_tests(1))
    found = {finding.rule: finding for finding in release.findings}["seed"]
    assert found.level == "stop"
    assert "NOT FOR RELEASE" in found.message
    with pytest.raises(GuardError):
        release.write(tmp_path / "release.parquet")
    assert list(tmp_path.iterdir()) == []
    assert not any(each.rule == "seed" for each in protect(frame(), ROLES, Ipso()).findings)


def test_without_a_key_no_two_releases_are_alike() -> None:
    one, two = (protect(frame(), ROLES, Ipso()).aligned()["y"].to_numpy() for _ in range(2))
    assert not np.isclose(one, two).any()


@given(st.lists(st.text(), max_size=4), st.lists(st.text(), max_size=4))
def test_different_requests_have_different_streams(one: list[str], two: list[str]) -> None:
    seed = Seed.for_tests(1)
    same = seed.derive(*one).normals(0, 1, 1) == seed.derive(*two).normals(0, 1, 1)
    assert bool(same.all()) == (one == two)  # ("ab", "c") is not ("a", "bc")


def test_one_corrected_cell_changes_all_random_numbers() -> None:
    before = drawn(frame())
    for column in ("x", "y"):
        corrected = frame()
        corrected.loc[7, column] = np.nextafter(corrected.loc[7, column], 9)
        assert not np.isclose(before, drawn(corrected)).any()
    turned = frame().iloc[::-1]
    assert not np.isclose(before, drawn(turned)).any()


def test_roles_method_and_parameters_change_the_random_numbers() -> None:
    data = frame()
    streams = [
        drawn(data),
        drawn(data, key=2),
        drawn(data, Roles(confidential=["y"], given=["x"], keep=["other"])),
        drawn(data, Roles(confidential=["y"], given="x - 1")),
        drawn(data, Roles(confidential=["y"])),
        drawn(data, Roles(confidential=["x"], given=["y"])),
        drawn(data, Roles(confidential=["y", "x"])),
        drawn(data, Roles(confidential=["x", "y"])),
        drawn(data, method=Ipso(by="svd")),
        drawn(data, method=Romm(lam=0.3)),
        drawn(data, method=Romm(lam=0.4)),
    ]
    firsts = {float(Z[0, 0]) for Z in streams}
    assert len(firsts) == len(streams)


def test_what_has_no_role_and_how_it_is_read_change_nothing(tmp_path: Path) -> None:
    expected = drawn(frame())
    table = pa.Table.from_pandas(frame())
    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    pq.write_table(table, paths[0], row_group_size=7)
    pq.write_table(table, paths[1])
    sources = [table, *paths, frame()[["y", "other", "x"]], frame().drop(columns="other")]
    assert all(np.array_equal(drawn(source), expected) for source in sources)
    assert np.array_equal(drawn(frame(), threads=3), expected)
    assert np.array_equal(drawn(frame(), Roles(confidential=["y"], given="x + 1")), expected)


def test_more_columns_of_random_numbers_begin_with_the_same() -> None:
    stream = Stream(b"0" * 32)
    assert np.array_equal(stream.normals(3, 50, 7)[:, :4], stream.normals(3, 50, 4))


def test_blocks_and_uses_of_a_stream_are_apart() -> None:
    stream = Stream(b"0" * 32)
    Z = np.hstack([stream.normals(block, 4000, 2) for block in range(4)])
    z = np.corrcoef(Z.T)[np.triu_indices(8, 1)] * np.sqrt(4000)
    assert np.abs(z).max() < CHANCE
    assert np.abs(Z.mean(axis=0)).max() * np.sqrt(4000) < CHANCE
    assert np.abs((Z**2).mean(axis=0) - 1).max() * np.sqrt(4000 / 2) < CHANCE
    ranks = np.argsort(np.argsort(Z[:, 0]))
    for other in (stream.permutation(0, 4000), stream.buckets(0, 4000, 50)):
        assert abs(np.corrcoef(ranks, other)[0, 1]) * np.sqrt(4000) < CHANCE


def test_a_key_file_has_one_name(tmp_path: Path) -> None:
    """Beside a second one another ledger would begin."""
    Seed.new_file(tmp_path / "key")
    os.link(tmp_path / "key", tmp_path / "other")
    with pytest.raises(UsageError, match="hard link"):
        Seed.from_file(tmp_path / "other")
