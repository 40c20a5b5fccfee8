"""Figures and tables of papers as documents: studies, values, assertions."""
