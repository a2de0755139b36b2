"""No value, no rare category and no byte of the key leaves by a side door.

What a release shows of the original by right: given and kept columns, row by row, and constants. Everything else is
looked for in every public artefact: certificate as text, JSON and HTML, the public page, metadata of the release,
representations of public objects, messages, output, log, ledger and progress.
"""

from __future__ import annotations

import ast
import hashlib
import json
import logging
import re
import socket
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import suffice
from suffice import Ipso, Plan, ResidualCorrelation, Roles, Romm, ScoreCorrelation, Seed, cli, protect, verify
from suffice.errors import SufficeError
from suffice.method.method import Method
from suffice.report import public

SOURCE = Path(suffice.__file__).parent
RARE, SECRET = "Zwergdorf", "Ms Smith"
METHODS: list[Method] = [Ipso(), ResidualCorrelation(d=0.5), ScoreCorrelation(d=0.3), Romm(lam=0.5)]


def made(number: int, n: int) -> pd.DataFrame:
    """Numbers with seven digits, a category with two records, names of people, an index with names in it."""
    rng = np.random.default_rng(number)
    x = rng.uniform(100_000, 999_999, n).round(3)  # no year is such a number
    frame = pd.DataFrame(
        {
            "name": [f"{SECRET} {i}" for i in range(n)],
            "place": [RARE, RARE, *rng.choice(["north", "south"], n - 2)],
            "x": x,
            "y": (2 * x + rng.normal(0, 70_000, n)).round(3),
            "z": (100_000 + np.exp(rng.normal(9, 1, n))).round(3),
        },
        index=pd.Index([f"{SECRET} of row {i}" for i in range(n)], name="label"),
    )
    frame.attrs["source"] = SECRET
    return frame


def words(values: Any) -> set[str]:
    """Each number as it may be written: all digits, and rounded to four and to five."""
    return {form for value in values for form in (repr(float(value)), f"{value:.1f}", f"{value:.5g}", f"{value:.4g}")}


def tokens(text: str) -> set[str]:
    return set(re.findall(r"[0-9][0-9.,e+-]*[0-9]", text))


def told(error: BaseException | None) -> str:
    """Everything that a traceback could print of an error."""
    return "" if error is None else f"{error} {error!r} {told(error.__cause__)} {told(error.__context__)}"


def clean(text: str, secrets: set[str], key: str) -> None:
    assert key not in text
    text = re.sub(r"\b[0-9a-f]{64}\b", "", text)  # the digest of the released file
    assert RARE not in text
    assert SECRET not in text
    assert tokens(text) & secrets == set()
    assert bytes.fromhex(key).hex()[:16] not in text
    assert socket.gethostname() not in text or len(socket.gethostname()) < 4
    assert "/tmp" not in text
    assert str(SOURCE) not in text


def artefacts(release: suffice.Release) -> str:
    """All that may be shown to the public, or that shows up by accident."""
    certificate = release.certificate
    done = release.done
    objects = [release, done, done.strata[0], release.rows, release.seed, release.method, release.assessment,
               certificate,
               release.findings, release.design, done.profile, done.profile.spread, done.released, done.aligned,
               done.leaving, done.original, done.stream, done.stream.block(0), *done.seen.values()]  # fmt: skip
    texts = [certificate.text(), certificate.to_json(), certificate._repr_html_(), public.page(certificate)]
    texts += [each._repr_html_() for each in (release, release.findings, release.method)]
    return "\n".join([*texts, *map(repr, objects), *map(str, objects), *map(str, release.findings)])


@settings(max_examples=25, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(
    number=st.integers(0, 2**32),
    n=st.integers(30, 80),
    key=st.binary(min_size=16, max_size=32).filter(lambda key: len(set(key)) > 8),
    method=st.sampled_from(METHODS),
    kind=st.sampled_from(["parquet", "csv", "feather"]),
    merge=st.sampled_from([0, 5]),
)
def test_nothing_leaves_by_a_side_door(number, n, key, method, kind, merge):
    frame = made(number, n)
    secrets = words(frame["y"]) | words(frame["z"]) | words(frame["x"])
    roles = Roles(confidential=["y", "z"], given="x + C(place)", identifiers=["name"], merge_below=merge)
    stages: list[str] = []
    logged = StringIO()
    logging.getLogger().addHandler(handler := logging.StreamHandler(logged))
    with TemporaryDirectory() as folder, redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        root = Path(folder)
        (root / "key").touch(0o600)
        (root / "key").write_text(key.hex())
        data = root / f"data.{kind}"
        if kind == "parquet":
            frame.to_parquet(data)
        elif kind == "csv":
            frame.to_csv(data, index=False)
        else:
            feather.write_feather(frame, str(data))
        release = protect(
            data, roles, method, Seed.from_file(root / "key"), progress=lambda stage, *_: stages.append(stage)
        )
        shown = [artefacts(release), repr(roles), *stages]
        try:
            release.write(root / f"out.{kind}")
            shown += [(root / f"out.{kind}.certificate.json").read_text(), (root / "key.ledger").read_text()]
            shown += [
                str(verify(data, root / f"out.{kind}", roles)),
                verify(data, root / f"out.{kind}", roles).to_json(),
            ]
            released(root / f"out.{kind}", frame, key)
        except SufficeError as error:
            shown.append(told(error))
            assert [path.name for path in root.iterdir() if path.name.startswith(("out", "."))] == []
    logging.getLogger().removeHandler(handler)
    assert out.getvalue() + err.getvalue() + logged.getvalue() == ""
    clean("\n".join(shown), secrets, key.hex())


def released(path: Path, frame: pd.DataFrame, key: bytes) -> None:
    """The file holds given columns, new values, and nothing else: no index, no metadata, no bounds of old values."""
    raw = path.read_bytes()
    assert SECRET.encode() not in raw
    assert key not in raw
    assert key.hex().encode() not in raw
    if path.suffix == ".parquet":
        metadata = pq.ParquetFile(path).metadata
        assert set(metadata.metadata or {}) <= {b"ARROW:schema"}
        assert pq.ParquetFile(path).schema_arrow.metadata is None
        table = pq.read_table(path)
        for j, name in enumerate(table.column_names):
            bounds = metadata.row_group(0).column(j).statistics
            if name in ("y", "z") and bounds is not None and bounds.has_min_max:
                assert bounds.min not in set(frame[name])
                assert bounds.max not in set(frame[name])
    elif path.suffix == ".feather":
        table = feather.read_table(path)
        assert table.schema.metadata is None
    else:
        table = pa.Table.from_pandas(pd.read_csv(path), preserve_index=False)
    assert table.column_names == ["place", "x", "y", "z"]
    assert not np.isin(table["y"].to_numpy(), frame["y"]).any()
    assert not np.isin(table["z"].to_numpy(), frame["z"]).any()
    assert sorted(table["x"].to_numpy()) == sorted(frame["x"])


def test_the_search_finds_what_it_looks_for():
    """A value, a rare category or a key that is written is found."""
    frame = made(1, 40)
    value, key = float(frame["y"].iloc[3]), "5afe3c91d07be2486fa51d93c4780e6b5afe72d1890bcf3e64a75d2c18f09be3"
    secrets = words(frame["y"])
    clean("60 rows, ratio 1.5e-15, 0.041", secrets, key)
    for leak in (f"mean of {value}", f"about {value:.5g}", f"near {value:.4g}", f"in {RARE}", f"of {SECRET} 3", key):
        with pytest.raises(AssertionError):
            clean(leak, secrets, key)


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_metadata_and_unused_levels_stay_behind(tmp_path, kind):
    """Of a column's metadata, a frame's attributes and a dictionary, only what released rows show is released."""
    frame = made(3, 50)
    frame["place"] = pd.Categorical(frame["place"].replace(RARE, "north"), categories=[RARE, "south", "north"])
    table = pa.Table.from_pandas(frame)
    at = table.schema.get_field_index("x")
    table = table.set_column(at, pa.field("x", pa.float64(), metadata={"note": SECRET}), table["x"])
    (pq.write_table if kind == "parquet" else feather.write_feather)(table, str(tmp_path / f"data.{kind}"))
    roles = Roles(confidential=["y", "z"], given="x + place")
    for data in (frame, table, tmp_path / f"data.{kind}"):
        release = protect(data, roles, Ipso())
        release.write(tmp_path / "out.feather", force=True)
        raw = (tmp_path / "out.feather").read_bytes()
        assert SECRET.encode() not in raw
        assert RARE.encode() not in raw
    shown = protect(frame, roles, Ipso()).frame
    assert shown.attrs == {}
    assert RARE not in shown["place"].cat.categories
    assert list(shown.index) == list(range(50))
    assert frame.attrs == {"source": SECRET}, "the user's own frame is left alone"


def test_a_failure_that_nobody_foresaw_shows_nothing(tmp_path, monkeypatch, capsys):
    """Whatever breaks inside, the command prints a type and a line."""

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError(f"{SECRET} earns 4815.1623")

    made(1, 40).to_parquet(tmp_path / "data.parquet")
    words = ["suffice", "protect", str(tmp_path / "data.parquet"), "-o", str(tmp_path / "o.csv"), "--confidential", "y"]
    for place in (
        "suffice.release.release.assess",
        "suffice.release.release.read_back",
        "suffice.protection.solution.refined",
        "suffice.design.design.Levels.of",
    ):
        with monkeypatch.context() as patch:
            patch.setattr(place, broken)
            patch.setattr(sys, "argv", [*words, "--given", "C(place)", "--merge-below", "5"])
            with pytest.raises(SystemExit) as end:
                cli.main()
        said = capsys.readouterr()
        assert end.value.code == 1
        assert SECRET not in said.err + said.out
        assert "4815" not in said.err + said.out
        assert [path.name for path in tmp_path.iterdir()] == ["data.parquet"]


@pytest.mark.parametrize("content", ["a,b\n1,{s}\n2,3,4\n", 'a,b\n1,"{s}\n', "a,b\n{s},2\n3,4\n", "a,a\n{s},2\n"])
def test_no_parser_quotes_a_cell_not_even_behind_the_message(tmp_path, content):
    path = tmp_path / "data.csv"
    path.write_text(content.format(s=f"{SECRET} 4815.1623"))
    with pytest.raises(SufficeError) as caught:
        protect(path, Roles(confidential=["a"]), Ipso())
    assert SECRET not in told(caught.value)
    assert "4815" not in told(caught.value)


def test_a_plan_holds_no_key_and_a_seed_shows_none(tmp_path):
    key = "c0ffee" + hashlib.sha256(b"leaks").hexdigest()
    (tmp_path / "key").touch(0o600)
    (tmp_path / "key").write_text(key)
    seed = Seed.from_file(tmp_path / "key")
    plan = Plan.of({"data": {"path": "d.csv"}, "roles": {"confidential": ["y"]}, "method": [{"name": "ipso"}],
                    "seed": {"key_file": "key"}, "release": {"path": "o.csv"}})  # fmt: skip
    stream = seed.derive("a")
    for shown in (repr(seed), str(seed), plan.to_toml(), repr(plan), repr(stream), str(stream), f"{seed!s:>40}"):
        assert key[:8] not in shown
        assert stream._key.hex()[:8] not in shown
        assert repr(bytes.fromhex(key))[2:10] not in shown
    assert json.loads(json.dumps(seed.digest("a"))) not in key


# ---- the source itself

FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__", "input"}
FORBIDDEN_ATTRIBUTES = {"query", "read_pickle", "to_pickle", "system", "popen"}
FORBIDDEN_MODULES = {
    "pickle",
    "marshal",
    "shelve",
    "dill",
    "joblib",
    "urllib",
    "requests",
    "http",
    "socket",
    "subprocess",
}


def of_a_tree(node: ast.Attribute) -> bool:
    """Nearest neighbours: KDTree(...).query(points) runs no text."""
    made = node.value
    return node.attr == "query" and isinstance(made, ast.Call) and ast.unparse(made.func) == "KDTree"


def offences(tree: ast.AST) -> list[str]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FORBIDDEN_CALLS:
            found.append(node.func.id)
        if isinstance(node, ast.Attribute) and node.attr in FORBIDDEN_ATTRIBUTES and not of_a_tree(node):
            found.append(node.attr)
        if isinstance(node, ast.keyword) and node.arg in ("allow_pickle", "shell"):
            found.append(node.arg)
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.split(".")[0] in FORBIDDEN_MODULES]
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in FORBIDDEN_MODULES:
            found.append(str(node.module))
    return found


OWN_PIPES = {"comparison/workers.py": {"pickle", "subprocess"}}
"""What starts processes of this package and talks with these alone, through pipes that nobody else holds."""


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_the_source_runs_no_text_reads_no_pickle_and_calls_nobody(path):
    own = OWN_PIPES.get(path.relative_to(SOURCE).as_posix(), set())
    assert {*offences(ast.parse(path.read_text(encoding="utf-8")))} == own


@pytest.mark.parametrize(
    "line", ["eval('1')", "import pickle", "from pickle import loads", "df.query('a > 1')", "os.system('ls')",
             "np.load(f, allow_pickle=True)", "from urllib.request import urlopen"],
)  # fmt: skip
def test_the_search_of_the_source_finds_what_it_looks_for(line):
    assert offences(ast.parse(line))
