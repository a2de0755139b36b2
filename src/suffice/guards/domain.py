"""Values that cannot be: negatives in a column that had none, or hardly any."""

from __future__ import annotations

from suffice.guards.finding import Finding
from suffice.guards.wording import listed, share
from suffice.risk.assessment import Assessment


def domain(risk: Assessment) -> Finding | None:
    """Any negative in a column without, or twice as many beyond chance: warn. Two values that become many: note.

    Nothing is clipped: that would break what was promised.
    """
    n = risk.freedom.n + risk.weights.unweighted
    new = {name: number for name, number in risk.negatives.items() if number > 0}
    words = [f"{name} {number:,} ({share(number, n)})" for name, number in new.items()]
    more = [f"{name} {after:,} in place of {before:,}" for name, (before, after) in risk.multiplied.items()]
    if not words and not more:
        return _two_values(risk.two_values) if risk.two_values else None
    said = [f"Negative values in columns that had none: {listed(words)}."] * bool(words)
    said += [f"{listed(risk.two_values)}: two values become many (`integer`, reverse-map)."] * bool(risk.two_values)
    free = "; observed-sign leaves such columns free" * risk.request.signs
    said += [f"Negative values multiply: {listed(more)}{free}."] * bool(more)
    return Finding(
        "domain",
        "warn",
        f"{' '.join(said)} They are not clipped, which would change what is kept.",
        f"Ask for bounds{' of these columns by name' * bool(more)} and use rotate, also after another method; "
        "or tell the users of the release.",
        {**new, **{name: after for name, (_, after) in risk.multiplied.items()}},
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
