"""Every promise recomputed from two files, by code that does not know the method."""
