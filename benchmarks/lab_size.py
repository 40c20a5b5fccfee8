"""How long the server takes for pages of a large lab: python -m benchmarks.lab_size [--sqlite] [--runs N] [--parameters N] [--json]

The lab is that of `benchmarks.large_lab`, on PostgreSQL; with --sqlite its runs alone (`benchmarks.large_runs`), on SQLite. What is
asked is what the pages ask for. Asked through Django's test client, with a connection of its own for each request as the server has it,
so what is measured is the server's own time, without HTTP: the median, the 95th percentile and the largest of --times requests, in ms,
after one that warms up, and how many queries were made. The bar is 300 ms for each, and 1,000 ms for groups and points of all runs, which
read every one. cpu_ms is the processor's time for one, of the web process and the database together, for where the machine has other work
to do.

--folder keeps the database there, and uses it again if it is there already. --only asks what has this in its name.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from .large_lab import FIGURE, OF_GROUP
from .large_runs import OF_RUNS, filled, postgresql, sqlite

TIMES = 10
BAR_MS = 300
ALL_RUNS_BAR_MS = 1000
ALL_RUNS = ("groups", "points")
"""First words of the names of questions that read every run found."""

NUMBERS, TEXTS = (f"/query/operators/o{n}/params/size" for n in (4, 6))
SORTS = ("number", "state", "experiment", "seed", "p50", "p99", "out", "took")
SIX = "&".join(f"metric=operators.o{n}.busy" for n in range(20, 26))
MEASURED = "&".join(f"metric={name}" for name in OF_RUNS)
ASKED = {
    **{f"runs by {sign}{name}": f"/api/runs?sort={sign}{name}" for name in SORTS for sign in ("", "-")},
    "storage": "/api/storage",
    "runs with those of studies": "/api/runs?of_studies=true",
    "runs of a study": "/api/runs?study={study}",
    "runs of a study by -p99": "/api/runs?study={study}&sort=-p99",
    "runs, page 1,000": "/api/runs?offset=49950",
    "runs by -p99, page 1,000": "/api/runs?sort=-p99&offset=49950",
    "runs that failed": "/api/runs?state=failed",
    "runs that failed by -p99": "/api/runs?state=failed&sort=-p99",
    "runs in the queue by p50": "/api/runs?state=queued&sort=p50",
    "runs of an experiment": "/api/runs?experiment={experiment}",
    "runs of an experiment by p50": "/api/runs?experiment={experiment}&sort=p50",
    "runs with a tag": "/api/runs?tag=good",
    "runs with a tag by -p99": "/api/runs?tag=good&sort=-p99",
    "a word": "/api/runs?search=q7",
    "a word in notes": "/api/runs?search=note:q7",
    "a word, by -p99": "/api/runs?search=q7&sort=-p99",
    "a hash": "/api/runs?search={hash}",
    "a word that nothing has": "/api/runs?search=nowhere",
    "a word that nothing has, by -p99": "/api/runs?search=nowhere&sort=-p99",
    "p99>990": "/api/runs?search=p99>990",
    "p99>990 by -p99": "/api/runs?search=p99>990&sort=-p99",
    "p99>10 (most)": "/api/runs?search=p99>10",
    "p99>10 by took": "/api/runs?search=p99>10&sort=took",
    "p99!=10": "/api/runs?search=p99!=10",
    "p99>500 p50<500": "/api/runs?search=p99>500 p50<500",
    "operators.o17.busy>0.5": "/api/runs?search=operators.o17.busy>0.5",
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
    "first page, columns of two parameters": "/api/runs?value=/query/operators/o4/params/size&value=/query/operators/o6/params/size",
    "a range": "/api/runs?search=p99:100..200",
    "alternatives": "/api/runs?search=state=failed|cancelled seed=1|2",
    "no value of a field": "/api/runs?search=no:author",
    "groups by state": "/api/runs/groups?by=state&measure=p99",
    "groups by author and experiment": "/api/runs/groups?by=author&by=experiment&measure=p99&measure=took",
    "groups by tag": "/api/runs/groups?by=tag&measure=p99",
    "groups by a parameter": f"/api/runs/groups?by={NUMBERS}&measure=p99",
    "groups by two parameters": f"/api/runs/groups?by={TEXTS}&by={NUMBERS}&measure=p99",
    "groups by a parameter, four measures": f"/api/runs/groups?by={TEXTS}&measure=p99&measure=p50&measure=out&measure=took",
    "groups by a parameter, of one in ten": f"/api/runs/groups?by={TEXTS}&measure=p99&search=o5/params/size<100",
    "groups by a parameter, of one in 1,000": f"/api/runs/groups?by={TEXTS}&measure=p99&search=/query/operators/o4/params/size=17",
    "points of two metrics": "/api/runs/points?field=out&field=p99&field=state",
    "points of six fields": f"/api/runs/points?field={NUMBERS}&field={TEXTS}&field=out&field=p99&field=state&field=author",
    "points of six fields, of one in ten": f"/api/runs/points?field={NUMBERS}&field={TEXTS}&field=out&field=p99&field=state&field=author"
    "&search=o5/params/size<100",
    "points, 20,000": "/api/runs/points?field=out&field=p99&limit=20000",
    "choices of fields that differ": "/api/runs/fields?varying=true",
    "choices of fields": "/api/runs/fields?search=",
    "choices of fields, searched": "/api/runs/fields?search=o1",
    "tags": "/api/tags",
    "views": "/api/views",
    "baselines": "/api/baselines",
    "run: itself": "/api/runs/{run}",
    "run: notes": "/api/runs/{run}/notes",
    "run: attribution": "/api/runs/{run}/attribution",
    "run: questions": "/api/runs/{run}/waterfalls",
    "compare: four of five seeds each": f"/api/compare?{{few}}&{MEASURED}",
    "compare: four of fifty seeds each": f"/api/compare?{{many}}&{MEASURED}",
    "p99 with a unit": "/api/runs?search=p99>500ms",
    "a tag in the search": "/api/runs?search=tag:good",
    "compare: choices": "/api/runs?search=q7&limit=50",
    "experiments": "/api/experiments",
    "an experiment": "/api/experiments/{experiment}",
    "templates": "/api/templates",
    "studies": "/api/studies?limit=50",
    "studies, the last": "/api/studies?limit=50&offset=450",
    "a study": "/api/studies/{study}",
    "a study: first points": "/api/studies/{study}/results?metric=latency_ms.p99&metric=throughput_out_per_s&limit=250",
    "a study: last points": "/api/studies/{study}/results?metric=latency_ms.p99&limit=250&offset=4750",
    "a study: six metrics": f"/api/studies/{{study}}/results?limit=250&{SIX}",
    "a study of twenty seeds: six metrics": f"/api/studies/{{seeds}}/results?limit=250&{SIX}",
    "a search": "/api/studies/{search}",
    "a search: first points": "/api/studies/{search}/results?metric=latency_ms.p99&limit=250",
    "a search: six metrics": f"/api/studies/{{search}}/results?limit=250&{SIX}",
    "an optimisation": "/api/studies/{optimisation}",
    "an optimisation: trials": "/api/studies/{optimisation}/optimisation",
    "an optimisation: six metrics": f"/api/studies/{{optimisation}}/results?limit=250&{SIX}",
    "figures": "/api/figures",
    "a figure": f"/api/figures/{FIGURE}",
    "a figure at a scale": f"/api/figures/{FIGURE}?scale=dev",
    "a figure: when it was carried out": f"/api/figures/{FIGURE}/reproductions",
    "a figure: one of its studies": f"/api/figures/{FIGURE}/studies/curve?scale=dev",
    "analyses": "/api/spark/jobs?limit=50",
    "an analysis": "/api/spark/jobs/{job}?limit=1000",
    "data sets": "/api/datasets",
    "data sets: uses": "/api/datasets/uses",
    "a data set": "/api/datasets/{dataset}",
    "lab: people": "/api/people",
    "lab: invitations": "/api/invitations",
    "lab: tokens": "/api/tokens",
    "lab: storage": "/api/storage",
    "lab: audit": "/api/audit?limit=50",
    "lab: audit, the last": "/api/audit?limit=50&offset=99950",
    "lab: audit of a person": "/api/audit?limit=50&person=person 7",
    "lab: audit of an action": "/api/audit?limit=50&action=runs",
    "all pages: who": "/api/me",
    "all pages: registry": "/api/registry",
    "all pages: schema": "/api/schema",
    "studies: schema": "/api/studies/schema",
}
OF_A_GROUP = ("study", "seeds", "search", "optimisation", "job", "dataset")
"""Places that a lab of runs alone does not have."""


def cpu_ms(postmaster: int | None) -> float:
    """What this process has used, and the server processes of connections that have ended."""
    if postmaster is None:
        return 1000 * time.process_time()
    ticks = sum(map(int, Path(f"/proc/{postmaster}/stat").read_text().rpartition(")")[2].split()[13:15]))
    return 1000 * (time.process_time() + ticks / os.sysconf("SC_CLK_TCK"))


def disconnected() -> int | None:
    """End the connection and wait for its server process to end; the process above it, None for SQLite."""
    from django.db import connection

    connection.ensure_connection()
    if connection.vendor == "sqlite":
        connection.close()
        return None
    backend = Path(f"/proc/{connection.connection.info.backend_pid}")
    postmaster = int((backend / "stat").read_text().rpartition(")")[2].split()[1])
    connection.close()
    while backend.exists():
        time.sleep(0.001)
    return postmaster


def p95(values: list[float]) -> float:
    """The smallest value that 95 % of them do not exceed."""
    return sorted(values)[max(0, -(-95 * len(values) // 100) - 1)]


def places() -> dict[str, Any]:
    """What stands in the addresses."""
    from webapp.lab.models import Dataset, Experiment, Run, SparkJob, Study

    def chosen(*numbers: int) -> str:
        return "&".join(f"run={id}" for id in Run.objects.filter(number__in=numbers).values_list("pk", flat=True))

    run, studies = Run.objects.get(number=17), dict(Study.objects.values_list("name", "pk"))
    of_runs = {
        "run": run.pk,
        "hash": run.hash[:12],
        "experiment": Experiment.objects.get(name="Large").pk,
        "few": chosen(2005, 2010, 2015, 2020),
        "many": chosen(1, 51, 101, 151),
    }
    if not studies:
        return of_runs
    return {
        **of_runs,
        "study": studies["Large"],
        "seeds": studies["Of many seeds"],
        "search": studies["Search"],
        "optimisation": studies["Optimisation"],
        "job": SparkJob.objects.get(runs__isnull=False).pk,
        "dataset": Dataset.objects.get(name="data 0").pk,
    }


def address_of(path: str, places: dict[str, Any]) -> str | None:
    """The address with its places filled in; None if it asks for what a lab of runs alone lacks. Raises KeyError for an unknown place."""
    try:
        return path.format(**places)
    except KeyError as missing:
        if missing.args[0] not in OF_A_GROUP:
            raise
        return None


def measured(only: str, times: int, told: bool) -> dict[str, Any]:
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    import webapp.asgi  # noqa: F401 - what the server does before its first request
    from webapp.lab.people import member

    client = Client(HTTP_HOST="127.0.0.1")
    client.force_login(member("ada").user)
    of_addresses = places()
    found = {}
    for name, path in ASKED.items():
        if only not in name:
            continue
        if (address := address_of(path, of_addresses)) is None:
            continue
        with CaptureQueriesContext(connection) as captured:
            answer = client.get(address)
        assert answer.status_code == 200, (name, answer.content[:300])
        queries, body, took_ms = len(captured), answer.json(), []
        rows = body.get("count", 1) if isinstance(body, dict) else len(body)
        postmaster = disconnected()
        cpu_before_ms = cpu_ms(postmaster)
        for _ in range(times):
            began_s = time.perf_counter()
            client.get(address)
            took_ms.append(1000 * (time.perf_counter() - began_s))
            disconnected()
        each_cpu_ms = round((cpu_ms(postmaster) - cpu_before_ms) / times, 1)
        median_ms, p95_ms, most_ms = (round(of(took_ms), 1) for of in (statistics.median, p95, max))
        found[name] = {
            "rows": rows, "queries": queries, "median_ms": median_ms, "p95_ms": p95_ms, "most_ms": most_ms, "cpu_ms": each_cpu_ms,
        }  # fmt: skip
        if told:
            slow = "  ABOVE THE BAR" if most_ms > (ALL_RUNS_BAR_MS if name.startswith(ALL_RUNS) else BAR_MS) else ""
            times_ms = f"{median_ms:>8} ms, p95 {p95_ms:>8}, most {most_ms:>8}, cpu {each_cpu_ms:>7}"
            print(f"{name:42} {rows:>8,} rows {queries:>3} queries {times_ms}{slow}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--parameters", type=int, default=150)
    parser.add_argument("--sqlite", action="store_true", help="a lab of runs alone, on SQLite")
    parser.add_argument("--times", type=int, default=TIMES, help="so many requests for each")
    parser.add_argument("--folder", type=Path, help="where the database is kept")
    parser.add_argument("--only", default="", help="ask only what has this in its name")
    parser.add_argument("--json", action="store_true", help="print JSON alone")
    asked = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() if asked.folder is None else nullcontext(asked.folder) as folder,
        sqlite(Path(folder)) if asked.sqlite else postgresql(Path(folder)),
    ):
        import django

        django.setup()
        took_s = filled(asked.runs, asked.parameters, {} if asked.sqlite else OF_GROUP)
        if not asked.json:
            print(f"filled, in s: {took_s}", flush=True)
        result = {
            "runs": asked.runs,
            "parameters": asked.parameters,
            "filled_s": took_s,
            "server": measured(asked.only, asked.times, not asked.json),
        }
        from django.db import connections

        connections.close_all()
    if asked.json:
        print(json.dumps(result))


if __name__ == "__main__":
    main()
