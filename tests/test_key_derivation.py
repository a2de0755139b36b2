"""Every use of the key has random numbers of its own: steps, groups, blocks, data sets, and the names of releases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from suffice import Ipso, ResidualCorrelation, Resize, Roles, Romm, Rotate, Seed, protect
from suffice.algebra.array import Array
from suffice.design.design import Design
from suffice.method.method import Method
from suffice.method.parameter import Number, parameter
from suffice.method.rowwise import Rowwise
from suffice.rows.arrow import as_float
from suffice.rows.derived import Computation
from suffice.rows.rows import Block, Rows
from suffice.seed import Stream

KEY = Seed.for_tests(1)


@dataclass(frozen=True)
class Shifted(Rowwise):
    """Adds so many times its normal numbers."""

    times: float = parameter(Number(-9, 9), "how often")

    def columns(self, rows: Rows, design: Design, stream: Stream) -> Mapping[str, Any]:
        names, times = design.confidential, self.times

        def of(block: Block) -> Array:
            assert block.key is not None
            Y = np.column_stack([as_float(block.columns[name]) for name in names])
            return np.asarray(Y + times * block.key.normals(*Y.shape))

        return dict.fromkeys(names, Computation(names, of, names, stream))

    @classmethod
    def examples(cls) -> tuple[Shifted, ...]:
        return (cls(times=1.0),)


def frame(n: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame({"g": np.arange(n) % 2, "x": rng.normal(size=n), "y": rng.normal(size=n)})


def test_steps_do_not_undo_each_other() -> None:
    """With the same numbers in every step, the second would take back what the first has added."""
    data = frame()
    method = Shifted(times=1.0).then(Shifted(times=-1.0))
    released = protect(data, Roles(confidential=["y"]), method, KEY).aligned()["y"].to_numpy()
    assert np.abs(released - data["y"]).min() > 1e-6


def test_groups_of_new_records_have_numbers_of_their_own() -> None:
    twice = pd.concat([frame(40).assign(g="a"), frame(40).assign(g="b")])
    roles = Roles(confidential=["x", "y"], groups=["g"])
    released = protect(twice, roles, Resize(m=60), KEY).frame
    one, two = (np.sort(released.loc[released["g"] == g, "y"].to_numpy()) for g in "ab")
    assert np.allclose([one.mean(), one.std()], [two.mean(), two.std()])
    assert np.abs(one - two).max() > 0.01


@pytest.mark.parametrize("method", [Ipso(), Romm(correlation=0.5), Rotate(sweeps=5)], ids=lambda method: method.name)
def test_groups_have_numbers_of_their_own(method: Method) -> None:
    """Solved in stacks, one by one, and as if each were the file."""
    twice = pd.concat([frame(40).assign(g="a"), frame(40).assign(g="b")], ignore_index=True)
    release = protect(twice, Roles(confidential=["x", "y"], groups=["g"]), method, KEY)
    released = release.aligned()[["x", "y"]].to_numpy()
    assert np.abs(released[:40] - released[40:]).max() > 0.01


def test_a_child_is_no_block() -> None:
    stream = Stream(bytes(32))
    blocks = {stream.block(number, label)._key for number in range(3) for label in ("normals", "order", "")}
    labels = ["0", "normals:0", "order:1", ":0", "child:0", "digest", ""]
    children = [stream.child(label)._key for label in labels]
    assert len({*children} | blocks) == len(children) + len(blocks)


def test_the_name_of_a_release_tells_none_of_its_keys() -> None:
    """The name lies in the ledger: numbers that followed from it would be read off there."""
    stream = KEY.derive("a release")
    made = [stream, stream.child("0"), stream.child("digest"), stream.block(0), stream.block(0, "digest")]
    assert not any(each._key.hex().startswith(stream.digest()) for each in made)
    named = KEY.digest("column", "values")
    assert not any(KEY.derive(*parts)._key.hex().startswith(named) for parts in (("column", "values"), ("values",)))


@pytest.mark.parametrize("role", ["groups", "weight"])
def test_groups_and_weights_decide_the_numbers(role: str) -> None:
    """The same numbers beside another grouping would show whose group has changed."""
    data = frame()
    roles = Roles(confidential=["y"], **({"groups": ["g"]} if role == "groups" else {"weight": "w"}))
    data["w"] = 1.0 + data["x"].abs()
    changed = data.copy()
    changed.loc[5, "g" if role == "groups" else "w"] = 0 if role == "groups" else 3.25
    streams = [protect(each, roles, Ipso(), KEY).done.stream.normals(0, 9, 1) for each in (data, changed)]
    assert not np.isclose(*streams).any()


@pytest.mark.parametrize("by", [ResidualCorrelation(d=1.0), Shifted(times=0.0)], ids=["a formula", "a row at a time"])
def test_files_are_looked_at_as_frames_are(tmp_path: Path, by: Any) -> None:
    """Copies and giants on a file: what is released unchanged is found."""
    rng = np.random.default_rng(2)
    data = pd.DataFrame({"x": rng.normal(size=400), "y": np.exp(2 * rng.normal(size=400))})
    pq.write_table(pa.Table.from_pandas(data), tmp_path / "data.parquet", row_group_size=50)
    release = protect(tmp_path / "data.parquet", Roles(confidential=["y"], given=["x"]), by, KEY)
    assert release.assessment.copies == 400
    assert {"copies", "outliers"} <= {finding.rule for finding in release.findings if finding.level == "stop"}
