"""Trees whose leaves are records that are alike."""
