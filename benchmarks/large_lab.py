"""A lab as large as they get, on a real PostgreSQL: the runs of `benchmarks.large_runs`, and what a group has beside them.

Studies of all kinds, figures that were carried out many times, jobs for Spark, people with tokens, and what they did.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from itertools import cycle
from typing import Any

from .large_runs import ROOT, Fill, nexmark_q1

FIGURE = "millrace/q1"
EXPERIMENTS, STUDIES, VIEWS, JOBS, DATASETS, PEOPLE, TOKENS = 300, 500, 50, 200, 100, 50, 200
RESULTS_OF_FIGURE, REPRODUCTIONS, QUESTIONS = 200, 100, 20
LOG_ENTRIES, ANSWER_ROWS = 100_000, 10_000

LOG = """
INSERT INTO accounts_logentry (lab_id, at, person, token, action, subject, subject_id, detail)
SELECT %(lab)s, now() - n * interval '1 minute', 'person ' || n %% %(people)s, '', (ARRAY['runs.cancel', 'runs.bulk', 'experiments.change',
    'studies.create', 'tokens.issue'])[1 + n %% 5], 'Run ' || n, md5(n::text), '' FROM generate_series(1, %(entries)s) AS n
"""


def fill_people(cursor: Any, lab: Any, experiment: Any) -> None:
    from datetime import timedelta

    from webapp.accounts.models import ApiToken, Invitation
    from webapp.lab.models import View
    from webapp.lab.people import member

    ada = member("ada")
    for n in range(PEOPLE):
        member(f"person {n}", "member")
        Invitation.issue(lab, "member", ada.user, timedelta(days=7))
    for n in range(TOKENS):
        ApiToken.issue(ada, f"token {n}")
    View.objects.bulk_create(View(lab=lab, name=f"view {n}", query={"search": f"p99>{n}"}, author=ada.user) for n in range(VIEWS))
    cursor.execute(LOG, {"lab": lab.pk, "people": PEOPLE, "entries": LOG_ENTRIES})


def fill_studies(cursor: Any, lab: Any, experiment: Any) -> None:
    """A large sweep, one of many seeds, a search and an optimisation; and many small ones. Their runs are those of the lab, in turn."""
    from engine import studies as plan
    from engine.spec.study.study import Study as Document
    from webapp.lab.models import Run, Study, Trial, TrialState

    ids = cycle(Run.objects.order_by("number").values_list("pk", flat=True)[:20_000])

    def stored(name: str, document: dict[str, Any]) -> tuple[Study, Document]:
        study = Study.objects.create(lab=lab, experiment=experiment, name=name, document=document, state="succeeded", begun=True)
        return study, Document.model_validate(document)

    def trial(study: Study, point: int, seed: int, values: dict[str, Any], **others: Any) -> Trial:
        return Trial(study=study, point=point, seed=seed, values=values, state=TrialState.DONE, run_id=next(ids), **others)

    for name, points, seeds in (("Large", 5000, 2), ("Of many seeds", 1000, 20)):
        study, document = stored(name, sweep(name, points, seeds))
        Trial.objects.bulk_create(trial(study, one.point, one.seed, one.values) for one in plan.strands(document))
    study, document = stored("Search", search(500, 2))
    made = [trial(study, one.strand.point, one.strand.seed, one.strand.values, load=one.load, verdict=asdict(verdict))
            for strand in plan.strands(document) for one, verdict in searched(strand)]  # fmt: skip
    Trial.objects.bulk_create(made)
    study, document = stored("Optimisation", optimisation(1000, 5))
    Trial.objects.bulk_create(trial(study, n, seed, {"rate": 1000.0 + n}) for n in range(1000) for seed in document.seeds)
    small = sweep("Small", 10, 2)
    Study.objects.bulk_create(
        Study(lab=lab, experiment=experiment, name=f"Small {n}", document=small, state="succeeded") for n in range(STUDIES)
    )


RATE = "/workload/sources/bids/rate/per_s"


def sweep(name: str, points: int, seeds: int) -> dict[str, Any]:
    axis = {"name": "rate", "fields": [RATE], "values": {"kind": "linear", "from": 1, "to": points, "count": points}}
    return {"name": name, "experiment": nexmark_q1(), "axes": [axis], "seeds": list(range(1, 1 + seeds))}


def search(points: int, seeds: int) -> dict[str, Any]:
    axis = {"name": "speed", "fields": ["/cluster/hosts/0/speed"], "values": {"kind": "linear", "from": 1, "to": 2, "count": points}}
    load = {"name": "load", "fields": [RATE], "values": {"kind": "between", "from": 500, "to": 60_000}}
    kind = {"kind": "sustainable", "load": load, "shares": [0.9]}
    return {"name": "Search", "experiment": nexmark_q1(), "axes": [axis], "seeds": list(range(1, 1 + seeds)), "search": kind}


def searched(strand: Any) -> Iterator[tuple[Any, Any]]:
    """The trials of a search with their verdicts, for a system that sustains more the faster it is."""
    from engine.studies import Measured, Verdict, follow

    results: dict[Any, Measured] = {}
    while wanted := follow(strand, results).wanted:
        for one in wanted:
            above = one.load > 20_000 * strand.values["speed"] + 10 * strand.seed
            figures = dict.fromkeys(("offered_per_s", "taken_per_s", "queue_at_end", "queue_growth_per_s", "head_age_at_end_s", "silence_s",
                                     "latency_growth", "latency_first_s", "latency_last_s"), one.load / 3)  # fmt: skip
            verdict = Verdict(("the driver's queue grows by 1,000 records/s",) if above else (), figures)
            results[one.id] = Measured({}, verdict)
            yield one, verdict


def optimisation(trials: int, seeds: int) -> dict[str, Any]:
    axis = {"name": "rate", "fields": [RATE], "values": {"kind": "between", "from": 1, "to": 100_000}}
    bound = {"metric": "throughput_out_per_s", "at_least": 100}
    objectives = [{"metric": "latency_ms.p99"}, {"metric": "rate", "direction": "maximise"}]
    design = {"kind": "optimise", "objectives": objectives, "bounds": [bound], "trials": trials}
    return {"name": "Optimisation", "experiment": nexmark_q1(), "axes": [axis], "seeds": list(range(1, 1 + seeds)), "design": design}


def fill_figures(cursor: Any, lab: Any, experiment: Any) -> None:
    """Results as they are when each figure was carried out many times, every result resting on 200 runs of the lab."""
    from webapp.lab import figures
    from webapp.lab.models import FigureResult, Reproduction, Run, Study

    keys = list(Run.objects.order_by("number").values_list("hash", flat=True)[:200])
    x = list(range(len(keys)))
    values = {"curve": {"x": x, "y": x, "low": x, "high": x, "runs": [[key] for key in keys]}}
    for id in figures.FILES.ids():
        read, hashes = figures.outline(id)
        asserted = [one.model_dump(include={"id", "text", "check", "tolerance"}) for one in read.assertions]
        sides = [{"text": "most(p99)", "least": 1.0, "most": 2.0}, {"text": "10", "least": 10.0, "most": 10.0}]
        assertions = [{**one, "state": "holds", "sides": sides, "reason": ""} for one in asserted]
        FigureResult.objects.bulk_create(
            FigureResult(
                lab=lab, figure=id, scale="dev", hash=hashes["dev"], engine_version="4", seeds=[1], runs=200, took_s=1.0,
                status="reproduced", values=values, assertions=assertions,
            )
            for _ in range(RESULTS_OF_FIGURE)
        )  # fmt: skip
    small = list(Study.objects.filter(name__startswith="Small")[:2])
    for n in range(REPRODUCTIONS):
        made = Reproduction.objects.create(lab=lab, figure=FIGURE, scale="dev", state="failed" if n % 2 else "succeeded")
        made.studies.set(small)


def fill_others(cursor: Any, lab: Any, experiment: Any) -> None:
    """Experiments, data sets, questions about records, and jobs for Spark, one with a long answer."""
    from webapp.lab import datasets
    from webapp.lab.models import Dataset, Experiment, Run, SparkJob, Waterfalls
    from webapp.reports.analysis import OF_SPAN

    document = nexmark_q1()
    Experiment.objects.bulk_create(Experiment(lab=lab, name=f"Other {n}", document=document) for n in range(EXPERIMENTS))
    dataset = datasets.add(lab, ROOT / "fixtures" / "data" / "flights.parquet", "data 0")
    about = {name: getattr(dataset, name) for name in ("file", "rows", "bytes", "columns", "timestamps")}
    Dataset.objects.bulk_create(Dataset(lab=lab, name=f"data {n}", **about) for n in range(1, DATASETS))
    run = Run.objects.get(number=17)
    Waterfalls.objects.bulk_create(
        Waterfalls(run=run, selection={"kind": "slowest"}, selection_hash=f"{n}", state="succeeded") for n in range(QUESTIONS)
    )
    SparkJob.objects.bulk_create(SparkJob(lab=lab, question={"kind": "summaries"}, state="succeeded") for _ in range(JOBS))
    job = SparkJob.objects.create(lab=lab, question={"kind": "summaries"}, state="succeeded", runs=ANSWER_ROWS, read=ANSWER_ROWS)
    parts = dict.fromkeys(("driver_queue", "channel_wait", "alignment", "service", "stolen", "network"), 10**12)
    of_run = {**dict.fromkeys(OF_SPAN, 12.345678), "from_s": 0.0, "to_s": 30.0, "frames": 120, "recoveries": [], "attribution_ns": parts}
    runs = Run.objects.order_by("number").values("pk", "number", "name", "seed")[:ANSWER_ROWS]
    rows = [{"run": str(one.pop("pk")), **one, **of_run} for one in runs]
    columns = [{"name": name, "title": title, "unit": "ms"} for name, title in OF_SPAN.items()]
    answer = {"columns": columns, "rows": rows, "pooled": [], "runs": len(rows), "left_out": [], "left_out_count": 0}
    job.file.parent.mkdir(parents=True, exist_ok=True)
    job.file.write_text(json.dumps(answer))


OF_GROUP: dict[str, Fill] = {"people": fill_people, "studies": fill_studies, "figures": fill_figures, "other pages": fill_others}
"""What fills the lab of a group with all but its runs."""
