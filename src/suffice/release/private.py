"""The reports of a release, private and public: what is shown there is taken together here."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa

from suffice.errors import InputError
from suffice.files import toml
from suffice.method.written import steps
from suffice.release.assess import pair_of
from suffice.release.measures import chosen, scored
from suffice.report import private, public
from suffice.report.histograms import Histograms
from suffice.report.levels import LevelCounts
from suffice.report.pictures import MapPoint
from suffice.rows.memory import MemoryRows
from suffice.utility.discrimination import Discrimination
from suffice.utility.propensity import shown

if TYPE_CHECKING:
    from suffice.certificate.certificate import Certificate
    from suffice.release.release import Release
    from suffice.release.scores import MeasureScore
    from suffice.rows.rows import Rows

SCORES = (
    *("distance-linkage", "rank-linkage", "copies-anywhere", "interval-disclosure-nearest"),
    *("replicated-uniques", "attribute-disclosure"),
    *("information-loss", "propensity-2", "propensity-3", "hellinger", "propensity-mixed"),
)
"""What the page tells of risk and utility, where it can be taken; `assess` tells more."""


class Surroundings(Protocol):
    """Methods that were compared: where a release stands among them."""

    def place(self, release: Release) -> Sequence[MapPoint]: ...


def private_page(release: Release, certificate: Certificate, among: Surroundings | None = None) -> str:
    """The page of a release; of several data sets, the first one's."""
    one, leaving = _leaving(release)
    roles, levels = one.design.roles, one.coding.levels
    numbers = [name for name in roles.confidential if name not in levels]
    judged, told = _judged(one)
    return private.page(
        certificate,
        release.findings,
        Histograms.of(one.rows, leaving, numbers, roles.weight) if numbers else None,
        LevelCounts.of((one.rows, leaving), levels),
        roles.weight is not None,
        certificate.private,
        one.attestation.regressions(),
        judged,
        None if told is None else (told.score, told.original, told.released),
        () if among is None else among.place(one),
        plan_of(release),
    )


def public_page(release: Release, certificate: Certificate) -> str:
    """The page that may travel with a release: made of its certificate and of the released rows alone."""
    one, leaving = _leaving(release)
    levels = one.coding.levels
    numbers = [name for name in one.design.roles.confidential if name not in levels]
    binned = Histograms.of(leaving, leaving, numbers) if numbers else None
    return public.report(certificate, binned, LevelCounts.of((leaving,), levels))


def _judged(one: Release) -> tuple[list[MeasureScore], Discrimination | None]:
    """Risk and utility; nothing where no measure can be taken of such columns."""
    try:
        pair, notes = pair_of(one)
        return list(scored(pair, notes, chosen(SCORES), some=True)), shown(pair).told
    except (InputError, ValueError, np.linalg.LinAlgError):
        return [], None


def plan_of(release: Release) -> str:
    """The plan that makes the release again; names stand in capitals for what is in no file."""
    data = release.data
    path = os.fspath(data) if isinstance(data, str | os.PathLike) else "DATA"
    encoding = getattr(data, "encoding", None)
    key = release.seed.path
    tables: dict[str, Any] = {
        "data": {"path": str(path), **({"encoding": encoding} if encoding else {})},
        "roles": release.design.roles.written(),
        "method": steps(release.method),
        **({"seed": {"key_file": str(key)}} if key else {}),
        **({"accept": dict(release.accept)} if release.accept else {}),
        "release": {"path": "RELEASE"},
    }
    return toml.write(tables)


def _leaving(release: Release) -> tuple[Release, Rows]:
    """The release, or the first of several data sets, and its rows."""
    one = release.sets[0] if release.sets else release
    drawn = one.done.drawn
    return one, one.done.leaving if drawn is None else MemoryRows(pa.table(dict(drawn.columns)))
