"""The whole request as data."""
