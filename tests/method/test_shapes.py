"""The shapes of methods, each by a small real method: rank swapping over files, noise a row at a time, a resampler of
categories, three data sets from one request. None of them knows the engine."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from suffice import Ipso, ResidualCorrelation, Restore, Roles, Seed, protect
from suffice.algebra.array import Array
from suffice.certificate.paper import paper_beside
from suffice.design.design import Design
from suffice.errors import FileError, InputError, UsageError
from suffice.files.draft import Draft
from suffice.ledger import Ledger
from suffice.method.masked import Masked, MaskedColumns
from suffice.method.parameter import Number, parameter
from suffice.method.records import Records
from suffice.method.recordwise import Recordwise
from suffice.method.rowwise import Rowwise
from suffice.method.synthetic import Synthetic
from suffice.rows.arrow import as_float
from suffice.rows.derived import Beside, Computation
from suffice.rows.memory import ArrayRows
from suffice.rows.rows import Block, Rows
from suffice.rows.spool import stored
from suffice.seed import Stream
from tests.tolerances import ENGINE

ACCEPTED = dict.fromkeys(
    (
        "seed",
        "copies",
        "membership",
        "replicated-records",
        "outliers",
        "nearness",
        "linkage",
        "giants",
        "canonical-correlation",
        "residual-correlation",
        "kept-scores",
        "dominance",
    ),
    "a test",
)
N = 2000


@dataclass(frozen=True)
class RankSwap(Rowwise):
    """Each value changes places with one at most p n ranks away: columns are sorted, swapped in windows, put back.

    **Promises** the distribution of every column.
    """

    keeps: ClassVar = ("distribution",)
    p: float = parameter(Number(0, 1, closed=False), "how far, as a share of the records", 0.05)

    def columns(self, rows: Rows, design: Design, stream: Stream) -> Mapping[str, Any]:
        made: dict[str, Any] = {}
        for name in design.confidential:
            at = np.arange(rows.n)
            ranked = rows.with_columns({"place": at}).sorted(name, [name, "place"])
            window = max(2, int(self.p * rows.n) // 2)
            held = ranked.gather([name, "place"])  # a file larger than memory would go window by window
            values = as_float(held[name]).copy()
            for number, first in enumerate(range(0, rows.n, window)):
                here = slice(first, min(first + window, rows.n))
                values[here] = stream.generator(f"swap {name}", number).permutation(values[here])
            kinds: Any = {name: "float", "place": "integer"}
            back = ArrayRows({name: values, "place": held["place"]}, kinds).sorted("place", [name])
            made[name] = Beside(back, name)
        return made

    @classmethod
    def examples(cls) -> tuple[RankSwap, ...]:
        return (cls(),)


@dataclass(frozen=True)
class Noise(Rowwise):
    """Normal noise with a share of each column's variance, corrected to the variance (Kim): learnt by one fold."""

    share: float = parameter(Number(0, 10, closed=False), "variance of the noise", 0.2)

    def columns(self, rows: Rows, design: Design, stream: Stream) -> MaskedColumns:
        names, share = design.confidential, self.share

        def sums(block: Block) -> Array:
            Y = np.column_stack([as_float(block.columns[name]) for name in names])
            return np.vstack([np.full(len(names), len(Y)), Y.sum(axis=0), (Y**2).sum(axis=0)])

        n, total, squares = rows.fold(sums, names, "learning")
        mean = total / n
        sd = np.sqrt(squares / n - mean**2)

        def of(block: Block) -> Array:
            assert block.key is not None
            Y = np.column_stack([as_float(block.columns[name]) for name in names])
            E = np.sqrt(share) * sd * block.key.normals(len(Y), len(names))
            return np.asarray(mean + (Y + E - mean) / np.sqrt(1 + share))

        computed = Computation(names, of, names, stream)
        return MaskedColumns(dict.fromkeys(names, computed), (f"noise in {len(names)} columns",))

    @classmethod
    def examples(cls) -> tuple[Noise, ...]:
        return (cls(),)


@dataclass(frozen=True)
class Resample(Synthetic):
    """As many records as there were, drawn from the frequencies of the combinations of levels in each group."""

    kinds: ClassVar = ("category", "integer", "date")
    independent: ClassVar = True
    learns: ClassVar = True

    @property
    def records(self) -> None:
        return None

    def learn(self, rows: Rows, design: Design) -> Any:
        Y = np.column_stack([as_float(column) for column in rows.gather(design.confidential).values()])
        return np.unique(Y, axis=0, return_counts=True)

    def draw(self, mean: Array, R: Array, model: Any, count: int, stream: Stream) -> Array:
        cells, counts = model
        return np.asarray(stream.generator("cells").choice(cells, count, p=counts / counts.sum()))

    @classmethod
    def examples(cls) -> tuple[Resample, ...]:
        return (cls(),)


@dataclass(frozen=True)
class Deal(Recordwise):
    """Whole records in an order of their own, whatever their columns are.

    **Promises** the distribution of every column.
    """

    keeps: ClassVar = ("distribution",)
    kinds: ClassVar = ("category", "integer", "date")

    def mask(self, records: Records, stream: Stream, progress: Any = None) -> Masked:
        return Masked(records.Y[stream.generator("deal").permutation(records.n)])

    @classmethod
    def examples(cls) -> tuple[Deal, ...]:
        return (cls(),)


@dataclass(frozen=True)
class Thrice(Ipso):
    """Three data sets, each with numbers of its own."""

    @property
    def sets(self) -> int:
        return 3


def people(n: int = N) -> pa.Table:
    rng = np.random.default_rng(5)
    day = dt.date(2020, 1, 1)
    return pa.table(
        {
            "region": rng.choice(["north", "south"], n),
            "x": rng.normal(size=n),
            "y": rng.gamma(3.0, size=n),
            "z": rng.normal(size=n) + 3,
            "edu": pa.array(rng.choice(["none", "school", "university"], n, p=[0.2, 0.5, 0.3])),
            "born": pa.array([day + dt.timedelta(int(i)) for i in rng.integers(0, 300, n)]),
            "rooms": pa.array(rng.integers(1, 6, n), pa.int32()),
        }
    )


@pytest.fixture(params=["arrow", "pandas", "polars", "parquet"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    table = people()
    if request.param == "parquet":
        pq.write_table(table, tmp_path / "people.parquet", row_group_size=333)
        return tmp_path / "people.parquet"
    return {"arrow": table, "pandas": table.to_pandas(), "polars": pl.from_arrow(table)}[request.param]


def made(data: Any, method: Any, key: int = 1, **roles: Any) -> Any:
    return protect(data, Roles(**roles), method, seed=Seed.for_tests(key), accept=ACCEPTED)


def table_of(frame: Any) -> pa.Table:
    return frame if isinstance(frame, pa.Table) else pa.table(pl.DataFrame(frame).to_arrow())


def test_ranks_are_swapped_over_any_engine(source: Any, tmp_path: Path) -> None:
    release = made(source, RankSwap(p=0.05), confidential=["y", "z"], given="C(region)")
    assert release.certificate.holds
    assert release.write(tmp_path / "out.parquet").claims[0].statistic == "distribution"
    moved = table_of(release.aligned()).to_pandas()
    for name in ("y", "z"):
        before = people()[name].to_numpy()
        ranks = [np.argsort(np.argsort(values)) for values in (before, moved[name].to_numpy())]
        assert 0 < np.abs(ranks[0] - ranks[1]).max() <= 0.05 * N
        assert sorted(moved[name]) == sorted(before)


def test_a_file_is_swapped_as_memory_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq.write_table(people(), tmp_path / "in.parquet")
    roles = {"confidential": ["y", "z"], "given": "C(region)"}
    one = made(people(), RankSwap(), **roles).aligned()["y"].to_numpy()
    monkeypatch.setattr("suffice.rows.spool.HELD", 300)  # sorted by dealing into ranges
    assert np.array_equal(made(tmp_path / "in.parquet", RankSwap(), **roles).aligned()["y"].to_numpy(), one)


def test_noise_is_the_same_on_every_engine_and_exact_after_restore(source: Any) -> None:
    roles = {"confidential": ["y", "z"], "given": "x", "groups": ["region"]}
    release = made(source, Noise(), **roles)
    values = table_of(release.aligned())["y"].to_numpy()
    assert np.abs(values - made(people(), Noise(), **roles).aligned()["y"].to_numpy()).max() <= ENGINE
    assert 0.8 < np.corrcoef(values, people()["y"].to_numpy())[0, 1] < 0.98
    assert any(said.startswith("noise in 2 columns") for said in release.done.remarks)
    exact = made(source, Noise().then(Restore()), **roles)
    assert exact.certificate.holds
    assert {claim.statistic for claim in exact.certificate.claims} >= {"mean", "covariance", "fit"}


def test_a_step_before_rows_are_mapped_is_what_they_start_from() -> None:
    roles = {"confidential": ["y", "z"]}
    both = made(people(), Ipso().then(Noise(share=0.01)), **roles).aligned()["y"].to_numpy()
    assert np.abs(np.corrcoef(both, people()["y"].to_numpy())[0, 1]) < 0.1


def test_categories_dates_and_whole_numbers_are_drawn_anew_and_keep_their_kinds(source: Any, tmp_path: Path) -> None:
    release = made(source, Resample(), confidential=["edu", "born", "rooms"], groups=["region"])
    frame = release.frame
    original = people() if isinstance(source, Path) else source
    types = {"pandas": "dtypes", "polars": "schema"}
    kind = type(frame).__module__.partition(".")[0]
    if kind in types:
        assert dict(getattr(frame, types[kind])) == {n: dict(getattr(original, types[kind]))[n] for n in frame.columns}
    found, before = table_of(frame), people()
    assert found["edu"].to_pylist() != before["edu"].to_pylist()
    assert set(found["edu"].to_pylist()) == {"none", "school", "university"}
    assert {*found["born"].to_pylist()} <= {*before["born"].to_pylist()}
    assert found["rooms"].type == pa.int64() or found["rooms"].type == pa.int32()
    shares = [
        t.group_by("edu").aggregate([("edu", "count")]).sort_by("edu")["edu_count"].to_numpy() for t in (found, before)
    ]
    assert np.abs(shares[0] - shares[1]).max() < 120
    release.write(tmp_path / "out.csv")
    assert set(pd.read_csv(tmp_path / "out.csv")["edu"]) == {"none", "school", "university"}


def test_what_is_dealt_is_the_same_value_by_value(source: Any, tmp_path: Path) -> None:
    release = made(source, Deal(), confidential=["edu", "born", "rooms", "y"])
    assert release.certificate.holds
    release.write(tmp_path / "out.parquet")
    back = pq.read_table(tmp_path / "out.parquet")
    for name in ("edu", "born", "rooms", "y"):
        assert sorted(back[name].to_pylist()) == sorted(people()[name].to_pylist())
    assert back["rooms"].type == pa.int32()
    assert pa.types.is_temporal(back["born"].type)


@pytest.mark.parametrize(("column", "said"), [("edu", "text"), ("born", "date")])
def test_a_method_for_numbers_refuses_other_kinds(column: str, said: str, source: Any) -> None:
    with pytest.raises(InputError, match=f"(?i)confidential column '{column}'.*{said}"):
        made(source, Ipso(), confidential=[column, "y"])
    with pytest.raises(InputError, match="onfidential"):
        made(source, Deal().then(Restore()), confidential=[column])  # the last step works with numbers


def test_three_data_sets_from_one_request(source: Any, tmp_path: Path) -> None:
    seed = Seed.new_file(tmp_path / "key")
    roles = Roles(confidential=["y", "z"], given="x")
    release = protect(source, roles, Thrice(), seed=seed, accept=ACCEPTED)
    frames = [table_of(frame) for frame in release.frames]
    assert len(frames) == len(release.certificates) == 3
    assert all(certificate.holds for certificate in release.certificates)
    assert len({frame["y"].to_pylist()[0] for frame in frames}) == 3
    scores = release.assess(measures=["copies", "memory"])
    assert len(scores["copies"].by_release) == 3
    means = [frame["y"].to_numpy().mean() for frame in frames]
    assert np.allclose(means, people()["y"].to_numpy().mean(), rtol=1e-13)
    assert len({finding.rule for finding in release.findings}) == len(release.findings)
    with pytest.raises(UsageError, match="3 data sets: use"):
        release.frame  # noqa: B018
    together = release.write(tmp_path / "out.parquet")
    assert together.claims == release.certificate.claims
    assert [each["file"] for each in together.files] == [f"out-{i}.parquet" for i in (1, 2, 3)]
    names = sorted(path.name for path in tmp_path.glob("out*"))
    papers = [f"out-1.parquet.certificate.{kind}" for kind in ("json", "html")]
    assert names == sorted([*(f"out-{i}.parquet" for i in (1, 2, 3)), *papers])
    for i, frame in enumerate(frames, 1):
        assert pq.read_table(tmp_path / f"out-{i}.parquet")["y"].to_pylist() == frame["y"].to_pylist()
        assert paper_beside(tmp_path / f"out-{i}.parquet") == ([], ())
    paper = json.loads((tmp_path / papers[0]).read_text())
    assert paper["holds"]
    assert len({each["digest"] for each in paper["files"]}) == 3
    (tmp_path / "out-2.parquet").write_bytes((tmp_path / "out-3.parquet").read_bytes() + b" ")
    assert paper_beside(tmp_path / "out-2.parquet")[0][0].rule == "digest"
    ledger = Ledger.beside(seed)
    assert ledger is not None
    assert len(ledger.entries()) == 1
    with pytest.raises(FileError, match="exists already"):
        release.write(tmp_path / "out.parquet")


def test_the_key_decides_every_set() -> None:
    one, two = (made(people(), Thrice(), confidential=["y", "z"]) for _ in range(2))
    assert all(a.equals(b) for a, b in zip(one.frames, two.frames, strict=True))


def test_values_set_aside_are_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = ArrayRows({"a": np.arange(10.0)}, {"a": "float"})
    monkeypatch.setattr("suffice.rows.spool.HELD", 3)
    kept = stored(rows, iter([np.arange(6.0)[:, None], np.arange(6.0, 10.0)[:, None]]), ["b"])
    assert not kept.held
    assert kept.gather(["b"])["b"].tolist() == list(range(10))


@dataclass(frozen=True)
class Often(ResidualCorrelation):
    """Forty data sets that each follow the original a little."""

    @property
    def sets(self) -> int:
        return 40


def test_data_sets_of_one_request_are_judged_together(tmp_path: Path) -> None:
    roles = Roles(confidential=["y", "z"], given="x")
    release = protect(people(), roles, Often(0.6), seed=Seed.for_tests(1))
    found = {finding.rule: finding for finding in release.findings}
    assert found["repeated-release"].level == "stop"
    assert "39 other data sets" in found["repeated-release"].message
    alone = protect(people(), roles, ResidualCorrelation(0.6), seed=Seed.for_tests(1))
    assert not any(finding.rule == "repeated-release" and finding.level == "stop" for finding in alone.findings)
    mean = np.mean([each.aligned()["y"].to_numpy() for each in release.sets], axis=0)
    assert np.corrcoef(mean, people()["y"].to_numpy())[0, 1] > 0.95  # the attack that it stops


def test_several_sets_are_one_line_that_knows_all_of_them(tmp_path: Path) -> None:
    seed, roles = Seed.new_file(tmp_path / "key"), Roles(confidential=["y", "z"], given="x")
    accept = {**ACCEPTED, "repeated-release": "a test"}
    protect(people(), roles, Often(0.6), seed=seed, accept=accept).write(tmp_path / "out.parquet")
    ledger = Ledger.beside(seed)
    assert ledger is not None
    (entry,) = ledger.entries()
    assert entry.reach > 0.97
    again = protect(people(), roles, Often(0.6), seed=seed, accept=accept)
    assert again.assessment.history.earlier == ()  # the same release made again is one release


def test_steps_keep_the_number_of_sets() -> None:
    assert Thrice().then(RankSwap()).sets == 3


@dataclass(frozen=True)
class Echo(Synthetic):
    """Gives the original back."""

    learns: ClassVar = True
    independent: ClassVar = True

    @property
    def records(self) -> None:
        return None

    def learn(self, rows: Rows, design: Design) -> Any:
        return np.column_stack([as_float(column) for column in rows.gather(design.confidential).values()])

    def draw(self, mean: Array, R: Array, model: Any, count: int, stream: Stream) -> Array:
        return np.asarray(model[:count])

    @classmethod
    def examples(cls) -> tuple[Echo, ...]:
        return (cls(),)


def test_records_of_the_original_among_those_drawn_are_seen() -> None:
    release = protect(people(), Roles(confidential=["y", "z"]), Echo(), seed=Seed.for_tests(1))
    assert release.assessment.copies == N
    assert any(finding.rule == "copies" and finding.blocks for finding in release.findings)


@pytest.mark.parametrize("role", [{"given": "x"}, {"keep": ["x"]}, {"integer": ["y"]}, {"bounds": {"y": (0, None)}}])
def test_new_records_have_no_columns_of_old_ones(role: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="echo draws new records"):
        made(people(), Echo(), confidential=["y", "z"], **role)


@dataclass(frozen=True)
class Shift(Deal):
    """Numbers that the columns cannot have."""

    by: float = parameter(Number(-1e9, 1e9), "what is added", 0.0)

    def mask(self, records: Records, stream: Stream, progress: Any = None) -> Masked:
        return Masked(records.Y + self.by)


@pytest.mark.parametrize(("column", "by"), [("edu", 1.0), ("edu", -1.0), ("edu", 1000.0), ("small", 1000.0)])
def test_a_number_that_a_column_cannot_have_is_refused_without_it(column: str, by: float, tmp_path: Path) -> None:
    table = people().append_column("small", pa.array(np.arange(N) % 250, pa.uint8()))
    for data in (table, table.to_pandas()):
        with pytest.raises(UsageError, match=f"The method gave '{column}' a number") as caught:
            made(data, Shift(by=by), confidential=[column])
        assert not re.search(r"\d{2}", str(caught.value))


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("role", ["nothing", "keep", "identifiers", "confidential"])
def test_times_of_any_unit(unit: str, role: str) -> None:
    when = pd.Series(pd.date_range("2020-01-01 03:04:05.123456", periods=N, freq="37min").astype(f"datetime64[{unit}]"))
    data = people().to_pandas().drop(columns=["born"]).assign(when=when)
    confidential = ["y", "when"] if role == "confidential" else ["y"]
    roles = {role: ["when"]} if role in ("keep", "identifiers") else {}
    release = made(data, Deal() if role == "confidential" else Ipso(), confidential=confidential, **roles)
    assert release.certificate.holds
    if role in ("keep", "confidential"):
        assert release.frame["when"].dtype == when.dtype
        assert sorted(release.frame["when"]) == sorted(when)


def test_names_with_a_nul_are_refused(tmp_path: Path) -> None:
    table = people().append_column("released\0y", people()["y"])
    pq.write_table(table, tmp_path / "in.parquet")
    for data in (table, tmp_path / "in.parquet"):
        with pytest.raises(InputError, match="NUL"):
            made(data, Ipso(), confidential=["y", "released\0y"])


def test_the_first_level_is_not_nothing() -> None:
    edu = ["a", *["b", "c"] * 999, "b"]
    table = pa.table({"edu": edu, "more": edu})

    @dataclass(frozen=True)
    class Most(Deal):
        def mask(self, records: Records, stream: Stream, progress: Any = None) -> Masked:
            return Masked(np.vstack([records.Y[:1], np.roll(records.Y[1:], 1, axis=0)]))

    assert made(table, Most(), confidential=["edu", "more"]).assessment.copies == 1


def test_a_set_that_cannot_be_named_takes_the_others_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = made(people(), Thrice(), confidential=["y", "z"])
    named = Draft.name

    def name(draft: Draft) -> None:
        if draft.target.name == "out-2.parquet":
            raise FileError("no")
        named(draft)

    monkeypatch.setattr(Draft, "name", name)
    with pytest.raises(FileError):
        release.write(tmp_path / "out.parquet")
    assert list(tmp_path.iterdir()) == []
