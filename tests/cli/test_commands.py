"""Commands, run as a user runs them: what they print where, what they write, how they end."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

from suffice import Ipso, cli
from suffice.demo import firms
from suffice.rows.threads import cores

CONFIDENTIAL = ["--confidential", "turnover,wages,taxes"]
ROLES = [*CONFIDENTIAL, "--given", "C(region) + log(employees)", "--identifiers", "firm_id"]
KEY = "5afe3c91d07be2486fa51d93c4780e6b5afe72d1890bcf3e64a75d2c18f09be3"
DROPPED = {"firm_id", "industry", "size", "other_costs", "total_costs", "weight"}


class Ended:
    """What a command left behind."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def document(self) -> dict:
        return json.loads(self.out)


@pytest.fixture
def suffice(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """suffice(*words): the command, in a folder with firms.parquet and a key."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("suffice.progress.SOON", 3600.0)  # a busy machine would say how far it has come
    pq.write_table(firms(400), "firms.parquet")
    Path("secret.key").touch(0o600)
    Path("secret.key").write_text(KEY)

    def run(*words: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["suffice", *map(str, words)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            cli.main()
        said = capsys.readouterr()
        return Ended(int(end.value.code or 0), said.out, said.err)

    return run


@pytest.fixture
def protect(suffice):
    return lambda *words: suffice("protect", "firms.parquet", "-o", "out.parquet", *ROLES, *words)


def files() -> set[str]:
    return {path.name for path in Path().iterdir()} - {"firms.parquet", "secret.key"}


def test_protect_writes_a_release_and_its_certificates(protect):
    ended = protect("--key-file", "secret.key")
    assert ended.code == 0
    assert ended.err == ""
    assert "certificate: HOLDS" in ended.out
    assert "out.parquet.certificate.html" in ended.out
    assert {"out.parquet", "out.parquet.certificate.json", "out.parquet.certificate.html"} <= files()
    before, after = pq.read_table("firms.parquet"), pq.read_table("out.parquet")
    assert set(before.column_names) - set(after.column_names) == DROPPED
    one, two = (np.cov([t["turnover"].to_numpy(), t["wages"].to_numpy()]) for t in (before, after))
    assert np.abs(one / two - 1).max() < 1e-12
    assert not np.array_equal(np.sort(before["wages"].to_numpy()), np.sort(after["wages"].to_numpy()))


def test_without_a_key_it_says_what_that_means(protect):
    assert "cannot be repeated" in protect().out
    assert "no ledger" in protect("--force").out
    assert "cannot be repeated" not in protect("--force", "--key-file", "secret.key").out


def test_the_key_decides(suffice):
    def released(name: str, *key: str) -> pa.Table:
        assert suffice("protect", "firms.parquet", "-o", name, *ROLES, *key).code == 0
        return pq.read_table(name)

    one, two = (released(f"{i}.parquet", "--key-file", "secret.key") for i in (1, 2))
    assert one.equals(two)
    assert not one.equals(released("3.parquet"))


def test_json_is_one_document_and_nothing_else(protect):
    ended = protect("--json")
    assert ended.document["holds"] is True
    assert ended.document["written"][0] == "out.parquet"
    assert {finding["level"] for finding in ended.document["findings"]} <= {"note", "warn"}
    assert ended.err == ""


def test_json_of_a_failure(protect):
    ended = protect("--json", "--method", "ipsso")
    assert ended.code == 2
    assert ended.document["error"]["exit_code"] == 2
    assert "ipsso" in ended.err


def test_quiet_prints_nothing(protect):
    ended = protect("--quiet")
    assert (ended.code, ended.out, ended.err) == (0, "", "")


def test_report_is_private(protect):
    ended = protect("--report", "private.html")
    assert "private.html" in ended.out
    assert Path("private.html").stat().st_mode & 0o777 == 0o600
    assert "CONFIDENTIAL" in Path("private.html").read_text()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_public_files_hold_no_value_no_rare_category_and_no_key(suffice, seed):
    """Of the original: no number of four digits or more, no category of one record, no byte of the key."""
    table = firms(300, seed)
    rare = pa.array(["Nowhere", "Elsewhere", *table["region"].to_pylist()[2:]])
    table = table.set_column(1, "region", rare)
    pq.write_table(table, "firms.parquet")
    words = ("protect", "firms.parquet", "-o", "out.parquet", *ROLES, "--merge-below", "5")
    ended = suffice(*words, "--key-file", "secret.key")
    assert ended.code == 0, ended.err
    names = ("out.parquet.certificate.json", "out.parquet.certificate.html")
    public = ended.out + "".join(Path(name).read_text() for name in names)
    digest = hashlib.sha256(Path("out.parquet").read_bytes()).hexdigest()
    assert public.count(digest) == 3
    public = public.replace(digest, "")
    numbers = set(re.findall(r"\d+(?:\.\d+)?", public))
    for name in ("turnover", "wages", "taxes", "firm_id"):
        values = {str(value).removesuffix(".0") for value in table[name].to_pylist()}
        assert not {value for value in values if len(value) >= 4} & numbers
    assert "Nowhere" not in public
    assert "Elsewhere" not in public
    assert not any(KEY[i : i + 4] in public for i in range(4))
    metadata = str(pq.read_metadata("out.parquet").metadata)
    assert "firms" not in metadata
    assert "secret" not in metadata


def test_outputs_that_exist_are_not_replaced_without_force(protect):
    Path("out.parquet").write_text("mine")
    ended = protect()
    assert ended.code == 7
    assert "--force" in ended.err
    assert Path("out.parquet").read_text() == "mine"
    assert protect("--force").code == 0


@pytest.mark.parametrize("report", ["firms.parquet", "secret.key", "out.parquet"])
def test_the_report_never_replaces_data_key_or_release(protect, report):
    before = Path("firms.parquet").read_bytes(), Path("secret.key").read_bytes()
    ended = protect("--key-file", "secret.key", "--force", "--report", report)
    assert ended.code == 2
    assert (Path("firms.parquet").read_bytes(), Path("secret.key").read_bytes()) == before


def test_an_output_of_unknown_kind_is_refused_before_the_work(suffice):
    ended = suffice("protect", "none.parquet", "-o", "out.docx", *ROLES)
    assert ended.code == 2
    assert "docx" in ended.err


def test_names_cannot_command_the_terminal(suffice):
    table = firms(400)
    pq.write_table(
        table.rename_columns(["\x1b[2J" if n == "wages" else n for n in table.column_names]), "firms.parquet"
    )
    words = ("--confidential", "\x1b[2J,taxes", "--given", "C(region)")
    ended = suffice("protect", "firms.parquet", "-o", "out.parquet", *words)
    assert ended.code == 0
    assert "\x1b" not in ended.out
    assert r"\x1b[2J" in ended.out


STOPPED = ("--method", "residual-correlation", "--param", "d=0.95", "--key-file", "secret.key")


def test_a_stop_writes_nothing_and_names_the_option(protect):
    ended = protect(*STOPPED)
    assert ended.code == 4
    assert '--accept residual-correlation="REASON"' in ended.err
    assert files() == set()


def test_a_stop_lets_the_holder_look(protect):
    ended = protect(*STOPPED, "--report", "private.html", "--json")
    assert ended.code == 4
    assert files() == {"private.html"}
    assert ended.document["written"] == ["private.html"]
    assert "residual-correlation" in {f["rule"] for f in ended.document["findings"] if f["level"] == "stop"}


def test_an_accepted_stop_is_written_with_its_reason(protect):
    stops = {f["rule"] for f in protect(*STOPPED, "--json").document["findings"] if f["level"] == "stop"}
    accepted = [word for rule in stops for word in ("--accept", f"{rule}=agreed by contract")]
    ended = protect(*STOPPED, *accepted)
    assert ended.code == 0
    assert "accepted: agreed by contract" in ended.out


def test_an_unknown_rule_is_refused_with_the_list(protect):
    ended = protect("--accept", "outlyers=fine")
    assert ended.code == 2
    assert "Did you mean 'outliers'?" in ended.err
    assert "leverage" in ended.err


def test_never_has_no_override(suffice):
    table = firms(400)
    alone = pa.array(["only one", *["many"] * 399])
    pq.write_table(table.append_column("alone", alone), "firms.parquet")
    words = ("protect", "firms.parquet", "-o", "out.parquet", *CONFIDENTIAL, "--given", "alone")
    ended = suffice(*words, "--accept", "leverage=please")
    assert ended.code == 4
    assert "no override" in ended.err
    assert "--accept leverage" not in ended.err
    assert "only one" not in ended.err + ended.out
    assert files() == set()


@pytest.mark.parametrize("words", [("mixture", "--param", "d=0.1"), ("mixture:d=0.1",)], ids=len)
def test_then_makes_a_masking_method_exact(protect, words):
    ended = protect("--method", *words, "--then", "restore:fill=false", "--json", "--key-file", "secret.key")
    assert ended.code == 0
    assert ended.document["certificate"]["method"] == "mixture then restore"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--confidental", "a"], 2, "--confidential"),
        (["--then-param", "fill=true"], 2, "--then"),
        (["--method", "pca-mask", "--method", "restore"], 2, "--then NAME"),
        (["--method", "mixture", "--then", "restore", "--then", "rotate"], 2, "[[method]]"),
        (["--param", "by"], 2, "name=value"),
        (["--method", "romm", "--param", "lamda=1"], 2, "Did you mean 'lam'?"),
        (["--method", "romm:lamda=1"], 2, "Did you mean 'lam'?"),
        (["--method", "romm:lam=1", "--param", "lam=2"], 2, "lam is given twice"),
        (["--key-file", "none.key"], 7, "key file"),
        (["--given", "{__import__('os').system('true')}"], 2, ""),
        (["--given", "regio"], 3, "Did you mean 'region'?"),
    ],
)
def test_a_wrong_request(protect, words, code, said):
    ended = protect(*words)
    assert ended.code == code
    assert said in ended.err
    assert "Traceback" not in ended.err
    assert files() == set()


def test_missing_data(suffice):
    ended = suffice("protect", "none.parquet", "-o", "out.parquet", *CONFIDENTIAL)
    assert ended.code in (3, 7)
    assert "Traceback" not in ended.err


def test_run_does_what_the_plan_says(suffice):
    plan = """
        [data]
        path = "../firms.parquet"
        [roles]
        confidential = ["turnover", "wages"]
        given = "C(region)"
        [[method]]
        name = "ipso"
        [release]
        path = "out.csv"
    """
    Path("plans").mkdir()
    Path("plans/plan.toml").write_text(plan)
    assert suffice("run", "plans/plan.toml").code == 0
    assert csv.read_csv("plans/out.csv").column_names == ["region", "turnover", "wages"]
    ended = suffice("run", "plans/plan.toml")
    assert ended.code == 7
    assert suffice("run", "plans/plan.toml", "--force").code == 0


def test_the_report_never_replaces_the_plan(suffice):
    plan = """
        data.path = "firms.parquet"
        roles.confidential = ["turnover"]
        release.path = "out.csv"
        [[method]]
        name = "ipso"
    """
    Path("plan.toml").write_text(plan)
    Path("other.toml").symlink_to("plan.toml")
    for report in ("plan.toml", "other.toml"):
        ended = suffice("run", "plan.toml", "--force", "--report", report)
        assert ended.code == 2
        assert "The report is the plan" in ended.err
    assert Path("plan.toml").read_text() == plan
    assert files() == {"plan.toml", "other.toml"}


def test_a_stopped_plan_says_what_to_put_into_the_plan(suffice):
    plan = """
        data.path = "firms.parquet"
        roles.confidential = ["turnover", "wages"]
        release.path = "out.csv"
        [[method]]
        name = "residual-correlation"
        d = 0.95
    """
    Path("plan.toml").write_text(plan)
    ended = suffice("run", "plan.toml")
    assert ended.code == 4
    assert '[accept] residual-correlation = "REASON"' in ended.err


def test_verify(suffice, protect):
    protect()
    ended = suffice("verify", "firms.parquet", "out.parquet", *ROLES)
    assert ended.code == 0
    assert suffice("verify", "firms.parquet", "out.parquet", *ROLES, "--json").document
    table = pq.read_table("out.parquet")
    wages = table["wages"].to_numpy().copy()
    wages[0] += 1
    pq.write_table(table.set_column(table.column_names.index("wages"), "wages", pa.array(wages)), "edited.parquet")
    ended = suffice("verify", "firms.parquet", "edited.parquet", *ROLES)
    assert ended.code == 6
    assert "does not keep" in ended.err
    ended = suffice("verify", "firms.parquet", "edited.parquet", *ROLES, "--json")
    assert (ended.code, ended.document["error"]["exit_code"], ended.document["holds"]) == (6, 6, False)


def test_verify_stops_at_copies_and_at_another_file_than_the_certified_one(suffice, protect):
    protect()
    names = pq.read_table("out.parquet").column_names
    pq.write_table(pq.read_table("firms.parquet", columns=names), "copy.parquet")
    ended = suffice("verify", "firms.parquet", "copy.parquet", *ROLES)
    assert ended.code == 4
    assert "must not be released: copies" in ended.err
    ended = suffice("verify", "firms.parquet", "copy.parquet", *ROLES, "--json")
    assert (ended.code, ended.document["holds"], ended.document["passes"]) == (4, True, False)
    pq.write_table(pq.read_table("out.parquet"), "out.parquet", compression="none")
    ended = suffice("verify", "firms.parquet", "out.parquet", *ROLES)
    assert ended.code == 4
    assert "must not be released: digest" in ended.err


def test_the_command_of_the_certificate_verifies(suffice):
    more = ("--bound", "turnover=0:", "--edit", "taxes <= turnover", "--groups", "region", "--weight", "weight")
    walk = ("--method", "rotate", "--param", "sweeps=3")
    words = ("firms.parquet", "-o", "a file.parquet", *CONFIDENTIAL, *more, *walk)
    told = suffice("protect", *words, "--json", "--accept", "outliers=a test", "--accept", "giants=a test")
    assert told.code == 0, told.err
    command = shlex.split(told.document["certificate"]["verify"].replace("ORIGINAL", "firms.parquet"))
    ended = suffice(*command[1:])
    assert ended.code == 0, ended.err
    assert "bounds and edits, in every record" in ended.out
    assert "groups by region" in ended.out
    assert suffice(*command[1:-1], "no_such_column").code == 3


def test_key_new(suffice):
    assert suffice("key", "new", "mine.key").code == 0
    assert Path("mine.key").stat().st_mode & 0o777 == 0o600
    ended = suffice("key", "new", "mine.key")
    assert ended.code == 7
    key = Path("mine.key").read_text().split()[-1]
    assert key not in ended.out + ended.err


def test_methods(suffice):
    assert "residual-correlation" in suffice("methods").out
    one = suffice("methods", "romm").out
    assert "lam:" in one
    assert "references" in one
    assert set(suffice("methods", "romm", "--json").document) == {"romm"}
    assert suffice("methods", "rom").code == 2


def test_demo(suffice):
    ended = suffice("demo", "demo")
    assert ended.code == 0, ended.err
    assert "certificate: HOLDS" in ended.out
    assert {path.name for path in Path("demo").iterdir()} >= {
        "firms.parquet",
        "plan.toml",
        "secret.key",
        "release.parquet",
        "release.parquet.certificate.json",
        "release.parquet.certificate.html",
        "report.html",
        "compared",
    }
    assert "recommended: rotate:zeros=free" in ended.out
    assert {path.name for path in Path("demo/compared").iterdir()} >= {"comparison.html", "comparison.png"}
    for line in statistics(ended.out):
        *_, one, two = line.split()
        assert abs(float(one) - float(two)) <= 1e-10 * abs(float(one)), line
    assert min(pq.read_table("demo/release.parquet")["turnover"].to_pylist()) >= 0
    assert suffice("demo", "demo").code == 7
    assert suffice("demo", "demo", "--force").code == 0


def statistics(out: str) -> Iterator[str]:
    lines = [
        line
        for line in out.splitlines()
        if line.startswith(("  weighted mean", "  weighted sd", "  weighted corr", "  weighted reg"))
    ]
    assert len(lines) > 12
    return iter(lines)


def test_an_unexpected_failure_hides_its_text(suffice, monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise ValueError("salary 123456 of Ms Smith")

    monkeypatch.setattr("suffice.cli.methods.show", broken)
    ended = suffice("methods")
    assert ended.code == 1
    assert ended.err.count("\n") == 1
    assert "ValueError" in ended.err
    assert "123456" not in ended.err


@pytest.mark.parametrize(
    "error",
    [
        MemoryError("123456"),
        RuntimeError("can't start new thread"),
        OSError(12, "Cannot allocate memory"),
        ImportError("lib.so: failed to map segment from shared object"),
        pa.ArrowMemoryError("malloc of size 123456 failed"),
    ],
)
def test_memory_that_runs_out_is_a_sentence(suffice, monkeypatch, error):
    def starving(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("suffice.cli.methods.show", starving)
    ended = suffice("methods")
    assert ended.code == 7
    assert "not enough memory" in ended.err
    assert "123456" not in ended.err


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not keep to this limit")
@pytest.mark.parametrize("words", [("protect", "firms.parquet", "-o", "out.csv", *ROLES), ("methods",)])
def test_too_few_addresses_are_a_sentence_before_a_library_waits_for_them(words):
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (400 * 2**20,) * 2)\n"
        f"sys.argv = ['suffice', *{words!r}]; from suffice.cli import main; main()"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 7
    assert "not enough memory" in ended.stderr
    assert "400 MB" in ended.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not keep to this limit")
def test_few_addresses_are_not_reserved_by_libraries(tmp_path):
    """Arrow's own memory would take a gigabyte at once, and compilers abort: requests ended without a sentence."""
    csv.write_csv(pa.table({"y": np.arange(60.0) ** 1.5, "z": np.arange(60.0) % 7}), tmp_path / "in.csv")
    words = ("protect", "in.csv", "-o", "out.csv", "--confidential", "y,z", "--method", "microaggregate-noise")
    program = (
        "import atexit, resource, sys; resource.setrlimit(resource.RLIMIT_AS, (1600 * 2**20,) * 2)\n"
        "def told():\n"
        "    import pyarrow\n"
        "    print(pyarrow.default_memory_pool().backend_name, 'numba' in sys.modules)\n"
        f"atexit.register(told); sys.argv = ['suffice', *{words!r}]; from suffice.cli import main; main()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path
    )
    assert ended.returncode in (0, 4)
    assert ended.stdout.split()[-2:] == ["system", "False"]


def test_few_addresses_are_for_one_thread(monkeypatch):
    assert cores() == len(os.sched_getaffinity(0))
    monkeypatch.setattr("suffice.rows.threads.addresses", lambda: 2**31)
    assert cores() == 1


@dataclass(frozen=True)
class ThreeTimes(Ipso):
    """Three data sets, each with numbers of its own."""

    @property
    def sets(self) -> int:
        return 3


def test_several_data_sets_from_the_command_line(suffice, monkeypatch):
    """A method that gives three, in the place of another; an older fourth one is named and left."""
    for room in ("suffice.catalogue", "suffice.release.protect"):
        monkeypatch.setattr(import_module(room), "chosen", lambda *_: ThreeTimes())
    Path("out-4.parquet").write_text("older")
    ended = suffice("protect", "firms.parquet", "-o", "out.parquet", *ROLES, "--report", "private.html")
    assert ended.code == 0, ended.err
    sets = [f"out-{i}.parquet" for i in (1, 2, 3)]
    papers = {f"out-1.parquet.certificate.{kind}" for kind in ("json", "html")}
    assert files() == {*sets, *papers, "private.html", "out-4.parquet"}
    assert all(name in ended.out for name in (*sets, *papers))
    assert "out-4.parquet is of an earlier release" in ended.out
    assert Path("out-4.parquet").read_text() == "older"
    again = suffice("protect", "firms.parquet", "-o", "out.parquet", *ROLES)
    assert again.code == 7
    assert "out-1.parquet exists already" in again.err
    told = suffice("protect", "firms.parquet", "-o", "more.parquet", *ROLES, "--json")
    listed = told.document["certificate"]["files"]
    assert [each["file"] for each in listed] == [f"more-{i}.parquet" for i in (1, 2, 3)]


def test_version(suffice):
    ended = suffice("--version")
    assert (ended.code, ended.out) == (0, "suffice 0.1.0\n")


def test_semicolons_decimal_commas_and_another_encoding(suffice):
    lines = [f"{i % 7 + i / 8};{(i * 37) % 101},5;Köln" for i in range(60)]
    text = "\n".join(["x;y;town", *(line.replace(".", ",") for line in lines), ""])
    Path("firms.csv").write_text(text, "cp1252")
    words = ("--confidential", "y", "--given", "x", "--keep", "town", "--encoding", "cp1252")
    assert suffice("protect", "firms.csv", "-o", "out.csv", *words).code == 0
    assert Path("out.csv").read_text("cp1252").splitlines()[0] == "x;y;town"
    told = json.loads(Path("out.csv.certificate.json").read_text())["verify"]
    words_told = shlex.split(told.replace("ORIGINAL", "firms.csv"))[1:]
    assert words_told[-2:] == ["--encoding", "cp1252"]
    assert suffice(*words_told).code == 0
    assert suffice("protect", "firms.csv", "-o", "out.parquet", *words).code == 0
    assert suffice("verify", "firms.csv", "out.parquet", *words).code == 0  # a kind of file that says its own
    ended = suffice("protect", "firms.csv", "-o", "more.csv", *words[:-2])
    assert ended.code == 3
    assert "Name its encoding" in ended.err


def test_an_interrupt_ends_with_130(suffice, monkeypatch):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("suffice.cli.methods.show", interrupted)
    assert suffice("methods").code == 130


def test_help_answers_within_half_a_second():
    """In the processor's time, so that a busy machine does not fail it."""
    before = os.times()
    subprocess.run(
        [sys.executable, "-c", "from suffice.cli import main; main()", "--help"], check=True, capture_output=True
    )
    after = os.times()
    assert after.children_user + after.children_system - before.children_user - before.children_system < 0.5


def test_help_imports_nothing_heavy():
    program = "import sys, suffice.cli.app; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()
    assert not {"numpy", "pyarrow", "pydantic", "scipy", "matplotlib", "narwhals", "jinja2"} & set(loaded)


def test_a_closed_pipe_is_no_failure_to_complain_about():
    program = "import sys; sys.argv = ['suffice', 'methods', '--json']; from suffice.cli import main; main()"
    reader = subprocess.run(
        f'"{sys.executable}" -c "{program}" | true', shell=True, capture_output=True, text=True, check=False
    )
    assert reader.stderr == ""
