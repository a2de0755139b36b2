"""The certificate that lies beside a released file: whether it is of this file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from suffice.files.source import digest_of
from suffice.guards.finding import Finding


def paper_beside(released: Any) -> tuple[list[Finding], tuple[str, ...]]:
    """Whether the certificate that lies beside the file, if there is one, is of this file; and what cannot be told."""
    path = Path(f"{os.fspath(released)}.certificate.json") if isinstance(released, str | os.PathLike) else None
    if path is None or not path.is_file() or Path(released).is_dir():
        return [], ("whether the file is as it was certified: no certificate lies beside it",)
    try:
        digest = json.loads(path.read_text(encoding="utf-8"))["digest"]
    except (OSError, ValueError, RecursionError):
        return [], (f"whether the file is as it was certified: {path.name} cannot be read",)
    except (KeyError, TypeError):
        return [], (f"whether the file is as it was certified: {path.name} names no digest",)
    if digest == digest_of(released):
        return [], ()
    return [
        Finding(
            "digest",
            "stop",
            f"the file is not the one that {path.name} was made for: it has another SHA-256",
            "Find out what changed the file, or whether its writing was cut short; release the one that was certified.",
        )
    ], ()
