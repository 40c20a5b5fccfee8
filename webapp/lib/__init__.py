"""Helpers that know no model."""
