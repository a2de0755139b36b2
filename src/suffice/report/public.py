"""The certificate as a page that may travel with the release: what its JSON holds, no more."""

from __future__ import annotations

from suffice.report.page import Document, render


def page(certificate: Document) -> str:
    """The page as HTML."""
    return render("public.html", certificate=certificate.as_dict())
