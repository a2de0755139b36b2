"""Hostile names and cells: a name that spoofs a line, values under a mask, levels that no record has, broken tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from suffice import Ipso, Roles, Seed, protect, verify
from suffice.errors import InputError, SufficeError, UsageError, escaped
from suffice.rows.memory import MemoryRows
from suffice.rows.multiset import Multiset
from suffice.rows.rows import Block

N = 60
SECRET = 48151623.5
SPOOF = "y\nSPOOF: every promise is kept \x1b[2J\u202e"
rng = np.random.default_rng(5)


def columns(**other) -> dict:
    return {"x": rng.normal(size=N), SPOOF: rng.normal(size=N), **other}


def lines(text: str) -> list[str]:
    return text.split("\n")


def test_a_name_stays_on_its_line_in_findings_and_certificates(tmp_path):
    """Unescaped, a line of its own would begin with the attacker's words, and a terminal would be cleared."""
    assert lines(f"given: {SPOOF}")[1].startswith("SPOOF")
    data = pa.table(columns(constant=np.full(N, 3.0)))
    release = protect(data, Roles(confidential=[SPOOF, "constant"], given=["x"]), Ipso())
    release.write(tmp_path / "out.parquet")
    pq.write_table(data, tmp_path / "data.parquet")
    found = verify(tmp_path / "data.parquet", tmp_path / "out.parquet", Roles(confidential=[SPOOF], given=["x"]))
    page = (tmp_path / "out.parquet.certificate.html").read_text()
    said = [release.certificate.text(), str(release.findings), found.text(), page]
    for text in said:
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert not [line for line in lines(text) if line.strip().startswith("SPOOF")]
    assert escaped(SPOOF) in said[0]
    assert pq.read_table(tmp_path / "out.parquet").column_names == ["x", SPOOF, "constant"]  # the file has its names


@pytest.mark.parametrize(
    ("data", "roles"),
    [
        (columns(**{SPOOF: np.where(np.arange(N) == 3, np.nan, 1.5)}), Roles(confidential=[SPOOF])),
        (columns(**{SPOOF: np.where(np.arange(N) == 3, 1e308, 1.5)}), Roles(confidential=[SPOOF])),
        (columns(**{SPOOF: rng.normal(size=N) * 1e-200}), Roles(confidential=[SPOOF])),
        (columns(**{SPOOF: 1e12 + rng.normal(size=N)}), Roles(confidential=[SPOOF])),
        (columns(**{SPOOF: ["a"] * N}), Roles(confidential=[SPOOF])),
        (columns(), Roles(confidential=["x"], given=[SPOOF + "?"])),
        (columns(**{SPOOF: np.arange(N)}), Roles(confidential=["x"], groups=[SPOOF])),
        (columns(), Roles(confidential=[SPOOF], bounds={SPOOF: (0, 1)})),
        (columns(**{SPOOF: ["1"] * 59 + ["about"]}), Roles(confidential=["x"], given=[SPOOF])),
        (columns(**{SPOOF: pa.nulls(N)}), Roles(confidential=["x", SPOOF], missing="patterns")),
    ],
)
def test_a_name_stays_on_its_line_in_errors(data, roles):
    with pytest.raises(SufficeError) as caught:
        protect(pa.table(data), roles, Ipso())
    assert not [line for line in lines(str(caught.value)) if line.strip().startswith("SPOOF")]
    assert "\x1b" not in str(caught.value)


def test_masked_cells_are_missing():
    """What stands under the mask would leave with a kept column."""
    values = rng.normal(size=(N, 3))
    values[7, 2] = SECRET
    hidden = np.zeros_like(values, dtype=bool)
    hidden[7, 2] = True
    data = np.ma.MaskedArray(values, hidden)
    assert SECRET in np.asarray(data)
    release = protect(data, Roles(confidential=["x0"], given=["x1"], keep=["x2"]), Ipso())
    assert SECRET not in release.frame
    assert np.isnan(release.frame).sum() == 1
    whole = np.ma.MaskedArray(np.arange(2 * N).reshape(N, 2))
    assert MemoryRows(whole).kinds == {"x0": "integer", "x1": "integer"}


@pytest.mark.parametrize("kind", ["polars enum", "polars categorical", "pandas", "pyarrow"])
def test_levels_that_no_record_has_do_not_leave(tmp_path, kind):
    """A level is a value: the name of somebody who was removed."""
    used, secret = ["b", "a"] * (N // 2), "removed person"
    number = {"y": rng.normal(size=N), "x": rng.normal(size=N)}
    frame: object
    if kind == "pandas":
        frame = pd.DataFrame({**number, "g": pd.Categorical(used, ["b", "a", secret])})
    elif kind == "pyarrow":
        frame = pa.table({**number, "g": pa.DictionaryArray.from_arrays([0, 1] * (N // 2), ["b", "a", secret])})
    else:
        dtype = pl.Enum(["b", "a", secret]) if kind == "polars enum" else pl.Categorical
        held = pl.DataFrame({"g": pl.Series([*used, secret], dtype=dtype)})
        frame = held.head(N).with_columns(**{name: pl.Series(values) for name, values in number.items()})
    release = protect(frame, Roles(confidential=["y"], given=["x"], keep=["g"]), Ipso())
    for name in ("out.parquet", "out.feather"):
        release.write(tmp_path / name)
        assert secret.encode() not in (tmp_path / name).read_bytes()
    if kind != "polars categorical":  # whose levels are those of the process
        assert secret not in repr(release.frame["g"]) + str(getattr(release.frame, "schema", ""))


def broken() -> pa.Table:
    text = pa.array(["ab"] * N)
    offsets = np.frombuffer(text.buffers()[1], np.int32).copy()
    offsets[9] = 10**9
    column = pa.Array.from_buffers(pa.string(), N, [None, pa.py_buffer(offsets), text.buffers()[2]])
    return pa.table({"y": rng.normal(size=N), "x": rng.normal(size=N), "g": column})


def not_utf8() -> pa.Table:
    text = pa.Array.from_buffers(pa.string(), N, pa.array([b"a\xff"] * N).buffers())
    return pa.table({"y": rng.normal(size=N), "x": rng.normal(size=N), "g": text})


@pytest.mark.parametrize("made", [broken, not_utf8])
@pytest.mark.parametrize("roles", [{"keep": ["g"]}, {"given": ["g"]}, {"groups": ["g"]}])
def test_a_broken_table_is_refused(made, roles):
    with pytest.raises(InputError, match="damaged"):
        protect(made(), Roles(confidential=["y"], **roles), Ipso())


@pytest.mark.parametrize("path", ["a\0.csv", "a" * 5000 + ".csv", "a/" * 3000 + "b.csv", "\udfff.csv"])
def test_a_path_that_no_file_can_have(tmp_path, path):
    roles = Roles(confidential=["y"])
    with pytest.raises(UsageError, match="A path"):
        protect(path, roles, Ipso())
    release = protect(pa.table({"y": rng.normal(size=N)}), roles, Ipso())
    for write in (release.write, release.report, Seed.from_file, Seed.new_file):
        with pytest.raises(UsageError, match="A path"):
            write(path)


def test_whole_numbers_beyond_2_53_are_compared_exactly():
    """As floats 2^53 and 2^53 + 1 are one number."""
    one = np.array([2**53, 7, 2**62 + 1])
    other = np.array([2**53 + 1, 7, 2**62 + 1])
    assert (one.astype(float) == other.astype(float)).all()
    told = [Multiset.of(Block(0, {"k": each}), ["k"]) for each in (one, other, one[::-1])]
    assert told[0] != told[1]
    assert told[0] == told[2]
    small = np.array([1, 2, 2**40])
    assert Multiset.of(Block(0, {"k": small}), ["k"]) == Multiset.of(Block(0, {"k": small.astype(float)}), ["k"])


def test_a_kept_identifier_that_was_changed_in_its_last_digit_is_seen(tmp_path):
    data = pa.table({"y": rng.normal(size=N), "k": 2**60 + np.arange(N)})
    changed = data.set_column(1, "k", pa.array(2**60 + np.r_[1, np.arange(1, N)]))
    assert not verify(data, changed, Roles(confidential=["y"], keep=["k"])).holds
    assert verify(data, data, Roles(confidential=["y"], keep=["k"])).same_multiset
