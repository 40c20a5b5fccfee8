"""Balances the worksets of a run: reads the loads of the window that ends, plans, and changes owners from the next window on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core import layout as L
from engine.core.control.keyed_state import entries_by_key, parameters
from engine.core.tables import Arrays, Words
from engine.core.world import World
from engine.operators.pairs import JOIN_EXTRA, JOIN_LATENESS, JOIN_LEFT_BYTES, JOIN_RIGHT_BYTES
from engine.operators.similarity_join import S_COMPARED, S_PAIRED
from engine.operators.workset_formulation import FORM_ROW_FROM, FORM_ROW_NEXT, FORM_ROW_WORKER, WORKSETS_MAX
from engine.spec import Experiment
from engine.spec.base.family import implementation
from engine.spec.base.units import seconds_ns
from engine.spec.experiment.balancings.base import Balancing

from .loads import Loads, Move, Workset
from .worksets import centroid_rows, places


@dataclass
class Action:
    """What was planned before a window. from_s: its start. loads: by worker in the window before, and as they would have been with the
    moves; in comparisons, or us of CPU time. pending: worksets left out because an earlier move of theirs is still under way."""

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


@dataclass(frozen=True)
class Stage:
    """A formulation and the join behind it. formulation, join: their first instances and parallelisms."""

    name: str
    formulation: tuple[int, int]
    join: tuple[int, int]
    size_ns: int
    origin_ns: int


def stages(experiment: Experiment) -> list[Stage]:
    """The similarity joins of a query, each with the formulation in front of it."""
    found = []
    for place in places(experiment):
        window = place.join.parameters.window
        origin_ns = seconds_ns(window.origin_s) + experiment.query.starts_ns.get(place.join.id, 0)
        found.append(Stage(place.join.id, place.formulation_at, place.join_at, seconds_ns(window.size_s), origin_ns))
    return found


class Balancer:
    """A control that acts shortly before each window starts. No record of the window is there yet, so all of them find the new owners."""

    def __init__(self, experiment: Experiment):
        about = experiment.policies.balancing
        assert isinstance(about, Balancing)
        self._about, self._stages = about, stages(experiment)
        self._plan = implementation(type(about), "engine.similarity", "plan")
        self._until_ns = experiment.workload.horizon_ns
        self._due_ns = [stage.origin_ns + stage.size_ns - about.notice_ns for stage in self._stages]
        for n, stage in enumerate(self._stages):
            while self._due_ns[n] <= 0:
                self._due_ns[n] += stage.size_ns
        self.actions: list[Action] = []

    @property
    def next_ns(self) -> int:
        due_ns = min(self._due_ns, default=L.FAR)
        return due_ns if due_ns < self._until_ns else L.FAR

    def act(self, world: World, now_ns: int) -> None:
        for n, stage in enumerate(self._stages):
            if self._due_ns[n] <= now_ns:
                self._due_ns[n] += stage.size_ns
                self._balance(world, stage, now_ns, now_ns + self._about.notice_ns)

    def _balance(self, world: World, stage: Stage, now_ns: int, from_ns: int) -> None:
        places = self._places(world, stage)
        loads, pending = self._loads(world, stage, places, from_ns)
        before, imbalance = list(loads.by_worker), loads.imbalance
        if self._about.trigger == "always" or imbalance > self._about.threshold * sum(before):
            self._plan(self._about, loads)
        self._apply(world, places, loads.moves, from_ns)
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
            )
        )

    def _places(self, world: World, stage: Stage) -> dict[int, tuple[int, int]]:
        """By workset: the instance of the formulation that knows it, and its row."""
        w = world.arrays
        found: dict[int, tuple[int, int]] = {}
        for i in range(stage.formulation[0], sum(stage.formulation)):
            for space, rows in centroid_rows(w, i):
                for number, row in enumerate(rows.tolist(), 1):
                    found[space * WORKSETS_MAX + number] = (i, row)
        return found

    def _loads(self, world: World, stage: Stage, places: Mapping[int, tuple[int, int]], from_ns: int) -> tuple[Loads, int]:
        """Loads in the window that ends at `from_ns`, by the owner of the next one. Worksets that are moving already are left out; their
        number comes second, and their loads count for no worker."""
        w = world.arrays
        measured: dict[int, tuple[float, int]] = {}
        for i in range(stage.join[0], sum(stage.join)):
            at = parameters(w, i)
            bytes_of = w.par[[at + JOIN_LEFT_BYTES, at + JOIN_RIGHT_BYTES]]
            entries = entries_by_key(w, i)
            entries = entries[w.entry[entries, L.S_PANE] == from_ns - stage.size_ns]
            sizes = w.entry[entries][:, [L.S_LEFT, L.S_LEFT + L.S_SIDE]] @ bytes_of
            loads = self._load_of(w, i, w.entry[entries])
            for workset, load, size in zip(w.entry[entries, L.S_KEY].tolist(), loads.tolist(), sizes.tolist(), strict=True):
                measured[workset] = load, size
        owned, pending = [], 0
        for workset, (i, row) in sorted(places.items()):
            at = parameters(w, i)
            extra = int(w.par[at + JOIN_EXTRA])
            moved_ns = int(w.row[row, extra + FORM_ROW_FROM])
            if L.FAR > moved_ns > int(w.inst[i, L.I_WATERMARK]) - int(w.par[at + JOIN_LATENESS]):
                pending += 1
                continue
            owner = int(w.row[row, extra + (FORM_ROW_WORKER if moved_ns == L.FAR else FORM_ROW_NEXT)])
            load, size = measured.get(workset, (0, 0))
            owned.append((owner % stage.join[1], Workset(workset, float(load), size)))
        return Loads.of(owned, stage.join[1]), pending

    def _load_of(self, w: Arrays, i: int, entries: Words) -> NDArray[np.float64]:
        """Loads of worksets at an instance of the join, in comparisons or us. Shape (n,)."""
        compared: NDArray[np.float64] = entries[:, S_COMPARED].astype(np.float64)
        if self._about.load == "comparisons":
            return compared
        prices = w.op[w.inst[i, L.I_OP], [L.O_RECORD_PS, L.O_READ_PS, L.O_OUTPUT_PS]]
        records = entries[:, L.S_LEFT] + entries[:, L.S_LEFT + L.S_SIDE]
        work_ps = np.stack([records, entries[:, S_COMPARED], entries[:, S_PAIRED]], axis=1) @ prices
        return work_ps / 1e6

    def _apply(self, world: World, places: Mapping[int, tuple[int, int]], moves: list[Move], from_ns: int) -> None:
        w = world.arrays
        targets = {move.id: move.target for move in moves}  # of a workset that was moved twice, the last
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
        return {"actions": [_told(action) for action in actions], **_shares(actions[-1] if actions else None)}

    def summary(self) -> dict[str, Any]:
        """All actions, and the moves of each as [space, number, from, to, comparisons, bytes, benefit]."""
        return {"actions": [_told(action) for action in self.actions], "moves": sum(len(action.moves) for action in self.actions)}

    def state(self) -> Any:
        return [self._due_ns, [asdict(action) | {"moves": [list(move) for move in action.moves]} for action in self.actions]]

    def restore(self, state: Any) -> None:
        self._due_ns = list(state[0])
        self.actions = [Action(**{**action, "moves": [Move(*move) for move in action["moves"]]}) for action in state[1]]


def balancer_of(experiment: Experiment) -> Balancer | None:
    """The control that balances the worksets of a run, None without one."""
    return Balancer(experiment) if isinstance(experiment.policies.balancing, Balancing) else None


def _told(action: Action) -> dict[str, Any]:
    moves = [
        [move.id // WORKSETS_MAX, move.id % WORKSETS_MAX, move.source, move.target, move.load, move.bytes, round(move.benefit, 6)]
        for move in action.moves
    ]
    return asdict(action) | {"moves": moves, "imbalance_share": _shares(action)["imbalance_share"]}


def _shares(action: Action | None) -> dict[str, float | None]:
    """Imbalance, least and largest load over the mean load of a worker."""
    names = ("imbalance_share", "least_share", "most_share")
    mean = 0.0 if action is None else sum(action.loads) / len(action.loads)
    if action is None or not mean:
        return dict.fromkeys(names, None if action is None else 0.0)
    return dict(zip(names, (round(of / mean, 6) for of in (action.imbalance, min(action.loads), max(action.loads))), strict=True))
