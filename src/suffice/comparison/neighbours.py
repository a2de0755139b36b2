"""Methods that were compared, kept so that a release can be shown among them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, Self

from suffice.comparison.judgement import Judgement
from suffice.comparison.runs import Run
from suffice.errors import InputError, UsageError, escaped, failing, path_of
from suffice.release.assess import of_release
from suffice.report.pictures import MapPoint

if TYPE_CHECKING:
    from suffice.release.release import Release

OWN = "this release"


@dataclass(frozen=True)
class Neighbours:
    """How methods were judged, and where each stands."""

    judgement: Judgement
    points: Sequence[MapPoint]

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Of comparison.json, as a comparison writes it."""
        where = path_of(path)
        with failing("The comparison cannot be read"):
            text = where.read_bytes()
        try:
            told = json.loads(text)
            judgement = Judgement.of(told["limits"], told["loss"], told["keep"], (), True, True)
            best = told["recommendation"]["method"]
            return cls(judgement, [_point(each, best) for each in told["methods"] if each["risk"] and each["loss"]])
        except (ValueError, KeyError, TypeError, UsageError):
            raise InputError(
                f"{escaped(where.name)} is no comparison. Give comparison.json, from the folder of 'suffice compare'."
            ) from None

    def place(self, release: Release) -> list[MapPoint]:
        """The release, by the same measures, before the methods."""
        figures = {each.name: each.value for each in of_release(release, measures=self.judgement.measures, some=True)}
        run = Run(OWN, 0, figures)
        risk, loss = self.judgement.risk(run), self.judgement.lost(run)
        others = [each._replace(best=False) for each in self.points]
        if risk is None or loss is None:
            return others
        passes = risk <= 1 and not any(finding.blocks for finding in release.findings)
        return [MapPoint(OWN, (risk,) * 3, (loss,) * 3, False, passes, True), *others]


def _point(told: Mapping[str, Any], best: object) -> MapPoint:
    risk, loss = (tuple(float(told[name][end]) for end in ("mean", "low", "high")) for name in ("risk", "loss"))
    if not all(map(isfinite, (*risk, *loss))):
        raise ValueError
    name = str(told["method"])
    return MapPoint(name, risk, loss, bool(told["frontier"]), not told["against"], name == best)  # type: ignore[arg-type]
