"""Puts the root of the project on the path: tests import `tests.places` and `tests.tolerances`."""

import os
import sys
from pathlib import Path

from hypothesis import settings

settings.register_profile("fixed", derandomize=True)  # what must pass before a merge does not depend on luck
if os.environ.get("CI"):
    settings.load_profile("fixed")

sys.path.insert(0, str(Path(__file__).parent))
