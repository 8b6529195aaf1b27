"""Published learning curves, as data files with their sources (README.md beside them)."""
