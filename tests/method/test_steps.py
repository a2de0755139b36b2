"""Methods in order: a step that keeps what its start has follows only a step that has it, or restore."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import Ipso, Microaggregate, Noise, PcaMask, RankSwap, Restore, Roles, Rotate, Seed, Shuffle, protect
from suffice.errors import UsageError

Y = ["y", "z"]
LAST = [Rotate(sweeps=3), Microaggregate(k=3), PcaMask()]


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame(rng.gamma(4.0, size=(300, 3)), columns=[*Y, "x"])


def made(method: Any, **roles: Any) -> Any:
    return protect(frame(), Roles(confidential=Y, **roles), method, seed=Seed.for_tests(1))


@pytest.mark.parametrize("last", LAST, ids=lambda each: each.name)
@pytest.mark.parametrize("first", [RankSwap(), Shuffle(), Noise(delta=3.0)], ids=lambda each: each.name)
def test_a_start_that_has_lost_the_moments_is_refused_and_restore_heals(first: Any, last: Any) -> None:
    with pytest.raises(
        UsageError, match=rf"(?s){last.name} keeps the mean.*{first.name} then restore then {last.name}"
    ):
        made(first.then(last))
    assert made(first.then(Restore(), last)).certificate.holds


def test_a_start_that_has_them_is_not() -> None:
    for first, last in ((Ipso(), Rotate(sweeps=3)), (Microaggregate(k=3), PcaMask()), (PcaMask(), Microaggregate(k=3))):
        assert made(first.then(last)).certificate.holds


def test_regressions_count_where_columns_are_given() -> None:
    with pytest.raises(UsageError, match="keeps the covariance and fit of its start"):
        made(PcaMask().then(Rotate(sweeps=3)), given=["x"])
    with pytest.raises(UsageError, match="keeps the covariance of its start"):
        made(PcaMask().then(Rotate(sweeps=3)))
