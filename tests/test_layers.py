"""Rooms know only the rooms below them; three walls stand besides."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import suffice

ROOT = Path(suffice.__file__).parent

LAYERS = """
__main__
cli | workbench
plan
comparison
release
certificate
guards
risk
utility
catalogue
protection | microdata | synthesis | tables
algorithms
method | measure
statistics
design
report
ledger | files
rows
seed | algebra | demo | progress
errors
"""
"""Top to bottom; rooms on one line do not know each other."""

WALLS = {
    "certificate": {"protection", "method", "microdata", "synthesis", "tables", "algorithms", "risk"},
    "algorithms": {"rows", "files"},
    "algebra": {"progress", "seed", "demo"},
}
"""What a room may not know although it lies below: the certificate does not know the method."""


def height() -> dict[str, int]:
    lines = LAYERS.strip().splitlines()[::-1]
    return {room.strip(): number for number, line in enumerate(lines) for room in line.split("|")}


def imported(source: str) -> Iterator[str]:
    """The rooms that a module names, wherever in it and for whatever purpose."""
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            inside = node.module == "suffice"
            names = [f"suffice.{alias.name}" for alias in node.names] if inside else [node.module]
        yield from (name.split(".")[1] for name in names if name.startswith("suffice."))


def offences(room: str, source: str) -> list[str]:
    levels = height()
    found = {other for other in imported(source) if other != room}
    up = {other for other in found if levels[other] >= levels[room]}
    return sorted(up | (found & WALLS.get(room, set())))


def modules() -> list[Path]:
    return sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_room_knows_only_rooms_below_it(path: Path):
    room = path.relative_to(ROOT).with_suffix("").parts[0]
    assert offences(room, path.read_text(encoding="utf-8")) == []


def test_every_room_has_its_place():
    assert {path.relative_to(ROOT).with_suffix("").parts[0] for path in modules()} <= set(height())


def test_few_modules_lie_beside_the_rooms():
    assert len(list(ROOT.glob("*.py"))) <= 8


@pytest.mark.parametrize(
    ("room", "line"),
    [
        ("rows", "from suffice.design.design import Design"),
        ("method", "def f():\n    from suffice.algorithms.jit import loops"),
        ("certificate", "from suffice.method.method import Method"),
        ("algorithms", "import suffice.rows.rows"),
        ("microdata", "from suffice.protection.steps import Work"),
        ("algebra", "from suffice import seed"),
    ],
)
def test_an_upward_import_is_seen(room: str, line: str):
    assert offences(room, line)
