"""How often a file is read: protect, certificate and write together. What a file of any size costs is its passes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from suffice import Ipso, Microaggregate, MicroHybrid, Resize, Roles, Rotate, Seed, protect
from suffice.demo import firms
from suffice.method.method import Method
from suffice.rows.parquet import ParquetRows


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The first file of every pass over Parquet rows, whatever asks for it: blocks, batches or columns."""
    found: list[Path] = []
    pages = ParquetRows._pages

    def counted(self: ParquetRows, columns: Sequence[str]) -> Iterator[Any]:
        found.append(self.paths[0])
        return pages(self, columns)

    monkeypatch.setattr("suffice.release.release.enforce", lambda findings: None)  # all of it is to be read
    monkeypatch.setattr("suffice.risk.assessment.SHORT", 0)  # no trial release for signs alone, which reads it again
    monkeypatch.setattr(ParquetRows, "_pages", counted)
    return found


@pytest.mark.parametrize(
    ("method", "more", "most"),
    [
        (Ipso(), {"given": "C(region) + log(employees)"}, 6),
        (Rotate(sweeps=200), {"given": "C(region)"}, 7),  # beyond doubt: no trial release
        (MicroHybrid(clusters=Microaggregate(k=20)), {"groups": ["region"]}, 15),
        (Resize(4000), {"groups": ["region"]}, 8),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_file_is_read_a_few_times(
    method: Method, more: dict[str, Any], most: int, reads: list[Path], tmp_path: Path
) -> None:
    source, target = tmp_path / "source.parquet", tmp_path / "release.parquet"
    pq.write_table(firms(5000), source)
    roles = Roles(confidential=["turnover", "wages", "taxes"], **more)
    release = protect(source, roles, method, Seed.for_tests(7))
    assert release.certificate.holds
    before = len(reads)
    release.write(target)
    assert reads[:before] == [source] * before  # nothing else is read before it is written
    assert reads.count(source) <= most
