"""Crosses on sensitive cells alone are undone by subtraction; with those that `Suppress` adds they are not."""

from __future__ import annotations

import numpy as np

from suffice.release.tables import publish
from suffice.tables.methods import Suppress
from suffice.tables.rules import MinimumFrequency
from suffice.tables.sensitivity import find_sensitive
from suffice.tables.table import Table


def subtracted(table: Table, shown: np.ndarray) -> np.ndarray:
    """What equations with one gap tell, again and again."""
    told = shown.copy()
    while True:
        gaps = np.isnan(told)
        rows = np.flatnonzero(abs(table.relations) @ gaps == 1)
        if not len(rows):
            return told
        line = table.relations[[rows[0]]].toarray()[0]
        cell = int(np.flatnonzero((line != 0) & gaps)[0])
        told[cell] = -(line @ np.nan_to_num(told)) / line[cell]


def test_sensitive_cells_alone_are_subtracted_and_stopped_and_a_pattern_is_not():
    n = [1, 9, 9, 9, 8, 7, 9, 9, 2, 6, 9, 8]
    data = {"a": [f"{k // 3}" for k in range(12)], "b": [f"{k % 3}" for k in range(12)], "n": n}
    table = Table.of_records(data, ["a", "b"], frequency="n")
    secret = find_sensitive(table, [MinimumFrequency(3)])
    true = table.values["count"]
    alone = publish(table, secret.sensitive, secret)
    assert (subtracted(table, np.where(secret.sensitive, np.nan, true)) == true).all()  # the attack: every one of them
    assert {finding.rule for finding in alone.findings if finding.blocks} == {"audit"}
    release = publish(table, secret.sensitive, secret, method=Suppress(search="auto"))
    assert not any(finding.blocks for finding in release.findings)
    gaps = release.made.suppressed
    assert np.isnan(subtracted(table, np.where(gaps, np.nan, true)))[gaps].all()
