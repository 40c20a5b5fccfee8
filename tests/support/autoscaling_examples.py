"""The queries of the study of autoscalers, for a short time."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import engine
from engine.operators import OPERATORS
from engine.spec import read_document

Document = dict[str, Any]
EXAMPLES = Path(__file__).resolve().parents[2] / "fixtures" / "experiments"


def made(scaling: Document, query: str = "map", minutes: float = 15, per_s: Any = None, **workload: Any) -> Document:
    """One of the study's queries, for a short time."""
    document = copy.deepcopy(read_document(EXAMPLES / f"autoscaling_{query}.yaml"))
    document["policies"]["scaling"] = scaling
    document["workload"] |= {"horizon_s": minutes * 60, **workload}
    if per_s is not None:
        for source in document["workload"]["sources"].values():
            source["rate"] = per_s
    return document


def simulated(document: Document, **options: Any) -> engine.Simulation:
    """Before its start, without trace and outputs: these runs are long."""
    return engine.Simulation(document, kinds=OPERATORS, **options)
