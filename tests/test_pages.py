"""Every block of README and of the pages is run: each page in one folder, from top to bottom."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
"""That of contributors is run by `test_contributing.py`, each block as the file that it would be."""

OUTSIDE = """
set -euo pipefail
pip() { true; }
uv() { if [ "$2" != pytest ]; then "${@:2}"; fi; }
"""
"""What a page says and a test does not do: install, and run the tests."""


def blocks(page: Path) -> list[tuple[str, str]]:
    return re.findall(r"^```(python|sh)\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.M)


def run(block: str, folder: Path) -> None:
    """A block of shell ends well, or as it says in a comment: # exit code 5."""
    said = re.search(r"# exit code (\d)", block)
    here = Path(sys.executable).parent
    path = f"{here}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", OUTSIDE + block],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == (int(said[1]) if said else 0), block + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_every_block_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": page.stem}
    for language, block in blocks(page):
        if language == "sh":
            run(block, tmp_path)
        else:
            exec(compile(block, page.name, "exec"), names)


def test_a_block_that_fails_is_seen(tmp_path: Path) -> None:
    run("pip install something && uv run pytest\nuv run true", tmp_path)
    run("exit 5  # exit code 5", tmp_path)
    for block in ("false", "uv run false", "false | true", "true  # exit code 5"):
        with pytest.raises(AssertionError):
            run(block, tmp_path)
