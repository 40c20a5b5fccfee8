"""Two labs, and a member's program of one that asks for what belongs to the other, by every route of the API.

Names and ids of the other lab's things are known to it; what they contain is not. Each request is sent twice: with these names and ids, and
with some that nobody has. Catches: an answer that shows what is in the other lab, one that tells that something is there, and a request
that changes anything there. As many requests a route as MILLRACE_WALLS_EXAMPLES says.
"""

from __future__ import annotations

import itertools
import os
import random
import re
import uuid
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from django.apps import apps
from django.core.serializers import serialize
from django.core.wsgi import get_wsgi_application
from django.db import models, transaction
from django.utils import timezone
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case

from tests.support.tiers import tier
from webapp.accounts.models import ApiToken, Invitation, LogEntry
from webapp.accounts.rights import Right
from webapp.api import tokens
from webapp.lab import cost_models, datasets, people
from webapp.lab.models import (
    Baseline,
    CalibrationJob,
    Dataset,
    Experiment,
    FigureResult,
    Lab,
    LearningJob,
    Removal,
    Reproduction,
    RetentionRule,
    Run,
    RunParameter,
    RunSummary,
    SparkJob,
    SparkRun,
    Study,
    Tag,
    View,
    Waterfalls,
)
from webapp.lab.models.waterfalls import hash_of
from webapp.lab.versions import Author, record_creation

from ..support.untrained_models import put_models
from .conftest import RedisProcess, new_experiment, new_run, small_document
from .study_examples import sweep

pytestmark = [pytest.mark.django_db, pytest.mark.slow, pytest.mark.one_database, pytest.mark.usefixtures("one_connection")]

SECRET = "kestrel"
"""In all that the other lab's things contain, and in no request."""
KNOWN = "harbour"
"""In the names by which a program could ask for them."""
NOBODYS = "harbors"
EXAMPLES = int(os.environ.get("MILLRACE_WALLS_EXAMPLES", tier(ci="1", all="6")))
SETTINGS = settings(
    max_examples=EXAMPLES,
    derandomize="MILLRACE_WALLS_EXAMPLES" not in os.environ,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
CONFIG = schemathesis.Config.from_dict({"generation": {"allow-extra-parameters": False}})
OF_THE_INSTALLATION = {"get /api/health", "get /api/health/ready", "get /api/storage", "put /api/storage"}
"""Their answers change by themselves: heartbeats, free space."""
INTEGERS = {"person_id", "token_id", "invitation_id", "rule_id", "removal_id", "number"}


@dataclass(frozen=True)
class Handles:
    """Ways to name things. ids: by path parameter. name: of data sets, models and tags."""

    ids: dict[str, Any]
    name: str

    def put_into(self, value: Any, choice: Any) -> Any:
        """A value of a request with ids and names in place of some of its own."""
        if isinstance(value, dict):
            return {key: self.put_into(one, choice) for key, one in value.items()}
        if isinstance(value, list):
            return [self.put_into(one, choice) for one in value]
        if isinstance(value, str) and choice.random() < 0.7:
            texts = sorted(name for name, id in self.ids.items() if isinstance(id, uuid.UUID))
            return choice.choice([*(str(self.ids[name]) for name in texts), self.name])
        if type(value) is int and choice.random() < 0.5:
            return self.ids[choice.choice(sorted(INTEGERS))]
        return value


@pytest.fixture
def elsewhere(lab: Lab, redis: RedisProcess, tmp_path: Path) -> Handles:
    """Another lab with one of everything."""
    other = people.new_lab(f"{SECRET} lab")
    eve = people.member(f"eve {SECRET}", of=other)
    file = tmp_path / "rows.csv"
    file.write_text(f"at,{SECRET}\n0.0,1\n1.0,2\n")
    dataset = datasets.add(other, file, KNOWN)
    document = {**small_document(), "name": f"{SECRET} experiment"}
    experiment = new_experiment(other, document)
    record_creation(experiment, Author(f"eve {SECRET}"))
    run = new_run(experiment)
    summary = {f"{SECRET}_ms": 5.0}
    Run.objects.filter(pk=run.pk).update(state="succeeded", summary=summary, notes=SECRET, author=f"eve {SECRET}", number=77_001)
    run.directory.mkdir(parents=True, exist_ok=True)
    (run.directory / SECRET).write_text(SECRET)
    tag = Tag.objects.create(lab=other, name=KNOWN)
    tag.runs.add(run)
    RunSummary.store(run, summary)
    RunParameter.store(run, RunParameter.rows(run.lab_id, {f"/{SECRET}": 1}))
    Baseline.objects.create(experiment=experiment, run=run)
    study = Study.objects.create(lab=other, experiment=experiment, name=f"{SECRET} study", document=sweep([500.0], [1]))
    selection = {"slowest": 1}
    waterfalls = Waterfalls.objects.create(run=run, selection=selection, selection_hash=hash_of(selection), error=SECRET)
    put_models(other.home / "models" / KNOWN)
    (other.home / "corpora" / KNOWN).mkdir(parents=True)
    LearningJob.objects.create(lab=other, kind="models", name=f"{SECRET}-models", settings={"corpus": KNOWN}, author=SECRET)
    FigureResult.objects.create(
        lab=other, figure="benchmark/3.5", scale="smoke", hash=SECRET, engine_version="1", seeds=[1], runs=1, took_s=1.0,
        status="reproduced", values={SECRET: 1}, assertions=[],
    )  # fmt: skip
    Reproduction.objects.create(lab=other, figure="benchmark/3.5", scale="smoke")
    LogEntry.objects.create(lab=other, person=f"eve {SECRET}", action="runs.start", subject=SECRET)
    rule = RetentionRule.objects.create(pk=880_400, lab=other, what="runs", days=400, kept_tags=[SECRET])
    removal = Removal.objects.create(pk=880_500, lab=other, rule=rule, what="runs", day=timezone.now().date(), at=timezone.now(), count=1)
    removal.runs.add(run)
    return Handles(
        {
            "rule_id": rule.pk,
            "removal_id": removal.pk,
            "experiment_id": experiment.pk,
            "run_id": run.pk,
            "id": waterfalls.pk,
            "dataset_id": dataset.pk,
            "job_id": SparkJob.objects.create(lab=other, question={"kind": SECRET}).pk,
            "calibration_id": CalibrationJob.objects.create(lab=other, though_busy=False, error=SECRET).pk,
            "spark_run_id": SparkRun.objects.create(run=run, files=2, error=SECRET).pk,
            "study_id": study.pk,
            "view_id": View.objects.create(lab=other, name=f"{SECRET} view", query={"search": SECRET}).pk,
            "token_id": renumbered(ApiToken.issue(eve, f"{SECRET} token")[0], 880_200),
            "person_id": renumbered(eve, 880_100),
            "invitation_id": renumbered(Invitation.issue(other, "member", eve.user, timedelta(days=1))[0], 880_300),
            "number": 77_001,
            "name": KNOWN,
        },
        KNOWN,
    )


def renumbered(row: models.Model, id: int) -> int:
    """Give it an id that nothing else has, so that it can be told from other numbers in an answer."""
    type(row)._default_manager.filter(pk=row.pk).update(id=id)
    return id


def nobodys(handles: Handles) -> Handles:
    """As many that name nothing and differ only at their ends, so that parsers, limits and sentences that quote a part take them alike."""
    other = str.maketrans("0123456789abcdef", "1234567890bcdefa")

    def unlike(id: Any) -> Any:
        if isinstance(id, uuid.UUID):
            return uuid.UUID(str(id)[:-2] + str(id)[-2:].translate(other))
        return id + 50 if isinstance(id, int) else NOBODYS

    return Handles({key: unlike(id) for key, id in handles.ids.items()}, NOBODYS)


def rows_of(lab: Lab) -> str:
    """All that is stored of a lab."""
    found = [*Lab.objects.filter(pk=lab.pk)]
    for model in apps.get_models():
        for path in ("lab", "run__lab", "experiment__lab", "study__lab"):
            name, _, rest = path.partition("__")
            fields = {field.name: field for field in model._meta.get_fields() if isinstance(field, models.ForeignKey)}
            if name in fields and (not rest or fields[name].related_model in (Run, Experiment, Study)):
                found += model._default_manager.filter(**{path: lab.pk}).order_by("pk")
                break
    return serialize("json", found)


def files_of(lab: Lab) -> dict[str, bytes]:
    folders = [
        lab.home,
        *(run.directory for run in Run.objects.filter(lab=lab)),
        *(one.path.parent for one in Dataset.objects.filter(lab=lab)),
    ]
    return {str(path): path.read_bytes() for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()}


def masked(text: str, handles: Handles) -> str:
    """Without the handles themselves, and without what is new in every answer."""
    for name, id in sorted(handles.ids.items()):
        for way in [f"{id}", f"{id:,}"] if isinstance(id, int) else [str(id)]:
            text = re.sub(rf"(?<![\w-]){re.escape(way)}(?![\w-])", f"<{name}>", text)
            for shown in range(len(way) - 1, 3, -1):  # a long value is shown up to some character
                text = text.replace(f"{way[:shown]}...", f"<{name}>...")
    text = text.replace(handles.name, "<name>")
    text = re.sub(r"(millrace_|token=)[\w-]{40,}", "<secret>", text)
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "<new>", text)
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z?", "<now>", text)


def where_they_differ(one: tuple[int, str], other: tuple[int, str]) -> str:
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one[1], other[1], strict=False))
    at = sum(1 for _ in same)
    return " / ".join(f"{status} ...{text[max(0, at - 60) : at + 60]}..." for status, text in (one, other))


@dataclass(frozen=True)
class Fuzzer:
    """headers: of the program. other: the lab of which it may find nothing. rows: what is stored of it. usual: other values of path
    parameters."""

    headers: dict[str, str]
    other: Lab
    rows: str
    usual: dict[str, Any]

    def ask(self, case: Case, handles: Handles, seed: int) -> tuple[int, str]:
        """Status and masked text of the answer to a request with these names and ids. What it does is undone."""
        choice = random.Random(seed)
        asked = case.operation.Case(
            method=case.method,
            path_parameters={name: str(handles.ids.get(name, self.usual[name])) for name in case.path_parameters or {}},
            query=handles.put_into(dict(case.query or {}), choice) or None,
            body=handles.put_into(case.body, choice),
            media_type=case.media_type,
        )
        with transaction.atomic():
            answer = asked.call(headers=self.headers)
            assert rows_of(self.other) == self.rows, f"rows of the other lab changed: {answer.status_code} {answer.text[:300]}"
            transaction.set_rollback(True)
        assert SECRET not in answer.text, f"something of the other lab is shown: {answer.text[:300]}"
        return answer.status_code, masked(answer.text, handles)

    def why_open(self, operation: Any, theirs: Handles) -> str:
        """Try a route. Returns what was found by it; empty if it is closed."""
        names = dict.fromkeys(re.findall(r"{(\w+)}", operation.path), "1")
        unknown = nobodys(theirs)

        @SETTINGS
        @given(case=operation.as_strategy(path_parameters=names or None), seed=st.integers(0, 1 << 30))
        def is_closed(case: Case, seed: int) -> None:
            told, of_nothing = self.ask(case, theirs, seed), self.ask(case, unknown, seed)
            if f"{operation.method} {operation.path}" not in OF_THE_INSTALLATION:
                assert told == of_nothing, f"answered otherwise than what is nowhere: {where_they_differ(told, of_nothing)}"

        try:
            is_closed()
        except BaseException as failure:
            return f"{operation.label}: {failure}"
        return ""


@cache
def operations() -> list[Any]:
    schema = schemathesis.openapi.from_wsgi("/api/openapi.json", get_wsgi_application(), config=CONFIG)
    return [result.ok() for result in schema.get_all_operations()]


@pytest.fixture
def fuzzer(things: dict[str, Any], elsewhere: Handles) -> Fuzzer:
    """An owner's program of the first lab."""
    token = ApiToken.issue(people.member("mary", "owner"), "fuzzer", Right.ADMIN)[1]
    other = Lab.objects.get(name=f"{SECRET} lab")
    rows = rows_of(other)
    assert SECRET in rows
    return Fuzzer({"Authorization": f"Bearer {token}", "Accept-Encoding": "identity"}, other, rows, things)


def test_a_member_of_one_lab_finds_nothing_of_another(fuzzer: Fuzzer, elsewhere: Handles) -> None:
    files = files_of(fuzzer.other)
    found = [fuzzer.why_open(operation, elsewhere) for operation in operations()]
    assert not any(found), "\n\n".join(filter(None, found))
    assert files_of(fuzzer.other) == files


@pytest.mark.parametrize(
    ("label", "wall", "opened"),
    [
        ("GET /api/tokens", (tokens, "within_reach"), lambda asker: ApiToken.objects.select_related("user").order_by("-pk")),
        ("DELETE /api/tokens/{token_id}", (tokens, "within_reach"), lambda asker: ApiToken.objects.all()),
        ("GET /api/learning/models/{name}", (cost_models, "models_place"), lambda home: next(Path(home).glob("labs/*/models"), home)),
    ],
)
def test_a_hole_in_a_wall_is_found(
    fuzzer: Fuzzer, elsewhere: Handles, monkeypatch: pytest.MonkeyPatch, label: str, wall: tuple[Any, str], opened: Any
) -> None:
    monkeypatch.setattr(*wall, opened)
    (operation,) = (one for one in operations() if one.label == label)
    assert fuzzer.why_open(operation, elsewhere)
