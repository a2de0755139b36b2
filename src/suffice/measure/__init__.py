"""What a measure is: its declaration, and the pair of files that it is of."""
