"""Secondary suppression: which cells must be suppressed besides the sensitive ones."""
