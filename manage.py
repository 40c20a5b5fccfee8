#!/usr/bin/env python3
"""Django's command line, with Millrace's own commands: run, reproduce, schema, load_fixtures, signin_url, api_token."""

import errno
import os
import sys

OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO)


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    try:
        from django.core.management import execute_from_command_line
    except ImportError:
        sys.exit("Django is not installed for this Python; start with scripts/up, or use .venv/bin/python")
    from django.core.exceptions import ImproperlyConfigured
    from django.db import DatabaseError, InterfaceError

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"manage.py: {error}")
    except (DatabaseError, InterfaceError) as error:
        from webapp.lib.outages import away

        found = away(error)
        if found is None or "--traceback" in sys.argv:
            raise
        outage, what = found
        print(f"manage.py: {outage.part} {what}: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(os.EX_TEMPFAIL)  # it may work in a moment
    except OSError as error:
        if error.errno not in OF_THE_DISK or "--traceback" in sys.argv:
            raise
        sys.exit(f"manage.py: {error.strerror}{f': {error.filename}' if error.filename else ''}")


if __name__ == "__main__":
    main()
