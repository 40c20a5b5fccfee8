"""Loads as the prototype estimates them (specification of S3J, section 3.6 and ambiguity 8).

What this catches: an estimate of another formula; records of two windows taken together; plans that lose or repeat pairs; an option that
changes exact loads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine import Simulation
from engine.core import layout as L
from engine.core.control.keyed_state import entries_by_key, parameters, rows_of
from engine.operators.pairs import JOIN_EXTRA
from engine.operators.similarity import INNER, OUTER
from engine.operators.similarity_join import S_INNERS, S_OUTERS, SIM_ROW_ROLE
from engine.similarity import s3j
from engine.similarity.estimates import Estimates
from engine.similarity.loads import Loads, Workset
from engine.spec import validate
from engine.spec.experiment.balancings.s3j import S3JBalancing

from ...support.agreement import cut_saved_and_forked, fingerprint, traced
from ...support.similarity_examples import counted, true_pairs, worksets

SIZE_S = 0.02


def balanced(**about: Any) -> dict[str, Any]:
    document = worksets(5, 0.02, per_s=12_000.0, horizon_s=0.1)
    return document | {"policies": {"balancing": {"kind": "s3j", "notice_ms": 1.0, **about}}}


def test_new_records_meet_those_that_were_stored_before() -> None:
    """Of both streams together; inner records do not meet inner ones, outer ones meet each other, as printed."""
    estimates = Estimates()
    estimates.sample([((7, 0), (2, 3, 4))])
    assert estimates.loads == {(7, 0): 0.0}
    estimates.sample([((7, 0), (3, 5, 8)), ((7, 100), (1, 0, 0))])
    assert estimates.loads == {(7, 0): 1 * (3 + 4) + (2 + 4) * (2 + 3 + 4), (7, 100): 0.0}
    again = Estimates()
    again.restore(estimates.state())
    for one in (estimates, again):
        one.sample([((7, 100), (1, 1, 0))])
        assert one.loads == {(7, 100): 1.0}


def test_a_mean_in_another_unit_leaves_nobody_to_give_to() -> None:
    """Estimates count each comparison about twice, so all workers seem to be above the mean."""
    owned = [(worker, Workset(n, load, 0)) for n, (worker, load) in enumerate([(0, 30.0), (0, 10.0), (1, 20.0)], 1)]
    exact, estimated = Loads.of(owned, 2), Loads.of(owned, 2, 15.0)
    for loads in (exact, estimated):
        s3j.plan(S3JBalancing(), loads)
    assert ([move.id for move in exact.moves], estimated.moves) == ([2], [])


@pytest.mark.parametrize("counts", [False, True])
def test_joins_count_their_records_by_role(counts: bool) -> None:
    document = worksets(per_s=5000.0)
    simulation = Simulation(counted(document) if counts else document)
    simulation.run_until(19_000_000)
    w = simulation._world.arrays
    join = [spec["id"] for spec in document["query"]["operators"]].index("join")
    seen = 0
    for i in np.flatnonzero(w.inst[:, L.I_OP] == join).tolist():
        role_column = int(w.par[parameters(w, i) + JOIN_EXTRA]) + SIM_ROW_ROLE
        for e in entries_by_key(w, i):
            rows, _ = rows_of(w, i, np.array([e]))
            roles = w.row[rows, role_column].tolist()
            assert (w.entry[e, S_INNERS], w.entry[e, S_OUTERS]) == (roles.count(INNER), roles.count(OUTER))
            seen += len(roles)
    assert seen > 50


def test_pairs_do_not_depend_on_the_statistics() -> None:
    document = balanced(statistics="artefact", monitor_s=0.003, accept="listing")
    assert validate(document) == []
    simulation = traced(document)
    found = {(row["id"], row["right_id"]) for row in simulation.outputs("sink").to_pylist()}
    assert found == {*true_pairs(document, 0.02, SIZE_S)}
    actions = simulation.summary()["balancing"]["actions"]
    exact = traced(balanced()).summary()["balancing"]["actions"]
    assert len(actions) == len(exact)
    first, counted_exactly = actions[0]["loads"], sum(exact[0]["loads"])  # before the first move both are of the same records
    assert sum(first) > 1.2 * counted_exactly
    own = sum(first) / 5
    assert abs(actions[0]["imbalance"] - sum(abs(load - own) for load in first)) > 0.01 * sum(first)  # the mean is of something else


def test_one_monitoring_window_for_each_window_sees_nothing_stored_before() -> None:
    actions = traced(balanced(statistics="artefact", monitor_s=1.0)).summary()["balancing"]["actions"]
    assert all(action["loads"] == [0.0] * 5 for action in actions)


def test_a_run_is_the_same_cut_saved_and_forked() -> None:
    document = balanced(statistics="artefact", monitor_s=0.003, accept="listing")
    assert fingerprint(cut_saved_and_forked(document, 7_000_011)) == fingerprint(traced(document))


@pytest.mark.parametrize(("about", "place"), [
    ({"mechanism": "online"}, "mechanism"), ({"load": "cpu_time"}, "load"), ({"split_oversized": True}, "split_oversized")])  # fmt: skip
def test_estimates_of_anything_else_are_refused(about: dict[str, Any], place: str) -> None:
    [problem] = validate(balanced(statistics="artefact", **about))
    assert (problem.pointer, problem.code) == (f"/policies/balancing/{place}", "not_with_estimates")
