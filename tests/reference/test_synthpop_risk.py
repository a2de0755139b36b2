"""Disclosure measures against synthpop's numbers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv

from suffice.risk.attribute_disclosure import attribute_disclosure
from suffice.risk.keys import joint, levels, tenths
from suffice.risk.replicated_uniques import replicated_uniques
from suffice.rows.arrow import as_float

from ..places import SHARED, needs_shared

pytestmark = needs_shared


def shared(name: str) -> pa.Table:
    assert SHARED is not None
    empty = csv.ConvertOptions(null_values=["NA"], strings_can_be_null=True)
    return csv.read_csv(SHARED / "reference" / f"synthpop_{name}.csv", convert_options=empty)


def keyed(names: list[str]) -> tuple[np.ndarray, np.ndarray]:
    one, two = shared("obs"), shared("syn_m1")
    both = [np.concatenate(levels(one[name], two[name])) for name in names]
    found = joint(both, len(one) + len(two))
    return found[: len(one)], found[len(one) :]


def test_replicated_uniques():
    found = replicated_uniques(*keyed(shared("obs").column_names))
    assert [found.original, found.released, found.present, found.replicated] == [
        row["Number"] for row in shared("replicated_uniques").to_pylist()
    ]


def test_attribute_disclosure():
    for row in shared("disclosure").to_pylist():
        key, released = keyed(row["keys"].split("+"))
        secret, guess = keyed([row["target"]])
        found = attribute_disclosure(key, secret, released, guess)
        ours = np.array([found.before, found.present, found.told, found.right, found.revealed])
        assert np.allclose(100 * ours, [row[name] for name in ("Dorig", "iS", "DiS", "DiSCO", "DiSDiO")], atol=1e-8)
        alone = replicated_uniques(key, released)
        ours = np.array([alone.original, alone.released, alone.replicated]) / len(key)
        assert np.allclose(100 * ours, [row[name] for name in ("UiO", "UiS", "repU")], atol=1e-8)
        there, told = (
            replicated_uniques(released, key).present,
            attribute_disclosure(released, guess, key, secret).before,
        )
        assert np.allclose([100 * there / len(key), 100 * told], [row["UiOiS"], row["Dsyn"]], atol=1e-8)


def test_attribute_disclosure_of_a_number_in_tenths():
    row = shared("disclosure_income10").to_pylist()[0]
    key, released = keyed(["sex", "age", "edu"])
    secret, guess = tenths(*(as_float(shared(name)["income"]) for name in ("obs", "syn_m1")))
    found = attribute_disclosure(key, secret, released, guess)
    ours = np.array([found.before, found.present, found.told, found.right, found.revealed])
    assert np.allclose(100 * ours, [row[name] for name in ("Dorig", "iS", "DiS", "DiSCO", "DiSDiO")], atol=1e-8)
