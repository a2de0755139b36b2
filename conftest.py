"""Puts the root of the project on the path: tests import `tests.places` and `tests.tolerances`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
