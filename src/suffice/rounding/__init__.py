"""Controlled rounding: whole numbers with the same totals."""

from suffice.rounding.parts import mostly_rounded as mostly_rounded
from suffice.rounding.rounding import rounded as rounded
