"""The queries of the study of autoscalers, rescaled ten times at random: what they deliver is what they deliver without
(docs/autoscaling.md, section 9; Siachamis 2024, chapter 4).

What this catches: a rescale that is exact on jobs made for it, and not on these queries with their costs, their drift, their one record
for many and the outages that they are run with; state that is left behind, comes twice or to whoever does not get its records.

Rows are compared as a multiset of values at the sink: in which order rows of different keys come, and when, hangs on who serves them.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import engine
from engine.core import layout as L
from engine.core.control import keyed_state
from engine.core.control.active_instances import active
from engine.core.control.ranks import HELD
from tests.support.tiers import only

from ...support.agreement import finished, rows_of, simulated, template
from ...support.rescaling_examples import assert_counts_add_up, assert_state_is_where_its_records_go, job_of, parallelism_of

Document = dict[str, Any]

PER_S = {
    "map": {"bids": 1_200_000},
    "filter": {"bids": 1_200_000},
    "session": {"bids": 1_200_000},
    "sliding": {"bids": 60_000},
    "join": {"persons": 1_200, "auctions": 3_600},
}
"""Real records a second: the means of the study's loads; less where windows slide, and where the join keeps all that it has seen."""

KEYED = {"session": "sessions", "sliding": "counts", "join": "join"}
EVERY_S, COUNT, MOST = 60, 10, 9
HORIZON_S = EVERY_S * (COUNT + 1)


def small(query: str, ttl_s: float = 10 * HORIZON_S) -> Document:
    """Eleven minutes, drained. Sources have as many partitions as under a policy. ttl_s: of what the join keeps."""
    made = template(f"autoscaling_{query}", horizon_s=HORIZON_S, drain=True, drain_limit_s=4 * HORIZON_S)
    for id, source in made["workload"]["sources"].items():
        source |= {"rate": {"kind": "constant", "per_s": PER_S[query][id]}, "partitions": 70}
    for operator in made["query"]["operators"]:
        if operator["id"] == "join":
            operator["params"]["ttl_s"] = ttl_s
    return made


def rescaled(made: Document, seed: int, kind: str = "stop_and_restart") -> Document:
    """At ten random times, a minute apart, random parallelisms of all operators."""
    chance = random.Random(f"rescales {seed}")
    operators = [operator["id"] for operator in made["query"]["operators"]]
    orders = [
        {"at_s": round(20 + EVERY_S * n + 20 * chance.random(), 3), "parallelism": {id: chance.randint(2, MOST) for id in operators}}
        for n in range(COUNT)
    ]
    return made | {"policies": made["policies"] | {"scaling": {"kind": "manual", "orders": orders, "rescaling": {"kind": kind}}}}


def state_by_group(simulation: engine.Simulation, operator: str) -> Any:
    """Bytes and entries of each key group, over all instances: (2, groups)."""
    world = simulation._world
    w, o = world.arrays, simulation._plan.operators.index(operator)
    keeping, groups = world.keepings[o], keyed_state.key_groups(world.arrays, o)[1]
    assert keeping is not None
    found = np.zeros((2, groups), np.int64)
    for i in np.flatnonzero(w.inst[:, L.I_OP] == o).tolist():
        for group in range(groups):
            part = keyed_state.capture(world, keeping, i, group, group + 1)
            found[:, group] += part.state_bytes, len(part.entries)
    assert found[0].sum() == w.inst[w.inst[:, L.I_OP] == o, L.I_STATE_BYTES].sum()
    return found


def moved_bytes(by_group: Any, before: int, after: int) -> int:
    """Bytes of the groups that change their instance: group g of G is at floor(g x P / G)."""
    groups = range(len(by_group))
    return sum(int(by_group[g]) for g in groups if g * before // len(by_group) != g * after // len(by_group))


def until_all_go_on(simulation: engine.Simulation, restored_ns: int) -> None:
    """The orders to go on are half a millisecond under way, and reach one machine shortly after the other: before a source there can have
    served a record, or a watermark of all can have come."""
    for at_ns in range(restored_ns + 500_000, restored_ns + 520_000, 100):
        simulation.run_until(at_ns)
        inst = simulation._world.arrays.inst[active(simulation._world.arrays)]
        if not ((inst[:, L.I_STATUS] == L.DOWN) | (inst[:, L.I_RANK] == HELD)).any():
            return
    raise AssertionError("some do not go on")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "kind", "seed"),
    only(
        [(query, kind, seed) for seed in (1, 2, 3) for query in PER_S for kind in ("stop_and_restart", "in_place")],
        ci=[("map", "in_place", 1), ("sliding", "in_place", 1), ("join", "stop_and_restart", 2)],
    ),
)
def test_ten_random_rescales_change_no_row(query: str, kind: str, seed: int) -> None:
    made = small(query)
    whole = finished(made)
    assert whole.drained
    expected = rows_of(whole)
    assert expected.total() > 200
    scaled = rescaled(made, seed, kind)
    simulation = finished(scaled)
    actions = job_of(simulation).actions
    assert [action.outcome for action in actions] == ["done"] * COUNT
    assert [action.after for action in actions] == [order["parallelism"] for order in scaled["policies"]["scaling"]["orders"]]
    assert all(sum(before != action.after[id] for id, before in action.before.items()) >= 2 for action in actions)
    outages_s = {(action.arranged_ns - action.stored_ns) // 10**9 for action in actions}
    assert outages_s == ({1} if kind == "in_place" else {30, 40}), "pods were started, and were not"
    assert simulation.drained
    assert rows_of(simulation) == expected
    summary, plain = simulation.summary(), whole.summary()
    assert (summary["records_in"], summary["late"], summary["lost"], summary["backlog"]) == (plain["records_in"], 0, 0, 0)

    cut, held = simulated(scaled, trace=False), 0
    for action in actions:
        cut.run_until(action.stored_ns)
        before = state_by_group(cut, KEYED[query]) if query in KEYED else np.zeros((2, 1))
        keeps = KEYED.get(query)
        moved = moved_bytes(before[0], action.before[keeps], action.after[keeps]) if keeps else 0
        assert action.moved_bytes == moved
        assert action.state_bytes == (moved if kind == "in_place" else before[0].sum())
        until_all_go_on(cut, action.restored_ns)
        assert parallelism_of(cut) == action.after
        for source, p in ((id, action.after[id]) for id in made["workload"]["sources"]):
            assert cut._logs.owners[source].tolist() == [k * p // 70 for k in range(70)]
        if query in KEYED:
            assert (state_by_group(cut, KEYED[query]) == before).all(), "of each key group, nothing more and nothing less"
            held += int((before[1] > 0).sum() >= 10)
        assert_state_is_where_its_records_go(cut)
        assert_counts_add_up(cut)
    assert held == (COUNT if query in KEYED else 0), "there was state to move"
    cut.run_until(cut.end_ns)
    assert cut.digest() == simulation.digest()


def test_what_expires_while_the_job_is_down_is_missed_and_no_other_row_comes() -> None:
    """The study's join forgets after five minutes by the processing clock, which outages do not stop: with them a person may be gone when
    the auctions come that waited in the topic. So its rows are defined by time to live and outages, and may be fewer."""
    expected = rows_of(finished(small("join")))
    made = small("join", ttl_s=300)
    assert rows_of(finished(made)) == expected, "without rescales nothing waits for so long"
    simulation = finished(rescaled(made, 1))
    assert [action.outcome for action in job_of(simulation).actions] == ["done"] * COUNT
    assert simulation.drained
    assert rows_of(simulation) < expected
    assert rows_of(simulation).total() > 0.9 * expected.total()
