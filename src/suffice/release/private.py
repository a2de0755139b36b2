"""The reports of a release, private and public: what is shown there is taken together here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from suffice.report import private, public
from suffice.report.histograms import Histograms
from suffice.rows.memory import MemoryRows

if TYPE_CHECKING:
    from suffice.certificate.certificate import Certificate
    from suffice.release.release import Release
    from suffice.rows.rows import Rows


def private_page(release: Release, certificate: Certificate) -> str:
    """The page of a release; of several data sets, the first one's."""
    one, leaving = _leaving(release)
    roles = one.design.roles
    binned = Histograms.of(one.rows, leaving, roles.confidential, roles.weight)
    told = certificate.private, one.attestation.regressions()
    return private.page(certificate, release.findings, binned, roles.weight is not None, *told)


def public_page(release: Release, certificate: Certificate) -> str:
    """The page that may travel with a release: made of its certificate and of the released rows alone."""
    one, leaving = _leaving(release)
    return public.report(certificate, Histograms.of(leaving, leaving, one.design.roles.confidential))


def _leaving(release: Release) -> tuple[Release, Rows]:
    """The release, or the first of several data sets, and its rows."""
    one = release.sets[0] if release.sets else release
    drawn = one.done.drawn
    return one, one.done.leaving if drawn is None else MemoryRows(pa.table(dict(drawn.columns)))
