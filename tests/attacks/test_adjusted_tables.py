"""Attacks on adjusted tables: whoever adjusts one again learns the directions, and with them the cells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from suffice.errors import GuardError
from suffice.seed import Seed
from suffice.tables.adjust.adjust import adjust
from tests.tables.test_adjust import ACCEPT, made, some

TABLES = 12


def told(sizes: str) -> tuple[float, float]:
    """Shares of tables whose sensitive cells, all of them, are computed, and whose directions are."""
    values = directions = 0
    for k in range(TABLES):
        table = made(k, (4, 5))
        secret = some(table, secret=3, seed=k)
        accept = ACCEPT if sizes == "least" else None
        released = adjust(table, secret, sizes=sizes, accept=accept, seed=Seed.for_tests(k))
        published = replace(table, values={"v": released.cells()}, contributors=None, holding=None)
        again = adjust(published, secret, sizes="least", accept=ACCEPT, seed=Seed.for_tests(100 + k)).changes["v"]
        off = np.abs(released.cells() - again - table.values["v"])[secret.sensitive]
        values += int((off < 0.5).all())
        directions += int((np.sign(again) == np.sign(released.changes["v"]))[secret.sensitive].all())
    return values / TABLES, directions / TABLES


def test_least_sizes_give_all_cells_of_many_tables_and_drawn_ones_none():
    values, directions = told("least")
    print(f"least: all cells of {values:.0%} of tables, all directions of {directions:.0%}; chance 12.5 %")
    assert values >= 0.3
    values, directions = told("drawn")
    print(f"drawn: all cells of {values:.0%} of tables, all directions of {directions:.0%}")
    assert values == 0


def test_least_sizes_are_stopped():
    table = made()
    with pytest.raises(GuardError, match="least-sizes"):
        adjust(table, some(table), sizes="least")
