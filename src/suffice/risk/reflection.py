"""Releases that differ from the original in one direction: reflections, whatever method made them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.algebra.array import Array
from suffice.algebra.decomposition import gqr
from suffice.method.method import Method
from suffice.protection.protected import Protected
from suffice.risk.residuals import stacked_residuals

SAME = 1e-6
"""A second direction of change below this share of the first is rounding."""


@dataclass(frozen=True)
class OneDirection:
    """Whether all records, or all of one group, move along one direction, and columns of whole numbers if so.

    correlations: of the release itself, whose change may have been asked for
    """

    reflected: bool = False
    whole_numbers: tuple[str, ...] = ()
    correlations: tuple[float, ...] = ()


def reflected(done: Protected, method: Method) -> bool:
    """Whether a stratum of two columns and more was moved along one direction, or a method did so by intent."""
    if "householder" in method.name:
        return True
    for _, E, Estar in stacked_residuals(done.strata):
        doubtful = np.flatnonzero(_second(E, Estar)) if min(E.shape[1:]) > 1 else ()
        if any(one_direction(E[i], Estar[i]) for i in doubtful):
            return True
    return False


def _second(E: Array, Estar: Array) -> Array:
    """Strata whose residuals change in hardly more than one direction."""
    norms = np.linalg.norm(E, axis=1)[:, None, :]
    s = np.linalg.svd((Estar - E) * (norms > 0) / np.where(norms > 0, norms, 1.0), compute_uv=False)
    return np.asarray(s[:, 1] <= 2 * SAME * s[:, 0])


def one_direction(E: Array, Estar: Array) -> bool:
    """Whether two sets of residuals, of two columns and more, differ in one direction."""
    norms = np.linalg.norm(E, axis=0)
    s = np.linalg.svd((Estar - E)[:, norms > 0] / norms[norms > 0], compute_uv=False)
    return len(s) > 1 and bool(Estar.any()) and bool(s[1] <= SAME * s[0]) and gqr(E).rank > 1
