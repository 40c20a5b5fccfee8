"""Balances the worksets of a run: reads loads, plans, and has worksets change owners, from the next window on or at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core import layout as L
from engine.core.control.keyed_state import entries_by_key, parameters
from engine.core.tables import Arrays, Words
from engine.core.world import World
from engine.operators.pairs import JOIN_EXTRA, JOIN_LATENESS, JOIN_LEFT_BYTES, JOIN_RIGHT_BYTES
from engine.operators.similarity_join import S_COMPARED, S_INNERS, S_OUTERS, S_PAIRED
from engine.operators.workset_formulation import (
    FORM_ROW_FROM,
    FORM_ROW_NEXT,
    FORM_ROW_PARTS,
    FORM_ROW_SPLIT,
    FORM_ROW_WORKER,
    WORKSETS_MAX,
)
from engine.spec import Experiment
from engine.spec.base.family import implementation
from engine.spec.base.units import seconds_ns
from engine.spec.experiment.balancings.base import Balancing, BalancingOrder
from engine.spec.rules.similarity import sink_of_workers
from engine.telemetry.histogram import percentiles_ns

from .estimates import Estimates
from .hand_over import Coordinator
from .loads import Loads, Move, Split, Workset, parts_by_worker
from .worksets import centroid_rows, places


@dataclass
class Action:
    """What was planned, before a window or in its middle. from_s: when the moves hold. loads: by worker since the last plan, and as they
    would have been with the moves; in comparisons, or us of CPU time. pending: worksets left out because an earlier move of theirs is still
    under way. hand_over: its number, if records move; 0 if not. unknown: worksets of an order that did not exist, as [space, number].
    splits: worksets that are divided from then on."""

    t_s: float
    from_s: float
    join: str
    worksets: int
    loads: list[float]
    planned: list[float]
    imbalance: float
    imbalance_planned: float
    moves: list[Move] = field(default_factory=list)
    pending: int = 0
    hand_over: int = 0
    unknown: list[list[int]] = field(default_factory=list)
    splits: list[Split] = field(default_factory=list)


@dataclass(frozen=True)
class Stage:
    """A formulation and the join behind it. name, formulation_name: their ids. formulation, join: their first instances and parallelisms.
    sink: number and parallelism of the sink that measures each worker."""

    name: str
    formulation_name: str
    sink: tuple[int, int] | None
    formulation: tuple[int, int]
    join: tuple[int, int]
    size_ns: int
    origin_ns: int


def stages(experiment: Experiment) -> list[Stage]:
    """The similarity joins of a query, each with the formulation in front of it."""
    found = []
    for place in places(experiment):
        window = place.join.parameters.window
        origin_ns = seconds_ns(getattr(window, "origin_s", 0)) + experiment.query.starts_ns.get(place.join.id, 0)
        size_ns = seconds_ns(getattr(window, "size_s", 0))
        sink = sink_of_workers(experiment.query.operators, experiment.query.edges, place.join)
        found.append(Stage(place.join.id, place.formulation.id, sink, place.formulation_at, place.join_at, size_ns, origin_ns))
    return found


class Balancer:
    """A control that acts shortly before each window starts. No record of the window is there yet, so all of them find the new owners.
    With a coordinator it acts every so often, and stored records move as well (`hand_over`)."""

    def __init__(self, experiment: Experiment, coordinator: Coordinator | None):
        about = experiment.policies.balancing
        assert isinstance(about, Balancing)
        self._about, self._stages, self._coordinator = about, stages(experiment), coordinator
        self._plan = implementation(type(about), "engine.similarity", "plan")
        self._until_ns = experiment.workload.horizon_ns
        self._sources = [spec.id for spec in experiment.query.operators if spec.kind == "source"]
        self._measured_ns: list[Words | None] = [None] * len(self._stages)  # latencies by worker and bucket at the last plan
        self._done: list[dict[tuple[int, int], float]] = [{} for _ in self._stages]  # load by workset and window at the last plan
        self._estimates = [Estimates() for _ in self._stages] if about.statistics == "artefact" else []
        self._monitors_ns = seconds_ns(about.monitor_s) if self._estimates else L.FAR  # the end of a monitoring window
        if coordinator is not None:
            self._every_ns = [seconds_ns(about.every_s)] * len(self._stages)
            self._due_ns = list(self._every_ns)
        else:
            self._every_ns = [stage.size_ns for stage in self._stages]
            self._due_ns = [stage.origin_ns + stage.size_ns - about.notice_ns for stage in self._stages]
        for n, every_ns in enumerate(self._every_ns):
            while self._due_ns[n] <= 0:
                self._due_ns[n] += every_ns
        if not about.periodic:
            self._due_ns = [L.FAR] * len(self._stages)
        self._orders = sorted(about.orders, key=lambda order: order.at_s)
        self._ordered = 0  # orders that were carried out
        self._waits_until_ns = 0
        self.actions: list[Action] = []

    @property
    def next_ns(self) -> int:
        due_ns = min([*self._due_ns, self._order_ns, self._monitors_ns])
        return due_ns if due_ns < self._until_ns else L.FAR

    @property
    def _order_ns(self) -> int:
        """When the next order is due. While records move it waits, and is looked at every so often."""
        if self._ordered == len(self._orders):
            return L.FAR
        return max(seconds_ns(self._orders[self._ordered].at_s), self._waits_until_ns)

    def act(self, world: World, now_ns: int) -> None:
        if self._monitors_ns <= now_ns:
            self._monitors_ns += seconds_ns(self._about.monitor_s)
            self._estimate(world)
        for n, stage in enumerate(self._stages):
            if self._due_ns[n] <= now_ns:
                self._due_ns[n] += self._every_ns[n]
                if self._coordinator is None:
                    self._balance(world, n, stage, now_ns, now_ns + self._about.notice_ns)
                elif not self._coordinator.busy:
                    self._balance(world, n, stage, now_ns, now_ns)
                elif self._coordinator.join != stage.name:  # one hand-over at a time; a plan during one of its own is left out
                    self._due_ns[n] = now_ns + WAITS_NS
        if self._order_ns <= now_ns:
            if self._coordinator is not None and self._coordinator.busy:
                self._waits_until_ns = now_ns + WAITS_NS
                return
            order = self._orders[self._ordered]
            self._ordered += 1
            n = next(n for n, stage in enumerate(self._stages) if order.join in ("", stage.name))
            stage = self._stages[n]
            windows = max(0, -(-(now_ns + 1 - stage.origin_ns) // stage.size_ns)) if stage.size_ns else 0
            from_ns = now_ns if self._coordinator is not None else stage.origin_ns + windows * stage.size_ns
            self._balance(world, n, stage, now_ns, from_ns, order)

    def _balance(self, world: World, n: int, stage: Stage, now_ns: int, from_ns: int, order: BalancingOrder | None = None) -> None:
        places = self._places(world, stage)
        mean = None
        if self._estimates:
            self._estimate(world)
            measured, mean = self._estimated_in_window(world, n, stage, from_ns - stage.size_ns)
        elif self._coordinator is None:
            measured = self._measured_in_window(world, stage, from_ns - stage.size_ns)
        else:
            measured = self._measured_since(world, n, stage)
        loads, pending = self._loads(world, stage, places, measured, mean)
        before, imbalance = list(loads.by_worker), loads.imbalance
        unknown: list[list[int]] = []
        if order is not None and order.moves:
            unknown = _carry_out(order, loads)
        elif order is not None or self._is_due(world, n, stage, loads):
            if self._about.split_oversized:
                loads.split_oversized()
            self._plan(self._about, loads)
        hand_over = 0
        if self._coordinator is None:
            self._apply(world, places, loads, from_ns)
        elif loads.moves:
            hand_over = self._coordinator.order(stage.formulation_name, stage.name, stage.join[0], loads.moves, self._sources, now_ns)
        worksets = sum(map(len, loads.worksets)) + pending
        self.actions.append(
            Action(
                now_ns / 1e9,
                from_ns / 1e9,
                stage.name,
                worksets,
                before,
                list(loads.by_worker),
                imbalance,
                loads.imbalance,
                loads.moves,
                pending,
                hand_over,
                unknown,
                loads.splits,
            )
        )

    def _is_due(self, world: World, n: int, stage: Stage, loads: Loads) -> bool:
        """Whether the trigger asks for moves."""
        about = self._about
        if about.trigger == "load":
            return loads.imbalance > about.threshold * sum(loads.by_worker)
        if about.trigger == "latency":
            p99_ns = self._p99_ns(world, n, stage)
            return max(p99_ns) - min(p99_ns) > about.threshold * max(p99_ns)
        return True

    def _p99_ns(self, world: World, n: int, stage: Stage) -> list[int]:
        """The 99th percentile of the latency at each worker since the last plan; 0 without a pair."""
        assert stage.sink is not None, "validation asks for a sink that measures each worker"
        w = world.arrays
        number, instances = stage.sink
        first = int(w.par[w.op[number, L.O_PARAMS] + L.SINK_LATENCIES])
        now = w.by_instance[first : first + instances].copy()
        before, self._measured_ns[n] = self._measured_ns[n], now
        new = now if before is None else now - before
        return [percentiles_ns(counts, [0.99])[0] or 0 for counts in new]

    def _places(self, world: World, stage: Stage) -> dict[int, tuple[int, int]]:
        """By workset: the instance of the formulation that knows it, and its row."""
        w = world.arrays
        found: dict[int, tuple[int, int]] = {}
        for i in range(stage.formulation[0], sum(stage.formulation)):
            for space, rows in centroid_rows(w, i):
                for number, row in enumerate(rows.tolist(), 1):
                    found[space * WORKSETS_MAX + number] = (i, row)
        return found

    def _measured(self, world: World, stage: Stage) -> Iterator[tuple[int, int, float, int]]:
        """Workset, start of the window, load so far, and bytes of its records, of all that the join stores."""
        w = world.arrays
        for i in range(stage.join[0], sum(stage.join)):
            at = parameters(w, i)
            bytes_of = w.par[[at + JOIN_LEFT_BYTES, at + JOIN_RIGHT_BYTES]]
            entries = w.entry[entries_by_key(w, i)]
            sizes = entries[:, [L.S_LEFT, L.S_LEFT + L.S_SIDE]] @ bytes_of
            columns = entries[:, L.S_KEY], entries[:, L.S_PANE], self._load_of(w, i, entries), sizes
            yield from zip(*(column.tolist() for column in columns), strict=True)

    def _measured_in_window(self, world: World, stage: Stage, start_ns: int) -> dict[int, tuple[float, int]]:
        """Load and bytes by workset, of one window; of a split one, those of all parts."""
        found: dict[int, tuple[float, int]] = {}
        for workset, pane, load, size in self._measured(world, stage):
            if pane == start_ns:
                others, held = found.get(workset, (0.0, 0))
                found[workset] = others + load, held + size
        return found

    def _estimate(self, world: World) -> None:
        """End a monitoring window."""
        w = world.arrays
        for stage, estimates in zip(self._stages, self._estimates, strict=True):
            entries = w.entry[np.concatenate([entries_by_key(w, i) for i in range(stage.join[0], sum(stage.join))])]
            inner, outer = entries[:, S_INNERS], entries[:, S_OUTERS]
            outliers = entries[:, L.S_LEFT] + entries[:, L.S_LEFT + L.S_SIDE] - inner - outer
            columns = (column.tolist() for column in (entries[:, L.S_KEY], entries[:, L.S_PANE], inner, outer, outliers))
            estimates.sample(((key, pane), (a, b, c)) for key, pane, a, b, c in zip(*columns, strict=True))

    def _estimated_in_window(self, world: World, n: int, stage: Stage, start_ns: int) -> tuple[dict[int, tuple[float, int]], float]:
        """Estimated load and bytes by workset, of one window, and the mean of what workers were measured to do."""
        w, loads, done = world.arrays, self._estimates[n].loads, 0
        for i in range(stage.join[0], sum(stage.join)):
            entries = w.entry[entries_by_key(w, i)]
            here = entries[:, L.S_PANE] == start_ns
            done += int(entries[here][:, [S_COMPARED, S_PAIRED]].sum())
        measured = self._measured_in_window(world, stage, start_ns)
        return {key: (loads.get((key, start_ns), 0.0), size) for key, (_, size) in measured.items()}, done / stage.join[1]

    def _measured_since(self, world: World, n: int, stage: Stage) -> dict[int, tuple[float, int]]:
        """Load since the last plan and bytes by workset, over all windows that are open."""
        found: dict[int, tuple[float, int]] = {}
        before, self._done[n] = self._done[n], {}
        for workset, pane, load, size in self._measured(world, stage):
            self._done[n][workset, pane] = load
            since, held = found.get(workset, (0.0, 0))
            found[workset] = since + load - before.get((workset, pane), 0.0), held + size
        return found

    def _loads(
        self,
        world: World,
        stage: Stage,
        places: Mapping[int, tuple[int, int]],
        measured: Mapping[int, tuple[float, int]],
        mean: float | None,
    ) -> tuple[Loads, int]:
        """Loads by the owner from now on. measured: load and bytes by workset. mean: what loads are set against, None for their own.
        Worksets that are moving already are left out; their number comes second, and their loads count for no worker. Those that are split
        stay."""
        w = world.arrays
        owned, pending, fixed = [], 0, [0.0] * stage.join[1]
        for workset, (i, row) in sorted(places.items()):
            at = parameters(w, i)
            extra = int(w.par[at + JOIN_EXTRA])
            moved_ns = int(w.row[row, extra + FORM_ROW_FROM])
            if L.FAR > moved_ns > int(w.inst[i, L.I_WATERMARK]) - int(w.par[at + JOIN_LATENESS]):
                pending += 1
                continue
            owner = int(w.row[row, extra + (FORM_ROW_WORKER if moved_ns == L.FAR else FORM_ROW_NEXT)])
            load, size = measured.get(workset, (0, 0))
            if w.row[row, extra + FORM_ROW_SPLIT] < L.FAR:
                for n, share in parts_by_worker(owner % stage.join[1], int(w.row[row, extra + FORM_ROW_PARTS]), stage.join[1], float(load)):
                    fixed[n] += share
                continue
            owned.append((owner % stage.join[1], Workset(workset, float(load), size)))
        return Loads.of(owned, stage.join[1], mean, fixed), pending

    def _load_of(self, w: Arrays, i: int, entries: Words) -> NDArray[np.float64]:
        """Loads of worksets at an instance of the join, in comparisons or us. Shape (n,)."""
        compared: NDArray[np.float64] = entries[:, S_COMPARED].astype(np.float64)
        if self._about.load == "comparisons":
            return compared
        prices = w.op[w.inst[i, L.I_OP], [L.O_RECORD_PS, L.O_READ_PS, L.O_OUTPUT_PS]]
        records = entries[:, L.S_LEFT] + entries[:, L.S_LEFT + L.S_SIDE]
        work_ps = np.stack([records, entries[:, S_COMPARED], entries[:, S_PAIRED]], axis=1) @ prices
        return work_ps / 1e6

    def _apply(self, world: World, places: Mapping[int, tuple[int, int]], loads: Loads, from_ns: int) -> None:
        w = world.arrays
        for split in loads.splits:
            i, row = places[split.id]
            extra = int(w.par[parameters(w, i) + JOIN_EXTRA])
            w.row[row, extra + FORM_ROW_PARTS], w.row[row, extra + FORM_ROW_SPLIT] = split.parts, from_ns
        targets = {move.id: move.target for move in loads.moves}  # of a workset that was moved twice, the last
        for workset, target in targets.items():
            i, row = places[workset]
            extra = int(w.par[parameters(w, i) + JOIN_EXTRA])
            if w.row[row, extra + FORM_ROW_FROM] < L.FAR:
                w.row[row, extra + FORM_ROW_WORKER] = w.row[row, extra + FORM_ROW_NEXT]
            w.row[row, extra + FORM_ROW_NEXT] = target
            w.row[row, extra + FORM_ROW_FROM] = from_ns

    def frame(self, since_ns: int, now_ns: int) -> dict[str, Any]:
        """The actions in (since_ns, now_ns], as in the summary, and of the last of them the imbalance, and the least and the largest load
        of a worker, over their mean; null without one."""
        actions = [action for action in self.actions if since_ns < round(action.t_s * 1e9) <= now_ns]
        found = {"actions": [_told(action) for action in actions], **_shares(actions[-1] if actions else None)}
        return found | ({} if self._coordinator is None else {"hand_overs": self._hand_overs(since_ns, now_ns)})

    def summary(self) -> dict[str, Any]:
        """All actions, and the moves of each as [space, number, from, to, comparisons, bytes, benefit]. With records that move, the
        hand-overs that have ended."""
        found = {"actions": [_told(action) for action in self.actions], "moves": sum(len(action.moves) for action in self.actions)}
        return found | ({} if self._coordinator is None else {"hand_overs": self._hand_overs(-1, L.FAR)})

    def _hand_overs(self, since_ns: int, now_ns: int) -> list[dict[str, Any]]:
        """Those that ended in (since_ns, now_ns]. ordered_s, aligned_s, ended_s: when it was ordered, when the last worker had its barrier,
        when the last one had its records. bytes: of these."""
        assert self._coordinator is not None
        return [
            {"number": one.number, "bytes": one.bytes, **{f"{name}_s": getattr(one, f"{name}_ns") / 1e9 for name in HAND_OVER_TIMES}}
            for one in self._coordinator.all
            if since_ns < one.ended_ns <= now_ns
        ]

    def state(self) -> Any:
        done = [[[*at, load] for at, load in sorted(loads.items())] for loads in self._done]
        actions = [
            asdict(action) | {"moves": [list(move) for move in action.moves], "splits": [list(split) for split in action.splits]}
            for action in self.actions
        ]
        return [
            self._due_ns,
            self._ordered,
            self._waits_until_ns,
            actions,
            done,
            [None if counts is None else counts.tolist() for counts in self._measured_ns],
            self._monitors_ns,
            [estimates.state() for estimates in self._estimates],
        ]

    def restore(self, state: Any) -> None:
        due_ns, self._ordered, self._waits_until_ns, actions, done, measured_ns, *estimated = state
        if estimated:  # not in states that were saved before there were estimates
            self._monitors_ns = estimated[0]
            for estimates, kept in zip(self._estimates, estimated[1], strict=True):
                estimates.restore(kept)
        self._measured_ns = [None if counts is None else np.array(counts, np.int64) for counts in measured_ns]
        self._due_ns = list(due_ns)
        self.actions = [
            Action(
                **{
                    **action,
                    "moves": [Move(*move) for move in action["moves"]],
                    "splits": [Split(*split) for split in action.get("splits", [])],
                }
            )
            for action in actions
        ]
        self._done = [{(workset, pane): load for workset, pane, load in loads} for loads in done]


def _carry_out(order: BalancingOrder, loads: Loads) -> list[list[int]]:
    """Make the moves of an order. Returns worksets that do not exist, or are moving already, as [space, number]."""
    unknown = []
    for move in order.moves:
        id = move.space * WORKSETS_MAX + move.number
        source = next((worker for worker, here in enumerate(loads.worksets) if id in here), None)
        if source is None:
            unknown.append([move.space, move.number])
        elif source != move.to:
            before = loads.imbalance
            loads.move(loads.worksets[source][id], source, move.to, 0.0)
            loads.moves[-1] = loads.moves[-1]._replace(benefit=before - loads.imbalance)
    return unknown


WAITS_NS = 1_000_000
"""So long a plan or order waits before it looks again whether records are still moving."""
HAND_OVER_TIMES = ("ordered", "aligned", "ended")


def balancer_of(experiment: Experiment, actors: Sequence[Any]) -> Balancer | None:
    """The control that balances the worksets of a run, None without one."""
    if not isinstance(experiment.policies.balancing, Balancing):
        return None
    return Balancer(experiment, next((actor for actor in actors if isinstance(actor, Coordinator)), None))


def _told(action: Action) -> dict[str, Any]:
    moves = [
        [move.id // WORKSETS_MAX, move.id % WORKSETS_MAX, move.source, move.target, move.load, move.bytes, round(move.benefit, 6)]
        for move in action.moves
    ]
    splits = [[split.id // WORKSETS_MAX, split.id % WORKSETS_MAX, split.worker, split.parts] for split in action.splits]
    found = asdict(action) | {"moves": moves, "splits": splits, "imbalance_share": _shares(action)["imbalance_share"]}
    return {name: value for name, value in found.items() if value or name not in ("hand_over", "unknown", "splits")}


def _shares(action: Action | None) -> dict[str, float | None]:
    """Imbalance, least and largest load over the mean load of a worker."""
    names = ("imbalance_share", "least_share", "most_share")
    mean = 0.0 if action is None else sum(action.loads) / len(action.loads)
    if action is None or not mean:
        return dict.fromkeys(names, None if action is None else 0.0)
    return dict(zip(names, (round(of / mean, 6) for of in (action.imbalance, min(action.loads), max(action.loads))), strict=True))
