"""Where tests find their data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

DATA = Path(__file__).parent / "data"

_beside = Path(__file__).resolve().parents[1].parent / "shared"
SHARED: Path | None = _beside if _beside.is_dir() else None
needs_shared = pytest.mark.skipif(SHARED is None, reason="the reference numbers (../shared) are not here")


def matrix(name: str, folder: Path | None = None) -> NDArray[np.float64]:
    """A CSV of numbers with one header line; NA is missing. Read from the shared reference unless told."""
    if folder is None:
        assert SHARED is not None
        folder = SHARED / "reference"
    lines = (folder / f"{name}.csv").read_text().splitlines()
    columns = len([cell for cell in lines[0].split(",") if cell.strip('"')])
    rows = [[np.nan if cell == "NA" else float(cell) for cell in line.split(",") if cell] for line in lines[1:]]
    return np.array(rows, dtype=np.float64).reshape(len(rows), columns)
