"""A diagnosis names the limit that was put into a run, and its remedy removes it."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from engine.diagnosis import Limit, diagnose, remedies
from engine.diagnosis.limit import LimitKind
from engine.profiles import under_engine
from engine.spec.base.pointers import found
from engine.spec.rules.validation import Context, load
from engine.telemetry.instances import measured

from ...support.agreement import DATASETS, simulated, template
from ...support.engine_examples import windowed_sum
from ...support.limited_runs import limited_runs

RUNS = limited_runs()
CONTEXT = Context(datasets=DATASETS)


class Seen(NamedTuple):
    """served: records that reached the aggregate in the span."""

    limit: Limit
    served: float


def diagnosed(document: dict[str, Any], folder: Path, from_s: float = 2.0, to_s: float = 6.0) -> Seen:
    simulation = simulated(document, trace=False, keep_outputs=False)
    while simulation.now_ns < round(to_s * 1e9) and simulation.advance() is not None:
        pass
    simulation.telemetry.write(folder)
    found = measured(folder, round(from_s * 1e9), round(to_s * 1e9), recovers=True)
    served = found.instances.sums["served"][found.instances.name == "count"].sum()
    return Seen(diagnose(under_engine(load(document, CONTEXT)), found), float(served))


@pytest.mark.parametrize("name", RUNS)
def test_the_limit_put_in_is_found_and_its_remedy_relieves_it(name: str, tmp_path: Path) -> None:
    wanted = RUNS[name]
    found = diagnosed(wanted.document, tmp_path / "run")
    assert found.limit.kind == wanted.kind, found
    if wanted.operator is not None:
        assert found.limit.operator == wanted.operator, found
    if wanted.host is not None:
        assert found.limit.host == wanted.host, found
    if wanted.link:
        assert found.limit.link == wanted.link, found
    offered = {remedy.name: remedy for remedy in remedies(load(wanted.document, CONTEXT), wanted.document, found.limit, CONTEXT)}
    if wanted.relieved_by is None:
        assert found.limit.kind not in (LimitKind.NOTHING, LimitKind.UNCLEAR) or not offered
        return
    after = diagnosed(offered[wanted.relieved_by].document, tmp_path / "after")
    same = (after.limit.kind, after.limit.operator, after.limit.host) == (found.limit.kind, found.limit.operator, found.limit.host)
    assert not same or after.served > 1.1 * found.served, (found, after)


def test_a_link_is_widened_where_its_bandwidth_is_given() -> None:
    """At the link itself, or between the regions of its hosts, in the entry for its direction."""
    document = deepcopy(RUNS["a link"].document)
    for host, region in zip(document["cluster"]["hosts"], ("eu", "us", "us"), strict=True):
        host["group"] = region
    between = {"mbit_per_s": 5, "both_ways": False}
    document["cluster"]["region_links"] = [{"source": "us", "target": "eu", **between}, {"source": "eu", "target": "us", **between}]
    cases = {
        ("reader", "worker"): ("Link from reader to worker: 2 Mbit/s instead of 1", "/cluster/links/0/mbit_per_s", 2),
        ("reader", "other"): ("Links from region eu to us: 10 Mbit/s instead of 5", "/cluster/region_links/1/mbit_per_s", 10),
    }
    for ends, (text, place, wide) in cases.items():
        (only,) = remedies(load(document, CONTEXT), document, Limit(LimitKind.LINK, "", link=ends), CONTEXT)
        assert only.text == text
        assert found(only.document, place) == wide


@pytest.mark.parametrize(
    ("sources", "driver", "text", "place"),
    [
        (32, {}, "Trunk driver: 2000 Mbit/s instead of 1000", "/policies/engine/driver/trunk_mbit_per_s"),
        (32, {"hosts": 1, "trunk_mbit_per_s": None}, "All hosts of the driver: 2000 Mbit/s", "/policies/engine/driver/egress_mbit_per_s"),
        (8, {}, "purchases: 16 instances instead of 8", "/query/operators/0/parallelism"),
    ],
)
def test_limits_of_the_driver_and_of_receivers_are_relieved_in_the_document(
    sources: int, driver: dict[str, Any], text: str, place: str, tmp_path: Path
) -> None:
    document = windowed_sum(1.38e6, sources=sources, horizon_s=6.0, size_s=1.0, slide_s=0.5)
    document["policies"]["engine"]["driver"] = driver
    limit = diagnosed(document, tmp_path / "run").limit
    offered = remedies(load(document, CONTEXT), document, limit, CONTEXT)
    assert text in offered[0].text, (limit, offered)
    assert found(offered[0].document, place) in (16, 2000)


def test_what_storms_switch_takes_is_told(tmp_path: Path) -> None:
    """Cores that are busy whenever the spouts may run are the limit; if they are not, the switch is."""
    document = windowed_sum(420_000, sources=32, slots=32, horizon_s=21.0, engine="storm", scale=20)
    limit = diagnosed(document, tmp_path / "cores", to_s=21.0).limit
    assert limit.kind == LimitKind.CORES, limit
    assert limit.host in ("w1", "w2")
    assert "Storm 1.0 stopped all sources for" in limit.sentence
    document["workload"]["sources"]["purchases"]["stream"] = {"kind": "purchase", "gem_packs": 1, "skew": {"kind": "uniform"}}
    limit = diagnosed(document, tmp_path / "switch", to_s=21.0).limit
    assert limit.kind == LimitKind.CREDITS, limit
    assert "Backpressure limits this run, not its cores" in limit.sentence


def test_jobs_without_a_pause_limit_spark(tmp_path: Path) -> None:
    """Cores that are busy for most of a job are the limit; short batches leave the time to the beginning of stages and tasks."""
    document = windowed_sum(600_000, sources=32, slots=32, horizon_s=32.0, engine="spark")
    limit = diagnosed(document, tmp_path / "cores", from_s=12.0, to_s=32.0).limit
    assert limit.kind == LimitKind.CORES, limit
    assert limit.host in ("w1", "w2")
    assert "Jobs follow one another without a pause, and Spark Streaming 2.0 limits its sources to" in limit.sentence
    document["policies"]["engine"] |= {"batch_s": 0.5}
    limit = diagnosed(document, tmp_path / "tasks", from_s=12.0, to_s=32.0).limit
    assert limit.kind == LimitKind.CREDITS, limit
    assert "Beginning stages and tasks limits this run" in limit.sentence
    document["policies"]["engine"] |= {"batch_s": 4}
    document["workload"]["sources"]["purchases"]["rate"]["per_s"] = 200_000
    limit = diagnosed(document, tmp_path / "little", from_s=12.0, to_s=32.0).limit
    assert limit.kind == LimitKind.NOTHING, limit
    assert "driver" not in limit.sentence


def test_two_hosts_at_their_limit_are_both_named(tmp_path: Path) -> None:
    """To say that the other is busy 100 % would read as if it had room."""
    document: dict[str, Any] = template("nexmark_q3", horizon_s=6.0)
    document["cluster"]["hosts"][0].update(count=2, speed=0.3)
    found = diagnosed(document, tmp_path / "run").limit
    assert found.kind == LimitKind.CORES
    assert ", as are those of the other host" in found.sentence
