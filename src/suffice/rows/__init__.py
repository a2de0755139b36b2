"""Rows of a file, the same in the same order: fold, map, deal."""
