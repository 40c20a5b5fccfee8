"""Kinds as authors of other packages write them, a file each."""
