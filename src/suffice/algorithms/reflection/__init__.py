"""Reflections: one secret direction, and those that keep third moments."""
