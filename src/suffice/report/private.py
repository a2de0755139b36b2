"""Before and after, for the data holder only: certificate, findings, binned columns, correlations."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import UsageError
from suffice.report import pictures
from suffice.report.histograms import Histograms
from suffice.report.page import render, save
from suffice.rows.memory import MemoryRows

if TYPE_CHECKING:
    from suffice.certificate.certificate import Certificate
    from suffice.guards.finding import Finding
    from suffice.release.release import Release


def of(release: Release, written: Path | None = None) -> str:
    """The page of a release.

    written: the file, where there is one; otherwise the rows as they would be written
    """
    from suffice.files.source import open_rows

    roles = release.design.roles
    try:
        rows = open_rows(written, release.rows.threads, None) if written else MemoryRows(release.frame)
    except UsageError:  # too large for memory, and stopped before it was a file
        return page(release.certificate, release.findings, None)
    binned = Histograms.of(release.rows, rows, roles.confidential, roles.weight)
    return page(release.certificate, release.findings, binned, roles.weight is not None)


def page(
    certificate: Certificate, findings: Iterable[Finding], binned: Histograms | None, weighted: bool = False
) -> str:
    """The page as HTML; without pictures where there is nothing to draw from."""
    return render(
        "private.html",
        certificate=json.loads(certificate.to_json()),
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


def write(text: str, path: Path) -> None:
    """Write the page so that its owner alone can read it."""
    save(text, path, 0o600)
