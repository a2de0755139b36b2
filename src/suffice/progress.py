"""How far long work has come."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called with the stage's name, the rows done and the rows in all."""
