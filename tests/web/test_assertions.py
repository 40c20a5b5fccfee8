"""Assertions in the lab: judged by the worker, kept with the run, served, searched, inherited by forks, counted by studies.

What this catches: verdicts that get lost on the way, a run that is reused although other things were asserted of it, and a stopped run
that seems to pass.
"""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from engine.spec.rules.forking import Fork
from engine.spec.rules.validation import load
from tests.support.corner_cases import a_cycle_that_stands_still
from webapp.lab.models import Lab, Run, RunState
from webapp.lab.reuse import run_of_the_same
from webapp.lab.submission import fork, submit
from webapp.lab.verdicts import counted
from webapp.reports.drawing import short

from .conftest import new_experiment, small_document
from .executing import executed, queued

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("working_here")]

FAST = {"name": "p99 below 1 s", "check": "latency_ms.p99 < 1000", "note": "what users notice"}
SLOW = {"name": "p99 above 1 s", "check": "latency_ms.p99 > 1000"}
UNKNOWN = {"name": "recovers", "check": "recovery.longest_s <= 20"}


def asserted(*assertions: dict[str, Any]) -> dict[str, Any]:
    return {**small_document(), "assertions": list(assertions)}


def submitted(lab: Lab, *assertions: dict[str, Any]) -> Run:
    document = asserted(*assertions)
    run, _ = submit(new_experiment(lab, document), document, lab)
    return run


def test_verdicts_are_kept_with_the_run_and_served(lab: Lab, client: Client) -> None:
    run = submitted(lab, FAST, SLOW, UNKNOWN)
    before = client.get(f"/api/runs/{run.pk}").json()
    assert (before["judged"], before["verdicts"]) == (None, [])
    run = executed(run)
    told = client.get(f"/api/runs/{run.pk}").json()
    assert told["judged"] == "fails"
    assert [(one["name"], one["state"]) for one in told["verdicts"]] == [
        ("p99 below 1 s", "holds"), ("p99 above 1 s", "fails"), ("recovers", "cannot be judged"),
    ]  # fmt: skip
    p99 = run.summary["latency_ms"]["p99"]
    assert told["verdicts"][0]["measured"] == [{"text": "latency_ms.p99", "least": p99, "most": p99, "unit": "ms"}]
    assert told["verdicts"][0]["note"] == "what users notice"
    assert "the experiment has no fault" in told["verdicts"][2]["reason"]
    assert client.get(f"/api/runs/{run.pk}/export?format=json").json()["verdicts"] == told["verdicts"]
    report = client.get(f"/api/runs/{run.pk}/export?format=html").content.decode()
    assert "p99 above 1 s" in report
    assert f"latency_ms.p99 = {short(p99)} ms" in report
    assert executed(queued(lab, small_document())).digest == run.digest, "what is asserted changes no result"


def test_a_run_without_assertions_has_no_outcome(lab: Lab, client: Client) -> None:
    run = executed(submitted(lab))
    told = client.get(f"/api/runs/{run.pk}").json()
    assert (told["judged"], told["verdicts"]) == (None, [])


def test_a_stopped_run_cannot_be_judged(lab: Lab, client: Client) -> None:
    run = submitted(lab, FAST)
    Run.objects.request_cancel(run.pk)
    told = client.get(f"/api/runs/{run.pk}").json()
    assert (told["state"], told["judged"]) == ("cancelled", "cannot be judged")
    assert [(one["name"], one["state"], one["reason"]) for one in told["verdicts"]] == [
        ("p99 below 1 s", "cannot be judged", "the run was cancelled")
    ]


def test_a_failed_run_cannot_be_judged(lab: Lab, client: Client) -> None:
    run = submitted(lab, FAST)
    Run.objects.filter(pk=run.pk).update(state=RunState.FAILED, error="the worker ran out of memory")
    (verdict,) = client.get(f"/api/runs/{run.pk}").json()["verdicts"]
    assert (verdict["state"], verdict["reason"]) == ("cannot be judged", "the run failed: the worker ran out of memory")


def test_a_run_that_ends_early_has_its_verdicts_stored(lab: Lab) -> None:
    document = {**a_cycle_that_stands_still(), "name": "Circle", "assertions": [{"name": "none lost", "check": "lost == 0"}]}
    run, _ = submit(new_experiment(lab, document), document, lab)
    run = executed(run)
    assert (run.state, run.judged) == (RunState.FAILED, "cannot be judged")
    assert run.verdicts[0]["reason"].startswith("the run failed: deadlock at ")


def test_runs_are_found_by_their_outcome(lab: Lab, client: Client) -> None:
    for number, assertions in enumerate([[FAST], [SLOW, FAST], [UNKNOWN], []], start=1):
        assert executed(submitted(lab, *assertions)).number == number
    submitted(lab, SLOW)  # still waiting

    def found(word: str) -> list[int]:
        return [run["number"] for run in client.get("/api/runs", {"search": f"assertions:{word}", "sort": "number"}).json()["items"]]

    assert (found("holds"), found("fails"), found("failed"), found("unjudged")) == ([1], [2], [2], [3])
    refused = client.get("/api/runs", {"search": "assertions:ok"})
    assert refused.status_code == 422
    assert "assertions:holds, assertions:fails or assertions:unjudged" in refused.json()["detail"]


def test_a_fork_inherits_the_assertions(lab: Lab) -> None:
    parent = executed(submitted(lab, FAST, UNKNOWN))
    host = load(parent.document).expanded_hosts()[0].name
    fault = {"kind": "pause", "host": host, "when": {"kind": "at", "at_s": 1.0}, "for_ms": 100}
    made, _ = fork(parent, Fork.model_validate({"at_s": 1.0, "faults": [fault]}), lab)
    made = executed(made)
    assert [one["name"] for one in made.verdicts] == ["p99 below 1 s", "recovers"]
    assert made.verdicts[1]["state"] == "holds", "now there is a fault to recover from"


def test_only_a_run_with_the_same_assertions_is_reused(lab: Lab) -> None:
    run = executed(submitted(lab, FAST))
    same = [load(asserted(*assertions)) for assertions in ([FAST], [SLOW], [])]
    assert len({experiment.hash for experiment in same}) == 1
    assert [run_of_the_same(lab, experiment) for experiment in same] == [run, None, None]


def test_studies_count_verdicts() -> None:
    def verdicts(*states: str) -> list[dict[str, Any]]:
        return [{"name": f"a{n}", "state": state} for n, state in enumerate(states)]

    runs = [verdicts("holds", "fails"), verdicts("holds", "cannot be judged"), None]
    assert counted(["a0", "a1"], runs) == [
        {"name": "a0", "holds": 2, "fails": 0, "not_judged": 1},
        {"name": "a1", "holds": 0, "fails": 1, "not_judged": 2},
    ]


def test_the_registry_lists_what_can_be_asserted(client: Client) -> None:
    families = client.get("/api/registry").json()
    units = {entry["kind"]: entry["unit"] for entry in families["measurements"]}
    assert (units["latency_ms.p99"], units["operators.<operator>.busy"], units["recovery.longest_s"]) == ("ms", "share", "s")
    assert "between" in {entry["kind"] for entry in families["assertion_functions"]}
