"""The workers of the engine in other processes end with the tests that need them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.rows.process_engine import pool


@pytest.fixture(scope="session", autouse=True)
def workers() -> Iterator[None]:
    yield
    if pool.cache_info().currsize:
        pool().shutdown()
