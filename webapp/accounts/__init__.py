"""Accounts: one-time sign-in links for browsers, bearer tokens for programs."""
