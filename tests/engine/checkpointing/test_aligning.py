"""The readable rules of alignment.

What this catches: rules that serve records in another order than the engine's loop does, a barrier that counts twice, an instance that is
aligned too early.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from engine.checkpointing.alignment import Aligning
from engine.core import layout as L
from tests.oracle.records import Kind
from tests.support.strategies import documents

from ...support.actor_examples import undrained
from ...support.agreement import traced
from ...support.barrier_examples import PERIODS_NS, Counts, cast, shuffled
from ...support.counting_protocol import Counting


def test_an_instance_with_two_inputs() -> None:
    aligning = Aligning(frozenset((3, 5)))
    assert not aligning.passes_over(3)
    aligning = aligning.bar(3)
    assert (aligning.aligned, aligning.awaited) == (False, [5])
    assert (aligning.passes_over(3), aligning.passes_over(5)) == (True, False)
    aligning = aligning.lay_aside(3, "a").lay_aside(3, "b").bar(5)
    assert aligning.aligned
    assert aligning.let_in() == (Aligning(frozenset((3, 5))), ((3, "a"), (3, "b")))


def test_a_barrier_comes_once_and_by_an_input() -> None:
    with pytest.raises(ValueError, match=r"unexpected barrier on channel 3; barriers are awaited on channels \[5\]"):
        Aligning(frozenset((3, 5))).bar(3).bar(3)
    with pytest.raises(ValueError, match="unexpected barrier on channel 4"):
        Aligning(frozenset((3,))).bar(4)


def served_as_by_the_rules(document: dict[str, Any], period_ns: int) -> int:
    """The records of each instance, in the order in which they came and each barrier behind what was sent before it, are served in the
    order that the rules give. Returns how many were laid aside."""
    agent = Counts()
    simulation = traced(document, protocol=Counting, **cast(document, period_ns, agent))
    columns = simulation.trace().columns()
    channels = simulation._world.arrays.chan
    barriers: defaultdict[int, list[int]] = defaultdict(list)  # by channel: how many records were sent before each
    for (_, channel), count in sorted(agent.sent.items()):
        barriers[channel].append(count)
    laid_aside = 0
    for instance in range(len(simulation._world.arrays.inst)):
        mine = (columns["instance"] == instance) & (columns["kind"] == Kind.RECORD) & (columns["channel"] >= 0)
        served = columns["channel"][mine].tolist()
        came = np.lexsort((np.arange(len(served)), columns["class"][mine], columns["ready_ns"][mine])).tolist()
        inputs = np.flatnonzero(channels[:, L.C_RECEIVER] == instance).tolist()
        aligning, order, seen, cuts = Aligning(frozenset(inputs)), [], Counter[int](), 0
        for n in [None, *came]:
            if n is not None:
                seen[served[n]] += 1
                if aligning.passes_over(served[n]):
                    aligning = aligning.lay_aside(served[n], n)
                    laid_aside += 1
                else:
                    order.append(n)
            while there := [c for c in aligning.awaited if len(barriers[c]) > cuts and barriers[c][cuts] == seen[c]]:
                for c in there:
                    aligning = aligning.bar(c)
                if aligning.aligned:
                    aligning, aside = aligning.let_in()
                    order += [item for _, item in aside]
                    cuts += 1
        assert order == list(range(len(served)))
    return laid_aside


@given(document=documents(budgets=("none",)), period_ns=PERIODS_NS)
def test_the_loop_serves_as_by_the_rules(document: dict[str, Any], period_ns: int) -> None:
    """Without losses, be it by a fault or for lack of memory: the rules know nothing of what is gone."""
    document = undrained(document)
    document["faults"] = [fault for fault in document.get("faults", []) if fault["kind"] != "host_loss"]
    served_as_by_the_rules(document, period_ns)


def test_the_loop_lays_aside_as_by_the_rules() -> None:
    assert served_as_by_the_rules(shuffled(), 20_000_000) > 10
