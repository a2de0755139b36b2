"""Puts the root of the project on the path: tests import `tests.places` and `tests.tolerances`."""

import os
import sys
from collections.abc import Iterator
from hashlib import sha256
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, settings

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # read when NumPy is loaded; workers and threads of BLAS wait for each other

os.environ["PYTHONDONTWRITEBYTECODE"] = ""  # every process that a test starts would compile all that it imports
sys.dont_write_bytecode = False
settings.register_profile("timeless", deadline=None, suppress_health_check=[HealthCheck.too_slow])  # machines are busy
settings.register_profile("fixed", parent=settings.get_profile("timeless"), derandomize=True)
sys.path.insert(0, str(Path(__file__).parent))


def pytest_configure(config: pytest.Config) -> None:
    """What must pass depends neither on luck nor on the clock; `--hypothesis-seed=N` tries other examples."""
    if config.getoption("--hypothesis-profile") is None:
        settings.load_profile("fixed" if config.getoption("--hypothesis-seed") is None else "timeless")


def _follow(request: pytest.FixtureRequest, patch: pytest.MonkeyPatch) -> None:
    from suffice import seed  # NumPy is loaded only now

    made, of = count(), f"{request.node.nodeid} {request.config.getoption('--hypothesis-seed')}"
    patch.setattr(
        seed, "secrets", SimpleNamespace(token_bytes=lambda n: sha256(f"{of} {next(made)}".encode()).digest()[:n])
    )


@pytest.fixture(autouse=True)
def _keys(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys follow from the name of the test; with `--hypothesis-seed=N`, from N too."""
    _follow(request, monkeypatch)


@pytest.fixture(autouse=True, scope="module")
def _keys_of_module(request: pytest.FixtureRequest) -> Iterator[None]:
    """Those of what all tests of a file share follow from the file's name."""
    with pytest.MonkeyPatch.context() as patch:
        _follow(request, patch)
        yield


@pytest.fixture
def one_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    """One trial release, where guards would like four: for tests of releases, not of verdicts."""
    monkeypatch.setattr("suffice.risk.assessment.TRIALS", 1)
