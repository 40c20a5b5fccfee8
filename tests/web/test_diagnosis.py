"""What limits a run, through the API: the verdict, the instances behind it, and remedies that are run from there."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from engine import ENGINE_VERSION
from webapp.lab.models import Dataset, Experiment, Lab, Run, RunState
from webapp.lab.reuse import why_not_the_same
from webapp.messaging import frame_history

from ..support.limited_runs import limited_runs
from .conftest import new_experiment, new_run
from .executing import executed

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("working_here")]

RUNS = limited_runs()


def limited(lab: Lab, name: str) -> Run:
    run = executed(new_run(new_experiment(lab, RUNS[name].document)))
    assert run.state == RunState.SUCCEEDED
    return run


def read(client: Client, path: str, status: int = 200, **query: Any) -> dict[str, Any]:
    answer = client.get(path, query)
    assert answer.status_code == status, answer.content
    found: dict[str, Any] = answer.json()
    return found


def test_a_remedy_is_run_and_its_effect_shown(client: Client, lab: Lab) -> None:
    run = limited(lab, "one instance by skew")
    path = f"/api/runs/{run.pk}/diagnosis"
    found = read(client, path)
    assert (found["kind"], found["operator"], found["instances"], found["host"]) == ("skew", "count", [0], "worker")
    assert found["sentence"].startswith("count[0] limits this run: it gets ")
    assert (found["from_s"], found["to_s"]) == (0.0, 6.0)
    assert found["evidence"][0]["label"] == "count[0] on worker"
    offered = {remedy["name"]: remedy for remedy in found["remedies"]}
    assert offered["speed"] == {"name": "speed", "text": "worker: speed 2 x instead of 1 x", "run": None}
    answer = client.post(f"/api/runs/{run.pk}/remedies", {"name": "speed"}, content_type="application/json")
    assert answer.status_code == 201, answer.content
    made = answer.json()
    assert (made["parent"], made["fork_at_s"]) == (str(run.pk), 0.0)
    (again,) = (remedy["run"] for remedy in read(client, path)["remedies"] if remedy["name"] == "speed")
    assert (again["number"], again["state"], again["effects"]) == (made["number"], "queued", [])
    after = executed(Run.objects.get(pk=made["id"]))
    (again,) = (remedy["run"] for remedy in read(client, path)["remedies"] if remedy["name"] == "speed")
    effects = {effect["label"]: effect for effect in again["effects"]}
    assert effects["backlog"]["before"] == run.summary["backlog"] > effects["backlog"]["after"] == after.summary["backlog"]
    assert effects["p99 latency"]["after"] < effects["p99 latency"]["before"]


def test_instances_of_a_frame_add_up_to_what_the_frame_says(client: Client, lab: Lab) -> None:
    run = limited(lab, "one instance by skew")
    frames = frame_history.all_frames(run.pk, run.directory)
    for frame in (frames[0], frames[7], frames[-1]):
        found = read(client, f"/api/runs/{run.pk}/instances", at_s=frame["t_s"])
        assert (found["frame"], found["to_s"]) == (frame["n"], frame["t_s"])
        for operator, sample in frame["operators"].items():
            rows = [row for row in found["rows"] if row["operator"] == operator]
            assert sum(row["in_per_s"] for row in rows) == pytest.approx(sample["in_per_s"])
            assert sum(row["busy"] for row in rows) / len(rows) == pytest.approx(sample["busy"], abs=1e-5)
            assert sum(row["queue"] for row in rows) == sample["queue"]
            assert sum(row["state_bytes"] for row in rows) == sample["state_bytes"]
            lags = [row["watermark_lag_ms"] for row in rows if row["watermark_lag_ms"] is not None]
            assert (max(lags) if lags else None) == sample["watermark_lag_ms"]
            assert sum(row["share"] or 0 for row in rows) == pytest.approx(1 if sample["in_per_s"] else 0)
            if len(rows) > 1:
                assert sample["most"]["busy"] == max(row["busy"] for row in rows)
                assert rows[sample["most"]["busiest"]]["busy"] == sample["most"]["busy"]
                assert rows[sample["most"]["fullest"]]["queue"] == sample["most"]["queue"] == max(row["queue"] for row in rows)
    only = read(client, f"/api/runs/{run.pk}/instances", at_s=3.1, operator="count")
    assert [(row["operator"], row["index"], row["host"]) for row in only["rows"]] == [("count", k, "worker") for k in range(4)]
    assert (only["from_s"], only["to_s"]) == (3.0, 3.25)
    assert read(client, f"/api/runs/{run.pk}/instances")["to_s"] == 6.0
    assert read(client, f"/api/runs/{run.pk}/instances", at_s=1e9)["to_s"] == 6.0


def test_the_hottest_keys_of_an_instance_are_told_or_why_not(client: Client, lab: Lab) -> None:
    run = limited(lab, "one instance by skew")
    path = f"/api/runs/{run.pk}/keys"
    found = [read(client, path, at_s=3.1, operator="count", index=index) for index in range(4)]
    assert {(one["frame"], one["from_s"], one["to_s"], one["field"], one["reason"]) for one in found} == {(12, 3.0, 3.25, "bidder", None)}
    assert sum(one["records"] for one in found) == found[0]["of_operator"]
    (instances,) = (read(client, f"/api/runs/{run.pk}/instances", at_s=3.1, operator="count")["rows"],)
    busiest = max(instances, key=lambda row: row["queue"])["index"]
    hot = found[busiest]
    assert hot["records"] == max(one["records"] for one in found)
    assert hot["keys"][0]["records"] == max(key["records"] for one in found for key in one["keys"])
    assert [key["share"] for key in hot["keys"]] == [pytest.approx(key["records"] / hot["records"]) for key in hot["keys"]]
    assert len(hot["keys"]) == min(10, hot["distinct"])
    for operator, why in (("bids", "is a source"), ("price", "by rebalance, not by a key"), ("sink", "by rebalance, not by a key")):
        told = read(client, path, operator=operator, index=0)
        assert (why in told["reason"], told["keys"], told["records"]) == (True, [], 0)
    assert "there is no 4" in read(client, path, operator="count", index=4)["reason"]
    (run.directory / "live").rename(run.directory / "away")
    assert read(client, path, 409, operator="count", index=0)["detail"] == f"run {run.number} is succeeded: the frame is being stored"
    (run.directory / "away").rename(run.directory / "live")
    Run.objects.filter(pk=run.pk).update(engine_version="0")
    told = read(client, path, operator="count", index=0)
    assert ("made by version 0 of the engine" in told["reason"], told["keys"]) == (True, [])


def test_a_run_whose_data_may_be_others_now_is_known(lab: Lab, experiment: Experiment) -> None:
    run = new_run(experiment)
    run.engine_version = ENGINE_VERSION
    run.document["workload"]["sources"]["bids"]["stream"] = {"kind": "file", "dataset": "mine", "timestamp": "time"}
    assert why_not_the_same(run) == ""
    Dataset.objects.create(lab=lab, name="others", file="x", rows=1, bytes=1, columns=[], timestamps=[])
    assert why_not_the_same(run) == ""
    Dataset.objects.create(lab=lab, name="mine", file="y", rows=1, bytes=1, columns=[], timestamps=[])
    assert "uploaded after the run" in why_not_the_same(run)


def test_a_span_is_diagnosed_by_itself(client: Client, lab: Lab) -> None:
    run = limited(lab, "a paused host")
    path = f"/api/runs/{run.pk}/diagnosis"
    assert read(client, path, to_s=1)["kind"] == "nothing"
    assert read(client, path, from_s=2, to_s=3)["kind"] == "fault"


@pytest.fixture
def refusals(experiment: Experiment) -> tuple[str, str]:
    """The paths of a run that has not begun and of one that has ended."""
    return f"/api/runs/{new_run(experiment).pk}", f"/api/runs/{executed(new_run(experiment)).pk}"


def test_what_cannot_be_answered_is_refused_with_a_sentence(client: Client, refusals: tuple[str, str]) -> None:
    queued, ended = refusals
    for path in ("diagnosis", "instances"):
        assert "no frames are stored yet" in read(client, f"{queued}/{path}", 409)["detail"]
    assert "not before to_s" in read(client, f"{ended}/diagnosis", 422, from_s=3, to_s=2)["detail"]
    assert "no frame" in read(client, f"{ended}/diagnosis", 409, from_s=1e6)["detail"]
    assert "no frames are stored yet" in read(client, f"{queued}/keys", 409, operator="sink", index=0)["detail"]
    assert "has no operator 'nowhere'; it has " in read(client, f"{ended}/instances", 404, operator="nowhere")["detail"]
    assert "has no operator 'nowhere'; it has " in read(client, f"{ended}/keys", 404, operator="nowhere", index=0)["detail"]
    read(client, f"{ended}/keys", 422, operator="sink", index=-1)
    for value in ("1e400", "nan", "-1", "soon"):
        read(client, f"{ended}/diagnosis", 422, from_s=value)
        read(client, f"{ended}/instances", 422, at_s=value)
    answer = client.post(f"{ended}/remedies", {"name": "magic"}, content_type="application/json")
    assert answer.status_code == 404
    assert "'magic' is no remedy" in answer.json()["detail"]


def test_frames_that_were_removed_are_named(client: Client, experiment: Experiment) -> None:
    run = executed(new_run(experiment))
    for path in (run.directory / "telemetry").iterdir():
        path.unlink()
    assert "were removed" in read(client, f"/api/runs/{run.pk}/instances", 409)["detail"]
