"""Print the JSON Schema of the experiment document."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand

from engine.spec.experiment import registry


class Command(BaseCommand):
    help = __doc__
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(json.dumps(registry.document_schema(), indent=2))
