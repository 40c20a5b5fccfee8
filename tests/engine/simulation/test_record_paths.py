"""Waterfalls of chosen records by running again: the same as from a trace of the whole run, whatever is chosen and however it is cut.

What this catches: a second run that differs from the first, tracing that begins too late, a record that is chosen twice or by luck.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from pydantic import ValidationError

import engine
import engine.simulation
from engine.simulation import record_paths
from engine.simulation.attribution import Waterfall
from engine.spec.base.problems import Refusal
from engine.spec.experiment.selection import Selection
from tests.support.strategies import documents

from ...support.actor_examples import Throttle
from ...support.agreement import DATASETS, simulated, template, traced

TEMPLATES = ("nexmark_q3", "nexmark_q8", "flights")


def busy(name: str, **workload: Any) -> dict[str, Any]:
    document = template(name, **({"horizon_s": 3.0 if name == "flights" else 0.06, "drain": True} | workload))
    for host in document["cluster"]["hosts"]:
        host["speed"] = 0.1
    return document


def from_whole_trace(simulation: engine.Simulation) -> list[Waterfall]:
    return simulation.trace().waterfalls(simulation.deliveries())


def again(document: dict[str, Any]) -> Any:
    return lambda keep_outputs: simulated(document, trace=False, keep_outputs=keep_outputs)


def slowest(waterfalls: list[Waterfall], n: int) -> list[Waterfall]:
    by_latency = sorted(waterfalls, key=lambda waterfall: -waterfall.record.latency_ns)  # stable: the first of equals
    return sorted(by_latency[:n], key=lambda waterfall: waterfall.record.end_ns)


def in_order(waterfalls: list[Waterfall]) -> list[Waterfall]:
    return sorted(waterfalls, key=lambda waterfall: (waterfall.record.end_ns, waterfall.record.sink, waterfall.record.instance))


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_slowest_are_those_of_the_whole_trace(name: str) -> None:
    document = busy(name)
    whole = from_whole_trace(traced(document))
    run = engine.run(document, datasets=DATASETS)
    assert in_order(run.waterfalls(slowest=7)) == in_order(slowest(whole, 7))
    assert run.simulation.digest() == run.digest


def test_the_slowest_of_a_frame_are_those_delivered_in_it() -> None:
    document = busy("nexmark_q3")
    whole = from_whole_trace(traced(document))
    run = engine.run(document, datasets=DATASETS)
    frame_ns = run.simulation.experiment.measurement.frame_ns
    busiest = max(run.frames, key=lambda frame: (frame["latency_ms"]["max"] or 0, -frame["n"]))["n"]
    between = {"after_ns": busiest * frame_ns, "to_ns": (busiest + 1) * frame_ns}
    inside = [waterfall for waterfall in whole if between["after_ns"] < waterfall.record.end_ns <= between["to_ns"]]
    assert in_order(run.waterfalls(slowest=4, between=between)) == in_order(slowest(inside, 4))


def test_a_run_that_has_kept_everything_is_not_made_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    document = busy("nexmark_q3")
    wanted = engine.run(document, datasets=DATASETS).waterfalls(slowest=9, sample={"rate": 0.01})
    kept = engine.run(document, datasets=DATASETS, trace=True, keep_outputs=True)
    half = engine.Simulation(document, datasets=DATASETS, trace=True, keep_outputs=True)
    half.run_until(half.horizon_ns // 2)
    half.save(tmp_path / "snapshot")
    resumed = engine.Simulation.resume(document, tmp_path / "snapshot", datasets=DATASETS, trace=True, keep_outputs=True)
    resumed.run_until(resumed.end_ns)
    monkeypatch.setattr(engine.Simulation, "again", None)
    assert kept.waterfalls(slowest=9, sample={"rate": 0.01}) == wanted
    assert engine.simulation.Run(resumed, []).waterfalls(slowest=9, sample={"rate": 0.01}) == wanted


def test_what_was_not_observed_from_the_start_is_made_again(tmp_path: Path) -> None:
    document = busy("nexmark_q3")
    unseen = engine.Simulation(document, datasets=DATASETS)
    unseen.run_until(unseen.horizon_ns // 2)
    unseen.save(tmp_path / "snapshot")
    resumed = engine.Simulation.resume(document, tmp_path / "snapshot", datasets=DATASETS, trace=True, keep_outputs=True)
    resumed.run_until(resumed.end_ns)
    assert not resumed.observed
    wanted = engine.run(document, datasets=DATASETS).waterfalls(slowest=9)
    assert engine.simulation.Run(resumed, []).waterfalls(slowest=9) == wanted


def test_what_controls_did_is_done_again() -> None:
    document = busy("nexmark_q3")
    run = engine.run(document, datasets=DATASETS, controls=[Throttle()])
    whole = from_whole_trace(traced(document, controls=[Throttle()]))
    assert in_order(run.waterfalls(slowest=9)) == in_order(slowest(whole, 9))
    assert run.waterfalls(slowest=9) != engine.run(document, datasets=DATASETS).waterfalls(slowest=9)


@pytest.mark.slow
@given(document=documents())
def test_random_experiments_give_what_their_whole_trace_gives(document: dict[str, Any]) -> None:
    whole = from_whole_trace(traced(document))
    found = record_paths.waterfalls(again(document), Selection(slowest=1000))
    assert in_order(found) == in_order(slowest(whole, 1000))


@pytest.mark.parametrize(("name", "horizon_s"), [("nexmark_q3", 0.08), ("nexmark_q12", 0.045)])
def test_cutting_and_dropping_rows_change_nothing(name: str, horizon_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    document = template(name, horizon_s=horizon_s)
    chosen = Selection(slowest=1000)
    wanted = record_paths.waterfalls(again(document), chosen)
    assert len(wanted) > 50
    monkeypatch.setattr(record_paths, "ROWS_MAX", 700)
    drops: list[int] = []
    drop_trace = engine.Simulation.drop_trace
    monkeypatch.setattr(engine.Simulation, "drop_trace", lambda simulation, t_ns: [drops.append(t_ns), drop_trace(simulation, t_ns)])
    monkeypatch.setattr(record_paths, "STEPS", 37)
    chance = random.Random(name)
    shares: list[float] = []

    def go(simulation: engine.Simulation, t_ns: int) -> None:
        for cut in sorted(chance.randrange(t_ns + 1) for _ in range(2)):
            simulation.run_until(cut)
        simulation.run_until(t_ns)

    assert record_paths.waterfalls(again(document), chosen, go, shares.append) == wanted
    assert shares == sorted(shares)
    assert 0 < shares[0] <= shares[-1] == 1
    assert drops


def test_named_records_are_found_or_refused() -> None:
    document = busy("nexmark_q3")
    run = engine.run(document, datasets=DATASETS)
    wanted = run.waterfalls(sample={"rate": 0.01, "seed": 1})
    named = [{"sink": w.record.sink, "trigger": w.record.trigger, "end_ns": w.record.end_ns} for w in wanted]
    assert run.waterfalls(records=named) == wanted
    with pytest.raises(Refusal, match="no record with trigger") as refusal:
        run.waterfalls(records=[*named, {**named[0], "end_ns": named[0]["end_ns"] + 1}])
    assert refusal.value.at == ("records", len(named))
    with pytest.raises(Refusal, match="did you mean 'sink'"):
        run.waterfalls(records=[{**named[0], "sink": "sing"}])
    with pytest.raises(ValidationError, match="nothing is selected"):
        run.waterfalls()


def test_a_sample_depends_on_its_seed_and_rate() -> None:
    run = engine.run(busy("nexmark_q3"), datasets=DATASETS)
    few, same, other = (run.waterfalls(sample={"rate": 0.05, "seed": seed}) for seed in (1, 1, 2))
    assert few == same != other
    assert 0.02 < len(few) / run.summary["records_out"] < 0.1
    more = {waterfall.record for waterfall in run.waterfalls(sample={"rate": 0.1, "seed": 1})}
    assert {waterfall.record for waterfall in few} < more


def test_too_large_a_sample_and_too_long_paths_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    run = engine.run(busy("nexmark_q3", horizon_s=0.3), datasets=DATASETS)
    with pytest.raises(Refusal, match="draws fewer"):
        run.waterfalls(sample={"rate": 1.0})
    monkeypatch.setattr(record_paths, "ROWS_MAX", 100)
    with pytest.raises(Refusal, match="services at a time"):
        run.waterfalls(slowest=5)


def test_warm_up_is_left_out() -> None:
    document = busy("nexmark_q1", horizon_s=0.5, warmup_s=0.2)
    run = engine.run(document)
    waterfalls = run.waterfalls(slowest=1000)
    assert min(waterfall.record.end_ns for waterfall in waterfalls) > 200_000_000
    assert max(waterfall.record.latency_ns for waterfall in waterfalls) / 1e6 == run.summary["latency_ms"]["max"]
