"""Findings: what would let an attacker in, what it takes to release all the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from suffice.errors import GuardError, UsageError, escaped, suggest
from suffice.report.exhibit import Exhibit
from suffice.risk.assessment import Assessment

Severity = Literal["note", "warn", "stop", "never"]
SEVERITIES: tuple[Severity, ...] = ("note", "warn", "stop", "never")


@dataclass(frozen=True)
class Finding(Exhibit):
    """One rule that has something to say. `stop` forbids writing unless accepted with a reason, `never` always does."""

    rule: str
    level: Severity
    message: str
    remedy: str = ""
    numbers: Mapping[str, float | int | str] = field(default_factory=dict)
    accepted: str | None = None

    def __post_init__(self) -> None:
        """Names of columns are others' words: they stay on their line."""
        for each in ("message", "remedy"):
            object.__setattr__(self, each, escaped(getattr(self, each)))

    @property
    def blocks(self) -> bool:
        return self.level == "never" or (self.level == "stop" and self.accepted is None)

    def graver(self, other: Finding) -> bool:
        """Whether it weighs more than another one."""
        return SEVERITIES.index(self.level) > SEVERITIES.index(other.level)

    def __str__(self) -> str:
        reason = f" [accepted: {self.accepted}]" if self.accepted else ""
        remedy = f"\n      {self.remedy}" if self.remedy else ""
        return f"{self.level:<5} {self.rule}: {self.message}{reason}{remedy}"

    def exhibit(self) -> dict[str, Any]:
        return {"findings": [self]}


class Findings(tuple[Finding, ...], Exhibit):
    """What the guards have found, the gravest first."""

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "nothing was found"

    def exhibit(self) -> dict[str, Any]:
        return {"findings": self}


Guard = Callable[[Assessment], Finding | None]


def judge(
    risk: Any, accept: Mapping[str, str], guards: Mapping[str, Callable[[Any], Finding | None]] | None = None
) -> Findings:
    """What every guard finds, the gravest first, with the reasons for accepting filled in.

    guards: those that know what `risk` is; without any, those of an `Assessment`
    """
    from suffice.guards import GUARDS

    found = [finding for guard in (guards or GUARDS).values() if (finding := guard(risk)) is not None]
    named = [replace(each, accepted=accept.get(each.rule)) if each.level == "stop" else each for each in found]
    return gravest(named)


def gravest(findings: Iterable[Finding]) -> Findings:
    """Findings, the gravest first."""
    return Findings(sorted(findings, key=lambda each: -SEVERITIES.index(each.level)))


def check_accepted(accept: Mapping[str, str], guards: Iterable[str] = ()) -> None:
    """Refuses unknown rules and empty reasons."""
    from suffice.guards import GUARDS

    known = list(guards or GUARDS)
    wrong = [f"There is no rule {rule!r}.{suggest(rule, known)}" for rule in accept if rule not in known]
    wrong += [f"Accepting {rule!r} needs a reason." for rule, reason in accept.items() if not str(reason).strip()]
    if wrong:
        raise UsageError("\n".join([*wrong, f"Rules: {', '.join(known)}."]))


def enforce(findings: Iterable[Finding]) -> None:
    """Refuses to write while a finding blocks."""
    blocking = [finding for finding in findings if finding.blocks]
    if not blocking:
        return
    lines = ["A guard stops this release; nothing was written."]
    for finding in blocking:
        lines += [f"  {finding}"]
        if finding.level == "never":
            lines += ["      This rule has no override."]
    stops = [finding.rule for finding in blocking if finding.level == "stop"]
    if stops:
        lines += [
            "Change the request, or accept by name with a reason: " + ", ".join(f"{rule}=REASON" for rule in stops)
        ]
    raise GuardError("\n".join(lines))
