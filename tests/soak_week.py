"""A week of a lab with 100,000 runs: nothing may grow but what people keep.

    python -m tests.soak week --runs 100000 --database sqlite|postgresql [--days 7] [--report FILE]

A real installation, filled with runs. On each day people sign in, fail to, look at lists, run, study, upload and delete. Then a day
passes: all times in the database and of all files are a day earlier, and the lab tidies up. So the processes live for as many requests and
runs as in a week, and what is kept for a day, two days or a week comes to its end. Retention rules take frames after two days and runs
after three, a week before they are gone; the runs that the lab is filled with have a note, so no rule takes them. Runs on disk are judged
if there are more nights than that.
Measured each night: the database, logs, Redis's file, uploads and runs on disk, and the memory of each process.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx

from .soak import PARTS, ROOT, Client, Installation, Made, Unexpected, wait_until_all_has_ended

LISTS = (
    "/api/runs?limit=100",
    "/api/experiments",
    "/api/studies",
    "/api/datasets",
    "/api/storage",
    "/api/audit",
    "/api/figures",
    "/api/people",
)
RUNS, STUDIES, LOOKS, STRANGERS, UPLOADS = 60, 3, 40, 50, 6
DAY_S = 86_400
FIRST_DAYS = 2
"""Caches fill and tables get their size; growth is judged from then on."""
RULES_DAYS = 10
"""Until the frames of a first day's runs are gone: two days old, and a week in which that can be undone."""
SMALL_BYTES = {"logs": 1_000_000, "redis": 256 << 20, "uploads": 1_000_000}
"""Growth below this is none. Redis writes its file anew when it has so much (`scripts/launcher/services.py`)."""
GROWTH_MAX = {"memory": 1.15, "logs": 1.3, "redis": 1.3, "uploads": 1.3, "database": 1.05, "runs": 1.1}


def week(runs: int, database: str, days: int, seed: int = 1) -> dict[str, Any]:
    """Returns the report."""
    directory = Path(tempfile.mkdtemp(prefix="millrace-week-"))
    directory.chmod(0o755)
    installation = Installation(directory, database)
    made = Made()
    try:
        filled_s = float(in_the_lab(installation, "fill", str(runs)))
        installation.start()
        installation.wait_for_link()
        client = Client(installation.url, installation.token(), made, seed)
        for rule in ({"what": "frames", "days": 2}, {"what": "runs", "days": 3}):
            client.ask("POST", "/api/storage/rules", json=rule)
        nights = []
        for day in range(days):
            began_s = time.monotonic()
            one_day(client, installation, day)
            in_the_lab(installation, "pass")
            nights.append({"day": day + 1, "took_s": round(time.monotonic() - began_s), **sizes(installation)})
            print(json.dumps(nights[-1]), flush=True)
        installation.stop()
        found = {"database": database, "runs": runs, "filled_s": filled_s, "nights": nights, "asked": dict(made.asked), "wrong": made.wrong}
        return {**found, "growth": (grown := growth(nights)), "too much": [name for name, most in grown.items() if most > most_of(name)]}
    finally:
        for process in installation.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, 9)
        if installation.postgres is not None and installation.postgres.process is not None:
            installation.postgres.process.kill()
        shutil.rmtree(directory, ignore_errors=True)


def one_day(client: Client, installation: Installation, day: int) -> None:
    random.seed(day)
    for kind, times in ((client.run, RUNS), (client.study, STUDIES), (client.upload, UPLOADS)):
        for _ in range(times):
            client.made.asked[kind.__name__] += 1
            try:
                kind()
            except Unexpected as wrong:
                client.made.wrong.append(str(wrong))
    for _ in range(LOOKS):
        for path in LISTS:
            client.ask("GET", path)
    for n in range(STRANGERS):
        stranger = httpx.Client(base_url=installation.url)
        stranger.get("/api/health")
        csrf = {"X-CSRFToken": stranger.cookies.get("csrftoken", ""), "Referer": installation.url}
        stranger.post("/api/session", json={"name": f"nobody {n}", "password": "guessed"}, headers=csrf)
        stranger.get(f"/no/such/page/{n}")
        stranger.close()
    for dataset in client.ask("GET", "/api/datasets").json()[: UPLOADS - 1]:
        with contextlib.suppress(Unexpected):
            client.ask("DELETE", f"/api/datasets/{dataset['id']}")
    wait_until_all_has_ended(client)


def sizes(installation: Installation) -> dict[str, Any]:
    """Bytes on disk and in the database, and resident memory in MB of each part's processes."""
    data = installation.data
    below = {name: sum(path.stat().st_size for path in files(data / name)) for name in ("logs", "redis", "uploads", "runs", "datasets")}
    memory: defaultdict[str, float] = defaultdict(float)
    for part, word in PARTS.items():
        for process in installation.processes(word):
            with contextlib.suppress(OSError, IndexError):
                pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
                memory[part] += pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    return {**below, **json.loads(in_the_lab(installation, "count")), "memory_mb": {part: round(mb) for part, mb in memory.items()}}


def files(place: Path) -> list[Path]:
    return [path for path in place.rglob("*") if path.is_file()]


def growth(nights: list[dict[str, Any]]) -> dict[str, float]:
    """The last night over the first after FIRST_DAYS; of runs on disk, after RULES_DAYS. Of the database, the bytes of a row."""
    first, last = nights[min(FIRST_DAYS, len(nights) - 1)], nights[-1]
    found = {name: round(last[name] / max(small, first[name]), 3) for name, small in SMALL_BYTES.items()}
    found["database"] = round((last["database_bytes"] / last["rows"]) / (first["database_bytes"] / first["rows"]), 3)
    if len(nights) > RULES_DAYS:
        found["runs"] = round(last["runs"] / nights[RULES_DAYS - 1]["runs"], 3)
    return found | {f"memory of {part}": round(mb / max(20, first["memory_mb"].get(part, mb)), 3) for part, mb in last["memory_mb"].items()}


def most_of(name: str) -> float:
    return GROWTH_MAX["memory" if name.startswith("memory") else name]


# --- in the lab's environment -------------------------------------------------------------------------------------------------------------


def in_the_lab(installation: Installation, *words: str) -> str:
    environment = {**installation.environment, "DJANGO_SETTINGS_MODULE": "webapp.settings", "PYTHONPATH": str(ROOT)}
    if "REDIS_URL" not in environment:
        environment["REDIS_URL"] = f"unix://{installation.data / 'redis.sock'}?db=0"
    command = [sys.executable, "-m", "tests.soak_week", *words]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)} failed:\n{done.stderr}")
    return done.stdout.strip()


def fill(runs: int) -> None:
    from benchmarks.large_runs import filled

    began_s = time.monotonic()
    filled(runs, 20, {})
    from webapp.lab.models import Lab, Run

    Run.objects.update(notes="kept")
    Lab.objects.update(runs_numbered=runs)
    print(round(time.monotonic() - began_s, 1))


def let_a_day_pass() -> None:
    """Make all times a day earlier, and tidy up."""
    from django.apps import apps
    from django.conf import settings
    from django.db.models import DateField, DateTimeField, F

    from webapp.lib.redis_connection import connection
    from webapp.maintenance.retention import tidy

    for model in apps.get_models():
        times = [field.name for field in model._meta.local_fields if isinstance(field, DateField | DateTimeField)]
        if times:
            model._default_manager.update(**{name: F(name) - timedelta(days=1) for name in times})
    for path in files(Path(settings.DATA_DIR)):
        with contextlib.suppress(OSError):
            at_s = path.stat().st_mtime - DAY_S
            os.utime(path, (at_s, at_s))
    for key in connection().scan_iter(count=1000):
        left_s = connection().ttl(key)
        if left_s >= 0:
            connection().expire(key, max(0, left_s - DAY_S))
    for _ in range(4):  # each takes some hundred at a time
        tidy()


def count() -> None:
    from django.apps import apps
    from django.conf import settings
    from django.db import connection

    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_database_size(current_database())")
        else:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            cursor.execute("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()")
        size_bytes = cursor.fetchone()[0]
    rows = {model._meta.label: model._default_manager.count() for model in apps.get_models()}
    most = dict(sorted(rows.items(), key=lambda one: -one[1])[:8])
    assert settings.DATA_DIR
    print(json.dumps({"database_bytes": size_bytes, "rows": sum(rows.values()), "most": most}))


def main() -> None:
    import django

    django.setup()
    what, *words = sys.argv[1:]
    {"fill": lambda: fill(int(words[0])), "pass": let_a_day_pass, "count": count}[what]()


if __name__ == "__main__":
    main()
