"""Small leaves give the values of those who are known; unsmoothed trees hand on what one record has."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from suffice import Cart, Margins, Release, Roles, Synthesis, protect
from suffice.errors import GuardError
from suffice.method.method import Method
from suffice.seed import Seed

NAMES = ["age", "town", "job", "income"]


def people(n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "town": rng.choice([f"t{i}" for i in range(8)], n),
            "job": rng.choice([f"j{i}" for i in range(8)], n),
            "income": rng.normal(3e4, 6e3, n).round(1),
        }
    )


def drawn(model: Cart, data: pd.DataFrame | None = None) -> Release:
    return protect(people() if data is None else data, Roles(confidential=NAMES), Synthesis(m=1, models=model))


def levels(release: Release) -> dict[str, str]:
    return {finding.rule: finding.level for finding in release.findings}


def read(release: Release) -> float:
    """Of those whose age, town and job are found in the release, the share whose income there is theirs to 1 %."""
    both = release.frame.merge(people(), on=NAMES[:3])
    return float((np.abs(both.income_x - both.income_y) < 0.01 * both.income_y).mean())


def test_who_is_known_is_read_off_leaves_of_one(tmp_path) -> None:
    bare = drawn(Cart(least=1, gain=0))
    assert read(bare) > 0.6
    assert levels(bare)["leaf"] == "stop"
    with pytest.raises(GuardError, match="leaf"):
        bare.write(tmp_path / "out.csv")
    safe = drawn(Cart())
    assert not read(safe) > 0.3  # where anyone is found at all
    assert "leaf" not in levels(safe)
    assert levels(drawn(Cart(least=5)))["leaf"] == "warn"


def test_records_that_stand_there_ten_times_are_one() -> None:
    more = pd.concat([people(40).loc[np.repeat(np.arange(40), 10)], people(300)[40:]], ignore_index=True)
    release = drawn(Cart(least=10), more)
    released = release.frame.merge(people(40), on=NAMES)
    assert len(released) < 10, len(released)  # with leaves of ten copies most would be there
    assert release.assessment.models.leaf is not None
    assert release.assessment.models.leaf >= 10


def test_the_largest_income_is_handed_on_unless_smoothed(tmp_path) -> None:
    top = set(people().income.nlargest(20))
    bare, safe = drawn(Cart(smooth=False)), drawn(Cart())
    assert top & set(bare.frame.income)
    assert not top & set(safe.frame.income)
    assert safe.frame.income.max() < people().income.max()
    assert levels(bare)["rare-values"] == "stop"
    with pytest.raises(GuardError, match="rare-values"):
        bare.write(tmp_path / "out.csv")
    assert "rare-values" not in levels(safe)


@pytest.mark.parametrize("spread", [1.0, 2.0])
def test_the_largest_released_income_is_not_the_second_largest(spread: float) -> None:
    """Values of the three largest are drawn up to one end, which many draws come near: it is no income."""
    told = []
    for number in range(8):
        rng = np.random.default_rng(number)
        data = pd.DataFrame({"age": rng.integers(18, 80, 300), "income": np.exp(rng.normal(8, spread, 300))})
        roles, key = Roles(confidential=["age", "income"]), Seed.for_tests(number)
        frames = protect(data, roles, Synthesis(m=20), seed=key).frames
        released, second = max(each.income.max() for each in frames), data.income.nlargest(2).iloc[1]
        told.append(abs(released - second) < 0.01 * second)
    assert np.mean(told) < 0.3, told


@pytest.mark.parametrize("model", ["cart", "linear:scale=quantile"])
def test_values_do_not_show_as_edges_of_a_thousand_draws_each(model: str) -> None:
    """Where draws between neighbours begin and end, their density jumps."""

    def found(data: pd.DataFrame, drawn: np.ndarray) -> float:
        y = np.sort(data.income.to_numpy())[2:-2]
        at = np.searchsorted(drawn, y)
        left, right = (np.abs(drawn[(at + step).clip(0, len(drawn) - 1)] - y) for step in (-200, 200))
        return float((np.abs(np.log(left / right)) > 0.2).mean())

    own, other = (pd.DataFrame({"income": np.random.default_rng(k).normal(100, 15, 200)}) for k in (1, 2))
    release = protect(own, Roles(confidential=["income"]), Synthesis(m=1, records=200_000, models=model))
    drawn = np.sort(release.frame.income.to_numpy())
    assert found(own, drawn) < found(other, drawn) + 0.15


@pytest.mark.parametrize("model", ["kernel", "kernel:width=0.000000001"])
def test_a_kernel_hides_who_is_far_from_all_others(model: str) -> None:
    """Where most values are alike it is narrow: the giant is in the release within 3 %, or to the last digit."""
    rng = np.random.default_rng(4)
    data = pd.DataFrame({"size": rng.normal(size=2000), "income": np.exp(rng.normal(8, 0.1, 2000))})
    data.loc[7, "income"] = giant = 3.21e6
    release = protect(data, Roles(confidential=["size", "income"]), Synthesis(m=20, models=model))
    released = np.concatenate([frame.income for frame in release.frames])
    assert not (np.abs(released - giant) < 0.2 * giant).any()
    y = np.sort(data.income.to_numpy())
    near = y[np.searchsorted(y, released - 1e-4).clip(max=len(y) - 1)]
    assert (np.abs(released - near) < 1e-4).mean() < 0.01


def test_names_are_no_category() -> None:
    data = people().assign(town=[f"person {i}" for i in range(300)])
    assert levels(drawn(Cart(), data))["rare-values"] == "stop"
    permuted = protect(data, Roles(confidential=["town", "job"]), Margins())
    assert set(permuted.frame.town) == set(data.town)
    assert levels(permuted)["rare-values"] == "stop"


@pytest.mark.parametrize("other", ["none", None])
def test_names_of_some_are_names(other: str | None, tmp_path) -> None:
    """Nine in ten have none, and all names leave."""
    data = people().assign(remark=[f"person {i}" if i < 30 else other for i in range(300)])
    release = protect(data, Roles(confidential=["remark", "income"]), Synthesis())
    shown = {name for frame in release.frames for name in frame.remark.dropna()} - {"none"}
    assert len(shown) > 25
    assert levels(release)["rare-values"] == "stop"
    with pytest.raises(GuardError, match="rare-values"):
        release.write(tmp_path / "out.csv")


@pytest.mark.parametrize(
    ("few", "method"),
    [
        (3, Synthesis(m=1)),
        (3, Synthesis(m=1, models="linear:scale=quantile")),
        (30, Synthesis(m=1, models={"cars": "ordered"})),
    ],
    ids=str,
)
def test_the_one_large_number_of_a_column_of_few_is_seen(few: int, method: Method) -> None:
    rng = np.random.default_rng(4)
    data = pd.DataFrame({"cars": rng.integers(few, size=400), "income": rng.normal(size=400)})
    common = protect(data, Roles(confidential=["cars", "income"]), method)
    assert "rare-values" not in levels(common)
    data.loc[7, "cars"] = 987_654
    found = [protect(data, Roles(confidential=["cars", "income"]), method, seed=Seed.for_tests(i)) for i in range(6)]
    seen = [(each.frame.cars == 987_654).any() for each in found]
    assert any(seen)
    assert {levels(each).get("rare-values") for each in found} == {"stop"}  # whichever key has drawn it


def test_members_are_told_by_leaves_of_one() -> None:
    bare, safe = drawn(Cart(least=1, gain=0)), drawn(Cart(least=60))
    assert bare.assessment.models.found > 0.3
    assert levels(bare)["membership"] == "warn"
    assert safe.assessment.models.found < 0.04
    assert "membership" not in levels(safe)


def test_uniques_come_back_from_leaves_of_one() -> None:
    data = people().assign(income=lambda each: (each.income // 1000).astype(int))
    assert levels(drawn(Cart(least=1, gain=0), data))["replicated-records"] in ("warn", "stop")
    assert "replicated-records" not in levels(drawn(Cart(), data))


@pytest.mark.parametrize("related", [0.0, 0.7])
def test_files_together_tell_more_than_one_and_little_where_splits_must_tell_more_than_chance(related: float) -> None:
    rng = np.random.default_rng(1)
    data = pd.DataFrame(np.exp(related * rng.normal(size=(800, 1)) + rng.normal(size=(800, 4))), columns=list("abcd"))
    roles, key = Roles(confidential=list("abcd")), Seed.for_tests(1)

    def found(m: int, gain: float) -> float:
        return protect(data, roles, Synthesis(m=m, models=Cart(gain=gain)), seed=key).assessment.models.found

    one, five = found(1, 0.0), found(5, 0.0)
    assert five > 1.3 * one, (one, five)
    assert found(5, 2.0) < min(0.05, 0.7 * five)


def test_many_files_and_files_of_many_records_are_looked_at_together() -> None:
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.normal(size=(800, 1)) + rng.normal(size=(800, 3)), columns=list("abc"))
    roles, key = Roles(confidential=list("abc")), Seed.for_tests(1)
    one, many, long = (
        protect(data, roles, method, seed=key).assessment.models.found
        for method in (Synthesis(m=1), Synthesis(m=20), Synthesis(m=1, records=16_000))
    )
    assert min(many, long) > 1.5 * one, (one, many, long)


def test_records_that_are_not_replaced_are_found_by_what_is_known_of_them() -> None:
    """Who knows income and town of a person reads his job off a file in which only large incomes are drawn."""
    data = people()
    roles = Roles(confidential=["income"], given="C(town) + C(job)", keep=["age"])

    def found(release: Release) -> float:
        both = data.reset_index().merge(release.aligned().reset_index(), on=["income", "town"])
        return float((both.index_x == both.index_y).sum() / len(data))

    some, every = (protect(data, roles, Synthesis(m=1, where=where)) for where in ("income > 35000", None))
    assert found(some) > 0.5
    assert found(every) < 0.02
    assert levels(some)["unique-records"] == "warn"
    assert levels(every).get("unique-records") != "warn"
    told = next(each for each in some.findings if each.rule == "unique-records")
    assert told.numbers["left"] == int((data.income <= 35000).sum())


def test_who_is_alone_among_the_chosen_hides_among_all_others() -> None:
    """Each town and job is that of one chosen record, and of two others whose income is not drawn."""
    data = people()
    data["town"], data["job"] = np.arange(len(data)) % 10, np.arange(len(data)) // 10 % 10
    few = np.arange(len(data)) < 100
    data["income"] = np.where(few, 90_000.0 + np.arange(len(data)), data["income"].clip(upper=30_000.0))
    release = protect(
        data, Roles(confidential=["income"], given="C(town) + C(job)"), Synthesis(m=1, where="income > 50000")
    )
    unique = release.assessment.unique
    assert {*unique.columns} == {"town", "job"}
    assert unique.share == 0.0
