"""A folder for one write that is going to be disturbed, and what may be found there afterwards."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq

from suffice.ledger import Ledger

KEY = "c7d1e83a9b40f2566e1d8a07b35cf94e20a6d4178b9ec35f61f08d2ba74e93c5"
OLD, OLD_PAPER = b"an old release\n", b'{"an": "old certificate"}\n'


def firms(n: int = 600) -> pa.Table:
    rng = np.random.default_rng(11)
    x = rng.normal(50, 9, n)
    region = rng.choice(["north", "south", "west"], n)
    return pa.table({"region": region, "x": x, "y": x + rng.normal(0, 20, n), "z": rng.normal(size=n)})


def is_paper(content: bytes | None) -> bool:
    """A certificate or a page, from its first letter to its last."""
    return content is not None and (
        content.rstrip().endswith(b"</html>") if content.startswith(b"<!DOCTYPE") else "claims" in json.loads(content)
    )


@dataclass(frozen=True)
class Place:
    """root/data.*, root/out/release.*, root/keys/key, root/temp."""

    root: Path
    kind: str

    @classmethod
    def made(cls, root: Path, kind: str, old: bool, table: pa.Table | None = None) -> Place:
        place = cls(root, kind)
        for folder in ("out", "keys", "temp"):
            (root / folder).mkdir(parents=True)
        (csv.write_csv if kind == "csv" else pq.write_table)(table or firms(), place.data)
        place.key.write_text(KEY)
        place.key.chmod(0o600)
        if old:
            place.target.write_bytes(OLD)
            place.paper.write_bytes(OLD_PAPER)
            place.page.write_bytes(OLD_PAPER)
            place.report.write_bytes(OLD_PAPER)
        return place

    @property
    def data(self) -> Path:
        return self.root / f"data.{self.kind}"

    @property
    def key(self) -> Path:
        return self.root / "keys" / "key"

    @property
    def target(self) -> Path:
        return self.root / "out" / f"release.{self.kind}"

    @property
    def paper(self) -> Path:
        return self.target.with_name(self.target.name + ".certificate.json")

    @property
    def page(self) -> Path:
        return self.target.with_name(self.target.name + ".certificate.html")

    @property
    def report(self) -> Path:
        return self.root / "out" / "report.html"

    def words(self, *more: str) -> list[str]:
        asks = ["--confidential", "y,z", "--given", "x + C(region)", "--threads", "1", "--quiet"]
        files = [str(self.data), "-o", str(self.target), "--key-file", str(self.key), "--report", str(self.report)]
        return ["protect", *files, *asks, *more]

    def trial(self, *more: str, **settings: Any) -> dict[str, Any]:
        own = {"temp": str(self.root / "temp"), "log": str(self.root / "log"), "words": self.words(*more)}
        return {**own, **settings}

    def said(self) -> str:
        return (self.root / "log").read_text()

    def left(self) -> set[str]:
        """Names in the folder of the release and in the temporary folder."""
        return {*os.listdir(self.root / "out"), *(f"temp/{name}" for name in os.listdir(self.root / "temp"))}

    def papers(self) -> list[bytes | None]:
        files = (self.target, self.paper, self.page, self.report)
        return [path.read_bytes() if path.exists() else None for path in files]

    def complete(self) -> bool:
        """A new release of which all papers are there, whole: whatever date they bear."""
        release, *papers = self.papers()
        return release not in (None, OLD) and all(map(is_paper, papers))

    def releases(self) -> int:
        """How many the ledger knows; a damaged ledger raises."""
        return len(Ledger(self.key.with_name("key.ledger")).entries())


class Trials:
    """One process that forks once per trial."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("trial.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._ask(Place.made(folder / "rehearsal", "parquet", old=False).words())

    def __call__(self, trials: list[dict[str, Any]]) -> list[int]:
        """How every trial ended."""
        assert self.process.stdout is not None
        self._ask(trials)
        ended: list[int] = json.loads(self.process.stdout.readline())
        return ended

    def _ask(self, what: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()
