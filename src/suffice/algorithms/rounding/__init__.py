"""Controlled rounding: whole numbers with the same totals."""
