"""The list of deliberate faults is about the source as it is; `tests/mutants.py` tries them."""

from __future__ import annotations

import ast

import pytest

from tests.mutants import MUTANTS, ROOT, Mutant


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_place_of_a_fault_exists_once(mutant: Mutant) -> None:
    source = (ROOT / "src" / "suffice" / mutant.file).read_text("utf-8")
    assert source.count(mutant.old) == 1
    assert mutant.new != mutant.old
    ast.parse(source.replace(mutant.old, mutant.new))
    assert all((ROOT / name.partition("::")[0]).exists() for name in mutant.tests.split() if not name.startswith("-"))


def test_faults_have_names_of_their_own() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 30
