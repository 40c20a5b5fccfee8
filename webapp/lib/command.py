"""Base of the commands of `manage.py`."""

from __future__ import annotations

from typing import ClassVar

from django.core.management.base import BaseCommand


class QuickCommand(BaseCommand):
    """Without Django's system checks: they look for mistakes of developers, and import the whole web API for that, which takes longer than
    most commands. A test runs them."""

    requires_system_checks: ClassVar[list[str]] = []
