"""Maintenance of an installation: backups and retention."""
