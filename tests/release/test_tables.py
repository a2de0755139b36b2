"""Tables from records to a published file with its certificate, and what stops them on the way."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from suffice.errors import FileError, GuardError, NotPreservedError, UsageError
from suffice.files import draft
from suffice.ledger import Ledger
from suffice.release import tables as module
from suffice.release.tables import TableRelease, publish
from suffice.seed import Seed
from suffice.tables.methods import Fill, Suppress
from suffice.tables.publication import CellsOfFile, TableMethod
from suffice.tables.rules import MinimumFrequency, PPercent
from suffice.tables.sensitivity import Sensitivity, find_sensitive
from suffice.tables.table import Table

N = np.array([[1, 90, 91, 72], [93, 84, 77, 67], [95, 96, 2, 81], [64, 73, 82, 91]])
NAMES = ["<script>alert(1)</script>", "=cmd|calc", "c\nd", "{{7*7}}"]


def made(counts: np.ndarray = N, names: list[str] | None = None) -> Table:
    row, column = np.divmod(np.arange(counts.size), counts.shape[1])
    codes = names or list("pqrs")
    data = {"a": [codes[k] for k in row], "b": [f"b{k}" for k in column], "n": counts.ravel()}
    return Table.of_records(data, ["a", "b"], frequency="n")


def gaps_of(table: Table, rows: int = 4, columns: int = 4) -> np.ndarray:
    a, b = table.grid.axes
    inner = [table.find(x, y) for x in [a.codes[k] for k in a.leaves][:rows] for y in b.codes[1:][:columns]]
    return np.isin(np.arange(len(table)), inner)


def rare(table: Table) -> Sensitivity:
    return find_sensitive(table, [MinimumFrequency(3)])


def free(method: str = "decimals", **more: object) -> TableRelease:
    table = made()
    return publish(table, gaps_of(table), rare(table), method=method, **more)  # type: ignore[arg-type]


def rules(release: TableRelease) -> dict[str, str]:
    return {finding.rule: finding.level for finding in release.findings}


@pytest.mark.parametrize("method", ["suppress", "decimals", Fill(store="all")])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_from_records_to_a_file_that_is_certified_as_it_was_written(tmp_path: Path, method: object, kind: str):
    release = free(method)  # type: ignore[arg-type]
    out = tmp_path / f"out.{kind}"
    certificate = release.write(out, report=tmp_path / "private.html")
    assert certificate.holds
    assert certificate.source == f"the written {kind} file"
    names = [claim.statistic for claim in certificate.claims]
    assert names == ["additivity", "published", "suppressed", "protection"]
    told = json.loads((tmp_path / f"out.{kind}.certificate.json").read_text())
    assert (told["cells"], told["suppressed"], told["digest"]) == (25, 16, certificate.digest)
    after = CellsOfFile.read(release.made.table, out, ("count",))
    shown = ~release.made.suppressed
    assert np.abs(after.cells - release.made.before)[shown].max() < 1e-9
    assert (tmp_path / "private.html").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("method", [Suppress(), Fill(spread=3000.0), Fill(spread=3000.0, store="all")])
def test_no_public_artefact_holds_a_suppressed_value(tmp_path: Path, method: TableMethod):
    counts = np.random.default_rng(1).integers(10_000, 99_999, (4, 4))
    counts[0, 0] = 1
    table = made(counts)
    release = publish(table, gaps_of(table), rare(table), method=method)
    release.write(tmp_path / "out.csv", report=tmp_path / "private.html")
    private = (tmp_path / "private.html").read_text()
    secret = counts.ravel()[1:].tolist()
    assert all(f"{value:,}" in private for value in secret)
    for path in tmp_path.iterdir():
        if path.name != "private.html":
            text = path.read_text()
            if path.suffix == ".html":
                text = re.sub(r"(?<=\d),(?=\d{3})", "", text)
            shown = re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])", text)  # digits of others may be the same by chance
            assert not {float(number) for number in shown} & {*secret}, path.name
    assert not any(f"{value}" in f"{release!r}{release.findings}{release.certificate}" for value in secret)


def test_hostile_codes_stay_text(tmp_path: Path):
    table = made(names=NAMES)
    release = publish(table, gaps_of(table), rare(table), method="decimals")
    assert rules(release)["spreadsheet"] == "warn"
    release.write(tmp_path / "out.csv", report=tmp_path / "r.html")
    for page in tmp_path.glob("*.html"):
        assert "<script>" not in page.read_text()
        assert "&lt;script&gt;" in page.read_text()


def test_what_is_not_judged_or_exposed_stops_and_more_gaps_heal_it(tmp_path: Path):
    table = made()
    lone = publish(table, rare(table).sensitive, rare(table))
    assert rules(lone)["audit"] == "stop"
    assert not lone.certificate.holds
    with pytest.raises(GuardError, match="audit"):
        lone.write(tmp_path / "out.csv")
    assert rules(publish(table, gaps_of(table)))["audit"] == "stop"  # no rules: not audited
    assert "audit" not in rules(publish(table, gaps_of(table), rare(table)))
    assert list(tmp_path.iterdir()) == []
    agreed = publish(table, rare(table).sensitive, rare(table), accept={"audit": "both have agreed"})
    certificate = agreed.write(tmp_path / "out.csv")
    assert not certificate.holds
    said = "DOES NOT HOLD: the audit is not passed, which was accepted with a reason"
    assert certificate.text().startswith(f"suffice certificate: {said}\n")
    assert "NOT KEPT at the audit, accepted" in certificate.text()
    assert "both have agreed" in certificate.text()
    paper = json.loads((tmp_path / "out.csv.certificate.json").read_text())
    assert (paper["holds"], paper["verdict"]) == (False, said)
    assert [claim["statistic"] for claim in paper["claims"] if not claim["holds"]] == ["protection"]
    page = (tmp_path / "out.csv.certificate.html").read_text()
    assert said in page
    assert "every promise is kept" not in page


def test_published_cells_are_drawn_as_published():
    rows = {"a": list("xxxyyyzzz"), "b": list("uvw") * 3, "v": [3.0, 2.0, -5.0, 5.0, 7.5, 9.25, 4.5, 8.0, 6.25]}
    table = Table.of_records(rows, ["a", "b"], ["v"])
    inner = np.isin(np.arange(len(table)), [table.find(a, b) for a in "xyz" for b in "uvw"])
    release = publish(table, inner, find_sensitive(table, [PPercent(10)], "v"), method="decimals")
    frame = release.frame
    noisy = frame.set_column(2, "v", pa.array([float(v) + 1e-12 for v in frame["v"].to_pylist()]))  # as sums may be off
    release = replace(release, made=replace(release.made, frame=noisy))
    assert CellsOfFile.read(table, noisy, ["v"]).cells[table.find("x", "Total"), 0] != 0
    for private in (False, True):
        (picture,) = release.pictures(private)
        assert {codes[0]: row[picture.across.index("Total")].text for codes, row in picture.down}["x"] == "0"


def test_modulo_and_few_dimensions_stop_together():
    assert "degrees-of-freedom" not in rules(free())
    assert "degrees-of-freedom" not in rules(publish(made(), np.zeros(25, dtype=bool)))
    table = made()
    corner = gaps_of(table, 2, 2)
    rule = find_sensitive(table, [MinimumFrequency(2)])
    assert rules(publish(table, corner, rule, method="decimals"))["degrees-of-freedom"] == "warn"
    divided = rules(publish(table, corner, rule, method=Fill(modulo=4)))
    assert (divided["modulo"], divided["degrees-of-freedom"]) == ("stop", "stop")


def test_whole_decimals_stop():
    """Residuals of nearly no size leave fits, which are whole here."""
    table = made(np.where(np.eye(4) > 0, 10, 10))
    release = publish(table, gaps_of(table), rare(table), method=Fill(spread=1e-9))
    assert rules(release)["whole-numbers"] == "stop"
    assert "whole-numbers" not in rules(publish(table, gaps_of(table), rare(table), method="decimals"))


def test_a_key_for_tests_is_not_for_release():
    assert rules(free(seed=Seed.for_tests(1)))["seed"] == "stop"


def test_another_pattern_of_the_same_table_is_judged_with_the_first(tmp_path: Path):
    """The first pattern crosses rows p and q, the second r and s: together they show everything."""
    seed = Seed.new_file(tmp_path / "key")
    counts = N + 20
    counts[0, 0], counts[2, 2] = 1, 30
    table = made(counts)
    rule = rare(table)
    first = gaps_of(table)
    publish(table, first, rule, seed=seed).write(tmp_path / "one.csv")
    assert "repeated-release" not in rules(publish(table, first, rule, method="decimals", seed=seed))
    fewer = np.isin(np.arange(len(table)), [table.find(a, b) for a in "pq" for b in ("b0", "b1", "b2")])
    other = np.isin(np.arange(len(table)), [table.find(a, b) for a in "prs" for b in ("b0", "b1", "b3")])
    early = publish(table, other, rule, seed=seed)
    publish(table, fewer, rule, seed=seed).write(tmp_path / "two.csv")
    with pytest.raises(GuardError, match="repeated-release"):  # what was released since counts, too
        early.write(tmp_path / "three.csv")
    last = publish(table, other, rule, seed=seed)
    assert "audit" not in rules(last)
    assert rules(last)["repeated-release"] == "stop"
    with pytest.raises(GuardError, match="repeated-release"):
        last.write(tmp_path / "three.csv")
    assert len(Ledger.beside(seed).entries()) == 2  # type: ignore[union-attr]
    following = made(np.random.default_rng(2).integers(20, 90, (4, 4)))  # another year: other data
    assert "repeated-release" not in rules(publish(following, other, rare(following), seed=seed))


def test_a_table_beside_microdata_in_one_ledger(tmp_path: Path):
    from suffice import Ipso, Roles, protect
    from suffice.demo import firms

    seed = Seed.new_file(tmp_path / "key")
    free("suppress", seed=seed).write(tmp_path / "t.csv")
    roles = Roles(confidential=["wages"], given="C(region)")
    protect(firms(300), roles, Ipso(), seed).write(tmp_path / "rows.parquet")
    assert rules(free("suppress", seed=seed)) == {}


def test_what_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    release = free(sources=[tmp_path / "data.csv"])
    with pytest.raises(UsageError, match="the data"):
        release.write(tmp_path / "data.csv", force=True)

    def broken(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(draft.Draft, "name", broken)
        with pytest.raises((FileError, OSError)):
            release.write(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []

    def damaged(table: object, path: str, kind: str) -> None:
        frame = release.frame.to_pandas()
        frame.loc[0, "count"] += 1
        frame.to_csv(path, index=False)

    with monkeypatch.context() as patch:
        patch.setattr(module, "write_table", damaged)
        with pytest.raises(NotPreservedError, match="NOT KEPT"):
            release.write(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


def test_several_values_each_need_rules():
    rng = np.random.default_rng(3)
    data = {"a": rng.choice(list("xyz"), 200).tolist(), "b": rng.choice(list("uvw"), 200).tolist()}
    data |= {"v": rng.gamma(2, 100, 200).tolist(), "w": rng.gamma(2, 50, 200).tolist()}
    table = Table.of_records(data, ["a", "b"], ["v", "w"])
    gaps = np.isin(np.arange(len(table)), [table.find(x, y) for x in "xyz" for y in "uvw"])
    both = [find_sensitive(table, [PPercent(10)], name) for name in ("v", "w")]
    release = publish(table, gaps, both, method="decimals")
    assert not any(finding.blocks for finding in release.findings)
    assert release.frame.column_names == ["a", "b", "v", "w", "suppressed"]
    assert rules(publish(table, gaps, both[:1], ["v", "w"]))["audit"] == "stop"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"method": "decimal"}, "Did you mean 'decimals'"),
        ({"accept": {"audits": "x"}}, "Did you mean 'audit'"),
        ({"accept": {"audit": " "}}, "needs a reason"),
        ({"values": "wages"}, "no value 'wages'"),
        ({"values": ["count", "count"]}, "Name each once"),
    ],
)
def test_wrong_requests_get_a_sentence(wrong: dict[str, object], said: str):
    with pytest.raises(UsageError, match=said):
        free(**{"method": "suppress", **wrong})  # type: ignore[arg-type]


def test_what_is_sensitive_in_another_table_gets_a_sentence():
    table = made()
    for other in (made(N[:3]), made(N[::-1])):
        with pytest.raises(UsageError, match="was found in another table"):
            publish(table, gaps_of(table), rare(other))


def test_a_pattern_of_another_table_gets_a_sentence():
    for wrong in ([True], True, np.zeros((25, 2))):
        with pytest.raises(UsageError, match="marks and the table 25 cells"):
            publish(made(), wrong)  # type: ignore[arg-type]
