"""Similarity joins (specification of S3J, sections 2 to 4 and 9).

What this catches: pairs that are missing, invented or found twice; comparisons that are not counted; copies that are not needed; worksets
that go with their windows; copies that came before their workset; spaces that both, or neither, find the pairs between them.
"""

from __future__ import annotations

import copy
import json
import math
from collections import Counter
from itertools import islice, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import engine
from engine.core import layout as L
from engine.core.distances import BEYOND, DISTANCES, bound_of, distance, distance_up_to
from engine.core.distances.angular import angular, turn_of
from engine.core.distances.edit import edits
from engine.core.kernels import trigonometry
from engine.core.kernels.range_tree import FOUND_NEAR, TREE_WORDS, add_to_tree, clear_found
from engine.core.mathematics import arccos
from engine.operators.angle_index import INDEX_END, MARGIN, S_FOUND, S_INDEXED, find_turns
from engine.operators.similarity import centroids, chosen, shares, with_fields
from engine.operators.similarity_join import SimilarityJoin
from engine.operators.space_partitioner import SPACE_KEYS, SPACE_OWN, SPACE_SPACES, SPACE_WORKERS, key_of_space, meets_here, worker_of_key
from engine.prices import PRICE_LISTS
from engine.spec import Experiment, RecordSchema, validate
from engine.workloads import Strings, build_feed
from tests.oracle import similarity as twin
from tests.oracle.records import Record
from tests.support.tiers import EXAMPLES, TIER, only, spread

from ...support.agreement import assert_agreement, cut_saved_and_forked, fingerprint, services_of, traced, with_params
from ...support.keyed_state_examples import in_and_out
from ...support.recovery_examples import PROTOCOLS, loss, with_losses, with_protocol
from ...support.similarity_examples import (
    TUMBLING,
    brute_force,
    clusters,
    counted,
    points,
    self_join,
    texts,
    true_pairs,
    true_self_pairs,
    vectors,
    whole,
    worksets,
)

ANCHORS = ["trigger", "newest", "oldest"]
SLIDING = {"kind": "sliding", "size_s": 0.02, "slide_s": 0.008}


def pairs(simulation: engine.Simulation) -> Counter[tuple[int, int]]:
    return Counter((row["id"], row["right_id"]) for row in simulation.outputs("sink").to_pylist())


# --- exactness ----------------------------------------------------------------------------------------------------------------------------

CASES = [
    (t, p, d, distance)
    for t in (0.02, 0.05, 0.1)
    for p in (1, 5, 10, 20)
    for d, distance in ((2, "angular"), (3, "angular"), (10, "angular"), (2, "euclidean"))
]


@pytest.mark.parametrize(("t", "p", "d", "distance"), spread(CASES, ci=8))
def test_every_pair_is_found_once(t: float, p: int, d: int, distance: str) -> None:
    t = 0.2 + t if d == 10 else t  # in ten dimensions most vectors are at right angles
    document = worksets(p, t, dimensions=d, distance=distance)
    for source in document["workload"]["sources"].values():
        source["disorder"] = {"kind": "uniform", "max_ms": 3.0}
        source["watermarks"]["lag_ms"] = 3.0
    expected = true_pairs(document, t, 0.02, distance)
    assert pairs(traced(document)) == expected
    assert expected.total() > 0


@pytest.mark.parametrize("t", [0.02, 0.1])
def test_cluster_join_finds_every_pair_once_unless_partitions_share_keys(t: float) -> None:
    expected = true_pairs(worksets(threshold=t), t, 0.02)
    for document in (clusters("space", partitions=300, threshold=t), clusters(partitions=300, dedupe=True, threshold=t)):
        assert pairs(traced(document)) == expected
    merged = pairs(traced(clusters(partitions=300, threshold=t)))
    assert merged.keys() == expected.keys()
    assert merged.total() > expected.total()


def test_partitions_share_keys_as_in_the_artefact() -> None:
    """The division rounds up (specification, ClusterJoin, 4), so partition 0 has key 0 to itself, and the last key is beyond the last but
    one worker's share."""
    par = np.zeros(SPACE_OWN, np.int64)
    par[[SPACE_SPACES, SPACE_KEYS, SPACE_WORKERS]] = 500, 128, 5
    assert [key_of_space(par, 0, j) for j in (0, 1, 2, 3, 4, 499)] == [0, 1, 1, 1, 2, 128]
    assert [worker_of_key(par, 0, key) for key in (0, 25, 26, 127, 128)] == [0, 0, 1, 4, 4]


def test_brute_force_finds_every_pair_once() -> None:
    document = brute_force(threshold=0.07)
    simulation = traced(document)
    assert pairs(simulation) == true_pairs(document, 0.07, 0.02)


@pytest.mark.parametrize(("t", "p", "d", "distance"), spread(CASES, ci=5, first=3))
def test_every_pair_of_one_stream_is_found_once(t: float, p: int, d: int, distance: str) -> None:
    document = self_join(workers=p, threshold=t, dimensions=d, distance=distance, per_s=4000.0)
    assert validate(document) == []
    simulation = traced(document)
    found = [(row["id"], row["right_id"]) for row in simulation.outputs("sink").to_pylist()]
    assert Counter((max(pair), min(pair)) for pair in found) == true_self_pairs(document, t, 0.02, distance)
    assert simulation.summary()["errors"] == 0


def test_of_a_pair_of_one_stream_the_later_record_is_the_left_one() -> None:
    """One instance of each operator, so records come in the order of their numbers."""
    document = self_join(workers=1, threshold=0.05, per_s=4000.0)
    found = [(row["id"], row["right_id"]) for row in traced(document).outputs("sink").to_pylist()]
    assert len(found) > 100
    assert all(later > earlier for later, earlier in found)


def test_a_pair_of_one_stream_has_the_fields_of_both_records() -> None:
    document = with_params(self_join(workers=2, threshold=0.05, per_s=3000.0), "join", select=["id", "x2", "right_id", "right_x1"])
    ids, vectors, _ = points(document, "left")
    of = dict(zip(ids.tolist(), vectors.tolist(), strict=True))
    rows = traced(document).outputs("sink").to_pylist()
    assert len(rows) > 100
    assert all((row["x2"], row["right_x1"]) == (of[row["id"]][1], of[row["right_id"]][0]) for row in rows)


def test_full_history_has_no_windows() -> None:
    document = worksets(window={"kind": "full_history"})
    assert pairs(traced(document)) == true_pairs(document, 0.05, None)


def test_a_pair_of_two_sliding_windows_is_found_in_each() -> None:
    found = pairs(traced(worksets(window=SLIDING)))
    assert found == pairs(traced(brute_force(window=SLIDING)))
    assert {2, 3} <= {*found.values()}


# --- against the oracle -------------------------------------------------------------------------------------------------------------------


@st.composite
def jobs(draw: st.DrawFn, counts: bool = True) -> dict[str, Any]:
    """Similarity joins of all kinds on slow links and few cores, with records that are late and channels that are full."""
    make = draw(st.sampled_from([worksets, worksets, self_join, clusters, brute_force]))
    windows = [TUMBLING, TUMBLING | {"clock": "processing"}, TUMBLING | {"origin_s": -0.003}, SLIDING, {"kind": "full_history"}]
    about: dict[str, Any] = {
        "workers": draw(st.integers(1, 4)),
        "threshold": draw(st.sampled_from([0.01, 0.05, 0.2])),
        "per_s": draw(st.sampled_from([1_000.0, 2_500.0])),
        "dimensions": draw(st.integers(1, 4)),
        "window": draw(st.sampled_from(windows)),
        "distance": draw(st.sampled_from(["angular", "euclidean"])),
        "seed": draw(st.integers(0, 2**48 - 1)),
    }
    if make in (worksets, self_join):
        about["spaces"] = about["workers"] * draw(st.integers(1, 2))
    if make is clusters:
        about |= {"key": draw(st.sampled_from(["key", "space"])), "dedupe": draw(st.booleans()), "partitions": draw(st.integers(1, 30))}
    kind = draw(st.sampled_from(["dedicated", "shared_fifo", "pool", "processor_sharing"]))
    document = make(**about)
    document["cluster"]["hosts"][0]["processor"] = {"kind": kind}
    if kind != "dedicated":
        document["cluster"]["hosts"][0]["cores"] = 2
    document["policies"] = {"flow_control": draw(st.sampled_from([{"kind": "unbounded"}, {"kind": "credits", "per_channel": 2}]))}
    if make in (worksets, self_join) and about["window"].get("clock", about["window"]["kind"]) in ("tumbling", "sliding"):
        document = with_params(document, "worksets", centroid_ttl_windows=draw(st.sampled_from([None, 1, 2])))
    if counts and draw(st.booleans()):
        document = counted(document)
    anchors = ["trigger", "newest"] if any(operator["params"].get("pairs") for operator in document["query"]["operators"]) else ANCHORS
    document["measurement"] = {"latency": {"from": "ingest", "anchor": draw(st.sampled_from(anchors))}}
    for source in document["workload"]["sources"].values():
        source["disorder"] = draw(st.sampled_from([{"kind": "none"}, {"kind": "uniform", "max_ms": 6.0}]))
        source["stream"]["law"] = draw(st.sampled_from(["uniform", "gaussian", "pareto"]))
    form = draw(st.sampled_from([copy.deepcopy, whole, texts]))
    if form is texts:
        threshold = draw(st.sampled_from([1, 2, 5.5]))
        for operator in document["query"]["operators"]:
            if "threshold" in operator["params"]:
                operator["params"]["threshold"] = threshold
    return form(document)


@pytest.mark.slow
@settings(max_examples=EXAMPLES[TIER] // 2, deadline=None, suppress_health_check=list(HealthCheck))
@given(jobs())
def test_random_jobs_agree_with_the_oracle(document: dict[str, Any]) -> None:
    assert validate(document) == []
    assert_agreement(document)


def counted_worksets(**about: Any) -> dict[str, Any]:
    return counted(worksets(**about))


def whole_worksets(**about: Any) -> dict[str, Any]:
    return whole(worksets(**about))


def text_worksets(**about: Any) -> dict[str, Any]:
    return texts(worksets(threshold=4, **about))


def dropped_worksets(**about: Any) -> dict[str, Any]:
    return with_params(worksets(**about), "worksets", centroid_ttl_windows=1)


MAKERS = [worksets, self_join, clusters, brute_force, counted_worksets, whole_worksets, text_worksets, dropped_worksets]


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_a_run_is_the_same_cut_saved_and_forked(make: Any) -> None:
    document = make(per_s=3000.0, window=SLIDING)
    uncut, cut = traced(document), cut_saved_and_forked(document, 4_000_011)
    assert fingerprint(cut) == fingerprint(uncut)


@pytest.mark.parametrize("protocol", only([*PROTOCOLS], ci=PROTOCOLS[:1]), ids=lambda protocol: protocol.__name__)
@pytest.mark.parametrize("make", [worksets, dropped_worksets], ids=lambda make: make.__name__)
def test_no_pair_is_lost_with_a_worker(make: Any, protocol: Any) -> None:
    document = make(workers=4, threshold=0.05, per_s=2000.0, horizon_s=0.12, window={"kind": "tumbling", "size_s": 0.05})
    document = with_losses(with_protocol(document, protocol(interval_s=0.02)), [loss("w1", 0.045, 0.01), loss("w2", 0.081, 0.01)])
    simulation = traced(document)
    assert simulation.checkpointing is not None
    assert len(simulation.checkpointing["recoveries"]) == 2
    assert pairs(simulation).keys() == true_pairs(document, 0.05, 0.05).keys()  # a sink's log is outside: it may get pairs again


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_state_that_goes_out_and_in_again_changes_nothing(make: Any) -> None:
    assert in_and_out(make(per_s=3000.0, window=SLIDING)) > 5


# --- vectors as one field ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [worksets, self_join, clusters, brute_force], ids=lambda make: make.__name__)
@pytest.mark.parametrize(("distance", "t"), [("angular", 0.2), ("euclidean", 0.5)])
def test_vectors_as_one_field_change_nothing(make: Any, distance: str, t: float) -> None:
    """Neither pairs nor times: the size of a record is that of its coordinates."""
    document = make(dimensions=4, distance=distance, threshold=t, per_s=4000.0)
    found, as_one = (traced(one).sink_records("sink") for one in (document, whole(document)))
    assert found == as_one
    assert len(found) > 20


def test_vectors_of_many_dimensions_are_joined() -> None:
    document = whole(worksets(5, 0.11, per_s=2000.0, dimensions=384))
    for source in document["workload"]["sources"].values():
        source["stream"] |= {"law": "clustered", "centres": "common", "spread": 0.01}
    expected = true_pairs(document, 0.11, 0.02)
    simulation = traced(document)
    assert pairs(simulation) == expected
    assert expected.total() > 30


def test_a_vector_that_arrives_is_delivered_with_its_coordinates() -> None:
    document = with_params(whole(worksets(dimensions=3, threshold=0.1)), "join", select=["id", "v", "right_v"])
    ids, drawn, _ = points(document, "left")
    of = dict(zip(ids.tolist(), drawn.tolist(), strict=True))
    rows = traced(document).outputs("sink").to_pylist()
    assert len(rows) > 20
    assert all(row["v"] == of[row["id"]] for row in rows)
    assert all(distance(0, *_products(row["v"], row["right_v"])) <= 0.1 for row in rows)


def _products(a: list[float], b: list[float]) -> tuple[float, float, float, float]:
    x, y = np.array(a), np.array(b)
    return float(x @ y), float(x @ x), float(y @ y), 0.0


def test_saved_runs_leave_vectors_out() -> None:
    simulation = traced(whole(worksets(dimensions=50)))
    assert not {"points", "point_first"} & simulation._world.snapshot().keys()


# --- texts --------------------------------------------------------------------------------------------------------------------------------


@given(st.text("abcé漢", max_size=9), st.text("abcé漢", max_size=9), st.integers(0, 10))
def test_edits_are_those_of_the_definition(a: str, b: str, most: int) -> None:
    letters = np.array([0, *map(ord, a + b)], np.int64)
    found = edits(letters, 1, len(a), 1 + len(a), len(b), most, np.zeros(len(b) + 1, np.int64))
    expected = twin.edits(a, b)
    assert found == expected if expected <= most else found > most


@pytest.mark.parametrize("make", [worksets, clusters, brute_force], ids=lambda make: make.__name__)
@pytest.mark.parametrize("t", [1, 4])
def test_every_pair_of_similar_texts_is_found_once(make: Any, t: int) -> None:
    document = with_params(texts(make(threshold=t, per_s=3000.0, workers=4)), "join", select=["name", "right_name", "id", "right_id"])
    rows = traced(document).outputs("sink").to_pylist()
    near = [(row["id"], row["right_id"]) for row in rows]
    assert len(near) == len({*near}) > 20
    records = [named(document, side) for side in ("left", "right")]
    windows = [[(id, name, event_ns // 20_000_000) for id, name, event_ns in side] for side in records]
    pairs = {(a, b) for a, name, k in windows[0] for b, other, w in windows[1] if k == w and twin.edits(name, other) <= t}
    assert {*near} == pairs


def named(document: dict[str, Any], source: str) -> list[tuple[int, str, int]]:
    """Numbers, names and event times of a source's records."""
    experiment, strings = Experiment.model_validate(document), Strings()
    feed = build_feed(experiment, source, list(experiment.workload.sources).index(source), strings, {})
    chunk = feed.chunk(0, feed.closes_ns)
    of = dict(zip(feed.fields, chunk.words.T, strict=True))
    return list(zip(of["id"].tolist(), strings.texts(of["name"].tolist()), chunk.event_ns.tolist(), strict=True))


def test_centroids_of_texts_are_drawn_from_those_of_the_streams() -> None:
    assert sorted(chosen(5, 5, 42)) == [0, 1, 2, 3, 4]
    assert sorted(chosen(12, 5, 42)[:10]) == sorted([0, 1, 2, 3, 4] * 2)
    assert chosen(3, 1000, 42) == [int(share * 1000) for share in islice(shares(42), 3)]


# --- counted pairs ------------------------------------------------------------------------------------------------------------------------


@settings(max_examples=EXAMPLES[TIER] // 2, deadline=None, suppress_health_check=list(HealthCheck))
@given(jobs(counts=False))
def test_counted_pairs_are_those_that_would_be_made(document: dict[str, Any]) -> None:
    """In number, comparisons, services of all operators but the sink, and latencies from ingestion to where a pair is sent. On one host
    with a core for each instance: pairs that are made take their share of links and cores."""
    document["cluster"]["hosts"][0] |= {"count": 1, "cores": 64, "processor": {"kind": "dedicated"}}
    document["measurement"] = {
        "latency": {"from": "ingest", "anchor": "newest"},
        "also": [{"name": "pair", "from": "ingest", "to": "emit", "anchor": "newest"}],
    }
    document["policies"] = {}
    made, numbered = traced(document), traced(counted(document))
    for a, b in zip((made.summary(), numbered.summary()), (numbered.summary(), made.summary()), strict=True):
        assert a["records_out"] == b["records_out"]
        assert a["latencies_ms"] == b["latencies_ms"]
        for id in sorted({"left", "right", "join"} & a["operators"].keys()):
            assert {what: a["operators"][id][what] for what in ("in", "out", "busy", "read", "late")} == {
                what: b["operators"][id][what] for what in ("in", "out", "busy", "read", "late")
            }
    sink = len(made._world.arrays.inst) - 1
    assert [service for service in services_of(made) if service[0] < sink - 1] == [
        service for service in services_of(numbered) if service[0] < sink - 1
    ]


def test_at_the_threshold_rounding_decides_alike_whether_pairs_are_made_or_counted() -> None:
    """Half of the vectors have one direction, half another, as far from it as the threshold: about half of the distances are above."""
    document = worksets(1, 0.05, per_s=3000.0, window=TUMBLING)
    bands = [{"turn": turn, "width": 1e-15, "share": 0.5} for turn in (0.2, 0.25)]
    for source in document["workload"]["sources"].values():
        source["stream"] |= {"law": "bands", "bands": bands}
    made, numbered = (traced(one).summary()["operators"]["join"] for one in (document, counted(document)))
    assert made["out"] == numbered["out"] > 0
    assert made["read"] == numbered["read"] > 0


def test_of_two_worksets_as_near_the_older_one_takes_a_record() -> None:
    """Coordinates on a grid, so that distances are often equal."""
    text = json.dumps(worksets(2, 0.5, per_s=3000.0, dimensions=1, distance="euclidean"))
    document = json.loads(
        text.replace('"x1"', '"f1"').replace('"select": ["id", "right_id", "workset"]', '"select": ["number", "workset"]')
    )
    for source in document["workload"]["sources"].values():
        source["stream"] = {"kind": "synthetic", "integers": 0, "floats": 1, "float_size": 4}
    assert_agreement(document)


def test_counted_pairs_in_the_plane_are_found_without_comparing() -> None:
    """Each record stands in a tree, and what the last one found came from there."""
    simulation = engine.Simulation(counted(worksets(workers=1, per_s=20_000.0)))
    simulation.run_until(15_000_000)  # within a window
    w = simulation._world.arrays
    keeping = next(keeping for keeping in simulation._world.keepings if keeping is SimilarityJoin.keeping)
    joins = np.flatnonzero([simulation._world.keepings[o] is keeping for o in w.inst[:, L.I_OP]])
    entries = w.entry[np.concatenate([keeping.in_order(w, i) for i in joins])]  # type: ignore[misc]
    assert len(entries) > 5
    assert (entries[:, S_INDEXED] == entries[:, L.S_LEFT] + entries[:, L.S_LEFT + L.S_SIDE]).all()
    assert (entries[:, S_FOUND] >= 0).all()
    assert entries[:, S_FOUND].sum() > 0


@given(
    turns=st.lists(st.one_of(st.floats(-1, 1), st.integers(-40, 40).map(lambda n: n / 40)), min_size=2, max_size=40),
    lengths=st.sampled_from([1.0, 1e-3, 1e6]),
    reach=st.sampled_from([1e-5, 0.025, 0.05, 0.3, 0.975, 1 - 1e-5]),
)
def test_what_lies_within_an_angle_is_what_comparing_finds(turns: list[float], lengths: float, reach: float) -> None:
    """Or the search says that a record is too near to the threshold."""
    vectors = lengths * np.stack([np.cos(np.pi * np.array(turns)), np.sin(np.pi * np.array(turns))], axis=1)
    first = L.R_VALUES
    rows, entry = np.zeros((len(vectors), first + TREE_WORDS), np.int64), np.zeros((1, INDEX_END), np.int64)
    root = np.int64(0)
    with np.errstate(over="ignore"):
        for r, (x, y) in enumerate(vectors[1:]):
            root = add_to_tree(rows, rows.view(np.float64), first, root, np.int64(r), turn_of(x, y), r)
    clear_found(entry, 0, S_FOUND)
    margin = MARGIN / min(reach, 1 - reach)
    find_turns(rows, rows.view(np.float64), first, root, turn_of(*vectors[0]), reach, margin, 0, entry, 0)
    squares = (vectors * vectors).sum(axis=1)
    compared = [angular(vectors[0] @ vector, squares[0], square) for vector, square in zip(vectors[1:], squares[1:], strict=True)]
    assert entry[0, S_FOUND + FOUND_NEAR] == 1 or entry[0, S_FOUND] == sum(far <= reach for far in compared)
    if min(abs(far - reach) for far in compared) > 1e-6 and all(abs(abs(turn) - 1) > 1e-6 for turn in turns):
        assert entry[0, S_FOUND + FOUND_NEAR] == (abs(abs(turn_of(*vectors[0])) - 1 + reach) < 1e-6)


@given(
    a=st.lists(st.floats(-3, 3), min_size=2, max_size=2),
    b=st.lists(st.floats(-3, 3), min_size=2, max_size=2),
    size=st.sampled_from([1.0, 1e-80, 1e-150, 1e80, 1e200]),
    reach=st.floats(1e-9, 1.0),
    name=st.sampled_from(["angular", "euclidean"]),
)
def test_what_is_beyond_a_bound_is_farther_than_its_distance(a: list[float], b: list[float], size: float, reach: float, name: str) -> None:
    about = DISTANCES[name].code
    left, right = np.array(a) * size, np.array(b) * size
    with np.errstate(all="ignore"):
        numbers = left @ right, left @ left, right @ right, (left - right) @ (left - right)
        far = distance_up_to(about, *numbers, bound_of(name, reach))
        true = distance(about, *numbers)
    assert far == true or (far != far and true != true) or (far == BEYOND and not true <= reach)  # a vector that is too long has no angle


# --- the rules ----------------------------------------------------------------------------------------------------------------------------


def test_of_two_spaces_one_finds_the_pairs_between_them() -> None:
    assert [meets_here(*ij) for ij in ((0, 1), (1, 0), (0, 2), (2, 0))] == [False, True, True, False]
    assert all(meets_here(i, j) != meets_here(j, i) for i, j in permutations(range(50), 2))


def test_the_centroids_of_seed_42_are_the_published_ones() -> None:
    found = [[round(x, 6) for x in centroid] for centroid in centroids(5, 2, 42)]
    expected = [(0.455127, 0.366447), (-0.382561, -0.445843), (0.331098, 0.806745), (-0.262434, -0.448504), (-0.072693, 0.565804)]
    assert found == [list(centroid) for centroid in expected]
    steps = (np.arange(1000) + 0.5) / 500 - 1
    square = (steps[:, None] + 1j * steps).ravel()
    nearest = np.array([np.abs(np.angle(square / complex(*centroid))) for centroid in expected]).argmin(axis=0)
    assert np.bincount(nearest) / 10_000 == pytest.approx([26.5, 19.8, 7.6, 23.1, 22.9], abs=0.1)


def test_arc_cosines_are_equal_in_kernels_and_arrays_and_right() -> None:
    draws = np.random.default_rng(7)
    near = 10.0 ** draws.uniform(-17, 0, 3000)
    x = np.concatenate([draws.uniform(-1, 1, 3000), 1 - near, near - 1, near, -near, [-1.5, -1, -0.5, 0, 0.5, 1, 1.5]])
    found = arccos(x)
    true = np.array([math.acos(max(-1.0, min(1.0, value))) for value in x])
    assert (np.abs(found - true) <= np.spacing(true)).all()
    assert [float(trigonometry.arccos(value)) for value in x] == found.tolist()
    assert math.isnan(arccos(np.array([math.nan]))[0])
    assert math.isnan(trigonometry.arccos(np.float64(math.nan)))


def alone(formulation: twin.WorksetFormulation, join: twin.SimilarityJoin, spaces: int, records: list[tuple[str, int, list[float]]]) -> Any:
    """All pairs that these find if records come one after the other."""
    names = [f"x{n + 1}" for n in range(len(records[0][2]))]
    found: Counter[tuple[int, int]] = Counter()
    params = formulation.params
    schema = RecordSchema.of(**dict.fromkeys(names, "float"))
    partition = twin.SpacePartitioner(params.model_copy(update={"spaces": spaces, "seed": 42, "coordinates": tuple(names)}), {"in": schema})
    for port, id, vector in records:
        record = Record({"id": id, **dict(zip(names, vector, strict=True))}, 0, 0)
        for copied in partition.on_record(record, "in", 0)[1]:
            for sent in formulation.on_record(copied, port, 0)[1]:
                side = sent.port.removeprefix("out_")
                found.update((pair.values["id"], pair.values["right_id"]) for pair in join.on_record(sent, side, 0)[1])
    return found


class Numbers(twin.SimilarityJoin):
    """A pair is two numbers."""

    def pair(self, came_last: Record, port: str, other: Record, bounds: tuple[int, int] = (0, 0)) -> Record:
        left, right = (came_last, other) if port == "left" else (other, came_last)
        return Record({"id": left.values["id"], "right_id": right.values["id"]}, 0, 0)


class Literal(twin.WorksetFormulation):
    """Outer records only beyond half the threshold, as definition 2.10 of the source has it, for those of other spaces, too."""

    def needs(self, far: float) -> bool:
        return self.params.threshold / 2 < far <= 2 * self.params.threshold


@pytest.mark.parametrize("spaces", [10, 20])
def test_the_definition_as_printed_misses_pairs(spaces: int) -> None:
    experiment = engine.spec.Experiment.model_validate(worksets(window={"kind": "full_history"}))
    operators = {operator.id: operator.parameters for operator in experiment.query.operators}
    schemas = {side: engine.spec.RecordSchema.of(id="int", x1="float", x2="float") for side in ("left", "right")}
    stored = {side: with_fields(schema, {"workset": "int", "role": "int", "worker": "int"}) for side, schema in schemas.items()}
    draws = np.random.default_rng(3).uniform(-1, 1, (2, 150, 2))
    records = [(("left", "right")[n % 2], n // 2, draws[n % 2, n // 2].tolist()) for n in range(300)]
    apart = np.array([[twin.distance("angular", a.tolist(), b.tolist()) for b in draws[1]] for a in draws[0]])
    expected = Counter(zip(*(found.tolist() for found in np.nonzero(apart <= 0.05)), strict=True))
    repaired, literal = (
        alone(kind(operators["worksets"], schemas), Numbers(operators["join"], stored), spaces, records)
        for kind in (twin.WorksetFormulation, Literal)
    )
    assert repaired == expected
    assert (expected - literal).total() > 0
    assert not literal - expected


def test_a_copy_that_came_before_its_workset_is_found() -> None:
    """Few records and many spaces: most worksets are opened after the copies from other spaces came."""
    document = worksets(20, 0.1, per_s=2000.0, window={"kind": "full_history"})
    assert pairs(traced(document)) == true_pairs(document, 0.1, None)


@pytest.mark.parametrize("window", [TUMBLING, SLIDING], ids=lambda window: window["kind"])
@pytest.mark.parametrize("make", [worksets, self_join], ids=lambda make: make.__name__)
def test_worksets_without_records_are_dropped_and_no_pair_is(make: Any, window: dict[str, Any]) -> None:
    """Few records, so that most worksets have none in the next window. Late and disordered ones come for windows before."""
    document = make(threshold=0.02, per_s=1500.0, window=window, horizon_s=0.2)
    for source in document["workload"]["sources"].values():
        source["disorder"] = {"kind": "uniform", "max_ms": 6.0}
    document["measurement"] = {"frame_ms": 10}
    kept, dropped = (traced(with_params(document, "worksets", centroid_ttl_windows=windows)) for windows in (None, 1))
    ordered = (
        sorted if make is self_join else list
    )  # the later record of a self-join is the left one, and which is later follows from costs
    found, expected = (Counter(tuple(ordered(pair)) for pair in pairs(run).elements()) for run in (dropped, kept))
    assert found == expected
    measured, measured_less = (run.summary()["operators"]["worksets"]["read"] for run in (kept, dropped))
    assert measured_less < 0.9 * measured


def test_worksets_are_dropped_when_enough_windows_have_ended() -> None:
    """From 60 ms on all records are near one direction. The windows of 20 ms that others were in end by then, the next ones 20 ms later."""
    document = with_params(worksets(1, 0.02, per_s=4000.0, horizon_s=0.14), "worksets", centroid_ttl_windows=1)
    for source in document["workload"]["sources"].values():
        alike = source["stream"] | {"law": "clustered", "clusters": 1, "spread": 0.01, "centres": "common"}
        source["stream"] = {"kind": "switched", "before": source["stream"], "at_s": 0.06, "after": alike}
    document["measurement"] = {"frame_ms": 1}
    frames = engine.run(document).frames
    opened = {number: frame["t_s"] for frame in frames for _, number, *_ in frame["spaces"]["join"]["worksets"]}
    dropped = {number: frame["t_s"] for frame in frames for _, number in frame["spaces"]["join"]["dropped"]}
    before = {number for number, t_s in opened.items() if t_s < 0.06}
    assert len(before) > 40
    assert len(before - dropped.keys()) <= 2, "those that the records are still near"
    assert max(dropped[number] for number in before & dropped.keys()) < 0.085
    assert min(dropped.values()) > 0.04


def test_a_copy_waits_for_worksets_of_its_last_window() -> None:
    """Few records, so that worksets are opened until the end, long after the first window of a copy has ended."""
    assert_agreement(worksets(5, 0.01, per_s=1500.0, window=SLIDING, horizon_s=0.1))


def test_comparisons_are_those_of_the_rules() -> None:
    """2-D, uniform: about 36 of 100 pairs are of two inner records and need no comparison; brute force compares all with all."""
    document = worksets(5, 0.01, per_s=40_000.0, window={"kind": "full_history"})
    simulation = traced(document)
    found = pairs(simulation).total()
    operators = simulation.summary()["operators"]
    specs = simulation.experiment.query.operators
    first = sum(spec.parallelism for spec in specs[: [spec.id for spec in specs].index("join")])
    price = PRICE_LISTS["reference"].prices["join"]
    busy_ps = 1000 * sum(end - start for i, start, end, kind in services_of(simulation) if first <= i < first + 5 and kind == 0)
    compared = (busy_ps - operators["join"]["in"] * price.record_ps - found * price.output_ps) / 300_000
    assert 1.5 < compared / found < 1.8


# --- what is refused ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operator", "params", "says"),
    [
        ("left-spaces", {"threshold": 0}, "must be above 0"),
        ("left-spaces", {"threshold": 1.5}, "no two vectors are farther apart than 1"),
        ("left-spaces", {"distance": "cosine"}, "does not meet the triangle inequality"),
        ("left-spaces", {"distance": "angle"}, "distance 'angle' is unknown; did you mean 'angular'?"),
        ("left-spaces", {"spaces": 0}, "must be at least 1"),
        ("left-spaces", {"coordinates": ["x1", "x9"]}, "'x9', which is not a field of the input"),
        ("left-spaces", {"coordinates": ["x1", "id"]}, "'id', which is int; a coordinate is a float"),
        ("left-spaces", {"coordinates": ["x1", "x1"]}, "'x1' twice"),
        ("left-spaces", {"coordinates": []}, "must have at least 1"),
        ("worksets", {"right_coordinates": ["x1"]}, "left_coordinates names 2 coordinates, right_coordinates 1"),
        ("worksets", {"window": {"kind": "tumbling", "size_s": 0}}, "must be above 0"),
        ("worksets", {"workers": 0}, "must be at least 1"),
        ("worksets", {"window": {"kind": "full_history"}, "lateness_ms": 1.0}, "no record is late"),
        ("worksets", {"window": {"kind": "full_history"}, "centroid_ttl_windows": 1}, "no watermark ends the windows"),
        ("worksets", {"window": TUMBLING | {"clock": "processing"}, "centroid_ttl_windows": 1}, "no watermark ends the windows"),
        ("worksets", {"centroid_ttl_windows": 0}, "must be at least 1"),
        ("join", {"pairs": "counted"}, "pairs are counted, so there is only their number"),
        ("join", {"pairs": "many"}, "must be 'each' or 'counted'"),
        ("sink", {"counted_by": "pairs"}, "counted_by is 'pairs', which is no int field of the input"),
        ("join", {"threshold": -0.1}, "must be above 0"),
        ("join", {"left_coordinates": ["x1"]}, "left_coordinates names 1 coordinates, right_coordinates 2"),
        ("left-spaces", {"distance": "edit"}, "'x1', which is float; edit distance is between strings"),
    ],
)
def test_wrong_parameters_are_refused_where_they_stand(operator: str, params: dict[str, Any], says: str) -> None:
    problems = validate(with_params(worksets(), operator, **params))
    assert any(says in problem.message for problem in problems), problems
    place = next(n for n, spec in enumerate(worksets()["query"]["operators"]) if spec["id"] == operator)
    assert all(problem.pointer.startswith(f"/query/operators/{place}/params") for problem in problems if says in problem.message)


@pytest.mark.parametrize(
    ("make", "operator", "params", "says"),
    [
        (worksets, "right-spaces", {"seed": 43}, "seed is 43, but 'left-spaces' of the same similarity join has 42"),
        (worksets, "right-spaces", {"spaces": 4}, "spaces is 4, but 'left-spaces'"),
        (worksets, "worksets", {"threshold": 0.04}, "threshold is 0.04, but 'left-spaces'"),
        (worksets, "join", {"threshold": 0.04}, "threshold is 0.04, but 'worksets'"),
        (worksets, "join", {"distance": "euclidean"}, "distance is 'euclidean', but 'worksets'"),
        (worksets, "join", {"window": {"kind": "tumbling", "size_s": 0.03}}, "window is kind tumbling, size_s 0.03"),
        (worksets, "join", {"lateness_ms": 1.0}, "lateness_ms is 1, but 'worksets'"),
        (worksets, "worksets", {"workers": 2}, "workers is 2, but 'join', which its records go to, has 3 instances"),
        (clusters, "right-spaces", {"keys": 100}, "keys is 100, but 'left-spaces'"),
        (clusters, "left-spaces", {"workers": 2}, "workers is 2, but 'join'"),
        (clusters, "join", {"threshold": 0.04}, "threshold is 0.04, but 'left-spaces'"),
        (self_join, "worksets", {"threshold": 0.04}, "threshold is 0.04, but 'left-spaces'"),
        (self_join, "worksets", {"workers": 2}, "workers is 2, but 'join'"),
        (self_join, "join", {"lateness_ms": 1.0}, "lateness_ms is 1, but 'worksets'"),
        (self_join, "join", {"coordinates": ["x1", "x9"]}, "coordinates names 'x9', which is not a field of the input"),
        (self_join, "join", {"key": "id_"}, "key 'id_' is not a field of the input"),
    ],
)
def test_operators_of_one_join_have_to_agree(make: Any, operator: str, params: dict[str, Any], says: str) -> None:
    problems = validate(with_params(make(), operator, **params))
    assert any(says in problem.message for problem in problems), problems


@pytest.mark.parametrize(
    ("measurement", "place"),
    [
        ({"latency": {"from": "ingest", "anchor": "oldest"}}, "/measurement/latency/anchor"),
        ({"also": [{"name": "m", "from": "append", "anchor": "mixed"}]}, "/measurement/also/0/anchor"),
        ({"also": [{"name": "m", "from": "event", "anchor": "newest"}]}, "/measurement/also/0/from"),
    ],
)
def test_latencies_that_counted_pairs_do_not_have_are_refused(measurement: dict[str, Any], place: str) -> None:
    assert validate(worksets() | {"measurement": measurement}) == []
    problems = validate(counted(worksets()) | {"measurement": measurement})
    assert [(problem.pointer, problem.code) for problem in problems] == [(place, "not_with_counted_pairs")]


def test_whole_vectors_are_refused_where_a_value_is_wanted() -> None:
    document = whole(worksets(dimensions=3))
    for params, says in [
        ({"left_coordinates": ["v", "v"]}, "left_coordinates names 'v', which is a whole vector, beside other fields; name it alone"),
        ({"left_key": "v", "right_key": "v"}, "left_key 'v' is a vector; join on an int, string, bool or timestamp field"),
    ]:
        assert says in {problem.message for problem in validate(with_params(document, "join", **params))}
    document["query"]["operators"][2] |= {"kind": "filter", "params": {"predicate": "v > 0"}}
    assert any("'v' is a vector, which has no value here" in problem.message for problem in validate(document))


def test_texts_are_compared_alone_and_by_edits() -> None:
    document = texts(worksets(threshold=2))
    for params, says in [
        ({"coordinates": ["name", "email"]}, "coordinates names 'name', which is a string, beside other fields; name it alone"),
        ({"distance": "euclidean"}, "coordinates names 'name', which is string; a coordinate is a float"),
        ({"coordinates": ["id"]}, "coordinates names 'id', which is int; edit distance is between strings"),
    ]:
        assert says in {problem.message for problem in validate(with_params(document, "left-spaces", **params))}


def test_vectors_of_two_kinds_are_not_compared() -> None:
    document = worksets(dimensions=2)
    document["workload"]["sources"]["right"]["stream"] |= {"fields": "vector"}
    document = with_params(document, "right-spaces", coordinates=["v"])
    document = with_params(document, "worksets", right_coordinates=["v"])
    says = "left_coordinates are of the type float, right_coordinates vector; use vectors on both sides, or fields on both"
    assert any(says in problem.message for problem in validate(document))


@pytest.mark.parametrize(("stream", "says"), [
    ({"dimensions": 51}, "dimensions is 51, but fields is 'coordinates', of which records have at most 50; choose fewer, or 'vector'"),
    ({"dimensions": 5000, "fields": "vector"}, "must be at most 4,096"),
    ({"fields": "one"}, "must be 'coordinates' or 'vector'")])  # fmt: skip
def test_wrong_vectors_are_refused(stream: dict[str, Any], says: str) -> None:
    document = worksets()
    document["workload"]["sources"]["left"]["stream"] |= stream
    assert any(says in problem.message for problem in validate(document)), validate(document)


def test_more_coordinates_than_memory_holds_are_refused() -> None:
    document = whole(worksets(dimensions=4096, per_s=2_000_000.0))
    [problem] = [problem for problem in validate(document) if problem.code == "budget"]
    assert (problem.pointer, problem.value) == ("/workload/sources/left/stream", 2 * 100_000 * 4096)
    assert "coordinates, 619,200,000 above the budget of 200,000,000, most of them at 'left'; lower the rate" in problem.message


def test_fewer_spaces_than_instances_are_refused() -> None:
    document = with_params(with_params(worksets(), "left-spaces", spaces=2), "right-spaces", spaces=2)
    assert [problem.code for problem in validate(document)] == ["too_few_spaces"]


def test_operators_in_the_wrong_order_are_refused() -> None:
    document = worksets()
    document["query"]["operators"][2] |= {"kind": "union", "params": {}}
    assert any("put a space partitioner in front of it" in problem.message for problem in validate(document))


def test_worksets_by_hash_of_something_else_are_refused() -> None:
    document = worksets()
    for edge in document["query"]["edges"]:
        if edge["target"] == "join":
            edge["partitioning"] = {"kind": "hash", "key": "workset"}
    assert any("'join' is keyed by 'worker'" in problem.message for problem in validate(document))


def test_a_vector_without_direction_is_an_error_and_no_pair() -> None:
    """Points on a grid: some are at the origin."""
    document = worksets(dimensions=1)
    grid = {"fields": [{"name": "id", "expression": "id"}, {"name": "x1", "expression": "floor(x1 * 3) * 1.0"}]}
    document["workload"]["sources"] = {side: vectors(3000.0, 1) for side in ("left", "right")}
    for side in ("left", "right"):
        document["query"]["operators"].append({"id": f"{side}-grid", "kind": "map", "params": grid})
        edge = next(edge for edge in document["query"]["edges"] if edge["source"] == side)
        document["query"]["edges"].append({**edge, "source": f"{side}-grid"})
        edge |= {"target": f"{side}-grid", "partitioning": {"kind": "forward"}}
    result = assert_agreement(document)
    assert result.errors > 30
