"""Incremental checkpoints, with every protocol: chains of changes restore what whole checkpoints would.

What this catches: a chain that lacks a link, or restores one twice; links that are deleted while others need them, or never; a checkpoint
that counts as durable before the one that it builds on; a chain that goes on over a recovery, a savepoint or a refused checkpoint; bytes
that follow the state and not what has changed; a recovery that fetches the last link alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import engine
from engine.checkpointing import messages as M
from engine.checkpointing.chains import linked
from engine.checkpointing.reclamation import reclaim
from engine.core import layout as L
from engine.services import ObjectStore
from engine.spec import validate
from tests.support.tiers import only, tier

from ...support.agreement import DATASETS, cut_saved_and_forked, fingerprint, finished, template, traced
from ...support.recovery_examples import (
    JOBS_AND_PROTOCOLS,
    PROTOCOLS,
    coordinated,
    counting,
    each_record_counts_just_once,
    joining,
    loss,
    random_losses,
    uncoordinated,
    values,
    with_losses,
)
from ...support.rescaling_examples import JOBS, MOST, QUICK, assert_right, ordered, scaled, slow

Document = dict[str, Any]
Protocol = Callable[..., Document]


def incremental(protocol: Protocol, full_every: int = 4) -> Protocol:
    def made(**more: Any) -> Document:
        return protocol(**more, snapshots={"kind": "incremental", "full_every": full_every})

    made.__name__ = protocol.__name__
    return made


def rows_of(simulation: engine.Simulation) -> list[list[int]]:
    """`messages.TAKEN` rows of all checkpoints that the coordinator knows."""
    return [*simulation._actors.actors[0].stored_rows()]  # type: ignore[attr-defined]


def store_of(simulation: engine.Simulation) -> ObjectStore:
    return next(actor for actor in simulation._actors.actors if isinstance(actor, ObjectStore))


def operator_of(simulation: engine.Simulation, row: list[int]) -> str:
    return simulation._plan.operators[int(simulation._world.arrays.inst[row[M.INSTANCE], L.I_OP])]


# -- what is restored ------------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("job", "protocol"), only(JOBS_AND_PROTOCOLS, ci=JOBS_AND_PROTOCOLS[1::6]), ids=lambda one: one.__name__)
def test_each_record_counts_just_once(job: Callable[..., Document], protocol: Protocol) -> None:
    each_record_counts_just_once(job, incremental(protocol), f"incremental {job.__name__} {protocol.__name__}")


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: protocol.__name__)
def test_what_a_recovery_restores_is_what_whole_checkpoints_would(protocol: Protocol) -> None:
    losses = [loss("w1", 0.151), loss("w2", 0.263)]
    found = []
    for kind in (protocol, incremental(protocol)):
        simulation = finished(with_losses(joining(protocol=kind(interval_s=0.02)), losses))
        assert simulation.checkpointing is not None
        recoveries = simulation.checkpointing["recoveries"]
        assert len(recoveries) == 2
        assert max(recoveries[0]["line"]) > 3
        found.append(values(simulation).keys())
    assert found[0] == found[1]
    assert any(row[M.BASE] for row in rows_of(simulation)), "some stored changes"


@pytest.mark.parametrize("protocol", only([*PROTOCOLS], ci=PROTOCOLS[:3:2]), ids=lambda protocol: protocol.__name__)
def test_a_run_is_the_same_cut_saved_and_forked(protocol: Protocol) -> None:
    document = with_losses(joining(protocol=incremental(protocol)(interval_s=0.02), horizon_s=0.12), [loss("w1", 0.07)])
    expected = fingerprint(traced(document))
    for cut_ns in (3_000_011, 50_000_003):
        assert fingerprint(cut_saved_and_forked(document, cut_ns)) == expected


@pytest.mark.slow
@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.__name__)
def test_ten_rescales_and_losses_change_no_result(job: Callable[..., Document]) -> None:
    links = 0
    for seed in range(tier(4, 8)):
        chance = random.Random(f"incremental {job.__name__} {seed}")
        made = slow(job)
        made["policies"]["checkpointing"] |= {"interval_s": 0.003, "store": {"request_ms": 0.2}}
        made["policies"]["checkpointing"] |= {"snapshots": {"kind": "incremental", "full_every": 3}}
        times_s = sorted(round(chance.uniform(0.01, 0.15), 6) for _ in range(10))
        names = [host["name"] for host in made["cluster"]["hosts"]]
        losses = [one for _ in range(seed) for one in random_losses(chance, names, 0.3)]
        rescaled = scaled(made, ordered(made, times_s, seed), {"restart_s": 0.004, "timeout_s": 0.05})
        simulation = finished(with_losses(rescaled, losses))
        assert_right(simulation, job)
        links += sum(row[M.BASE] > 0 for row in rows_of(simulation))
    assert links > 10


# -- chains ----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: protocol.__name__)
def test_a_chain_is_as_long_as_it_may_be_and_starts_anew_after_a_recovery(protocol: Protocol) -> None:
    simulation = finished(with_losses(joining(protocol=incremental(protocol, 3)(interval_s=0.01)), [loss("w1", 0.155)]))
    assert simulation.checkpointing is not None
    recovered_ns = simulation.checkpointing["recoveries"][0]["go_ns"]
    rows = [row for row in rows_of(simulation) if operator_of(simulation, row) == "pairs"]
    by_name = {(row[M.INSTANCE], row[M.NUMBER]): row for row in rows}
    for row in rows:
        chain = linked([row], rows)
        assert len(chain) <= 3
        assert chain[0][M.BASE] == 0
        assert all(link[M.START] == chain[0][M.NUMBER] for link in chain)
        assert [link[M.DURABLE_NS] for link in chain] == sorted(link[M.DURABLE_NS] for link in chain)
        assert (row[M.CAPTURED_NS] > recovered_ns) == (chain[0][M.CAPTURED_NS] > recovered_ns)
    assert {len(linked([row], rows)) for row in by_name.values()} == {1, 2, 3}


def test_operators_without_state_store_whole_checkpoints() -> None:
    simulation = finished(joining(protocol=incremental(coordinated)(interval_s=0.02)))
    assert {operator_of(simulation, row) for row in rows_of(simulation) if row[M.BASE]} == {"pairs"}


def test_the_store_keeps_what_chains_need_and_nothing_else() -> None:
    simulation = finished(joining(protocol=incremental(coordinated, 5)(interval_s=0.01)))
    rows = rows_of(simulation)
    last = max(row[M.NUMBER] for row in rows)
    line = [row for row in rows if row[M.NUMBER] == last]
    needed = {M.key(row[M.NUMBER], row[M.INSTANCE]) for row in linked(line, rows)}
    kept = store_of(simulation).objects
    assert needed <= kept.keys()
    assert min(M.of_key(key)[0] for key in kept) >= min(row[M.START] for row in line), "older chains are deleted"


def test_contents_that_a_chain_needs_are_not_reclaimed() -> None:
    """A long run frees what no recovery needs, from time to time; here just before the loss."""
    made = joining(protocol=incremental(uncoordinated)(interval_s=0.01))
    simulation = engine.Simulation(with_losses(made, [loss("w1", 0.25)]), datasets=DATASETS, keep_outputs=True)
    simulation.run_until(240_000_000)
    reclaim(simulation._actors.actors, simulation._world)
    assert any(not content for _, content in store_of(simulation).objects.values())
    simulation.run_until(simulation.end_ns)
    assert simulation.checkpointing is not None
    assert max(simulation.checkpointing["recoveries"][0]["line"]) > 15
    assert values(simulation).keys() == values(finished(made)).keys()


def test_a_checkpoint_is_not_durable_before_the_one_it_builds_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole one takes many pieces. The next ones of its instance store little, and the store has all of them before it."""
    monkeypatch.setattr("engine.checkpointing.worker.PIECE_BYTES", 2_000)
    protocol = incremental(uncoordinated, 3)(interval_s=0.012, jitter_s=0.0, store={"request_ms": 0.1, "write_mb_per_s": 0.9})
    made = joining(protocol=protocol, per_s=20_000.0)
    made["workload"]["horizon_s"] = 0.3
    rows = rows_of(finished(made))
    durable = {(row[M.INSTANCE], row[M.NUMBER]): row[M.DURABLE_NS] for row in rows}
    chained = [(durable[row[M.INSTANCE], row[M.BASE]], row[M.DURABLE_NS]) for row in rows if row[M.BASE]]
    assert len(chained) > 5
    assert all(base_ns <= own_ns for base_ns, own_ns in chained)
    assert any(base_ns == own_ns for base_ns, own_ns in chained), "some had to wait for it"


def test_after_a_refused_checkpoint_the_next_one_is_whole() -> None:
    """The disk of the store is full for a while, in the middle of a round: some of its checkpoints are stored, others are refused."""
    protocol = incremental(coordinated, 1000)(store={"request_ms": 1.0}, interval_s=0.02)
    simulation = engine.Simulation(counting(protocol=protocol), datasets=DATASETS, keep_outputs=True)
    store = store_of(simulation)
    store.disk = replace(store.disk, full=((101_900_000, 125_000_000),))
    simulation.run_until(simulation.end_ns)
    rounds = {one.number: one for one in simulation._actors.actors[0].rounds}  # type: ignore[attr-defined]
    failed = [one.number for one in rounds.values() if one.ended == "failed"]
    assert failed
    stored = {row[M.INSTANCE] for row in rounds[failed[0]].taken}
    after = [row for row in rounds[failed[-1] + 1].taken if operator_of(simulation, row) == "counts"]
    assert rounds[failed[-1] + 1].ended == "confirmed"
    assert after
    assert all((row[M.BASE] == 0) == (row[M.INSTANCE] not in stored or len(failed) > 1) for row in after)


def test_a_link_that_is_missing_is_named() -> None:
    row = [0] * M.COLUMNS
    row[M.INSTANCE], row[M.NUMBER], row[M.START], row[M.BASE] = 4, 7, 5, 6
    with pytest.raises(ValueError, match="checkpoint 7 of instance 4 needs 6, which is not stored"):
        linked([row], [row])


# -- what it costs ---------------------------------------------------------------------------------------------------------------------


def test_bytes_follow_the_keys_that_changed() -> None:
    """Auctions and bids pile up in a join, so a whole checkpoint grows, and a delta does not."""
    protocols = (coordinated(interval_s=0.02), incremental(coordinated, 1000)(interval_s=0.02))
    whole, deltas = (finished(joining(protocol=protocol, horizon_s=0.4)) for protocol in protocols)
    sizes = [by_number(simulation, "pairs") for simulation in (whole, deltas)]
    last = max(sizes[0])
    assert sizes[0][1] == sizes[1][1], "the first one is whole"
    assert sizes[0][last] > 8 * sizes[1][last]
    assert sizes[1][last] < 1.5 * sizes[1][3]
    assert sum(sizes[1].values()) < 1.3 * sizes[0][last], "all deltas are not much more than the state: each key once, each record once"


def by_number(simulation: engine.Simulation, operator: str) -> dict[int, int]:
    found: dict[int, int] = {}
    for row in rows_of(simulation):
        if operator_of(simulation, row) == operator:
            found[row[M.NUMBER]] = found.get(row[M.NUMBER], 0) + row[M.BYTES]
    return found


def test_a_recovery_reads_all_links_of_a_chain() -> None:
    """All keys change all the time, so a delta is as large as the state, and a chain of some twenty as large as twenty states."""
    times = []
    for full_every in (2, 1000):
        protocol = incremental(coordinated, full_every)(interval_s=0.01, store={"request_ms": 0.1, "read_mb_per_s": 0.1})
        simulation = finished(with_losses(counting(protocol=protocol), [loss("w1", 0.26)]))
        assert simulation.checkpointing is not None
        (recovery,) = simulation.checkpointing["recoveries"]
        times.append(recovery["go_ns"] - recovery["detected_ns"])
    assert times[1] > 3 * times[0]


def test_frames_say_what_a_checkpoint_builds_on() -> None:
    document = joining(protocol=incremental(coordinated, 3)(interval_s=0.02))
    frames = engine.run(document | {"measurement": {"frame_ms": 10}}, datasets=DATASETS).frames
    durable = [one for frame in frames for one in frame["checkpoints"]["durable"]]
    assert {one.get("base") for one in durable if one["operator"] == "pairs" and one["index"] == 0} >= {None, 1, 2, 4}
    assert not any("base" in one for one in durable if one["operator"] == "bids")


# -- what is refused -------------------------------------------------------------------------------------------------------------------


def test_a_chain_without_a_whole_checkpoint_is_refused() -> None:
    (problem,) = [one for one in validate(counting(protocol=incremental(coordinated, 0)())) if one.severity == "error"]
    assert problem.pointer == "/policies/checkpointing/snapshots/full_every"
    assert "must be at least 1" in problem.message


def test_rescaling_in_place_takes_whole_checkpoints() -> None:
    orders = [{"at_s": 0.1, "parallelism": {"counts": MOST}}]
    quick = {name: value for name, value in QUICK.items() if name != "restart_s"}
    made = scaled(counting(protocol=incremental(coordinated)()), orders)
    made["policies"]["scaling"]["rescaling"] = {"kind": "in_place", **quick}
    (problem,) = [one for one in validate(made) if one.pointer == "/policies/checkpointing/snapshots"]
    assert "choose snapshots full" in problem.message


def test_full_snapshots_are_the_default_and_change_no_document() -> None:
    written = template("checkmate_q3")
    assert "snapshots" not in engine.spec.Experiment.model_validate(written).model_dump()["policies"]["checkpointing"]
