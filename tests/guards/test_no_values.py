"""No finding holds a value of the file: only names, counts, shares and figures of the design."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice import Ipso, ResidualCorrelation, Roles, ScoreCorrelation, Seed, protect
from suffice.method.method import Method

NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")
METHODS: list[Method] = [Ipso(), ResidualCorrelation(d=0.95), ScoreCorrelation(d=1.0)]


@settings(max_examples=20, deadline=None)
@given(
    number=st.integers(0, 2**32),
    n=st.integers(8, 60),
    method=st.sampled_from(METHODS),
    spread=st.sampled_from([0.1, 1.0, 3.0]),
)
def test_no_value_and_no_rare_category_is_in_a_finding(number: int, n: int, method: Method, spread: float) -> None:
    rng = np.random.default_rng(number)
    money = np.exp(rng.normal(16, spread, size=(n, 2))).round(4)
    frame = pd.DataFrame({"region": ["seldom", *["usual"] * (n - 1)], "size": money[:, 0], "money": money[:, 1]})
    frame["double"] = 2 * frame["money"]
    roles = Roles(confidential=["money", "double"], given="C(region) + size")
    release = protect(frame, roles, method, seed=Seed.for_tests(number))
    words = " ".join(f"{f} {f!r} {json.dumps(dict(f.numbers))}" for f in release.findings)
    assert release.findings
    assert "seldom" not in words
    said = np.array([float(number.replace(",", "")) for number in NUMBER.findall(words)])
    for value in {*frame["size"], *frame["money"], *frame["double"], *release.frame["money"]}:
        assert not (np.abs(said - value) <= 1e-6 * abs(value)).any()
