"""A small figure, and the experiment that its study is made of."""

from __future__ import annotations

from typing import Any

from tests.support.corner_cases import bids, document, host

RATE = "/workload/sources/bids/rate/per_s"


def experiment(name: str = "small") -> dict[str, Any] | None:
    if name != "small":
        return None
    operators = [{"id": "bids", "kind": "source"}, {"id": "sink", "kind": "sink"}]
    return document(operators, [{"source": "bids", "target": "sink"}], [host("a")], {"bids": bids(100.0)}, horizon_s=1.0)


def figure() -> dict[str, Any]:
    """A small figure that has nearly everything."""
    return {
        "format": 1,
        "id": "test/1.1",
        "title": "A figure",
        "source": {"paper": "A paper", "figure": "1.1"},
        "claim": "More goes in, more comes out.",
        "differs": "Everything.",
        "scales": {"smoke": {"changes": [{"fields": ["/experiment/workload/horizon_s"], "value": 0.5}]}},
        "studies": {
            "rates": {
                "experiment": "small",
                "changes": [{"fields": ["/cluster/hosts/0/cores"], "value": 4}],
                "seeds": [1, 2],
                "axes": [{"name": "rate", "fields": [RATE], "values": {"kind": "list", "of": [100, 200]}}],
            }
        },
        "values": {
            "out": {"kind": "metric", "study": "rates", "metric": "records_out", "over": "rate"},
            "few": {"kind": "metric", "study": "rates", "metric": "records_out", "at": {"rate": 100}},
            "horizon": {"kind": "setting", "study": "rates", "field": "/workload/horizon_s"},
            "per_s": {"kind": "computed", "expression": "out / horizon"},
        },
        "reported": {"few": 100, "out": {"x": [100, 200], "y": [100, 200]}},
        "assertions": [{"id": "B-1", "text": "More", "check": "min(steps(out)) > tolerance", "tolerance": 10}],
        "drawing": {"panels": [{"series": [{"value": "out"}, {"value": "out", "reported": True}]}]},
    }
