"""Controlled rounding: whole numbers with the same totals."""

from suffice.rounding.rounding import rounded as rounded
