"""The consistency jobs find what they are there to find: nothing in a calm run, losses, duplicates.

What this catches: a job or a judge that is content with anything; counts of a state that was lost or fed twice and still add up.
"""

from __future__ import annotations

import copy
from typing import Any

import pyarrow as pa

import engine
from tests.support.consistency import SetFaults, miscounted, set_faults

from ...support.agreement import assert_agreement, template

Document = dict[str, Any]


def delivered(document: Document) -> tuple[Any, int]:
    """What the sink got, and how many records the source had."""
    run = engine.run(document, keep_outputs=True)
    return run.outputs("sink"), run.summary["operators"]["records"]["in"]


def with_a_loss(document: Document) -> Document:
    """Without checkpoints, what a host holds in memory is gone for good."""
    return document | {"faults": [{"kind": "host_loss", "host": "w2", "when": {"kind": "at", "at_s": 1.0}, "restart_after_s": 0.05}]}


def by_two_ways(document: Document, target: str) -> Document:
    """Every record goes to `target` twice."""
    document = copy.deepcopy(document)
    query = document["query"]
    edge = next(edge for edge in query["edges"] if edge["target"] == target)
    query["operators"].append({"id": "again", "kind": "union", "parallelism": 4})
    query["edges"] += [{"source": edge["source"], "target": "again"}, edge | {"source": "again"}]
    return document


def test_both_engines_agree_on_the_jobs() -> None:
    for name in ("consistency_count", "consistency_set"):
        assert assert_agreement(template(name, horizon_s=0.1)).drained


def test_a_calm_run_counts_every_record_once() -> None:
    rows, records = delivered(template("consistency_count", horizon_s=2.0))
    assert records == 16_000
    assert rows.num_rows == records
    assert miscounted(rows, records) == 0


def test_a_calm_run_has_neither_duplicates_nor_gaps() -> None:
    rows, records = delivered(template("consistency_set", horizon_s=2.0))
    assert records == 2_000
    assert set_faults(rows, records) == SetFaults(duplicates=0, gaps=0, unseen=0)


def test_lost_state_shows() -> None:
    counts, _ = delivered(with_a_loss(template("consistency_count", horizon_s=2.0)))
    assert miscounted(counts, 16_000) < -1_000  # a quarter of the keys lost the counts of half of the time
    faults = set_faults(delivered(with_a_loss(template("consistency_set", horizon_s=2.0)))[0], 2_000)
    assert faults.duplicates == 0
    assert faults.gaps > 200


def test_records_that_come_twice_show() -> None:
    counts, records = delivered(by_two_ways(template("consistency_count", horizon_s=2.0), "count"))
    assert miscounted(counts, records) == records
    states, records = delivered(by_two_ways(template("consistency_set", horizon_s=2.0), "set"))
    assert set_faults(states, records) == SetFaults(duplicates=records, gaps=0, unseen=0)


def test_values_that_never_came_show_even_behind_the_last() -> None:
    rows, records = delivered(template("consistency_set", horizon_s=2.0))
    assert set_faults(rows.slice(0, rows.num_rows - 8), records) == SetFaults(duplicates=0, gaps=0, unseen=8)


def test_rows_delivered_again_after_a_recovery_are_no_fault() -> None:
    counts, records = delivered(template("consistency_count", horizon_s=0.5))
    assert miscounted(pa.concat_tables([counts, counts.slice(1000)]), records) == 0
    states, records = delivered(template("consistency_set", horizon_s=0.5))
    assert set_faults(pa.concat_tables([states, states.slice(100)]), records) == SetFaults(0, 0, 0)
