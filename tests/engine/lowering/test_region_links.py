"""Links between regions are resolved when a document is lowered: the run is that of the same document with all links written out.

What this catches: a pair of hosts that inherits nothing, or from the wrong direction; a link that overrides more than it gives; and a run
that can tell where its links were stated.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import engine
from engine.lowering.network import lower
from engine.spec import load
from engine.spec.experiment.cluster import Cluster, PairLink, pair_links
from tests.support.network_cases import regions_far_apart, written_out

from ...support.agreement import frames_of


def test_hosts_inherit_and_links_override_what_they_give() -> None:
    hosts = [{"name": "w", "count": 2, "group": "eu"}, {"name": "us", "group": "us"}, {"name": "x", "group": "eu"}]
    regions = [
        {"source": "eu", "target": "us", "latency_ms": 40, "mbit_per_s": 100},
        {"source": "eu", "target": "eu", "latency_ms": 0.2},
    ]
    links = [{"source": "w1", "target": "us", "latency_ms": 35}, {"source": "us", "target": "w2", "mbit_per_s": 5}]
    far, near = PairLink(40_000_000, 100), PairLink(200_000, None)
    assert pair_links(Cluster.model_validate({"hosts": hosts, "region_links": regions, "links": links})) == {
        (0, 2): PairLink(35_000_000, 100),
        (2, 1): PairLink(40_000_000, 5),
        **dict.fromkeys([(1, 2), (3, 2), (2, 0), (2, 3)], far),
        **{(a, b): near for a in (0, 1, 3) for b in (0, 1, 3) if a != b},
    }


def test_a_direction_can_differ_from_the_way_back() -> None:
    hosts = [{"name": "a", "group": "eu"}, {"name": "b", "group": "us"}]
    regions = [
        {"source": "eu", "target": "us", "latency_ms": 40, "both_ways": False},
        {"source": "us", "target": "eu", "latency_ms": 50, "both_ways": False},
    ]
    assert pair_links(Cluster.model_validate({"hosts": hosts, "region_links": regions})) == {
        (0, 1): PairLink(40_000_000),
        (1, 0): PairLink(50_000_000),
    }


def test_a_run_is_that_of_the_links_written_out() -> None:
    made, out = regions_far_apart(), written_out(regions_far_apart())
    tables, wanted = lower(load(made)), lower(load(out))
    assert np.array_equal(tables.latency, wanted.latency)
    assert np.array_equal(tables.link, wanted.link)
    assert ran(made) == ran(out)


def ran(document: dict[str, Any]) -> tuple[list[Any], bytes]:
    """Frames, and the digest of the state at the end. The digest of a run would differ, because it contains the document's hash."""
    simulation = engine.Simulation(document)
    return frames_of(simulation), simulation._world.digest()


def test_documents_without_them_keep_their_hash() -> None:
    made = regions_far_apart()
    del made["cluster"]["region_links"]
    plain = load(made)
    assert load({**made, "cluster": {**made["cluster"], "region_links": []}}).hash == plain.hash
    assert "region_links" not in plain.canonical["cluster"]
    assert load(regions_far_apart()).hash != plain.hash
