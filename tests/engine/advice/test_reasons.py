"""Why a placement is suggested. Catches reasons that are not what the models predict, or that change two things at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from engine.advice.describe import Described, describe
from engine.advice.reasons import OtherFeature, OtherHost, reasons
from engine.corpus.experiments import experiment
from engine.costmodels.encoding import Floats
from engine.costmodels.features import JointGraph
from engine.placement.space import Placed
from engine.spec import load

from .test_describe import no_files
from .test_suggest import OF


def described() -> Described:
    return describe(load(experiment(OF, seed=1, horizon_s=5)), no_files)


NAMES = ("h1", "h2", "h3", "h4")


def latency(graphs: Sequence[JointGraph]) -> Floats:
    """Stands in for models: latencies of all hosts that are used, and a tenth for each percent of CPU that the strongest lacks."""
    found = []
    for graph in graphs:
        hosts = [node.features for node in graph.nodes if node.type == "host"]
        found.append(sum(float(host["latency"]) for host in hosts) + 1000 / max(float(host["cpu"]) for host in hosts))
    return np.array(found)


def anything(graph: JointGraph, placed: Placed) -> bool:
    return True


def test_reasons_are_what_models_predict_of_one_change() -> None:
    about = described()
    present = tuple(n % 4 for n in range(len(about.ids)))
    suggested = tuple(0 if n < 2 else 3 for n in range(len(about.ids)))
    found = reasons(about, NAMES, present, suggested, latency, anything)
    assert found
    asked: list[JointGraph] = []

    def kept(graphs: Sequence[JointGraph]) -> Floats:
        asked.extend(graphs)
        return latency(graphs)

    assert reasons(about, NAMES, present, suggested, kept, anything) == found
    base = latency(asked[:1])[0]
    for reason in found:
        assert abs(reason.cost - base) >= 0.05 * base
        assert reason.cost in latency(asked)
    costs = [abs(reason.cost - base) for reason in found]
    assert costs == sorted(costs, reverse=True)


def test_what_does_not_move_is_no_reason() -> None:
    about = described()
    stays = (0,) * len(about.ids)
    assert not any(isinstance(reason, OtherHost) for reason in reasons(about, NAMES, stays, stays, latency, anything))
    one = (1, *stays[1:])
    assert not any(isinstance(reason, OtherHost) for reason in reasons(about, NAMES, one, stays, latency, anything)), (
        "it alone is the whole move"
    )


def test_a_host_is_no_nearer_than_a_millisecond() -> None:
    about = described()
    near = replace(about, hosts=tuple(replace(host, latency_ms=4.0) for host in about.hosts))
    everywhere = tuple(n % 4 for n in range(len(about.ids)))
    found = [one for one in reasons(near, NAMES, everywhere, everywhere, latency, anything) if isinstance(one, OtherFeature)]
    latencies = [(one.before, one.after) for one in found if one.feature == "latency_ms"]
    assert latencies
    assert set(latencies) == {(4.0, 1.0)}


def test_costs_that_hardly_change_are_left_out() -> None:
    about = described()
    here, there = (0,) * len(about.ids), (3,) * len(about.ids)
    assert reasons(about, NAMES, here, there, lambda graphs: np.full(len(graphs), 7.0), anything) == ()


def test_what_training_has_not_seen_is_no_reason() -> None:
    about = described()
    everywhere = tuple(n % 4 for n in range(len(about.ids)))
    seen = {host.latency_ms for host in about.hosts}

    def knows(graph: JointGraph, placed: Placed) -> bool:
        return {float(node.features["latency"]) for node in graph.nodes if node.type == "host"} <= seen

    def of_latency(knows: Callable[[JointGraph, Placed], bool]) -> list[float]:
        found = reasons(about, NAMES, everywhere, everywhere, latency, knows)
        return [one.after for one in found if isinstance(one, OtherFeature) and one.feature == "latency_ms"]

    assert of_latency(anything)
    assert set(of_latency(knows)) <= seen
