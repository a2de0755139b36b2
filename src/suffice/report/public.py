"""The certificate as a page that may travel with the release: what its JSON holds, no more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from suffice.report.page import render, save

if TYPE_CHECKING:
    from suffice.certificate.certificate import Certificate


def page(certificate: Certificate) -> str:
    """The page as HTML."""
    return render("public.html", certificate=json.loads(certificate.to_json()))


def write(certificate: Certificate, path: Path) -> None:
    """Write the page."""
    save(page(certificate), path, 0o644)
