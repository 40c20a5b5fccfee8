"""What instances know of one another's checkpoints, as the loop keeps it (`engine.core.kernels.dependency_vectors`), against the readable
rules (`engine.checkpointing.forced_checkpoints`), and what that leaves of useless checkpoints in whole runs.

What this catches: a row that is shared although it has changed, news that are passed over, a row that is freed while a record brings it, a
vector that is merged into the wrong one, a checkpoint that is forced too late or not at all.
"""

from __future__ import annotations

import random
from collections import deque
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.checkpointing.forced_checkpoints import Bcs, Hmnr
from engine.core import layout as L
from engine.core.kernels import dependency_vectors

from ...support.agreement import template
from ...support.recovery_examples import useless

HMNR = L.RULE_CLOCK | L.RULE_CYCLE


def small_world(instances: int, rule: int) -> Any:
    rows = instances * 200
    table = np.zeros((rows, L.KNOWN_FIRST + instances), np.int64)
    table[:instances, L.KNOWN_SHARED] = -1
    table[instances:, L.KNOWN_SHARED] = [*range(instances + 1, rows), -1]
    g = np.zeros(L.G_COLUMNS, np.int64)
    g[[L.G_VECTOR_FREE, L.G_VECTOR_ROWS_FREE, L.G_FORCING_RULE]] = instances, rows - instances, rule
    inst = np.zeros((instances, 1), np.int64)
    return SimpleNamespace(vectors=table, g=g, inst=inst, sent_to=np.zeros((instances, instances), np.int64))


def known(world: Any, i: int) -> tuple[Any, ...]:
    vector = world.vectors[i, L.KNOWN_FIRST :]
    taken, greater = vector & L.KNOWS_TAKEN > 0, vector & L.KNOWS_GREATER > 0
    return int(world.vectors[i, L.KNOWN_CLOCK]), (vector >> 2).tolist(), taken.tolist(), greater.tolist(), (world.sent_to[i] > 0).tolist()


@pytest.mark.parametrize("seed", range(12))
def test_vectors_are_those_of_the_rules(seed: int) -> None:
    chance = random.Random(seed)
    n = chance.randint(3, 5)
    rule = chance.choice((HMNR, HMNR, L.RULE_CLOCK, L.RULE_CYCLE))
    world = small_world(n, rule)
    note_checkpoint = dependency_vectors.note_checkpoint.function
    twins = []
    for i in range(n):
        note_checkpoint(world, i, -1)
        twins.append(Hmnr.start(i, n))
    channels = {(i, j): deque[Any]() for i in range(n) for j in range(n) if i != j}
    seen: dict[tuple[int, int], int] = {}
    forced = shared = 0
    for _ in range(1500):
        act, (i, j) = chance.random(), chance.choice(list(channels))
        if act < 0.5:
            row = dependency_vectors.publish(world, i)
            world.sent_to[i, j] = 1
            twins[i], piggyback = twins[i].send(j)
            shared += any(row == waiting for waiting, _ in channels[i, j])
            channels[i, j].append((row, piggyback))
        elif act < 0.94:
            if channels[i, j]:
                row, piggyback = channels[i, j].popleft()
                expected = twins[j].must_force(piggyback, first_test=rule & L.RULE_CLOCK > 0, second_test=rule & L.RULE_CYCLE > 0)
                news = seen.get((i, j)) != world.vectors[row, L.KNOWN_SERIAL]
                assert expected == (news and dependency_vectors.must_force(world, j, row))
                if expected:
                    forced += 1
                    note_checkpoint(world, j, row)
                    twins[j] = twins[j].take_checkpoint()
                twins[j] = twins[j].merge(piggyback)
                if news:
                    dependency_vectors.merge(world, j, row)
                    seen[i, j] = int(world.vectors[row, L.KNOWN_SERIAL])
        else:
            note_checkpoint(world, i, -1)
            twins[i] = twins[i].take_checkpoint()
        for k in (i, j):
            twin = twins[k]
            expected_state = twin.clock, twin.checkpoints.tolist(), twin.taken.tolist(), twin.greater.tolist(), twin.sent_to.tolist()
            assert known(world, k) == expected_state
    assert forced > 0
    assert shared > 20


def test_numbers_are_those_of_bcs() -> None:
    chance = random.Random("bcs")
    world = small_world(3, L.RULE_INDEX)
    twins = [Bcs() for _ in range(3)]
    forced = 0
    for _ in range(500):
        i, j = chance.sample(range(3), 2)
        if chance.random() < 0.2:
            dependency_vectors.note_checkpoint.function(world, i, -1)
            twins[i] = twins[i].take_checkpoint()
        row = dependency_vectors.publish(world, i)
        assert dependency_vectors.must_force(world, j, row) == twins[j].must_force(twins[i])
        if twins[j].must_force(twins[i]):
            forced += 1
            dependency_vectors.note_checkpoint.function(world, j, row)
            twins[j] = twins[j].forced(twins[i])
        dependency_vectors.merge(world, j, row)
        assert world.vectors[:3, L.KNOWN_CLOCK].tolist() == [twin.number for twin in twins]
    assert forced > 20


def reachability(kind: str, **more: Any) -> dict[str, Any]:
    """The cyclic query, with much going round; nothing is lost."""
    document = template("checkmate_reachability", horizon_s=12.0)
    document["policies"] = document.get("policies", {}) | {"checkpointing": {"kind": kind, "interval_s": 1.0, "jitter_s": 0.3} | more}
    return document


@pytest.mark.slow
def test_forcing_leaves_no_useless_checkpoint_on_a_cycle() -> None:
    """Without one of the tests, or without any, it does."""
    found = {
        name: useless(reachability(kind, **more))
        for name, kind, more in (
            ("uncoordinated", "uncoordinated", {}),
            ("hmnr", "communication_induced", {}),
            ("bcs", "communication_induced", {"variant": "bcs"}),
            ("clock test alone", "communication_induced", {"cycle_test": False}),
            ("cycle test alone", "communication_induced", {"clock_test": False}),
            ("no test", "communication_induced", {"clock_test": False, "cycle_test": False}),
        )
    }
    assert {name for name, (count, _) in found.items() if count == 0} == {"hmnr", "bcs"}, found
    assert all(taken > 100 for _, taken in found.values())
