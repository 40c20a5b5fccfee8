"""The protocol's part of frames and of the summary.

Everything is read from the present state of coordinator and workers, and selected by its timestamps. So nothing is remembered between
frames, and frames do not depend on how a run is divided.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from engine.core import layout as L
from engine.core.compiler import compiled
from engine.core.control.instance_checkpoint import logged
from engine.core.layout import ALIGN_ASIDE, M_NEXT
from engine.core.tables import Arrays
from engine.spec import Experiment
from engine.spec.experiment.checkpointing.checkpoints import Checkpoints
from engine.spec.experiment.cluster import expand
from engine.spec.experiment.metrics import OF_CHECKPOINTING

from . import messages as M
from .coordinator import Coordinator, coordinator_of
from .history import DurableCheckpoint, GivenUp, Recovery, Round, Useless
from .worker import Worker

REASONS = {
    L.RULE_CLOCK: "clock",
    L.RULE_CYCLE: "cycle",
    L.RULE_CLOCK | L.RULE_CYCLE: "clock and cycle",
    L.RULE_INDEX: "index",
}
"""Names of the rules by which a record forced a checkpoint."""


class CheckpointTelemetry:
    """Telemetry of a run's protocol.

    edges: names, in the query's order. speeds: relative core speed of each host. logged: whether channels are logged. cyclic: whether the
    query has a cycle.
    """

    def __init__(
        self,
        coordinator: Coordinator,
        worker: Worker,
        instances: Sequence[tuple[str, int, int]],
        hosts: Sequence[str],
        operators: Sequence[str],
        edges: Sequence[str],
        speeds: Sequence[float],
        logged: bool,
        cyclic: bool,
    ):
        self._coordinator, self._worker = coordinator, worker
        self._instances = instances
        self._hosts, self._operators, self._edges = hosts, operators, edges
        self._speeds, self._logged, self._cyclic = speeds, logged, cyclic

    def frame(self, w: Arrays, after_ns: int, to_ns: int, last: bool) -> dict[str, Any]:
        """Return the changes after after_ns until to_ns, the present (docs/engine-api.md). last: the run has ended, so the useless
        checkpoints are known."""
        coordinator = self._coordinator
        useless = self._useless(w) if last else None
        lately = range(after_ns + 1, to_ns + 1)
        heard = [one for one in coordinator.durable_after(after_ns) if one.heard_ns in lately]
        rounds = [
            self._round_told(one)
            for one in coordinator.rounds_after(after_ns)
            if _is_in(lately, one.triggered_ns, one.ended_ns, *one.done.values())
        ]
        return {
            "rounds": rounds,
            "skipped_s": [at_ns / 1e9 for at_ns in coordinator.skipped_ns if at_ns in lately],
            "captured": [
                {**self._whose(instance), "number": number, "captured_s": captured_ns / 1e9}
                for instance, number, captured_ns in self._under_way()
                if captured_ns in lately
            ],
            "durable": [
                {
                    **self._whose(one.instance),
                    "number": one.number,
                    "captured_s": one.captured_ns / 1e9,
                    "durable_s": one.durable_ns / 1e9,
                    "bytes": one.size_bytes,
                    "kind": one.kind,
                    **({"reason": REASONS[one.rules]} if one.rules else {}),
                    **({"base": one.base} if one.base else {}),
                }
                for one in sorted(heard, key=lambda one: (one.durable_ns, one.instance))
            ],
            "recoveries": [
                self._recovery_told(one, to_ns)
                for one in self._recoveries
                if _is_in(lately, one.detected_ns, one.found_ns, one.go_ns, *one.ordered.values(), *one.restored.values())
            ],
            "searches": [
                self._search_told(one.epoch, search)
                for one, search in zip(coordinator.recoveries, coordinator.searches, strict=False)
                if one.found_ns in lately
            ],
            **coordinator.frame_fields(),
            "aligning": self._aligning(w),
            "logs": self._log_bytes(w) if self._logged else {},
            "useless": [{**self._whose(i), "number": number} for i, number in (useless.checkpoints if useless else [])],
        }

    def summary(self, w: Arrays, coordinator_bytes: int, from_ns: int, to_ns: int) -> dict[str, Any]:
        """Return the summary of what started in a span, including both ends. Times are means, None without values. Savepoints of rescales
        do not count as rounds of the protocol. The effect of the first recovery, the contents of logs at the end and the message overhead
        refer to the whole run. coordinator_bytes: of messages between coordinator and machines."""
        coordinator, span = self._coordinator, range(from_ns, to_ns + 1)
        savepoints = {one.number for one in coordinator.rounds_after(-1) if one.savepoint}
        rounds = [one for one in coordinator.rounds_after(-1) if one.triggered_ns in span and not one.savepoint]
        confirmed = [one for one in rounds if one.ended == "confirmed"]
        checkpoints = [one for one in coordinator.durable_after(-1) if one.captured_ns in span and one.number not in savepoints]
        recoveries = [one for one in self._recoveries if one.detected_ns in span]
        given_up = coordinator.given_up(self._recoveries[0]) if self._recoveries else (None,) * len(GivenUp._fields)
        values = (
            len(confirmed),
            sum(one.ended == "aborted" for one in rounds),
            sum(one.ended == "failed" for one in rounds),
            sum(at_ns in span for at_ns in coordinator.skipped_ns),
            len(checkpoints),
            sum(one.size_bytes for one in checkpoints),
            _mean_ms([one.ended_ns - one.triggered_ns for one in confirmed] or self._capture_ns(checkpoints)),
            _mean_ms([one.durable_ns - one.captured_ns for one in checkpoints]),
            len(recoveries),
            _mean_ms([one.go_ns - one.detected_ns for one in recoveries if not one.open]),
            _mean_ms([one.search_ns for one in recoveries if not one.open]),
            sum(one.rules > 0 for one in checkpoints),
            *given_up,
            *self._useless_counts(w),
            sum(self._log_bytes(w).values()) if self._logged else 0,
            self._message_overhead(w, coordinator_bytes),
        )
        return dict(zip(OF_CHECKPOINTING, values, strict=True))

    @property
    def _recoveries(self) -> list[Recovery]:
        """Recoveries after a loss."""
        return [one for one in self._coordinator.recoveries if not one.planned]

    def _capture_ns(self, checkpoints: Sequence[DurableCheckpoint]) -> list[int]:
        """Return the capture time of each independent checkpoint: waiting until the machine was ready, then copying state and the
        protocol's notes, without serialising state (Siachamis 2024, 3.6)."""
        if not self._coordinator.independent:
            return []
        ready_ns: dict[tuple[int, int], int] = {}
        for one in checkpoints:
            order = self._instances[one.instance][2], one.asked_ns
            ready_ns[order] = min(ready_ns.get(order, one.captured_ns), one.captured_ns)
        costs, found = self._worker.costs, []
        for one in checkpoints:
            host = self._instances[one.instance][2]
            work_ns = (costs.capture_ps + one.notes_bytes * costs.ps_per_byte) / 1000 / self._speeds[host]
            found.append(ready_ns[host, one.asked_ns] - one.asked_ns + round(work_ns))
        return found

    def _useless(self, w: Arrays) -> Useless | None:
        return self._coordinator.useless(self._worker, w.carried[: len(w.chan), L.SEQ_PROCESSED], self._cyclic)

    def _useless_counts(self, w: Arrays) -> tuple[int | None, float | None]:
        """Return number and share of the useless checkpoints; None if unknown."""
        found = self._useless(w)
        if found is None:
            return None, None
        return len(found.checkpoints), round(len(found.checkpoints) / found.taken, 6) if found.taken else 0.0

    def _log_bytes(self, w: Arrays) -> dict[str, int]:
        """Return the bytes in the channel logs of each edge."""
        record_bytes = w.edge[w.chan[:, L.C_EDGE], L.E_BYTES] + w.g[L.G_VECTOR_BYTES]
        held = np.zeros(len(self._edges), np.int64)
        np.add.at(held, w.chan[:, L.C_EDGE], logged(w) * record_bytes)
        return dict(zip(self._edges, held.tolist(), strict=True))

    def _message_overhead(self, w: Arrays, coordinator_bytes: int) -> float | None:
        """Return all bytes exchanged between instances and between coordinator and machines, relative to those without the protocol
        (Siachamis 2024, 3.6). Uploads to the store and logs do not count."""
        out, piggyback, barriers = w.host[:, [L.H_OUT_BYTES, L.H_PIGGYBACK_BYTES, L.H_BARRIER_BYTES]].sum(axis=0).tolist()
        payload = out - piggyback - barriers
        return round((out + coordinator_bytes) / payload, 6) if payload > 0 else None

    def _whose(self, instance: int) -> dict[str, Any]:
        operator, index, _ = self._instances[instance]
        return {"operator": operator, "index": index}

    def _under_way(self) -> Iterator[tuple[int, int, int]]:
        """Yield instance, number and time of captured checkpoints that the coordinator does not yet know to be durable."""
        for _, machine in sorted(self._worker.machines.items()):
            for (number, instance), upload in sorted(machine.uploads.items()):
                yield instance, number, upload.captured_ns
            for _, rows in sorted(machine.taken.items()):
                for row in rows:
                    if row[M.DURABLE_NS] < 0:  # the store has refused it
                        continue
                    yield row[M.INSTANCE], row[M.NUMBER], row[M.CAPTURED_NS]

    def _round_told(self, one: Round) -> dict[str, Any]:
        told: dict[str, Any] = {
            "number": one.number,
            "epoch": one.epoch,
            "triggered_s": one.triggered_ns / 1e9,
            "ended": one.ended or None,
            "ended_s": one.ended_ns / 1e9 if one.ended else None,
            "hosts_done": len(one.done),
            "checkpoints": len(one.taken),
            "bytes": sum(row[M.BYTES] for row in one.taken),
        }
        if one.savepoint:
            told["savepoint"] = True
        return told | self._coordinator.round_fields(one)

    def _by_operator(self, numbers: Sequence[int]) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for (operator, _, _), number in zip(self._instances, numbers, strict=True):
            if number >= 0:  # it was active
                found.setdefault(operator, []).append(number)
        return found

    def _search_told(self, epoch: int, search: dict[str, Any]) -> dict[str, Any]:
        steps = [
            [*self._instances[instance][:2], before, after, *self._instances[sender][:2], sent, processed]
            for instance, before, after, sender, sent, processed in search["steps"]
        ]
        return {"epoch": epoch, "newest": self._by_operator(search["newest"]), "steps": steps, "in_flight": search["in_flight"]}

    def _recovery_told(self, recovery: Recovery, now_ns: int) -> dict[str, Any]:
        found = recovery.found_ns <= now_ns
        return {
            "epoch": recovery.epoch,
            "hosts": [self._hosts[h] for h in recovery.hosts],
            "detected_s": recovery.detected_ns / 1e9,
            "found_s": recovery.found_ns / 1e9 if found else None,
            "ordered_s": {self._hosts[h]: at_ns / 1e9 for h, at_ns in sorted(recovery.ordered.items())},
            "restored_s": {self._hosts[h]: at_ns / 1e9 for h, at_ns in sorted(recovery.restored.items())},
            "go_s": None if recovery.open else recovery.go_ns / 1e9,
            "line": self._by_operator(recovery.line) if found else {},
        }

    def _aligning(self, w: Arrays) -> dict[str, Any]:
        """Return, by operator, the instances with blocked channels and their buffered records; and blocked channels by edge."""
        waiting = np.flatnonzero(w.align[:, L.ALIGN_BARRED] > 0)
        instances = np.bincount(w.inst[waiting, L.I_OP], minlength=len(self._operators))
        passed_over = np.zeros(len(w.inst), np.int64)
        barred = np.zeros(len(self._edges), np.int64)
        if len(waiting):
            _count_passed_over(w.align, w.msg, passed_over)
            receivers = w.chan[:, L.C_RECEIVER]
            shut = (w.align[receivers, L.ALIGN_BARRED] > 0) & (
                w.gate[: len(w.chan), L.Q_GENERATION] == w.align[receivers, L.ALIGN_GENERATION]
            )
            barred = np.bincount(w.chan[shut, L.C_EDGE], minlength=len(self._edges))
        records = np.zeros(len(self._operators), np.int64)
        np.add.at(records, w.inst[:, L.I_OP], passed_over)
        by_operator = zip(self._operators, instances.tolist(), (records * w.op[:, L.O_WEIGHT]).tolist(), strict=True)
        return {
            "operators": {name: {"instances": count, "passed_over": aside} for name, count, aside in by_operator},
            "barred_channels": dict(zip(self._edges, barred.tolist(), strict=True)),
        }


def telemetry_of(
    actors: Sequence[Any], worker: Any, instances: Sequence[tuple[str, int, int]], hosts: Sequence[str], experiment: Experiment
) -> CheckpointTelemetry | None:
    """Return the telemetry of a run's protocol; None without one. instances: as in `engine.core.control.actors.Directory`. hosts: names."""
    coordinator, protocol = coordinator_of(actors), experiment.policies.checkpointing
    if coordinator is None or not isinstance(protocol, Checkpoints):
        return None
    operators = [spec.id for spec in experiment.query.operators]
    edges = [f"{edge.source}.{edge.source_port}>{edge.target}.{edge.target_port}" for edge in experiment.query.edges]
    speeds = [host.speed_milli / 1000 for host in expand(experiment.cluster)]
    cyclic = any(edge.feedback for edge in experiment.query.edges)
    return CheckpointTelemetry(coordinator, worker, instances, hosts, operators, edges, speeds, protocol.logs_channels, cyclic)


def _is_in(span: range, *moments_ns: int) -> bool:
    return any(at_ns in span for at_ns in moments_ns)


def _mean_ms(spans_ns: Sequence[int]) -> float | None:
    return round(sum(spans_ns) / len(spans_ns) / 1e6, 6) if spans_ns else None


@compiled
def _count_passed_over(align, msg, found):  # type: ignore[no-untyped-def]
    """Count the buffered messages of each instance. found: (instances,)"""
    for i in range(align.shape[0]):
        slot = align[i, ALIGN_ASIDE]
        while slot >= 0:
            found[i] += 1
            slot = msg[slot, M_NEXT]
