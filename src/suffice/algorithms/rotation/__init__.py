"""Turning small groups of records so that no sum, no product and no limit notices."""
