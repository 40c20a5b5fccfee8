"""The queries of CheckMate: what their documents cost, how they scale over workers, and what skew does (Siachamis 2024, 3.5 to 3.7).

What this catches: prices that no longer give the rates of the authors' configurations, a topology that fits ten workers only, hot items
that are spread over the workers, a window that does not begin anew for the whole instance.
"""

from __future__ import annotations

import copy
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from engine.spec.rules.validation import validate

from ...support.agreement import assert_agreement, simulated, template, traced, with_hot_items

Document = dict[str, Any]
STRAGGLER = 1
MS_PER_RECORD = {"checkmate_q1": 0.70, "checkmate_q3": 1.00, "checkmate_q8": 0.85, "checkmate_q12": 0.80}


def on_workers(document: Document, workers: int) -> Document:
    """The same query on other workers: one instance of every operator on each, and as many records for each as before."""
    document = copy.deepcopy(document)
    for operator in document["query"]["operators"]:
        operator["parallelism"] = workers
    hosts = document["cluster"]["hosts"][0]
    for source in document["workload"]["sources"].values():
        source["rate"]["per_s"] *= workers / hosts["count"]
    hosts["count"] = workers
    return document


@pytest.mark.parametrize("name", MS_PER_RECORD)
def test_both_engines_agree(name: str) -> None:
    document = template(name, horizon_s=0.15)
    document["policies"]["ingress"]["queued_max"] = 2  # some sources wait
    assert_agreement(document)


@pytest.mark.parametrize("name", MS_PER_RECORD)
def test_a_record_costs_what_the_authors_rates_leave_for_it(name: str) -> None:
    """1,000 to 1,500 records/s for each worker, and the load of the document is four fifths of it."""
    document = template(name, horizon_s=12.0)
    simulation = traced(document)
    summary = simulation.summary()
    records = sum(summary["operators"][id]["in"] for id in document["workload"]["sources"])
    services = simulation.service_trace()
    ms_per_record = float((services[:, 2] - services[:, 1]).sum()) / 1e6 / records
    assert ms_per_record == pytest.approx(MS_PER_RECORD[name], abs=0.01)
    per_s = sum(source["rate"]["per_s"] for source in document["workload"]["sources"].values())
    assert per_s / 10 * ms_per_record / 1000 == pytest.approx(0.8, abs=0.01)
    assert summary["backlog"] < 100


@pytest.mark.parametrize("workers", [50, 100])
@pytest.mark.parametrize("name", MS_PER_RECORD)
def test_the_number_of_workers_is_a_parameter(name: str, workers: int) -> None:
    document = on_workers(template(name, horizon_s=0.5), workers)
    assert validate(document) == []
    simulation = traced(document)
    operators = document["query"]["operators"]
    services = simulation.service_trace()
    assert len(set(services[:, 0].tolist())) == len(operators) * workers  # every instance has something to do
    assert simulation.summary()["operators"]["sink"]["in"] > 0.1 * 1000 * 0.5 * workers


@pytest.mark.parametrize(
    ("name", "referring", "keyed", "straggler"),
    [("checkmate_q3", "auctions", "join", 0), ("checkmate_q8", "auctions", "join", 0), ("checkmate_q12", "bids", "count", 1)],
)
def test_hot_items_make_one_fixed_straggler(name: str, referring: str, keyed: str, straggler: int) -> None:
    """Of ten workers one gets the share h + (1 - h) / 10 of what refers to people, since every hot person's number divides by 100."""
    hot = 0.3
    document = template(name, horizon_s=20.0)
    for source in document["workload"]["sources"].values():
        source["stream"]["hot_ratio"] = hot
        source["rate"]["per_s"] /= 4  # the straggler keeps up, so what it serves is what it gets
    trace = traced(document).trace().columns()
    first = {operator["id"]: 10 * n for n, operator in enumerate(document["query"]["operators"])}
    served = trace["instance"][trace["sender"] // 10 * 10 == first[referring]] - first[keyed]
    shares = np.bincount(served, minlength=10) / len(served)
    assert shares[straggler] == pytest.approx(hot + (1 - hot) / 10, abs=0.01)
    assert np.delete(shares, straggler) == pytest.approx([(1 - hot) / 10] * 9, abs=0.01)


@pytest.mark.parametrize(("name", "keyed"), [("checkmate_q8", "join"), ("checkmate_q12", "count")])
def test_a_window_ends_after_five_seconds_and_then_every_ten(name: str, keyed: str) -> None:
    """What the instances have stored is gone at once; at all other times it grows."""
    simulation = simulated(template(name, horizon_s=15.5))
    stored = {}
    while (frame := simulation.advance()) is not None:
        stored[frame["t_s"]] = frame["operators"][keyed]["state_bytes"]
    assert {round(now) for before, now in pairwise(stored) if stored[now] < stored[before]} == {5, 15}


@pytest.mark.parametrize("kind", ["coordinated", "coordinated_unaligned", "uncoordinated"])
def test_what_a_straggler_holds_up_waits_for_its_barriers(kind: str) -> None:
    """With hot items all other workers wait for the barrier of one. It is not their load that makes them slow: half of it is enough, and
    outside the rounds, or where nobody waits for barriers, they are quick."""
    document = with_hot_items(template("checkmate_q12", horizon_s=20.0), 0.3)
    document["workload"] |= {"scale": 10}
    document["workload"]["sources"]["bids"]["rate"]["per_s"] *= 0.5
    document["policies"]["checkpointing"] = {"kind": kind}
    simulation = traced(document)
    others = [record for record in simulation.deliveries() if record.instance != STRAGGLER]
    sums: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}  # of records that were under way in a round, or not
    rounds = [(one["triggered_ns"], one["ended_ns"]) for one in (simulation.checkpointing or {}).get("rounds", [])]
    for waterfall in simulation.trace().waterfalls(others):
        in_a_round = any(begin < waterfall.parts[-1].start_ns and (end < 0 or waterfall.parts[0].end_ns < end) for begin, end in rounds)
        sums[in_a_round].update(waterfall.sums_ns())
    shares = {known: found["alignment"] / found.total() for known, found in sums.items() if found}
    if kind == "coordinated":
        assert shares[True] > 0.5
        assert shares[False] < 0.01
        operators = simulation.summary()["operators"]
        assert [id for id in operators if operators[id]["attribution"]["alignment_ns"] > 0] == ["count"]
    else:
        assert set(shares.values()) == {0.0}
        assert all(operator["attribution"]["alignment_ns"] == 0 for operator in simulation.summary()["operators"].values())
