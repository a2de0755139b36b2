"""assess(): every declared measure has its law, files are joined or said not to be, and mistakes get a sentence."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import suffice
from suffice.errors import InputError, UsageError
from suffice.measure.measure import Measure
from suffice.measure.pair import FilePair
from suffice.release.measures import MEASURES, scored, taken
from suffice.risk.attack import MixedRecords
from suffice.risk.identification import identification

ROLES = suffice.Roles(confidential=["a", "b"], keep=["k"], identifiers=["id"])


def table(n: int = 60, seed: int = 1, **more) -> pa.Table:
    rng = np.random.default_rng(seed)
    columns = {"id": np.arange(n), "a": rng.normal(size=n), "b": rng.gamma(2.0, size=n), "k": ["u", "v"] * (n // 2)}
    return pa.table({**columns, **more})


def test_scores_name_value_range_direction_definition_and_reference():
    data = table()
    scores = suffice.assess(data, data, ROLES, measures=["distance-linkage", "kolmogorov-smirnov"])
    assert [(each.name, each.value) for each in scores] == [("distance-linkage", 1.0), ("kolmogorov-smirnov", 0.0)]
    for each in json.loads(scores.to_json())["scores"]:
        assert {*each} >= {"name", "value", "range", "direction", "definition", "reference", "sampled"}
        assert each["definition"][:40] in " ".join(scores.text().split())
        assert each["name"] in scores.to_csv()
        assert each["name"] in scores._repr_html_()


def test_files_are_aligned_by_identifiers_by_word_or_not_at_all():
    data, released = table(), table().take(np.random.default_rng(2).permutation(60))
    joined = suffice.assess(data, released, ROLES, measures="copies")
    assert joined["copies"].value == 1.0
    alone = suffice.assess(data, released.drop_columns(["id"]), ROLES)
    assert "aligned" in alone.left_out["copies"]
    anywhere = alone["copies-anywhere"]
    assert anywhere.value == 1.0
    assert anywhere.outcome.chance < 0.1
    assert "copies" not in [each.name for each in alone]
    assert suffice.assess(data, released, ROLES, measures="copies", aligned=True)["copies"].value < 0.5


def test_a_release_knows_its_own_order_and_a_written_file_does_not():
    data = table(100)
    roles = suffice.Roles(confidential=["a", "b"])
    release = suffice.protect(data, roles, "noise:delta=0.01", suffice.Seed.for_tests(1))
    assert release.assess(measures="distance-linkage")["distance-linkage"].value > 0.3
    with pytest.raises(InputError, match="whose"):
        suffice.assess(data, release.frame, roles, measures="distance-linkage")


def test_several_releases_are_measured_one_by_one_or_together():
    data = table()
    scores = suffice.assess(data, [table(seed=2), data, table(seed=3)], ROLES, measures=["copies", "memory"])
    assert scores["copies"].by_release == (0.0, 1.0, 0.0)
    assert scores["copies"].value == pytest.approx(1 / 3)
    assert "memory" in [each.name for each in scores]
    assert not scores["memory"].by_release


@pytest.mark.parametrize("measure", MEASURES.values(), ids=lambda each: each.name)
def test_a_declaration_says_all(measure: Measure):
    assert measure.definition
    assert measure.needs
    assert measure.range[0] < measure.range[1]
    assert not measure.definition.endswith(".")


def test_a_measure_that_is_not_there_is_named_with_the_nearest():
    with pytest.raises(UsageError, match="Did you mean 'distance-linkage'"):
        suffice.assess(table(), table(), ROLES, measures=["distance-linkag"])


@pytest.mark.parametrize(
    ("released", "holdout", "more", "match"),
    [
        (table().drop_columns(["b"]), None, {}, "has no column 'b'"),
        (table(a=["x"] * 60), None, {}, "has text or categories in 'a'"),
        (table(50), None, {"aligned": True}, "not aligned"),
        (table(), table(), {}, "of the hold-out are in the original"),
        (table(1 * 2).slice(0, 1), None, {}, "1 record"),
        (table(id=np.zeros(60)), None, {}, "more than one record"),
        (table(a=np.r_[np.nan, np.ones(59)]), None, {}, "missing or infinite"),
        (table(a=np.r_[1e200, np.ones(59)]), None, {}, "too large to be squared"),
        (table(k=np.ones(60)), None, {}, "has numbers in 'k'"),
    ],
)
def test_bad_files_get_a_sentence(released, holdout, more, match):
    with pytest.raises(InputError, match=match):
        suffice.assess(table(), released, ROLES, holdout, **more)


def test_reasons_are_told_once_and_ends_of_ranges_are_named():
    scores = suffice.assess(table(), table(seed=2), suffice.Roles(confidential=["a", "b"]))
    for why in {*scores.left_out.values()}:
        assert scores.text().count(why) == 1
        assert scores.to_html().count(why.replace("'", "&#39;")) == 1
    for name in scores.left_out:
        assert name in scores.text()
        assert name in scores.to_html()
    assert "0 to inf" in scores.to_html()


def test_columns_that_a_file_lacks_are_said():
    scores = suffice.assess(table(), table(seed=2).drop_columns(["k"]), ROLES, table(seed=3).drop_columns(["k"]))
    assert [note for note in scores.notes if "no column k: measures do without" in note] == [
        "The release has no column k: measures do without.",
        "The hold-out has no column k: measures do without.",
    ]
    assert "k-anonymity" in scores.left_out


def test_identifiers_in_another_order_than_the_files_are_said():
    data = table()
    assert not suffice.assess(data, data, ROLES, aligned=True, measures="copies").notes
    turned = suffice.assess(data, data.take(np.arange(60)[::-1]), ROLES, aligned=True, measures="copies")
    assert "identifiers stand in another order" in turned.notes[0]


def test_identifiers_that_are_missing_and_negative_weights_are_refused():
    holes = table(id=pa.array([None, *range(1, 60)], pa.int64()))
    with pytest.raises(InputError, match="1 record of a file has no 'id'"):
        suffice.assess(table(), holes, ROLES)
    weighted = suffice.Roles(confidential=["a", "b"], keep=["k"], weight="w")
    good, bad = table(w=np.ones(60)), table(w=np.r_[-1.0, np.ones(59)])
    for pair in ((good, bad), (bad, good)):
        with pytest.raises(InputError, match="weight 'w' are negative"):
            suffice.assess(*pair, weighted)


def test_a_confidential_category_does_not_tell_itself():
    alone = suffice.assess(table(), table(), suffice.Roles(confidential=["k"]))
    assert {"l-diversity", "attribute-disclosure"} <= {*alone.left_out}
    assert alone["k-anonymity"].value == 0.0


def test_constant_columns_are_left_out_and_said_unless_all_are():
    still = table(a=np.ones(60))
    scores = suffice.assess(still, still, ROLES)
    assert any("one value" in note for note in scores.notes)
    assert scores["copies"].value == 1.0
    none = suffice.Roles(confidential=["a"])
    with pytest.raises(InputError, match="No confidential column varies"):
        suffice.assess(still, still, none)


def test_a_column_that_is_too_small_to_be_squared_is_not_called_constant():
    tiny = table(a=1e-300 * np.arange(60))
    with pytest.raises(InputError, match="'a' are too small to be squared"):
        suffice.assess(tiny, tiny, ROLES)
    assert suffice.assess(table(a=1e-100 * np.arange(60)), table(a=1e-100 * np.arange(60)), ROLES, measures="copies")


@pytest.mark.parametrize(
    ("asked", "match"),
    [
        ({"aligned": "no"}, "`aligned` is str"),
        ({"measures": 3}, "`measures` holds int"),
        ({"measures": []}, "No measure is named"),
        ({"where": 5}, "`where` is int"),
        ({"analyses": [3]}, "`analyses` holds int"),
        ({"analyses": 3}, "`analyses` holds int"),
    ],
)
def test_what_is_no_text_gets_a_sentence(asked, match):
    with pytest.raises(UsageError, match=match):
        suffice.assess(table(), table(), ROLES, **asked)
    if "aligned" not in asked:
        release = suffice.protect(table(), ROLES, seed=suffice.Seed.for_tests(1))
        with pytest.raises(UsageError, match=match):
            release.assess(**asked)


def test_definitions_say_what_is_computed():
    said = {name: MEASURES[name].definition for name in MEASURES}
    assert "sqrt(k / n)" in said["interval-overlap"]
    assert "weighted where there is a weight" in said["canonical-correlation"]
    for name in ("interval-disclosure", "interval-disclosure-nearest"):
        assert "between two ranks, counted from both" in said[name]


def test_a_large_pair_is_sampled_and_it_is_said():
    rng = np.random.default_rng(1)
    Y = rng.normal(size=(300, 2))
    pair = FilePair.of_arrays(Y, Y).some(100)
    assert pair.sampled == "100 of 300 records"
    assert pair.Y.shape == (100, 2)
    assert (pair.Ystar == pair.Y).all()
    assert taken(MEASURES["copies"], pair).sampled == pair.sampled
    assert len(scored(pair, (), None)) > 10


def test_files_larger_than_memory_are_sampled(tmp_path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("suffice.measure.reading.CELLS", 200)
    pq.write_table(table(), tmp_path / "original.parquet")
    roles = suffice.Roles(confidential=["a", "b"])
    release = suffice.protect(tmp_path / "original.parquet", roles, "noise:delta=0.001", suffice.Seed.for_tests(1))
    assert not release.assess(measures="copies")["copies"].sampled
    monkeypatch.setattr("suffice.measure.reading.CELLS", 80)
    score = release.assess(measures="probabilistic-linkage")["probabilistic-linkage"]
    assert score.sampled == "40 of 60 records"
    assert score.value > 0.5  # the same records of both


def test_categories_alone_drawn_records_and_dates_can_be_assessed():
    data = table(when=pa.array(np.arange(60, dtype=np.int32), pa.date32()))
    with pytest.raises(InputError, match="a confidential column of numbers"):
        suffice.assess(data, data, suffice.Roles(confidential=["k"]), measures="distance-linkage", aligned=True)
    dated = suffice.protect(data, suffice.Roles(confidential=["a", "when"]), "rank-swap", suffice.Seed.for_tests(1))
    assert dated.assess(measures="kolmogorov-smirnov")["kolmogorov-smirnov"].value == 0.0
    drawn = suffice.protect(data, suffice.Roles(confidential=["a", "b"]), "resize:m=50", suffice.Seed.for_tests(1))
    assert drawn.assess(measures="kolmogorov-smirnov").figures
    with pytest.raises(InputError, match="whose"):
        drawn.assess(measures="distance-linkage")


def test_a_subdomain_is_parsed_and_keeps_alignment_where_it_can():
    data, released = table(), table(seed=2)
    known = suffice.assess(data, released, ROLES, where="k == 'u'", aligned=True)
    assert "30 of 60, 30 of 60" in known.notes[0]
    assert "copies" in [each.name for each in known]
    own = suffice.assess(data, released, ROLES, where="a > 0.5 * b", aligned=True)
    assert "copies" in own.left_out
    for text, error in (("a > 1e9", InputError), ("__import__('os')", UsageError), ("nothing > 1", InputError)):
        with pytest.raises(error):
            suffice.assess(data, released, ROLES, where=text)


def test_a_measure_that_fails_is_left_out_with_a_reason_and_without_the_libraries_text(monkeypatch: pytest.MonkeyPatch):
    def failing(pair: FilePair) -> float:
        raise ValueError("4815162342")

    broken = replace(MEASURES["copies"], of=failing)
    monkeypatch.setattr("suffice.release.measures.MEASURES", {"copies": broken})
    scores = suffice.assess(table(), table(), ROLES)
    assert scores.left_out["copies"].startswith("its equations have no solution")
    with pytest.raises(InputError, match="copies cannot be taken") as error:
        suffice.assess(table(), table(), ROLES, measures="copies")
    assert "4815" not in str(error.value)


def test_a_hold_out_that_shares_a_value_by_chance_is_taken():
    rng = np.random.default_rng(1)
    data = pa.table({"a": np.r_[rng.normal(size=199), 5.0]})
    aside = pa.table({"a": np.r_[rng.normal(size=99), 5.0]})
    roles = suffice.Roles(confidential=["a"])
    assert suffice.assess(data, data, roles, aside, "kolmogorov-smirnov", aligned=True)
    half = pa.table({"a": np.r_[rng.normal(size=80), data["a"].to_numpy()[:20]]})
    with pytest.raises(InputError, match="not kept back"):
        suffice.assess(data, data, roles, half, "kolmogorov-smirnov", aligned=True)


def test_scores_never_replace_what_they_are_of(tmp_path):
    rng = np.random.default_rng(1)
    paths = [tmp_path / name for name in ("original.csv", "release.csv", "aside.csv")]
    for path in paths:
        path.write_text("a,b\n" + "".join(f"{x},{y}\n" for x, y in rng.normal(size=(40, 2))), encoding="utf-8")
    roles, texts = suffice.Roles(confidential=["a", "b"]), [path.read_text(encoding="utf-8") for path in paths]
    found = suffice.assess(paths[0], paths[1], roles, holdout=paths[2], measures="wasserstein")
    for scores, kept in ((found, paths), (suffice.protect(paths[0], roles).assess(measures="wasserstein"), paths[:1])):
        for path in kept:
            with pytest.raises(UsageError, match="The output is the data"):
                scores.write(path, force=True)
    assert [path.read_text(encoding="utf-8") for path in paths] == texts
    assert all(line.endswith("confidential data.") for line in found.to_csv().replace('"', "").splitlines()[1:])


@pytest.mark.parametrize(
    "method",
    [
        suffice.RankSwap(p=0.05),
        suffice.Noise("multiplicative", 0.05),
        suffice.Noise("correlated", 0.01),
        suffice.ResidualCorrelation(d=0.98),
    ],
)
def test_every_measure_with_a_guard_has_the_guards_number(method: suffice.Method, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("suffice.risk.trials.TrialSight.doubtful", lambda *_: False)  # both of this release
    rng = np.random.default_rng(5)
    Y = np.round(np.exp(rng.normal(size=(300, 1)) + rng.normal(size=(300, 3))), 2) + 1
    days = pa.array(np.arange(17_000, 17_300, dtype=np.int32)[rng.permutation(300)], pa.date32())
    data = pa.table({**dict(zip("abc", Y.T, strict=True)), "when": days})
    names = ["a", "b", "c", *(["when"] if isinstance(method, suffice.RankSwap) else [])]
    release = suffice.protect(data, suffice.Roles(confidential=names), method, suffice.Seed.for_tests(1))
    asked = ["distance-linkage", "nearness", "rank-nearness", "canonical-correlation", "copies", "digits"]
    asked += ["rank-linkage", "rank-intersection"] if method.ranks else []
    scores = release.assess(measures=asked)
    assert scores["nearness"].value > 0.05
    for each in scores:
        assert each.outcome.parts["guard"] == pytest.approx(each.value, abs=1e-9), each.name


@pytest.mark.parametrize(
    "roles",
    [
        suffice.Roles(confidential=["a", "b"], given="C(k) + x"),
        suffice.Roles(confidential=["a", "b"], given="x", groups=["k"]),
        suffice.Roles(confidential=["a", "b"], given="C(k)", weight="w"),
    ],
)
def test_the_guards_number_is_the_score(roles: suffice.Roles):
    rng = np.random.default_rng(5)
    x = rng.normal(size=200)
    made = {"a": 3 * x + rng.normal(size=200), "b": rng.gamma(2.0, size=200), "x": x, "w": rng.uniform(1, 3, 200)}
    data = pa.table({**made, "k": ["u", "v"] * 100})
    release = suffice.protect(data, roles, suffice.ResidualCorrelation(d=0.6), suffice.Seed.for_tests(1))
    score = release.assess(measures=["canonical-correlation"])["canonical-correlation"]
    assert score.value == pytest.approx(release.assessment.resemblance.canonical, abs=1e-9) == pytest.approx(0.6)
    assert score.outcome.parts["guard"] == pytest.approx(score.value, abs=1e-9)
    assert "guard: what the guard judges" in score.outcome.said


DATES = ["nearness", "identification-risk", "sparse-records", "inference", "interval-disclosure"]


@pytest.mark.parametrize("name", DATES)
def test_measures_of_dates_do_not_depend_on_the_year_1970(name: str):
    rng = np.random.default_rng(3)
    days, noise, aside = (rng.integers(0, 3000, 120) for _ in range(3))

    def value(shift: int) -> float:
        files = [
            pa.table({"d": (each + shift).astype("datetime64[D]"), "a": np.arange(120.0)})
            for each in (days, days + noise // 20, aside)
        ]
        roles = suffice.Roles(confidential=["d", "a"])
        return suffice.assess(*files[:2], roles, files[2], name, aligned=True)[name].value

    assert value(-1000) == value(40_000)


def test_unrelated_records_have_their_chance_beside_interval_measures():
    rng = np.random.default_rng(4)
    Y, other = np.round(rng.gamma(1.0, 2.0, (2, 200, 2)))
    for name in ("sd-intervals", "robust-intervals"):
        found = taken(MEASURES[name], FilePair.of_arrays(Y, other)).outcome
        assert found.chance is not None
        assert found.value == pytest.approx(found.chance, abs=0.06)
        assert taken(MEASURES[name], FilePair.of_arrays(Y, Y)).value > found.chance + 0.4


def test_interval_disclosure_of_equal_values_does_not_depend_on_the_order_of_rows():
    rng = np.random.default_rng(6)
    Y, released = rng.integers(0, 6, (2, 150, 2)).astype(float)
    order = rng.permutation(150)
    for name in ("interval-disclosure", "interval-disclosure-nearest"):
        one, two, mirrored = (
            taken(MEASURES[name], FilePair.of_arrays(*files)).outcome
            for files in ((Y, released), (Y[order], released[order]), (-Y, -released))
        )
        assert one == two
        assert name.endswith("nearest") or one.value == pytest.approx(mirrored.value)


def test_a_single_match_with_a_weight_below_two_is_not_certain():
    records = MixedRecords(np.array([[1.0], [9.0], [90.0]]), np.zeros((3, 1), dtype=np.int64))
    found = identification(records, [records], np.array([1.0, 1.5, 1.0]))
    assert (found.right, found.wrong) == (pytest.approx(2 / 3), 0.0)
    assert found.expected == pytest.approx((1 + 1 / 1.5 + 1) / 3)


def test_what_is_said_of_work_of_releases_of_weights_and_of_names():
    stages: list[str] = []
    data = table(w=np.ones(60))
    roles = replace(ROLES, weight="w")
    scores = suffice.assess(
        data,
        [data, table(seed=2, w=np.ones(60))],
        roles,
        measures=["copies", "interval-overlap"],
        analyses=["lm: a ~ b"],
        progress=lambda stage, *_: stages.append(stage),
    )
    assert "measuring: interval-overlap, 2 of 2" in stages
    assert "by release: 1, 0" in scores.to_html()
    assert "by release: 1, 0" in scores.text()
    assert "weighted fits" in scores["interval-overlap"].outcome.said
    with pytest.raises(InputError, match=r"The release has no column 'a'\. Did you mean 'A'"):
        suffice.assess(table(), table().rename_columns(["id", "A", "b", "k"]), ROLES)


def test_a_hold_out_of_few_values_is_known_by_identifiers_or_not_at_all():
    rng = np.random.default_rng(1)
    few = pa.table({"id": np.arange(90), "a": rng.integers(3, size=90) * 1.0, "b": rng.integers(2, size=90) * 1.0})
    roles = suffice.Roles(confidential=["a", "b"], identifiers=["id"])
    own, aside, released = few.slice(0, 60), few.slice(60), few.slice(0, 60).drop_columns(["id"])
    with pytest.raises(InputError, match="10 of 30 records of the hold-out are in the original"):
        suffice.assess(own, released, roles, few.slice(50, 30), measures="membership-auc")
    assert not any("kept back" in note for note in suffice.assess(own, released, roles, aside).notes)
    bare = suffice.assess(own, released, suffice.Roles(confidential=["a", "b"]), few.slice(50, 30))
    assert any("nothing tells whether the hold-out was kept back" in note for note in bare.notes)
