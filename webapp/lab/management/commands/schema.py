"""Print the JSON Schema of the experiment document."""

from __future__ import annotations

import json
from typing import Any

from engine.spec.experiment import registry
from webapp.lib.command import QuickCommand


class Command(QuickCommand):
    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(json.dumps(registry.document_schema(), indent=2))
