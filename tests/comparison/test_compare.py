"""Methods side by side: the key decides, order and workers do not; the frontier; what is recommended, and what not."""

from __future__ import annotations

import csv
import io
import json
import os
import pickle
from collections import deque
from dataclasses import replace
from queue import SimpleQueue

import numpy as np
import pyarrow as pa
import pytest

import suffice
from suffice.comparison import workers
from suffice.comparison.candidates import candidates
from suffice.comparison.comparison import Comparison
from suffice.comparison.judgement import Judgement, beaten
from suffice.comparison.runs import Question, Run, Task
from suffice.comparison.store import Store
from suffice.comparison.workers import DIED
from suffice.demo import firms
from suffice.errors import FileError, UsageError
from suffice.plan.plan import Plan

NAMES = ["turnover", "wages", "taxes"]
ROLES = suffice.Roles(confidential=NAMES)
FEW = ["ipso", "pca-mask", ["pca-mask", "restore"]]
QUICK = {"loss": ["information-loss"], "limits": {"distance-linkage": 0.05}, "workers": 1}

pytestmark = pytest.mark.usefixtures("one_trial")


@pytest.fixture(scope="module")
def data() -> pa.Table:
    return firms(120).select(NAMES)


def key() -> suffice.Seed:
    return suffice.Seed.for_tests(5)


def test_the_key_decides_and_neither_order_nor_workers_do(data):
    one = suffice.compare(data, ROLES, FEW, 3, seed=key(), **QUICK)
    other = suffice.compare(data, ROLES, FEW[::-1], 3, seed=key(), **{**QUICK, "workers": 2})
    assert one.to_json() == other.to_json()
    new = suffice.compare(data, ROLES, FEW, 3, seed=suffice.Seed.for_tests(6), **QUICK)
    assert all(new[each.name].values("information-loss") != each.values("information-loss") for each in one)
    assert len({*one["ipso"].values("information-loss")}) == 3


@pytest.mark.parametrize("preset", ["all", "paper"])
def test_every_method_can_be_sent_to_a_worker(preset):
    for each in candidates(preset, ROLES):
        assert pickle.loads(pickle.dumps(each)) == each


def test_a_task_that_cannot_be_sent_ends_the_comparison(data):
    """A thread that dies without a word is waited for without end."""
    candidate = replace(candidates("ipso", ROLES)[0], method=lambda: None)
    request = Question(data, ROLES, (), {}, None, "tests")
    waiting, found = deque([Task(candidate, key().derive("x").block(0, "trials"), [0])]), SimpleQueue()
    process = workers._process()
    try:
        workers._fed(process, pickle.dumps(request), waiting, found)
    finally:
        process.kill()
        process.communicate()
    assert str(found.get(timeout=1)) == DIED


def test_a_run_is_a_release(data):
    """The first one is what `protect` makes with the key of the method; all are judged as `assess` judges."""
    found = suffice.compare(data, ROLES, "pca-mask", 2, seed=key(), **QUICK)
    own = suffice.Seed.of_trials(key().derive("comparison", "pca-mask").block(0, "trials"), "tests")
    release = suffice.protect(data, ROLES, "pca-mask", own)
    assert (
        found["pca-mask"].values("information-loss")[0]
        == release.assess(measures="information-loss")["information-loss"].value
    )


def test_means_and_intervals_are_those_of_the_runs(data):
    found = suffice.compare(data, ROLES, "ipso", 4, seed=key(), **QUICK)["ipso"]
    values = found.values("information-loss")
    assert found.loss.mean == pytest.approx(np.mean(values))
    assert (found.loss.low, found.loss.high) == pytest.approx(np.percentile(values, [2.5, 97.5]))


def test_what_was_ended_goes_on(data, tmp_path, monkeypatch):
    """Killed in the middle of a line, it makes what is left, and ends as if nothing had happened."""
    whole = suffice.compare(data, ROLES, FEW, 2, seed=key(), **QUICK)

    def cancel(stage, done, total):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        suffice.compare(data, ROLES, FEW, 2, seed=key(), folder=tmp_path, progress=cancel, **QUICK)
    file = tmp_path / "runs.jsonl"
    assert len(file.read_text().splitlines()) == 1 + 3
    with file.open("a") as torn:
        torn.write('{"candidate": "ip')
    told = []
    again = suffice.compare(
        data, ROLES, FEW, 2, seed=key(), folder=tmp_path, progress=lambda *now: told.append(now[1:]), **QUICK
    )
    assert again.to_json() == whole.to_json()
    assert told == [(4, 6), (5, 6), (6, 6)]
    with pytest.raises(UsageError, match="another comparison"):
        suffice.compare(data.slice(1), ROLES, FEW, 2, seed=key(), folder=tmp_path, **QUICK)
    if os.name == "posix":
        assert file.stat().st_mode & 0o077 == 0


def test_a_folder_has_a_key_of_its_own(tmp_path):
    told = []
    for _ in range(2):
        with Store.alone(tmp_path) as store:
            told.append(store.seed().digest("x"))
    assert told[0] == told[1]


def test_one_comparison_at_a_time_works_in_a_folder(data, tmp_path):
    with Store.alone(tmp_path), pytest.raises(FileError, match="Another comparison works"):
        suffice.compare(data, ROLES, "ipso", 1, seed=key(), folder=tmp_path, **QUICK)
    assert len(suffice.compare(data, ROLES, "ipso", 1, seed=key(), folder=tmp_path, **QUICK)) == 1


@pytest.mark.parametrize("text", ["one line without an end", '{"step": 1}\n{"step": 2}', "[" * 200_000 + "\n"])
def test_a_file_of_others_stays_as_it_is(data, tmp_path, text):
    """It has the name of a file of runs: its last line was cut off as if it were half a run."""
    file = tmp_path / "runs.jsonl"
    file.write_text(text)
    with pytest.raises(UsageError, match="Name another folder"):
        suffice.compare(data, ROLES, "ipso", 1, seed=key(), folder=tmp_path, **QUICK)
    assert file.read_text() == text


def test_nested_lines_are_refused(data, tmp_path):
    (tmp_path / "runs.jsonl").write_text('{"suffice": "comparison", "of": "x"}\n' + "[" * 200_000 + "\n")
    with pytest.raises(UsageError, match="changed since"):
        suffice.compare(data, ROLES, "ipso", 1, seed=key(), folder=tmp_path, **QUICK)


@pytest.mark.parametrize("name", ["runs.jsonl", "comparison.key"])
def test_links_and_pipes_in_a_folder_are_refused(data, tmp_path, name):
    """A link led the runs into another file; a pipe was read without end."""
    other, folder = tmp_path / "other", tmp_path / "folder"
    other.write_text("")
    for number, make in enumerate([lambda at: at.symlink_to(other), os.mkfifo]):
        (folder / str(number)).mkdir(parents=True)
        make(folder / str(number) / name)
        with pytest.raises(FileError, match="is no file"):
            suffice.compare(data, ROLES, "ipso", 1, folder=folder / str(number), **QUICK)
    assert not other.read_text()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"information-loss": 0.', '"information-loss": 0.0'),
        ('"stops": ["seed"]', '"stops": []'),
        ('"number": 0', '"number": 1'),
        ('"candidate": "pca-mask"', '"candidate": "ipso"'),
        ('"mark": "', '"mark": "0'),
        ('{"mark"', '["mark"'),
        ('"run": {', '"ran": {'),
    ],
)
def test_runs_that_somebody_changed_are_refused(data, tmp_path, old, new):
    suffice.compare(data, ROLES, "pca-mask", 1, seed=key(), folder=tmp_path, **QUICK)
    file = tmp_path / "runs.jsonl"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    with pytest.raises(UsageError, match="were changed"):
        suffice.compare(data, ROLES, "pca-mask", 1, seed=key(), folder=tmp_path, **QUICK)
    file.write_text(text)
    assert len(suffice.compare(data, ROLES, "pca-mask", 1, seed=key(), folder=tmp_path, **QUICK)) == 1


def contenders(*points: tuple[str, float, float, dict], keep=(), limits=None, ask=lambda _: ()) -> Comparison:
    """Of made-up runs: names of methods, linkage, loss, what else a run says."""
    judgement = Judgement.of(limits or {"linkage": 0.1}, "information-loss", keep, (), True, False)
    found = {}
    for name, risk, loss, more in points:
        (candidate,) = candidates(name, ROLES)
        found[candidate] = [
            Run(name, 0, {"distance-linkage": risk, "rank-linkage": 0.0, "information-loss": loss}, **more)
        ]
    return Comparison.of(found, judgement, 1, ask)


MADE = (
    ("rotate", 0.02, 0.1, {"keeps": ("mean", "covariance")}),
    ("ipso", 0.01, 0.2, {"keeps": ("mean", "covariance")}),
    ("pca-mask", 0.05, 0.05, {}),
    ("shuffle", 0.05, 0.3, {}),
    ("rank-swap", 0.5, 0.01, {}),
    ("householder", 0.0, 0.0, {"stops": ("giants",)}),
)


def test_the_frontier_is_what_no_other_beats():
    found = contenders(*MADE[:-1])
    assert [each.name for each in found.frontier] == ["ipso", "rotate", "pca-mask", "rank-swap"]
    assert [each.name for each in contenders(*MADE).frontier] == ["householder"]
    assert beaten([(1.0, 1.0), (1.0, 1.0), None]) == [False, False, True]


def test_the_most_useful_that_passes_is_recommended():
    found = contenders(*MADE)
    assert found.recommendation.name == "pca-mask"
    assert found["householder"].against == ("stopped by giants",)
    assert found["rank-swap"].against == ("linkage 0.5 above 0.1",)
    assert found.recommend(keep="covariance").recommendation.name == "rotate"
    assert found.recommend(max_risk={"linkage": 0.015}).recommendation.name == "ipso"
    assert not found.recommend(max_risk={"linkage": 0.001}).recommendation


def test_where_no_method_keeps_the_bounds_one_that_does_is_named():
    broken = {"stops": ("limits",)}
    found = contenders(("ipso", 0.0, 0.1, broken), ("shuffle", 0.0, 0.2, broken)).recommendation
    assert not found
    assert any("rotate" in reason for reason in found.reasons)
    tried = contenders(("ipso", 0.0, 0.1, broken), ("rotate", 0.5, 0.2, {})).recommendation
    assert not any("name it" in reason for reason in tried.reasons)


def test_what_the_holders_own_key_stops_is_not_recommended():
    found = contenders(*MADE, ask=lambda each: ["repeated-release"] if each.name == "pca-mask" else [])
    assert found.recommendation.name == "rotate"
    assert any("repeated-release" in reason for reason in found.recommendation.reasons)


def test_each_risk_stands_against_its_own_limit():
    """The worst counts: numbers are safe, categories are not."""
    judgement = Judgement.of({"linkage": 0.1, "categories": 0.01}, "information-loss", (), (), True, True)
    run = Run("ipso", 0, {"rank-linkage": 0.05, "distance-linkage": 0.01, "replicated-uniques": 0.02})
    assert judgement.risks(run) == {"linkage": 0.05, "categories": 0.02}
    assert judgement.risk(run) == 2.0


def test_guards_are_asked(data):
    """A swap of nearest ranks is stopped, and not recommended however little is lost."""
    asked = {**QUICK, "limits": {"distance-linkage": 1.0}}
    found = suffice.compare(data, ROLES, ["rank-swap:p=0.02", "ipso"], 1, **asked)
    assert found["rank-swap:p=0.02"].stops
    assert found["rank-swap:p=0.02"].loss.mean < found["ipso"].loss.mean
    assert found.recommendation.name == "ipso"


def test_what_gives_no_release_says_why():
    """Groups of a hundred among sixty records: the others are compared all the same."""
    data = firms(60).select(["wages"])
    roles = suffice.Roles(confidential=["wages"])
    found = suffice.compare(data, roles, ["microaggregate:k=100", "ipso"], 1, **QUICK)
    assert found["microaggregate:k=100"].failed == 1
    assert "no release" in found["microaggregate:k=100"].against[0]
    assert found.recommendation.name == "ipso"


def test_new_records_are_judged_by_what_can_be_seen_of_them(data):
    found = suffice.compare(data, ROLES, ["resize:m=100"], 1, workers=1, loss="information-loss")
    (only,) = found
    assert "distance-linkage" not in only.figures
    assert only.risks["linkage"].mean == 0.0


WIDE = {"rank-swap": {"p": [i / 2000 for i in range(1, 2000)]}}


def test_methods_are_asked_for_in_many_ways():
    def names(asked):
        return [each.name for each in candidates(asked, ROLES)]

    assert names({"rank-swap": {"p": [0.1, 0.2]}}) == ["rank-swap:p=0.1", "rank-swap:p=0.2"]
    assert names([suffice.RankSwap(p=0.1), "rank-swap:p=0.1", ["pca-mask", "restore"]]) == [
        "pca-mask + restore",
        "rank-swap:p=0.1",
    ]
    assert names("default") == ["ipso"]
    assert len(names("paper")) == len(NAMES) + 7 + 6
    assert {*names("quick")} < {*names("all")}
    for wrong, said in (
        ("quik", "quick"),
        ("rank-swop", "rank-swap"),
        ([], "No method"),
        ({"ipso": 3}, "grid"),
        (WIDE, "coarser"),
    ):
        with pytest.raises(UsageError, match=said):
            names(wrong)
    with pytest.raises(UsageError, match="data set of its own"):
        names(suffice.Restore(candidate=np.zeros((3, 3))))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"limits": {"linkag": 0.1}}, "linkage"),
        ({"limits": {"linkage": 0}}, "above 0"),
        ({"limits": {"information-loss": 0.1}}, "no risk"),
        ({"loss": "wasserstein"}, "between two numbers"),
        ({"loss": "distance-linkage"}, "cannot be a loss"),
        ({"keep": "covarianc"}, "covariance"),
        ({"repeats": 0}, "whole number"),
        ({"repeats": 10**9}, "at most 10,000"),
        ({"measures": "linkag"}, "no measure"),
    ],
)
def test_wrong_requests_are_told(data, given, said):
    with pytest.raises(UsageError, match=said):
        suffice.compare(data, ROLES, "ipso", **{"repeats": 1, **given})


def test_every_form_tells_the_same_and_no_value(data, tmp_path):
    found = suffice.compare(data, ROLES, FEW, 2, seed=key(), **QUICK)
    parsed = json.loads(found.to_json())
    lines = list(csv.DictReader(io.StringIO(found.to_csv())))
    for told in parsed["methods"]:
        (line,) = [each for each in lines if each["method"] == told["method"] and each["what"] == "loss"]
        assert float(line["mean"]) == told["loss"]["mean"]
        assert f"{told['loss']['mean']:.4f}" in found.text()
        assert f"{told['loss']['mean']:.4f}" in found.to_html()
    assert found.map().startswith(b"\x89PNG")
    svg = found.map("svg").decode()
    assert "<svg" in svg
    texts = found.text(), found.to_json(), found.to_csv(), found.to_html().split("data:image/png")[0], repr(found)
    values = {str(value) for name in NAMES for value in data[name].to_pylist() if value > 9999}
    assert not any(value in text for value in values for text in texts)
    for kind in ("json", "csv", "html", "png", "svg"):
        found.write(tmp_path / f"found.{kind}")
    with pytest.raises(UsageError, match="written as"):
        found.write(tmp_path / "found.txt")
    assert "recommended" in found._repr_html_().lower()


PLAN = """
[data]
path = "firms.csv"
[roles]
confidential = ["turnover", "wages", "taxes"]
[compare]
methods = ["pca-mask", "ipso", {rank-swap = {p = [0.02]}}]
repeats = 1
limits = {distance-linkage = 0.05}
loss = ["information-loss"]
[release]
path = "out.csv"
"""


def test_the_plan_that_is_recommended_runs(data, tmp_path):
    import pyarrow.csv as pc

    pc.write_csv(data, tmp_path / "firms.csv")
    (tmp_path / "plan.toml").write_text(PLAN)
    plan, folder = Plan.read(tmp_path / "plan.toml"), tmp_path / "compared"
    assert Plan.parse(plan.to_toml()).model_dump() == plan.model_dump()
    found = plan.side_by_side(folder, workers=1)
    files = plan.write_comparison(found, folder)
    assert [path.name for path in files][-1] == "recommended.toml"
    made = Plan.read(folder / "recommended.toml")
    assert made.compare is None
    assert made.method[0].name == found.recommendation.name
    assert made.run().certificate.holds
    assert (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("preset", ["all", "paper"])
def test_every_candidate_can_be_written_as_a_plan(preset):
    """Read again, it is the method that was compared."""
    for each in candidates(preset, ROLES):
        asked = {"data": {"path": "a.csv"}, "roles": {"confidential": NAMES}, "release": {"path": "b.csv"}}
        plan = Plan.of({**asked, "method": each.steps})
        assert Plan.parse(plan.to_toml()).build_method() == each.method, each.name
