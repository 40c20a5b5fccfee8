"""Retention rules. Catches: something taken that a person holds on to, a preview that says otherwise than what happens, a removal that
cannot be undone, and a lab that grows all the same."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.support.tiers import only, tier
from webapp.lab import datasets
from webapp.lab.models import Baseline, Dataset, Experiment, Lab, Removal, RetentionRule, Run, RunState, Study, Tag, Trial, TrialState
from webapp.maintenance import rules
from webapp.maintenance.retention import tidy

from .conftest import new_experiment, new_run, small_document
from .study_examples import sweep

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis")]
JSON = "application/json"
DAY = timedelta(days=1)
HOLDERS = ("tagged", "tagged otherwise", "noted", "baseline", "awaited", "of a study")


def ended(experiment: Experiment, days_ago: float, bytes: int = 1000, **changes: Any) -> Run:
    run = new_run(experiment)
    at = timezone.now() - days_ago * DAY
    Run.objects.filter(pk=run.pk).update(**{"state": "succeeded", "finished_at": at, "stored_bytes": bytes, **changes})
    (run.directory / "telemetry").mkdir(parents=True)
    (run.directory / "telemetry" / "part").write_bytes(bytes * b"x")
    return run


@pytest.fixture
def runs(lab: Lab, experiment: Experiment) -> dict[str, Run]:
    """All but one are old, and most of these are held on to."""
    found = {name: ended(experiment, 0.5 if name == "young" else 3) for name in ("old", "young", *HOLDERS)}
    Tag.objects.create(lab=lab, name="paper").runs.add(found["tagged"])
    Tag.objects.create(lab=lab, name="draft").runs.add(found["tagged otherwise"])
    Run.objects.filter(pk=found["noted"].pk).update(notes="strange peak")
    Baseline.objects.create(experiment=experiment, run=found["baseline"])
    for name, state in (("awaited", RunState.RUNNING), ("of a study", RunState.SUCCEEDED)):
        study = Study.objects.create(lab=lab, experiment=experiment, name=name, document=sweep([1.0], [1]), state=state)
        Trial.objects.create(study=study, point=0, seed=1, values={}, run=found[name], state=TrialState.DONE)
    return found


def post(client: Client, path: str, body: dict[str, Any] | None = None, status: int = 201) -> dict[str, Any]:
    answer = client.post(f"/api/storage/{path}", body or {}, content_type=JSON)
    assert answer.status_code == status, answer.json()
    return dict(answer.json())


def names_of(runs: dict[str, Run], found: Any) -> set[str]:
    ids = {run.pk: name for name, run in runs.items()}
    return {ids[id] for id in found.values_list("pk", flat=True)}


def later(days: float) -> Any:
    """For all who ask the clock that rules look at."""
    return mock.patch("django.utils.timezone.now", return_value=timezone.now() + days * DAY)


BOTH = {"tagged", "tagged otherwise"}


@pytest.mark.parametrize(("kept_tags", "more"), [(None, set()), (["paper"], {"tagged otherwise"}), ([], BOTH), (["no such"], BOTH)])
def test_frames_go_a_week_later_but_for_those_that_somebody_holds_on_to(
    client: Client, runs: dict[str, Run], kept_tags: list[str] | None, more: set[str]
) -> None:
    rule = {"what": "frames", "days": 1, "kept_tags": kept_tags}
    expected = {"old", "of a study"} | more
    told = post(client, "rules/preview", rule, 200)
    assert {one["id"] for one in told["first"]} == {str(runs[name].pk) for name in expected}
    assert (told["count"], told["bytes"], told["kept"]) == (len(expected), 1000 * len(expected), 7 - len(expected))
    assert not Removal.objects.exists()
    post(client, "rules", rule)
    tidy()
    tidy()
    removal = Removal.objects.get()
    assert names_of(runs, removal.runs) == expected
    assert (removal.count, removal.bytes) == (len(expected), 1000 * len(expected))
    assert not Run.objects.filter(frames_removed_at__isnull=False).exists()
    assert post(client, "rules/preview", rule, 200)["count"] == 0
    Run.objects.filter(pk=runs["of a study"].pk).update(notes="wait")
    with later(8):
        tidy()
        assert names_of(runs, Run.objects.filter(frames_removed_at__isnull=False)) == expected - {"of a study"}
        assert not (runs["old"].directory / "telemetry").exists()
        tidy()
        assert Removal.objects.exclude(rule=None).filter(final_at__isnull=False).exists()
    assert {run.stored_bytes for run in Run.objects.filter(frames_removed_at__isnull=False)} == {0}


@pytest.mark.parametrize("what", ["frames", "runs"])
def test_a_rule_looks_through_the_lab_before_it_keeps_others_from_writing(runs: dict[str, Run], lab: Lab, what: str) -> None:
    """In a transaction of SQLite nobody else writes, and a large lab takes seconds to look through."""
    rule = RetentionRule.objects.create(lab=lab, what=what, days=1)
    for taken in (True, False):
        with CaptureQueriesContext(connection) as asked:
            assert bool(rules.apply(rule, timezone.now())) is taken
        texts = [query["sql"] for query in asked.captured_queries]
        inside = texts[next((n for n, text in enumerate(texts) if "SAVEPOINT" in text), len(texts)) :]
        assert bool(inside) is taken
        looks = [text for text in inside if text.startswith("SELECT") and "ORDER BY" in text and 'FROM "lab_run"' in text]
        assert all('"lab_run"."id" IN (' in text for text in looks)


@pytest.mark.parametrize("change", [{"days": 30}, {"paused": True}, {"kept_tags": ["no such"]}, None])
def test_a_rule_that_changed_while_it_looked_takes_nothing(
    runs: dict[str, Run], lab: Lab, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any] | None
) -> None:
    rule = RetentionRule.objects.create(lab=lab, what="runs", days=1)
    stored, look = RetentionRule.objects.filter(pk=rule.pk), rules.due

    def slowly(*of: Any) -> Any:
        found = look(*of)
        _ = stored.delete() if change is None else stored.update(**change)
        return found

    monkeypatch.setattr(rules, "due", slowly)
    assert rules.apply(rule, timezone.now()) == 0
    assert not Removal.objects.exists()


def test_what_somebody_held_on_to_while_a_rule_looked_stays(runs: dict[str, Run], lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    rule, look = RetentionRule.objects.create(lab=lab, what="frames", days=1), rules.due

    def slowly(*of: Any) -> Any:
        found = look(*of)
        Run.objects.filter(pk=runs["old"].pk).update(notes="peak")
        return found

    monkeypatch.setattr(rules, "due", slowly)
    assert rules.apply(rule, timezone.now()) == 1
    assert names_of(runs, Removal.objects.get().runs) == {"of a study"}


def test_runs_go_but_for_those_of_studies(client: Client, runs: dict[str, Run]) -> None:
    post(client, "rules", {"what": "runs", "days": 1})
    tidy()
    assert names_of(runs, Run.objects.filter(deleted_at__isnull=False)) == {"old"}
    told = client.get("/api/storage").json()["removals"][0]
    assert (told["what"], told["count"], told["bytes"], told["undone_at"]) == ("runs", 1, 1000, None)
    back = post(client, f"removals/{told['id']}/undo", status=200)
    assert not Run.objects.filter(deleted_at__isnull=False).exists()
    assert (back["rules"][0]["paused"], back["removals"][0]["undone_at"] is not None, back["not_restored"]) == (True, True, [])
    tidy()
    assert not Run.objects.filter(deleted_at__isnull=False).exists(), "the rule is paused"
    rule = back["rules"][0]
    changed = client.put(f"/api/storage/rules/{rule['id']}", {"what": "runs", "days": 1, "paused": False}, content_type=JSON)
    assert changed.json()["rules"][0]["paused"] is False
    tidy()
    assert not Run.objects.filter(deleted_at__isnull=False).exists(), "what was given back is not taken again by that rule"


def test_a_removal_is_undone_for_a_week(client: Client, runs: dict[str, Run]) -> None:
    post(client, "rules", {"what": "frames", "days": 1})
    tidy()
    removal = Removal.objects.get()
    with later(8):
        assert "ended on" in post(client, f"removals/{removal.pk}/undo", status=409)["detail"]
    post(client, f"removals/{removal.pk}/undo", status=200)
    post(client, f"removals/{removal.pk}/undo", status=200)
    with later(9):
        tidy()
    assert not Run.objects.filter(frames_removed_at__isnull=False).exists()


def test_of_bytes_the_oldest_go_first(client: Client, experiment: Experiment) -> None:
    found = [ended(experiment, days_ago, bytes) for days_ago, bytes in ((1, 300), (5, 100), (3, 500), (4, 200))]
    rule = {"what": "frames", "bytes": 700}
    told = post(client, "rules/preview", rule, 200)
    assert [one["id"] for one in told["first"]] == [str(found[n].pk) for n in (1, 3, 2)]
    post(client, "rules", rule)
    tidy()
    tidy()
    assert {run.pk for run in Removal.objects.get().runs.all()} == {found[n].pk for n in (1, 3, 2)}
    assert post(client, "rules/preview", {"what": "frames", "bytes": 300}, 200)["count"] == 0, "what is taken already counts no more"


def test_data_sets_go_unless_something_names_them(client: Client, lab: Lab, tmp_path: Path) -> None:
    file = tmp_path / "taps.csv"
    file.write_text("at,key\n0.0,1\n")
    for name in ("used", "running", "unused"):
        datasets.add(lab, file, name)
    for name in ("used", "running"):
        document = small_document()
        document["workload"]["sources"]["bids"]["stream"] = {"kind": "dataset", "dataset": name}
        if name == "used":
            new_experiment(lab, document)
        else:
            Run.objects.filter(pk=new_run(new_experiment(lab, small_document())).pk).update(document=document)
    rule = {"what": "datasets", "days": 10}
    with later(11):
        told = post(client, "rules/preview", rule, 200)
        assert ([one["name"] for one in told["first"]], told["kept"]) == (["unused"], 2)
        post(client, "rules", rule)
        tidy()
        removal = Removal.objects.get()
        assert [one.name for one in Dataset.objects.filter(deleted_at__isnull=False)] == ["unused"]
        datasets.add(lab, file, "unused")
        assert post(client, f"removals/{removal.pk}/undo", status=200)["not_restored"] == ["unused"]
        Dataset.objects.filter(name="unused", deleted_at=None).delete()
    assert not post(client, "rules/preview", {"what": "datasets", "bytes": 10**9}, 200)["count"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"what": "frames"}, "either days or bytes"),
        ({"what": "frames", "days": 1, "bytes": 1}, "either days or bytes"),
        ({"what": "people", "days": 1}, "what"),
        ({"what": "frames", "days": 0}, "days"),
        ({"what": "frames", "days": True}, "days"),
        ({"what": "frames", "bytes": -1}, "bytes"),
        ({"what": "frames", "days": 10**9}, "days"),
        ({"what": "frames", "days": 1, "kept_tags": [""]}, "kept_tags"),
        ({"what": "datasets", "days": 1, "kept_tags": ["paper"]}, "data sets have no tags"),
        ({"what": "frames", "days": 1, "paused": 1}, "paused"),
    ],
)
def test_a_wrong_rule_is_refused_in_a_sentence(client: Client, lab: Lab, body: dict[str, Any], said: str) -> None:
    for path in ("rules", "rules/preview"):
        assert said in str(post(client, path, body, 422))
    assert not RetentionRule.objects.exists()


def test_rules_are_of_one_lab(client: Client, lab: Lab, experiment: Experiment) -> None:
    other = new_experiment(Lab.objects.create(name="another"), small_document())
    run, theirs = ended(experiment, 3), ended(other, 3)
    rule = RetentionRule.objects.create(lab=other.lab, what="runs", days=1)
    tidy()
    assert set(Run.objects.filter(deleted_at__isnull=False)) == {theirs}
    assert client.get("/api/storage").json()["removals"] == []
    removal = Removal.objects.get()
    assert post(client, f"removals/{removal.pk}/undo", status=404)["detail"] == f"there is no removal {removal.pk} in this lab"
    assert client.put(f"/api/storage/rules/{rule.pk}", {"what": "runs", "days": 1}, content_type=JSON).status_code == 404
    assert client.delete(f"/api/storage/rules/{rule.pk}").status_code == 404
    assert run.deleted_at is None


def test_as_many_rules_as_a_lab_may_have(client: Client, lab: Lab) -> None:
    for days in range(1, 21):
        post(client, "rules", {"what": "frames", "days": days})
    assert "the lab has 20 rules, which is the maximum" in post(client, "rules", {"what": "frames", "days": 99}, 409)["detail"]
    assert client.delete(f"/api/storage/rules/{RetentionRule.objects.earliest('pk').pk}").status_code == 204


# --- years --------------------------------------------------------------------------------------------------------------------------------


@dataclass
class Twin:
    """What rules should do, in plain Python: one of days on runs, one of bytes on frames. Days are whole numbers."""

    days: int
    bytes: int
    runs: dict[Any, dict[str, Any]] = field(default_factory=dict)
    removals: list[dict[str, Any]] = field(default_factory=list)
    paused: set[str] = field(default_factory=set)
    back_bytes: int = 0
    """Of runs that were taken and held since, which count again from the next day on."""

    def held(self, run: dict[str, Any]) -> bool:
        return bool(run["tagged"] or run["noted"])

    def sweep(self, day: int, now: datetime) -> None:
        if "runs" not in self.paused:
            self.take("runs", day, [run for run in self.whole() if run["at"] < now - self.days * DAY and "runs" not in run["taken"]])
        if "frames" not in self.paused:
            free = [run for run in self.whole() if run["frames"] and "frames" not in run["taken"]]
            excess = sum(run["bytes"] for run in self.whole() if not run["pending"]) - self.bytes
            taken = []
            for run in (run for run in free if not self.held(run)):
                if excess <= 0:
                    break
                taken.append(run)
                excess -= run["bytes"]
            self.take("frames", day, taken)
        for run in self.runs.values():
            if run["deleted"] is not None and run["deleted"] < day - 7 and run["frames"]:
                run["frames"], run["bytes"] = False, 0
        self.back_bytes = 0
        for removal in self.removals:
            if removal["what"] == "frames" and removal["day"] < day - 7 and not removal["undone"] and not removal["closed"]:
                left = [run for run in removal["runs"] if run["frames"] and not self.held(run)]
                for run in left:
                    run["frames"], run["bytes"] = False, 0
                if not left:  # what is held counts again
                    removal["closed"] = True
                    for run in removal["runs"]:
                        run["pending"] = False
                        self.back_bytes += run["bytes"] if run["deleted"] is None else 0

    def whole(self) -> list[dict[str, Any]]:
        return sorted((run for run in self.runs.values() if run["deleted"] is None), key=lambda run: run["at"])

    def take(self, what: str, day: int, runs: list[dict[str, Any]]) -> None:
        taken = [run for run in runs if not self.held(run)]
        for run in taken:
            run["taken"].add(what)
            if what == "runs":
                run["deleted"] = day
            else:
                run["pending"] = True
        if taken:
            self.removals.append({"what": what, "day": day, "runs": taken, "undone": False, "closed": False})

    def undo(self, removal: dict[str, Any]) -> None:
        removal["undone"] = True
        self.paused.add(removal["what"])
        for run in removal["runs"]:
            run["pending"] = False
            if removal["what"] == "runs":
                run["deleted"] = None


COPIED = ("lab", "experiment", "experiment_version", "name", "document", "hash", "seed", "horizon_ns")


@pytest.mark.slow
@pytest.mark.parametrize("seed", only(range(3), ci=[0] if connection.vendor == "sqlite" else []))
def test_over_years_rules_do_what_they_say_and_the_lab_stays_small(lab: Lab, experiment: Experiment, seed: int) -> None:
    """Every day some runs end, some get tags or notes, now and then somebody undoes a removal, and resumes the rule some days later."""
    choice, start = random.Random(seed), datetime(2027, 1, 1, 12, tzinfo=timezone.get_current_timezone())
    years = tier(ci=1, all=3)
    twin = Twin(days=90, bytes=40_000)
    made = {
        "runs": RetentionRule.objects.create(lab=lab, what="runs", days=twin.days),
        "frames": RetentionRule.objects.create(lab=lab, what="frames", bytes=twin.bytes),
    }
    tag = Tag.objects.create(lab=lab, name="paper")
    template = new_run(experiment)
    happened: Counter[str] = Counter()
    for day in range(365 * years):
        now = start + day * DAY
        if day % 30 == 0 and connection.vendor == "postgresql":  # what autovacuum does, which sees nothing of a test's transaction
            with connection.cursor() as cursor:
                cursor.execute("ANALYZE")
        with mock.patch("django.utils.timezone.now", return_value=now):
            for n in range(choice.randrange(4)):
                run = Run(**{name: getattr(template, name) for name in COPIED}, number=10 * day + n + 2, state="succeeded")
                run.finished_at, run.stored_bytes = now - n * timedelta(hours=1), choice.randrange(1000)
                run.save(force_insert=True)
                told = {"id": run.pk, "at": run.finished_at, "bytes": run.stored_bytes, "deleted": None, "frames": True, "taken": set()}
                twin.runs[run.pk] = told | dict.fromkeys(("pending", "tagged", "noted"), False)
                if choice.random() < 0.02:
                    tag.runs.add(run)
                    twin.runs[run.pk]["tagged"] = True
            if twin.whole() and choice.random() < 0.05:
                one = choice.choice(twin.whole())
                one["noted"] = True
                Run.objects.filter(pk=one["id"]).update(notes="peak")
            young = [one for one in twin.removals if day - one["day"] <= 6 and not one["undone"] and one["what"] not in twin.paused]
            if young and choice.random() < 0.03:
                back = choice.choice(young)
                twin.undo(back)
                rules.undo(Removal.objects.get(rule=made[back["what"]], day=(start + back["day"] * DAY).date(), undone_at=None), now)
                happened["undone"] += 1
            elif twin.paused and choice.random() < 0.2:
                RetentionRule.objects.update(paused=False)
                twin.paused.clear()
            with mock.patch("webapp.maintenance.retention.measure"):  # there are no files
                tidy()
            Run.objects.filter(frames_removed_at__isnull=False, stored_bytes=None).update(stored_bytes=0)
            twin.sweep(day, now)
        found = {run.pk: run for run in Run.objects.exclude(pk=template.pk).only("deleted_at", "frames_removed_at", "stored_bytes")}
        for id, expected in twin.runs.items():
            run = found[id]
            assert ((run.deleted_at is not None), run.frames_removed_at is None) == (expected["deleted"] is not None, expected["frames"]), (
                f"day {day}: {expected}"
            )
        happened["deleted"] += sum(1 for one in twin.runs.values() if one["deleted"] == day)
        held = sum(one["bytes"] for one in twin.whole() if twin.held(one))
        if not twin.paused and not any(one["undone"] for one in twin.removals):
            pending = sum(one["bytes"] for one in twin.whole() if one["pending"])
            assert sum(one["bytes"] for one in twin.whole()) <= max(twin.bytes, held) + pending + twin.back_bytes
    assert happened["undone"] > 2 * years
    assert happened["deleted"] > 100 * years
