"""Frames: what happened in each slice of virtual time, for the browser (a small dict) and for the files (columns)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core import layout as L
from engine.core.memory import held_bytes, unsent_bytes
from engine.core.world import Arrays, Words

from .histogram import maximum_ns, percentile_ns


@dataclass
class Counters:
    """Cumulative counts of a world at one moment, in real records where one of the run stands for several.

    `busy`, `blocked` and `stolen` hold only what lies before it."""

    t_ns: int
    served: Words  # (instances,)
    emitted: Words
    busy_ns: Words
    blocked_ns: Words
    stolen_ns: Words
    late: Words
    dropped: Words  # records that a log kept no longer
    lost: Words  # records sent to it and never served, because a host was lost ...
    unsent: Words  # ... and those that it had taken in or made and could not send or deliver
    shed: Words  # records that sources on full hosts threw away
    delivered: int
    offered: int
    sent_bytes: Words  # (hosts, trunks and actors,)
    histogram: Words  # (sinks of the measured latency, then of each of the others; buckets)
    latency: Words  # (as `histogram`, 3)
    hops: int
    wait_ns: Words  # (instances,) of records whose service began: from ready to then, summed
    service_ns: Words  # ... their service, in full
    sent: Words  # records sent, each copy counted
    held_ns: Words  # ... from the end of the service to their sending, summed
    network_ns: Words  # ... from their sending to their arrival

    @classmethod
    def read(cls, w: Arrays, t_ns: int, offered: int, dropped: Words) -> Counters:
        busy = w.inst[:, L.I_BUSY].copy()
        stolen = w.inst[:, L.I_STOLEN].copy()
        serving = w.proc[(w.proc[:, L.P_INSTANCE] >= 0) & (w.host[w.proc[:, L.P_HOST], L.H_SHARING] == 0)]
        paused = np.maximum(w.host[serving[:, L.P_HOST], L.H_PAUSED] - t_ns, 0)  # what is left of a pause, which `stolen` has already
        busy[serving[:, L.P_INSTANCE]] -= np.maximum(serving[:, L.P_END] - paused - t_ns, 0)
        stolen[serving[:, L.P_INSTANCE]] -= paused
        for host in w.host[w.host[:, L.H_RUNNING] > 0]:
            first, running = int(host[L.H_MEMBER]), int(host[L.H_RUNNING])
            tag, instance = w.tags[first : first + running].T
            left = -(-(tag - host[L.H_WORK] - host[L.H_RATE] * max(t_ns - host[L.H_WORK_AT], 0)) // L.UNIT)  # ns of work after t_ns
            on = w.proc[w.inst[instance, L.I_PROCESSOR]]
            busy[instance] -= left
            stolen[instance] += t_ns - on[:, L.P_START] - (on[:, L.P_SERVICE] - left)
        taken, made = w.op[w.inst[:, L.I_OP]][:, [L.O_WEIGHT, L.O_WEIGHT_OUT]].T  # real records for one, at each instance
        sinks = w.op[w.op[:, L.O_SINK] >= 0]
        at_sink = sinks[np.argsort(sinks[:, L.O_SINK])][:, L.O_WEIGHT].reshape(-1, 1)
        at_sink = np.tile(at_sink, (1 + int(w.g[L.G_MEASURES]), 1))
        blocked = w.inst[:, L.I_BLOCKED] + np.where(w.inst[:, L.I_STATUS] == L.BLOCKED, t_ns - w.inst[:, L.I_BLOCKED_SINCE], 0)
        return cls(
            t_ns=t_ns,
            served=w.inst[:, L.I_IN] * taken,
            emitted=w.inst[:, L.I_EMITTED] * made,
            busy_ns=busy,
            blocked_ns=blocked,
            stolen_ns=stolen,
            late=w.inst[:, L.I_LATE] * taken,
            dropped=dropped * taken,
            lost=w.inst[:, L.I_LOST] * taken,
            unsent=w.inst[:, L.I_UNSENT] * made,
            shed=w.tally[:, L.Y_SHED] * taken,
            delivered=int((w.inst[:, L.I_DELIVERED] * taken).sum()),
            offered=offered,
            sent_bytes=w.host[:, L.H_SENT_BYTES].copy(),
            histogram=w.histogram * at_sink,
            latency=w.latency_sums * np.hstack([at_sink, at_sink, np.ones_like(at_sink)]),
            hops=int(w.g[L.G_HOPS]),
            wait_ns=w.inst[:, L.I_WAIT] * taken,
            service_ns=(w.inst[:, L.I_BUSY] - w.inst[:, L.I_CONTROL_NS]) * taken,
            sent=(w.inst[:, L.I_FIFO] - w.inst[:, L.I_CONTROLS]) * made,
            held_ns=w.inst[:, L.I_HELD] * made,
            network_ns=w.inst[:, L.I_NETWORK] * made,
        )

    @classmethod
    def zero(cls, w: Arrays) -> Counters:
        """The start of the run."""
        now = cls.read(w, 0, 0, np.zeros(len(w.inst), np.int64)).as_words()
        return cls.from_words({name: np.zeros_like(words) for name, words in now.items()})

    @property
    def gone(self) -> Words:
        """All that was lost at each instance."""
        return self.lost + self.unsent

    def as_words(self) -> dict[str, Words]:
        return {name: np.asarray(value, np.int64) for name, value in vars(self).items()}

    @classmethod
    def from_words(cls, words: dict[str, Words]) -> Counters:
        fields: dict[str, Any] = {name: int(value) if value.ndim == 0 else value for name, value in words.items()}
        return cls(**fields)


SPENT = ("wait_ns", "service_ns", "sent", "held_ns", "network_ns")
"""Counters of where the time of records went."""


def attribution(w: Arrays, operators: int, start: Counters, end: Counters) -> list[dict[str, int]]:
    """Where the time of records went between two readings, by operator: sums over the records that it began to serve and those that it
    sent (docs/event-core.md, 11)."""
    op_of = w.inst[:, L.I_OP]

    def by_operator(values: Words) -> list[int]:
        sums = np.zeros(operators, np.int64)
        np.add.at(sums, op_of, values)
        return [int(value) for value in sums]

    def between(name: str) -> list[int]:
        return by_operator(getattr(end, name) - getattr(start, name))

    served, stolen, (wait, service, sent, held, network) = between("served"), between("stolen_ns"), map(between, SPENT)
    reads_log = by_operator(w.inst[:, L.I_SOURCE])
    return [
        {
            "records": served[o],
            "driver_queue_ns": wait[o] if reads_log[o] else 0,
            "channel_wait_ns": 0 if reads_log[o] else wait[o],
            "alignment_ns": 0,
            "service_ns": service[o],
            "stolen_ns": stolen[o],
            "sent": sent[o],
            "blocked_ns": held[o],
            "network_ns": network[o],
        }
        for o in range(operators)
    ]


class Observer:
    """Turns two readings of the counters into a frame. latencies: names of those beside the measured one."""

    def __init__(
        self,
        operators: Sequence[str],
        hosts: Sequence[str],
        sinks: Sequence[str],
        trunks: Sequence[str] = (),
        actors: Sequence[str] = (),
        latencies: Sequence[str] = (),
    ):
        self.operators, self.hosts, self.sinks, self.trunks, self.actors = operators, hosts, sinks, trunks, actors
        self.latencies = latencies

    def live(self, number: int, w: Arrays, before: Counters, now: Counters, deaths: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
        """The frame that the browser gets (docs/engine-api.md). Rates are per virtual second. deaths: of hosts, since the last frame."""
        span_s = (now.t_ns - before.t_ns) / 1e9
        latency, *further = _by_latency(now.histogram - before.histogram, 1 + len(self.latencies))
        op_of = w.inst[:, L.I_OP]
        host_of = w.inst[:, L.I_HOST]
        span_ns = now.t_ns - before.t_ns

        def by(group: Words, values: Words, size: int) -> Words:
            return np.bincount(group, weights=values, minlength=size)

        size = len(self.operators)
        instances = np.maximum(np.bincount(op_of, minlength=size), 1)
        hosts = len(self.hosts)
        processors = np.where(
            w.host[:hosts, L.H_SHARING] == 1,
            w.host[:hosts, L.H_UNITS] / L.UNIT,
            np.maximum(w.host[:hosts, L.H_PROCESSOR_END] - w.host[:hosts, L.H_PROCESSOR], 1),
        )
        sources = w.inst[:, L.I_SOURCE] == 1
        operators = zip(
            self.operators,
            np.round(by(op_of, now.served - before.served, size) / span_s, 6).tolist(),
            np.round(by(op_of, now.emitted - before.emitted, size) / span_s, 6).tolist(),
            np.round(by(op_of, now.busy_ns - before.busy_ns, size) / instances / span_ns, 6).tolist(),
            np.round(by(op_of, now.blocked_ns - before.blocked_ns, size) / instances / span_ns, 6).tolist(),
            np.round(by(op_of, now.stolen_ns - before.stolen_ns, size) / instances / span_ns, 6).tolist(),
            by(op_of, _queued(w), size).astype(np.int64).tolist(),
            by(op_of, w.inst[:, L.I_STATE_BYTES], size).astype(np.int64).tolist(),
            by(op_of, now.late - before.late, size).astype(np.int64).tolist(),
            by(op_of, now.shed - before.shed, size).astype(np.int64).tolist(),
            by(op_of, now.gone - before.gone, size).astype(np.int64).tolist(),
            strict=True,
        )
        spent = attribution(w, size, before, now)
        sent_mbit_per_s = np.round((now.sent_bytes - before.sent_bytes) * 8e-6 / span_s, 6).tolist()
        machines = zip(
            self.hosts,
            np.round(by(host_of, now.busy_ns - before.busy_ns, hosts) / processors / span_ns, 6).tolist(),
            by(host_of, _queued(w), hosts).astype(np.int64).tolist(),
            sent_mbit_per_s[:hosts],
            *(values.tolist() for values in held_bytes(w)[:, :hosts]),
            _memory(w, hosts),
            strict=True,
        )
        return {
            "n": number,
            "t_s": now.t_ns / 1e9,
            "latency_ms": _live_latency(latency),
            "latencies_ms": {name: _live_latency(counts) for name, counts in zip(self.latencies, further, strict=True)},
            "offered_per_s": _round((now.offered - before.offered) / span_s),
            "in_per_s": _round(int((now.served - before.served)[sources].sum()) / span_s),
            "out_per_s": _round((now.delivered - before.delivered) / span_s),
            "backlog": _backlog(w, now),
            "dropped": int((now.dropped - before.dropped).sum()),
            "lost": int((now.gone - before.gone).sum()),
            "deaths": list(deaths),
            "operators": {
                name: {
                    "in_per_s": served,
                    "out_per_s": emitted,
                    "busy": busy,
                    "blocked": blocked,
                    "stolen": stolen,
                    "queue": queue,
                    "state_bytes": state,
                    "watermark_lag_ms": self._watermark_lag_ms(w, o, now.t_ns),
                    "late": late,
                    "shed": shed,
                    "lost": lost,
                    "attribution": spent[o],
                }
                for o, (name, served, emitted, busy, blocked, stolen, queue, state, late, shed, lost) in enumerate(operators)
            },
            "hosts": {
                name: {
                    "busy": busy,
                    "queue": queue,
                    "egress_mbit_per_s": sent,
                    "queue_bytes": queued,
                    "unsent_bytes": unsent,
                    "state_bytes": state,
                    "memory": memory,
                }
                for name, busy, queue, sent, queued, unsent, state, memory in machines
            },
            "trunks": {name: {"mbit_per_s": sent} for name, sent in zip(self.trunks, sent_mbit_per_s[hosts:], strict=False)},
            "actors": {
                name: {"egress_mbit_per_s": sent}
                for name, sent in zip(self.actors, sent_mbit_per_s[hosts + len(self.trunks) :], strict=True)
            },
        }

    def _watermark_lag_ms(self, w: Arrays, o: int, t_ns: int) -> float | None:
        marks = w.inst[w.inst[:, L.I_OP] == o, L.I_WATERMARK]
        least = int(marks.min()) if len(marks) else -L.FAR
        return None if abs(least) >= L.FAR else round((t_ns - least) / 1e6, 3)

    def columns(self, number: int, w: Arrays, before: Counters, now: Counters) -> dict[str, Any]:
        """Rows for the telemetry files: one per instance, then one per host, trunk and actor (the last two have sent bytes only)."""
        n, hosts = len(w.inst), len(self.hosts) + len(self.trunks) + len(self.actors)
        none = np.zeros(hosts, np.int64)
        numbers = [*range(len(self.hosts)), *range(len(self.trunks)), *range(len(self.actors))]
        marks = w.inst[:, L.I_WATERMARK]
        unsent = unsent_bytes(w)
        return {
            "frame": np.full(n + hosts, number, np.int32),
            "t_ns": np.full(n + hosts, now.t_ns, np.int64),
            "scope": ["instance"] * n + ["host"] * len(self.hosts) + ["trunk"] * len(self.trunks) + ["actor"] * len(self.actors),
            "name": [self.operators[o] for o in w.inst[:, L.I_OP]] + [*self.hosts, *self.trunks, *self.actors],
            "index": np.concatenate([w.inst[:, L.I_INDEX], numbers]).astype(np.int32),
            "host": np.concatenate([w.inst[:, L.I_HOST], np.arange(hosts)]).astype(np.int32),
            "served": np.concatenate([now.served - before.served, none]),
            "emitted": np.concatenate([now.emitted - before.emitted, none]),
            "busy_ns": np.concatenate([now.busy_ns - before.busy_ns, _by_host(w, now.busy_ns - before.busy_ns, hosts)]),
            "blocked_ns": np.concatenate([now.blocked_ns - before.blocked_ns, _by_host(w, now.blocked_ns - before.blocked_ns, hosts)]),
            "stolen_ns": np.concatenate([now.stolen_ns - before.stolen_ns, _by_host(w, now.stolen_ns - before.stolen_ns, hosts)]),
            "queue": np.concatenate([_queued(w), _by_host(w, _queued(w), hosts)]),
            "queue_bytes": np.concatenate([w.inst[:, L.I_QUEUE_BYTES], _by_host(w, w.inst[:, L.I_QUEUE_BYTES], hosts)]),
            "unsent_bytes": np.concatenate([unsent, _by_host(w, unsent, hosts)]),
            "state_bytes": np.concatenate([w.inst[:, L.I_STATE_BYTES], _by_host(w, w.inst[:, L.I_STATE_BYTES], hosts)]),
            "late": np.concatenate([now.late - before.late, none]),
            "dropped": np.concatenate([now.dropped - before.dropped, none]),
            "shed": np.concatenate([now.shed - before.shed, none]),
            "memory_bytes": np.concatenate([np.zeros(n, np.int64), w.memory[:, L.Z_USED]]),
            "pressure": np.concatenate([np.zeros(n, np.int64), w.memory[:, L.Z_PRESSURE]]),
            "lost": np.concatenate([now.lost - before.lost, none]),
            "unsent": np.concatenate([now.unsent - before.unsent, none]),
            **{name: np.concatenate([getattr(now, name) - getattr(before, name), none]) for name in SPENT},
            "watermark_ns": [None if abs(m) >= L.FAR else int(m) for m in marks] + [None] * hosts,
            "egress_bytes": np.concatenate([np.zeros(n, np.int64), now.sent_bytes - before.sent_bytes]),
        }


def _memory(w: Arrays, hosts: int) -> list[dict[str, Any] | None]:
    """What the hosts' memory models say, None of hosts without one."""
    return [
        {"used_bytes": used, "peak_bytes": peak, "slow_down": round(pressure / L.NO_PRESSURE, 6), "full": full == 1} if modelled else None
        for modelled, used, peak, pressure, full in w.memory[:hosts, [L.Z_MODELLED, L.Z_USED, L.Z_PEAK, L.Z_PRESSURE, L.Z_FULL]].tolist()
    ]


def summary(
    operators: Sequence[str], latencies: Sequence[str], hosts: Sequence[str], w: Arrays, start: Counters, end: Counters
) -> dict[str, Any]:
    """Metrics between two readings (after warm-up). latencies: names of those beside the measured one."""
    span_s = max((end.t_ns - start.t_ns) / 1e9, 1e-9)
    kinds = 1 + len(latencies)
    sums_ns = (end.latency - start.latency)[:, 1].reshape(kinds, -1).sum(axis=1).tolist()
    most_ns = end.latency[:, 2].reshape(kinds, -1).max(axis=1).tolist()
    counts = _by_latency(end.histogram - start.histogram, kinds)
    latency, *further = (_whole_latency(*of) for of in zip(counts, sums_ns, most_ns, strict=True))
    sources = w.inst[:, L.I_SOURCE] == 1
    op_of = w.inst[:, L.I_OP]
    spent = attribution(w, len(operators), start, end)
    return {
        "virtual_s": end.t_ns / 1e9,
        "records_in": int(end.served[sources].sum()),
        "records_out": int(end.delivered),
        "late": int(end.late.sum()),
        "errors": int(w.inst[:, L.I_ERRORS].sum()),
        "hops": end.hops,
        "throughput_in_per_s": _round(int((end.served - start.served)[sources].sum()) / span_s),
        "throughput_out_per_s": _round((end.delivered - start.delivered) / span_s),
        "backlog": _backlog(w, end),
        "dropped": int(end.dropped.sum()),
        "lost": int(end.gone.sum()),
        "shed": int(end.shed.sum()),
        "memory": {name: held for name, held in zip(hosts, _memory(w, len(hosts)), strict=True) if held is not None},
        "latency_ms": latency,
        "latencies_ms": dict(zip(latencies, further, strict=True)),
        "operators": {name: _operator_summary(op_of == o, start, end) | {"attribution": spent[o]} for o, name in enumerate(operators)},
    }


PERCENTILES = (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))


def _by_latency(histogram: Words, kinds: int) -> Words:
    """Samples over all sinks, (kinds, buckets): first the measured latency, then the others."""
    counts: Words = histogram.reshape(kinds, -1, histogram.shape[1]).sum(axis=1)
    return counts


def _live_latency(counts: Words) -> dict[str, Any]:
    percentiles = {name: _ms(percentile_ns(counts, share)) for name, share in PERCENTILES}
    return {"count": int(counts.sum()), **percentiles, "max": _ms(maximum_ns(counts))}


def _whole_latency(counts: Words, sum_ns: int, most_ns: int) -> dict[str, Any]:
    total = int(counts.sum())
    return {
        "count": total,
        "mean": round(sum_ns / total / 1e6, 6) if total else None,
        **{name: _ms(percentile_ns(counts, share)) for name, share in PERCENTILES},
        "max": _ms(most_ns) if total else None,
    }


def _backlog(w: Arrays, now: Counters) -> int:
    """Records in logs, neither read nor dropped, and items in queues."""
    read = now.served[w.inst[:, L.I_SOURCE] == 1].sum()
    return int(now.offered - read - now.dropped.sum() + _queued(w).sum())


def _queued(w: Arrays) -> Words:
    """Items that wait, by instance, in real records. Shape (instances,)."""
    count: Words = w.inst[:, L.I_QUEUE_COUNT] * w.op[w.inst[:, L.I_OP], L.O_WEIGHT]
    return count


def _operator_summary(here: NDArray[np.bool_], start: Counters, end: Counters) -> dict[str, Any]:
    span_ns = max(end.t_ns - start.t_ns, 1) * max(int(here.sum()), 1)
    return {
        "in": int(end.served[here].sum()),
        "out": int(end.emitted[here].sum()),
        "busy": _round((end.busy_ns - start.busy_ns)[here].sum() / span_ns),
        "blocked": _round((end.blocked_ns - start.blocked_ns)[here].sum() / span_ns),
        "stolen": _round((end.stolen_ns - start.stolen_ns)[here].sum() / span_ns),
        "late": int(end.late[here].sum()),
        "shed": int(end.shed[here].sum()),
        "lost": int(end.gone[here].sum()),
        "unsent": int(end.unsent[here].sum()),
    }


def _by_host(w: Arrays, values: Words, hosts: int) -> Words:
    return np.bincount(w.inst[:, L.I_HOST], weights=values, minlength=hosts).astype(np.int64)


def _ms(value_ns: int | None) -> float | None:
    return None if value_ns is None else round(value_ns / 1e6, 6)


def _round(value: Any) -> float:
    return round(float(value), 6)
