"""The certificate: every promised statistic, recomputed from released rows by code that does not know the method."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from textwrap import wrap
from typing import Any

import numpy as np

import suffice
from suffice.certificate.regressions import STEEP, Regressions
from suffice.errors import escaped
from suffice.report.exhibit import Exhibit
from suffice.statistics.comparison import SumsOfBoth
from suffice.statistics.standing import Pair
from suffice.statistics.statistic import BOUND, Claim, Promise, at_most
from suffice.statistics.sums import Reference

EXPECTED = ("mean", "covariance", "fit", "limits")
"""Statistics of which it is said where they are not kept."""
NEVER_PROMISED = (
    "shapes of distributions, quantiles, extremes and signs",
    "statistics of groups, or regressions on terms, that are not among the given terms",
    "anything after rounding or editing the released file",
)
OTHER_GROUPS = "statistics of other groups than those above, or regressions on terms that are not among the given terms"
"""Said in place of the second where statistics are kept in groups."""
WIDE = 110
"""Letters in a line of the text."""


@dataclass(frozen=True)
class Coefficients:
    """Regression coefficients, in their own standard errors."""

    gap: float = field(repr=False)
    condition: float

    @classmethod
    def of(cls, pair: Pair) -> Coefficients:
        found = Regressions.of(pair)
        return cls(found.gap, found.condition)

    @property
    def told(self) -> dict[str, float | None]:
        """As they may leave, rounded."""
        gap = at_most(self.gap) if self.condition < STEEP else None
        return {"gap": gap, "condition": float(f"{self.condition:.1e}") if np.isfinite(self.condition) else None}

    def __str__(self) -> str:
        if not self.condition < STEEP:
            return f"regression coefficients are not compared: cond(X) = {self.condition:.1e}; the fits above are"
        return (
            f"coefficients differ by at most {at_most(self.gap):.0e} standard errors (cond(X) = {self.condition:.1e})"
        )


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
    weight: str | None = None
    negative: Mapping[str, int] = field(default_factory=dict)
    """How many released values of each confidential column are below zero."""
    accepted: Mapping[str, str] = field(default_factory=dict)
    """Rules of findings that would have stopped the release, each with the reason for accepting it."""
    verify: str = ""
    """The command that checks it against the original, whose path is for the reader to put in."""
    file: str = ""
    """The name of the file; empty while there is none."""
    digest: str = ""
    """SHA-256 of the file."""
    date: str = ""
    files: tuple[Mapping[str, str], ...] = ()
    """Of several files of one request: name and SHA-256 of each, in their order."""
    synthesis: Mapping[str, Any] = field(default_factory=dict)
    """Of files that are analysed together: kind, m, proper, exact, two_stage, which decide how."""

    @classmethod
    def together(cls, several: Sequence[Certificate]) -> Certificate:
        """One of all files of a request: every claim at its worst, and what any of them says."""
        first, worst = several[0], dict[tuple[str, str, str], Claim]()
        for claim in (claim for each in several for claim in each.claims):
            known = worst.setdefault((claim.statistic, claim.sentence, claim.level), claim)
            if (claim.holds, -claim.ratio) < (known.holds, -known.ratio):
                worst[claim.statistic, claim.sentence, claim.level] = claim
        compared = [each.coefficients for each in several if each.coefficients is not None]
        below = [name for each in several for name in each.negative]

        def said(what: str) -> tuple[str, ...]:
            return tuple(dict.fromkeys(line for each in several for line in getattr(each, what)))

        return replace(
            first,
            claims=tuple(worst.values()),
            coefficients=max(compared, key=lambda each: each.gap) if compared else None,
            notes=said("notes"),
            not_promised=said("not_promised"),
            private=said("private"),
            same_rows=next((each.same_rows for each in several if each.same_rows is False), first.same_rows),
            negative={name: sum(each.negative.get(name, 0) for each in several) for name in below},
            accepted={rule: reason for each in several for rule, reason in each.accepted.items()},
            files=tuple({"file": each.file, "digest": each.digest} for each in several),
        )

    @property
    def holds(self) -> bool:
        return self.same_rows is not False and all(claim.holds for claim in self.claims)

    @property
    def answered(self) -> bool:
        """Whether it does not hold only in what somebody has answered for: it may leave, and says so."""
        return False

    @property
    def verdict(self) -> str:
        """The headline."""
        return "HOLDS" if self.holds else "DOES NOT HOLD"

    @property
    def program(self) -> str:
        return f"suffice {suffice.__version__}"

    @property
    def summary(self) -> str:
        """One paragraph for a reader who knows nothing of the method."""
        drawn = self.same_rows is None and self.method != "unknown"
        columns, many = ", ".join(self.confidential), f"{self.rows:,} {'new ' * drawn}records"
        said = [f"{self.file or 'The release'} has {many}."]
        if self.files:
            said = [f"Each of the {len(self.files)} files has {many}."]
        if drawn:
            said += [f"They were drawn anew in {columns}, and none of them stands for one of the original."]
        elif self.method != "unknown":
            rest = "; other columns are as they were" * any(claim.statistic == "given" for claim in self.claims)
            some = " in some records, and others keep theirs" * bool(self.synthesis.get("some"))
            said += [f"The method {self.method} gave {columns} new values{some}{rest}."]
        if not self.holds:
            return " ".join([*said, "NOT everything that was promised is there: see below."])
        weighed = f" Statistics are those of records weighted by {self.weight}." * (self.weight is not None)
        return (
            f"{' '.join(said)} Whoever computes from them what is listed as kept gets what the confidential original "
            f"gives, up to the error beside it.{weighed} All else may differ. Single values are not to be read as the "
            "original's."
        )

    def text(self) -> str:
        told = [(claim, " " * 2 * bool(claim.level) + claim.sentence) for claim in self.claims]
        width = max((len(sentence) for _, sentence in told), default=0)
        lines = [
            f"suffice certificate: {self.verdict}",
            *([f"  {self.file} . {self.date} . {self.program}"] if self.file else []),
            *([f"  sha256 {self.digest}"] if self.file and not self.files else []),
            *(f"  {each['file']} sha256 {each['digest']}" for each in self.files if each["digest"]),
            *self.head,
            f"  recomputed from {self.source}",
            "",
            *wrap(self.summary, WIDE, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False),
            "",
            f"  {'kept':<{width}}  largest error, at most",
        ]
        for level, claims in groupby(told, key=lambda each: each[0].level):
            lines += [f"  {level}:"] if level else []
            lines += [_line(claim, sentence, width) for claim, sentence in claims]
        if self.same_rows is False:
            lines.append("  NOT KEPT: the number of rows or the sum of the weights")
        if self.coefficients is not None:
            lines.append(f"  {'weighted ' * bool(self.weight)}{self.coefficients}")
        lines += [f"  {self.unit}", ""]
        lines += [f"  {said}" for said in self.remarks]
        lines += [f"  note: {note}" for note in self.notes]
        lines += [f"  for you alone: {note.splitlines()[0]}" for note in self.private if note]
        lines += [f"  not promised: {each}" for each in self.not_promised]
        lines += [f"  to verify: {self.verify}"] if self.verify else []
        return "\n".join(map(escaped, lines))

    @property
    def head(self) -> list[str]:
        """What it is of, line by line."""
        many = f"{len(self.files)} x " if self.files else ""
        return [
            f"  {many}{self.rows} row{'s' * (self.rows != 1)} . confidential: {', '.join(self.confidential)}",
            f"  given: {' + '.join(self.given) or 'intercept only'} . method: {self.method}",
            *([f"  weight: {self.weight}"] if self.weight else []),
        ]

    @property
    def unit(self) -> str:
        """What the errors are shares of."""
        return f"errors are shares of a standard deviation; kept is within {BOUND:g} times what the digits can hold"

    @property
    def remarks(self) -> list[str]:
        """Negative values, and what was accepted, in words."""
        below = ", ".join(f"{name} {cells:,}" for name, cells in self.negative.items() if cells)
        return [
            *([f"negative values in the release: {below or 'none'}"] if self.negative else []),
            *(f"accepted finding {rule}: {reason}" for rule, reason in self.accepted.items()),
        ]

    def to_json(self) -> str:
        """What may travel with the release."""
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=True, allow_nan=False) + "\n"

    def as_dict(self, exact: bool = False) -> dict[str, Any]:
        """What may travel; exact: with errors and ratios to all digits, for the data holder alone."""
        public = {
            key: value
            for key, value in asdict(self).items()
            if key != "private" and (value or key not in ("synthesis", "files"))
        }
        compared = None if self.coefficients is None else self.coefficients.told
        more: dict[str, Any] = {"program": self.program, "verdict": self.verdict, "summary": self.summary}
        more |= {"remarks": self.remarks}
        claims = [_public(claim) for claim in self.claims]
        more |= {"exact": [(claim.error, claim.ratio) for claim in self.claims]} if exact else {}
        return {
            "suffice": "certificate",
            "holds": self.holds,
            **public,
            **more,
            "claims": claims,
            "coefficients": compared,
        }

    def __str__(self) -> str:
        return self.text()

    def exhibit(self) -> dict[str, Any]:
        return {"certificate": self.as_dict(), "private": self.private}


def _line(claim: Claim, sentence: str, width: int) -> str:
    """One row of the table; what is kept in groups stands further in, below what tells them."""
    place = "kept" if claim.holds else f"NOT KEPT at {claim.where}"
    return f"  {sentence:<{width}}  {claim.told[0]:>13.0e}   {place if claim.promised else 'reached, not promised'}"


def _public(claim: Claim) -> dict[str, Any]:
    """A claim as it may leave: where it holds, neither figures with all digits nor where it is the worst."""
    error, ratio = (None if figure == float("inf") else figure for figure in claim.told)
    worst = {"where": "", "group": 0} if claim.holds else {}
    figures = {"error": error, "ratio": ratio, "bound": BOUND, "holds": claim.holds}
    return {**asdict(claim), **worst, **figures, "sentence": claim.said}


def in_order(promises: Iterable[Promise], redrawn: bool = False) -> tuple[Promise, ...]:
    """The promises of a certificate: of the whole file, given records among them, what was reached there, the rest.

    redrawn: new records, or nothing leaves but new values: no column stays with its records
    """
    every = tuple(promises)
    whole = [promise for promise in every if promise.domain.whole]
    exact, reached = ([promise for promise in whole if promise.exact is exact] for exact in (True, False))
    given = [] if redrawn else [Promise("given")]
    return (*exact, *given, *reached, *(promise for promise in every if not promise.domain.whole))


def certify(
    comparison: SumsOfBoth,
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
        comparison.records,
        terms,
        reference.design.confidential,
        method,
        source,
        Coefficients.of(comparison.pair) if "fit" in kept else None,
        notes,
        (*_lacking(kept, claims, reference), *not_promised, *_unweighted(reference), *_never(claims, granted)),
        None if reference.redrawn else original.rows == released.rows and same_weight,
        private,
        reference.design.roles.weight,
        comparison.negative,
    )


def _lacking(kept: set[str], claims: tuple[Claim, ...], reference: Reference) -> list[str]:
    """What is not kept in the whole file, though it may be in groups of it."""
    absent = {*(["limits"] if reference.limits is None else []), *(["fit"] if reference.redrawn else [])}
    grouped = {claim.statistic for claim in claims if claim.level}
    lacking = [name for name in EXPECTED if name not in kept | absent]
    return [f"{name} of the confidential columns{', overall' * (name in grouped)}" for name in lacking]


def _unweighted(reference: Reference) -> list[str]:
    return [] if reference.design.roles.weight is None else ["unweighted statistics"]


def _never(claims: tuple[Claim, ...], granted: set[str]) -> list[str]:
    shapes, groups, after = NEVER_PROMISED
    said = shapes, OTHER_GROUPS if any(claim.level for claim in claims) else groups, after
    return [each for each in said if each not in granted]
