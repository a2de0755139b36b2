"""What a release says of single records: one file a measure."""
