"""Queries written for Spark: their form, what is refused and where, and the files beside the program."""

from __future__ import annotations

import ast
import copy
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from engine.export import NotExported, compiled, difference, write
from engine.export.query import KINDS
from engine.export.sql import literal, quoted, sql
from engine.spec import RecordSchema
from engine.spec.experiment import registry
from engine.spec.expressions.parser import parse
from engine.spec.rules.validation import Context, load

from ...support.agreement import DATASETS, template, with_params
from ...support.stored import in_memory, mirrored, replayed

CONTEXT = Context(datasets=DATASETS)
SCHEMA = RecordSchema.of(a="int", b="int", x="float", y="float", s="string", t="string", p="bool", u="timestamp")

EXPRESSIONS = {
    "a + b * 2": "(`a` + (`b` * 2L))",
    "a % 7": "pmod(`a`, 7L)",
    "a // 10": "(`a` div 10L - IF(`a` % 10L < 0, 1, 0))",
    "a // b": "CASE WHEN `b` = 0 THEN 0L ELSE `a` div `b` - IF(`a` % `b` <> 0 AND (`a` < 0) <> (`b` < 0), 1, 0) END",
    "x / 2": "(`x` / 2.0D)",
    "x < 1": "(`x` < 1.0D AND NOT isnan(`x`))",
    "s < 'O\\'R'": "(`s` < 'O\\'R')",
    "s in ('OR', 'ID')": "`s` IN ('OR', 'ID')",
    "hash(a, p)": "xxhash64(`a`, CAST(`p` AS BIGINT))",
    "hash(s, t)": "xxhash64(`s`, xxhash64(`t`))",
    "startswith(s, 'A') and not p": "(startswith(`s`, 'A') AND (NOT `p`))",
    "a if p else b": "CASE WHEN `p` THEN `a` ELSE `b` END",
}


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expressions_are_written_plainly(text: str) -> None:
    """What they give is compared with Spark in tests/engine/spark/test_spark_expressions.py."""
    assert sql(parse(text, SCHEMA).tree) == EXPRESSIONS[text]


def test_names_and_literals_cannot_end_early() -> None:
    assert quoted("a`b") == "`a``b`"
    assert literal("it's \\ '") == "'it\\'s \\\\ \\''"
    assert [literal(value) for value in (True, 5, -0.5, float("nan"), float("inf"))] == [
        "TRUE",
        "5L",
        "-0.5D",
        "DOUBLE('nan')",
        "DOUBLE('inf')",
    ]


def test_a_join_of_two_streams() -> None:
    query = compiled(load(template("nexmark_q3"), CONTEXT), CONTEXT)
    assert [source.name for source in query.sources] == ["persons", "auctions"]
    assert [view.sql for view in query.views] == [
        "SELECT * FROM `persons` WHERE `state` IN ('OR', 'ID', 'CA')",
        "SELECT l.`name` AS `name`, l.`city` AS `city`, l.`state` AS `state`, r.`id` AS `right_id`\n"
        "FROM `filter` l JOIN `auctions` r\nON l.`id` = r.`seller`",
    ]
    assert query.sinks[0].columns == ("name", "city", "state", "right_id")


REFUSED: dict[str, tuple[Any, list[str]]] = {
    "a window by the clock of the machine": (lambda: template("nexmark_q12"), ["/query/operators/1/params/window/clock"]),
    "early rows": (lambda: template("nexmark_q11"), ["/query/operators/1/params/every"]),
    "a join that expires": (lambda: template("nexmark_q3_ttl"), ["/query/operators/3"]),
    "a window that records end": (lambda: template("nexmark_q4"), ["/query/operators/4/params/window"]),
    "a broadcast and a cycle": (
        lambda: template("checkmate_reachability"),
        ["/query/edges/2/partitioning", "/query/edges/6", "/query/operators/3"],
    ),
    "hosts that drop records": (lambda: dropping(template("nexmark_q2")), ["/policies/ingress"]),
    "real records for one": (lambda: template("nexmark_q2", scale=10), ["/workload/scale"]),
    "rows for each record": (
        lambda: with_params(template("nexmark_q12"), "count", window={"kind": "tumbling", "size_s": 1.0, "clock": "event"}),
        ["/query/operators/1/params/emit"],
    ),
    "an edge for late records": (
        lambda: template("nexmark_q8_windows"),
        ["/query/edges/3/source_port", "/query/operators/2/params/lateness_ms"],
    ),
    "windows named by a field": (lambda: with_window_end(template("nexmark_q8")), ["/query/operators/2/params/left_window_end"]),
    "device watermarks and copies": (lambda: template("klink_ysb"), ["/query/queries/0/copies", "/query/operators/0"]),
}


def with_window_end(document: dict[str, Any]) -> dict[str, Any]:
    params = next(operator for operator in document["query"]["operators"] if operator["id"] == "join")["params"]
    params["window"]["clock"] = "event"
    params["left_window_end"] = "time"
    return document


def dropping(document: dict[str, Any]) -> dict[str, Any]:
    document["policies"] = {**document.get("policies", {}), "ingress": {"kind": "drop", "queued_max": 1000}}
    return document


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_equivalent_is_refused_at_its_place(name: str) -> None:
    make, pointers = REFUSED[name]
    with pytest.raises(NotExported) as refused:
        compiled(load(make(), CONTEXT), CONTEXT)
    found = [problem.pointer for problem in refused.value.problems]
    assert all(problem.code == "not_exported" for problem in refused.value.problems)
    assert found == pointers


def test_a_protocol_is_refused() -> None:
    with pytest.raises(NotExported) as refused:
        compiled(load(template("checkmate_q1") | {"policies": {"checkpointing": {"kind": "coordinated"}}}, CONTEXT), CONTEXT)
    assert [problem.pointer for problem in refused.value.problems] == ["/policies/checkpointing"]


def test_standbys_are_left_out() -> None:
    """Their results are those of their operators, and would come twice."""
    with_a_standby, without = (compiled(load(document)) for document in (mirrored(), in_memory(replayed())))
    assert (with_a_standby.views, with_a_standby.sinks) == (without.views, without.sinks)


def test_windows_behind_a_join_have_no_watermarks() -> None:
    """A pair's event time is that of one of its records, of which Spark makes no watermark."""
    document = template("nexmark_q3")
    counted = {"key": "state", "window": {"kind": "tumbling", "size_s": 1.0}, "emit": "on_close"}
    document["query"]["operators"].append({"id": "count", "kind": "aggregate", "params": counted})
    for edge in document["query"]["edges"]:
        if edge["target"] == "sink":
            edge["target"] = "count"
            edge["partitioning"] = {"kind": "hash", "key": "state"}
    document["query"]["edges"].append({"source": "count", "target": "sink", "partitioning": {"kind": "rebalance"}})
    for source in document["workload"]["sources"].values():
        source["watermarks"] = {"kind": "bounded"}
    document.pop("placement", None)
    document["cluster"]["hosts"][0] |= {"processor": {"kind": "processor_sharing"}}
    with pytest.raises(NotExported, match="no watermarks in Spark"):
        compiled(load(document, CONTEXT), CONTEXT)


def test_names_that_the_program_uses_are_refused() -> None:
    document = with_params(template("nexmark_q1"), "euros", fields=[{"name": "_window", "expression": "auction"}])
    with pytest.raises(NotExported, match="'euros' has a field '_window'"):
        compiled(load(document, CONTEXT), CONTEXT)


def test_views_have_names_of_their_own() -> None:
    """Two operators send to one that is called like a port of another."""
    document = template("nexmark_q2")
    operators, edges = document["query"]["operators"], document["query"]["edges"]
    operators += [{"id": name, "kind": "filter", "params": {"predicate": "auction > 1"}} for name in ("again", "sink_in")]
    rebalanced = {"partitioning": {"kind": "rebalance"}}
    edges += [{"source": "chosen", "target": name} | rebalanced for name in ("again", "sink_in")]
    edges += [{"source": name, "target": "more"} | rebalanced for name in ("again", "sink_in")]
    operators.append({"id": "more", "kind": "sink"})
    document["cluster"]["hosts"][0] |= {"processor": {"kind": "processor_sharing"}}
    document.pop("placement", None)
    query = compiled(load(document, CONTEXT), CONTEXT)
    assert [view.name for view in query.views] == ["`chosen`", "`prices`", "`again`", "`sink_in`", "`more_in`"]
    assert query.views[-1].sql.count("UNION ALL") == 1


def test_a_directory_holds_a_program_and_its_input(tmp_path: Path) -> None:
    experiment = load(template("nexmark_q2", horizon_s=0.5), CONTEXT)
    write(experiment, tmp_path / "made", CONTEXT, batches=3)
    text = (tmp_path / "made" / "query.py").read_text()
    ast.parse(text)
    assert "spark.sql('SELECT * FROM `bids`" in text or 'spark.sql("SELECT * FROM `bids`' in text
    files = sorted((tmp_path / "made" / "input" / "bids").iterdir())
    assert [file.name for file in files] == ["00000.parquet", "00001.parquet", "00002.parquet", "00003.parquet"]
    assert [file.stat().st_mtime for file in files] == sorted(file.stat().st_mtime for file in files)
    tables = [parquet.read_table(file) for file in files]
    assert tables[-1].num_rows == 1
    assert tables[-1]["_event_ns"][0].as_py() > 10**15
    assert sum(table.num_rows for table in tables[:-1]) == 10_000
    with pytest.raises(FileExistsError, match="not empty"):
        write(experiment, tmp_path / "made", CONTEXT)


def test_names_are_only_names(tmp_path: Path) -> None:
    """Names of an experiment, its operators and texts stay data in the program."""
    document = copy.deepcopy(template("nexmark_q2", horizon_s=0.01))
    document["name"] = 'x"""\nimport os  # \\'
    document["query"]["operators"][1]["params"]["predicate"] = "auction % 123 == 0"
    write(load(document, CONTEXT), tmp_path / "made", CONTEXT)
    tree = ast.parse((tmp_path / "made" / "query.py").read_text())
    assert {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names} == {"json", "sys"}


def test_differences_name_the_records() -> None:
    ours = pa.table({"key": ["a", "a", "b"], "mean": [1.0, 2.0, float("nan")]})
    assert difference(ours, ours.take([2, 0, 1])).equal
    other = pa.table({"key": ["a", "b", "c"], "mean": [1.0, float("nan"), 0.0]})
    found = difference(ours, other)
    assert (found.equal, found.differing, found.of_model, found.of_spark) == (False, 1, 3, 3)
    assert found.only_model == ({"key": "a", "mean": 2.0},)
    assert found.only_spark == ({"key": "c", "mean": 0.0},)
    near = pa.table({"key": ["a", "a", "b"], "mean": [1.0 + 1e-15, 2.0, float("nan")]})
    assert not difference(ours, near).equal
    assert difference(ours, near, ["mean"]).equal
    far = difference(ours, pa.table({"key": ["a", "a", "b"], "mean": [1.1, 2.0, float("nan")]}), ["mean"])
    assert (far.differing, far.only_spark[0]["mean"]) == (1, 1.1)
    twice = difference(ours, pa.concat_tables([ours, ours]))
    assert (twice.differing, len(twice.only_spark), twice.only_model) == (3, 3, ())


KNOWN = {
    "source": set(),
    "filter": {"predicate"},
    "map": {"fields"},
    "project": {"fields"},
    "split": {"routes", "mode"},
    "union": set(),
    "sink": set(),
    "aggregate": {"key", "window", "aggregates", "emit", "every", "lateness_ms"},
    "session_aggregate": {"key", "gap_s", "clock", "aggregates", "emit", "every", "lateness_ms"},
    "join": {"left_key", "right_key", "select", "left_window_end", "right_window_end", "lateness_ms", "window"},
    "window_join": {"left_key", "right_key", "select", "left_window_end", "right_window_end", "lateness_ms", "window"},
    "interval_join": {"left_key", "right_key", "select", "lower_s", "upper_s", "until", "lateness_ms"},
}
WITHOUT_EFFECT = {"evaluation", "keys_grow", "event_time", "counted_by", "by_instance"}
"""On records: when windows are computed; what a scale means, which is refused; event times of pairs, of which no window can be made; how
many records a delivered one stands for; latencies of each instance."""


@pytest.mark.parametrize("kind", KINDS)
def test_no_parameter_is_overlooked(kind: str) -> None:
    """A new parameter has to be written in SQL, or refused."""
    assert set(registry.operator(kind).Params.model_fields) - WITHOUT_EFFECT == KNOWN[kind]
