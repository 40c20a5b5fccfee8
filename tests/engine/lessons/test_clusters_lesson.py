"""The lesson on ClusterJoin.

What this catches: copies, keys, comparisons or pairs that are not those of the operators.
"""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.lessons import LessonFiles, explained
from engine.lessons.clusters import Play
from engine.lessons.clusters_document import ClustersLesson
from engine.spec import Experiment, RecordSchema
from tests.oracle.records import Record
from tests.oracle.similarity import SIMILARITY, Member

from ...support.similarity_examples import clusters

FILES = LessonFiles(Path(__file__).resolve().parents[3] / "fixtures")
PARTITIONS, KEYS, WORKERS = 9, 4, 3


@pytest.mark.parametrize(
    ("case", "ends"),
    [
        (0, "Pairs found: 6, with comparisons: 9. Found more than once: a with b, e with b."),
        (1, "Pairs found: 3, with comparisons: 9."),
        (2, "Pairs found: 3, with comparisons: 5."),
    ],
)
def test_what_is_compared_and_found(case: int, ends: str) -> None:
    lesson = FILES.lesson("s3j-cluster-join")
    one = explained(lesson, lesson.cases[case])
    assert one.steps[-1].text == f"Pairs within the threshold: 3. {ends}"
    assert one.steps[-1].verdict == ("bad" if "once" in ends else "good")
    assert one.diagram.instances == (("partition 0", "partition 1", "partition 2") if case == 2 else ("key 0", "key 1"))


directions = st.integers(-999, 999).map(lambda n: n / 1000)


@given(
    st.lists(st.tuples(directions, st.sampled_from(["left", "right"])), min_size=2, max_size=12),
    st.sampled_from([0.0513, 0.1213]),
    st.sampled_from(["key", "partition"]),
    st.booleans(),
)
def test_the_rules_are_those_of_the_operators(placed: list[tuple[float, str]], threshold: float, meet: str, dedupe: bool) -> None:
    field = "space" if meet == "partition" else "key"
    document = clusters(field, dedupe, PARTITIONS, workers=WORKERS, threshold=threshold, window={"kind": "full_history"})
    for operator in document["query"]["operators"]:
        if operator["kind"] == "cluster_partitioner":
            operator["params"]["keys"] = KEYS
    experiment = Experiment.model_validate(document)
    inputs = dict.fromkeys(("left", "right", "in"), RecordSchema.of(id="int", x1="float", x2="float"))
    partitioner = SIMILARITY["cluster_partitioner"](experiment.operator("left-spaces").parameters, inputs)
    join = SIMILARITY["cluster_join"](experiment.operator("join").parameters.model_copy(update={"select": None}), inputs)
    records = [{"name": f"r{n}", "stream": stream, "at": at} for n, (at, stream) in enumerate(placed)]
    about = {
        "kind": "clusters",
        "title": "t",
        "text": "t",
        "partitions": [math.atan2(y, x) / math.pi for x, y in partitioner.centroids],
        "keys": KEYS,
        "workers": WORKERS,
        "threshold": threshold,
        "cases": [{"name": "c", "records": records, "meet": meet, "dedupe": dedupe}],
    }
    lesson = ClustersLesson.model_validate(about)
    play = Play(lesson, lesson.cases[0])
    found: Counter[tuple[str, str]] = Counter()
    for act, (at, stream) in enumerate(placed):
        meetings = play.serve(lesson.cases[0].records[act], act)
        values = {"id": act, "x1": math.cos(math.pi * at), "x2": math.sin(math.pi * at)}
        copies = partitioner.on_record(Record(values, 0, act, None), "in", 0)[1]
        assert [copy.values["space"] for copy in copies] == [meeting.copy.partition for meeting in meetings]
        keys = [play.key_of(meeting.copy.partition) for meeting in meetings]
        assert [(copy.values["key"], copy.values["worker"]) for copy in copies] == [(key, play.worker_of(key)) for key in keys]
        for copy in copies:
            member = Member(copy, stream, copy.values[field], join.role(copy), None)
            for other in join.members:
                if join.match(member, other):
                    left, right = (copy, other.record) if stream == "left" else (other.record, copy)
                    found[f"r{left.values['id']}", f"r{right.values['id']}"] += 1
            join.members.append(member)
    assert play.found == found
    assert sum(group.compared for group in play.groups) == join.rows_read
