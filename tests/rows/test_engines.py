"""An engine is one file: one that works in other processes makes the same releases, and they are never sent its key."""

from __future__ import annotations

import pickle
from functools import lru_cache
from pathlib import Path
from typing import Any

import cloudpickle  # type: ignore[import-untyped]
import numpy as np
import pyarrow as pa
import pytest

from suffice import (
    Ipso,
    Microaggregate,
    MicroHybrid,
    Mixture,
    Release,
    Resize,
    Restore,
    Roles,
    Romm,
    Rotate,
    Seed,
    protect,
    verify,
)
from suffice.errors import InputError, UsageError
from suffice.method.method import Method
from suffice.report.histograms import Histograms
from suffice.rows.derived import Computation
from suffice.rows.memory import MemoryRows
from suffice.rows.parquet import ParquetRows
from suffice.rows.rows import BLOCK, Block, Rows
from suffice.seed import BlockKey, Stream
from tests.laws.test_protect import METHODS, ROLES, candidate, firms, to_table
from tests.rows.process_engine import ProcessRows
from tests.tolerances import ENGINE

FEW = 700
CONFIDENTIAL = list(ROLES.confidential)
GIVEN = "C(region) + log(size) + age"


@pytest.fixture(autouse=True)
def few_sampled(monkeypatch: pytest.MonkeyPatch, one_trial: None) -> None:
    monkeypatch.setattr("suffice.microdata.outliers_apart.SAMPLED", 400)


@lru_cache
def table(n: int) -> pa.Table:
    """Firms with a factor of many levels, and cells that are missing."""
    rng = np.random.default_rng(5)
    frame = firms(n).assign(code=[f"code {i}" for i in rng.integers(0, 90, n)])
    holed = frame.assign(**{f"holed {name}": frame[name].where(rng.random(n) > 0.1) for name in CONFIDENTIAL[1:]})
    return to_table(holed)


HOLED = [CONFIDENTIAL[0], *(f"holed {name}" for name in CONFIDENTIAL[1:])]
MADE_SO = dict.fromkeys(("kept-columns", "explained-columns"), "made so")
REQUESTS: dict[str, tuple[Roles, Method]] = {
    "weight": (Roles(confidential=CONFIDENTIAL, given=GIVEN, weight="weight"), Romm(lam=0.3)),
    "groups": (Roles(confidential=CONFIDENTIAL, given="age", groups=["region"], keep=["founded"]), Ipso()),
    "dropped": (Roles(confidential=HOLED, given=GIVEN, keep=["founded"], missing="drop"), Ipso()),
    "patterns": (Roles(confidential=HOLED, given="C(region) + age", missing="patterns", smallest_pattern=30), Ipso()),
    "absorbed": (Roles(confidential=CONFIDENTIAL, given="C(code) + log(size)", weight="weight"), Ipso()),
    "absorbed, fits not kept": (Roles(confidential=CONFIDENTIAL, given="C(code) + log(size)"), Mixture(0.5)),
    "two formulas": (ROLES, Mixture(0.5).then(Restore())),
    "walk within bounds": (
        Roles(confidential=CONFIDENTIAL, given="age", bounds={"wages": (-1e3, None)}),
        Rotate(sweeps=2),
    ),
    "walk and formula": (ROLES, Rotate(sweeps=2).then(Restore())),
    "groups made, then a formula": (ROLES, Microaggregate(k=4).then(Restore())),
    "clusters made": (Roles(confidential=CONFIDENTIAL, given=""), MicroHybrid(clusters=Microaggregate(k=20))),
    "whole numbers": (Roles(confidential=CONFIDENTIAL, given="age", integer=["staff"]), Ipso()),
    "other records": (Roles(confidential=CONFIDENTIAL, given="", groups=["grade"]), Resize(m=150)),
}


def both(n: int, roles: Roles, method: Method) -> tuple[Release, Release, ProcessRows]:
    rows, seed = ProcessRows(table(n)), Seed.for_tests(9)
    return protect(MemoryRows(table(n)), roles, method, seed), protect(rows, roles, method, seed), rows


def assert_same(one: Release, two: Release) -> None:
    """The same rows in the same order, the same findings, and a certificate that holds."""
    assert one.frame.column_names == two.frame.column_names
    assert len(one.frame) == len(two.frame)
    for name in one.frame.column_names:
        a, b = one.frame[name], two.frame[name]
        if name not in one.design.confidential:
            assert a.cast(b.type).equals(b), name
            continue
        x, y = (np.array(column.to_pylist(), dtype=float) for column in (a, b))
        assert np.array_equal(np.isnan(x), np.isnan(y))
        assert np.nanmax(np.abs(x - y)) <= ENGINE * np.nanstd(x)
    assert [finding.rule for finding in one.findings] == [finding.rule for finding in two.findings]
    assert two.certificate.holds
    assert one.certificate.holds
    assert [claim.statistic for claim in one.certificate.claims] == [c.statistic for c in two.certificate.claims]
    assert one.certificate.notes == two.certificate.notes


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())
def test_every_method_runs_in_other_processes(method: Method) -> None:
    if method.companion is not None:
        method = method.with_companion(candidate().head(FEW))  # type: ignore[arg-type]
    one, two, rows = both(FEW, ROLES, method)
    assert_same(one, two)
    assert len(rows.sent) >= 6


@pytest.mark.parametrize("name", REQUESTS)
def test_every_request_runs_in_other_processes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three blocks, each sent by itself."""
    monkeypatch.setattr("suffice.rows.rows.RUN", 1)
    one, two, rows = both(2 * BLOCK + 777, *REQUESTS[name])
    assert_same(one, two)
    assert len(rows.sent) >= 15


@pytest.mark.parametrize("name", ["groups", "patterns", "walk and formula", "weight"])
def test_so_do_files_that_memory_does_not_hold(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows set aside are worked on where the others are."""
    monkeypatch.setattr("suffice.protection.super_blocks.SUPER", 500)
    one = protect(MemoryRows(table(FEW * 2)), *REQUESTS[name], Seed.for_tests(9))
    for where in ("rows.spool.HELD", "protection.runner.HELD", "protection.strata.TOGETHER"):
        monkeypatch.setattr(f"suffice.{where}", 100)
    rows = ProcessRows(table(FEW * 2))
    two = protect(rows, *REQUESTS[name], Seed.for_tests(9))
    assert_same(one, two)


def test_a_companion_may_be_rows_of_another_engine() -> None:
    own, beside = table(FEW), pa.Table.from_pandas(candidate().head(FEW), preserve_index=False)
    one = protect(own, ROLES, Restore(candidate=beside), Seed.for_tests(2))
    two = protect(ProcessRows(own), ROLES, Restore(candidate=ProcessRows(beside)), Seed.for_tests(2))
    assert_same(one, two)


def test_the_steps_before_and_after_a_release_run_there_too(tmp_path: Path) -> None:
    """Verification, the page for the data holder, and what earlier releases make of leverages."""
    rows, seed = ProcessRows(table(FEW)), Seed.new_file(tmp_path / "key")
    roles = Roles(confidential=CONFIDENTIAL, given="age")
    release = protect(rows, roles, Ipso(), seed)
    release.write(tmp_path / "first.parquet")
    sent = len(rows.sent)
    assert verify(rows, tmp_path / "first.parquet", roles).certificate.holds
    assert sent < len(rows.sent)
    sent = len(rows.sent)
    released = MemoryRows(release.frame)
    one, two = (Histograms.of(own, released, CONFIDENTIAL) for own in (MemoryRows(table(FEW)), rows))
    assert np.array_equal(one.counts, two.counts)
    assert sent < len(rows.sent)
    wide = Roles(confidential=CONFIDENTIAL, given="log(size)")
    told = [protect(data, wide, Romm(lam=0.3), seed).assessment.stacked.highest for data in (table(FEW), rows)]
    assert told[0] == pytest.approx(told[1], rel=ENGINE)
    assert told[0] > 0


def test_it_is_written_and_certified_as_any_other(tmp_path: Path) -> None:
    release = protect(ProcessRows(table(FEW)), ROLES, Ipso(), accept=MADE_SO)
    assert release.write(tmp_path / "out.parquet").holds
    assert release.aligned().column_names == release.frame.column_names


def test_rows_of_a_file_are_never_written_over(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    path = tmp_path / "firms.parquet"
    pq.write_table(table(FEW), path)
    before = path.read_bytes()
    with pytest.raises(UsageError, match="never overwritten"):
        protect(ParquetRows(path), ROLES, Ipso(), accept=MADE_SO).write(path, force=True)
    assert path.read_bytes() == before


def test_a_refusal_of_a_worker_is_that_of_the_release() -> None:
    bad = table(FEW).set_column(0, "wages", pa.array([None, *range(FEW - 1)], pa.float64()))
    told = []
    for rows in (MemoryRows(bad), ProcessRows(bad)):
        with pytest.raises(InputError) as problem:
            protect(rows, ROLES, Ipso(), Seed.for_tests(2))
        told.append(str(problem.value))
    assert told[0] == told[1]


class Keys:
    """Every secret that a release is made with, as it is made."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.secret: set[bytes] = set()
        self.blocks: set[bytes] = set()
        derive, child, block = Seed.derive, Stream.child, Stream.block

        def kept(stream: Stream) -> Stream:
            self.secret.add(stream._key)
            return stream

        def of_block(stream: Stream, *parts: Any) -> BlockKey:
            found = block(stream, *parts)
            self.blocks.add(found._key)
            return found

        patch.setattr(Seed, "derive", lambda seed, *parts: kept(derive(seed, *parts)))
        patch.setattr(Stream, "child", lambda stream, label: kept(child(stream, label)))
        patch.setattr(Stream, "block", of_block)


@pytest.mark.parametrize("name", ["weight", "absorbed", "two formulas", "walk and formula", "clusters made", "groups"])
def test_no_worker_is_sent_a_key_but_those_of_its_blocks(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("suffice.rows.rows.RUN", 1)
    keys, seed = Keys(monkeypatch), Seed.new_file(tmp_path / "key")
    rows = ProcessRows(table(BLOCK + 777))
    release = protect(rows, *REQUESTS[name], seed)
    assert release.certificate.holds
    assert len(release.frame) == rows.n
    secrets = {seed._key, seed._key.hex().encode(), *keys.secret}
    assert len(secrets) > 2
    assert not any(secret in sent for secret in secrets for sent in rows.sent)
    carried = [sum(key in sent for key in keys.blocks) for sent in rows.sent]
    assert max(carried) <= 1  # a run of one block has one key, if it draws at all
    if name in ("weight", "absorbed", "two formulas"):
        assert sum(carried) >= 4  # the search finds what is there


def test_a_stream_cannot_be_sent() -> None:
    stream = Seed.for_tests(1).derive("a release")
    rows = ProcessRows(table(FEW))
    with pytest.raises(TypeError, match="secret"):
        list(rows.map(lambda run: stream.normals(0, len(run), 1), ["age"], "trying"))
    with pytest.raises(TypeError, match="secret"):
        cloudpickle.dumps(stream)
    computed = Computation(("age",), lambda block: np.ones((len(block), 1)), ("one",), stream)
    assert pickle.loads(cloudpickle.dumps(computed)).stream is None
    assert not rows.sent


def test_a_pass_that_writes_into_what_it_shares_is_found_out() -> None:
    """What the engine is for: a worker's copy is not the array here."""
    rows, shared = ProcessRows(table(FEW)), np.zeros(FEW)

    def of(block: Block) -> float:
        shared[block.start : block.start + len(block)] = block.columns["age"]
        return float(block.columns["age"].sum())

    assert rows.fold(of, ["age"], "adding") == np.asarray(table(FEW)["age"]).sum()
    assert not shared.any()


@pytest.mark.parametrize("engine", [MemoryRows, ProcessRows])
def test_rows_are_taken_as_they_are(engine: type[Rows]) -> None:
    rows = engine(table(FEW))  # type: ignore[call-arg]
    assert protect(rows, ROLES, Ipso(), Seed.for_tests(1)).rows is rows
