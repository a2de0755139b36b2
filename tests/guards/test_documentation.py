"""docs/guards.md speaks of every rule, and of no other."""

from __future__ import annotations

import re
from pathlib import Path

from suffice.guards import GUARDS
from suffice.guards.tables import TABLE_GUARDS

ROOT = Path(__file__).resolve().parents[2]


def test_the_table_has_every_rule_once() -> None:
    text = (ROOT / "docs" / "guards.md").read_text()
    table = text[text.index("## The rules") : text.index("Where a rule cannot tell")]
    assert sorted(re.findall(r"^\| `([a-z-]+)`", table, re.MULTILINE)) == sorted(GUARDS)


def test_the_table_of_tables_has_every_rule_once() -> None:
    text = (ROOT / "docs" / "guards.md").read_text()
    table = text[text.index("The rules on tables") : text.index("A suppressed cell that follows")]
    assert re.findall(r"^\| `([a-z-]+)`", table, re.MULTILINE) == list(TABLE_GUARDS)
    for rule, guard in TABLE_GUARDS.items():
        assert guard.__module__ == f"suffice.guards.tables.{rule.replace('-', '_')}"
        assert guard.__doc__


def test_each_attack_that_it_names_is_there() -> None:
    text = (ROOT / "docs" / "guards.md").read_text()
    shown = set(re.findall(r"Shown: `(\w+)`", text))
    assert shown == {path.stem.removeprefix("test_") for path in (ROOT / "tests" / "attacks").glob("test_*.py")}


def test_a_rule_is_a_file_of_its_name() -> None:
    for rule, guard in GUARDS.items():
        assert guard.__module__ == f"suffice.guards.{rule.replace('-', '_')}"
        assert guard.__doc__
