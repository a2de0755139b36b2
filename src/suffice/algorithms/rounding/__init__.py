"""Controlled rounding: whole numbers with the same totals."""

from suffice.algorithms.rounding.parts import mostly_rounded as mostly_rounded
from suffice.algorithms.rounding.rounding import rounded as rounded
