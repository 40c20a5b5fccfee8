"""Local stores behind operators whose changes go to a changelog: the cache, the log-structured merge tree, and restores."""
