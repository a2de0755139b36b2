"""A method carried to the rows, and its answer carried back."""
