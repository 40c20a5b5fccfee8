#!/usr/bin/env python3
"""Django's command line, with Millrace's own commands: run, reproduce, schema, load_fixtures, signin_url, api_token."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    try:
        from django.core.management import execute_from_command_line
    except ImportError:
        sys.exit("Django is not installed for this Python; start with scripts/up, or use .venv/bin/python")
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
