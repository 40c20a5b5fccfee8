"""Scheduled runs: the same results under every policy, cores that idle only when nothing waits, and every other part of a run beside it."""

from __future__ import annotations

from typing import Any

import pytest

import engine
from engine.core import layout as L
from engine.core.world import World
from engine.scheduling.statistics import Statistics
from engine.scheduling.streambox import StreamBox
from engine.spec.experiment.scheduling import SCHEDULINGS
from engine.spec.experiment.scheduling.base import Scheduling

from ...support.agreement import DATASETS, cut_saved_and_forked, fingerprint, finished, frames_of, simulated, traced
from ...support.scheduled_examples import chained, contended

POLICIES = [kind.model_fields["kind"].default for kind in SCHEDULINGS.kinds if issubclass(kind, Scheduling)]
RANKING = [kind for kind in POLICIES if kind != "switched"]
SWITCHED = {"before": {"kind": "klink"}, "at_s": 2.0, "after": {"kind": "fcfs"}}


def drained(kind: str, **params: Any) -> engine.Simulation:
    document = contended(kind, **params)
    document["workload"]["drain"] = True
    return finished(document)


def rows_of(simulation: engine.Simulation) -> list[tuple[str, ...]]:
    """Window results of all queries, whenever they came."""
    return sorted((sink, repr(record["values"])) for sink in simulation.sinks for record in simulation.sink_records(sink))


@pytest.fixture(scope="module")
def unscheduled() -> engine.Simulation:
    return drained("none")


@pytest.mark.parametrize("kind", [*RANKING, "default"])
def test_all_policies_give_the_same_windows_with_the_same_work(kind: str, unscheduled: engine.Simulation) -> None:
    simulation = drained(kind)
    assert simulation.drained
    assert rows_of(simulation) == rows_of(unscheduled)
    busy, same = (run._world.arrays.inst[:, [L.I_BUSY, L.I_IN, L.I_EMITTED]] for run in (simulation, unscheduled))
    assert (busy == same).all()


@pytest.mark.parametrize("kind", RANKING)
def test_with_a_core_for_each_task_all_policies_are_alike(kind: str) -> None:
    simulations = [finished(contended(of, cores=24, horizon_s=4)) for of in ("none", kind)]
    free, ranked = (simulation.summary()["queries"]["count-bids"]["latencies_ms"]["swept"] for simulation in simulations)
    assert ranked["count"] == free["count"] > 10
    assert abs(ranked["mean"] - free["mean"]) < 120


def test_a_source_may_be_alone_in_its_query_and_on_its_host() -> None:
    document = chained(hosts=2, kind="klink", horizon_s=4)
    document["query"]["queries"][0]["operators"] = ["bids"]
    del document["query"]["queries"][0]["copies"]
    simulation = finished(document)
    cycles = {cycle.host: set(cycle.rows) for cycle in simulation._scheduler.cycles}
    assert cycles == {"w1": {"count-bids"}, "w2": {"count"}}
    assert rows_of(simulation)


class Idle:
    """Counts the moments at which a core idles while something waits that could be served."""

    def __init__(self) -> None:
        self._next_ns, self.wasted, self.looked = 1_000_000, 0, 0

    @property
    def next_ns(self) -> int:
        return self._next_ns

    def act(self, world: World, now_ns: int) -> None:
        w = world.arrays
        waits = (w.inst[:, L.I_STATUS] == L.IDLE) & (w.inst[:, L.I_QUEUE] >= 0)
        self.looked += 1
        self.wasted += bool((w.proc[:, L.P_INSTANCE] == -1).any() and waits.any() and w.host[0, L.H_RESUME] == L.FAR)
        self._next_ns = now_ns + 1_234_567

    def state(self) -> Any:
        return [self._next_ns, self.wasted, self.looked]

    def restore(self, state: Any) -> None:
        self._next_ns, self.wasted, self.looked = state


@pytest.mark.parametrize("kind", RANKING)
def test_cores_idle_only_when_nothing_waits(kind: str) -> None:
    """StreamBox holds cores for watermarks: that is what it is."""
    idle = Idle()
    simulation = simulated(contended(kind, horizon_s=4), controls=[idle], trace=False)
    simulation.run_until(simulation.end_ns)
    (seen,) = [control for control in simulation._controls if isinstance(control, Idle)]
    assert seen.looked > 3000
    assert (seen.wasted > 0) == (kind == "streambox"), seen.wasted


def test_streambox_selects_anew_as_soon_as_a_query_it_holds_has_processed_a_watermark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a cycle, too; and only then."""
    seen: list[tuple[int, bool]] = []
    select = StreamBox.select

    def watched(policy: StreamBox, statistics: Statistics) -> Any:
        of = [statistics.watermark_ns[(statistics.tasks.query == q) & statistics.open].min() for q in range(6)]
        seen.append((statistics.now_ns, any(of[q] > began for q, began in policy._held.items())))
        return select(policy, statistics)

    monkeypatch.setattr(StreamBox, "select", watched)
    finished(contended("streambox", horizon_s=4))
    between = [risen for now_ns, risen in seen if now_ns % 120_000_000]
    assert len(between) > 20
    assert all(between)


def swept(simulation: engine.Simulation) -> dict[str, float]:
    found: dict[str, float] = simulation.summary()["queries"]["count-bids"]["latencies_ms"]["swept"]
    return found


def test_klink_beats_the_others_where_cores_are_short() -> None:
    """Backlogs of less than a window: watermarks overtake the events of windows that end later."""
    kinds = ("none", "default", "fcfs", "round_robin", "klink")
    mean = {kind: swept(finished(contended(kind, per_s=640, horizon_s=24, window_s=4)))["mean"] for kind in kinds}
    assert mean["klink"] < 0.6 * min(mean[kind] for kind in kinds if kind != "klink"), mean


def test_no_query_starves_under_klink() -> None:
    simulation = finished(contended("klink", per_s=600, horizon_s=12))
    delivered = [sum(1 for _ in simulation.sink_records(sink)) for sink in simulation.sinks]
    assert max(delivered) < 1.2 * min(delivered)


@pytest.mark.parametrize(("kind", "params"), [*((kind, {}) for kind in RANKING), ("switched", SWITCHED)])
def test_a_scheduled_run_is_the_same_however_it_is_cut_saved_or_forked(kind: str, params: dict[str, Any]) -> None:
    document = contended(kind, horizon_s=4, **params)
    assert fingerprint(cut_saved_and_forked(document, 410_000_001)) == fingerprint(traced(document))


def test_a_switch_is_the_first_policy_before_and_the_second_one_after() -> None:
    first, both = (simulated(contended(kind, **params), trace=True) for kind, params in (("klink", {}), ("switched", SWITCHED)))
    for simulation in (first, both):
        simulation.run_until(1_999_000_000)
    assert first.service_trace().tolist() == both.service_trace().tolist()
    frames = frames_of(both)
    assert {frame["scheduling"]["policy"] for frame in frames} == {"Klink", "First come, first served"}


# -- what it says and what it costs ------------------------------------------------------------------------------------------------------


def test_frames_say_who_ran_and_why() -> None:
    simulation = engine.Simulation(contended("klink"), datasets=DATASETS)
    frames = frames_of(simulation)
    rows = sorted(frames[19]["scheduling"]["hosts"]["w"]["queries"].items(), key=lambda row: row[1]["rank"])
    assert [row["rank"] for _, row in rows] == list(range(1, 7))
    slacks = [row["why"]["slack_ms"] for _, row in rows]
    assert slacks == sorted(slacks)
    assert set(rows[0][1]["why"]) == {"slack_ms", "cost_ms", "expected_ms", "sigma_ms"}
    assert rows[0][1]["runs"]
    assert {name for name, _ in rows} == {f"count-bids-{k}" for k in range(1, 7)}
    summary = simulation.summary()["scheduling"]
    assert summary["cycles"] >= 50
    assert 0.8 <= summary["hit_rate"] <= 1
    assert 0 < summary["width_ms"] < 4 * 200


def test_frames_say_how_many_cores_served_each_query() -> None:
    """The queries' shares are all that the host's two cores did, less the scheduler's own work, in each frame."""
    frames = frames_of(engine.Simulation(contended("klink"), datasets=DATASETS))
    spent = [sum(row["busy_s"] for row in frame["scheduling"]["hosts"]["w"]["queries"].values()) for frame in frames]
    for before, frame, after in zip(spent, frames[1:], spent[1:], strict=False):
        assert (after - before) / 0.25 == pytest.approx(2 * frame["hosts"]["w"]["busy"], abs=0.05)
    by_query = {query: row["busy_s"] for query, row in frames[-1]["scheduling"]["hosts"]["w"]["queries"].items()}
    assert min(by_query.values()) > 0.5


def test_frames_say_when_watermarks_came_and_when_they_were_expected() -> None:
    """Each epoch is longer than a frame, so frames show all watermarks that were compared."""
    frames = frames_of(engine.Simulation(contended("klink", horizon_s=12), datasets=DATASETS))
    seen = set()
    for frame in frames:
        for query, row in frame["scheduling"]["hosts"]["w"]["queries"].items():
            ((instance, about),) = row["inputs"].items()
            assert instance == f"bids-{query.rpartition('-')[2]}[0]"
            if about["taken_s"] is not None:
                seen.add((query, about["taken_s"], about["low_s"] <= about["taken_s"] <= about["high_s"]))
    last = frames[-1]["scheduling"]
    assert len(seen) > 50
    assert last["hit_rate"] == pytest.approx(sum(hit for _, _, hit in seen) / len(seen), abs=1e-6)
    about = last["hosts"]["w"]["queries"]["count-bids-1"]["inputs"]["bids-1[0]"]
    assert 8 <= about["epochs"] <= 12
    assert about["period_ms"] == pytest.approx(1000, rel=0.05)
    assert about["delay_ms"] == pytest.approx(100, rel=0.1)  # uniform up to 200 ms
    assert about["delay_sd_ms"] == pytest.approx(200 / 12**0.5, rel=0.1)


def test_frames_of_other_policies_show_epochs_without_a_prediction() -> None:
    frame = frames_of(engine.Simulation(contended("fcfs", horizon_s=4), datasets=DATASETS))[-1]
    (about,) = frame["scheduling"]["hosts"]["w"]["queries"]["count-bids-2"]["inputs"].values()
    assert about["epochs"] > 1
    assert about["taken_s"] is None
    assert frame["scheduling"]["hosts"]["w"]["memory_mode_s"] == 0


def test_the_schedulers_work_is_paid_for() -> None:
    """Collecting 18 operators and switching take less than 1 % of the CPU time, and ten times as much in cycles of a tenth. (Of bins each
    of these has ten times as many, too.)"""
    shares = [finished(contended("klink", cycle_ms=cycle_ms, bin_us=0)).summary()["scheduling"]["overhead"] for cycle_ms in (120, 12)]
    assert 0.0005 < shares[0] < 0.01
    assert 5 < shares[1] / shares[0] < 15
    free = finished(contended("klink", collect_us=0, switch_us=0, bin_us=0)).summary()["scheduling"]
    assert free["overhead"] == 0


def test_costs_are_those_of_records() -> None:
    """Watermarks that take 20 ms each cost a query nothing but their own time."""
    document = contended("klink", per_s=50)
    document["query"]["operators"][1]["cost"] |= {"control_us": 20_000, "output_us": 0}
    simulation = finished(document)
    assert simulation._scheduler is not None
    (host,) = simulation._scheduler._hosts
    windows = [k for k, id in enumerate(host.tasks.ids) if id.startswith("count")]
    assert host.service._cost[windows].tolist() == pytest.approx([450_000.0] * 6)


def test_constant_delays_are_predicted_to_the_nanosecond() -> None:
    document = contended("klink", per_s=100)
    document["workload"]["sources"]["bids"]["disorder"] = {"kind": "constant", "delay_ms": 50}
    document["query"]["operators"][0]["cost"] = {"record_us": 0.001}
    summary = finished(document).summary()["scheduling"]
    assert summary["width_ms"] < 0.1


def test_the_printed_variance_hits_hardly_anything() -> None:
    """Eq. 3.6 as printed is the variance of a mean of epochs, far less than that of one watermark's delay."""
    rates = {
        kind: finished(contended("klink", horizon_s=20, per_s=200, variance=kind)).summary()["scheduling"] for kind in ("event", "printed")
    }
    assert rates["event"]["hit_rate"] > 0.9
    assert rates["printed"]["width_ms"] < rates["event"]["width_ms"] / 2
    assert rates["printed"]["hit_rate"] < rates["event"]["hit_rate"]


# -- with everything else ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["klink", "round_robin"])
@pytest.mark.parametrize("protocol", ["coordinated", "uncoordinated"])
def test_a_lost_host_is_recovered_beside_a_protocol(protocol: str, kind: str) -> None:
    document = contended(kind, per_s=300, horizon_s=6)
    document["workload"]["drain"] = True
    document["policies"]["checkpointing"] = {
        "kind": protocol,
        "interval_s": 1,
        **({"jitter_s": 0.2} if protocol == "uncoordinated" else {}),
    }
    calm = finished(document)
    document["faults"] = [{"kind": "host_loss", "host": "w", "when": {"kind": "at", "at_s": 2.7}, "restart_after_s": 0.2}]
    lost = finished(document)
    assert lost.summary()["checkpointing"]["recoveries"] == 1
    assert set(rows_of(lost)) == set(rows_of(calm))
    assert sorted(rows_of(finished(contended("none", per_s=300) | {"workload": document["workload"]}))) == sorted(rows_of(calm))


@pytest.mark.parametrize("rescaling", ["in_place", "stop_and_restart"])
def test_ds2_rescales_under_a_scheduler(rescaling: str) -> None:
    """Load for one instance, then for two, on four hosts: the same rescales and the same windows as without a scheduler."""

    def run(kind: str) -> engine.Simulation:
        document = contended(kind, copies=1, per_s=80, horizon_s=60)
        del document["query"]["queries"][0]["copies"], document["query"]["queries"][0]["start_within_s"]
        document["query"]["operators"][1]["cost"]["record_us"] = 2500
        document["cluster"]["hosts"][0]["count"] = 4
        steps = [{"at_s": at_s, "per_s": per_s} for at_s, per_s in ((0, 80), (20, 640), (40, 160))]
        document["workload"]["sources"]["bids"]["rate"] = {"kind": "steps", "steps": steps}
        document["workload"]["drain"] = True
        document["policies"]["scaling"] = {
            "kind": "ds2",
            "every_s": 15,
            "start_s": 5,
            "cooldown_s": 5,
            "rescaling": {"kind": rescaling, **({"restart_s": 5} if rescaling == "stop_and_restart" else {})},
        }
        return finished(document)

    plain, scheduled = run("none"), run("klink")
    assert plain.summary()["scaling"]["actions"] == scheduled.summary()["scaling"]["actions"] >= 1
    assert rows_of(scheduled) == rows_of(plain)
    assert scheduled.summary()["scheduling"]["messages"] > 0


def test_memory_is_freed_in_the_memory_mode() -> None:
    """A budget that fills within seconds: with the mode it stays lower, nothing is lost, and the run ends with the same windows."""

    def of(**params: Any) -> dict[str, Any]:
        document = contended("klink", per_s=1100, horizon_s=6, **params)
        document["cluster"]["hosts"][0]["memory"] = {"kind": "klink_2020", "budget_mb": 20}
        document["policies"]["ingress"] = {"kind": "throttle", "memory_max": 1.0}
        document["workload"] |= {"drain": True}
        return document

    with_mode, without = finished(of(memory_threshold=0.5)), finished(of(memory_threshold=None))
    assert with_mode.summary()["scheduling"]["memory_mode_s"] > 0.2
    assert without.summary()["scheduling"]["memory_mode_s"] == 0
    host = frames_of(engine.Simulation(of(memory_threshold=0.5), datasets=DATASETS))[-1]["scheduling"]["hosts"]["w"]
    assert host["memory_mode_s"] == with_mode.summary()["scheduling"]["memory_mode_s"]
    assert host["memory_budget_bytes"] == 20_000_000
    assert rows_of(with_mode) == rows_of(without)
