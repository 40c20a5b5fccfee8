"""What is refused of a document's part on scaling, by its models alone and with the rest of the document: the field, the value, and what
would be right."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from engine.spec import load, validate
from engine.spec.experiment.scaling import AnyScaling
from engine.spec.rules.max_layout import greatest, laid_out, partitions

from .documents import CONTEXT, changed, looped, trips

SCALING: TypeAdapter[Any] = TypeAdapter(AnyScaling)


def refused(document: dict[str, Any]) -> str:
    with pytest.raises(ValidationError) as failure:
        SCALING.validate_python(document)
    return str(failure.value)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"kind": "manual", "operators": {"a": {"min": 5, "max": 4}}}, r"max is 4, below min \(5\)"),
        ({"kind": "manual", "orders": [{"at_s": 5, "parallelism": {"a": 2}}] * 2}, "at_s is 5 in two orders"),
        ({"kind": "manual", "orders": [{"at_s": 5, "parallelism": {}}]}, "at least 1 item"),
        ({"kind": "manual", "orders": [{"at_s": 5, "parallelism": {"a": 0}}]}, "greater than or equal to 1"),
        ({"kind": "manual", "slo_s": 0}, "greater than 0"),
        ({"kind": "ds2", "every_s": 12}, "every_s is 12; it must be a multiple of scrape_s, 5"),
        ({"kind": "ds2", "every_s": 2}, "every_s is 2; it must be a multiple of scrape_s, 5"),
        ({"kind": "ds2", "metrics": {"window_s": 5}}, "window_s is 5, .* a multiple of scrape_s, at least twice as long"),
        ({"kind": "ds2", "metrics": {"window_s": 12}}, "window_s is 12"),
        ({"kind": "ds2", "metrics": {"meter_s": 61}}, "meter_s is 61"),
        ({"kind": "ds2", "over_provisioning": 0.9}, "greater than or equal to 1"),
        ({"kind": "dhalion", "keep": 1}, "less than 1"),
        ({"kind": "dhalion", "beta_max": 1}, "less than 1"),
        ({"kind": "flink", "utilization_min": 0.7}, "utilization_min is 0.7, but the target is 0.7; it must be below the target"),
        ({"kind": "flink", "utilization_max": 0.65}, "utilization_max is 0.65, but the target is 0.7; it must be above the target"),
        ({"kind": "flink", "preset": "tuned", "utilization_target": 0.9}, "utilization_max is 0.8, but the target is 0.9"),
        ({"kind": "flink", "utilization_target": 0}, "utilization_target is 0, so no parallelism would be enough"),
        ({"kind": "flink", "parallelism_min": 300}, r"parallelism_max is 200, below parallelism_min \(300\)"),
        ({"kind": "flink", "window_s": 10}, r"window_s is 10, below every_s \(15\), so no window would be complete when a decision is due"),
        ({"kind": "flink", "preset": "tuned", "every_s": 300}, r"window_s is 120, below every_s \(300\)"),
        ({"kind": "hpa_varga", "slope_s": 4}, r"slope_s is 4, below scrape_s \(5\), so no growth would ever be known"),
        ({"kind": "varga_original", "slope_s": 4}, r"slope_s is 4, below scrape_s \(5\)"),
        ({"kind": "fixed", "for": "mean"}, "per_input is empty, but the lowest parallelism for the mean of the load depends on it"),
        ({"kind": "oracle"}, "per_input is empty"),
        ({"kind": "hpa_cpu", "target": 0}, "greater than 0"),
        ({"kind": "ds2_original", "activation": 0}, "greater than or equal to 1"),
        ({"kind": "ds2_original", "every_s": 12}, "every_s is 12; it must be a multiple of scrape_s, 5"),
        ({"kind": "ds2_original", "rate_ratio_max": 0.5}, "greater than or equal to 1"),
        ({"kind": "ds2_original", "over_provisioning": 1.2}, "over_provisioning"),
        ({"kind": "dhalion_heron", "factor_max": 0}, "greater than 0"),
        ({"kind": "hpa_k8s", "tolerance": 1}, "less than 1"),
        ({"kind": "varga_original", "up_times": 0.5}, "greater than or equal to 1"),
        ({"kind": "hpa_cpu", "cooldown": 3}, "cooldown"),
    ],
)
def test_refused(document: dict[str, Any], words: str) -> None:
    assert re.search(words, refused(document))


def test_taken() -> None:
    assert SCALING.validate_python({"kind": "none"}).kind == "none"
    assert SCALING.validate_python({"kind": "hpa_cpu", "cooldown_s": 0}).cooldown_s == 0
    assert SCALING.validate_python({"kind": "flink", "window_s": 15}).every_s == 15
    assert SCALING.validate_python({"kind": "hpa_varga", "slope_s": 5}).metrics.scrape_s == 5
    assert SCALING.validate_python({"kind": "oracle", "drain_s": None, "per_input": {"a": 1}}).drain_s is None
    written = SCALING.validate_python({"kind": "fixed", "for": "maximum", "per_input": {"a": 1}}).model_dump(by_alias=True)
    assert SCALING.validate_python(written).for_ == "maximum"


def test_every_field_has_a_title_and_a_help() -> None:
    """Forms are drawn from them."""
    schema = SCALING.json_schema()
    for model in schema["$defs"].values():
        for name, field in model["properties"].items():
            if name != "kind":
                assert field.get("title") or "$ref" in field, (model["title"], name)
                assert field.get("description"), (model["title"], name)
        assert model["additionalProperties"] is False


# In a document, with the query, the load and the cluster


def counting(scaling: dict[str, Any] | None = None, changes: dict[str, Any] | None = None) -> dict[str, Any]:
    """Bids that are counted by auction: bids -> keep -> count (128 key groups) -> sink, of which bids and keep are one vertex."""
    document = {
        "format": 1,
        "query": {
            "operators": [
                {"id": "bids", "kind": "source", "parallelism": 3},
                {"id": "keep", "kind": "filter", "parallelism": 3, "params": {"predicate": "price > 0"}},
                {
                    "id": "count",
                    "kind": "aggregate",
                    "parallelism": 2,
                    "params": {"key": "auction", "window": {"kind": "tumbling", "size_s": 1}, "emit": "on_close"},
                },
                {"id": "sink", "kind": "sink"},
            ],
            "edges": [
                {"source": "bids", "target": "keep"},
                {"source": "keep", "target": "count", "partitioning": {"kind": "hash", "key": "auction"}},
                {"source": "count", "target": "sink", "partitioning": {"kind": "rebalance"}},
            ],
        },
        "cluster": {"hosts": [{"name": "w", "count": 2, "cores": 4, "processor": {"kind": "shared_fifo"}}]},
        "workload": {
            "horizon_s": 600,
            "sources": {
                "bids": {
                    "stream": {"kind": "nexmark_bid"},
                    "rate": {"kind": "constant", "per_s": 10},
                    "watermarks": {"kind": "bounded", "period_ms": 1000},
                }
            },
        },
        "policies": {"scaling": {"kind": "ds2"} if scaling is None else scaling},
    }
    return changed(document, changes or {})


ORDER = "/policies/scaling/orders/0"
HASH = "/query/edges/1/partitioning"
LOSS = {"kind": "host_loss", "host": "w1", "when": {"kind": "at", "at_s": 5}, "restart_after_s": 1}
DEADLY = {"kind": "budget", "on_full": "die", "restart_after_s": 3}


def manual(*parallelism: dict[str, int], at_s: float = 60, **fields: Any) -> dict[str, Any]:
    orders = [{"at_s": at_s + 60 * n, "parallelism": each} for n, each in enumerate(parallelism)]
    return {"kind": "manual", "orders": orders, **fields}


BAD: dict[str, tuple[dict[str, Any], dict[str, Any], str, str]] = {
    "bounds of nobody": (
        {"kind": "ds2", "operators": {"cuont": {"max": 4}}},
        {},
        "/policies/scaling/operators/cuont",
        "operators names 'cuont', but the query has no such operator",
    ),
    "begins below its least": (
        {"kind": "ds2", "operators": {"count": {"min": 4}}},
        {},
        "/policies/scaling/operators/count/min",
        "min is 4, but 'count' starts with 2; lower it, or give the operator at least 4",
    ),
    "begins above its most": (
        {"kind": "ds2", "operators": {"keep": {"max": 2}}},
        {},
        "/policies/scaling/operators/keep/max",
        "max is 2, but 'keep' starts with 3; raise it, or give the operator at most 2",
    ),
    "bounds of one vertex that exclude each other": (
        {"kind": "ds2", "operators": {"keep": {"max": 4}, "bids": {"min": 5}}},
        {},
        "/policies/scaling/operators/bids/min",
        "min is 5, but 'bids', with bids and keep scaled together, may have at most 4",
    ),
    "more than the key groups": (
        {"kind": "ds2", "operators": {"count": {"max": 129}}},
        {},
        "/policies/scaling/operators/count/max",
        "max is 129, but instances of 'count' share 128 key groups; it must be at most 128",
    ),
    "more than the partitions": (
        {"kind": "ds2", "operators": {"bids": {"max": 13}}},
        {"/workload/sources/bids/partitions": 12},
        "/policies/scaling/operators/bids/max",
        "max is 13, but instances of 'bids' share 12 partitions; it must be at most 12",
    ),
    "more than as many partitions as workers": (
        {"kind": "ds2", "operators": {"keep": {"max": 51}}, "workers_max": 50},
        {},
        "/policies/scaling/operators/keep/max",
        "instances of 'keep' share 50 partitions",
    ),
    "a least above the key groups": (
        {"kind": "ds2", "operators": {"count": {"min": 200}}},
        {},
        "/policies/scaling/operators/count/min",
        "min is 200, but 'count' may have at most 128",
    ),
    "too few workers to begin": (
        {"kind": "ds2", "workers_max": 8},
        {},
        "/policies/scaling/workers_max",
        "workers_max is 8, but the 4 operators start with 9 instances in total; set it to at least 9",
    ),
    "fewer workers than operators": (
        {"kind": "ds2", "workers_max": 3},
        {},
        "/policies/scaling/workers_max",
        "workers_max is 3, but the 4 operators start with 9 instances in total; set it to at least 9",
    ),
    "iterations longer than the run": (
        {"kind": "ds2", "start_s": 0, "every_s": 600},
        {},
        "/policies/scaling/every_s",
        "start_s is 0 and every_s 600, but the horizon is 600 s, so no decision would be taken",
    ),
    "fewer partitions than instances": (
        {"kind": "ds2"},
        {"/workload/sources/bids/partitions": 2},
        "/workload/sources/bids/partitions",
        "partitions is 2, but 'bids' has 3 instances, so some of its instances would get no partition; it must be at least 3",
    ),
    "nothing is ever decided": (
        {"kind": "ds2", "start_s": 585},
        {},
        "/policies/scaling/start_s",
        "start_s is 585 and every_s 15, but the horizon is 600 s, so no decision would be taken",
    ),
    "an order behind the horizon": (manual({"count": 3}, at_s=600), {}, f"{ORDER}/at_s", "at_s is 600, but the horizon is 600 s"),
    "an order for nobody": (
        manual({"cuont": 3}),
        {},
        f"{ORDER}/parallelism/cuont",
        "the order names 'cuont', but the query has no such operator",
    ),
    "an order above the most": (
        manual({"count": 9}, operators={"count": {"max": 8}}),
        {},
        f"{ORDER}/parallelism/count",
        "the order gives 'count' 9, but its max is 8; give at most 8",
    ),
    "an order below the least": (
        manual({"count": 1}, operators={"count": {"min": 2}}),
        {},
        f"{ORDER}/parallelism/count",
        "the order gives 'count' 1, below its min (2)",
    ),
    "an order above the partitions": (
        manual({"keep": 4}),
        {},
        f"{ORDER}/parallelism/keep",
        "the order gives 'keep' 4, but instances share 3 partitions; give at most 3",
    ),
    "an order above the key groups": (
        manual({"count": 9}),
        {f"{HASH}/key_groups": 8},
        f"{ORDER}/parallelism/count",
        "the order gives 'count' 9, but instances share 8 key groups; give at most 8",
    ),
    "an order that tears a vertex apart": (
        manual({"bids": 2, "keep": 3}),
        {},
        f"{ORDER}/parallelism/bids",
        "the order gives 'bids' 2 and 'keep' 3, but forward edges connect them; give both the same",
    ),
    "an order for what stays": (
        manual({"count": 3}),
        {f"{HASH}/scheme": "modulo"},
        f"{ORDER}/parallelism/count",
        "'count' stays at 2: an inbound edge of 'count' is partitioned by modulo",
    ),
    "orders for too many workers": (
        manual({"count": 6}, {"sink": 5}, workers_max=14),
        {},
        "/policies/scaling/orders/1/parallelism",
        "the order needs 17 instances, but workers_max is 14; order fewer, or raise workers_max",
    ),
    "an order for too many workers, whatever the policy makes of the rest": (
        {"kind": "ds2", "workers_max": 14, "orders": manual({"count": 12})["orders"]},
        {},
        f"{ORDER}/parallelism",
        "the order needs 15 instances, but workers_max is 14",
    ),
    "orders for too many workers, with the document's parallelisms": (
        manual({"count": 6}, {"sink": 5}, workers_max=14) | {"kind": "fixed"},
        {},
        "/policies/scaling/orders/1/parallelism",
        "the order needs 17 instances, but workers_max is 14; order fewer, or raise workers_max",
    ),
    "too many scrapes": (
        {"kind": "ds2", "every_s": 0.01, "metrics": {"scrape_s": 0.001, "window_s": 0.002, "meter_s": 0.001}},
        {},
        "/policies/scaling/metrics/scrape_s",
        "scrape_s is 0.001, which gives 600,000 scrapes, more than 200,000; it must be at least 0.003",
    ),
    "too long for the oracle": (
        {"kind": "oracle", "per_input": {"bids": 1, "keep": 1, "count": 1, "sink": 0.1}},
        {"/workload/horizon_s": 86_460},
        "/workload/horizon_s",
        "horizon_s is 86460, 1,441 minutes, but the oracle plans at most 1,440; it must be at most 86400",
    ),
    "two orders at one time": ({"kind": "manual", "orders": [{"at_s": 5, "parallelism": {"count": 2}}] * 2}, {},
        "/policies/scaling/orders/1/at_s", "at_s is 5 in two orders"),
    "shares of nobody": (
        {"kind": "oracle", "per_input": {"bids": 1, "keep": 1, "count": 1, "sink": 1, "join": 1}},
        {},
        "/policies/scaling/per_input/join",
        "per_input names 'join', but the query has no such operator",
    ),
    "shares that are missing": (
        {"kind": "fixed", "for": "mean", "per_input": {"bids": 1, "sink": 0.2}},
        {},
        "/policies/scaling/per_input",
        "per_input lacks keep, count; give for each operator how many records it serves per source record",
    ),
    "a protocol that could not cope": (
        {"kind": "ds2"},
        {"/policies/checkpointing": {"kind": "uncoordinated", "interval_s": 5}},
        "/policies/checkpointing/kind",
        "checkpointing is 'uncoordinated', but a rescale replaces channels",
    ),
    "a host that is lost with its state": (
        {"kind": "ds2"},
        {"/faults": [LOSS]},
        "/faults/0/kind",
        "host 'w1' is lost, but without checkpoints its state would be lost",
    ),
    "a host that may die": (
        {"kind": "ds2"},
        {"/cluster/hosts/0/memory": DEADLY},
        "/cluster/hosts/0/memory/restart_after_s",
        "restart_after_s is 3, so host 'w' may die and restart, but without checkpoints",
    ),
    "nothing to scale": (
        {"kind": "hpa_cpu"},
        {"/workload/sources/bids/watermarks/kind": "device", "/query/edges/2/partitioning": {"kind": "forward"},
         "/query/operators/2/parallelism": 1, f"{HASH}/scheme": "modulo"},
        "/policies/scaling/kind",
        "'hpa_cpu' has nothing to scale: devices send 'bids' a watermark per partition",
    ),
    "too few cores of their own for all that may come": (
        {"kind": "ds2", "workers_max": 20},
        {"/cluster/hosts/0/processor/kind": "dedicated", "/cluster/hosts/0/cores": 8},
        "/cluster/hosts/0/cores",
        "cores is 8, but up to 20 of at most 20 instances may run on host 'w1'",
    ),
    "more instances than the budget": (
        {"kind": "ds2", "workers_max": 20_000},
        {"/query/edges/1/partitioning/key_groups": 32_768},
        "/query/operators",
        "operators has 59,992 instances in total at their highest possible parallelism",
    ),
    "an unknown kind": ({"kind": "ds3"}, {}, "/policies/scaling/kind", "ds2"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_refused_in_a_document(name: str) -> None:
    scaling, changes, place, words = BAD[name]
    assert load(counting(), CONTEXT).policies.scaling.kind == "ds2"
    problems = validate(counting(scaling, changes), CONTEXT)
    found = [problem for problem in problems if problem.pointer == place]
    assert found, [(problem.pointer, problem.message) for problem in problems]
    assert words in found[0].message + found[0].hint
    assert all(problem.severity == "error" for problem in found)


PANES: dict[str, dict[str, Any]] = {
    "no window": {"kind": "aggregate", "params": {"emit": "on_update"}},
    "tumbling": {"kind": "aggregate", "params": {"window": {"kind": "tumbling", "size_s": 1}, "emit": "on_close"}},
    "sliding": {"kind": "aggregate", "params": {"window": {"kind": "sliding", "size_s": 4, "slide_s": 1}, "emit": "on_close"}},
    "by the clock": {
        "kind": "aggregate",
        "params": {"window": {"kind": "tumbling", "size_s": 1, "clock": "processing"}, "emit": "on_close"},
    },
    "sessions": {"kind": "session_aggregate", "params": {"gap_s": 2}},
    "of so many records": {"kind": "count_window_aggregate", "params": {"size": 5}},
}


@pytest.mark.parametrize("partitioning", [{"kind": "rebalance"}, {"kind": "hash", "key": "auction"}], ids=["rebalance", "hash"])
@pytest.mark.parametrize("key", [{}, {"key": None}], ids=["no key", "key null"])
@pytest.mark.parametrize("panes", PANES)
def test_a_window_over_all_keys_stays_at_one_instance(panes: str, key: dict[str, Any], partitioning: dict[str, Any]) -> None:
    """Whatever it is called: a policy leaves it alone and scales the others, and nobody can order anything else."""
    spec = {"id": "count", **PANES[panes]}
    spec["params"] = spec["params"] | key
    changes = {"/query/operators/2": spec, "/query/edges/1/partitioning": partitioning}
    assert greatest(load(counting({"kind": "ds2", "workers_max": 20}, changes), CONTEXT)) == {"bids": 9, "keep": 9, "sink": 17}
    for scaling in (manual({"count": 2}), {"kind": "ds2", "orders": manual({"count": 2})["orders"]}):
        (problem,) = validate(counting(scaling, changes), CONTEXT)
        assert (problem.pointer, problem.code) == (f"{ORDER}/parallelism/count", "not_scalable")
        assert problem.message == "'count' stays at 1: 'count' is correct only with at most 1 instances; remove it from the order"
    (problem,) = validate(counting({"kind": "ds2", "workers_max": 20, "operators": {"count": {"min": 2}}}, changes), CONTEXT)
    assert (problem.pointer, problem.code) == ("/policies/scaling/operators/count/min", "not_scalable")
    assert problem.message == "min is 2, but 'count' stays at 1: 'count' is correct only with at most 1 instances; lower it"


def test_a_cycle_is_refused() -> None:
    document = looped()
    document["policies"] = {"scaling": {"kind": "manual"}}
    found = [problem.message for problem in validate(document, CONTEXT) if problem.pointer == "/policies/scaling/kind"]
    assert any("the edge from 'back' to 'join' closes a cycle" in message for message in found)


def test_a_cycle_of_what_is_scaled_as_one_is_refused() -> None:
    """The query has none, but a policy would see bids and all as one. Who follows no rates takes it."""
    rebalance = {"partitioning": {"kind": "rebalance"}}
    changes = {
        "/query/operators": [
            {"id": "bids", "kind": "source", "parallelism": 2},
            {"id": "cheap", "kind": "filter", "parallelism": 3, "params": {"predicate": "price > 0"}},
            {"id": "all", "kind": "union", "parallelism": 2},
            {"id": "sink", "kind": "sink"},
        ],
        "/query/edges": [
            {"source": "bids", "target": "all"},
            {"source": "bids", "target": "cheap", **rebalance},
            {"source": "cheap", "target": "all", **rebalance},
            {"source": "all", "target": "sink", **rebalance},
        ],
    }
    (problem,) = validate(counting({"kind": "ds2"}, changes), CONTEXT)
    assert (problem.pointer, problem.code) == ("/policies/scaling/kind", "cycle")
    assert re.match(
        "forward edges connect bids and all, .* so the edge from '(bids' to 'cheap|cheap' to 'all)' is on a cycle", problem.message
    )
    assert validate(counting({"kind": "manual"}, changes), CONTEXT) == []
    changes["/query/edges"][0] |= rebalance
    assert validate(counting({"kind": "ds2"}, changes), CONTEXT) == []


def test_a_load_that_is_not_known_is_refused() -> None:
    document = trips()
    document["policies"] = {"scaling": {"kind": "oracle", "per_input": {"trips": 1, "mean": 1, "sink": 1}}}
    found = [problem.message for problem in validate(document, CONTEXT) if problem.pointer == "/workload/sources/trips/rate"]
    assert any("the load of 'trips' comes from a file and is not known in advance" in message for message in found)


def test_taken_in_a_document() -> None:
    for scaling, changes in (
        ({"kind": "ds2", "cooldown_s": 0}, {}),
        ({"kind": "manual"}, {}),
        ({"kind": "ds2", "rescaling": {"kind": "in_place", "switch_s": 0}}, {}),
        (manual({"keep": 2}, rescaling={"kind": "in_place"}), {"/policies/checkpointing": {"kind": "coordinated", "interval_s": 5}}),
        (manual({"keep": 2, "count": 7}, {"sink": 2}), {}),
        (manual({"keep": 9}), {"/workload/sources/bids/partitions": 9}),
        ({"kind": "dhalion"}, {"/policies/checkpointing": {"kind": "coordinated", "interval_s": 5}, "/faults": [LOSS]}),
        ({"kind": "oracle", "per_input": {"bids": 1, "keep": 1, "count": 1, "sink": 0.1}}, {}),
        ({"kind": "hpa_varga"}, {f"{HASH}/scheme": "modulo"}),  # the others can be scaled
    ):
        assert validate(counting(scaling, changes), CONTEXT) == []


def test_without_scaling_a_document_has_the_hash_that_it_had() -> None:
    document = counting({"kind": "none"})
    without = counting()
    del without["policies"]
    assert load(document, CONTEXT).hash == load(without, CONTEXT).hash != load(counting(), CONTEXT).hash


def test_how_far_operators_are_laid_out() -> None:
    """Orders as far as the largest goes, policies as far as the others leave them workers."""

    def most(scaling: dict[str, Any], **changes: Any) -> dict[str, int]:
        return greatest(load(counting(scaling, changes), CONTEXT))

    assert most({"kind": "none"}) == {}
    assert most({"kind": "manual"}) == {"bids": 3, "keep": 3, "count": 2, "sink": 1}
    assert most(manual({"count": 7}, {"keep": 1, "count": 4})) == {"bids": 3, "keep": 3, "count": 7, "sink": 1}
    assert most({"kind": "ds2", "workers_max": 20}) == {"bids": 9, "keep": 9, "count": 17, "sink": 17}
    assert most({"kind": "ds2", "workers_max": 20, "operators": {"count": {"min": 2, "max": 5}}})["sink"] == 16
    assert most({"kind": "fixed"}) == most({"kind": "manual"})
    assert greatest(load(counting({"kind": "ds2"}, {"/workload/sources/bids/partitions": 4}), CONTEXT))["bids"] == 4
    experiment = load(counting({"kind": "ds2", "workers_max": 20}), CONTEXT)
    assert partitions(experiment, "bids") == 20
    assert partitions(load(counting({"kind": "manual"}), CONTEXT), "bids") == 3
    larger = laid_out(experiment, greatest(experiment))
    assert larger.workload.sources["bids"].partitions == 20
    assert [spec.parallelism for spec in larger.query.operators] == [9, 9, 17, 17]


def test_a_store_that_is_given_in_part_keeps_the_other_bandwidth() -> None:
    """Not that of the store of checkpoints, which is five times as fast."""
    store = SCALING.validate_python(
        {"kind": "manual", "rescaling": {"kind": "stop_and_restart", "store": {"write_mb_per_s": 50}}}
    ).rescaling.store
    assert (store.write_mb_per_s, store.read_mb_per_s) == (50, 200)
