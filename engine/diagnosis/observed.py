"""The measurements of a span, joined with the query and the cluster of the document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.spec import Experiment
from engine.spec.experiment.cluster import Dedicated, ExpandedHost, Pool, ProcessorSharing, SharedFifo
from engine.spec.experiment.scaling.none import NoScaling
from engine.spec.rules.copies import later_sharing
from engine.telemetry.instances import Floats, Measured

SATURATED = 0.95
"""Share of its time from which a resource counts as saturated. A queue in front of it is then 19 services long or more (M/M/1)."""

MOSTLY = 0.5
"""Share of the span from which a state counts as the state of the span."""


class Group(NamedTuple):
    """Instances that share cores. members: rows of the instances. cores: how many they share. load: share of the cores' time in use."""

    host: int
    members: tuple[int, ...]
    cores: float
    load: float


class Jobs(NamedTuple):
    """Jobs of an engine that works in batches. took_s, late_s: means of their lengths and scheduling delays. limit_per_s: of all sources,
    by what the last job managed; None: they are not limited."""

    took_s: float
    late_s: float
    limit_per_s: int | None


class Observed:
    """instances, hosts, trunks: measurements of the span. live: some of its live frames."""

    def __init__(self, experiment: Experiment, measured: Measured) -> None:
        self.experiment = experiment
        self.instances, self.hosts = measured.instances, measured.hosts
        self.trunks, self.live, self.recoveries = measured.trunks, measured.live, measured.recoveries
        self.machines: Sequence[ExpandedHost] = experiment.expanded_hosts()
        self.span_s = (self.instances.to_ns - self.instances.from_ns) / 1e9
        self.names = [spec.id for spec in experiment.query.operators]
        processors = [self.machines[h].processor for h in self.instances.host.tolist()]
        sharing = (ProcessorSharing, Pool) if later_sharing(experiment) is not None else ProcessorSharing
        self.shares_threads = np.array([isinstance(processor, sharing) for processor in processors], bool)

    def rows(self, operator: str) -> NDArray[np.int64]:
        """Return the rows of an operator's instances."""
        return np.flatnonzero(self.instances.name == operator)

    def label(self, row: int) -> str:
        """Return an instance as the pages name it: operator[index]."""
        return f"{self.instances.name[row]}[{self.instances.index[row]}]"

    def host_of(self, row: int) -> ExpandedHost:
        return self.machines[int(self.instances.host[row])]

    def is_source(self, operator: str) -> bool:
        return operator in self.experiment.workload.sources

    # -- time of instances ----------------------------------------------------------------------------------------------

    @cached_property
    def occupied(self) -> Floats:
        """Share of the time in which an instance is in service and has a core for itself, or as much of one as there is. Where threads
        share cores, stolen time is a wait for the others."""
        busy, stolen = self.instances.share("busy_ns"), self.instances.share("stolen_ns")
        occupied: Floats = np.minimum(busy + np.where(self.shares_threads, 0.0, stolen), 1.0)
        return occupied

    @cached_property
    def blocked(self) -> Floats:
        return self.instances.share("blocked_ns")

    @cached_property
    def pressed(self) -> NDArray[np.bool_]:
        """Whether an instance always has work: at the ends of nearly all frames records wait in its queue or, of a source, in its logs."""
        waits = self.instances.waiting >= SATURATED
        for operator in self.experiment.workload.sources:
            lags = [self.lag_of(frame, operator) > 0 for frame in self.live]
            if lags and np.mean(lags) >= SATURATED:
                rows = self.rows(operator)
                # of several instances those whose records waited a frame or more, since the lag is counted for all of them together
                waited_ns = self.instances.sums["wait_ns"][rows] / np.maximum(self.instances.sums["served"][rows], 1)
                frame_ns = self.span_s * 1e9 / self.instances.frames
                waits[rows] |= (waited_ns >= min(frame_ns, waited_ns.max(initial=0.0))) | (self.instances.sums["served"][rows] == 0)
        return waits

    def lag_of(self, frame: Mapping[str, Any], operator: str) -> float:
        """Records in the logs of a source, neither read nor dropped. Frames of earlier versions only count those of all sources."""
        lag = frame["operators"].get(operator, {}).get("lag")
        if lag is None:
            lag = frame["backlog"] - sum(sample["queue"] or 0 for sample in frame["operators"].values())
        return float(lag)

    def waiting_records(self, row: int) -> float:
        """Records that wait at an instance at the end of the span; of a source, those in the logs of all of its instances."""
        operator = str(self.instances.name[row])
        if self.is_source(operator) and self.live:
            return self.lag_of(self.live[-1], operator)
        return float(self.instances.last["queue"][row])

    def waiting_together(self, rows: Sequence[int]) -> float:
        """Return the records that wait at instances of one operator at the end of the span."""
        waiting = [self.waiting_records(row) for row in rows]
        return max(waiting) if self.is_source(str(self.instances.name[rows[0]])) else sum(waiting)

    def drain_s(self, rows: Sequence[int]) -> float:
        """Return how long the work that waits at these instances of one operator lasts, at the rate of the span."""
        served = max(float(self.instances.sums["served"][list(rows)].sum()), 1.0)
        return self.waiting_together(rows) / served * self.span_s

    @property
    def stopped(self) -> float:
        """Share of the time in which the engine stopped all of its sources at once."""
        told = [frame["engine"]["stopped_s"] for frame in self.live if "stopped_s" in frame.get("engine", {})]
        stopped_s = sum(to_s - from_s for stops in told for from_s, to_s in stops)
        return float(stopped_s / (len(told) * self.span_s / self.instances.frames)) if told else 0.0

    @property
    def jobs(self) -> Jobs | None:
        """What the engine's jobs took; None if it has none, or none ended at this time."""
        told = [frame["engine"] for frame in self.live if "jobs" in frame.get("engine", {})]
        jobs = {job["due_s"]: job for news in told for job in news["jobs"] if len(job["ends_s"]) == news["stages"]}
        if not jobs:
            return None
        took_s = sum(job["ends_s"][-1] - job["start_s"] for job in jobs.values()) / len(jobs)
        late_s = sum(job["start_s"] - job["due_s"] for job in jobs.values()) / len(jobs)
        return Jobs(took_s, late_s, told[-1]["limit_per_s"])

    # -- cores ----------------------------------------------------------------------------------------------------------

    @cached_property
    def groups(self) -> list[Group]:
        """Instances by the cores that they share. Instances with a core of their own are groups of one."""
        found = []
        used_ns = self.instances.sums["busy_ns"] + np.where(self.shares_threads, 0.0, self.instances.sums["stolen_ns"])
        for h, machine in enumerate(self.machines):
            here = np.flatnonzero(self.instances.host == h).tolist()
            for members, cores in self._sharing(machine, here):
                found.append(Group(h, tuple(members), cores, float(used_ns[members].sum()) / (cores * self.span_s * 1e9)))
        return found

    def _sharing(self, machine: ExpandedHost, here: list[int]) -> Iterator[tuple[list[int], float]]:
        cores, processor = machine.cores_milli / 1000, machine.processor
        if isinstance(processor, ProcessorSharing):
            taxed = cores * (1 - processor.tax) if len(here) > cores else cores
            yield here, min(taxed, processor.quota_cores or taxed)
        elif isinstance(processor, Pool):
            yield here, min(cores, max(len(here), 1))
        elif isinstance(processor, Dedicated) or len(here) <= cores:
            yield from (([row], 1.0) for row in here)
        elif isinstance(self.experiment.policies.scaling, NoScaling) and isinstance(processor, SharedFifo):
            place = {name: k for k, name in enumerate(self.names)}
            in_order = sorted(here, key=lambda row: (place[str(self.instances.name[row])], self.instances.index[row]))
            yield from ((in_order[core :: int(cores)], 1.0) for core in range(int(cores)))
        else:  # which instances were pinned together changes with the parallelism
            yield here, cores

    # -- graph ----------------------------------------------------------------------------------------------------------

    def downstream(self, operator: str) -> set[str]:
        """Return all operators that records of this one can reach without a feedback edge."""
        found: set[str] = set()
        ahead = [operator]
        while ahead:
            here = ahead.pop()
            new = {edge.target for edge in self.experiment.query.edges if edge.source == here and not edge.feedback} - found
            found |= new
            ahead += new
        return found


def percent(share: float) -> str:
    """A share as text: 97 %, 99.8 %."""
    value = 100 * share
    return f"{value:.1f} %" if 99 < value < 99.95 or 0 < value < 1 else f"{value:.0f} %"


def count(number: float) -> str:
    """A number of records as text, with at least two digits."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= size:
            scaled = number / size
            return f"{scaled:.1f}{unit}" if scaled < 100 else f"{scaled:.0f}{unit}"
    return f"{number:.0f}" if abs(number) >= 10 or number == int(number) else f"{number:.1f}"


def seconds(value: float) -> str:
    """A time in the unit that shows it best."""
    if value >= 1:
        return f"{value:.3g} s" if value < 1000 else f"{value:,.0f} s"
    return f"{1e3 * value:.3g} ms" if value >= 1e-3 else f"{1e6 * value:.3g} us"


def listed(names: Sequence[str], most: int = 4) -> str:
    """Names as text: a, b and c; of many the first ones and the number of the others."""
    if len(names) <= 1:
        return "".join(names)
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return f"{', '.join(names[:-1])} and {names[-1]}"
