"""Whether labels of traces are spread as the specification of Costream asks for (8.1), on traces of their own.

    python -m benchmarks.calibration [--traces 400] [--configurations 60] [--queries 20] [--processes 2] [--json]

Bars: 8 to 20 % of traces fail, and 25 to 60 % of the others fall behind; processing latency spans 3 decades, throughput 4. A feature
of all hosts, changed over its grid, moves a label by 20 % in 15 % of configurations or more, and leaves all of them within 2 % in as
many. In a fifth of queries, the best number of hosts is neither one nor the most.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from typing import Any

from engine.corpus.corpora import Balance, Corpus
from engine.corpus.grid import FEATURES, TRAINING
from engine.corpus.labels import Labels, horizon_s, measure, measured
from engine.corpus.traces import Trace, trace
from engine.learning.evaluations.speedups import TEMPLATES, _best, problem

DRAW, SEED, CANDIDATES = "calibration", 1, 25


def ends(feature: str) -> tuple[int, int]:
    """The least and the greatest value of its grid."""
    values = [value for of_bin in getattr(TRAINING, feature) for value in of_bin]
    return min(values), max(values)


def of_trace(index: int) -> Labels:
    return measure(Corpus.of(DRAW, SEED, index + 1).document(index))


def of_configuration(index: int) -> dict[str, list[Labels]]:
    """Labels as drawn, and by feature with its extremes at all hosts."""
    of = trace(DRAW, SEED, index)

    def with_all(**features: int) -> Labels:
        changed = Trace(of.query, tuple(replace(host, **features) for host in of.hosts), of.placed)
        return measure(measured(changed, index, horizon_s(of.query)))

    drawn = with_all()
    return {name: [drawn, *(with_all(**{feature: value}) for value in ends(feature))] for name, feature in FEATURES.items()}


def of_problem(number: int) -> bool | None:
    """Whether the best of the candidates uses more than one host and fewer than the most; None if nothing arrives anywhere."""
    of = problem(TEMPLATES[number % 3], number % 2 == 1, number, CANDIDATES)
    found = [measure(document) for document in of.documents()]
    if not any(one.success for one in found):
        return None
    used = [len(set(placed)) for placed in of.candidates]
    return 1 < used[_best("processing_latency", False, found)] < max(used)


def change(of: Sequence[Labels]) -> float:
    """The greatest ratio of a label to that of another run, less one; infinite where a class differs."""
    if len({(one.success, one.backpressured) for one in of}) > 1:
        return math.inf
    if not of[0].success:
        return 0.0
    costs = [[max(getattr(one, name), 1e-9) for one in of] for name in ("throughput_per_s", "processing_ms", "end_to_end_ms")]
    return max(max(values) / min(values) for values in costs) - 1


def decades(balance: Balance, name: str) -> float:
    least, _, most = balance.spans[name]
    return math.log10(most / least)


def calibration(traces: int, configurations: int, queries: int, processes: int) -> dict[str, Any]:
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        labels = list(pool.map(of_trace, range(traces), chunksize=10))
        changed: list[Mapping[str, list[Labels]]] = list(pool.map(of_configuration, range(configurations)))
        interior = [found for found in pool.map(of_problem, range(queries)) if found is not None]
    balance = Balance.of(labels)
    changes = {name: [change(one[name]) for one in changed] for name in FEATURES}
    return {
        "failed": 1 - balance.succeeded / traces,
        "failures": balance.failures,
        "backpressured": balance.backpressured / balance.succeeded,
        "decades": {name: decades(balance, name) for name in balance.spans},
        "moved": {name: sum(one >= 0.2 for one in of) / len(of) for name, of in changes.items() if of},
        "left": {name: sum(one < 0.02 for one in of) / len(of) for name, of in changes.items() if of},
        "interior": sum(interior) / len(interior) if interior else None,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="How labels of traces are spread.")
    for name, default in (("traces", 400), ("configurations", 60), ("queries", 20), ("processes", 2)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--json", action="store_true", help="print the values alone")
    arguments = parser.parse_args()
    found = calibration(arguments.traces, arguments.configurations, arguments.queries, arguments.processes)
    if arguments.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        parts = value if isinstance(value, dict) else {"": value}
        print(name, ", ".join(f"{part} {one:.3g}".strip() for part, one in parts.items() if one is not None))


if __name__ == "__main__":
    main()
