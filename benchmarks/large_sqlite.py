"""A lab's runs as in `benchmarks.large_lab`, on SQLite: what a laptop has, without the people, studies and figures of a group."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .large_lab import METRICS, OF_RUNS, ROOT, TAGS, WIDE_RUNS, WIDE_SEEDS, nexmark_q1

SEEDS = 5

RUNS = """
WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < %(runs)s)
INSERT INTO lab_run (id, state, error, cancel_requested, created_at, lease_holder, losses, lab_id, number, experiment_id,
    experiment_version, name, document, hash, setup, seed, engine_version, horizon_ns, t_ns, frames, summary, digest, notes,
    stored_bytes, sparkline, started_at, finished_at, author)
SELECT lower(hex(randomblob(16))), CASE n %% 4 WHEN 3 THEN 'failed' ELSE 'succeeded' END, '', 0,
    datetime('now', '-' || n || ' minutes'), '', 0, %(lab)s, n, %(experiment)s, 1, 'NexMark Q' || n %% 12, %(document)s,
    MD5(n || '') || MD5('hash' || n),
    CASE WHEN n <= %(wide)s THEN MD5('wide' || ((n - 1) / %(wide_seeds)s)) ELSE MD5((n / %(few)s) || '') END,
    CASE WHEN n <= %(wide)s THEN (n - 1) %% %(wide_seeds)s ELSE n %% %(few)s END, '4', 30000000000, 30000000000, 120,
    %(summary)s, MD5('digest' || n), CASE WHEN n %% 100 = 0 THEN 'slower than q7' ELSE '' END, 1000000 + n, %(sparkline)s,
    datetime('now', '-' || (1 + n * 7919 %% 1000) || ' seconds'), datetime('now'),
    CASE n %% 4 WHEN 0 THEN '' WHEN 1 THEN 'ada' WHEN 2 THEN 'grace' ELSE 'edsger' END
FROM numbers
"""
SUMMARIES = """
INSERT INTO lab_runsummary (run_id, metric, value)
SELECT r.id, m.name, CASE WHEN m.name LIKE 'operators.%%' THEN 1 ELSE 1000 END * (random() / 18446744073709551616.0 + 0.5)
FROM (SELECT id FROM lab_run ORDER BY number) AS r CROSS JOIN (SELECT name FROM lab_fieldname WHERE name NOT LIKE '/%%') AS m
"""
PARAMETERS = """
INSERT INTO lab_runparameter (run_id, name_id, number, text)
SELECT r.id, p.id, CASE WHEN p.id %% 3 > 0 THEN (r.number * 7919 + p.id) %% 1000 END,
    CASE WHEN p.id %% 3 = 0 THEN 'kind' || (r.number + p.id) %% 10 ELSE '' END
FROM (SELECT id, number FROM lab_run ORDER BY number) AS r CROSS JOIN (SELECT id FROM lab_fieldname WHERE name LIKE '/%%') AS p
"""
TAGGED = """
INSERT INTO lab_tag_runs (tag_id, run_id)
SELECT t.id, r.id FROM lab_run AS r JOIN lab_tag AS t ON r.number %% CASE t.name WHEN 'good' THEN 3 ELSE 100 + t.id END = 0
"""


@contextmanager
def using_sqlite(folder: Path) -> Iterator[None]:
    """A file in the folder as Django's database."""
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["DATABASE_URL"] = f"sqlite:///{folder.resolve() / 'lab.sqlite3'}"
    os.environ["MILLRACE_DATA"] = str(folder)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    sys.path.insert(0, str(ROOT))
    yield


def filled(runs: int, parameters: int) -> dict[str, float]:
    """Fill the database; how long each part took, in s. Nothing where there are runs already."""
    from django.core.management import call_command
    from django.db import connection

    from webapp.lab.models import Experiment, FieldName, Run, Tag
    from webapp.lab.people import member

    call_command("migrate", verbosity=0)
    lab = member("ada").lab
    if Run.objects.exists():
        return {}
    experiment = Experiment.objects.create(lab=lab, name="Large", document=nexmark_q1())
    document = {**nexmark_q1(), "query": {"operators": [{"id": f"o{n}", "params": {"size": n}} for n in range(parameters)]}}
    busy = {f"o{n}": {"busy": 1 / n} for n in range(len(OF_RUNS) + 1, METRICS + 1)}
    summary = {"latency_ms": {"p50": 1, "p99": 2}, "throughput_out_per_s": 3, "operators": busy}
    Tag.objects.bulk_create(Tag(lab=lab, name="good" if not n else f"tag {n}") for n in range(TAGS))
    FieldName.ids(lab.pk, [*OF_RUNS, *(f"operators.o{n}.busy" for n in range(len(OF_RUNS) + 1, METRICS + 1))])
    FieldName.ids(lab.pk, [f"/query/operators/o{n}/params/size" for n in range(1, parameters + 1)])
    values = {
        "lab": lab.pk, "experiment": experiment.pk.hex, "document": json.dumps(document), "summary": json.dumps(summary), "runs": runs,
        "wide": WIDE_RUNS, "wide_seeds": WIDE_SEEDS, "few": SEEDS, "sparkline": json.dumps([1 + n * 31 % 1000 for n in range(32)]),
    }  # fmt: skip
    took_s = {}
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA synchronous = OFF")
        cursor.execute("PRAGMA cache_size = -500000")
        for table, statement in (
            ("lab_run", RUNS),
            ("lab_runsummary", SUMMARIES),
            ("lab_runparameter", PARAMETERS),
            ("lab_tag_runs", TAGGED),
        ):
            began_s = time.perf_counter()
            with without_indexes(cursor, table):
                cursor.execute(statement, values)
            took_s[table] = round(time.perf_counter() - began_s, 1)
        cursor.execute("ANALYZE")
    connection.close()
    return took_s


@contextmanager
def without_indexes(cursor: Any, table: str) -> Iterator[None]:
    """Indexes of a table that gets many rows are made afterwards, in one go each."""
    cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = %s AND sql IS NOT NULL", [table])
    indexes = cursor.fetchall()
    for name, _ in indexes:
        cursor.execute(f'DROP INDEX "{name}"')
    yield
    for _, definition in indexes:
        cursor.execute(definition)
