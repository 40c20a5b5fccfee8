"""What is laid out and not in use changes nothing, and what is arranged anew is as if the run had begun so (docs/autoscaling.md, 2).

What this catches: a place that counts instances which are not active (shares, watermarks, barriers, logs that close, processors,
credits), a channel or a key group that leads to one, a turn of `rebalance` or a credit that is looked for in another row, and instances
that serve, tick or forget a window while they are held.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import engine
from engine.core import layout as L
from engine.core.control import keyed_state
from engine.core.control.active_instances import active, hold, owners, release, set_parallelism
from engine.core.world import World
from engine.operators import OPERATORS
from engine.spec.rules.max_layout import laid_out
from engine.spec.rules.scalable import unscalable, vertices
from engine.spec.rules.validation import Context, load, placement_of, validate
from tests.support.corner_cases import CORNER_CASES, bids, document, host
from tests.support.strategies import documents
from tests.support.tiers import EXAMPLES, spread, tier

from ...support.actor_examples import ASK, Answering, Coordinator
from ...support.agreement import DATASETS, TINY, finished, frames_of, rows_of, simulated
from ...support.keyed_state_examples import EVENT_TIME, KINDS, PROCESSORS, moving_document
from ...support.keyed_state_examples import document as kept_document
from ...support.recovery_examples import coordinated, counting, joining, loss, with_losses

Document = dict[str, Any]


def most_of(made: Document, chance: random.Random, more: int = 5) -> dict[str, int]:
    """Up to so many instances more for each operator that can be scaled; forward edges join as many."""
    experiment = load(made, Context(datasets=DATASETS))
    kinds = {spec.id: OPERATORS[spec.kind] for spec in experiment.query.operators}
    stay = unscalable(experiment.query, kinds, experiment.workload)
    found: dict[str, int] = {}
    for vertex in vertices(experiment.query):
        if vertex[0] not in stay:
            found |= dict.fromkeys(vertex, experiment.operator(vertex[0]).parallelism + chance.randint(0, more))
    return found


def by_name(simulation: engine.Simulation) -> list[tuple[str, int]]:
    """Operator and index of each instance: the numbers of those that are laid out differ."""
    inst = simulation._world.arrays.inst
    return [(simulation._plan.operators[o], index) for o, index in inst[:, [L.I_OP, L.I_INDEX]].tolist()]


def services_of(simulation: engine.Simulation) -> list[Any]:
    names = by_name(simulation)
    return sorted((start, end, *names[i], kind, trigger) for i, start, end, kind, trigger in simulation.service_trace(True).tolist())


def assert_same_run(one: engine.Simulation, other: engine.Simulation) -> None:
    assert frames_of(one) == frames_of(other)
    assert services_of(one) == services_of(other)
    for sink in one.sinks:
        rows = [[{**r, "instance": by_name(s)[r["instance"]]} for r in s.sink_records(sink)] for s in (one, other)]
        assert repr(rows[0]) == repr(rows[1])
    assert one.summary() | {"wall_s": 0} == other.summary() | {"wall_s": 0}
    assert rows_of_files(one) == rows_of_files(other)


def rows_of_files(simulation: engine.Simulation) -> str:
    """The telemetry of instances and machines, as it goes to files."""
    return repr(simulation.telemetry.state())


# -- what is not in use -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=tier(ci=15, all=EXAMPLES["all"] // 3))  # a case is two runs, the second much larger
@given(made=documents(), seed=st.integers(0, 1000), tiny=st.booleans())
def test_what_is_not_in_use_changes_nothing(made: Document, seed: int, tiny: bool) -> None:
    options: Document = {"capacity": TINY} if tiny else {}
    most = most_of(made, random.Random(seed))
    assert_same_run(simulated(made, **options), simulated(made, greatest=most, **options))


@pytest.mark.slow
@pytest.mark.parametrize("case", spread(CORNER_CASES, ci=15, first=3), ids=lambda case: case.__name__)
def test_what_is_not_in_use_changes_nothing_in_corner_cases(case: Callable[[], Document]) -> None:
    made = case()
    assert_same_run(simulated(made), simulated(made, greatest=most_of(made, random.Random(case.__name__))))


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_one_instance_of_fifty(name: str) -> None:
    made = kept_document(name)
    for operator in made["query"]["operators"]:
        operator["parallelism"] = 1
    most = dict.fromkeys(most_of(made, random.Random(0)), 50)
    assert len(most) >= 2
    wide = simulated(made, greatest=most)
    assert active(wide._world.arrays).sum() == len(made["query"]["operators"]) < len(wide._world.arrays.inst) - 90
    assert_same_run(simulated(made), wide)


def test_buffers_are_those_of_the_hosts_in_use() -> None:
    """A buffer of 0.1 ms holds ten records of 10 us, five on a host of half the speed. Overloaded, so that it fills."""
    made = document(
        [{"id": "in", "kind": "source"}, {"id": "sink", "kind": "sink", "cost": {"record_us": 10}}],
        [{"source": "in", "target": "sink", "partitioning": {"kind": "rebalance"}}],
        [host("fast"), host("slow", speed=0.5)],
        {"in": bids(200_000)},
        placement={"kind": "explicit", "hosts": {"in": ["fast"], "sink": ["fast", "slow"]}},
        policies={"flow_control": {"kind": "credits", "per_channel": 1000, "per_instance_ms": 0.1}},
        horizon_s=0.002,
    )
    plain, wide = simulated(made), simulated(made, greatest={"sink": 2})
    held = lambda simulation: simulation._world.arrays.edge[0, L.E_BOUND]  # noqa: E731
    assert held(plain) == held(wide) == 10
    assert_same_run(plain, wide)
    set_parallelism(wide._world, [1, 2])
    assert held(wide) == 5


@pytest.mark.slow
@pytest.mark.parametrize("job", [counting, joining])
def test_rounds_and_recoveries_are_those_of_the_instances_in_use(job: Callable[..., Document]) -> None:
    made = with_losses(job(protocol=coordinated()), [loss("w2", 0.13)])
    for edge in made["query"]["edges"]:
        edge.get("partitioning", {}).pop("scheme", None)
    most = most_of(made, random.Random(1))
    assert len(most) >= 3
    plain, wide = simulated(made), simulated(made, greatest=most)
    assert_same_run(plain, wide)
    coordinator = wide.checkpointing
    assert coordinator is not None
    assert len(coordinator["recoveries"]) == 1
    assert sum(one["ended"] == "confirmed" for one in coordinator["rounds"]) >= 4
    assert wide.drained


def test_any_cutting_saving_and_forking_gives_the_same(tmp_path: Path) -> None:
    made = kept_document("aggregate, sliding")
    most = {"in": 2, "in_keys": 2, "kept": 9, "sink": 4}
    whole = simulated(made, greatest=most)
    whole.run_until(whole.end_ns)
    cut = simulated(made, greatest=most)
    cut.run_until(13_000_000)
    cut.save(tmp_path / "saved")
    resumed = engine.Simulation.resume(
        made, tmp_path / "saved", datasets=DATASETS, trace=True, keep_outputs=True, kinds=OPERATORS, greatest=most
    )
    forked = cut.fork()
    for simulation in (cut, resumed, forked, resumed.again()):
        simulation.run_until(simulation.end_ns)
        assert simulation.digest() == whole.digest()


def test_the_experiment_as_it_is_laid_out() -> None:
    made = kept_document("join")
    made["cluster"]["hosts"] = [host("w", count=4, cores=32)]
    made["placement"] = {"kind": "by_operator"}
    made["query"]["operators"][0]["parallelism"] = made["query"]["operators"][2]["parallelism"] = 2
    made["cluster"]["hosts"] = [host("w", count=9, cores=32)]
    experiment = load(made)
    larger = laid_out(experiment, {"kept": 8, "sink": 3})
    before, after = placement_of(experiment), placement_of(larger)
    assert {id: len(hosts) for id, hosts in after.items()} == {id: len(hosts) for id, hosts in before.items()} | {"kept": 8, "sink": 3}
    assert all(after[id][: len(hosts)] == hosts for id, hosts in before.items())
    assert larger.workload.sources["left"].partitions == 2
    assert laid_out(experiment, {}) is experiment


# -- an arrangement before the start ------------------------------------------------------------------------------------------------


def rearranged(simulation: engine.Simulation, parallelism: Mapping[str, int]) -> engine.Simulation:
    """Before anything has happened, so many instances are active."""
    world = simulation._world
    set_parallelism(world, [parallelism[id] for id in simulation._plan.operators])
    for id, feed in simulation._plan.feeds.items():
        simulation._logs.assign(world.arrays, id, owners(feed.partitions, parallelism[id]), simulation._logs.places(world.arrays, id))
    world.arrays = simulation._logs.reload(world.arrays)
    for i in np.flatnonzero(active(world.arrays)).tolist():
        release(world, i, 0)
    return simulation


def with_parallelism(made: Document, parallelism: Mapping[str, int], partitions: Mapping[str, int]) -> Document:
    changed = copy.deepcopy(made)
    for operator in changed["query"]["operators"]:
        operator["parallelism"] = parallelism[operator["id"]]
    for id, count in partitions.items():
        changed["workload"]["sources"][id]["partitions"] = count
    return changed


@pytest.mark.slow
@settings(max_examples=tier(ci=15, all=EXAMPLES["all"] // 3))  # a case is two runs
@given(made=documents(), seed=st.integers(0, 1000))
def test_an_arrangement_at_the_start_is_the_document_with_these_parallelisms(made: Document, seed: int) -> None:
    chance = random.Random(seed)
    if made["placement"]["kind"] == "by_operator":  # other parallelisms would stand elsewhere
        made["placement"] = {"kind": "spread"}
    for machine in made["cluster"]["hosts"]:
        if machine["processor"]["kind"] == "shared_fifo":  # ... and be pinned elsewhere
            machine["processor"], machine["cores"] = {"kind": "dedicated"}, 64
        elif machine["processor"]["kind"] == "dedicated":
            machine["cores"] = 64
        if "base_mb" in machine.get("memory", {}):  # `release` looks at a host at once, and what is full from the start then reads nothing
            machine["memory"]["base_mb"] = 0
    most = most_of(made, chance)
    begun = {operator["id"]: operator.get("parallelism", 1) for operator in made["query"]["operators"]}
    wanted = dict(begun)
    for vertex in vertices(load(made, Context(datasets=DATASETS)).query):
        if vertex[0] in most:
            wanted |= dict.fromkeys(vertex, chance.randint(1, most[vertex[0]]))
    logs = {id: most[id] for id in made["workload"]["sources"] if id in most}
    assume(not validate(with_parallelism(made, wanted, logs), Context(datasets=DATASETS)))  # such as too few groups
    plain, other = simulated(with_parallelism(made, wanted, logs)), simulated(with_parallelism(made, begun, logs), greatest=most)
    guards = [simulation._world.arrays.memory[:, L.Z_INGRESS].tolist() for simulation in (plain, other)]
    assume(guards[0] == guards[1])  # a host with room for a source is guarded, too, and frames say when it is full
    assert_same_run(plain, rearranged(other, wanted))


# -- arrangements in mid run --------------------------------------------------------------------------------------------------------


class Rearranger:
    """At each of some times: holds the sources, waits until nothing is under way, gives each vertex another parallelism with its state and
    its partitions, and lets all go on."""

    def __init__(self, times_ns: list[int], seed: int, most: Mapping[str, int]):
        self.waiting, self.random, self.most = sorted(times_ns), random.Random(seed), dict(most)
        self.held = False
        self.done: list[list[int]] = []
        self.moved = 0

    def watch(self, simulation: engine.Simulation) -> engine.Simulation:
        self.simulation = simulation
        return simulation

    @property
    def next_ns(self) -> int:
        return self.waiting[0] if self.waiting else L.FAR

    def act(self, world: World, now_ns: int) -> None:
        self.waiting.pop(0)
        w = world.arrays
        sources = np.flatnonzero((w.inst[:, L.I_SOURCE] == 1) & active(w))
        if not self.held:
            for i in sources.tolist():
                hold(world, i)
            self.held = True
        if not at_rest(world):
            self.waiting.insert(0, now_ns + 10_007)
            return
        self.held = False
        self.rearrange(world, now_ns)

    def rearrange(self, world: World, now_ns: int) -> None:
        w, plan, logs = world.arrays, self.simulation._plan, self.simulation._logs
        wanted = w.op[:, L.O_PARALLEL].tolist()
        for vertex in vertices(plan.experiment.query):
            if vertex[0] in self.most:
                chosen = self.random.randint(1, self.most[vertex[0]])
                for id in vertex:
                    wanted[plan.operators.index(id)] = chosen
        mark, newest, states = {}, {}, {}
        for o in range(len(w.op)):
            mine = np.flatnonzero((w.inst[:, L.I_OP] == o) & active(w)).tolist()
            mark[o], newest[o] = (int(w.inst[mine, column].min()) for column in (L.I_WATERMARK, L.I_NEWEST_EVENT))
            keeping = world.keepings[o]
            if keeping is None:
                continue
            assert len(set(w.inst[mine, L.I_WATERMARK].tolist())) == 1
            groups = keyed_state.key_groups(w, o)[1]
            of_group = np.arange(groups) * wanted[o] // groups
            ranges = [(to, *np.flatnonzero(of_group == to)[[0, -1]].tolist()) for to in np.unique(of_group).tolist()]
            states[o] = [(to, keyed_state.take(world, keeping, i, first, last + 1)) for i in mine for to, first, last in ranges]
            w = world.arrays
            assert not w.inst[mine, L.I_STATE_BYTES].any()
        places = {id: logs.places(w, id) for id in plan.feeds}
        set_parallelism(world, wanted)
        now = active(w)
        for o in range(len(w.op)):
            mine = (w.inst[:, L.I_OP] == o) & now
            w.inst[mine, L.I_WATERMARK], w.inst[mine, L.I_NEWEST_EVENT] = mark[o], newest[o]
        channels = np.arange(len(w.chan))
        w.chan[channels, L.C_WATERMARK] = np.where(now[w.chan[:, L.C_SENDER]], w.inst[w.chan[:, L.C_SENDER], L.I_WATERMARK], L.FAR)
        for o, parts in states.items():
            for to, state in parts:
                keeping = world.keepings[o]
                assert keeping is not None
                keyed_state.put(world, keeping, int(w.op[o, L.O_FIRST]) + to, state)
                self.moved += len(state.entries)
                w = world.arrays
        for id, feed in plan.feeds.items():
            logs.assign(w, id, owners(feed.partitions, wanted[plan.operators.index(id)]), places[id])
        world.arrays = w = logs.reload(w)
        for i in np.flatnonzero(w.inst[:, L.I_SOURCE] == 1).tolist():
            if now[i]:
                release(world, i, now_ns)
            else:
                w.inst[i, L.I_RANK] = 0
        self.done.append(wanted)

    def state(self) -> Any:
        return [self.waiting, self.held, self.done, self.moved]

    def restore(self, state: Any) -> None:
        self.waiting, self.held, self.done, self.moved = copy.deepcopy(state)


def at_rest(world: World) -> bool:
    """Nothing is in hand, queued behind the sources, or under way."""
    w = world.arrays
    reads = w.inst[:, L.I_SOURCE] == 1
    under_way = any(len(world.ring(r)) for r in range(2 * len(w.host))) or any(world.held())
    busy = (w.proc[:, L.P_INSTANCE] >= 0).any() or (w.inst[:, L.I_OUT] >= 0).any() or (w.inst[~reads, L.I_QUEUE] >= 0).any()
    return not (under_way or busy)


def moved_run(made: Document, seed: int, count: int = 10) -> tuple[engine.Simulation, Rearranger]:
    most = {operator["id"]: 6 for operator in made["query"]["operators"]}
    chance = random.Random(f"times {seed}")
    control = Rearranger([chance.randrange(2_000_000, 58_000_000) for _ in range(count)], seed, most)
    simulation = control.watch(simulated(made, trace=False, controls=[control], greatest=most))
    control = next(c for c in simulation._controls if isinstance(c, Rearranger))
    simulation.run_until(simulation.end_ns)
    return simulation, control.watch(simulation) and control


@pytest.mark.slow
@pytest.mark.parametrize("name", EVENT_TIME)
def test_results_do_not_depend_on_the_parallelism(name: str) -> None:
    for processor, bound in zip(PROCESSORS, (None, 1, 5, None), strict=True):
        made = moving_document(name, processor, bound)
        whole = finished(made)
        assert rows_of(whole).total() > 30
        simulation, control = moved_run(made, PROCESSORS.index(processor))
        assert len(control.done) == 10
        assert len({tuple(wanted) for wanted in control.done}) >= 8
        assert control.moved > 10
        assert simulation.drained
        assert rows_of(simulation) == rows_of(whole)
        summary, plain = simulation.summary(), whole.summary()
        assert (summary["records_in"], summary["late"], summary["backlog"]) == (plain["records_in"], plain["late"], 0)


# -- instances that are held ----------------------------------------------------------------------------------------------------------


class Holder:
    """Holds instances from one moment to another."""

    def __init__(self, instances: list[int], from_ns: int, to_ns: int):
        self.instances, self.times = instances, [from_ns, to_ns]

    @property
    def next_ns(self) -> int:
        return self.times[0] if self.times else L.FAR

    def act(self, world: World, now_ns: int) -> None:
        self.times.pop(0)
        for i in self.instances:
            if self.times:
                hold(world, i)
            else:
                release(world, i, now_ns)

    def state(self) -> Any:
        return self.times

    def restore(self, state: Any) -> None:
        self.times = state


FROM_NS, TO_NS = 20_000_123, 33_000_000


@pytest.mark.parametrize("processor", PROCESSORS)
@pytest.mark.parametrize("name", ["aggregate, sliding", "aggregate, processing", "session_aggregate, processing"])
def test_who_is_held_serves_nothing_and_goes_on_afterwards(name: str, processor: str) -> None:
    made = moving_document(name, processor, bound=1)
    whole = finished(made)
    held_ones = [[0, 1], [4], [5, 6, 7]]
    for held in held_ones:
        simulation = simulated(made, controls=[Holder(held, FROM_NS, TO_NS)])
        simulation.run_until(simulation.end_ns)
        starts = [start for i, start, *_ in simulation.service_trace().tolist() if i in held]
        assert not any(FROM_NS < start < TO_NS for start in starts)
        assert any(start < FROM_NS for start in starts)
        assert any(start >= TO_NS for start in starts)
        assert simulation.drained
        assert simulation.summary()["records_in"] == whole.summary()["records_in"]
        assert not simulation._world.arrays.inst[:, L.I_QUEUE_COUNT].any()
        if "processing" not in name:
            assert rows_of(simulation) == rows_of(whole)
        else:  # other records meet in a window, but each is in one, and all windows end
            assert simulation._world.arrays.inst[:, L.I_ENTRIES].sum() == 0
            assert total(simulation) == total(whole) > 100


def total(simulation: engine.Simulation) -> int:
    """Records that all windows have counted."""
    return sum(record["values"][names(simulation).index("n")] for record in simulation.sink_records("sink"))


def names(simulation: engine.Simulation) -> tuple[str, ...]:
    return tuple(field.name for field in simulation.sink_schema("sink").fields)


class StopAndGo(Coordinator):
    """Asks one instance to stand still, by a message that it serves."""

    def __init__(self, instance: int, at_ns: int):
        super().__init__(at_ns, 1)
        self.instance = instance

    def start(self, directory: Any) -> None:
        super().start(directory)
        self.asked = range(self.instance, self.instance + 1)


class HoldsItself(Answering):
    """Whoever is asked is held from this service on."""

    def serve(self, world: World, instance: int, message: Any, now_ns: int, post: Any) -> int:
        if message.words[0] == ASK:
            hold(world, instance)
        return self.work_ps


@pytest.mark.parametrize("processor", PROCESSORS)
@pytest.mark.parametrize("instance", [0, 4, 5])
def test_who_is_held_in_a_service_ends_that_one_and_begins_no_other(processor: str, instance: int) -> None:
    made = moving_document("aggregate, sliding", processor, bound=1)
    made["workload"] |= {"drain": False}
    simulation = simulated(made, actors=[StopAndGo(instance, 20_000_000)], agent=HoldsItself())
    simulation.run_until(simulation.end_ns)
    services = [(start, kind) for i, start, _, kind in simulation.service_trace().tolist() if i == instance]
    (asked_ns,) = [start for start, kind in services if kind == L.CONTROL_MESSAGE]
    assert max(services)[0] == asked_ns > 20_000_000
    assert len(services) > 10
    w = simulation._world.arrays
    waits = w.inst[instance, L.I_QUEUE_COUNT] + w.inst[instance, L.I_LOG_END] - w.inst[instance, L.I_LOG]
    assert waits > 0
    release(simulation._world, instance, simulation.now_ns)
    assert w.inst[instance, L.I_RANK] == 0


@pytest.mark.parametrize("processor", PROCESSORS)
@pytest.mark.parametrize("name", ["aggregate, processing", "session_aggregate, processing"])
def test_a_window_that_ends_while_its_instance_is_held_ends_afterwards(name: str, processor: str) -> None:
    """No record comes any more that would bring a tick with it."""
    made = moving_document(name, processor)
    made["workload"]["sources"]["in"]["rate"] = {"kind": "steps", "steps": [{"at_s": 0, "per_s": 5000}, {"at_s": 0.03, "per_s": 0}]}
    whole, simulation = simulated(made), simulated(made, controls=[Holder([4, 5, 6], 30_900_000, 45_000_000)])
    simulation.run_until(40_000_000)
    assert simulation._world.arrays.inst[:, L.I_ENTRIES].sum() > 0
    for each in (whole, simulation):
        each.run_until(each.end_ns)
        assert each._world.arrays.inst[:, L.I_ENTRIES].sum() == 0
    assert total(simulation) == total(whole) > 100
    assert max(record["end_ns"] for record in simulation.sink_records("sink")) > 45_000_000


def test_what_an_instance_may_hold_is_shared_by_the_channels_in_use() -> None:
    made = moving_document("aggregate, sliding")
    made["policies"] = {"flow_control": {"kind": "credits", "per_channel": 1000, "per_instance_bytes": 5000}}
    plain = simulated(made)
    wide = simulated(made, greatest={operator["id"]: 9 for operator in made["query"]["operators"]})
    bounds = plain._world.arrays.edge[:, L.E_BOUND].tolist()
    assert wide._world.arrays.edge[:, L.E_BOUND].tolist() == bounds
    rearranged(wide, dict.fromkeys(wide._plan.operators, 9))
    fewer = wide._world.arrays.edge[:, L.E_BOUND].tolist()
    assert any(9 * few < bound * 4 for few, bound in zip(fewer, bounds, strict=True))
    rearranged(wide, dict.fromkeys(wide._plan.operators, 1))
    w = wide._world.arrays
    assert all(more > bound for more, bound in zip(w.edge[1:, L.E_BOUND].tolist(), bounds[1:], strict=True))
    room = [*w.edge[1:, L.E_CREDIT].tolist(), len(w.credit)]
    used = w.edge[:, L.E_CREDIT] + np.bincount(w.chan[:, L.C_EDGE]) * w.edge[:, L.E_BOUND]
    assert (used <= room).all()
