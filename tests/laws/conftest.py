"""Laws are of releases, not of verdicts: one trial release, where guards would like four."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _one_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.risk.assessment.TRIALS", 1)
