"""An engine of another package, in one file (tests/newcomers/engine.py): in forms, documents and runs as one of ours."""

from __future__ import annotations

import pytest

from engine.spec import validate
from engine.spec.experiment.engines import ENGINES

from ...support.agreement import assert_agreement
from ...support.corner_cases import bids, document, host
from ...support.family_contracts import assert_is_shown, newcomer, offered

SLUICE = newcomer("engine").Sluice


@pytest.mark.slow
def test_it_is_offered_validated_and_executed() -> None:
    operators = [{"id": "bids", "kind": "source", "parallelism": 2}, {"id": "sink", "kind": "sink", "cost": {"record_us": 20}}]
    edges = [{"source": "bids", "target": "sink", "partitioning": {"kind": "rebalance"}}]
    made = document(operators, edges, [host("w")], {"bids": bids(80_000)}, policies={"engine": {"kind": "sluice", "gate": 2}})
    with offered(ENGINES, SLUICE):
        assert_is_shown(ENGINES, SLUICE)
        assert validate(made) == []
        found = assert_agreement(made)
        assert len(found.services) > 1000
        assert found.blocked_count > 100, "a gate of two holds senders back"
        refused = validate(made | {"policies": {"engine": {"kind": "sluice", "gate": 0}}})
        assert [problem.pointer for problem in refused] == ["/policies/engine/gate"]
