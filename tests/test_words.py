"""Words have one meaning: no class name twice, one home for what everybody uses."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import suffice

ROOT = Path(suffice.__file__).parent


def classes() -> Counter[str]:
    found: Counter[str] = Counter()
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                found[node.name] += 1
    return found


def assigned(name: str) -> list[str]:
    """The modules that define a name for themselves."""
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            targets = node.targets if isinstance(node, ast.Assign) else []
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                found.append(str(path.relative_to(ROOT)))
    return found


def test_no_class_name_twice():
    assert [name for name, count in classes().items() if count > 1] == []


PARTICIPLES = {"Fitted", "Masked", "Ordered", "Protected", "Derived"}
"""A public method, a public model, and the words of the design itself."""
NOUNS = {
    "Coding",
    "ControlledRounding",
    "DomainStanding",
    "Drawing",
    "Finding",
    "Grouping",
    "Nesting",
    "Seed",
    "Standing",
}
"""Nouns that end like participles."""


def test_no_participle_is_a_class():
    found = {name for name in classes() if re.search(r"(ed|ing|wn|ept|ade)$", name)}
    assert found - PARTICIPLES - NOUNS == set()


def test_one_home_for_what_everybody_uses():
    for name in ("Array", "Flags", "EPS", "CONSTANT"):
        assert assigned(name) == ["algebra/array.py"], name
