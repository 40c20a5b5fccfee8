"""Add the example experiments and data sets to the lab. May be repeated."""

from __future__ import annotations

from typing import Any

from webapp.lab import fixtures
from webapp.lab.people import lab
from webapp.lib.command import QuickCommand


class Command(QuickCommand):
    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        added = fixtures.load(lab())
        self.stdout.write(f"added {', '.join(added)}" if added else "all examples are already there")
