"""Laws are of releases, not of verdicts."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _of_releases(one_trial: None) -> None: ...
