"""What stands unchanged beside the confidential values: a column that equals, fits or adds up to one of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import Ipso, Roles, Seed, protect
from suffice.algebra.array import Array
from suffice.release.release import Release


def persons(n: int = 1500) -> pd.DataFrame:
    """Earnings, other income and their total; last year's; and the wage that is all of most persons' earnings."""
    rng = np.random.default_rng(5)
    earned, other = np.rint(rng.lognormal(10, 0.7, n)), np.rint(rng.lognormal(7, 1.5, n))
    return pd.DataFrame(
        {
            "region": rng.integers(0, 6, n),
            "earned": earned,
            "other": other,
            "total": earned + other,
            "euros": np.round(earned / 7.4604, 2),
            "before": earned / (1.03 * (1 + 0.005 * rng.normal(size=n))),
            "wage": np.where(rng.random(n) < 0.3, earned, np.rint(rng.lognormal(9.5, 0.7, n))),
            "noise": rng.lognormal(9.5, 0.7, n),
            "name": [f"P{i:05d}" for i in rng.permutation(n)],
        }
    )


def released(**roles: Any) -> Release:
    return protect(persons(), Roles(confidential=["earned"], **roles), Ipso(), seed=Seed.for_tests(1))


def levels(release: Release) -> dict[str, str]:
    return {finding.rule: finding.level for finding in release.findings}


def near(release: Release, guess: Array, share: float) -> float:
    """Share of the persons whose earnings a guess is within a share of; rows are told apart by their names."""
    truth = persons().set_index("name")["earned"].loc[release.frame["name"]].to_numpy()
    return float((np.abs(guess - truth) <= share * truth).mean())


def test_a_kept_total_and_its_kept_rest_are_the_column() -> None:
    release = released(given="C(region)", keep=["total", "other", "name"])
    frame = release.frame
    assert near(release, (frame["total"] - frame["other"]).to_numpy(), 0.0) == 1
    assert levels(release)["kept-columns"] == "stop"
    (said,) = (finding for finding in release.findings if finding.rule == "kept-columns")
    assert said.numbers["by"] == "total, other"
    assert levels(released(given="C(region)", keep=["other", "name"])).get("kept-columns") is None


@pytest.mark.parametrize("hole", [np.nan, "n/a"], ids=["empty", "text"])
def test_one_hole_hides_nothing(hole: Any) -> None:
    """The total less the rest, of all but one."""
    data = persons()
    data["other"] = np.rint(data["noise"])  # as large as the earnings, so that the total alone tells little
    data["total"] = data["earned"] + data["other"]
    alone = protect(data, Roles(confidential=["earned"], keep=["total"]), Ipso(), seed=Seed.for_tests(1))
    assert "kept-columns" not in levels(alone)
    data["other"] = (data["other"].astype(str) if isinstance(hole, str) else data["other"]).where(data.index != 7, hole)
    release = protect(data, Roles(confidential=["earned"], keep=["total", "other"]), Ipso(), seed=Seed.for_tests(1))
    out = release.aligned()
    guess = out["total"] - pd.to_numeric(out["other"], errors="coerce")
    assert (guess == data["earned"]).sum() == len(data) - 1
    assert levels(release)["kept-columns"] == "stop"


def test_a_kept_column_in_another_currency_is_the_column() -> None:
    release = released(given="C(region)", keep=["euros", "name"])
    assert near(release, 7.4604 * release.frame["euros"].to_numpy(), 0.001) == 1
    assert levels(release)["kept-columns"] == "stop"


@pytest.mark.parametrize("role", ["given", "keep"])
def test_last_years_value_is_nearly_this_years(role: str) -> None:
    roles: dict[str, Any] = {"given": "before", "keep": ["name"]} if role == "given" else {"keep": ["before", "name"]}
    release = released(**roles)
    frame = release.frame
    guess = 1.03 * frame["before"].to_numpy()
    if role == "given":  # the slope is kept
        X = np.column_stack([np.ones(len(frame)), frame["before"]])
        guess = X @ np.linalg.lstsq(X, frame["earned"].to_numpy())[0]
    assert near(release, guess, 0.01) > 0.8
    assert near(release, np.random.default_rng(1).permutation(guess), 0.01) < 0.05
    assert levels(release)["explained-columns" if role == "given" else "kept-columns"] == "stop"


@pytest.mark.parametrize("given", ["before - 1", "log(before) - 1"])
def test_a_formula_of_one_term_and_no_intercept_tells_as_much(given: str) -> None:
    release = released(given=given, keep=["name"])
    assert near(release, 1.03 * release.frame["before"].to_numpy(), 0.01) > 0.8
    assert levels(release)["explained-columns"] == "stop"


@pytest.mark.parametrize("role", ["given", "keep"])
def test_a_column_that_is_the_confidential_one_for_some(role: str) -> None:
    roles: dict[str, Any] = {"given": "wage", "keep": ["name"]} if role == "given" else {"keep": ["wage", "name"]}
    release = released(**roles)
    assert near(release, release.frame["wage"].to_numpy(), 0.0) > 0.25
    assert levels(release)["equal-cells"] == "stop"


@pytest.mark.parametrize("role", ["given", "keep"])
def test_a_column_that_is_nearly_the_confidential_one_for_most(role: str) -> None:
    """No line is near, since the others are anywhere."""
    data, rng = persons(), np.random.default_rng(8)
    most, slip = rng.random(len(data)) < 0.7, rng.uniform(0.99, 1.01, len(data))
    data["register"] = np.where(most, data["earned"] * slip, rng.lognormal(10, 1.0, len(data)))
    data["mixed"] = rng.permutation(data["register"])
    rule = "explained-columns" if role == "given" else "kept-columns"
    for name, share in (("register", 0.7), ("mixed", 0.05)):
        roles: dict[str, Any] = {"given": name} if role == "given" else {"keep": [name]}
        release = protect(data, Roles(confidential=["earned"], **roles), Ipso(), seed=Seed.for_tests(1))
        told = (np.abs(release.aligned()[name] / data["earned"] - 1) < 0.02).mean()
        assert told == pytest.approx(share, abs=0.05)
        assert levels(release).get(rule) == ("stop" if name == "register" else None)


def test_salaries_by_grade_are_nearly_known() -> None:
    """In groups, in cells of a factor and by numbers alike."""
    rng = np.random.default_rng(2)
    grade = rng.integers(1, 12, 600)
    data = pd.DataFrame({"grade": grade, "salary": 2000 * 1.1**grade * (1 + 0.005 * rng.normal(size=600))})
    for roles in ({"groups": ["grade"]}, {"given": "C(grade)"}):
        release = protect(data, Roles(confidential=["salary"], **roles), Ipso(), seed=Seed.for_tests(1))
        means = release.frame.groupby("grade")["salary"].mean()
        guess = means.loc[data["grade"]].to_numpy()
        assert (np.abs(guess - data["salary"]) <= 0.01 * data["salary"]).mean() > 0.8
        assert levels(release)["explained-columns"] == "stop"


def test_a_column_that_names_every_record_is_told() -> None:
    assert levels(released(given="C(region)", keep=["name"]))["unique-records"] == "warn"
    assert "unique-records" not in levels(released(given="C(region)", identifiers=["name"]))


def test_what_is_not_looked_into_is_said() -> None:
    """A list of one number is that number."""
    data = persons().assign(boxed=lambda frame: [(value,) for value in frame["earned"]])
    release = protect(data, Roles(confidential=["earned"], keep=["boxed"]), Ipso(), seed=Seed.for_tests(1))
    out = release.aligned()
    assert [cell[0] for cell in out["boxed"]] == data["earned"].tolist()
    assert levels(release)["kept-columns"] == "warn"


@pytest.mark.parametrize("role", ["given", "keep"])
@pytest.mark.parametrize("how", ["rank", "classes", "digits"])
def test_what_an_order_classes_or_digits_tell(how: str, role: str) -> None:
    """No formula of these is a line. Whoever knows a few persons knows those between; a quotient of whole numbers has
    digits that no other has.
    """
    rng = np.random.default_rng(7)
    data = pd.DataFrame({"y": rng.lognormal(8, 1, 2000), "height": rng.integers(140, 200, 2000).astype(float)})
    data["rank"], data["classes"] = data["y"].rank(), data["y"].rank() // 20
    data["digits"] = rng.integers(40, 120, 2000) / data["height"] ** 2
    column = "height" if how == "digits" else "y"
    roles: dict[str, Any] = {"given": how} if role == "given" else {"keep": [how]}
    release = protect(data, Roles(confidential=[column], **roles), Ipso(), seed=Seed.for_tests(1))
    out = release.aligned()
    if how == "digits":
        pairs = {w / float(h) ** 2: h for h in range(140, 200) for w in range(40, 120)}
        guess = out["digits"].map(pairs).to_numpy()
    else:
        known = data.sample(200, random_state=1)
        order = known[how].argsort().to_numpy()
        guess = np.interp(out[how], known[how].to_numpy()[order], known["y"].to_numpy()[order])
    assert (np.abs(guess - data[column]) <= 0.05 * data[column]).mean() > 0.8
    rule = "explained-columns" if role == "given" else "kept-columns"
    assert levels(release)[rule] == "stop"
    mixed = data.assign(**{how: rng.permutation(data[how])})
    nothing = protect(mixed, Roles(confidential=[column], **roles), Ipso(), seed=Seed.for_tests(1))
    assert levels(nothing).get(rule) is None


def test_columns_that_tell_nothing_are_left_alone() -> None:
    found = levels(released(given="C(region) + log(other)", keep=["noise"]))
    assert not {"explained-columns", "kept-columns", "equal-cells", "unique-records"} & {*found}


def wages(n: int = 800) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    hours, rate = rng.lognormal(3, 0.4, n), rng.lognormal(2, 0.5, n)
    y = hours * rate
    classes = [f"class {k}" for k in np.floor(np.log(y) / 0.02)]
    text, logs = [f"{value:.2f}" for value in y], np.log10(y).round(4)
    return pd.DataFrame({"y": y, "hours": hours, "rate": rate, "logs": logs, "text": text, "classes": classes})


@pytest.mark.parametrize(
    ("kept", "given", "read"),
    [
        (["hours", "rate"], "1", lambda out: out["hours"] * out["rate"]),
        ([], "log(hours) + log(rate)", lambda out: out["hours"] * out["rate"]),
        (["logs"], "1", lambda out: 10 ** out["logs"]),
        ([], "logs", lambda out: 10 ** out["logs"]),
        (["text"], "1", lambda out: out["text"].astype(float)),
        (["classes"], "1", lambda out: np.exp(0.02 * (out["classes"].str[6:].astype(float) + 0.5))),
    ],
    ids=["product", "given logarithms", "kept logarithm", "given logarithm", "text", "narrow classes"],
)
def test_what_a_reader_computes(kept: list[str], given: str, read: Any) -> None:
    """Every value within 1 %, by anyone who thinks of the formula."""
    data = wages()
    release = protect(data, Roles(confidential=["y"], given=given, keep=kept), Ipso(), seed=Seed.for_tests(1))
    assert (np.abs(read(release.aligned()) / data["y"] - 1) <= 0.011).mean() > 0.99
    stops = {finding.rule for finding in release.findings if finding.level == "stop"}
    assert stops & {"kept-columns", "explained-columns"}


@pytest.mark.parametrize("how", ["levels", "order"])
def test_holes_in_a_confidential_column_hide_nothing(how: str) -> None:
    """Wages are one in a team, or a curve of a date; a third of them is missing, in some pattern."""
    rng = np.random.default_rng(6)
    team = rng.integers(0, 60, 400)
    steps = np.arange(400) ** 2 / 10
    wage = rng.lognormal(8, 1.0, 60)[team] if how == "levels" else 3000 * (2 + np.sin(np.arange(400) / 8))
    wage = wage * rng.uniform(0.99, 1.01, 400)
    data = pd.DataFrame({"wage": np.where(rng.random(400) < 0.34, np.nan, wage), "z": rng.normal(size=400)})
    data["kept"] = [f"team {chr(65 + k // 10)}{chr(65 + k % 10)}" for k in team] if how == "levels" else steps
    roles = Roles(confidential=["wage", "z"], keep=["kept"], missing="patterns")
    release = protect(data, roles, Ipso(), seed=Seed.for_tests(1))
    assert levels(release)["kept-columns"] == "stop"
    mixed = data.assign(kept=rng.permutation(data["kept"]))
    assert "kept-columns" not in levels(protect(mixed, roles, Ipso(), seed=Seed.for_tests(1)))


def test_what_nobody_computes_is_kept() -> None:
    release = protect(wages(), Roles(confidential=["y"], keep=["hours"]), Ipso(), seed=Seed.for_tests(1))
    assert {finding.rule for finding in release.findings if finding.level == "stop"} == {"seed"}


@pytest.mark.parametrize("how", ["date", "%Y-%m-%d", "%d/%m/%Y", "%d.%m.%Y", "%d %B %Y", "moment", "curve"])
def test_a_kept_date_is_a_number_too(how: str) -> None:
    """Days since the entry are the debt; or a smooth function of it that nobody fits by a line."""
    rng = np.random.default_rng(4)
    y = np.rint(rng.lognormal(6, 0.8, 600))
    days = (np.log(y) - 6) ** 3 * 100 if how == "curve" else y
    entry = pd.Timestamp("2000-01-01") + pd.to_timedelta(days, unit="D")
    data = pd.DataFrame({"y": y, "entry": entry, "other": rng.permutation(entry)})
    if "%" in how:
        data[["entry", "other"]] = data[["entry", "other"]].map(lambda when: when.strftime(how))
    elif how == "date":
        data[["entry", "other"]] = data[["entry", "other"]].map(lambda when: when.date())
    release = protect(data, Roles(confidential=["y"], keep=["entry"]), Ipso(), seed=Seed.for_tests(1))
    when = pd.to_datetime(release.aligned()["entry"], format=how if "%" in how else None)
    since = (when - pd.Timestamp("2000-01-01")) / pd.Timedelta(days=1)
    guess = np.exp(6 + np.cbrt(since / 100)) if how == "curve" else since
    assert (np.abs(guess / y - 1) < 0.01).all()
    assert levels(release)["kept-columns"] == "stop"
    (said,) = (finding for finding in release.findings if finding.rule == "kept-columns")
    assert said.numbers["by"] == "entry"
    innocent = protect(data, Roles(confidential=["y"], keep=["other"]), Ipso(), seed=Seed.for_tests(1))
    assert "kept-columns" not in levels(innocent)


def payments(zeros: float = 0.3, n: int = 900) -> pd.DataFrame:
    """Debts and claims, of some firms none; what they are a head, times something, by a square."""
    rng = np.random.default_rng(9)
    y = rng.lognormal(8, 1, n) * np.where(rng.random(n) < 0.3, -1, 1) * (rng.random(n) >= zeros)
    w, v = rng.lognormal(3, 0.8, n), rng.normal(size=n)
    columns = {"y": y, "w": w, "v": v, "head": y / w, "times": y * v, "part": y / v, "square": np.abs(y) / w**2}
    there = np.where(y != 0, y, 1.0)
    return pd.DataFrame({**columns, "heads": np.where(y != 0, w / there, 0.0), "town": rng.integers(0, 5, n)})


SPOILT: dict[str, Any] = {
    "a code of SPSS": lambda rng, x: np.where(np.arange(len(x)) == 7, -np.finfo(float).max, x),
    "codes": lambda rng, x: np.where(rng.random(len(x)) < 0.05, 999_999_999.0, x),
    "negative codes": lambda rng, x: np.where(rng.random(len(x)) < 0.2, -9.0, x),
    "other values": lambda rng, x: np.where(rng.random(len(x)) < 0.3, rng.permutation(x), x),
}


@pytest.mark.parametrize("how", SPOILT)
def test_a_total_and_its_rest_with_codes_and_errors(how: str) -> None:
    """Total less rest, of all but some: what these are hides nothing of the others."""
    rng = np.random.default_rng(5)
    data = persons()
    data["other"] = np.rint(data["noise"])  # as large as the earnings, so that the total alone tells little
    data["total"] = data["earned"] + data["other"]
    data["other"] = SPOILT[how](rng, data["other"].to_numpy())
    roles = Roles(confidential=["earned"], keep=["total", "other"])
    release = protect(data, roles, Ipso(), seed=Seed.for_tests(1))
    out = release.aligned()
    assert (out["total"] - out["other"] == data["earned"]).mean() > 0.68
    assert levels(release)["kept-columns"] == "stop"
    mixed = data.assign(total=rng.permutation(data["total"]))
    assert "kept-columns" not in levels(protect(mixed, roles, Ipso(), seed=Seed.for_tests(1)))


PAYMENTS: dict[str, tuple[dict[str, Any], Any]] = {
    "weight": ({"weight": "w", "keep": ["head"]}, lambda out: out["head"] * out["w"]),
    "kept": ({"keep": ["head", "w"]}, lambda out: out["head"] * out["w"]),
    "given": ({"given": "head + w"}, lambda out: out["head"] * out["w"]),
    "both": ({"given": "w", "groups": ["town"], "keep": ["head"]}, lambda out: out["head"] * out["w"]),
    "turned": ({"keep": ["heads", "w"]}, lambda out: out["w"] / out["heads"]),
    "product": ({"keep": ["times", "v"]}, lambda out: out["times"] / out["v"]),
    "quotient": ({"keep": ["part", "v"]}, lambda out: out["part"] * out["v"]),
}


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("how", PAYMENTS)
def test_a_column_beside_what_it_was_divided_by(how: str) -> None:
    """Of either sign, and nothing for some: every other value to the last digits."""
    data, (roles, read) = payments(), PAYMENTS[how]
    release = protect(data, Roles(confidential=["y"], **roles), Ipso(), seed=Seed.for_tests(1))
    some = data["y"] != 0
    assert np.allclose(read(release.aligned())[some], data["y"][some])
    rule = "explained-columns" if how == "given" else "kept-columns"
    assert levels(release)[rule] == "stop"
    said = next(finding for finding in release.findings if finding.rule == rule)
    assert how == "given" or {*str(said.numbers["by"]).split(", ")} == {
        *roles["keep"],
        *("w",) * (how in ("weight", "both")),
    }
    rng = np.random.default_rng(3)
    names = [name for name in data if name not in ("y", "town")]
    mixed = data.assign(**{name: rng.permutation(data[name]) for name in names})
    nothing = protect(mixed, Roles(confidential=["y"], **roles), Ipso(), seed=Seed.for_tests(1))
    assert levels(nothing).get(rule) is None


SUMS: dict[str, Any] = {
    "a head of two sexes": lambda d: d["a"] * (d["b"] + d["c"]),
    "what was sold, and the rest": lambda d: d["a"] * d["b"] + d["c"],
    "two products": lambda d: d["a"] * d["b"] + d["c"] * d["e"],
    "a share less": lambda d: d["a"] / d["b"] - d["c"],
}


@pytest.mark.parametrize("role", ["given", "keep"])
@pytest.mark.parametrize("how", SUMS)
def test_sums_of_products(how: str, role: str) -> None:
    rng = np.random.default_rng(3)
    data = pd.DataFrame({name: rng.lognormal(2, 0.8, 900) for name in "abce"})
    data["y"], data["none"], data["town"] = SUMS[how](data), rng.lognormal(4, 1, 900), rng.integers(0, 4, 900)
    kept: dict[str, Any] = {"given": "a + b + c + e"} if role == "given" else {"keep": ["a", "b", "c", "e"]}
    rule = "explained-columns" if role == "given" else "kept-columns"
    for name, groups in (("y", []), ("y", ["town"]), ("none", []), ("none", ["town"])):
        release = protect(data, Roles(confidential=[name], groups=groups, **kept), Ipso(), seed=Seed.for_tests(1))
        assert np.allclose(SUMS[how](release.aligned()), data["y"])  # anyone computes it
        assert levels(release).get(rule) == ("stop" if name == "y" else None)


def test_powers_with_zeros() -> None:
    data = payments()
    data["y"] = data["y"].abs()
    release = protect(data, Roles(confidential=["y"], keep=["square", "w"]), Ipso(), seed=Seed.for_tests(1))
    out = release.aligned()
    assert np.allclose(out["square"] * out["w"] ** 2, data["y"])
    assert levels(release)["kept-columns"] == "stop"


def test_a_weight_by_size_tells_the_size() -> None:
    """Drawn in proportion to its size, a firm has a weight that is a number over its size."""
    rng = np.random.default_rng(4)
    size = rng.lognormal(6, 1, 500)
    data = pd.DataFrame({"size": size, "w": 1e5 / size, "other": rng.permutation(1e5 / size)})
    release = protect(data, Roles(confidential=["size"], weight="w"), Ipso(), seed=Seed.for_tests(1))
    out = release.aligned()
    guess = out["size"].mean() / (1 / out["w"]).mean() / out["w"]
    assert np.corrcoef(guess, data["size"])[0, 1] > 0.999
    assert levels(release)["explained-columns"] == "stop"
    data["classes"] = data["w"].groupby(pd.qcut(size, 5, labels=False)).transform("mean")  # the remedy
    for weight, level in (("other", None), ("classes", "warn")):
        free = protect(data, Roles(confidential=["size"], weight=weight), Ipso(), seed=Seed.for_tests(1))
        assert levels(free).get("explained-columns") in (None, level)
