"""Before and after, for the data holder only: certificate, findings, binned columns, correlations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from suffice.report import pictures
from suffice.report.histograms import Histograms
from suffice.report.page import Document, render


def page(certificate: Document, findings: Iterable[object], binned: Histograms | None, weighted: bool = False) -> str:
    """The page as HTML; without pictures where there is nothing to draw from."""
    return render(
        "private.html",
        certificate=certificate.as_dict(exact=True),
        findings=list(findings),
        weighted=weighted,
        **(_drawn(binned) if binned else {"histograms": ()}),
    )


def _drawn(binned: Histograms) -> dict[str, Any]:
    before, after = binned.correlations
    columns = zip(binned.names, binned.edges, *binned.counts, strict=True)
    return {
        "histograms": [(name, pictures.histogram(edges, one, two)) for name, edges, one, two in columns],
        "correlations": pictures.correlations(before, after, binned.names),
        "difference": float(np.abs(after - before).max()),
    }
