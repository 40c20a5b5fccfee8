"""Risk 9: resume with Python policies (K8). Killed at 50 random frames, the run has to end in the same bytes; forks may differ only by
their edit.

`engine.Simulation` has no place for policies yet. `Controlled` is the smallest addition that would do, tried from outside: policies act
at frame edges, between instants, see only measured frames, and their state goes with the world's arrays into snapshot, digest and fork.
Four stub policies keep the kinds of state that the real ones will (an autoscaler's averages and cool-down, a scheduler's ranking, sets
of shared queries, a draw counter) and act on what this version of the world can change: speeds, links and the disorder that sources
allow.
"""

from __future__ import annotations

import hashlib
import io
import os
import random
import signal
import tempfile
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

import engine
from engine.core import layout as L
from engine.core.random import RandomStream
from tests.engine.agreement import template

from .finding import Finding

Words = NDArray[np.int64]
KILLS = 50
POINT = 1 << 16  # fixed point: what decides is never a float


class Policy(Protocol):
    """Called at every frame's edge. `state` and `restore`: all that it remembers, as named words in one canonical order."""

    name: str

    def act(self, number: int, frame: dict[str, Any], control: Control) -> None: ...

    def state(self) -> dict[str, Words]: ...

    def restore(self, state: dict[str, Words]) -> None: ...


class Control:
    """What policies may do, and nothing else: knobs of the world, at an instant's end."""

    def __init__(self, simulation: engine.Simulation):
        self._world = simulation._world

    def set_speed(self, host: int, speed_milli: int) -> None:
        w = self._world.arrays
        w.host[host, L.H_SPEED] = speed_milli
        w.inst[w.inst[:, L.I_HOST] == host, L.I_COST] = -1  # the loop keeps the duration of the last cost; it holds for the old speed

    def set_bandwidth(self, host: int, mbit_per_s: int) -> None:
        self._world.arrays.host[host, L.H_MBIT] = mbit_per_s

    def set_lag(self, lag_ns: int) -> None:
        w = self._world.arrays
        w.inst[w.inst[:, L.I_SOURCE] == 1, L.I_LAG] = lag_ns

    @property
    def hosts(self) -> int:
        return len(self._world.arrays.host)


class Scaler:
    """Like an autoscaler: averages of busy shares, a cool-down, steps of speed."""

    name = "scaler"

    def __init__(self) -> None:
        self.average: Words | None = None
        self.wait = 0

    def act(self, number: int, frame: dict[str, Any], control: Control) -> None:
        busy = np.array([int(host["busy"] * POINT) for host in frame["hosts"].values()], np.int64)
        self.average = busy if self.average is None else (3 * self.average + busy) // 4
        self.wait = max(0, self.wait - 1)
        if self.wait == 0:
            host = int(self.average.argmax())
            control.set_speed(host, 900 if self.average[host] > POINT // 2 else 450)
            self.wait = 3

    def state(self) -> dict[str, Words]:
        return {"average": np.zeros(0, np.int64) if self.average is None else self.average, "wait": np.array([self.wait])}

    def restore(self, state: dict[str, Words]) -> None:
        self.average = state["average"].copy() if len(state["average"]) else None
        self.wait = int(state["wait"][0])


class Ranking:
    """Like a scheduler's cycle: ranks operators by slack; the lag that sources allow follows the first."""

    name = "ranking"

    def __init__(self) -> None:
        self.ranks: list[int] = []

    def act(self, number: int, frame: dict[str, Any], control: Control) -> None:
        queues = [operator["queue"] for operator in frame["operators"].values()]
        self.ranks = sorted(range(len(queues)), key=lambda n: (-queues[n], n))
        control.set_lag(1_000_000 * (1 + self.ranks[0]))

    def state(self) -> dict[str, Words]:
        return {"ranks": np.array(self.ranks, np.int64)}

    def restore(self, state: dict[str, Words]) -> None:
        self.ranks = state["ranks"].tolist()


class Sharing:
    """Like a sharing optimiser: a dictionary of what was seen how often, saved in the order of its keys."""

    name = "sharing"

    def __init__(self) -> None:
        self.seen: dict[int, int] = {}

    def act(self, number: int, frame: dict[str, Any], control: Control) -> None:
        backlog = int(frame["backlog"]) // 8
        self.seen[backlog] = self.seen.get(backlog, 0) + 1
        control.set_bandwidth(number % control.hosts, 200 + 100 * (self.seen[backlog] % 5))

    def state(self) -> dict[str, Words]:
        return {"seen": np.array(sorted(self.seen.items()), np.int64).reshape(-1, 2)}

    def restore(self, state: dict[str, Words]) -> None:
        self.seen = {int(key): int(count) for key, count in state["seen"]}


class Chance:
    """A policy that draws: its state is how often it drew, the draws are a function of that."""

    name = "chance"

    def __init__(self, bound: int = 4) -> None:
        self.bound, self.draws = bound, 0
        self.stream = RandomStream(1, "policy", self.name)

    def act(self, number: int, frame: dict[str, Any], control: Control) -> None:
        draw = int(self.stream.below(np.array([self.draws]), self.bound)[0])
        self.draws += 1
        control.set_speed(draw % control.hosts, 500 + 50 * draw)

    def state(self) -> dict[str, Words]:
        return {"draws": np.array([self.draws]), "bound": np.array([self.bound])}

    def restore(self, state: dict[str, Words]) -> None:
        self.draws, self.bound = int(state["draws"][0]), int(state["bound"][0])


class Controlled:
    """A simulation with policies."""

    def __init__(self, document: dict[str, Any]):
        self.document = document
        self.simulation = engine.Simulation(document)
        self.policies: list[Policy] = [Scaler(), Ranking(), Sharing(), Chance()]

    def advance(self) -> dict[str, Any] | None:
        number = self.simulation.frame_number
        frame = self.simulation.advance()
        if frame is not None:
            for policy in self.policies:
                policy.act(number, frame, Control(self.simulation))
        return frame

    def snapshot(self) -> dict[str, Any]:
        return self.simulation.snapshot() | {f"policy.{p.name}.{key}": words for p in self.policies for key, words in p.state().items()}

    def restore(self, state: dict[str, Any]) -> None:
        self.simulation.restore({name: words for name, words in state.items() if not name.startswith("policy.")})
        for policy in self.policies:
            prefix = f"policy.{policy.name}."
            policy.restore({name.removeprefix(prefix): words for name, words in state.items() if name.startswith(prefix)})

    def digest(self) -> str:
        hasher = hashlib.blake2b(self.simulation.digest().encode(), digest_size=32)
        for policy in self.policies:
            for name, words in policy.state().items():
                hasher.update(f"{policy.name}.{name}".encode() + np.ascontiguousarray(words, "<i8").tobytes())
        return hasher.hexdigest()

    def save(self, path: Path) -> None:
        buffer = io.BytesIO()
        np.savez(buffer, **self.snapshot())
        temporary = path.with_suffix(".tmp")
        temporary.write_bytes(buffer.getvalue())
        os.replace(temporary, path)

    def load(self, path: Path) -> None:
        with np.load(path) as state:
            self.restore(dict(state))


def document() -> dict[str, Any]:
    made = template("nexmark_q12", horizon_s=1.2, drain=True)
    made["measurement"]["frame_ms"] = 20
    made["policies"]["flow_control"] = {"kind": "credits", "per_channel": 8}
    made["workload"]["sources"]["bids"]["watermarks"] = {"kind": "bounded", "lag_ms": 1, "period_ms": 7}
    return made


def to_the_end(run: Controlled) -> tuple[list[Any], str]:
    frames = []
    while (frame := run.advance()) is not None:
        frames.append(frame)
    return frames, run.digest()


def killed_at(frame: int, path: Path) -> None:
    """In a process of its own: go on from the file, save at every frame's edge, and be killed within the work of this frame."""
    child = os.fork()
    if child == 0:
        run = Controlled(document())
        if path.exists():
            run.load(path)
        while run.advance() is not None:
            if run.simulation.frame_number > frame:
                os.kill(os.getpid(), signal.SIGKILL)
            run.save(path)
        os._exit(0)
    os.waitpid(child, 0)


def measure() -> list[Finding]:
    frames, wanted = to_the_end(Controlled(document()))
    _, unchanged = to_the_end(_without_policies())
    chance = random.Random("kills")
    kills = sorted(chance.randrange(1, len(frames)) for _ in range(KILLS))
    equal = 0
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "snapshot"
        for kill in kills:
            killed_at(kill, path)
            run = Controlled(document())
            run.load(path)
            at = run.simulation.frame_number
            rest, digest = to_the_end(run)
            equal += rest == frames[at:] and digest == wanted
    findings = [
        Finding(
            9,
            f"SIGKILL at {KILLS} random frames of {len(frames)}, four stub policies",
            "same frames and digest after resume",
            equal == KILLS and wanted != unchanged,
            {"equal": equal, "the policies change the run": wanted != unchanged},
        )
    ]
    run = Controlled(document())
    for _ in range(20):
        run.advance()
    state = run.snapshot()
    same, edited = Controlled(document()), Controlled(document())
    same.restore(state)
    edited.restore(state)
    at_fork = {same.digest(), edited.digest(), run.digest()}
    edited.policies[3].bound = 1  # type: ignore[attr-defined]
    ends = [to_the_end(r)[1] for r in (run, same, edited)]
    findings.append(
        Finding(
            9,
            "fork at frame 20",
            "equal at the fork; only the edited one ends otherwise",
            len(at_fork) == 1 and ends[0] == ends[1] == wanted != ends[2],
            {"digests at the fork": len(at_fork), "unedited equal": ends[0] == ends[1] == wanted, "edited differs": ends[2] != wanted},
        )
    )
    return findings


def _without_policies() -> Controlled:
    run = Controlled(document())
    run.policies = []
    return run
