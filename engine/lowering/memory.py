"""The hosts' memory models and the ingress policy as tables of the core (docs/event-core.md, section 13)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from engine.core import layout as L
from engine.core.kernels.memory import pressure_at
from engine.core.tables import Arrays, Words
from engine.spec import Experiment, RecordSchema
from engine.spec.experiment.cluster import ExpandedHost
from engine.spec.experiment.memory import Budget

MARKS = (L.Z_ITEMS_MAX, L.Z_ITEMS_RESUME, L.Z_USED_MAX, L.Z_USED_RESUME)
"""The columns of `engine.spec.experiment.ingress.base.Marks`."""


def is_looked_at(experiment: Experiment) -> bool:
    """Whether the memory that hosts use can affect the run."""
    modelled = any(isinstance(host.memory, Budget) for host in experiment.cluster.hosts)
    return modelled or experiment.policies.ingress.guards


def lower(
    experiment: Experiment, rows: int, inst: Words, schemas: Mapping[str, RecordSchema], weight_of: Mapping[str, tuple[int, int]]
) -> dict[str, Words]:
    """The tables `memory` (with `rows` rows), `footprint`, `curve`, `tally`. schemas: with all fields, by "operator.port"."""
    hosts = experiment.expanded_hosts()
    memory = np.zeros((rows, L.Z_COLUMNS), np.int64)
    memory[:, [L.Z_LIMIT, L.Z_ITEMS_MAX, L.Z_ITEMS_RESUME, L.Z_USED_MAX, L.Z_USED_RESUME, L.Z_RESTART]] = L.FAR
    memory[:, L.Z_PRESSURE], memory[:, L.Z_DIED] = L.NO_PRESSURE, -1
    laws: dict[tuple[int, int, int], int] = {(0, 0, 0): 0}
    curve: list[tuple[int, int]] = []
    curves: dict[int, tuple[int, int]] = {}  # by host entry of the document
    for machine in hosts:
        model, row = machine.memory, memory[machine.index]
        if not isinstance(model, Budget):
            continue
        law = (model.per_record_bytes, model.per_value_bytes, model.per_byte_milli)
        if machine.template not in curves:
            first = len(curve)
            curve += model.curve(machine.memory_bytes)
            curves[machine.template] = first, len(curve)
        limit = model.limit_bytes(machine.memory_bytes)
        row[[L.Z_WATCHED, L.Z_MODELLED]] = 1
        row[L.Z_LAW] = laws.setdefault(law, len(laws))
        row[[L.Z_BASE, L.Z_USED, L.Z_PEAK]] = model.base_bytes
        row[L.Z_STATE_MILLI] = model.state_milli
        row[L.Z_LIMIT] = L.FAR if limit is None else limit
        row[L.Z_RESTART] = L.FAR if model.restart_after_ns is None else model.restart_after_ns
        row[[L.Z_CURVE, L.Z_CURVE_END]] = curves[machine.template]
    points = np.array(curve or [(0, L.NO_PRESSURE)], np.int64)
    for h in np.flatnonzero(memory[:, L.Z_MODELLED]):
        memory[h, L.Z_PRESSURE] = pressure_at(memory, points, h, int(memory[h, L.Z_BASE]))  # type: ignore[no-untyped-call]
    _guard(experiment, hosts, memory, inst)
    sizes = np.array(
        [
            (1, len(schema.fields), schema.bytes, weight_of[edge.source][1])
            for edge in experiment.query.edges
            for schema in [schemas[f"{edge.source}.{edge.source_port}"]]
        ],
        np.int64,
    ).reshape(-1, 4)
    footprint = np.zeros((len(laws), max(len(sizes), 1)), np.int64)
    for (per_record, per_value, per_byte_milli), n in laws.items():
        footprint[n, : len(sizes)] = (per_record + per_value * sizes[:, 1] + per_byte_milli * sizes[:, 2] // 1000) * sizes[:, 3]
    return {"memory": memory, "footprint": footprint, "curve": points, "tally": np.zeros((len(inst), L.Y_COLUMNS), np.int64)}


def _guard(experiment: Experiment, hosts: Sequence[ExpandedHost], memory: Words, inst: Words) -> None:
    """Set the marks of the ingress policy on hosts with sources."""
    policy = experiment.policies.ingress
    if not policy.guards:
        return
    for h in np.unique(inst[inst[:, L.I_SOURCE] == 1, L.I_HOST]).tolist():
        row, machine = memory[h], hosts[h]
        row[L.Z_WATCHED], row[L.Z_INGRESS] = 1, L.INGRESS_DROP if policy.drops else L.INGRESS_THROTTLE
        marks = policy.marks(machine.memory.budget_bytes(machine.memory_bytes) if isinstance(machine.memory, Budget) else None)
        for column, mark in zip(MARKS, marks, strict=True):
            if mark is not None:
                row[column] = mark


def may_die(w: Arrays) -> bool:
    """Whether a host that runs out of memory dies permanently."""
    return bool(((w.memory[:, L.Z_LIMIT] < L.FAR) & (w.memory[:, L.Z_RESTART] == L.FAR)).any())


def dead(w: Arrays) -> list[int]:
    """Hosts that ran out of memory and died permanently."""
    return np.flatnonzero(w.memory[:, L.Z_DIED] >= 0).tolist()
