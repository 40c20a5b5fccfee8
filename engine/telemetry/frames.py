"""Frames: measurements per slice of virtual time, for the browser (a small dict) and for the files (columns)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.core import layout as L
from engine.core.control.active_instances import active
from engine.core.control.busy_time import accrue
from engine.core.control.memory_accounting import held_bytes
from engine.core.kernels import bulk
from engine.core.tables import Arrays, Words

from .drawn import ByCopy, Drawn, QueryPlace
from .histogram import maximum_ns, percentiles_ns

NONE = -1
_COUNTED = {  # column of the instances, column to subtract, weight (real records per record)
    "served": (L.I_IN, NONE, L.O_WEIGHT),
    "emitted": (L.I_EMITTED, NONE, L.O_WEIGHT_OUT),
    "busy_ns": (L.I_BUSY, NONE, NONE),  # serving one record that stands for several takes the time of one
    "blocked_ns": (L.I_BLOCKED, NONE, NONE),
    "stolen_ns": (L.I_STOLEN, NONE, NONE),
    "late": (L.I_LATE, NONE, L.O_WEIGHT),
    "lost": (L.I_LOST, NONE, L.O_WEIGHT),  # records sent to it but never served, because a host was lost ...
    "unsent": (L.I_UNSENT, NONE, L.O_WEIGHT_OUT),  # ... and records that it had taken in or produced but could not send or deliver
    "sent": (L.I_FIFO, L.I_CONTROLS, L.O_WEIGHT_OUT),  # records sent, each copy counted
}
GAINED = (
    *_COUNTED,
    "dropped",  # records past a log's retention
    "shed",  # records that sources on full hosts discarded
    "reads",  # stored records and distances that services have read
)
"""Counters of instances, in real records if one record stands for several.

`busy_ns`, `blocked_ns` and `stolen_ns` contain only time before the reading."""

_SUMMED = {  # as above; `alignment_ns` is counted elsewhere
    "wait_ns": (L.I_WAIT, NONE, L.O_WEIGHT),  # of records whose service started: from ready until then ...
    "alignment_ns": (NONE, NONE, L.O_WEIGHT),  # ... the part of it for barrier alignment ...
    "service_ns": (L.I_BUSY, L.I_CONTROL_NS, L.O_WEIGHT),  # ... and their service, in full
    "held_ns": (L.I_HELD, NONE, L.O_WEIGHT_OUT),  # of records sent: from the end of the service to their sending ...
    "network_ns": (L.I_NETWORK, NONE, L.O_WEIGHT_OUT),  # ... and from then to their arrival
}
SPENT = tuple(_SUMMED)
"""Parts of the latency: sums over records, which do not fit into a word (`widened`)."""

_COLUMNS = np.array(list(_COUNTED.values()), np.int64)
_SUMS = np.array([(max(column, 0), off, NONE) for column, off, _ in _SUMMED.values()], np.int64)
_WEIGHTS = [weight for *_, weight in _SUMMED.values()]
_ROW = {name: row for row, name in enumerate(GAINED)}
_OF_TIME = [_ROW[name] for name in ("busy_ns", "blocked_ns", "stolen_ns")]


HALF = 32
"""A sum of ns that does not fit into a word is two words: multiples of 2^32 ns, and ns."""


def widened(words: Words, before: Words) -> Words:
    """Return sums of ns, (2, ...), of which the world stores only `words` (...), modulo 2^64. before: the sums at an earlier time, since
    which no sum has grown by 2^63 ns: the records of an instance, or those delivered at a sink, would have waited 292 years in one
    frame."""
    grown = words - _narrow(before)
    low = before[1] + (grown & (1 << HALF) - 1)
    return np.stack([before[0] + (grown >> HALF) + (low >> HALF), low & (1 << HALF) - 1])


def _narrow(wide: Words) -> Words:
    """Return the sums modulo 2^64."""
    narrow: Words = (wide[0] << HALF) + wide[1]
    return narrow


def _exact(wide: Words) -> list[int]:
    """Return exact sums. wide: (2, n)."""
    return [(high << HALF) + low for high, low in zip(*wide.tolist(), strict=True)]


@dataclass
class Counters:
    """Cumulative counters of a world at one time, or their increase since another. Each of `GAINED` is an attribute, (instances,)."""

    t_ns: int
    delivered: int
    offered: int
    hops: int
    gained: Words  # (GAINED, instances)
    sent_bytes: Words  # (hosts, trunks and actors,)
    histogram: Words  # (sinks of the measured latency, then of each of the others; buckets)
    latency_ns: Words  # (2, as `histogram`) sums of the run's records, `widened` ...
    longest_ns: Words  # ... and the largest
    by_instance: Words  # (instances of sinks that measure each, buckets)
    spent: Words  # (2, SPENT, instances) of the run's records, `widened`
    active_ns: Words  # (instances,) how long they were active

    @classmethod
    def read(
        cls, w: Arrays, t_ns: int, offered: int, dropped: Words, active_ns: Words | None = None, before: Counters | None = None
    ) -> Counters:
        """active_ns: if the parallelism has changed. before: the reading at the end of the last frame; without one, the start of the
        run."""
        inst = w.inst
        taken = w.op[inst[:, L.I_OP], L.O_WEIGHT]  # real records per record, at each instance
        gained = np.empty((len(GAINED), len(inst)), np.int64)
        bulk.counts(inst, w.op, _COLUMNS, gained)
        gained[_ROW["dropped"]], gained[_ROW["shed"]] = dropped * taken, w.tally[:, L.Y_SHED] * taken
        gained[_ROW["reads"]] = w.tally[:, L.Y_READ] * taken
        spent = np.empty((len(SPENT), len(inst)), np.int64)
        bulk.counts(inst, w.op, _SUMS, spent)
        spent[SPENT.index("alignment_ns")] = w.align[:, L.ALIGN_WAITED]
        latency_ns = w.latency_sums[:, L.SUM_TOTAL_NS]
        busy, blocked, stolen = (gained[row] for row in _OF_TIME)
        accrue(w, t_ns, busy, blocked, stolen)
        return cls(
            t_ns=t_ns,
            delivered=int((inst[:, L.I_DELIVERED] * taken).sum()),
            offered=offered,
            hops=int(w.g[L.G_HOPS]),
            gained=gained,
            sent_bytes=w.host[:, L.H_SENT_BYTES].copy(),
            histogram=w.histogram * _weights_of_latencies(w),
            latency_ns=widened(latency_ns, np.zeros((2, *latency_ns.shape), np.int64) if before is None else before.latency_ns),
            longest_ns=w.latency_sums[:, L.SUM_MAX_NS].copy(),
            by_instance=w.by_instance.copy(),
            spent=widened(spent, np.zeros((2, *spent.shape), np.int64) if before is None else before.spent),
            active_ns=active(w) * np.int64(t_ns) if active_ns is None else active_ns,
        )

    @classmethod
    def zero(cls, w: Arrays) -> Counters:
        """Return the counters at the start of the run."""
        now = cls.read(w, 0, 0, np.zeros(len(w.inst), np.int64))
        return now.since(now)

    def since(self, before: Counters) -> Counters:
        """Return the increase since another reading. (`longest_ns` is not a difference.)"""
        earlier = vars(before)
        return Counters(**{name: value - earlier[name] for name, value in vars(self).items()})

    def __getattr__(self, name: str) -> Words:
        if name not in _ROW:
            raise AttributeError(f"{type(self).__name__} has no {name}")
        row: Words = self.gained[_ROW[name]]
        return row

    @property
    def gone(self) -> Words:
        """All records lost at each instance."""
        return self.lost + self.unsent

    def waits(self, w: Arrays) -> tuple[int, int]:
        """Return the total waiting time in the topics, in ns, of the real records that sources have read, and their number."""
        sources = w.inst[:, L.I_SOURCE] == 1
        weight = w.op[w.inst[sources, L.I_OP], L.O_WEIGHT].tolist()
        waited = _exact(self.spent[:, SPENT.index("wait_ns")][:, sources])
        return sum(a * b for a, b in zip(waited, weight, strict=True)), int(self.served[sources].sum())

    def as_words(self) -> dict[str, Words]:
        """Return the counters by name, as stored in snapshots."""
        rest = {name: np.asarray(value, np.int64) for name, value in vars(self).items() if name != "gained"}
        return rest | dict(zip(GAINED, self.gained, strict=True))

    @classmethod
    def from_words(cls, words: dict[str, Words]) -> Counters:
        gained = np.stack([words[name] for name in GAINED])
        rest: dict[str, Any] = {name: words[name] if words[name].ndim else int(words[name]) for name in words if name not in GAINED}
        return cls(gained=gained, **rest)


HELD = ("queue", "queue_bytes", "unsent_bytes", "state_bytes")
"""Contents of instances at one time: waiting items, in real records, then accounting bytes."""


def _held(w: Arrays) -> Words:
    """Return the contents of instances. Shape (HELD, instances)."""
    return np.concatenate([_queued(w)[None], held_bytes(w)])


def _totals(values: Words, group: Words, groups: int) -> Words:
    """Sum each row over the instances of each group. values: (k, instances). group: (instances,). Shape (k, groups)."""
    sums = np.zeros(len(values) * groups, np.int64)
    np.add.at(sums, (groups * np.arange(len(values))[:, None] + group).ravel(), values.ravel())
    return sums.reshape(len(values), groups)


def attribution(w: Arrays, new: Counters, totals: Words, reads_log: Words) -> list[dict[str, int]]:
    """Return the latency attribution by operator: sums over the records whose service it started, and over the records it sent
    (docs/event-core.md, 11). The sums are exact, and may exceed a word.

    totals: (GAINED, operators). reads_log: (operators,) 1 for sources.
    """
    return [
        {
            "records": served,
            "driver_queue_ns": wait if source else 0,
            "channel_wait_ns": 0 if source else wait - aligned,
            "alignment_ns": aligned,
            "service_ns": service,
            "stolen_ns": stolen,
            "sent": sent,
            "blocked_ns": held,
            "network_ns": network,
        }
        for source, served, stolen, sent, wait, aligned, service, held, network in zip(
            reads_log.tolist(), *totals[[_ROW[name] for name in ("served", "stolen_ns", "sent")]].tolist(), *_spent_ns(w, new), strict=True
        )
    ]


def _spent_ns(w: Arrays, new: Counters) -> list[list[int]]:
    """Return the parts of the latency of real records. Shape (SPENT, operators)."""
    halves = _totals(new.spent.reshape(2 * len(SPENT), -1), w.inst[:, L.I_OP], len(w.op)).reshape(2, len(SPENT), -1)
    weights = w.op[:, _WEIGHTS].T.tolist()
    return [[ns * weight for ns, weight in zip(_exact(halves[:, k]), of_sum, strict=True)] for k, of_sum in enumerate(weights)]


class _Span(NamedTuple):
    """What a frame is made of. w: by drawn operator, at its end. new: counted since the last frame. held, in_use: by instance. by_host:
    times and contents, summed by host."""

    number: int
    w: Arrays
    new: Counters
    now: Counters
    held: Words
    by_host: Words
    in_use: NDArray[np.bool_]


class Observer:
    """Turns two readings of the counters into a frame. latencies: names of the additional latencies."""

    def __init__(
        self,
        drawn: Drawn,
        hosts: Sequence[str],
        trunks: Sequence[str] = (),
        actors: Sequence[str] = (),
        latencies: Sequence[str] = (),
    ):
        self.drawn, self.operators, self.hosts, self.trunks, self.actors = drawn, drawn.operators, hosts, trunks, actors
        self.latencies = latencies
        self._names = np.array([*drawn.operators, *hosts, *trunks, *actors], object)
        self._scopes = np.array(["instance", *["host"] * len(hosts), *["trunk"] * len(trunks), *["actor"] * len(actors)], object)
        self._machines = np.array([*range(len(hosts)), *range(len(trunks)), *range(len(actors))], np.int64)

    def frame(
        self,
        number: int,
        w: Arrays,
        before: Counters,
        now: Counters,
        deaths: Sequence[Mapping[str, Any]] = (),
        appended: Mapping[str, int] | None = None,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the frame for the browser (docs/engine-api.md; rates per virtual second), and rows for the telemetry files: one per
        instance that is active or has done something since the last frame, then one per host, trunk and actor (trunks and actors only have
        sent bytes). deaths: of hosts, since the last frame. appended: real records in the logs of each source of the run so far."""
        new, held, in_use = now.since(before), _held(w), active(w)
        by_host = _totals(np.concatenate([new.gained[_OF_TIME], held]), w.inst[:, L.I_HOST], len(self._machines))
        drawn = self.drawn.arrays(w)
        sums_ns = _latency_sums_ns(w, new, 1 + len(self.latencies))
        span = _Span(number, drawn, new, now, held, by_host, in_use)
        live = self._live(span, deaths, sums_ns)
        if self.drawn.queries:
            live["queries"] = self._queries(w, new)
        if links := self._links(w, now.t_ns):
            live["links"] = links
        for operator, unread in self._unread(drawn, now, appended or {}):
            live["operators"][operator]["lag"] = unread
        for operator, latencies in _by_instance(self.drawn, w, new).items():
            live["operators"][operator]["latency_by_instance"] = latencies
        for operator, most in self._most(drawn, new, in_use):
            live["operators"][operator]["most"] = most
        for host, busiest in self._busiest(drawn, new, in_use):
            live["hosts"][host]["busiest"] = busiest
        return live, self._rows(span, self.drawn.query_names(w))

    def _queries(self, w: Arrays, new: Counters) -> dict[str, dict[str, Any]]:
        """Return the measurements of each query, over all its copies, and some by copy."""
        found, span_s = _by_copy(self.drawn, w, new, new.late), new.t_ns / 1e9
        return {place.name: _live_query(place, found, span_s, self.drawn.copies) for place in self.drawn.queries}

    def _unread(self, w: Arrays, now: Counters, appended: Mapping[str, int]) -> Iterator[tuple[str, int]]:
        """Yield each source with the number of records in its logs that are neither read nor dropped."""
        counts: dict[int, int] = {}
        for operator, count in appended.items():
            number = self.drawn.number[operator]
            counts[number] = counts.get(number, 0) + count
        for number, count in counts.items():
            here = w.inst[:, L.I_OP] == number
            yield self.operators[number], count - _read(w, now, here) - int(now.dropped[here].sum())

    def _most(self, w: Arrays, new: Counters, in_use: NDArray[np.bool_]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield each operator of several active instances with the largest values of a single one, and the index of that one."""
        first = w.op[:, L.O_FIRST]
        several = np.add.reduceat(in_use.astype(np.int64), first) > 1
        values = np.stack([new.busy_ns / np.maximum(new.active_ns, 1), new.blocked_ns / np.maximum(new.active_ns, 1), _queued(w)])
        values[:, ~in_use] = -1
        most = np.maximum.reduceat(values, first, axis=1)
        at = np.where(values == most[:, w.inst[:, L.I_OP]], w.inst[:, L.I_INDEX], len(w.inst))
        index = np.minimum.reduceat(at, first, axis=1)
        for o in np.flatnonzero(several).tolist():
            (busy, blocked, queue), (busiest, most_blocked, fullest) = most[:, o].tolist(), index[:, o].tolist()
            yield (
                self.operators[o],
                {
                    "busy": _round(busy),
                    "busiest": busiest,
                    "blocked": _round(blocked),
                    "most_blocked": most_blocked,
                    "queue": int(queue),
                    "fullest": fullest,
                },
            )

    def _busiest(self, w: Arrays, new: Counters, in_use: NDArray[np.bool_]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield each host of several active instances with the one that was busiest, the first of several."""
        busy = new.busy_ns / np.maximum(new.active_ns, 1)
        in_order = np.lexsort((np.arange(len(busy)), -busy, w.inst[:, L.I_HOST]))
        in_order = in_order[in_use[in_order]]
        hosts, first, count = np.unique(w.inst[in_order, L.I_HOST], return_index=True, return_counts=True)
        for host, i in zip(hosts[count > 1].tolist(), in_order[first[count > 1]].tolist(), strict=True):
            operator, index = w.inst[i, [L.I_OP, L.I_INDEX]].tolist()
            yield self.hosts[host], {"operator": self.operators[operator], "index": index, "busy": _round(busy[i])}

    def _live(self, span: _Span, deaths: Sequence[Mapping[str, Any]], sums_ns: Sequence[int]) -> dict[str, Any]:
        """sums_ns: of the samples of each latency."""
        number, w, new, now, held, by_host, in_use = span
        span_ns, span_s = new.t_ns, new.t_ns / 1e9
        latency, *further = map(_live_latency, _by_latency(new.histogram, len(sums_ns)), sums_ns)
        op_of, size, hosts = w.inst[:, L.I_OP], len(self.operators), len(self.hosts)
        source = (w.inst[:, L.I_SOURCE] == 1).astype(np.int64)
        sums = _totals(np.concatenate([new.gained, held, [source]]), op_of, size)
        gained, (queue, _, _, state), reads_log = sums[: len(GAINED)], sums[len(GAINED) : -1], sums[-1]
        # means, since the parallelism may change
        instances = _totals(new.active_ns[None], op_of, size)[0] / span_ns
        on_host = _totals(new.active_ns[None], w.inst[:, L.I_HOST], len(self._machines))[0, :hosts] / span_ns
        per_s = np.round(gained[[_ROW["served"], _ROW["emitted"]]] / span_s, 6)
        shares = np.round(gained[_OF_TIME] / np.maximum(instances, 1) / span_ns, 6)
        late, shed, lost = gained[_ROW["late"]], gained[_ROW["shed"]], gained[_ROW["lost"]] + gained[_ROW["unsent"]]
        operators = zip(
            self.operators,
            *per_s.tolist(),
            *shares.tolist(),
            *(values.tolist() for values in (queue, state, late, shed, lost)),
            _watermark_lags_ms(w, size, now.t_ns, in_use),
            attribution(w, new, gained, reads_log),
            strict=True,
        )
        processors = np.where(
            w.host[:hosts, L.H_SHARING] == 1,
            w.host[:hosts, L.H_UNITS] / L.UNIT,
            np.clip(w.host[:hosts, L.H_PROCESSOR_END] - w.host[:hosts, L.H_PROCESSOR], 1, np.maximum(on_host, 1)),
        )
        sent_mbit_per_s = np.round(new.sent_bytes * 8e-6 / span_s, 6).tolist()
        waits_ms = _waits_ms(w.host[:, L.H_LINK_FREE], now.t_ns)
        machines = zip(
            self.hosts,
            np.round(by_host[0, :hosts] / processors / span_ns, 6).tolist(),
            sent_mbit_per_s[:hosts],
            *by_host[len(_OF_TIME) :, :hosts].tolist(),
            _memory(w, hosts),
            waits_ms[:hosts],
            strict=True,
        )
        return {
            "n": number,
            "t_s": now.t_ns / 1e9,
            "latency_ms": latency,
            "latencies_ms": dict(zip(self.latencies, further, strict=True)),
            "offered_per_s": _round(new.offered / span_s),
            "in_per_s": _round(int((new.served * source).sum()) / span_s),
            "out_per_s": _round(new.delivered / span_s),
            "backlog": _backlog(w, now),
            "dropped": int(new.dropped.sum()),
            "lost": int(new.gone.sum()),
            "deaths": list(deaths),
            "operators": {
                name: {
                    "in_per_s": served,
                    "out_per_s": emitted,
                    "busy": busy,
                    "blocked": blocked,
                    "stolen": stolen,
                    "queue": queued,
                    "state_bytes": state_bytes,
                    "watermark_lag_ms": lag,
                    "late": late,
                    "shed": shed,
                    "lost": lost,
                    "attribution": spent,
                }
                for name, served, emitted, busy, blocked, stolen, queued, state_bytes, late, shed, lost, lag, spent in operators
            },
            "hosts": {
                name: {
                    "busy": busy,
                    "queue": queued,
                    "egress_mbit_per_s": sent,
                    "egress_wait_ms": wait_ms,
                    "queue_bytes": queue_bytes,
                    "unsent_bytes": unsent,
                    "state_bytes": state_bytes,
                    "memory": memory,
                }
                for name, busy, sent, queued, queue_bytes, unsent, state_bytes, memory, wait_ms in machines
            },
            "trunks": {
                name: {"mbit_per_s": sent, "wait_ms": wait_ms}
                for name, sent, wait_ms in zip(self.trunks, sent_mbit_per_s[hosts:], waits_ms[hosts:], strict=False)
            },
            "actors": {
                name: {"egress_mbit_per_s": sent}
                for name, sent in zip(self.actors, sent_mbit_per_s[hosts + len(self.trunks) :], strict=True)
            },
        }

    def _links(self, w: Arrays, t_ns: int) -> list[dict[str, Any]]:
        """Return the links with a bandwidth of their own that are in use."""
        own = w.link[(w.link[:, L.LINK_MBIT] > 0) & (w.link[:, L.LINK_FREE] > t_ns)]
        waits_ms = _waits_ms(own[:, L.LINK_FREE], t_ns)
        ends = own[:, [L.LINK_SOURCE, L.LINK_TARGET]].tolist()
        return [
            {"source": self.hosts[source], "target": self.hosts[target], "wait_ms": wait_ms}
            for (source, target), wait_ms in zip(ends, waits_ms, strict=True)
        ]

    def _rows(self, span: _Span, queries: NDArray[np.object_] | None) -> dict[str, Words]:
        """queries: name of each instance's query, or None where the document names no queries."""
        number, w, new, now, held, by_host, in_use = span
        shown = in_use | (new.gained != 0).any(axis=0) | (new.spent != 0).any(axis=(0, 1))
        inst = w.inst[shown]
        n, rows = len(inst), len(inst) + len(self._machines)
        counts = np.zeros((len(GAINED) + len(HELD) + 3, rows), np.int64)
        counts[: len(GAINED), :n], counts[len(GAINED) : -3, :n] = new.gained[:, shown], held[:, shown]
        counts[[*_OF_TIME, *range(len(GAINED), len(GAINED) + len(HELD))], n:] = by_host
        counts[-3:, n:] = w.memory[:, L.Z_USED], w.memory[:, L.Z_PRESSURE], new.sent_bytes
        found = dict(zip((*GAINED, *HELD, "memory_bytes", "pressure", "egress_bytes"), counts, strict=True))
        spent = np.zeros((len(SPENT), rows))
        spent[:, :n] = (new.spent[0] * 2.0**HALF + new.spent[1])[:, shown] * w.op[inst[:, L.I_OP]][:, _WEIGHTS].T
        marks = np.full(rows, L.FAR)
        marks[:n] = inst[:, L.I_WATERMARK]
        return {
            "frame": np.full(rows, number, np.int32),
            "t_ns": np.full(rows, now.t_ns, np.int64),
            "scope": self._scopes[np.r_[np.zeros(n, np.int64), 1 : len(self._scopes)]],
            "name": self._names[np.r_[inst[:, L.I_OP], len(self.operators) : len(self._names)]],
            "index": np.concatenate([inst[:, L.I_INDEX], self._machines]).astype(np.int32),
            "host": np.concatenate([inst[:, L.I_HOST], np.arange(len(self._machines))]).astype(np.int32),
            **found,
            **dict(zip(SPENT, spent, strict=True)),
            "watermark_ns": marks,
            **({} if queries is None else {"query": np.r_[queries[shown], np.full(rows - n, "", object)]}),
        }


def _waits_ms(free_ns: Words, t_ns: int) -> list[float]:
    """Return how long a message sent now waits until the FIFO is free, by FIFO."""
    waits: list[float] = (np.maximum(free_ns - t_ns, 0) / 1e6).round(6).tolist()
    return waits


def _watermark_lags_ms(w: Arrays, operators: int, t_ns: int, in_use: NDArray[np.bool_]) -> list[float | None]:
    """Return the lag of each operator's minimum watermark; None before its first and after its last watermark."""
    least = np.full(operators, L.FAR)
    used = w.inst[in_use]
    np.minimum.at(least, used[:, L.I_OP], used[:, L.I_WATERMARK])
    return [None if abs(mark) >= L.FAR else round((t_ns - mark) / 1e6, 3) for mark in least.tolist()]


def _memory(w: Arrays, hosts: int) -> list[dict[str, Any] | None]:
    """Return the state of the hosts' memory models, None for hosts without one."""
    return [
        {"used_bytes": used, "peak_bytes": peak, "slow_down": round(pressure / L.NO_PRESSURE, 6), "full": full == 1} if modelled else None
        for modelled, used, peak, pressure, full in w.memory[:hosts, [L.Z_MODELLED, L.Z_USED, L.Z_PEAK, L.Z_PRESSURE, L.Z_FULL]].tolist()
    ]


def summary(drawn: Drawn, latencies: Sequence[str], hosts: Sequence[str], run: Arrays, start: Counters, end: Counters) -> dict[str, Any]:
    """Return the metrics between two readings (after warm-up). latencies: names of the additional latencies."""
    operators, w = drawn.operators, drawn.arrays(run)
    span_s = max((end.t_ns - start.t_ns) / 1e9, 1e-9)
    kinds = 1 + len(latencies)
    new = end.since(start)
    sums_ns = _latency_sums_ns(run, new, kinds)
    most_ns = end.longest_ns.reshape(kinds, -1).max(axis=1).tolist()
    counts = _by_latency(new.histogram, kinds)
    latency, *further = (_whole_latency(*of) for of in zip(counts, sums_ns, most_ns, strict=True))
    sources = (w.inst[:, L.I_SOURCE] == 1).astype(np.int64)
    op_of = w.inst[:, L.I_OP]
    totals = _totals(new.gained, op_of, len(operators))
    spent = attribution(w, new, totals, _totals(sources[None], op_of, len(operators))[0])
    by_instance = _by_instance(drawn, run, new)
    return {
        "virtual_s": end.t_ns / 1e9,
        "records_in": int((end.served * sources).sum()),
        "records_out": int(end.delivered),
        "late": int(end.late.sum()),
        "errors": int(w.inst[:, L.I_ERRORS].sum()),
        "hops": end.hops,
        "throughput_in_per_s": _round(int((new.served * sources).sum()) / span_s),
        "throughput_out_per_s": _round(new.delivered / span_s),
        "backlog": _backlog(w, end),
        "dropped": int(end.dropped.sum()),
        "lost": int(end.gone.sum()),
        "shed": int(end.shed.sum()),
        "memory": {name: held for name, held in zip(hosts, _memory(w, len(hosts)), strict=True) if held is not None},
        "latency_ms": latency,
        "latencies_ms": dict(zip(latencies, further, strict=True)),
        "operators": {
            name: _operator_summary(op_of == o, int(new.active_ns[op_of == o].sum()), new, end)
            | {"attribution": spent[o]}
            | ({"latency_by_instance": by_instance[name]} if name in by_instance else {})
            for o, name in enumerate(operators)
        },
        **({"queries": _queries(drawn, run, end, new, span_s)} if drawn.queries else {}),
    }


def _queries(drawn: Drawn, w: Arrays, end: Counters, new: Counters, span_s: float) -> dict[str, Any]:
    """Return the summary of each query."""
    found = _by_copy(drawn, w, new, end.late)
    return {place.name: _query_summary(place, found, drawn.longest_ns(place, end.longest_ns), span_s) for place in drawn.queries}


def _by_copy(drawn: Drawn, w: Arrays, new: Counters, late: Words) -> ByCopy:
    """Return what the copies of queries measured in a span. late: records, (instances,)."""
    return drawn.by_copy(w, new.served, late, _queued(w), new.histogram, _samples_ns(w, new))


def _live_query(place: QueryPlace, found: ByCopy, span_s: float, names: Sequence[str]) -> dict[str, Any]:
    """names: of the copies of all queries."""
    here = slice(place.first, place.end)
    latency = {name: _live_latency(found.histogram[name][here].sum(axis=0), sum(sums[here])) for name, sums in found.sums_ns.items()}
    out = found.histogram[""][here].sum(axis=1)
    live = {
        "latency_ms": latency.pop(""),
        "latencies_ms": latency,
        "in_per_s": _round(found.read[here].sum() / span_s),
        "out_per_s": _round(out.sum() / span_s),
        "served_per_s": _round(found.served[here].sum() / span_s),
        "late": int(found.late[here].sum()),
        "queue": int(found.queue[here].sum()),
    }
    if place.counted:
        means, rates = _means_ms(out, found.sums_ns[""][here]), (out / span_s).round(6).tolist()
        live["copies"] = {
            name: {"mean_ms": mean, "out_per_s": rate, "queue": queued}
            for name, mean, rate, queued in zip(names[here], means, rates, found.queue[here].tolist(), strict=True)
        }
    return live


def _query_summary(place: QueryPlace, found: ByCopy, longest_ns: Mapping[str, int], span_s: float) -> dict[str, Any]:
    """longest_ns: largest sample, by latency."""
    here = slice(place.first, place.end)
    latency = {
        name: _whole_latency(found.histogram[name][here].sum(axis=0), sum(sums[here]), longest_ns[name])
        for name, sums in found.sums_ns.items()
    }
    counts = found.histogram[""][here]
    out = counts.sum(axis=1)
    whole = {
        "latency_ms": latency.pop(""),
        "latencies_ms": latency,
        "throughput_in_per_s": _round(found.read[here].sum() / span_s),
        "throughput_out_per_s": _round(out.sum() / span_s),
        "served_per_s": _round(found.served[here].sum() / span_s),
        "late": int(found.late[here].sum()),
    }
    if place.counted:
        means = _means_ms(out, found.sums_ns[""][here])
        known = [mean for mean in means if mean is not None]
        whole |= {"fastest_copy_ms": min(known, default=None), "slowest_copy_ms": max(known, default=None)}
        whole["copies"] = {
            "mean_ms": means,
            "p99_ms": [_ms(percentiles_ns(row, [0.99])[0]) for row in counts],
            "out_per_s": (out / span_s).round(6).tolist(),
        }
    return whole


def _means_ms(counts: Words, sums_ns: Sequence[int]) -> list[float | None]:
    """Return mean samples; None without samples."""
    return [round(ns / count / 1e6, 6) if count else None for count, ns in zip(counts.tolist(), sums_ns, strict=True)]


PERCENTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
OF_WHOLE = {"min": 0.0, "p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99}
"""In the summary."""


def _by_latency(histogram: Words, kinds: int) -> Words:
    """Return the samples over all sinks, (kinds, buckets): the main latency, then the others."""
    counts: Words = histogram.reshape(kinds, -1, histogram.shape[1]).sum(axis=1)
    return counts


def _weights_of_latencies(w: Arrays) -> Words:
    """Return the number of real records per sample, by row of `histogram`; (.., 1)."""
    sinks = w.op[w.op[:, L.O_SINK] >= 0]
    at_sink = sinks[np.argsort(sinks[:, L.O_SINK])][:, L.O_WEIGHT].reshape(-1, 1)
    measures = int(w.g[L.G_MEASURES])
    weights: Words = np.tile(at_sink, (1 + measures, 1))
    for k in np.flatnonzero(w.g[L.G_MEASURE_TO : L.G_MEASURE_TO + measures] == L.TO_READ):
        read_by = w.inst[w.inst[:, L.I_SOURCE] == 1, L.I_OP][0]  # this latency is measured at the sources
        weights[(k + 1) * len(sinks) : (k + 2) * len(sinks)] = w.op[read_by, L.O_WEIGHT]
    return weights


def _latency_sums_ns(w: Arrays, new: Counters, kinds: int) -> list[int]:
    """Return the sum over all sinks, by latency."""
    each = _samples_ns(w, new)
    sinks = len(each) // kinds
    return [sum(each[k * sinks : (k + 1) * sinks]) for k in range(kinds)]


def _samples_ns(w: Arrays, new: Counters) -> list[int]:
    """Return the sum of the samples, by row of `histogram`."""
    return [ns * weight for ns, weight in zip(_exact(new.latency_ns), _weights_of_latencies(w)[:, 0].tolist(), strict=True)]


def _by_instance(drawn: Drawn, w: Arrays, new: Counters) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the latency at each instance of the sinks that measure it, by id of the drawn sink and number of the instance."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for name, (parameters, instances, weight) in drawn.sinks(w):
        first = int(w.par[parameters + L.SINK_LATENCIES])
        if first >= 0:
            rows = new.by_instance[first : first + instances] * weight
            of_sink = found.setdefault(name, {})
            of_sink |= {str(n): _of_instance(counts) for n, counts in enumerate(rows, start=len(of_sink))}
    return found


def _of_instance(counts: Words) -> dict[str, Any]:
    values = map(_ms, percentiles_ns(counts, list(PERCENTILES.values())))
    return {"count": int(counts.sum())} | dict(zip(PERCENTILES, values, strict=True)) | {"max": _ms(maximum_ns(counts))}


def _live_latency(counts: Words, sum_ns: int) -> dict[str, Any]:
    return _mean_and_percentiles(counts, sum_ns, PERCENTILES) | {"max": _ms(maximum_ns(counts))}


def _whole_latency(counts: Words, sum_ns: int, most_ns: int) -> dict[str, Any]:
    return _mean_and_percentiles(counts, sum_ns, OF_WHOLE) | {"max": _ms(most_ns) if counts.any() else None}


def _mean_and_percentiles(counts: Words, sum_ns: int, percentiles: Mapping[str, float]) -> dict[str, Any]:
    total = int(counts.sum())
    mean = round(sum_ns / total / 1e6, 6) if total else None
    return {"count": total, "mean": mean} | dict(
        zip(percentiles, map(_ms, percentiles_ns(counts, list(percentiles.values()))), strict=True)
    )


def _backlog(w: Arrays, now: Counters) -> int:
    """Return the records in logs, neither read nor dropped, plus the items in queues."""
    read = _read(w, now, w.inst[:, L.I_SOURCE] == 1)
    return int(now.offered - read - now.dropped.sum() + _queued(w).sum())


def _read(w: Arrays, now: Counters, sources: NDArray[np.bool_]) -> int:
    """Return the real records that these source instances have read, each once."""
    again = w.inst[sources, L.I_AGAIN] * w.op[w.inst[sources, L.I_OP], L.O_WEIGHT]
    return int(now.served[sources].sum() - again.sum())


def _queued(w: Arrays) -> Words:
    """Return the waiting items by instance, in real records. Shape (instances,)."""
    count: Words = w.inst[:, L.I_QUEUE_COUNT] * w.op[w.inst[:, L.I_OP], L.O_WEIGHT]
    return count


def _operator_summary(here: NDArray[np.bool_], active_ns: int, new: Counters, end: Counters) -> dict[str, Any]:
    span_ns = max(active_ns, 1)
    return {
        "in": int(end.served[here].sum()),
        "out": int(end.emitted[here].sum()),
        "busy": _round(new.busy_ns[here].sum() / span_ns),
        "blocked": _round(new.blocked_ns[here].sum() / span_ns),
        "stolen": _round(new.stolen_ns[here].sum() / span_ns),
        "late": int(end.late[here].sum()),
        "shed": int(end.shed[here].sum()),
        "read": int(end.reads[here].sum()),
        "lost": int(end.gone[here].sum()),
        "unsent": int(end.unsent[here].sum()),
    }


def _ms(value_ns: int | None) -> float | None:
    return None if value_ns is None else round(value_ns / 1e6, 6)


def _round(value: Any) -> float:
    return round(float(value), 6)
