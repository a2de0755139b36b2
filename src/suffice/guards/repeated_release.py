"""Several hybrids of the same records, averaged."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import count, share
from suffice.risk.assessment import Assessment
from suffice.risk.averaging import information, uncertain

STOP, WARN = 10.0, 1.0
CARRIED, TEN = 0.3, 10
"""A correlation that is more than chance, and what so many releases with it would add up to is told."""


def repeated_release(risk: Assessment) -> Finding | None:
    """r = sum of d^2/(1 - d^2) over this and all earlier releases: > 10 stop, > 1 warn.

    Without a ledger nobody counts them: a note, and a warning where a release carries 30 % and more, since every
    further one with a new key adds to it (60 hybrids with d = .7 leave 13 % of a residual standard deviation).

    Data sets of one request count each.

    The best average of all releases leaves 1/sqrt(1 + r) of a residual standard deviation uncertain. A
    release with d = 0, as of IPSO, adds nothing to what is out and may be repeated without end.
    """
    reaches = (*risk.history.earlier, *risk.history.beside, risk.reach)
    r = sum(map(information, reaches))
    others = len(risk.history.earlier) + len(risk.history.beside)
    found = others and risk.reach and r > WARN
    if not risk.history.ledger and not found:
        return _unknown(risk)
    if not found:
        return None
    left = uncertain(reaches)
    return Finding(
        "repeated-release",
        "stop" if r > STOP else "warn",
        f"{_told(risk)} of these columns: averaged with this one they leave "
        f"{share(left)} of a residual standard deviation uncertain.",
        "Publish one release, or use IPSO for the further ones.",
        {"releases": others, "uncertain": left},
    )


def _unknown(risk: Assessment) -> Finding:
    carried, left = risk.reach >= CARRIED, uncertain([risk.reach] * TEN)
    more = f" {TEN} releases like this one, averaged, leave {share(left)} of a residual standard deviation uncertain."
    return Finding(
        "repeated-release",
        "warn" if carried else "note",
        "No key file, hence no ledger: whether these columns were released before cannot be judged." + more * carried,
        "Use one key file for all releases of a file (suffice key new FILE).",
    )


def _told(risk: Assessment) -> str:
    earlier, beside = len(risk.history.earlier), len(risk.history.beside)
    told = [count(earlier, "earlier release")] if earlier or not beside else []
    return " and ".join([*told, *([count(beside, "other data set")] if beside else [])])
