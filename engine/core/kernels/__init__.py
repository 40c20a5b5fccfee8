"""Kernels: what runs compiled, inside the event loop or on whole tables."""
