"""With one degree of freedom a release is the original or its mirror image."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from suffice import Ipso, Seed, protect
from suffice.errors import GuardError
from tests.attacks.victims import OFF, confidential, profile, residuals, roles, rules, unguarded
from tests.tolerances import ENGINE


def tiny(n: int) -> pd.DataFrame:
    return profile(n=n, k=1)


@pytest.mark.parametrize("key", range(4))
def test_one_degree_leaves_two_candidates_and_the_truth_is_one(key: int) -> None:
    frame = tiny(3)
    released = unguarded(frame, Ipso(), key).aligned()
    candidates = [confidential(released), confidential(released) - 2 * residuals(released)]
    truth = confidential(frame)
    assert min(np.abs(guess - truth).max() for guess in candidates) < ENGINE * np.abs(truth).max()


def test_with_more_degrees_neither_is() -> None:
    frame = tiny(12)
    released = unguarded(frame, Ipso()).aligned()
    candidates = [confidential(released), confidential(released) - 2 * residuals(released)]
    truth = confidential(frame)
    assert min(np.abs(guess - truth).max() for guess in candidates) > 0.1 * truth.std()


def test_one_degree_is_never_written(tmp_path: Path) -> None:
    release = protect(tiny(3), roles(tiny(3)), Ipso(), seed=Seed(), accept={**OFF, "degrees-of-freedom": "why not"})
    with pytest.raises(GuardError, match="no override") as caught:
        release.write(tmp_path / "out.csv")
    assert caught.value.exit_code == 4
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("n", "level"), [(4, "stop"), (6, "stop"), (7, "warn"), (11, "warn"), (12, None)])
def test_the_ladder_on_real_releases(n: int, level: str | None) -> None:
    release = unguarded(tiny(n), Ipso())
    assert [f.level for f in release.findings if f.rule == "degrees-of-freedom"] == [level] * (level is not None)
    assert "leverage" not in rules(release, "never")
