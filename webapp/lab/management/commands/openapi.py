"""Print the OpenAPI document of the HTTP API."""

from __future__ import annotations

import json
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder

from webapp.api import api
from webapp.lib.command import QuickCommand


class Command(QuickCommand):
    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(json.dumps(api.get_openapi_schema(), indent=2, cls=DjangoJSONEncoder))
