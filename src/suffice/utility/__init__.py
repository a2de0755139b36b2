"""What a release is still good for: one file per measure."""
