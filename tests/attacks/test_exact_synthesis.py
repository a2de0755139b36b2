"""A level of two records, with the mean of its incomes kept: one of them learns the other's to the last digit."""

from __future__ import annotations

import pandas as pd
import pytest

from suffice import Restore, Synthesis, protect
from suffice.errors import GuardError
from tests.synthesis.test_exact import MARGINS, ROLES, people


def with_rare(count: int) -> pd.DataFrame:
    data = people()
    data.loc[: count - 1, "edu"] = "doctor"
    return data


@pytest.fixture(scope="module")
def release():
    return protect(with_rare(2), ROLES, Synthesis(m=1, margins=MARGINS).then(Restore()))


def test_one_of_two_learns_the_income_of_the_other(release):
    own, other = with_rare(2)["income"][:2]
    total = release.frame.loc[release.frame["edu"] == "doctor", "income"].sum()
    assert other > 0
    assert total - own == pytest.approx(other, rel=1e-9)


def test_it_is_not_written(release, tmp_path):
    assert {"group-size", "rare-cells"} <= {each.rule for each in release.findings if each.blocks}
    with pytest.raises(GuardError, match="group-size"):
        release.write(tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_levels_of_many_are_written(tmp_path):
    release = protect(people(), ROLES, Synthesis(m=1, margins=MARGINS).then(Restore()))
    release.write(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").exists()
