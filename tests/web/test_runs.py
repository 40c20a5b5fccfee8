"""Runs through the API: found, cancelled, repeated, deleted; and started while Redis is away."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection as database
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from webapp.lab import run_search
from webapp.lab.models import Experiment, Lab, Run, RunState, RunSummary, Study, Tag, Trial
from webapp.lib.redis_connection import connection
from webapp.messaging.queue import QUEUE
from webapp.messaging.stream import Entry, pack, publish, text_of
from workers import caretaker

from .conftest import RedisProcess, new_experiment, new_run, small_document

pytestmark = pytest.mark.django_db


def start(client: Client, experiment: Experiment, **body: Any) -> dict[str, Any]:
    answer = client.post(f"/api/experiments/{experiment.pk}/runs", body, content_type="application/json")
    assert answer.status_code == 201
    run: dict[str, Any] = answer.json()
    return run


def test_runs_are_found_by_state_experiment_words_and_number(client: Client, experiment: Experiment) -> None:
    runs = [new_run(experiment) for _ in range(3)]
    Run.objects.filter(pk=runs[0].pk).update(state=RunState.FAILED, name="Peak load")

    def found(query: str) -> list[int]:
        return [item["number"] for item in client.get(f"/api/runs?{query}").json()["items"]]

    assert found("") == [3, 2, 1]
    assert found("state=failed") == [1]
    assert found(f"experiment={experiment.pk}&state=queued") == [3, 2]
    assert found("search=peak") == [1]
    assert found("search=%232") == [2]
    assert found("search=q1 3") == [3]
    assert found(f"search={runs[0].hash[:12]}") == [3, 2, 1]
    assert found("search=nothing") == []
    assert found("limit=1&offset=1") == [2]
    assert client.get("/api/runs?limit=1").json()["count"] == 3
    assert "document" not in client.get("/api/runs").json()["items"][0]


def test_runs_are_ordered_by_any_column_those_without_the_number_last(client: Client, experiment: Experiment) -> None:
    runs = [new_run(experiment) for _ in range(3)]
    for run, p99, name in zip(runs, (5.0, None, 2.0), "bca", strict=True):
        Run.objects.filter(pk=run.pk).update(name=name)
        RunSummary.store(run, {"latency_ms": {"p99": p99}})

    def order(sort: str) -> list[int]:
        return [item["number"] for item in client.get(f"/api/runs?sort={sort}").json()["items"]]

    assert (order("p99"), order("-p99")) == ([3, 1, 2], [1, 3, 2])
    assert (order("experiment"), order("number"), order("took")) == ([3, 1, 2], [1, 2, 3], [3, 2, 1])
    assert client.get("/api/runs?sort=document").status_code == 422


SEARCHES: dict[str, Callable[[dict[str, Any]], bool]] = {
    "": lambda run: True,
    "xy": lambda run: "xy" in run["experiment"],
    "nothing": lambda run: False,
    "seed=1": lambda run: run["seed"] == 1,
    "p99>1": lambda run: (run["p99"] or 0) > 1,
    "XY p99<=2 seed!=0": lambda run: "xy" in run["experiment"] and run["p99"] in (0, 1, 2) and run["seed"] != 0,
}


@pytest.mark.parametrize("seed", range(4))
def test_pages_are_those_of_all_runs_looked_at_one_by_one(
    client: Client, experiment: Experiment, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(run_search, "DEEP", 4)
    monkeypatch.setattr(run_search, "ENTRIES_TOGETHER", 2)
    monkeypatch.setattr(run_search, "PARTS_MAX", 1 + seed)
    chance = random.Random(seed)
    study = Study.objects.create(lab=experiment.lab, experiment=experiment, name="S", document={}, state=RunState.SUCCEEDED)
    tag = Tag.objects.create(lab=experiment.lab, name="good")
    now, rows = timezone.now(), []
    for number in range(1, 15):
        row: dict[str, Any] = {
            "number": number, "state": chance.choice(["failed", "queued", "succeeded"]), "experiment": chance.choice(["xy", "zw", "xyz"]),
            "seed": chance.randrange(3), "p99": chance.choice([None, 0, 1, 2, 3]), "took": chance.choice([None, 1, 2, 3]),
            "tag": chance.random() < 0.5, "needed": chance.random() < 0.5, "made": chance.random() < 0.3, "deleted": chance.random() < 0.2,
        }  # fmt: skip
        run = new_run(experiment)
        Run.objects.filter(pk=run.pk).update(
            number=number, state=row["state"], name=row["experiment"], seed=row["seed"], study=study if row["made"] else None,
            started_at=now, finished_at=None if row["took"] is None else now + timedelta(seconds=row["took"]),
            deleted_at=now if row["deleted"] else None,
        )  # fmt: skip
        RunSummary.store(run, {"latency_ms": {"p99": row["p99"]}})
        tag.runs.add(*[run] if row["tag"] else [])
        if row["needed"]:
            Trial.objects.create(study=study, point=number, seed=1, values={}, run=run)
        rows.append(row)
    for _ in range(60):
        search, sort = chance.choice(list(SEARCHES)), chance.choice(["number", "state", "experiment", "seed", "p99", "took"])
        down, state = chance.choice(["", "-"]), chance.choice(["", "failed"])
        flags = {name: chance.random() < 0.3 for name in ("tag", "study", "of_studies")}
        offset, limit = chance.choice([0, 1, 5, 20]), chance.choice([1, 3, 50])
        wanted = [
            row for row in reversed(rows)
            if not row["deleted"] and SEARCHES[search](row) and (not state or row["state"] == state) and (row["tag"] or not flags["tag"])
            and (row["needed"] if flags["study"] else flags["of_studies"] or not row["made"])
        ]  # fmt: skip
        ordered = sorted((row for row in wanted if row[sort] is not None), key=lambda row: row[sort], reverse=down == "-")
        ordered += [row for row in wanted if row[sort] is None]
        asked = {"search": search, "sort": down + sort, "limit": limit, "offset": offset}
        asked |= {"state": state} if state else {}
        asked |= {name: value for name, value in (("tag", "good"), ("study", study.pk), ("of_studies", "true")) if flags[name]}
        answer = client.get("/api/runs", asked).json()
        found = [item["number"] for item in answer["items"]], answer["count"]
        assert found == ([row["number"] for row in ordered[offset : offset + limit]], len(wanted)), asked


def together(client: Client, action: str, ids: list[str], **body: Any) -> list[str]:
    answer = client.post("/api/runs/bulk", {"action": action, "ids": ids, **body}, content_type="application/json")
    assert answer.status_code == 200, answer.content
    changed: list[str] = answer.json()["changed"]
    return sorted(changed)


def test_many_runs_are_tagged_and_the_opposite_undoes_only_what_was_changed(client: Client, experiment: Experiment) -> None:
    one, two, three = sorted(str(new_run(experiment).pk) for _ in range(3))
    assert together(client, "tag", [two], tag="peak") == [two]
    changed = together(client, "tag", [one, two], tag=" peak ")
    assert changed == [one], "run two had it"
    assert client.get("/api/tags").json() == [{"name": "peak", "runs": 2}]
    assert {run["id"] for run in client.get("/api/runs?tag=peak").json()["items"]} == {one, two}
    assert client.get(f"/api/runs/{one}").json()["tags"] == ["peak"]
    assert together(client, "untag", changed, tag="peak") == [one]
    assert together(client, "untag", [one, two, three], tag="peak") == [two]
    assert client.get("/api/tags").json() == []


def test_many_runs_are_deleted_restored_and_cancelled(client: Client, experiment: Experiment, redis: RedisProcess) -> None:
    one, two = sorted(start(client, experiment)["id"] for _ in range(2))
    assert together(client, "cancel", [one]) == [one]
    assert together(client, "cancel", [one]) == []
    assert together(client, "delete", [one, two, str(experiment.pk)]) == [one, two]
    assert client.get("/api/runs").json()["count"] == 0
    assert together(client, "restore", [one, two]) == [one, two]
    assert [run["state"] for run in client.get("/api/runs").json()["items"]] == ["cancelled", "cancelled"]
    for body in ({"action": "tag", "ids": [one]}, {"action": "delete", "ids": [one], "tag": "peak"}, {"action": "delete", "ids": []}):
        assert client.post("/api/runs/bulk", body, content_type="application/json").status_code == 422


def test_a_page_of_many_runs_asks_the_database_as_often_as_one_of_few(client: Client, experiment: Experiment) -> None:
    first = new_run(experiment)
    fields = {field.attname: getattr(first, field.attname) for field in Run._meta.fields if field.name not in ("id", "number")}
    Run.objects.bulk_create(Run(number=number, **fields) for number in range(2, 301))

    def queries(limit: int) -> int:
        with CaptureQueriesContext(database) as asked:
            page = client.get(f"/api/runs?search=q1&offset=100&sort=-p99&limit={limit}").json()
        assert (page["count"], len(page["items"]), page["items"][0]["number"]) == (300, limit, 200)
        return len(asked)

    assert queries(2) == queries(100)


def test_a_filter_that_finds_few_runs_does_not_read_the_whole_order_of_a_metric(
    client: Client, experiment: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_search, "ENTRIES_TOGETHER", 2)
    monkeypatch.setattr(run_search, "PARTS_MAX", 3)
    few = [new_run(experiment) for _ in range(2)]
    others = new_experiment(Lab.objects.create(name="other"), experiment.document)
    fields = {field.attname: getattr(new_run(others), field.attname) for field in Run._meta.fields if field.name not in ("id", "number")}

    def statements(query: str) -> int:
        with CaptureQueriesContext(database) as asked:
            page = client.get(f"/api/runs?sort=p99{query}").json()
        assert [run["number"] for run in page["items"]] == [2, 1]
        return len(asked)

    queries, asked = ("", "&state=queued", f"&experiment={experiment.pk}"), []
    for many in (20, 60):
        runs = Run.objects.bulk_create(Run(number=1000 * many + number, **fields) for number in range(many))
        RunSummary.objects.bulk_create(RunSummary(run=run, metric="latency_ms.p99", value=run.number) for run in runs)
        for number, run in enumerate(few):
            RunSummary.store(run, {"latency_ms": {"p99": 1e6 - number}})
        asked.append([statements(query) for query in queries])
    assert asked[0] == asked[1]


def test_a_queued_run_is_cancelled_at_once(client: Client, experiment: Experiment, redis: RedisProcess) -> None:
    run = start(client, experiment)
    answer = client.post(f"/api/runs/{run['id']}/cancel")
    assert answer.status_code == 202
    assert answer.json()["state"] == "cancelled"
    assert answer.json()["finished_at"]
    assert client.post(f"/api/runs/{run['id']}/cancel").json()["state"] == "cancelled", "to cancel twice is no error"


def test_cancelling_works_without_redis(client: Client, experiment: Experiment, redis: RedisProcess) -> None:
    redis.stop()
    run = new_run(experiment)
    assert client.post(f"/api/runs/{run.pk}/cancel").json()["state"] == "cancelled"


def test_a_rerun_has_the_same_document_or_another_seed(client: Client, experiment: Experiment, redis: RedisProcess) -> None:
    first = start(client, experiment)
    experiment.save_version(1, {"name": "changed since"}, "")
    again = client.post(f"/api/runs/{first['id']}/rerun", {}, content_type="application/json").json()
    assert (again["hash"], again["seed"], again["number"]) == (first["hash"], first["seed"], 2)
    other = client.post(f"/api/runs/{first['id']}/rerun", {"seed": 9}, content_type="application/json")
    assert other.status_code == 201
    assert other.json()["seed"] == 9
    assert other.json()["hash"] != first["hash"]


def test_a_deleted_run_is_cancelled_and_gone(client: Client, experiment: Experiment, redis: RedisProcess) -> None:
    run = start(client, experiment)
    assert client.delete(f"/api/runs/{run['id']}").status_code == 204
    assert client.get(f"/api/runs/{run['id']}").status_code == 404
    assert client.get("/api/runs").json()["count"] == 0
    assert Run.objects.get(pk=run["id"]).state == RunState.CANCELLED


@pytest.mark.django_db(transaction=True)
def test_a_run_started_while_redis_is_down_is_queued_when_it_is_back(client: Client, experiment: Experiment, redis: RedisProcess) -> None:
    redis.stop()
    run = start(client, experiment)
    assert run["state"] == "queued"
    assert "starts when the queue is back" in run["note"]
    caretaker.sweep()  # Redis is still away: nothing happens, nothing breaks
    redis.start()
    caretaker.sweep()
    assert connection().llen(QUEUE) == 1
    caretaker.sweep()
    assert connection().llen(QUEUE) == 1, "what is in the queue is not put there again"


def test_health_names_the_part_that_is_down(client: Client, redis: RedisProcess) -> None:
    from webapp.messaging.heartbeats import send_heartbeat

    answer = client.get("/api/health")
    assert answer.status_code == 503
    assert {**answer.json(), "version": ""} == {"ok": False, "redis": True, "database": True, "worker": False, "version": ""}
    send_heartbeat("a worker")
    answer = client.get("/api/health")
    assert (answer.status_code, answer.json()["ok"]) == (200, True)
    redis.stop()
    assert client.get("/api/health").json()["redis"] is False


def test_frames_come_from_the_files_and_then_from_the_stream(client: Client, experiment: Experiment, redis: RedisProcess) -> None:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    run = new_run(experiment)
    Run.objects.filter(pk=run.pk).update(state=RunState.RUNNING)
    frames = [{"n": n, "t_s": n / 4} for n in range(30)]
    directory = run.directory / "live"
    directory.mkdir(parents=True)
    for part, numbers in enumerate((range(8), range(8, 20))):
        table = pa.table({"n": pa.array(numbers, pa.int32()), "json": [text_of(frames[n]) for n in numbers]})
        parquet.write_table(table, directory / f"part-{part:05d}.parquet")
    entry: Entry
    for first, last in ((15, 22), (23, 29)):
        (entry,) = pack(first, [text_of(frame) for frame in frames[first : last + 1]])
        assert publish(connection(), run.pk, entry)
    assert not publish(connection(), run.pk, entry), "what is there already is refused"

    def page(after: int, limit: int = 1000) -> dict[str, Any]:
        answer: dict[str, Any] = client.get(f"/api/runs/{run.pk}/frames?after={after}&limit={limit}").json()
        return answer

    assert page(-1) == {"frames": frames, "next": 29}
    assert page(5, 3) == {"frames": frames[6:9], "next": 8}
    assert page(17, 4) == {"frames": frames[18:22], "next": 21}
    assert page(29) == {"frames": [], "next": 29}, "more may come"
    Run.objects.filter(pk=run.pk).update(state=RunState.SUCCEEDED, frames=30)
    assert page(20) == {"frames": frames[21:], "next": None}
    assert page(29) == {"frames": [], "next": None}


REFUSED = {
    "p99>": "'p99>' has no value; write one after it, as in p99>500ms",
    "throughput>": "as in throughput>5k/s",
    ">10": "'>10' has no name before the comparison; write one, as in p99>10",
    "p99=>10": "'=>' is no comparison; use one of = != < <= > >=",
    "p99>10MB": "the unit 'MB' does not fit, because p99 is in ms; use one of ns, us, µs, ms, s, min, h, as in 500ms or 10s",
    "seed=3s": "the unit 's' does not fit, because seed has no unit",
    "seed=1.5": "seed is a whole number, never 1.5",
    "seed=1e999": "'1e999' is too large",
    "seed=1e308k": "'1e308k' is too large for a number; write one below 1e308",
    "seed:1e308k..": "'1e308k' is too large for a number",
    "p99>1e308h": "'1e308h' is too large for a number; write one below 1e308ms",
    "p99>1,5": "'1,5' is not a number; write decimals with a point",
    "state=done": "'done' is no state of a run; known: ",
    "state>failed": "states have no order",
    "tag:": "'tag:' has nothing after the colon; write it without a space, as in tag:baseline",
    "tag:bse": "no run has the tag 'bse'; did you mean 'base'?",
    "tags:base": "'tags:' is unknown; did you mean 'tag:', as in tag:baseline?",
    "p99:": "'p99:' has nothing after the colon; write it without a space, as in p99:500ms",
    "p99:1..10s": "the range '1..10s' of p99 has a unit at one end only; write it at both, as in p99:1s..10s",
    "p99:10s..1s": "the range 10s..1s of p99 is empty; write the smaller end first: p99:1s..10s",
    "p99<1s|2s": "'p99<1s|2s' compares with more than one value; alternatives and ranges go with = or !=",
    "state:failed|": "'state=failed|' has an empty alternative; write a value on each side of '|', as in state=failed|cancelled",
    "state:failed|done": "'done' is no state of a run",
    "tag:base|bse": "no run has the tag 'bse'; did you mean 'base'?",
    'tag:"two words': 'the quotation mark in \'"two words\' is not closed; write one at each end, as in tag:"two words"',
    'p99="5"': "p99 is a number; write it without quotation marks",
    'rate/kind=con"st"': '\'con"st"\' is quoted in part; put quotation marks around all of it, as in rate/kind="const"',
    "author>ada": "'>' compares numbers, but author is a text; use = or !=",
    "no:state": "every run has a value of state, so 'no:state' says nothing; leave it out",
    "no:p98": "no run has a metric or parameter 'p98'; did you mean 'p99'?",
    " ".join(["ab"] * 1333): "the search has 1,333 words and conditions; write at most 50",
    " ".join(["p99>1"] * 600): "the search has 600 words and conditions; write at most 50",
    f"seed={'|'.join(['1..2'] * 700)}": "the condition on seed has 700 alternatives; write at most 500",
}


def test_runs_are_found_by_what_they_measured_and_what_their_documents_say(client: Client, lab: Lab, redis: RedisProcess) -> None:
    from webapp.lab.models import RunSummary
    from webapp.lab.submission import submit

    for number, rate in enumerate((500, 2000, 8000)):
        document = small_document(per_s=rate)
        run, _ = submit(new_experiment(lab, document), document, lab, seed=number)
        RunSummary.store(run, {"latency_ms": {"p99": 10.0 * rate}, "records_out": rate})

    def found(search: str) -> list[int]:
        answer = client.get("/api/runs", {"search": search})
        assert answer.status_code == 200, answer.json()
        return [run["number"] for run in answer.json()["items"]]

    assert found("p99>5000") == [3, 2]
    assert found("latency_ms.p99<=20000 records_out>=2000") == [2]
    assert found("seed!=1 small") == [3, 1]
    assert found("/workload/sources/bids/rate/per_s=8000") == [3]
    assert found("/workload/sources/*/rate/per_s<8000") == [2, 1]
    assert found("per_s>500") == [3, 2]
    assert found("/workload/sources/bids/stream/kind=nexmark_bid") == [3, 2, 1]
    assert found("rate/kind!=constant") == []
    assert found("drain=false p99=5000") == [1]

    assert found("p99>5s") == found("p99>5000ms") == found("p99 > 5 s") == found("p99>5k") == [3, 2]
    assert found("per_s>=2k/s") == found("per_s>=0.002Mrec/s") == found("bids/rate/per_s>=2000") == [3, 2]
    assert found("took>1h state=queued") == []
    assert found("took<1e300") == found("took>-1e300") == found("took:-1e300..1e300") == []
    assert found(f"number={'|'.join(str(number) for number in range(3, 403))}") == [3], "the longest condition of a lasso"
    assert found(" ".join([f"seed={'|'.join(['1..2'] * 500)}", *["small"] * 49])) == [3, 2], "as much as a search may have"
    assert found("state=queued") == found("state:queued") == found("state!=failed") == [3, 2, 1]
    client.post(
        "/api/runs/bulk", {"action": "tag", "ids": [client.get("/api/runs").json()["items"][0]["id"]], "tag": "base"}, "application/json"
    )
    assert found("tag:base p99>1s") == [3]

    def refused(search: str) -> str:
        answer = client.get("/api/runs", {"search": search})
        assert (answer.status_code, answer.json()["problems"][0]["pointer"]) == (422, "/search")
        return str(answer.json()["detail"])

    assert "no run has a metric or parameter 'p98'; did you mean 'p99'?" in refused("p98>1")
    assert "'many' is not a number, such as 500ms" in refused("p99>many")
    for search, message in REFUSED.items():
        assert message in refused(search), search
    assert "'fast' is not a number" in refused("rate/kind>fast")
    fields = client.get("/api/runs/fields", {"search": "p99"}).json()
    units = {"p99": "ms", "latency_ms.p99": "ms"}
    assert fields == {"short": ["p99"], "metrics": ["latency_ms.p99"], "parameters": [], "units": units}
    assert "/workload/sources/bids/rate/per_s" in client.get("/api/runs/fields", {"search": "per_s"}).json()["parameters"]
