"""Operators with active standbys: both process the same input, and standbys hold their results back until they take over.

A control, as `engine.state.stores`. The k-th result of a standby on a channel is the k-th of its operator, since both get the same records
in the same order. So what a sink has had from the one tells what it still needs from the other, and standbys forget the rest.

Source: Chronarakis 2019, 2.2 (specification of incremental checkpointing, B9); Hwang et al. 2005 for the pair of output queues.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from engine.core import layout as L
from engine.core.control import instance_checkpoint
from engine.core.control.under_way import ends_under_way
from engine.core.kernels import channel_log
from engine.core.tables import Words
from engine.core.world import World
from engine.spec import Experiment
from engine.spec.experiment.states.active_standby import ActiveStandby

from .stores import Loss

TRIM_NS = 250_000_000
"""Time between two looks at what sinks have had."""


@dataclass
class Pair:
    """An instance and its standby, with their channels in the same order. active: whose results are sent: 0 the operator's, 1 the
    standby's. lost: which of the two is lost, -1 if neither is."""

    names: tuple[str, str]
    instances: tuple[int, int]
    hosts: tuple[int, int]
    into: tuple[Words, Words]
    out_of: tuple[Words, Words]
    active: int = 0
    lost: int = -1

    @property
    def waits(self) -> bool:
        """Whether its operator is lost, and its standby has not taken over."""
        return self.lost == 0 and self.active == 0


@dataclass
class Takeover:
    """A loss of the host of active instances. at_ns: when their standbys send. again: results that they had held back, and send."""

    host: int
    lost_ns: int
    at_ns: int
    again: int = 0


class Standbys:
    """sample: what a frame tells of each pair, at the end of the last one. takeovers: of the run, in order."""

    may_fill, exhaustion = False, ""

    def __init__(self, experiment: Experiment, world: World):
        about = experiment.policies.state
        assert isinstance(about, ActiveStandby)
        self._takeover_ns, self._end_ns = about.takeover_ns, experiment.workload.end_ns
        numbers = {spec.id: n for n, spec in enumerate(experiment.query.operators)}
        self.pairs = [
            _pair(world, k, (numbers[pair.operator], numbers[pair.standby]), (pair.operator, pair.standby))
            for pair in about.pairs
            for k in range(experiment.operator(pair.operator).parallelism)
        ]
        w = world.arrays
        for pair in self.pairs:
            w.gate[pair.out_of[1], L.Q_LOG] = 0
            _mute(world, pair, 1)
            w.chan[pair.out_of[1], L.C_WATERMARK] = L.FAR  # it holds no watermark of its sinks back
        logged = w.gate[: len(w.chan), L.Q_LOG]
        logged[np.setdiff1d(np.arange(len(w.chan)), np.concatenate([pair.out_of[1] for pair in self.pairs]))] = -1
        self.takeovers: list[Takeover] = []
        self._trim_ns = TRIM_NS
        self._frame_ns = self._sample_ns = experiment.measurement.frame_ns
        self.sample = self._counts(world)

    # -- as a control --------------------------------------------------------------------------------------------------------------

    @property
    def next_ns(self) -> int:
        due_ns = min(self._trim_ns, self._sample_ns, *(one.at_ns for one in self._pending()))
        return due_ns if due_ns <= self._end_ns else L.FAR

    def _pending(self) -> list[Takeover]:
        waiting = {pair.hosts[0] for pair in self.pairs if pair.waits}
        return [one for one in self.takeovers if one.host in waiting]

    def act(self, world: World, now_ns: int) -> None:
        for one in self._pending():
            if one.at_ns <= now_ns:
                self._take_over(world, one, now_ns)
        if self._trim_ns <= now_ns:
            self._trim_ns = now_ns + TRIM_NS
            self._trim(world)
        if self._sample_ns <= now_ns:
            self._sample_ns = min(now_ns + self._frame_ns, self._end_ns) if now_ns < self._end_ns else L.FAR
            self.sample = self._counts(world)

    def take(self, world: World) -> None:
        """Nothing is noted of changes of state."""

    def settle(self, world: World, now_ns: int) -> None:
        """Nothing is in an order that depends on how the run was cut."""

    def _trim(self, world: World) -> None:
        """Standbys forget the results that sinks have had."""
        w = world.arrays
        first = np.zeros(len(w.gate), np.int64)
        for pair in self.pairs:
            first[pair.out_of[1]] = w.carried[pair.out_of[0], L.SEQ_PROCESSED]
        channel_log.forget_before(w, first)

    # -- losses of hosts -----------------------------------------------------------------------------------------------------------

    def watch(self, losses: Sequence[Loss]) -> None:
        """Be told when a host is lost."""
        for loss in losses:
            loss.stores = self

    def lost(self, world: World, host: int, now_ns: int, disk_lost: bool) -> None:
        """The processes of a host end at `now_ns`. The core has not lost it yet."""
        for pair in self.pairs:
            if pair.lost >= 0 or host not in pair.hosts:
                continue
            pair.lost = pair.hosts.index(host)
            _mute(world, pair, pair.lost)
            if pair.lost == 1:
                _forget(world, pair)
            elif not any(one.host == host for one in self.takeovers):
                self.takeovers.append(Takeover(host, now_ns, now_ns + max(self._takeover_ns, 1)))

    def started(self, world: World, host: int, now_ns: int) -> None:
        """The processes of a host are up: empty, so their results count no more."""

    def _take_over(self, world: World, takeover: Takeover, now_ns: int) -> None:
        under_way = ends_under_way(world)
        for pair in self.pairs:
            if pair.hosts[0] != takeover.host or not pair.waits:
                continue
            w = world.arrays
            lost, own = pair.out_of
            first = np.maximum(w.carried[lost, L.SEQ_PROCESSED], under_way[lost])
            sent = w.carried[own, L.SEQ_SENT]
            w.chan[own, L.C_HELD] = first
            w.chan[own, L.C_WATERMARK] = w.chan[lost, L.C_WATERMARK]
            w.chan[lost, L.C_WATERMARK] = L.FAR
            again = [[c, a, b] for c, a, b in zip(own.tolist(), first.tolist(), sent.tolist(), strict=True) if b > a]
            instance_checkpoint.send_again(world, again, now_ns)
            if world.arrays.inst[pair.instances[1], L.I_WATERMARK] > -L.FAR:
                instance_checkpoint.send_marks_on(world, own, now_ns)
            takeover.again += sum(b - a for _, a, b in again)
            _forget(world, pair)
            pair.active = 1

    # -- for telemetry -------------------------------------------------------------------------------------------------------------

    def _counts(self, world: World) -> list[dict[str, int]]:
        """By pair. active, lost: as of `Pair`. held: results of the standby that its sinks have not had, yet. behind: records of the input
        that it has still to process and its operator has processed, negative if it is ahead."""
        w, found = world.arrays, []
        for pair in self.pairs:
            ready = pair.lost < 0
            held = w.carried[pair.out_of[1], L.SEQ_SENT] - w.carried[pair.out_of[0], L.SEQ_PROCESSED]
            served = [int(w.carried[into, L.SEQ_PROCESSED].sum()) for into in pair.into]
            numbers = {"held": int(np.maximum(held, 0).sum()) * ready, "behind": (served[0] - served[1]) * ready}
            found.append({"active": pair.active, "lost": pair.lost, **numbers})
        return found

    # -- saving --------------------------------------------------------------------------------------------------------------------

    def state(self) -> Any:
        return {
            "pairs": [[pair.active, pair.lost] for pair in self.pairs],
            "takeovers": [asdict(one) for one in self.takeovers],
            "times": [self._trim_ns, self._sample_ns, self.sample],
        }

    def restore(self, state: Any) -> None:
        for pair, (active, lost) in zip(self.pairs, state["pairs"], strict=True):
            pair.active, pair.lost = active, lost
        self.takeovers = [Takeover(**one) for one in state["takeovers"]]
        self._trim_ns, self._sample_ns, self.sample = state["times"]


class StandbyWatch:
    """What frames and the summary of a run say of its standbys."""

    name = "standbys"

    def __init__(self, standbys: Standbys, hosts: Sequence[str]):
        """hosts: names of all."""
        self._standbys, self._hosts = standbys, hosts

    def frame(self, from_ns: int, to_ns: int) -> dict[str, Any]:
        """At the end of the frame. held, behind: as of `Standbys`, of all pairs. ready: pairs of which neither is lost. pairs: by name of
        the operator's instance. instances: of each pair, its own and the standby's, and where they are. takeovers: those that began in the
        frame, or were not over when it began."""
        pairs, sample = self._standbys.pairs, self._standbys.sample
        return {
            "held": sum(one["held"] for one in sample),
            "behind": sum(one["behind"] for one in sample),
            "ready": sum(one["lost"] < 0 for one in sample),
            "pairs": {pair.names[0]: one for pair, one in zip(pairs, sample, strict=True)},
            "instances": [{"names": list(pair.names), "hosts": [self._hosts[h] for h in pair.hosts]} for pair in pairs],
            "takeovers": [self._told(one, to_ns) for one in self._standbys.takeovers if from_ns < one.at_ns and one.lost_ns <= to_ns],
        }

    def _told(self, one: Takeover, to_ns: int) -> dict[str, Any]:
        told = {"host": self._hosts[one.host], "lost_s": one.lost_ns / 1e9, "at_s": one.at_ns / 1e9}
        return told if one.at_ns > to_ns else {**told, "again": one.again}

    def summary(self, world: World, to_ns: int) -> dict[str, Any]:
        """Since the start of the run. sent_again: results that standbys had held back and sent when they took over. unprotected: instances
        without a standby at the end."""
        over = [one for one in self._standbys.takeovers if one.at_ns <= to_ns]
        return {
            "takeovers": len(over),
            "sent_again": sum(one.again for one in over),
            "unprotected": sum(pair.lost >= 0 for pair in self._standbys.pairs),
        }


def _pair(world: World, k: int, numbers: tuple[int, int], ids: tuple[str, str]) -> Pair:
    w = world.arrays
    first, second = (int(w.op[n, L.O_FIRST]) + k for n in numbers)
    instances, hosts = (first, second), (int(w.inst[first, L.I_HOST]), int(w.inst[second, L.I_HOST]))
    into = _alike(world, world.entering[first], L.C_SENDER), _alike(world, world.entering[second], L.C_SENDER)
    out_of = _alike(world, world.leaving[first], L.C_RECEIVER), _alike(world, world.leaving[second], L.C_RECEIVER)
    return Pair((f"{ids[0]}[{k}]", f"{ids[1]}[{k}]"), instances, hosts, into, out_of)


def _alike(world: World, channels: Words, end: int) -> Words:
    """The channels, in the order of their other ends and of ports, which is the same for both of a pair."""
    w = world.arrays
    edges = w.edge[w.chan[channels, L.C_EDGE]]
    found: Words = channels[np.lexsort((edges[:, L.E_PORT], edges[:, L.E_OUTPUT], w.chan[channels, end]))]
    return found


def _mute(world: World, pair: Pair, which: int) -> None:
    """One of the two sends nothing from now on."""
    world.arrays.chan[pair.out_of[which], L.C_HELD] = L.FAR


def _forget(world: World, pair: Pair) -> None:
    """The standby keeps no results any more."""
    w = world.arrays
    first = np.zeros(len(w.gate), np.int64)
    first[pair.out_of[1]] = L.FAR
    w.gate[pair.out_of[1], L.Q_LOG] = -1
    channel_log.forget_before(w, first)
