"""Communication-induced checkpoints (Siachamis 2024, 3.3.3): like uncoordinated ones, but records carry their senders' knowledge of all
checkpoints, and a record that would make a checkpoint useless forces another one before it is processed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from engine.core import layout as L
from engine.core.control.actors import Directory, Message, Post
from engine.core.kernels import dependency_vectors
from engine.core.random import RandomStream
from engine.core.world import World
from engine.spec.experiment.checkpointing.communication_induced import InducedCheckpoints

from . import messages as M
from .messages import TAKE, TIMER
from .setup import ProtocolContext, ProtocolSetup
from .uncoordinated import UncoordinatedCoordinator, UncoordinatedWorker, logged_setup, searching
from .worker import Costs


def build(protocol: InducedCheckpoints, run: ProtocolContext) -> ProtocolSetup:
    added_bytes = protocol.added_bytes(sum(map(len, run.instances.values())))
    timers = protocol.interval_ns, protocol.jitter_ns, run.until_ns, run.seed
    worker = InducedWorker(run.costs, run.may_lose_hosts, *timers, added_bytes)
    setup = logged_setup(protocol, run, worker, UncoordinatedCoordinator(*searching(protocol, run)))
    rule = L.RULE_INDEX if protocol.variant == "bcs" else L.RULE_CLOCK * protocol.clock_test + L.RULE_CYCLE * protocol.cycle_test
    return replace(setup, features=(*setup.features, "forcing"), forcing_rule=rule, vector_bytes=added_bytes * run.scale)


class InducedWorker(UncoordinatedWorker):
    """Worker in which each instance has its own timer; a forced checkpoint restarts the interval.

    last_ns, spans_ns, taken: by instance, time of its last checkpoint, its current interval, and number of checkpoints taken.
    """

    def __init__(self, costs: Costs, contents: bool, interval_ns: int, jitter_ns: int, until_ns: int, seed: int, vector_bytes: int):
        super().__init__(costs, contents, interval_ns, jitter_ns, until_ns, seed)
        self.vector_bytes = vector_bytes

    def start(self, directory: Directory) -> None:
        super().start(directory)
        self.last_ns = [0] * len(self.host_of)
        self.spans_ns = [0] * len(self.host_of)
        self.taken = [0] * len(self.host_of)
        self.forced_taken = [0] * len(self.host_of)

    def _set_timer(self, host: int, epoch: int, now_ns: int, post: Post) -> None:
        for i in self.instances[host]:
            self.last_ns[i] = now_ns
            self._wait(i, epoch, now_ns, post)

    def _wait(self, i: int, epoch: int, now_ns: int, post: Post) -> None:
        """Draw the next interval and set the timer."""
        draw = RandomStream(self.seed, "checkpoint timer of an instance", i).below(np.array([now_ns]), 3)
        self.spans_ns[i] = self.interval_ns + (int(draw[0]) - 1) * self.jitter_ns
        self._remind(i, epoch, now_ns, now_ns + self.spans_ns[i], post)

    def _remind(self, i: int, epoch: int, now_ns: int, at_ns: int, post: Post) -> None:
        if at_ns <= self.until_ns:
            post.send(self.addresses[self.host_of[i]], (TIMER, epoch, i), 0, after_ns=at_ns - now_ns)

    def obey(self, world: World, host: int, message: Message, now_ns: int, post: Post) -> None:
        if message.words[0] != TIMER or message.sender != self.addresses[host]:
            super().obey(world, host, message, now_ns, post)
            return
        _, epoch, i = message.words
        if epoch != self.machine(host).epoch:
            return
        due_ns = self.last_ns[i] + self.spans_ns[i]
        if due_ns > now_ns:  # a record has forced a checkpoint in the meantime
            self._remind(i, epoch, now_ns, due_ns, post)
        else:
            post.send(i, (TAKE, epoch, now_ns), M.MESSAGE_BYTES)
            self._wait(i, epoch, now_ns, post)

    def serve(self, world: World, instance: int, message: Message, now_ns: int, post: Post) -> int:
        verb, epoch, asked_ns = message.words
        if verb != TAKE or epoch != self.machine(self.host_of[instance]).epoch or self.last_ns[instance] > asked_ns:
            return 0  # from before a recovery, or the instance has taken one since
        return self._checkpoint(world, instance, -1, now_ns, post, asked_ns)

    def forced(self, world: World, instance: int, told: int, now_ns: int, post: Post) -> int:
        self.forced_taken[instance] += 1
        return self._checkpoint(world, instance, told, now_ns, post, now_ns)

    def _checkpoint(self, world: World, i: int, told: int, now_ns: int, post: Post, asked_ns: int) -> int:
        forced = int(dependency_vectors.reasons(world.arrays, i, told)) if told >= 0 else 0  # type: ignore[no-untyped-call]
        dependency_vectors.note_checkpoint(world.arrays, i, told)
        self.taken[i] += 1
        self.last_ns[i] = now_ns
        return self.take_counted(world, i, self.taken[i], now_ns, post, asked_ns, self.vector_bytes, forced)

    def state(self) -> Any:
        return [super().state(), self.last_ns, self.spans_ns, self.taken, self.forced_taken]

    def restore(self, state: Any) -> None:
        below, *own = state
        super().restore(below)
        self.last_ns, self.spans_ns, self.taken, self.forced_taken = (list(values) for values in own)
