"""Who knows somebody's numbers looks for them in the release, and reads off the category that was drawn beside them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.spatial import cKDTree

from suffice import Ipso, Margins, Roles, Romm, Rotate, protect
from suffice.method.method import Method

NUMBERS = list("uvwx")
ROLES = Roles(confidential=["a", "b", *NUMBERS], given="C(a) + C(b)")


def people(seed: int, n: int = 1500) -> pd.DataFrame:
    """Numbers that tell something of two categories."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(2, size=n), rng.integers(4, size=n)
    Y = rng.gamma(2.0, size=(n, 4)) + 0.5 * a[:, None] + 0.3 * b[:, None]
    return pd.DataFrame(Y, columns=NUMBERS).assign(a=np.array(["f", "m"])[a], b=np.array(list("pqrs"))[b])


def read_off(release: pd.DataFrame, known: pd.DataFrame) -> float:
    """How often the nearest released record has a person's own two categories."""
    nearest = cKDTree(release[NUMBERS].to_numpy()).query(known[NUMBERS].to_numpy())[1]
    same = [release[name].to_numpy()[nearest] == known[name].to_numpy() for name in "ab"]
    return float((same[0] & same[1]).mean())


@pytest.mark.parametrize("method", [Ipso(), Romm(correlation=0.3), Rotate()])
def test_numbers_tell_of_a_record_no_more_than_of_anybody(method: Method) -> None:
    """Of persons of the file no more than of as many others, whom a model of the numbers tells something of, too."""
    release = protect(people(1), ROLES, Margins(keep=[["a", "b"]]).then(method))
    assert not any(finding.blocks for finding in release.findings)
    own, others = (read_off(release.frame, people(seed)) for seed in (1, 2))
    assert own - others < 3 * np.sqrt(2 * others * (1 - others) / 1500)


def test_numbers_that_stay_near_tell_it_and_stop() -> None:
    release = protect(people(1), ROLES, Margins(keep=[["a", "b"]]).then(Romm(correlation=0.99)))
    assert read_off(release.frame, people(1)) > read_off(release.frame, people(2)) + 0.2
    assert "residual-correlation" in {finding.rule for finding in release.findings if finding.blocks}
