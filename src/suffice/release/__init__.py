"""protect(), the release, what attests it and how it leaves."""
