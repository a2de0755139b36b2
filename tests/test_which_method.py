"""The page on methods names all of them, and every command of its tables runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from suffice import Roles, Seed, protect
from suffice.catalogue import build, methods
from suffice.demo import firms

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "which_method.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(--method [^`]*)` \|", PAGE, re.M)
NUMBERS = Roles(confidential=["turnover", "wages", "taxes"])
CATEGORIES = Roles(confidential=["region", "size"])


def test_every_method_has_a_row_and_a_place_in_the_tree() -> None:
    named = {word for row in ROWS for word in re.findall(r"--(?:method|then) (\S+)", row)}
    assert named == {*methods()}


@pytest.mark.parametrize("row", ROWS)
def test_every_command_runs(row: str) -> None:
    words = iter(shlex.split(row))
    asked: list[tuple[str, dict[str, object]]] = []
    for option, value in zip(words, words, strict=True):
        if option in ("--method", "--then"):
            asked.append((value, {}))
        else:
            name, _, told = value.partition("=")
            asked[-1][1][name] = told
    first, *rest = (build(*each) for each in asked)
    roles = CATEGORIES if asked[0][0] in ("margins", "loglinear") else NUMBERS
    release = protect(firms(150), roles, first.then(*rest) if rest else first, seed=Seed.for_tests(1))
    assert release.certificate.holds
