"""Risk 9: resume with Python policies (K8).

Killed at 50 random frames, a run with policies has to end in the same bytes; forks may differ only by their edit. Four stub policies, as
the engine's controls, keep the kinds of state that the real ones will (an autoscaler's averages and cool-down, a scheduler's ranking, a
dictionary of shared queries, a count of draws) and act on what this version of the world can change: speeds, links and the disorder that
sources allow. They act at times of their own, on frames' edges and between them.
"""

from __future__ import annotations

import os
import random
import signal
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import engine
from engine.core import layout as L
from engine.core.random import RandomStream
from engine.core.world import World
from tests.engine.agreement import template

from .finding import Finding

KILLS = 50
POINT = 1 << 16  # fixed point: what decides is never a float


def set_speed(world: World, host: int, speed_milli: int) -> None:
    w = world.arrays
    w.host[host, L.H_SPEED] = speed_milli
    w.inst[w.inst[:, L.I_HOST] == host, L.I_COST] = -1  # the loop keeps the duration of the last cost; it holds for the old speed


class Scaler:
    """Like an autoscaler: averages of busy time, a cool-down, steps of speed."""

    def __init__(self) -> None:
        self.next_ns, self.wait = 20_000_000, 0
        self.busy: list[int] = []
        self.average: list[int] = []

    def act(self, world: World, now_ns: int) -> None:
        w = world.arrays
        busy = [int(w.inst[w.inst[:, L.I_HOST] == h, L.I_BUSY].sum()) for h in range(len(w.host))]
        shares = [(b - a) * POINT // 20_000_000 for a, b in zip(self.busy or [0] * len(busy), busy, strict=True)]
        self.average = [(3 * a + b) // 4 for a, b in zip(self.average or shares, shares, strict=True)]
        self.busy, self.wait = busy, max(0, self.wait - 1)
        if self.wait == 0:
            host = max(range(len(busy)), key=lambda h: (self.average[h], -h))
            set_speed(world, host, 900 if self.average[host] > POINT // 2 else 450)
            self.wait = 3
        self.next_ns = now_ns + 20_000_000

    def state(self) -> Any:
        return [self.next_ns, self.wait, self.busy, self.average]

    def restore(self, state: Any) -> None:
        self.next_ns, self.wait, self.busy, self.average = state[0], state[1], list(state[2]), list(state[3])


class Ranking:
    """Like a scheduler's cycle: ranks instances by what waits; the lag that sources allow follows the first."""

    def __init__(self) -> None:
        self.next_ns = 7_000_001
        self.ranks: list[int] = []

    def act(self, world: World, now_ns: int) -> None:
        inst = world.arrays.inst
        self.ranks = sorted(range(len(inst)), key=lambda i: (-int(inst[i, L.I_QUEUE_COUNT]), i))
        inst[inst[:, L.I_SOURCE] == 1, L.I_LAG] = 1_000_000 * (1 + self.ranks[0])
        self.next_ns = now_ns + 7_000_001

    def state(self) -> Any:
        return {"next_ns": self.next_ns, "ranks": self.ranks}

    def restore(self, state: Any) -> None:
        self.next_ns, self.ranks = state["next_ns"], list(state["ranks"])


class Sharing:
    """Like a sharing optimiser: a dictionary of what was seen how often, saved as pairs, since keys of JSON objects are strings."""

    def __init__(self) -> None:
        self.next_ns = 13_000_000
        self.seen: dict[int, int] = {}

    def act(self, world: World, now_ns: int) -> None:
        w = world.arrays
        waiting = int(w.inst[:, L.I_QUEUE_COUNT].sum()) // 8
        self.seen[waiting] = self.seen.get(waiting, 0) + 1
        w.host[now_ns // 13_000_000 % len(w.host), L.H_MBIT] = 200 + 100 * (self.seen[waiting] % 5)
        self.next_ns = now_ns + 13_000_000

    def state(self) -> Any:
        return [self.next_ns, sorted(self.seen.items())]

    def restore(self, state: Any) -> None:
        self.next_ns, self.seen = state[0], dict(map(tuple, state[1]))


class Chance:
    """A policy that draws: its state is how often it drew, the draws are a function of that."""

    def __init__(self, bound: int = 4) -> None:
        self.next_ns, self.bound, self.draws = 33_000_000, bound, 0
        self.stream = RandomStream(1, "policy", "chance")

    def act(self, world: World, now_ns: int) -> None:
        draw = int(self.stream.below(np.array([self.draws]), self.bound)[0])
        self.draws += 1
        set_speed(world, draw % len(world.arrays.host), 500 + 50 * draw)
        self.next_ns = now_ns + 33_000_000

    def state(self) -> Any:
        return [self.next_ns, self.bound, self.draws]

    def restore(self, state: Any) -> None:
        self.next_ns, self.bound, self.draws = state


def policies() -> list[Any]:
    return [Scaler(), Ranking(), Sharing(), Chance()]


def document() -> dict[str, Any]:
    made = template("nexmark_q12", horizon_s=1.2, drain=True)
    made["measurement"]["frame_ms"] = 20
    made["policies"]["flow_control"] = {"kind": "credits", "per_channel": 8}
    made["workload"]["sources"]["bids"]["watermarks"] = {"kind": "bounded", "lag_ms": 1, "period_ms": 7}
    return made


def to_the_end(run: engine.Simulation) -> tuple[list[Any], str]:
    frames = []
    while (frame := run.advance()) is not None:
        frames.append(frame)
    return frames, run.digest()


def killed_at(frame: int, path: Path) -> None:
    """In a process of its own: go on from the file, save at every frame's edge, and be killed before this frame is saved."""
    child = os.fork()
    if child == 0:
        run = (
            engine.Simulation.resume(document(), path, controls=policies())
            if path.exists()
            else engine.Simulation(document(), controls=policies())
        )
        while run.advance() is not None:
            if run.frame_number > frame:
                os.kill(os.getpid(), signal.SIGKILL)
            run.save(path)
        os._exit(0)
    os.waitpid(child, 0)


def measure() -> list[Finding]:
    frames, wanted = to_the_end(engine.Simulation(document(), controls=policies()))
    calm, _ = to_the_end(engine.Simulation(document()))
    chance = random.Random("kills")
    kills = sorted(chance.randrange(1, len(frames)) for _ in range(KILLS))
    equal = 0
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "snapshot"
        for kill in kills:
            killed_at(kill, path)
            run = engine.Simulation.resume(document(), path, controls=policies())
            at = run.frame_number
            rest, digest = to_the_end(run)
            equal += rest == frames[at:] and digest == wanted
    findings = [
        Finding(
            9,
            f"SIGKILL at {KILLS} random frames of {len(frames)}, four stub policies",
            "same frames and digest after resume",
            equal == KILLS and frames != calm,
            {"equal": equal, "the policies change the run": frames != calm},
        )
    ]
    run = engine.Simulation(document(), controls=policies())
    for _ in range(20):
        run.advance()
    same, edited = run.fork(), run.fork()
    at_fork = {same.digest(), edited.digest(), run.digest()}
    edited._controls[3].bound = 1  # type: ignore[attr-defined]
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
