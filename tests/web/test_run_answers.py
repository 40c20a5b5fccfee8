"""Groups of runs and points: equal to what Python finds run by run, and each group's search finds exactly its runs.

Catches: runs without a value that fall out of the groups, texts that read as numbers or as several words, conditions that match more or
fewer runs than their group, medians of the wrong rows, intervals over runs that differ in more than the seed.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection as database
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.spec import Refusal
from tests.support.tiers import tier
from webapp.lab.models import Experiment, FieldName, Lab, Run, RunParameter, RunState, RunSummary, Tag
from webapp.lab.run_fields import field_named
from webapp.lab.search_values import BadCondition
from webapp.reports import analysis

from .conftest import new_run

pytestmark = pytest.mark.django_db

SIZE, KIND, ODD_NAME = "/query/operators/a/params/size", "/query/operators/a/kind", '/cluster/hosts/my "own" * host=1|2: x/speed'
PARAMETERS = (SIZE, KIND, ODD_NAME)
TEXTS = [
    "",
    "5",
    "1e3",
    "5..7",
    "..",
    "map",
    "a|b",
    'say "so"',
    "a\\b\nc",
    "price > 100",
    "no:tag",
    "é ü",
    "true",
    "-",
    "x=y",
    "10s",
    " a ",
]
NUMBERS = [0.0, -0.0, 5.0, 0.1, 1e22, 1 / 3, -2.5, 1e-7, 123456789012345680.0]
CELL = st.none() | st.sampled_from(NUMBERS) | st.sampled_from(TEXTS) | st.floats(allow_nan=False, allow_infinity=False, width=32)
NAME = st.sampled_from(["NexMark Q1", "Q1", "a", 'with "quotes"', "p99>5"])
ROW = st.fixed_dictionaries(
    {
        "state": st.sampled_from([RunState.SUCCEEDED, RunState.SUCCEEDED, RunState.FAILED, RunState.QUEUED]),
        "experiment": NAME,
        "author": st.sampled_from(["", "ada", "grace hopper"]),
        "tags": st.sets(st.sampled_from(["good", "two words", "a|b", '"']), max_size=2),
        "setup": st.sampled_from(["s1", "s2", ""]),
        "version": st.sampled_from(["7", "8"]),
        "seed": st.integers(1, 3),
        "p99": st.none() | st.floats(0, 1e6, allow_subnormal=False),
        "took": st.none() | st.integers(1, 9),
        **dict.fromkeys(PARAMETERS, CELL),
    }
).map(lambda row: row | {"version": ""} if row["state"] == RunState.QUEUED else row)
KEYS = ["state", "experiment", "author", "tag", *PARAMETERS]
EXAMPLES = settings(
    max_examples=tier(ci=15, all=120),
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def store(experiment: Experiment, rows: Sequence[dict[str, Any]]) -> list[Run]:
    """The rows as runs of the lab, in place of those of the case before. Row n becomes run n + 1."""
    lab = experiment.lab
    Run.objects.all().delete()
    Tag.objects.all().delete()
    now = timezone.now()
    common = {"lab": lab, "experiment": experiment, "experiment_version": 1, "document": {}, "hash": "h", "horizon_ns": 10**9}
    runs = [
        Run(
            **common, number=number, state=row["state"], name=row["experiment"], author=row["author"], setup=row["setup"],
            engine_version=row["version"], seed=row["seed"], started_at=now,
            finished_at=None if row["took"] is None else now + timedelta(seconds=row["took"]),
        )
        for number, row in enumerate(rows, 1)
    ]  # fmt: skip
    Run.objects.bulk_create(runs)
    for run, row in zip(runs, rows, strict=True):
        RunParameter.store(run, RunParameter.rows(run.lab_id, {name: row[name] for name in PARAMETERS}))
        if row["p99"] is not None:
            RunSummary.store(run, {"latency_ms": {"p99": row["p99"]}})
        for name in row["tags"]:
            Tag.objects.get_or_create(lab=lab, name=name)[0].runs.add(run)
    return runs


def known_fields(experiment: Experiment) -> None:
    """Runs with all fields, so that each is known whatever the case has."""
    FieldName.ids(experiment.lab_id, [*PARAMETERS, "latency_ms.p99"])


def values_of(row: dict[str, Any], key: str) -> list[Any]:
    if key == "tag":
        return sorted(row["tags"]) or [None]
    value = row[key]
    return [None if value == "" and key == "author" else value]


@EXAMPLES
@given(
    rows=st.lists(ROW, max_size=14),
    by=st.lists(st.sampled_from(KEYS), min_size=1, max_size=2, unique=True),
    search=st.sampled_from(["", "seed=1|2", "state!=failed", "p99:0.. "]),
)
def test_groups_are_those_found_run_by_run_and_each_search_finds_its_runs(
    client: Client, experiment: Experiment, rows: list[dict[str, Any]], by: list[str], search: str
) -> None:
    store(experiment, rows)
    known_fields(experiment)
    passes = {
        "": lambda row: True,
        "seed=1|2": lambda row: row["seed"] in (1, 2),
        "state!=failed": lambda row: row["state"] != "failed",
        "p99:0.. ": lambda row: row["p99"] is not None,
    }[search]
    wanted: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    found = [number for number, row in enumerate(rows, 1) if passes(row)]
    for number in found:
        row = rows[number - 1]
        for first in values_of(row, by[0]):
            for second in values_of(row, by[1]) if len(by) > 1 else [None]:
                wanted[(first, second)[: len(by)]].append(number)

    query = {"by": by, "measure": ["p99", "took"], "search": search, "limit": 500}
    answer = client.get("/api/runs/groups", query)
    assert answer.status_code == 200, answer.json()
    page = answer.json()
    assert (page["count"], page["runs"]) == (len(wanted), len(found))
    told = {tuple(item["values"]): item for item in page["items"]}
    assert told.keys() == wanted.keys()
    for key, numbers in wanted.items():
        item = told[key]
        assert item["runs"] == len(numbers)
        listed = client.get("/api/runs", {"search": item["search"], "limit": 200})
        assert listed.status_code == 200, (item["search"], listed.json())
        assert [run["number"] for run in listed.json()["items"]] == sorted(numbers, reverse=True), item["search"]
        for measured, name in zip(item["measures"], ("p99", "took"), strict=True):
            values = [rows[number - 1][name] for number in numbers if rows[number - 1][name] is not None]
            assert measured["count"] == len(values)
            if values:
                assert measured["median"] == pytest.approx(statistics.median(values))
                assert (measured["min"], measured["max"]) == pytest.approx((min(values), max(values)))
            assert (measured["over_seeds"] is not None) == (len(seeds_of(rows, numbers, name)) > 1)
            if over := measured["over_seeds"]:
                of_seeds = list(seeds_of(rows, numbers, name).values())
                assert over["mean"] == pytest.approx(statistics.mean(of_seeds))
                assert over["low"] <= over["mean"] <= over["high"]
                assert over["count"] == len(of_seeds)


def seeds_of(rows: list[dict[str, Any]], numbers: list[int], name: str) -> dict[int, float]:
    """The newest value of each seed, if all of these runs are of one setup and one engine. Queued runs have no engine yet."""
    group = [rows[number - 1] for number in numbers]
    setups, versions = {row["setup"] for row in group}, {row["version"] for row in group} - {""}
    if len(setups) > 1 or len(versions) != 1 or setups == {""}:
        return {}
    return {row["seed"]: row[name] for row in group if row["state"] == "succeeded" and row[name] is not None}


@EXAMPLES
@given(rows=st.lists(ROW, max_size=14), limit=st.sampled_from([3, 100]))
def test_points_have_the_values_of_the_newest_runs(client: Client, experiment: Experiment, rows: list[dict[str, Any]], limit: int) -> None:
    runs = store(experiment, rows)
    known_fields(experiment)
    names = ["p99", "took", "state", "experiment", "author", "seed", "number", *PARAMETERS]
    answer = client.get("/api/runs/points", {"field": names, "limit": limit, "search": "seed!=3"})
    assert answer.status_code == 200, answer.json()
    page = answer.json()
    wanted = [number for number in range(len(rows), 0, -1) if rows[number - 1]["seed"] != 3]
    assert page["count"] == len(wanted)
    assert page["numbers"] == wanted[:limit]
    assert page["ids"] == [str(runs[number - 1].pk) for number in wanted[:limit]]
    for name, column in zip(names, page["columns"], strict=True):
        for number, value in zip(page["numbers"], column, strict=True):
            expected = number if name == "number" else values_of(rows[number - 1], name)[0]
            assert value == (pytest.approx(expected) if isinstance(expected, int | float) else expected), name
    listed = client.get("/api/runs", {"value": names, "search": "seed!=3", "limit": limit}).json()
    assert listed["values"] == page["columns"]


def rows_of(*changes: dict[str, Any]) -> list[dict[str, Any]]:
    usual: dict[str, Any] = {
        "state": RunState.SUCCEEDED, "experiment": "Q1", "author": "ada", "tags": set(), "setup": "s", "version": "7", "seed": 1,
        "p99": 1.0, "took": 1, SIZE: 1.0, KIND: "map", ODD_NAME: None,
    }  # fmt: skip
    return [{**usual, **change} for change in changes]


def test_the_interval_over_seeds_is_students(client: Client, experiment: Experiment) -> None:
    """t(4; 0.975) = 2.776 from a table, and the standard error of 1 to 5 is sqrt(2.5 / 5)."""
    store(experiment, rows_of(*({"seed": seed, "p99": float(seed)} for seed in range(1, 6)), {"seed": 6, "setup": "other", SIZE: 2.0}))
    first, second = client.get("/api/runs/groups", {"by": ["size"], "measure": ["p99"]}).json()["items"]
    over = first["measures"][0]["over_seeds"]
    assert (over["mean"], over["count"]) == (3.0, 5)
    assert over["high"] - over["mean"] == pytest.approx(2.776 * 0.5**0.5, rel=1e-3)
    assert second["measures"][0]["over_seeds"] is None
    (all_sizes,) = client.get("/api/runs/groups", {"by": ["state"], "measure": ["p99"]}).json()["items"]
    assert all_sizes["measures"][0]["over_seeds"] is None, "these runs differ in their size"


def test_a_run_cancelled_in_the_queue_leaves_the_interval_over_seeds(client: Client, experiment: Experiment) -> None:
    cancelled = {"state": RunState.CANCELLED, "version": "", "p99": None, "seed": 9}
    store(experiment, rows_of({"p99": 1.0}, {"seed": 2, "p99": 3.0}, cancelled))
    (group,) = client.get("/api/runs/groups", {"by": ["size"], "measure": ["p99"]}).json()["items"]
    over = group["measures"][0]["over_seeds"]
    assert (group["runs"], over["mean"], over["count"]) == (3, 2.0, 2)


def test_groups_are_ordered_by_any_number_those_without_it_last(client: Client, experiment: Experiment) -> None:
    store(
        experiment,
        rows_of(
            {"author": "c", "p99": 2.0},
            {"author": "a", "p99": None},
            {"author": "b", "p99": 1.0},
            {"author": "b", "p99": 9.0},
            {"author": ""},
        ),
    )

    def order(sort: str, **page: Any) -> list[str | None]:
        answer = client.get("/api/runs/groups", {"by": ["author"], "measure": ["p99"], "sort": sort, **page})
        assert answer.status_code == 200, answer.json()
        return [item["values"][0] for item in answer.json()["items"]]

    assert order("group") == ["a", "b", "c", None]
    assert order("-group") == ["c", "b", "a", None]
    assert order("-runs") == ["b", "a", "c", None]
    assert order("median:p99") == [None, "c", "b", "a"]
    assert order("-max:p99") == ["b", "c", None, "a"]
    assert order("-max:p99", limit=2, offset=1) == ["c", None]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no field": ({"by": ["parallelsm"]}, "no run has a metric or parameter 'parallelsm'"),
    "seed": ({"by": ["seed"]}, "runs are not grouped by their seed"),
    "seed of the document": ({"by": ["/workload/seed"]}, "runs are not grouped by their seed"),
    "a metric": ({"by": ["p99"]}, "'p99' is measured, so nearly every run has its own value; group by a parameter, and measure 'p99'"),
    "twice the same": ({"by": ["size", SIZE]}, "are the same field; leave one out"),
    "two parameters": ({"by": ["x/speed"]}, ""),
    "a measure": ({"by": ["state"], "measure": ["kind"]}, "'kind' is not measured; give a metric of the summary such as p99, or took"),
    "an order": ({"by": ["state"], "measure": ["p99"], "sort": "p99"}, "groups have no order 'p99'; use one of group, runs, count:p99"),
    "a search": ({"by": ["state"], "search": "p98>1"}, "did you mean 'p99'?"),
}


def test_what_cannot_be_grouped_is_refused_with_what_would_be_right(client: Client, experiment: Experiment) -> None:
    (run,) = store(experiment, rows_of({}))
    RunParameter.store(run, RunParameter.rows(run.lab_id, {"/query/operators/b/params/size": 1, "/workload/seed": 1}))
    REFUSED["two parameters"] = ({"by": ["params/size"]}, "'params/size' names 2 parameters; give the whole name of one, such as " + SIZE)
    for query, message in REFUSED.values():
        answer = client.get("/api/runs/groups", {**query, **({"by": [SIZE, SIZE]} if "leave one out" in message else {})})
        assert answer.status_code == 422, query
        assert message in answer.json()["detail"], query
        part = answer.json()["problems"][0]["pointer"]
        assert part == ("/search" if "search" in query else "/sort" if "sort" in query else "/measure" if "measure" in query else "/by")
    points = client.get("/api/runs/points", {"field": ["tag"]})
    assert (points.status_code, points.json()["problems"][0]["pointer"]) == (422, "/field")
    assert "several tags" in points.json()["detail"]


def test_questions_and_columns_mean_the_same_parameter_by_a_name(experiment: Experiment) -> None:
    (run,) = store(experiment, rows_of({}))
    star, other = "/cluster/hosts/*/speed", "/cluster/hosts/a/speed"
    RunParameter.store(run, RunParameter.rows(run.lab_id, {star: 1, other: 2}))
    ids = FieldName.ids(experiment.lab_id, [star, other])
    for name in (star, other):
        assert analysis.parameter(experiment.lab, name) == field_named(experiment.lab, name).id == ids[name]
    with pytest.raises(Refusal) as refused:
        analysis.parameter(experiment.lab, "speed")
    with pytest.raises(BadCondition) as bad:
        field_named(experiment.lab, "speed")
    assert str(refused.value) == str(bad.value)
    assert f"'speed' names 2 parameters; give the whole name of one, such as {star}" in str(bad.value)


def test_no_group_shows_what_belongs_to_another_lab(client: Client, experiment: Experiment) -> None:
    store(experiment, rows_of({}))
    other = Lab.objects.create(name="other")
    foreign = new_run(Experiment.objects.create(lab=other, name="theirs", document=experiment.document))
    Run.objects.filter(pk=foreign.pk).update(author="eve")
    page = client.get("/api/runs/groups", {"by": ["author"]}).json()
    assert [item["values"] for item in page["items"]] == [["ada"]]


def test_twenty_columns_take_one_statement_each(client: Client, experiment: Experiment) -> None:
    (run,) = store(experiment, rows_of({}))
    RunParameter.store(
        run, RunParameter.rows(run.lab_id, {f"/query/operators/o{n}/params/size": n if n % 2 else f"kind {n}" for n in range(20)})
    )
    names = [f"/query/operators/o{n}/params/size" for n in range(20)]

    def statements(path: str, names: list[str], **query: Any) -> int:
        with CaptureQueriesContext(database) as asked:
            answer = client.get(path, {**query, "value" if path == "/api/runs" else "field": names})
        assert answer.status_code == 200, answer.json()
        columns = answer.json()["values" if path == "/api/runs" else "columns"]
        assert columns == [[n if n % 2 else f"kind {n}"] for n in range(len(names))]
        return len(asked)

    for path, most in (("/api/runs", 20), ("/api/runs/points", 12)):
        assert statements(path, names[:most]) - statements(path, names[:1]) == most - 1


def test_parameters_that_differ_are_offered_first(client: Client, experiment: Experiment) -> None:
    store(experiment, rows_of({SIZE: 1.0}, {SIZE: 2.0}))
    assert client.get("/api/runs/fields", {"varying": "true"}).json()["parameters"] == [SIZE]
    assert set(client.get("/api/runs/fields").json()["parameters"]) >= {SIZE, KIND}
    store(experiment, rows_of({KIND: "map"}, {KIND: 3.0}, {KIND: None}))
    assert client.get("/api/runs/fields", {"varying": "true"}).json()["parameters"] == [KIND]


SEARCHES = {
    "state:failed|queued": [2, 3],
    "state=failed|queued p99:2..": [2],
    "p99:1..2": [1, 2],
    "p99:..1ms": [1],
    "p99!=1|2": [4],
    "p99:0.0015s..1h": [2, 4],
    "seed=1..2|4": [1, 2, 4],
    "seed:1.5..3.5": [2, 3],
    "author:ada": [1],
    'author="grace hopper"|ada': [1, 2],
    "author!=ada": [2, 3],
    "no:author": [4],
    "has:author no:p99": [3],
    "no:tag": [3, 4],
    "has:tag tag!=good": [2],
    'tag:good|"two words"': [1, 2],
    'tag:"two words"': [2],
    'experiment="NexMark Q1"': [1],
    '"mark Q"': [1],
    "size:1..2": [1, 2],
    'size="5"|1': [1, 3],
    "size=5": [4],
    'size="5"': [3],
    "size!=5": [1, 2, 3],
    'size!="5"': [1, 2, 4],
    'size!="5"|1..2': [4],
    'size!="5"|5': [1, 2],
    "no:size": [],
    "took:1..2": [1, 2],
    "no:took": [4],
    "/query/operators/a/kind:map|filter": [1, 2],
    'kind="price > 100"': [3],
}


def test_alternatives_ranges_quotes_and_missing_values_are_searched_for(client: Client, experiment: Experiment) -> None:
    store(
        experiment,
        rows_of(
            {"experiment": "NexMark Q1", "tags": {"good"}},
            {
                "state": RunState.FAILED,
                "p99": 2.0,
                "seed": 2,
                "author": "grace hopper",
                "tags": {"two words"},
                SIZE: 2.0,
                KIND: "filter",
                "took": 2,
            },
            {"state": RunState.QUEUED, "p99": None, "seed": 3, "author": "eve", SIZE: "5", KIND: "price > 100", "took": 3},
            {"p99": 9.0, "seed": 4, "author": "", SIZE: 5.0, KIND: "true", "took": None},
        ),
    )
    for search, wanted in SEARCHES.items():
        answer = client.get("/api/runs", {"search": search, "sort": "number"})
        assert answer.status_code == 200, (search, answer.json())
        assert [run["number"] for run in answer.json()["items"]] == wanted, search
