"""Kinds of files; reading, writing, drafts."""
