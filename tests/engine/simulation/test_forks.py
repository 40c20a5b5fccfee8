"""Forks: the same past, another future, and nothing of the engine's own that tells of the switch.

What this catches: a switch that moves a record or a draw before it, a fault that is felt before it comes, a fork whose document says
something else than what was asked for.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import engine
from engine.spec import Refusal, load
from engine.spec.rules.forking import Fork
from tests.support.corner_cases import bids, document, host
from tests.support.strategies import documents, host_names

from ...support.agreement import frames_of


def ran(document: dict[str, Any]) -> tuple[list[Any], bytes]:
    simulation = engine.Simulation(document)
    frames = frames_of(simulation)
    return frames, simulation._world.digest()


def switchable(made: dict[str, Any]) -> bool:
    return all(source["rate"]["kind"] not in ("recorded", "file") for source in made["workload"]["sources"].values())


@pytest.mark.slow
@settings(max_examples=20)
@given(made=documents(), share=st.floats(0, 1), data=st.data())
def test_a_fork_has_its_parents_past(made: dict[str, Any], share: float, data: st.DataObject) -> None:
    """With the same rates it is its parent to the bit; with others, or with faults, up to the moment of the fork."""
    assume(switchable(made))
    made["workload"] |= {"drain": False}  # a minute in frames of a millisecond is long
    parent = load(made)
    frames, digest = ran(made)
    number = min(int(share * len(frames)), len(frames) - 1)
    at_s = min(frames[number]["t_s"], (parent.workload.horizon_ns - 1) / 1e9)
    same = {id: source.rate.model_dump(by_alias=True) for id, source in parent.workload.sources.items()}
    assert ran(Fork(at_s=at_s, rates=same).applied(parent, made)) == (frames, digest)
    assert load(Fork(at_s=at_s).applied(parent, made)).hash == parent.hash

    changes = data.draw(st.just({"load": 3.0}) | faults(host_names(made["cluster"]), at_s))
    other, _ = ran(Fork.model_validate({"at_s": at_s, **changes}).applied(parent, made))
    past = max(0, sum(frame["t_s"] <= at_s for frame in frames) - 1)  # what comes at the very moment belongs to the frame that ends there
    assert other[:past] == frames[:past]


def faults(hosts: list[str], at_s: float) -> st.SearchStrategy[dict[str, Any]]:
    fault = {"host": hosts[0], "when": {"kind": "at", "at_s": at_s}}
    kinds = (
        {"kind": "pause", "for_ms": 5},
        {"kind": "slow_host", "for_ms": 5, "factor": 0.2},
        {"kind": "host_loss", "restart_after_s": 0.01},
    )
    return st.sampled_from([{"faults": [{**fault, **kind}]} for kind in kinds])


SOURCE = {"id": "bids", "kind": "source", "cost": {"record_us": 0, "output_us": 0, "control_us": 0}}
SINK = {"id": "sink", "kind": "sink", "cost": {"record_us": 100}}
PLAIN = document([SOURCE, SINK], [{"source": "bids", "target": "sink"}], [host("a"), host("b")], {"bids": bids(1000.0)}, horizon_s=2.0)


def refused(**fork: Any) -> str:
    with pytest.raises(Refusal) as found:
        Fork.model_validate(fork).applied(load(PLAIN), PLAIN)
    return f"{'/'.join(map(str, found.value.at))}: {found.value}"


def test_what_a_fork_says() -> None:
    made = Fork.model_validate({"at_s": 1.0, "load": 2}).applied(load(PLAIN), PLAIN)
    assert made["workload"]["sources"]["bids"]["rate"] == {
        "kind": "switched",
        "before": PLAIN["workload"]["sources"]["bids"]["rate"],
        "at_s": 1.0,
        "after": {"kind": "constant", "per_s": 2000.0},
    }
    run = engine.run(made)
    assert run.summary["records_in"] == 3000
    again = Fork.model_validate({"at_s": 1.5, "load": 0.5}).applied(load(made), made)  # a fork of a fork
    assert engine.run(again).summary["records_in"] == 2500


def test_a_fork_moves_an_operator() -> None:
    made = deepcopy(PLAIN)
    made["cluster"] = {"hosts": [{"name": name, "cores": 4, "processor": {"kind": "pool"}} for name in ("a", "b")]}
    made["placement"] = {"kind": "explicit", "hosts": {operator["id"]: ["a"] for operator in made["query"]["operators"]}}
    fork = {"at_s": 1.0, "moves": [{"at_s": 1.0, "hosts": {"bids": "b"}}]}
    forked = Fork.model_validate(fork).applied(load(made), made)
    assert forked["policies"]["scaling"] == {"kind": "move", "moves": fork["moves"]}
    later = [{"at_s": 1.5, "hosts": {"bids": "a"}}]
    again = Fork.model_validate({"at_s": 1.2, "moves": later}).applied(load(forked), forked)
    assert again["policies"]["scaling"]["moves"] == [*fork["moves"], *later]
    with pytest.raises(Refusal, match="before the fork at"):
        Fork.model_validate({"at_s": 1.2, "moves": fork["moves"]}).applied(load(made), made)
    scaled = made | {"policies": {"scaling": {"kind": "manual"}}}
    with pytest.raises(Refusal, match="scaling of the parent is 'manual', and a run either rescales operators or moves them"):
        Fork.model_validate(fork).applied(load(scaled), scaled)


def test_bad_forks_are_refused() -> None:
    assert "at_s: at_s is 2, not before the horizon (2)" in refused(at_s=2)
    assert "there is no source 'bidz'" in refused(at_s=1, rates={"bidz": {"kind": "constant", "per_s": 5}})
    pause = {"kind": "pause", "host": "a", "for_ms": 5}
    assert "faults/0/when: the fault begins at 0.5 s, before the fork at 1 s" in refused(
        at_s=1, faults=[{**pause, "when": {"kind": "at", "at_s": 0.5}}]
    )
    assert "would also change the time before the fork" in refused(at_s=1, faults=[{**pause, "when": {"kind": "random", "mean_s": 5}}])
    partition = {"kind": "partition", "sources": ["a"], "from_s": 0.2}
    assert "faults/0/from_s" in refused(at_s=1, faults=[partition])
