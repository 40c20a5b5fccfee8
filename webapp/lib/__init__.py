"""Helpers that use no models."""
