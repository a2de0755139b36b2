"""Before and after, for the data holder only: certificate, findings, binned columns, correlations."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from suffice.report import pictures
from suffice.report.binned import Binned
from suffice.report.page import render, save

if TYPE_CHECKING:
    from suffice.certificate import Certificate
    from suffice.guard import Finding


def page(
    certificate: Certificate, findings: Iterable[Finding], binned: Binned, weighted: bool = False
) -> str:
    """The page as HTML."""
    before, after = binned.counts
    columns = zip(binned.names, binned.edges, before, after, strict=True)
    return render(
        "private.html",
        certificate=json.loads(certificate.to_json()),
        findings=list(findings),
        histograms=[(name, pictures.histogram(edges, one, two)) for name, edges, one, two in columns],
        correlations=pictures.correlations(*binned.correlations, binned.names),
        difference=float(np.abs(binned.correlations[1] - binned.correlations[0]).max()),
        weighted=weighted,
    )


def write(text: str, path: Path) -> None:
    """Write the page so that its owner alone can read it."""
    save(text, path, 0o600)
