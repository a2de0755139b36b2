"""Values that cannot be, or are no more: negatives in a column that had none, or hardly any; zeros."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import listed, share
from suffice.risk.assessment import Assessment


def domain(risk: Assessment) -> Finding | None:
    """Negatives in a column without, twice as many beyond chance, or half of many zeros gone: warn. Two values that
    become many, or a few negatives (on average, over trial releases) that another key might not have: note.

    Nothing is clipped: that would break what was promised.
    """
    n = risk.drawn or risk.freedom.n + risk.weights.unweighted
    new = {name: number for name, number in risk.negatives.items() if number > 0}
    words = [f"{name} {number:,} ({share(number, n)})" for name, number in new.items()]
    more = [f"{name} {after:,} in place of {before:,}" for name, (before, after) in risk.multiplied.items()]
    gone = [f"{name} {after:,} in place of {before:,}" for name, (before, after) in risk.zeros_lost.items()]
    if not words and not more and not gone:
        return _two_values(risk.two_values) if risk.two_values else None
    free = "; observed-sign leaves such columns free" * risk.request.signs
    said = [f"Negative values in columns that had none: {listed(words)}."] * bool(words)
    said += [f"{listed(risk.two_values)}: two values become many (`integer`, reverse-map)."] * bool(risk.two_values)
    said += [f"Negative values multiply: {listed(more)}{free}."] * bool(more)
    said += ["They are not clipped, which would change what is kept."] * bool(words or more)
    said += [f"Exact zeros go: {listed(gone)}."] * bool(gone)
    asked = "Ask for bounds and use rotate, also after another method"
    if risk.drawn:
        asked = "Ask for bounds and bootstrap, which reflects; or for as many records, with restore and rotate behind"
    if more:  # the original itself must keep the bounds that are asked for
        asked += "; where the original has negatives, correct or leave out those records first"
    ways = [asked] * bool(words or more) + ["rotate, alone, with zeros=kept leaves them in place" if gone else ""]
    remedy = "; ".join([*filter(None, ways), "or tell the users of the release."])
    return Finding(
        "domain",
        "warn" if more or gone or {*new} & {*risk.usual} else "note",
        " ".join(said),
        remedy[0].upper() + remedy[1:],
        {**{name: after for each in (risk.zeros_lost, risk.multiplied) for name, (_, after) in each.items()}, **new},
    )


def _two_values(names: tuple[str, ...]) -> Finding:
    return Finding(
        "domain",
        "note",
        f"{listed(names)}: two values in the original, others in the release.",
        "Name them in `integer`, for whole numbers with the same totals; or end with reverse-map, which gives the two "
        "values back and keeps these in place of regressions. Both bounds leave such a column no room to move.",
        {"columns": ", ".join(names)},
    )
