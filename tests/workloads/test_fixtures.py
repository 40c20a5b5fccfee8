"""The example experiments: each is a whole, valid document, and its input is what validation says it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.spec.experiment.document import read_document
from engine.spec.experiment.experiment import Experiment
from engine.spec.rules.validation import Context, load, schemas, validate
from engine.workloads import Strings, build_feed, lookup

from .documents import DATA

EXAMPLES = sorted((Path(__file__).parents[2] / "fixtures" / "experiments").glob("*.yaml"))
COUNTS = {
    "advertisement": {"clicks": 17_978, "impressions": 503_167},
    "autoscaling_filter": {"bids": 1_067_645},
    "autoscaling_join": {"persons": 400_325, "auctions": 1_201_061},
    "autoscaling_map": {"bids": 1_067_645},
    "autoscaling_session": {"bids": 1_067_645},
    "autoscaling_sliding": {"bids": 1_601_459},
    "checkmate_q1": {"bids": 1_024_860},  # bursts come at the ends of their intervals, the last one at the end of the run
    "checkmate_q3": {"persons": 179_800, "auctions": 539_400},
    "checkmate_q8": {"persons": 211_265, "auctions": 633_795},
    "checkmate_q12": {"bids": 899_000},
    "checkmate_reachability": {"links": 36_000, "sources": 9_000, "deletions": 15_000},
    "consistency_count": {"records": 480_000},
    "consistency_set": {"records": 60_000},
    "edge_to_cloud": {"turbines": 30_033, "weather": 15_133},
    "flights": {"flights": 113_493},
    "klink_road": {"reports": 4_484},
    "klink_taxi": {"trips": 34_221},
    "klink_ysb": {"events": 251_648},  # of a query without copies; each has its own
    "linear_road": {"reports": 599_005},
    "moving_operators": {"readings": 239_817},
    "nexmark_q1": {"bids": 600_000},
    "nexmark_q2": {"bids": 600_000},
    "nexmark_q3": {"persons": 330_000, "auctions": 990_000},
    "nexmark_q5": {"bids": 150_000},
    "nexmark_q3_ttl": {"persons": 150_000, "auctions": 450_000},
    "nexmark_q4": {"auctions": 54_000, "bids": 828_000},
    "nexmark_q6": {"auctions": 54_000, "bids": 828_000},
    "nexmark_q7": {"bids": 798_969},
    "nexmark_q8": {"persons": 150_000, "auctions": 450_000},
    "nexmark_q8_windows": {"persons": 156_056, "auctions": 468_048},
    "nexmark_q11": {"bids": 600_000},
    "nexmark_q12": {"bids": 600_000},
    "incremental_fold": {"purchases": 3_000_000},
    "incremental_output_log": {"purchases": 375_000},
    "incremental_standby": {"purchases": 375_000},
    "similar_flights": {"flights": 113_493},
    "similarity_join": {"left": 90_000, "right": 90_000},
    "smart_grid_global": {"readings": 239_617},
    "smart_grid_local": {"readings": 299_495},
    "spike_detection": {"readings": 1_200_000},
    "taxi_rides": {"trips": 599_015},
    "yahoo": {"events": 699_005},
}


DATASETS = lookup([DATA])
CONTEXT = Context(datasets=DATASETS)


def test_the_examples_are_all_here():
    assert {path.stem for path in EXAMPLES} == set(COUNTS)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_valid_laid_out_and_has_input(path):
    assert validate(read_document(path), CONTEXT) == []
    experiment: Experiment = load(path, CONTEXT)
    assert experiment.name
    assert experiment.description
    positions = experiment.ui["positions"]
    assert set(positions) == {operator.id for operator in experiment.query.operators}
    for edge in experiment.query.edges:  # laid out from left to right, long queries in rows
        at, to = positions[edge.source], positions[edge.target]
        assert at["x"] < to["x"] or at["y"] < to["y"] or edge.feedback
    strings = Strings()
    feeds = {id: build_feed(experiment, id, number, strings, DATASETS) for number, id in enumerate(experiment.workload.sources)}
    assert {id: made.schema for id, made in feeds.items()} == {id: schemas(experiment, CONTEXT)[f"{id}.out"] for id in feeds}
    assert {id: made.count for id, made in feeds.items()} == COUNTS[path.stem]
