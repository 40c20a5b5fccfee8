"""The whole engine against the closed forms of queueing theory: random arrivals, random services, every way of sharing a core.

A server is a source operator: what waits in its log is the queue. Each case runs several times with seeds of its own, so the runs are
independent and their means give a confidence interval by Student's t. All checks of this file together hold with 95 % (Bonferroni), and
each interval is narrow enough to say something.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from engine import Simulation
from engine.core import layout as L
from engine.core.control.ranks import rank
from engine.core.world import World

SERVICE_US = 100.0
RUNS, RECORDS, WARM_UP = 10, 50_000, 0.1
STUDENT_T = 4.3  # nine degrees of freedom, two sides, 95 % for 25 checks together: 1 - 0.05 / 25
CONSTANT, EXPONENTIAL = {"kind": "none"}, {"kind": "exponential"}

Document = dict[str, Any]


def server(id: str, noise: Document, parallelism: int = 1, service_us: float = SERVICE_US, kind: str = "source") -> Document:
    cost = {"record_us": service_us, "output_us": 0.0, "control_us": 0.0, "noise": noise}
    return {"id": id, "kind": kind, "parallelism": parallelism, "cost": cost}


def document(servers: Sequence[Document], processor: str, cores: int, loads: dict[str, float], seed: int) -> Document:
    """Servers on one host, behind each source a chain of those that follow it up to the next source, and sinks on another host.

    loads: by source, arrivals per SERVICE_US.
    """
    operators, edges = [], []
    for n, one in enumerate(servers):
        operators.append(one)
        if one["kind"] != "source":
            edges.append({"source": servers[n - 1]["id"], "target": one["id"]})
        if n + 1 == len(servers) or servers[n + 1]["kind"] == "source":
            operators.append({"id": f"{one['id']}-sink", "kind": "sink", "parallelism": one["parallelism"]})
            edges.append({"source": one["id"], "target": f"{one['id']}-sink"})
    served = {one["id"] for one in servers}
    hosts = {one["id"]: ["servers" if one["id"] in served else "sinks"] for one in operators}
    rates = {id: load / SERVICE_US * 1e6 for id, load in loads.items()}
    return {
        "format": 1,
        "query": {"operators": operators, "edges": edges},
        "cluster": {
            "hosts": [
                {"name": "servers", "processor": {"kind": processor}, "cores": cores},
                {"name": "sinks", "processor": {"kind": "processor_sharing"}, "cores": 1000},
            ],
            "local_latency_ns": 1,
        },
        "placement": {"kind": "explicit", "hosts": hosts},
        "workload": {
            "seed": seed,
            "horizon_s": RECORDS / sum(rates.values()),
            "drain": True,
            "sources": {
                id: {"stream": {"kind": "nexmark_bid"}, "rate": {"kind": "constant", "per_s": per_s}, "arrivals": {"kind": "poisson"}}
                for id, per_s in rates.items()
            },
        },
        "measurement": {"frame_ms": 1000},
    }


class Ranks:
    """Gives the instances their ranks at the start."""

    def __init__(self, ranks: dict[int, int]):
        self._ranks, self.next_ns = ranks, 0

    def act(self, world: World, now_ns: int) -> None:
        rank(world, self._ranks, now_ns)
        self.next_ns = L.FAR

    def state(self) -> Any:
        return self.next_ns

    def restore(self, state: Any) -> None:
        self.next_ns = state


@functools.cache
def _run(make: Callable[[int], Document], seed: int, ranked: bool) -> tuple[np.ndarray, ...]:
    simulation = Simulation(make(seed), trace=True, controls=[Ranks({0: 1, 2: 2})] if ranked else [])
    simulation.run_until(simulation.end_ns)
    trace, op_of = simulation.trace().columns(), simulation._world.arrays.inst[:, L.I_OP]
    rows = np.stack([trace[name] for name in ("trigger", "ready_ns", "start_ns", "end_ns")], axis=1)
    ids = [spec.id for spec in simulation.experiment.query.operators]
    found = []
    for n, id in enumerate(ids):
        if not id.endswith("-sink"):
            own = rows[op_of[trace["instance"]] == n]
            found.append(own[np.argsort(own[:, 0])][:, 1:] / 1000)
    return tuple(found)


def runs(make: Callable[[int], Document], ranked: bool = False) -> list[tuple[np.ndarray, ...]]:
    """By run and server: (ready, start, end) of each record in us, by the record's number, without the start of the run."""
    return [tuple(rows[int(len(rows) * WARM_UP) :] for rows in _run(make, seed, ranked)) for seed in range(1, RUNS + 1)]


def assert_mean(values: Sequence[float], expected: float, width: float = 0.05) -> None:
    """The expected value lies in the interval around the mean of independent runs, and the interval is narrow."""
    reach = STUDENT_T * np.std(values, ddof=1) / math.sqrt(len(values))
    assert reach <= width * expected, f"{np.mean(values):.4g} +- {reach:.2g} says too little"
    assert abs(np.mean(values) - expected) <= reach, f"{np.mean(values):.5g} +- {reach:.2g}, should be {expected:.5g}"


def sojourns(case: list[tuple[np.ndarray, ...]], server: int = 0) -> list[np.ndarray]:
    return [run[server][:, 2] - run[server][:, 0] for run in case]


def means(samples: Sequence[np.ndarray]) -> list[float]:
    return [float(sample.mean()) for sample in samples]


def p99s(samples: Sequence[np.ndarray]) -> list[float]:
    return [float(np.quantile(sample, 0.99)) for sample in samples]


def quantile(tail: Callable[[float], float], share: float) -> float:
    """Where a falling tail probability reaches `share`."""
    low, high = 0.0, 20 * SERVICE_US
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > share else (low, middle)
    return high


# One server


def one_server(noise: Document, load: float, seed: int) -> Document:
    return document([server("server", noise)], "dedicated", 1, {"server": load}, seed)


mm1 = functools.partial(one_server, EXPONENTIAL, 0.7)
md1 = functools.partial(one_server, CONSTANT, 0.7)
mg1 = functools.partial(one_server, {"kind": "lognormal", "cv": 1.5}, 0.5)
mu1 = functools.partial(one_server, {"kind": "uniform", "cv": 0.5}, 0.7)


def test_m_m_1() -> None:
    """The time in the system is exponential with the rate mu - lambda (Kleinrock 1975, Queueing Systems I, 3.2 and 5.12)."""
    samples = sojourns(runs(mm1))
    mean_us = SERVICE_US / (1 - 0.7)
    assert_mean(means(samples), mean_us)
    assert_mean(p99s(samples), mean_us * math.log(100), 0.1)


def test_m_m_1_is_idle_as_often_as_arrivals_leave_it() -> None:
    """The share of arrivals that need not wait is 1 - load (PASTA, Wolff 1982)."""
    assert_mean([float((run[0][:, 1] == run[0][:, 0]).mean()) for run in runs(mm1)], 1 - 0.7)


def erlang_wait(x_us: float, load: float) -> float:
    """P(wait <= x) of M/D/1 (Erlang 1909; Gross and Harris 1998, Fundamentals of Queueing Theory, 5.1.4)."""
    rate = load / SERVICE_US
    terms = range(int(x_us / SERVICE_US) + 1)
    gaps = [rate * (k * SERVICE_US - x_us) for k in terms]
    return (1 - load) * math.fsum(gap**k / math.factorial(k) * math.exp(-gap) for k, gap in zip(terms, gaps, strict=True))


def test_m_d_1() -> None:
    """Pollaczek and Khinchine for the mean, Erlang for the distribution."""
    samples = sojourns(runs(md1))
    assert_mean(means(samples), SERVICE_US + 0.7 * SERVICE_US / (2 * (1 - 0.7)))
    assert_mean(p99s(samples), SERVICE_US + quantile(lambda x: 1 - erlang_wait(x, 0.7), 0.01), 0.1)


@pytest.mark.parametrize(("make", "load", "cv", "width"), [(mg1, 0.5, 1.5, 0.1), (mu1, 0.7, 0.5, 0.05)], ids=["lognormal", "uniform"])
def test_m_g_1(make: Callable[[int], Document], load: float, cv: float, width: float) -> None:
    """Mean wait = load x service x (1 + cv^2) / (2 (1 - load)) (Pollaczek 1930, Khinchine 1932)."""
    samples = [run[0][:, 1] - run[0][:, 0] for run in runs(make)]
    assert_mean(means(samples), load * SERVICE_US * (1 + cv * cv) / (2 * (1 - load)), width)


def test_more_regular_arrivals_wait_less_and_even_ones_not_at_all() -> None:
    waits = []
    for arrivals in ({"kind": "poisson"}, {"kind": "gamma", "shape": 4}, {"kind": "even"}):
        made = md1(1)
        made["workload"]["sources"]["server"]["arrivals"] = arrivals
        simulation = Simulation(made, trace=True)
        simulation.run_until(simulation.end_ns)
        trace = simulation.trace().columns()
        waits.append((trace["start_ns"] - trace["ready_ns"])[trace["instance"] == 0].mean())
    poisson, gamma, even = waits
    assert even == 0
    assert 0 < gamma < poisson / 3


# Several servers, one queue: many instances, of which each serves one record at a time, so that one of them is hardly ever asked twice

MANY = 200


def mmc(seed: int) -> Document:
    return document([server("server", EXPONENTIAL, MANY)], "pool", 3, {"server": 3 * 0.7}, seed)


@pytest.mark.slow
def test_m_m_c() -> None:
    """Erlang C for the share that waits; the tail of the time in the system after Gross and Harris 1998, 2.3."""
    c, offered = 3, 3 * 0.7
    waiting = offered**c / math.factorial(c) / (1 - offered / c)
    erlang_c = waiting / (sum(offered**k / math.factorial(k) for k in range(c)) + waiting)

    def tail(t_us: float) -> float:
        t = t_us / SERVICE_US
        return math.exp(-t) * (1 + erlang_c * (1 - math.exp(-t * (c - 1 - offered))) / (c - 1 - offered))

    samples = sojourns(runs(mmc))
    assert_mean(means(samples), SERVICE_US * (1 + erlang_c / (c - offered)))
    assert_mean(p99s(samples), quantile(tail, 0.01), 0.1)


# Processor sharing: each job is a thread


def ps(noise: Document, seed: int) -> Document:
    return document([server("server", noise, MANY)], "processor_sharing", 1, {"server": 0.6}, seed)


ps_exponential = functools.partial(ps, EXPONENTIAL)
ps_constant = functools.partial(ps, CONSTANT)


@pytest.mark.parametrize("make", [ps_exponential, ps_constant], ids=["exponential", "constant"])
def test_processor_sharing_is_insensitive_to_the_law(make: Callable[[int], Document]) -> None:
    """Mean time in the system = service / (1 - load), whatever the law of the services (Sakata et al. 1971; Kleinrock 1976, 4.4)."""
    assert_mean(means(sojourns(runs(make))), SERVICE_US / (1 - 0.6))


def test_the_variance_of_m_m_1_processor_sharing() -> None:
    """Squared variation (2 + load) / (2 - load) (Coffman, Muntz, Trotter 1970, "Waiting time distributions for processor-sharing ..")."""
    samples = sojourns(runs(ps_exponential))
    assert_mean([float(sample.var() / sample.mean() ** 2) for sample in samples], (2 + 0.6) / (2 - 0.6), 0.15)


# Networks


def tandem(seed: int) -> Document:
    stations = [server("first", EXPONENTIAL), server("second", EXPONENTIAL, service_us=80.0, kind="union")]
    return document(stations, "dedicated", 2, {"first": 0.7}, seed)


@pytest.mark.slow
def test_a_tandem_of_two_m_m_1() -> None:
    """What leaves M/M/1 is Poisson (Burke 1956), and the times at both stations are independent (Reich 1957)."""
    case = runs(tandem)
    rates = [1 / SERVICE_US - 0.7 / SERVICE_US, 1 / 80.0 - 0.7 / SERVICE_US]
    together = [run[1][:, 2] - run[0][:, 0] for run in case]
    assert_mean(means(sojourns(case, 1)), 1 / rates[1])
    assert_mean(means(together), sum(1 / each for each in rates))

    def tail(t_us: float) -> float:
        a, b = rates
        return (b * math.exp(-a * t_us) - a * math.exp(-b * t_us)) / (b - a)

    assert_mean(p99s(together), quantile(tail, 0.01), 0.1)


# Priorities


def two_classes(seed: int) -> Document:
    return document([server("urgent", CONSTANT), server("patient", EXPONENTIAL)], "pool", 1, {"urgent": 0.3, "patient": 0.4}, seed)


def test_two_classes_without_preemption() -> None:
    """Cobham 1954, "Priority assignment in waiting line problems": W1 = R / (1 - r1), W2 = R / ((1 - r1) (1 - r1 - r2)), with the mean
    rest of the service in progress R = sum of rate x E[service^2] / 2."""
    case = runs(two_classes, ranked=True)
    rest = (0.3 * 1 + 0.4 * 2) / 2 * SERVICE_US
    for station, expected in enumerate((rest / (1 - 0.3), rest / ((1 - 0.3) * (1 - 0.3 - 0.4)))):
        assert_mean(means([run[station][:, 1] - run[station][:, 0] for run in case]), expected, 0.08)
