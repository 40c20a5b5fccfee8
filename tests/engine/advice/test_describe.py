"""Experiments as cost models know them: what is drawn for a corpus comes back from its document, and what models do not know is named."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from engine.advice.describe import NotDescribed, describe
from engine.advice.predicates import Comparison, comparison
from engine.corpus import selectivities
from engine.corpus.experiments import experiment
from engine.corpus.queries import DrawnQuery
from engine.corpus.traces import trace
from engine.costmodels.description import Filter, Operator, Sink, Source, Window, WindowedAggregate
from engine.spec import load

from ...support.tiers import tier

Document = dict[str, Any]


def no_files(name: str) -> None:
    return None


def as_ints(of: Operator) -> Operator:
    """Doubles are no keys in documents: an integer stands for them."""
    if getattr(of, "key", "") == "double":
        return replace(of, key="int")  # type: ignore[call-arg]
    return replace(of, group_by="int") if getattr(of, "group_by", "") == "double" else of  # type: ignore[call-arg]


def test_a_drawn_query_comes_back_from_its_document() -> None:
    for index in range(tier(ci=25, all=300)):
        of = trace("tests", 1, index)
        found = describe(load(experiment(of, seed=3, horizon_s=5)), no_files)
        assert [as_ints(of.query.operators[number]) for number in found.order] == list(found.query.operators)
        assert len(found.query.edges) == len(of.query.edges)
        features = [(host.cpu_percent, host.ram_mb, host.mbit_per_s, host.latency_ms) for host in of.hosts]
        assert [(host.cpu_percent, host.ram_mb, host.mbit_per_s, host.latency_ms) for host in found.hosts] == features


def test_what_the_engine_makes_of_a_document_is_not_described() -> None:
    """Other prices, memory and faults give other costs and the same features: models cannot read the engine's constants."""
    document = experiment(trace("tests", 1, 1), seed=3, horizon_s=5)
    other = deepcopy(document) | {"prices": "reference"}
    for host in other["cluster"]["hosts"]:
        host["memory"] = {"kind": "budget", "base_mb": 10}
    other["policies"]["flow_control"]["per_channel"] = 10
    assert describe(load(other), no_files) == describe(load(document), no_files)


def test_selectivities_of_a_document_are_those_of_the_streams_that_were_drawn() -> None:
    """Two samples of a thousand records differ a little. Behind a join or an aggregate there are fewer, of some groups or of one."""
    for index in range(tier(ci=12, all=200)):
        of = trace("tests", 1, index)
        found = describe(load(experiment(of, seed=3, horizon_s=60)), no_files)
        drawn = selectivities.estimated(of.query, 1, "tests", index)
        for number, share in zip(found.order, found.selectivities, strict=True):
            senders = [of.query.operators[sender] for sender in of.query.senders[number]]
            if isinstance(of.query.operators[number], Filter) and isinstance(senders[0], Source):
                assert share == pytest.approx(drawn[number], abs=0.12)


AGGREGATE = WindowedAggregate("sum", "int", "string", Window("tumbling", "time", 4000, 4000))


def changed(id: str = "filter", params: Document | None = None, **fields: Any) -> Document:
    """A source, a filter, an aggregate and a sink on one host, with other parameters or fields of one of them."""
    drawn = trace("tests", 1, 0)
    query = DrawnQuery((Source(400, 3, 3, 3), Filter("<", "int", 3), AGGREGATE, Sink()), ((0, 1), (1, 2), (2, 3)), "linear")
    document = experiment(replace(drawn, query=query, placed=(0, 0, 0, 0)), seed=1, horizon_s=5)
    operator = next(operator for operator in document["query"]["operators"] if operator["id"] == id)
    operator.update(fields)
    operator["params"] = ({} if "kind" in fields else operator.get("params", {})) | (params or {})
    for edge in document["query"]["edges"] if "parallelism" in fields else ():
        edge["partitioning"] = {"kind": "rebalance"}
    return document


@pytest.mark.parametrize(
    ("document", "operator", "reason"),
    [
        (changed(parallelism=2), "filter", "parallelism 2; models know one instance"),
        (changed(kind="union"), "filter", "of kind union"),
        (changed(params={"predicate": "i1 < 3 and i2 > 4"}), "filter", "one comparison of a field with a constant"),
        (changed("aggregate", {"aggregates": [{"name": "n", "function": "count_distinct", "field": "i1"}]}), "aggregate", "count_distinct"),
        (changed("aggregate", {"window": {"kind": "none"}, "emit": "on_update", "evaluation": "incremental"}), "aggregate", "window none"),
    ],
    ids=["parallelism", "kind", "predicate", "function", "window"],
)
def test_what_models_do_not_know_is_named(document: Document, operator: str, reason: str) -> None:
    with pytest.raises(NotDescribed) as found:
        describe(load(document), no_files)
    assert [one.operator for one in found.value.unknown] == [operator]
    assert reason in str(found.value)


@pytest.mark.parametrize(
    ("predicate", "found"),
    [
        ("i1 < 3", Comparison("i1", "<", 3)),
        ("-2.5 >= f1", Comparison("f1", "<=", -2.5)),
        ("state == 'OR'", Comparison("state", "=", "OR")),
        ("not startswith(name, 'a')", Comparison("name", "not startswith", "a")),
        ("contains(s1, 'f')", Comparison("s1", "contains", "f")),
        ("not i1 < 3", None),
        ("i1 < i2", None),
        ("1 < i1 < 3", None),
        ("length(name) > 3", None),
        ("True", None),
        ("ok == True", None),
    ],
)
def test_predicates_are_one_comparison_or_none(predicate: str, found: Comparison | None) -> None:
    assert comparison(predicate) == found
