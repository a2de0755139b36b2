"""Whether there is room for a compiler."""

from __future__ import annotations

from suffice.errors import addresses

ROOM = 2**32
"""Bytes of addresses without which nothing is compiled: the compiler ends the process where it finds none."""
ROOMY = (addresses() or ROOM) >= ROOM
