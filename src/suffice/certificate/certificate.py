"""The certificate: every promised statistic, recomputed from released rows by code that does not know the method."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

import numpy as np

from suffice.algebra.array import Array
from suffice.algebra.decomposition import independent
from suffice.algebra.moments import Moments
from suffice.report.exhibit import Exhibit
from suffice.statistics.comparison import Comparison
from suffice.statistics.standing import Pair
from suffice.statistics.statistic import BOUND, Claim, Promise
from suffice.statistics.sums import Reference

STEEP = 1e6
"""Condition of X above which coefficients, unlike fits, are not compared."""

EXPECTED = ("mean", "covariance", "fit", "limits")
"""Statistics of which it is said where they are not kept."""
NEVER_PROMISED = (
    "shapes of distributions, quantiles, extremes and signs",
    "statistics of groups, or regressions on terms, that are not among the given terms",
    "anything after rounding or editing the released file",
)
OTHER_GROUPS = "statistics of other groups than those above, or regressions on terms that are not among the given terms"
"""Said in place of the second where statistics are kept in groups."""


@dataclass(frozen=True)
class Coefficients:
    """Regression coefficients, in their own standard errors."""

    gap: float
    condition: float

    def __str__(self) -> str:
        if self.condition > STEEP:
            return f"regression coefficients are not compared: cond(X) = {self.condition:.1e}; the fits above are"
        return f"coefficients differ by at most {self.gap:.1e} standard errors (cond(X) = {self.condition:.1e})"


@dataclass(frozen=True)
class Certificate(Exhibit):
    """What was kept, how exactly, and what is not promised. It holds no data value."""

    claims: tuple[Claim, ...]
    rows: int
    given: tuple[str, ...]
    confidential: tuple[str, ...]
    method: str
    source: str
    """What the statistics were recomputed from."""
    coefficients: Coefficients | None
    notes: tuple[str, ...]
    not_promised: tuple[str, ...]
    same_rows: bool | None
    """Whether number of rows and sum of weights are the same; None where records are new ones, of another number."""
    private: tuple[str, ...] = ()
    """For the data holder: how near the release is to the original. It helps an attacker, so it does not travel."""

    @property
    def holds(self) -> bool:
        return self.same_rows is not False and all(claim.holds for claim in self.claims)

    def text(self) -> str:
        width = max((len(claim.sentence) + 2 * bool(claim.level) for claim in self.claims), default=0)
        lines = [
            f"suffice certificate: {'HOLDS' if self.holds else 'DOES NOT HOLD'}",
            f"  {self.rows} rows . confidential: {', '.join(self.confidential)}",
            f"  given: {' + '.join(self.given) or 'intercept only'} . method: {self.method}",
            f"  recomputed from {self.source}",
            "",
            f"  {'kept':<{width}}  largest error   ratio (at most {BOUND:g})",
        ]
        for level, claims in groupby(self.claims, key=lambda claim: claim.level):
            lines += [f"  {level}:"] if level else []
            lines += [_line(claim, width) for claim in claims]
        if self.same_rows is False:
            lines.append("  NOT KEPT: the number of rows or the sum of the weights")
        if self.coefficients is not None:
            lines.append(f"  {self.coefficients}")
        lines += ["  errors are shares of a standard deviation; the ratio is in units of what the digits can hold", ""]
        lines += [f"  note: {note}" for note in self.notes]
        lines += [f"  for you alone: {note}" for note in self.private]
        lines += [f"  not promised: {each}" for each in self.not_promised]
        return "\n".join(lines)

    def to_json(self) -> str:
        """What may travel with the release."""
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=True, allow_nan=False) + "\n"

    def as_dict(self) -> dict[str, Any]:
        claims = [
            {**_finite(asdict(claim)), "sentence": claim.said, "bound": BOUND, "holds": claim.holds}
            for claim in self.claims
        ]
        public = {key: value for key, value in asdict(self).items() if key != "private"}
        compared = None if self.coefficients is None else _finite(asdict(self.coefficients))
        return {"suffice": "certificate", "holds": self.holds, **public, "claims": claims, "coefficients": compared}

    def __str__(self) -> str:
        return self.text()

    def exhibit(self) -> dict[str, Any]:
        return {"certificate": self.as_dict(), "private": self.private}


def _line(claim: Claim, width: int) -> str:
    """One row of the table; what is kept in groups stands further in, below what tells them."""
    place = "" if claim.holds else f"   NOT KEPT at {claim.where}"
    place = place if claim.promised else "   reached, not promised"
    sentence = f"  {claim.sentence}" if claim.level else claim.sentence
    return f"  {sentence:<{width}}  {claim.error:>13.1e}   {claim.ratio:<.2g}{place}"


def _finite(values: dict[str, Any]) -> dict[str, Any]:
    """JSON has no infinity."""
    return {k: None if isinstance(v, float) and not np.isfinite(v) else v for k, v in values.items()}


def in_order(promises: Iterable[Promise], redrawn: bool = False) -> tuple[Promise, ...]:
    """The promises of a certificate: of the whole file, given records among them, what was reached there, the rest."""
    every = tuple(promises)
    whole = [promise for promise in every if promise.domain.whole]
    exact, reached = ([promise for promise in whole if promise.exact is exact] for exact in (True, False))
    given = [] if redrawn else [Promise("given")]
    return (*exact, *given, *reached, *(promise for promise in every if not promise.domain.whole))


def certify(
    comparison: Comparison,
    promises: Sequence[Promise],
    *,
    terms: tuple[str, ...],
    method: str,
    source: str,
    notes: tuple[str, ...] = (),
    not_promised: tuple[str, ...] = (),
    private: tuple[str, ...] = (),
) -> Certificate:
    """Two files that were compared: a claim for every promise, in their order."""
    reference, (original, released) = comparison.reference, comparison.pair.whole
    told = [(promise, comparison.claim(promise)) for promise in promises]
    claims = tuple(claim for _, claim in told if claim is not None)
    exact = [each.statistic for each, claim in told if claim is not None and each.domain.whole and each.exact]
    kept, granted = {each.name for each in exact}, {each.grants for each in exact}
    same_weight = abs(original.weight - released.weight) <= 1e-12 * original.weight
    return Certificate(
        claims,
        released.rows,
        terms,
        reference.design.confidential,
        method,
        source,
        coefficients(comparison.pair) if "fit" in kept else None,
        notes,
        (*_lacking(kept, claims, reference), *not_promised, *_never(claims, granted)),
        None if reference.redrawn else original.rows == released.rows and same_weight,
        private,
    )


def _lacking(kept: set[str], claims: tuple[Claim, ...], reference: Reference) -> list[str]:
    """What is not kept in the whole file, though it may be in groups of it."""
    absent = {*(["limits"] if reference.limits is None else []), *(["fit"] if reference.redrawn else [])}
    grouped = {claim.statistic for claim in claims if claim.level}
    lacking = [name for name in EXPECTED if name not in kept | absent]
    return [f"{name} of the confidential columns{', overall' * (name in grouped)}" for name in lacking]


def _never(claims: tuple[Claim, ...], granted: set[str]) -> list[str]:
    shapes, groups, after = NEVER_PROMISED
    said = shapes, OTHER_GROUPS if any(claim.level for claim in claims) else groups, after
    return [each for each in said if each not in granted]


def coefficients(pair: Pair) -> Coefficients:
    """Coefficients of every confidential column on the given ones, from correlations."""
    m = len(pair.given)
    kept = [j for j in range(m) if not pair.constant[j]]
    before, after = (_correlation(pair, moments) for moments in pair.whole)
    kept = [kept[j] for j in independent(before[np.ix_(kept, kept)], 1e-14)]
    if not kept:
        return Coefficients(0.0, 1.0)
    S = before[np.ix_(kept, kept)]
    condition = float(np.sqrt(np.linalg.cond(S)))
    if not condition < STEEP:
        return Coefficients(float("nan"), condition)
    B, Bstar = (np.linalg.solve(C[np.ix_(kept, kept)], C[kept, m:]) for C in (before, after))
    residual = np.maximum(1.0 - np.einsum("ij,ij->j", before[kept, m:], B), 1e-12)
    nu = max(pair.whole[0].rows - len(kept) - 1, 1)
    error = np.sqrt(np.outer(np.diagonal(np.linalg.inv(S)), residual) / nu)
    return Coefficients(float(np.abs((Bstar - B) / error).max()), condition)


def _correlation(pair: Pair, moments: Moments) -> Array:
    second = moments.covariance if pair.spans_one else moments.products / moments.weight
    return np.asarray(second / np.outer(pair.sd, pair.sd))
