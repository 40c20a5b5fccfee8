"""Functions of texts know texts that join the dictionary while a run goes on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine
from engine.core import layout as L
from engine.core.world import World

NEW = ("Zürich", "zz", "OR-new")


class Newcomer:
    """At a time in the middle it registers texts that no stream has, and puts them into the records that still wait in the logs."""

    def __init__(self, time_ns: int):
        self.next_ns = time_ns
        self.simulation: Any = None
        self.changed = 0

    def act(self, world: World, now_ns: int) -> None:
        codes = self.simulation._plan.strings.codes(NEW)
        column = self.simulation._plan.schemas["persons.out"].index("state")
        w = world.arrays
        for i in np.flatnonzero(w.inst[:, L.I_SOURCE]):
            lines = np.arange(w.inst[i, L.I_LOG], w.inst[i, L.I_LOG_END])
            w.log[lines, L.D_PAYLOAD + column] = codes[np.arange(len(lines)) % len(codes)]
            self.changed += len(lines)
        self.next_ns = L.FAR

    def __deepcopy__(self, memo: Any) -> Newcomer:
        return Newcomer(self.next_ns)

    def state(self) -> Any:
        return [self.next_ns, self.changed]

    def restore(self, state: Any) -> None:
        self.next_ns, self.changed = state


DOCUMENT = {
    "format": 1,
    "query": {
        "operators": [
            {"id": "persons", "kind": "source", "parallelism": 2},
            {"id": "some", "kind": "filter", "params": {"predicate": "lower(state) >= 'z' or startswith(state, 'OR')"}},
            {
                "id": "shown",
                "kind": "map",
                "params": {
                    "fields": [
                        {"name": "state", "expression": "upper(state)"},
                        {"name": "length", "expression": "length(state)"},
                        {"name": "key", "expression": "hash(state)"},
                    ]
                },
            },
            {"id": "sink", "kind": "sink"},
        ],
        "edges": [
            {"source": a, "target": b, "partitioning": {"kind": "rebalance"}}
            for a, b in (("persons", "some"), ("some", "shown"), ("shown", "sink"))
        ],
    },
    "cluster": {"hosts": [{"name": "h", "count": 2, "processor": {"kind": "dedicated"}, "cores": 8}]},
    "workload": {
        "horizon_s": 0.02,
        "drain": True,
        "sources": {"persons": {"stream": {"kind": "nexmark_person"}, "rate": {"kind": "constant", "per_s": 20_000}}},
    },
}


@pytest.mark.parametrize("forked", [False, True])
def test_texts_that_come_while_a_run_goes_on(forked: bool) -> None:
    control = Newcomer(10_000_000)
    simulation = engine.Simulation(DOCUMENT, keep_outputs=True, controls=[control])
    control.simulation = simulation
    known = len(simulation._plan.strings)
    simulation.run_until(9_000_000)
    if forked:
        simulation = simulation.fork()
        control = simulation._controls[0]  # type: ignore[assignment]
        control.simulation = simulation
    simulation.run_until(simulation.end_ns)
    assert control.changed > 150
    assert len(simulation._plan.strings) > known + len(NEW)  # with what lower and upper make of them
    found = simulation.outputs("sink")
    rows = set(zip(found["state"].to_pylist(), found["length"].to_pylist(), strict=True))
    assert rows == {("OR", 2), ("ZÜRICH", 6), ("ZZ", 2), ("OR-NEW", 6)}
    late = sum(state != "OR" for state in found["state"].to_pylist())
    assert late >= control.changed - 2
    assert len(set(found["key"].to_pylist())) == 4
