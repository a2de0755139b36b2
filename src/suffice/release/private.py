"""The private page of a release: what is shown there is taken together here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from suffice.report import private
from suffice.report.histograms import Histograms
from suffice.rows.memory import MemoryRows

if TYPE_CHECKING:
    from suffice.certificate.certificate import Certificate
    from suffice.release.release import Release


def private_page(release: Release, certificate: Certificate) -> str:
    """The page of a release; of several data sets, the first one's."""
    one = release.sets[0] if release.sets else release
    roles, drawn = one.design.roles, one.done.drawn
    leaving = one.done.leaving if drawn is None else MemoryRows(pa.table(dict(drawn.columns)))
    binned = Histograms.of(one.rows, leaving, roles.confidential, roles.weight)
    told = certificate.private, one.attestation.regressions()
    return private.page(certificate, release.findings, binned, roles.weight is not None, *told)
