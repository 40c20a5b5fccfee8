"""Loop and kernels give the same without the compiler (MILLRACE_COMPILE=0), to the last byte and without a warning: for every operator
kind, in every corner case, and in every way to recover and to rescale."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from engine.operators import OPERATORS
from tests.support.contracts import assert_the_same_without_the_compiler
from tests.support.corner_cases import CORNER_CASES, bids, host, watermarks
from tests.support.corner_cases import document as of_parts
from tests.support.death_cases import DEATH_CASES
from tests.support.network_cases import NETWORK_CASES
from tests.support.tiers import only, spread

from ...support.agreement import DATASETS
from ...support.keyed_state_examples import KINDS, document
from ...support.recovery_examples import PROTOCOLS, counting, joining, loss, with_losses
from ...support.rescaling_examples import in_place, order_of, scaled
from ...support.similarity_examples import brute_force, clusters, self_join, texts, whole, worksets

Document = dict[str, Any]


def without_state(processor: str = "dedicated") -> Document:
    """Every kind that keeps nothing, in a row."""
    routes = [{"predicate": "price % 3 == 0"}, {"predicate": "price > 500 or bidder // (auction - auction) == 1"}]
    fields = [{"name": "price", "expression": "-price * 3 // 7 + hash(bidder)"}, {"name": "share", "expression": "price / 7"}]
    operators = [
        {"id": "bids", "kind": "source", "parallelism": 2},
        {"id": "taken", "kind": "receiver", "parallelism": 2},
        {"id": "batches", "kind": "block_receiver", "parallelism": 2, "params": {"batch_s": 0.004}},
        {"id": "some", "kind": "filter", "params": {"predicate": "price % 5 != 0"}},
        {"id": "apart", "kind": "split", "params": {"mode": "copy", "routes": routes}},
        {"id": "both", "kind": "union"},
        {"id": "less", "kind": "project", "params": {"fields": [{"field": "price"}, {"field": "bidder"}]}},
        {"id": "made", "kind": "map", "params": {"fields": fields}},
        {"id": "sink", "kind": "sink"},
    ]
    edges = [
        {"source": "bids", "target": "taken"},
        {"source": "taken", "target": "batches", "partitioning": {"kind": "rebalance"}},
        {"source": "batches", "target": "some", "partitioning": {"kind": "rescale"}},
        {"source": "some", "target": "apart"},
        *({"source": "apart", "source_port": port, "target": "both"} for port in ("out1", "out2", "rest")),
        {"source": "both", "target": "less"},
        {"source": "less", "target": "made"},
        {"source": "made", "target": "sink"},
    ]
    loose = bids(20_000, watermarks=watermarks(1), disorder={"kind": "uniform", "max_ms": 2})
    return of_parts(operators, edges, [host("w", cores=12, processor={"kind": processor})], {"bids": loose})


def test_every_kind_is_tried() -> None:
    similar = [worksets(), self_join(), clusters(), brute_force()]
    found = {operator["kind"] for made in [without_state(), *map(document, KINDS), *similar] for operator in made["query"]["operators"]}
    assert found == {*OPERATORS}


@pytest.mark.parametrize("name", only([*KINDS], ci=[name for name in KINDS if "," not in name or "at firing" in name]))
def test_every_kind_with_state(name: str) -> None:
    made = document(name)
    made["workload"]["horizon_s"] = 0.02
    assert_the_same_without_the_compiler(made)


@pytest.mark.parametrize("make", [worksets, self_join, clusters, brute_force], ids=lambda make: make.__name__)
def test_similarity_joins(make: Callable[..., Document]) -> None:
    assert_the_same_without_the_compiler(make(per_s=1500.0, dimensions=3, horizon_s=0.03))


@pytest.mark.parametrize("form", [whole, texts], ids=lambda form: form.__name__)
def test_similarity_joins_of_what_is_kept_once(form: Callable[[Document], Document]) -> None:
    assert_the_same_without_the_compiler(form(worksets(per_s=1000.0, threshold=0.9, distance="euclidean", horizon_s=0.03)))


@pytest.mark.parametrize("processor", only(["dedicated", "shared_fifo", "pool", "processor_sharing"], ci=["processor_sharing"]))
def test_every_kind_without_state(processor: str) -> None:
    assert_the_same_without_the_compiler(without_state(processor))


@pytest.mark.parametrize("case", spread(CORNER_CASES + NETWORK_CASES + DEATH_CASES, ci=12), ids=lambda case: case.__name__)
def test_corner_cases(case: Callable[[], Document]) -> None:
    assert_the_same_without_the_compiler(case(), datasets=DATASETS)


@pytest.mark.parametrize("job", only([counting, joining], ci=[joining]), ids=lambda job: job.__name__)
@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: protocol.__name__)
def test_recoveries(protocol: Callable[..., Document], job: Callable[..., Document]) -> None:
    made = job(horizon_s=0.06, per_s=1500.0, protocol=protocol(interval_s=0.015, detect_ms=2))
    assert_the_same_without_the_compiler(with_losses(made, [loss("w1", 0.032, 0.005)]))


@pytest.mark.parametrize("rescaling", [in_place, scaled], ids=lambda rescaling: rescaling.__name__)
@pytest.mark.parametrize("name", only(["aggregate, sliding", "session_aggregate", "path_join", "expiring_join"], ci=["session_aggregate"]))
def test_rescales(name: str, rescaling: Callable[..., Document]) -> None:
    made = document(name)
    for source in made["workload"]["sources"].values():
        source["partitions"] = 6
    assert_the_same_without_the_compiler(rescaling(made, [order_of(0.015, kept=2), order_of(0.03, kept=5)]))
