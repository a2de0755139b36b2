"""Controlled tabular adjustment: sensitive cells moved to safe values, the rest as little as possible (Cox 2005)."""
