"""Processes of machines (docs/event-core.md, section 16).

What this catches: a message to a process that waits behind what its instances have in hand, or that is handled while the machine stands
still or is down; something put off that outlives its machine; a loss that nobody hears of, or at the wrong time; an urgent message that
waits behind records.
"""

from __future__ import annotations

from typing import Any

import pytest

from engine.core.control.actors import ActorHost, Directory, Message, Post
from engine.core.layout import FAR
from tests.support import corner_cases

from ...support.agreement import MS, finished, simulated

ORDER, REMIND, REPORT, HURRY, LATE = range(5)
LATENCY_NS = 300_000  # of the actor's link


class Chief:
    """Orders every machine every period, and notes what it hears."""

    def __init__(self, period_ns: int = 2 * MS):
        self.host = ActorHost("chief", 100, LATENCY_NS)
        self.period_ns = self.next_ns = period_ns
        self.heard: list[list[int]] = []  # when, what, of which machine
        self.gone: list[list[int]] = []

    def start(self, directory: Directory) -> None:
        self.machines = directory.machines

    def wake(self, now_ns: int, post: Post) -> None:
        self.next_ns = now_ns + self.period_ns if now_ns < 20 * MS else FAR
        for machine in self.machines:
            post.send(machine, (ORDER, now_ns), 100)

    def receive(self, message: Message, now_ns: int, post: Post) -> None:
        self.heard.append([now_ns, *message.words])

    def disconnected(self, host: int, now_ns: int, post: Post) -> None:
        self.gone.append([now_ns, host])

    def state(self) -> Any:
        return [self.next_ns, self.heard, self.gone]

    def restore(self, state: Any) -> None:
        self.next_ns, self.heard, self.gone = state


class Crew:
    """The process of each machine reports every order, reminds itself of it 0.7 ms later, and hurries its first instance."""

    def __init__(self) -> None:
        self.obeyed: list[list[int]] = []  # when, host, what
        self.served: list[list[int]] = []  # when, instance
        self.told: list[list[Any]] = []

    def start(self, directory: Directory) -> None:
        self.chief, self.machines = directory.actors["chief"], directory.machines
        self.first = {host: i for i, (_, _, host) in reversed(list(enumerate(directory.instances)))}

    def begin(self, host: int, post: Post) -> None:
        post.send(self.machines[host], (REMIND, 0), 0, after_ns=MS)

    def obey(self, world: Any, host: int, message: Message, now_ns: int, post: Post) -> None:
        self.obeyed.append([now_ns, host, message.words[0]])
        if message.words[0] == ORDER:
            post.send(self.chief, (REPORT, host, now_ns), 50)
            post.send(self.machines[host], (REMIND, now_ns), 0, after_ns=700_000)
            post.send(self.chief, (LATE, host, now_ns), 50, after_ns=900_000)
            post.send(self.first[host], (HURRY,), 10)

    def lost(self, host: int, now_ns: int) -> None:
        self.told.append(["lost", host, now_ns])

    def started(self, world: Any, host: int, now_ns: int, post: Post) -> None:
        self.told.append(["started", host, now_ns])

    def serve(self, world: Any, instance: int, message: Message, now_ns: int, post: Post) -> int:
        self.served.append([now_ns, instance])
        return 0

    def aligned(self, world: Any, instance: int, number: int, now_ns: int, post: Post) -> int:
        return 0

    def state(self) -> Any:
        return [self.obeyed, self.served, self.told]

    def restore(self, state: Any) -> None:
        self.obeyed, self.served, self.told = state


def overloaded(*faults: dict[str, Any]) -> dict[str, Any]:
    """Two machines with one core each, and far more to do than they can."""
    operators = [
        {"id": "bids", "kind": "source", "parallelism": 2, "cost": {"record_us": 100}},
        {"id": "sink", "kind": "sink", "parallelism": 2, "cost": {"record_us": 100}},
    ]
    edges = [{"source": "bids", "target": "sink", "partitioning": {"kind": "rebalance"}}]
    hosts = [corner_cases.host("w", count=2, processor={"kind": "shared_fifo"}, cores=1)]
    made = corner_cases.document(operators, edges, hosts, {"bids": corner_cases.bids(40_000)}, horizon_s=0.03, faults=list(faults))
    made["workload"] |= {"drain": False}
    return made


def ran(*faults: dict[str, Any]) -> tuple[Chief, Crew]:
    chief, crew = Chief(), Crew()
    finished(overloaded(*faults), actors=[chief], agent=crew)
    return chief, crew


def test_a_process_obeys_at_once_and_its_instances_before_all_else() -> None:
    chief, crew = ran()
    orders = [[now_ns, host] for now_ns, host, what in crew.obeyed if what == ORDER]
    assert len(orders) == 20
    for n, (now_ns, host) in enumerate(orders):
        sent_ns = 2 * MS * (n // 2 + 1)
        assert now_ns == sent_ns + 8000 * (1 + n % 2) + LATENCY_NS  # 100 bytes each on one link of 100 Mbit/s
        assert [now_ns + 700_000, host, REMIND] in crew.obeyed
        hurried_ns = next(at_ns for at_ns, instance in crew.served if at_ns > now_ns and instance == crew.first[host])
        assert hurried_ns - now_ns <= 101_000  # what is in service ends first: a record of 100 us
    assert sum(words[1] == REPORT for words in chief.heard) == 20
    assert sum(words[1] == LATE for words in chief.heard) == 20


def test_a_machine_that_stands_still_obeys_when_it_goes_on() -> None:
    _, crew = ran({"kind": "pause", "host": "w1", "when": {"kind": "at", "at_s": 0.0035}, "for_ms": 4})
    obeyed_ns = [now_ns for now_ns, host, what in crew.obeyed if host == 0 and what == ORDER]
    assert [now_ns for now_ns in obeyed_ns if 3.5 * MS < now_ns <= 7.5 * MS] == [7.5 * MS, 7.5 * MS]  # those of 4 and 6 ms
    assert len(obeyed_ns) == 10


def test_what_comes_to_a_machine_that_is_down_is_lost_with_what_it_had_put_off() -> None:
    chief, crew = ran({"kind": "host_loss", "host": "w2", "when": {"kind": "at", "at_s": 0.0044}, "restart_after_s": 0.004})
    obeyed = [[now_ns, what] for now_ns, host, what in crew.obeyed if host == 1]
    before = [now_ns for now_ns, _ in obeyed if now_ns < 4.4 * MS]
    assert not [now_ns for now_ns, _ in obeyed if 4.4 * MS < now_ns < 8.4 * MS]
    after_ns = next(now_ns for now_ns, _ in obeyed if now_ns > 8.4 * MS)
    assert after_ns > 10 * MS  # the reminder of 4.3 ms is gone, and the order of 8 ms came before
    assert len(before) == 4  # the first reminder, the order of 2 ms and its reminder, the order of 4 ms
    assert crew.told == [["lost", 1, 4_400_000], ["started", 1, 8_400_000]]
    assert chief.gone == [[4_400_000 + 500_000, 1]]
    late = [words[3] for words in chief.heard if words[1] == LATE and words[2] == 1]
    assert all(not 3.5 * MS < ordered_ns < 8.4 * MS for ordered_ns in late)


@pytest.mark.parametrize("cuts", [3, 17])
def test_any_cutting_and_forking_gives_the_same(cuts: int) -> None:
    faults = ({"kind": "host_loss", "host": "w2", "when": {"kind": "at", "at_s": 0.0044}, "restart_after_s": 0.004},)
    chief, crew = ran(*faults)
    simulation = simulated(overloaded(*faults), trace=False, actors=[Chief()], agent=Crew())
    for n in range(1, cuts):
        simulation.run_until(30 * MS * n // cuts)
        simulation = simulation.fork()
    simulation.run_until(simulation.end_ns)
    actors = simulation._actors
    assert actors.actors[0].state() == chief.state()
    assert actors.agent is not None
    assert actors.agent.state() == crew.state()
