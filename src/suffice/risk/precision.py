"""Digits that the numbers cannot hold."""

from __future__ import annotations

from suffice.design.profile import precision
from suffice.protection.protected import Protected


def digits_lost(done: Protected) -> dict[str, float]:
    """eps max|y| / sd of each confidential column."""
    return dict(zip(done.design.confidential, precision(done.spread).tolist(), strict=True))
