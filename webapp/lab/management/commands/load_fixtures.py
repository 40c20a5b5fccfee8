"""Add the example experiments and data sets to the lab. May be repeated."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from webapp.lab import fixtures
from webapp.lab.people import lab


class Command(BaseCommand):
    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        added = fixtures.load(lab())
        self.stdout.write(f"added {', '.join(added)}" if added else "all examples are already there")
