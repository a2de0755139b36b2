"""Methods side by side: many runs of each, the frontier, and the most useful release that passes."""
