"""Synthesis: files drawn from models of the original."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice import Cart, Linear, Roles, Seed, Synthesis
from suffice.errors import InfeasibleError, InputError, UsageError
from suffice.rows.memory import MemoryRows

COLUMNS = ["sex", "age", "born", "smoke", "cigarettes", "income"]


def people(n: int = 300, seed: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    sex, age = rng.choice(["f", "m"], n), rng.integers(16, 90, n)
    smoke = np.where(rng.random(n) < 0.3 + 0.2 * (sex == "m"), "yes", "no")
    income = np.rint(np.exp(rng.normal(6.5 + 0.5 * (sex == "m"), 0.6, n)))
    income[rng.random(n) < 0.2] = 1000
    return pd.DataFrame(
        {
            "region": rng.choice(["north", "south", "west"], n),
            "sex": sex,
            "age": age,
            "born": pd.to_datetime("2020-01-01") - pd.to_timedelta(365 * age, "D"),
            "smoke": pd.Series(smoke).where(rng.random(n) < 0.95),
            "cigarettes": np.where(smoke == "yes", rng.integers(1, 40, n), -8),
            "income": np.where(rng.random(n) < 0.15, np.nan, income),
        }
    )


def drawn(data: pd.DataFrame, method: Synthesis, key: int = 1, **roles: object) -> suffice.Release:
    chosen = {"confidential": COLUMNS, **roles}
    return suffice.protect(data, Roles(**chosen), method, Seed.for_tests(key))  # type: ignore[arg-type]


def test_columns_of_every_kind_leave_as_they_came_with_their_holes() -> None:
    data = people()
    first, second = drawn(data, Synthesis(m=2), given="C(region)").frames
    assert not first.equals(second)
    for made in (first, second):
        assert sorted(made.region) == sorted(data.region)  # given records stay
        assert (made.dtypes == data[made.columns].dtypes).all()
        assert set(made.sex) <= {"f", "m"}
        assert 10 < made.income.isna().sum() < 80
        assert made.smoke.isna().any()
        assert not made.born.isna().any()
        assert (made.income == 1000).sum() > 20  # a heap stays one


@pytest.mark.parametrize(
    "dtype", ["Int64", "boolean", "string", "int64[pyarrow]", "bool[pyarrow]", "large_string[pyarrow]"]
)
def test_types_that_hold_missing_cells_leave_as_they_came(dtype: str) -> None:
    data = people()
    plain = (["a", "b", None] if "string" in dtype else [True, False, None]) * 100
    data["own"] = pd.array(plain, dtype=dtype)
    made = drawn(data, Synthesis(m=1), confidential=[*COLUMNS, "own"]).frame
    assert made.own.dtype == data.own.dtype
    assert 60 < made.own.isna().sum() < 140
    assert set(made.own.dropna()) == set(data.own.dropna())


def test_files_and_certificates_are_written_together(tmp_path: Path) -> None:
    release = suffice.protect(people(), Roles(confidential=COLUMNS), Synthesis(m=2), Seed.new_file(tmp_path / "key"))
    release.write(tmp_path / "out.csv")
    assert len(pd.read_csv(tmp_path / "out-2.csv")) == 300
    told = json.loads((tmp_path / "out-1.csv.certificate.json").read_text())["synthesis"]
    assert told == {"kind": "full", "m": 2, "proper": False, "exact": [], "two_stage": None}
    assert len((tmp_path / "key.ledger").read_text().splitlines()) == 1


def test_columns_stand_as_in_the_file_where_records_are_dropped(tmp_path: Path) -> None:
    data = people()[["smoke", "sex", "income", "region"]]
    data.to_parquet(tmp_path / "people.parquet")
    roles = Roles(confidential=["sex", "smoke"], given="C(region)", missing="drop")
    one, other = (
        suffice.protect(source, roles, Synthesis(m=1), Seed.for_tests(1)).frame
        for source in (data, str(tmp_path / "people.parquet"))
    )
    assert list(one.columns) == list(other.column_names) == ["smoke", "sex", "region"]
    assert one.to_dict("list") == other.to_pydict()


def test_the_kind_is_in_the_certificate() -> None:
    assert drawn(people(), Synthesis(m=1), given="C(region)").certificate.synthesis["kind"] == "partial"


def test_rules_hold_in_every_record_and_what_broke_them_is_told() -> None:
    data = people()
    data.loc[data.smoke.eq("no").idxmax(), "cigarettes"] = 3
    release = drawn(data, Synthesis(m=1, rules=['smoke == "no" -> cigarettes = -8'], order=["cigarettes", "smoke"]))
    made = release.frame
    assert (made.cigarettes[made.smoke == "no"] == -8).all()
    assert (made.cigarettes[made.smoke == "yes"] > -8).any()
    assert any("not so in 1 record" in said for said in release.certificate.private)


def test_a_rule_that_asks_nobody_is_told() -> None:
    release = drawn(people(), Synthesis(m=1, rules=['smoke == "NO" -> cigarettes = -8', "age < 99 -> sex = 'f'"]))
    (said,) = (each for each in release.certificate.private if "holds in no record" in each)
    assert said.startswith('smoke == "NO"')


def test_a_missing_cell_breaks_no_edit_and_sets_no_limit() -> None:
    rng = np.random.default_rng(4)
    data = pd.DataFrame({"a": rng.gamma(2, 10, 600).round(1)})
    data["b"] = (data.a * rng.random(600)).round(1)
    data["total"] = (data.a + data.b).round(1)
    for name in ("a", "total"):
        data.loc[rng.random(600) < 0.3, name] = np.nan
    release = drawn(data, Synthesis(m=1), confidential=[*data], edits=["a >= b", "total == a + b"])
    made = release.frame
    assert release.certificate.holds
    assert not [each for each in release.findings if each.rule == "limits"]
    assert not (made.a < made.b).any()
    assert not ((made.total - made.a - made.b).abs() > 1e-9).any()
    assert made.a.isna().sum() > 100
    assert made.total.isna().sum() > 100
    hidden, own = made.b[made.a.isna()], data.b[data.a.isna()]
    assert hidden.max() > 1.2 * data.a.mean()
    assert abs(hidden.mean() - own.mean()) < 3


def test_rules_that_contradict_each_other_are_refused() -> None:
    rules = ['smoke == "no" -> cigarettes = -8', "age < 40 -> cigarettes = 1"]
    with pytest.raises(InfeasibleError, match="in two ways"):
        drawn(people(), Synthesis(m=1, rules=rules))


def test_bounds_and_edits_hold_in_every_record() -> None:
    rng = np.random.default_rng(5)
    data = pd.DataFrame({"costs": rng.gamma(2.0, size=300), "other": rng.gamma(1.0, size=300)})
    data["turnover"] = data.costs + rng.gamma(0.3, size=300)
    data["total"] = data.costs + data.other
    edits = ["turnover >= costs", "total == costs + other"]
    names = ["costs", "other", "turnover", "total"]
    for models in (Cart(), Linear()):
        made = drawn(
            data, Synthesis(m=1, models=models), confidential=names, edits=edits, bounds={"costs": (0, None)}
        ).frame
        assert (made.costs >= 0).all()
        assert (made.turnover >= made.costs).all()
        assert np.allclose(made.total, made.costs + made.other, rtol=1e-12, atol=1e-12)
        assert not np.isin(made.costs, data.costs).any()


def test_only_chosen_records_are_replaced_and_stay_where_they_were_chosen() -> None:
    data = people()
    method = Synthesis(m=1, where="income > 900 and sex == 'm'")
    release = drawn(data, method, confidential=["income", "cigarettes"], given="C(sex)")
    made, chosen = release.aligned(), ((data.income > 900) & (data.sex == "m")).to_numpy()
    pd.testing.assert_frame_equal(made[~chosen], data.loc[~chosen, made.columns])
    assert ((made.income > 900) & (made.sex == "m"))[chosen].all()
    assert "new values in some records, and others keep theirs;" in release.certificate.summary
    assert "some records" not in drawn(data, Synthesis(m=1), confidential=["income"]).certificate.summary
    assert (made.income != data.income)[chosen & (data.income != 1000)].mean() > 0.8
    assert {each.rule for each in release.findings if each.level in ("stop", "never")} == {"seed"}
    assert release.certificate.synthesis["kind"] == "partial"


@pytest.mark.parametrize("given", ["", "C(region)"])
def test_records_of_a_number_of_its_own(given: str, tmp_path: Path) -> None:
    data = people()
    release = drawn(data, Synthesis(m=2, records=700, rules='smoke == "no" -> cigarettes = -8'), given=given)
    first, second = release.frames
    assert len(first) == len(second) == 700
    assert not first.equals(second)
    assert (first.dtypes == data[first.columns].dtypes).all()
    assert (first.cigarettes[first.smoke == "no"] == -8).all()
    if given:
        assert set(first.region) == set(data.region)
    assert release.certificates[0].synthesis["kind"] == "full"
    assert {each.rule for each in release.findings if each.level in ("stop", "never")} == {"seed"}
    with pytest.raises(UsageError, match="takes no further step"):
        drawn(data, Synthesis(records=50).then(suffice.Restore()), confidential=["age"])  # type: ignore[arg-type]


def test_the_same_rows_with_other_roles_have_other_models() -> None:
    g = np.random.default_rng(1).normal(size=(300, 2))
    rows = MemoryRows(pd.DataFrame({"g": g[:, 0], "x": g[:, 1], "y": g[:, 0]}))
    method, seed = Synthesis(m=1), Seed.for_tests(1)
    suffice.protect(rows, Roles(confidential=["x", "y"]), method, seed=seed)
    given = suffice.protect(rows, Roles(confidential=["x", "y"], given="g"), method, seed=seed).frame
    assert given.g.corr(given.y) > 0.9
    assert list(suffice.protect(rows, Roles(confidential=["x"]), method, seed=seed).frame) == ["x"]


@pytest.mark.parametrize(
    "models", [None, "linear:scale=quantile", {"income": "linear", "age": "cart", "smoke": "logit"}]
)
def test_super_blocks_are_the_same_over_files_and_hand_nothing_on(
    models: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = people().dropna(subset=["smoke"]).assign(pay=lambda each: np.random.default_rng(8).gamma(2, 9, len(each)))
    data.to_parquet(path := tmp_path / "data.parquet")
    monkeypatch.setattr("suffice.synthesis.super_blocks.MOST", 100)
    names, rules = [*COLUMNS, "pay"], 'smoke == "no" -> cigarettes = -8'
    release = drawn(data, method := Synthesis(m=1, models=models, rules=rules), confidential=names, given="C(region)")
    over = suffice.protect(path, Roles(confidential=names, given="C(region)"), method, Seed.for_tests(1))
    made, other = release.frame, over.frame.to_pandas()
    pd.testing.assert_frame_equal(other[[*made]], made.reset_index(drop=True), check_dtype=False)
    assert not np.isin(made.pay, data.pay).any()
    assert any("3 parts" in each for each in release.certificate.private)
    assert 0.02 < made.income.isna().mean() < 0.35
    assert made.income[made.sex == "m"].mean() > made.income[made.sex == "f"].mean()


def test_normal_scores_keep_heaps_and_plain_values_do_not() -> None:
    data = people()
    heap = [(drawn(data, Synthesis(m=1, models={"income": f"linear:scale={scale}"})).frame.income == 1000).sum()
            for scale in ("quantile", "values")]  # fmt: skip
    assert heap[0] > 25 > heap[1]


def test_a_model_for_all_columns_has_its_like_for_those_of_another_kind() -> None:
    data = people()
    made = drawn(data, Synthesis(m=1, models="linear:scale=quantile", proper=True)).frame
    assert set(made.sex) == {"f", "m"}
    rich = [each.income[each.sex == "m"].mean() - each.income[each.sex == "f"].mean() for each in (data, made)]
    assert min(rich) > 100


def test_parameters_are_drawn_for_every_file_where_asked() -> None:
    data = people()[["age", "income"]].dropna()
    names = ["age", "income"]
    plain, proper = (
        drawn(data, Synthesis(m=1, models="linear", proper=each), confidential=names).frame for each in (False, True)
    )
    assert not plain.equals(proper)


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame({"a": ["x"] * 30, "b": np.arange(30.0)}),
        pd.DataFrame({"a": [f"level {i}" for i in range(1000)], "b": np.arange(1000) % 7}),
        pd.DataFrame({"a": np.full(30, np.nan), "b": np.arange(30)}),
        pd.DataFrame({"a": np.full(600, np.nan), "b": np.arange(600) % 299}),
        pd.DataFrame(np.random.default_rng(1).normal(size=(12, 20)), columns=[f"c{i}" for i in range(20)]),
    ],
    ids=["one level", "a thousand levels", "all missing", "all missing, copies", "fewer records than columns"],
)
@pytest.mark.parametrize("models", [None, "linear"])
def test_odd_files_have_a_result(data: pd.DataFrame, models: str | None) -> None:
    numbers = {name: models for name in data if models and data[name].dtype.kind in "if"}
    made = drawn(data, Synthesis(m=1, models=numbers), confidential=list(data)).frame
    assert made.shape == data.shape
    assert (made.isna().sum() == data.isna().sum()).all()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"m": 0}, "m must be a whole number from 1"),
        ({"models": "forest"}, "no model 'forest'"),
        ({"models": "cart:leaf=3"}, "no parameter 'leaf'. It has: least"),
        ({"models": "cart:least=0"}, "least must be a whole number from 1"),
        ({"models": {"incom": "cart"}}, "not confidential. Did you mean 'income'"),
        ({"models": {"sex": "linear"}}, "linear does not draw a category"),
        ({"rules": "smoke is no"}, "not understood"),
        ({"rules": 'smoke == "no" -> income = inf'}, "not understood"),
        ({"rules": 'smoke == "no" -> region = 1'}, "not confidential"),
        ({"where": "income >"}, "ends too early"),
        ({"where": "wealth > 3"}, "neither confidential nor given"),
    ],
)
def test_what_cannot_be_meant_is_refused(given: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said.replace("(", r"\(")):
        drawn(people(60), Synthesis(**given))  # type: ignore[arg-type]


def test_a_region_without_records_and_rules_in_a_circle_are_refused() -> None:
    with pytest.raises(InputError, match="No record fulfils"):
        drawn(people(60), Synthesis(where="income > 1000000"))
    whole = ("age = 1.5", "whole numbers"), ("age = 1e300", "whole numbers")
    for rule, said in (*whole, ("born = 3", "dates"), ("sex = 'x'", "no such level")):
        with pytest.raises(InputError, match=said):
            drawn(people(60), Synthesis(rules=f'smoke == "no" -> {rule}'))
    rules = ['smoke == "no" -> cigarettes = -8', "cigarettes == -8 -> smoke = 'no'"]
    with pytest.raises(InputError, match="circle"):
        drawn(people(60), Synthesis(rules=rules))


def test_a_frame_gives_samples_of_a_population_which_are_pooled_by_t_f(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    units = pd.DataFrame({"x": rng.normal(size=2000), "g": rng.choice(["a", "b"], 2000)})
    data = units[:200].assign(y=lambda each: each.x + (each.g == "a") + rng.normal(size=200))
    units.to_parquet(tmp_path / "units-1.parquet")
    roles = Roles(confidential=["y"], given="x + C(g)")
    method = Synthesis(m=3, models="linear", proper=True, records=250, frame=tmp_path / "units-1.parquet")
    release = suffice.protect(data, roles, method, Seed.new_file(tmp_path / "key"))
    again = suffice.protect(
        data, roles, Synthesis(**{**vars(method), "frame": units}), Seed.from_file(tmp_path / "key")
    )
    for one, two in zip(release.frames, again.frames, strict=True):
        assert len(one) == 250
        assert one.x.is_unique  # units are drawn once
        assert one.x.isin(units.x).all()
        assert not one.x.isin(data.x).all()
        assert (one.dtypes == data[one.columns].dtypes).all()
        assert np.allclose(one.y, two.y)
    release.write(tmp_path / "out.csv")
    found = suffice.pool([tmp_path / f"out-{i}.csv" for i in (1, 2, 3)], "y ~ x + C(g)")
    assert found.rule == "T_f"
    with pytest.raises(UsageError, match="the frame"):
        release.write(tmp_path / "units.parquet", force=True)
    for broken, said in (
        (units.drop(columns="g"), "no column 'g'"),
        (units.assign(g="c"), "levels"),
        (units.assign(g=1.0), "same kind"),
        (units[:100], "100 units"),
    ):
        with pytest.raises(InputError, match=said):
            suffice.protect(data, roles, Synthesis(m=1, frame=broken))
    with pytest.raises(UsageError, match="given"):
        suffice.protect(data[["y"]], Roles(confidential=["y"]), Synthesis(m=1, frame=units))


def test_missing_cells_imputed_and_then_replaced_are_pooled_by_t_m() -> None:
    rng = np.random.default_rng(7)
    data = pd.DataFrame({"x": rng.normal(size=200), "sex": rng.choice(["f", "m"], 200)})
    data["y"] = 2 * data.x + (data.sex == "m") + rng.normal(size=200)
    whole = data.copy()
    data.loc[(data.x > 0) & (rng.random(200) < 0.6), "y"] = np.nan  # what is seen is far from all there is
    data.loc[rng.random(200) < 0.1, "sex"] = None
    release = drawn(data, Synthesis(m=3, r=2, models="linear"), confidential=["sex", "y"], given="x")
    assert len(release.frames) == 6
    assert not any(frame.isna().any().any() for frame in release.frames)
    means = np.array([frame.y.mean() for frame in release.frames])
    assert abs(means.mean() - whole.y.mean()) < abs(data.y.mean() - whole.y.mean()) / 3
    found = suffice.pool(release, "y ~ x")
    assert (found.rule, found.m) == ("T_M", 6)
    assert abs(found.estimates[1] - 2) < 0.4
    assert release.certificate.synthesis["two_stage"] == 2
    assert not [each for each in release.findings if each.rule == "domain"]
    with pytest.raises(UsageError, match="all records"):
        drawn(data, Synthesis(m=3, r=2, where="x > 0"), confidential=["sex", "y"], given="x")


def test_where_the_order_is_told_that_of_the_roles_and_of_the_file_decides_nothing() -> None:
    data, names = people(120), ["age", "income", "smoke"]
    method = Synthesis(m=1, order=names)
    one = drawn(data, method, confidential=names, given="C(region)").frame
    two = drawn(data[[*data][::-1]], method, confidential=names[::-1], given="C(region)").frame
    pd.testing.assert_frame_equal(one, two[[*one]])
    with pytest.raises(UsageError, match="'age' twice"):
        drawn(data, Synthesis(m=1, order=["age", "age"]), confidential=names)


def test_several_rules_and_models_in_a_line() -> None:
    from suffice.catalogue import build

    rules = 'smoke == "a; b -> c" -> cigarettes = -8; age < 18 -> income = missing'
    method = build("synthesis", {"rules": rules, "models": "income = linear:scale=quantile; smoke = multinomial"})
    assert isinstance(method, Synthesis)
    assert method.rules == ('smoke == "a; b -> c" -> cigarettes = -8', "age < 18 -> income = missing")
    assert {name: str(model) for name, model in method.models} == {
        "income": "linear:scale=quantile",
        "smoke": "multinomial",
    }
    assert build("synthesis", {"models": "cart:least=20"}) == Synthesis(models="cart:least=20")


def test_whole_numbers_with_missing_cells_are_whole_without_being_asked() -> None:
    data = people(120)
    with pytest.raises(InputError, match="Leave it out there"):
        drawn(data, Synthesis(m=1), confidential=["income"], integer=["income"])
    made = drawn(data, Synthesis(m=1), confidential=["income"]).frame.income
    assert (made.dropna() % 1 == 0).all()


def test_no_record_decides_a_leaf_of_ten_and_one_may_decide_a_regression() -> None:
    data = people(120)
    data.loc[data.income.notna().idxmax(), "region"] = "island"
    trees, lines = (
        drawn(data, Synthesis(m=1, models=models), confidential=["income"], given="C(region)", missing="drop")
        for models in ("cart", "linear")
    )
    assert "leverage" not in {each.rule for each in trees.findings}
    assert "leverage" in {each.rule for each in lines.findings}


def test_negative_whole_numbers_are_counted_and_missing_ones_are_none() -> None:
    data = people()
    data["debt"] = np.where(np.arange(len(data)) % 4 == 0, np.nan, -1.0 * np.arange(len(data)))
    data["code"] = np.where(np.arange(len(data)) % 3 == 0, -8, 5)
    release = drawn(data, Synthesis(m=1), confidential=["debt", "code", "income"])
    found = release.frame[["debt", "code", "income"]]
    assert dict(release.certificate.negative) == (found < 0).sum().to_dict()
