"""Putting like records together: groups of k or more, as arrays of labels."""
