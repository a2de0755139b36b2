"""One process for all trials of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.faults.places import Trials


@pytest.fixture(scope="module")
def tried(tmp_path_factory) -> Iterator[Trials]:
    trials = Trials(tmp_path_factory.mktemp("trials"))
    with trials.process:
        yield trials
        trials.process.communicate()
