"""What each column is; terms to numbers; what every record must keep; missing cells."""
