"""What cost models cost: traces of a corpus, an epoch of training, and predictions.

    python -m benchmarks.costmodels [--json]

Bars: 2 traces per CPU second, the slowest of a hundred within 10 s; an epoch in batches of 128 graphs 4 times as fast as in batches
of 8; 35 % of the speed of bare matrix products of the same shapes; 4 ms per candidate of 26, with nine models of width 128. One
thread. Ratios are taken within one run of this program, each side as the least of some repeats.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Sequence

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import torch

from engine.corpus.corpora import Corpus
from engine.corpus.selectivities import estimated
from engine.corpus.traces import trace
from engine.costmodels.examples import Examples
from engine.costmodels.features import JointGraph, joint_graph
from engine.costmodels.metrics import METRICS
from engine.costmodels.packing import Packed
from engine.costmodels.training import Settings, train

TRACES, GRAPHS, CANDIDATES, MODELS, REPEATS = 100, 1024, 26, 9, 3


def least(measure: Callable[[], float]) -> float:
    return min(measure() for _ in range(REPEATS))


def traces_s(count: int = TRACES) -> list[float]:
    """CPU seconds of each trace."""
    corpus = Corpus.of("calibration", 1, count)
    corpus.row(0)  # loads compiled code
    found = []
    for index in range(count):
        began = time.process_time()
        corpus.row(index)
        found.append(time.process_time() - began)
    return sorted(found)


def graphs(count: int) -> list[JointGraph]:
    drawn = [trace("benchmark", 1, index) for index in range(count)]
    return [joint_graph(of.query, of.hosts, of.placed, estimated(of.query, 1, index)) for index, of in enumerate(drawn)]


def epoch_s(some: Sequence[JointGraph], batch: int) -> float:
    examples = Examples(some, [float(len(graph.nodes)) for graph in some])
    few = Examples(some[:8], examples.targets[:8])

    def once(epochs: int) -> float:
        began = time.perf_counter()
        train(METRICS["throughput"], examples, few, Settings(batch=batch, epochs=epochs, patience=epochs), 1)
        return time.perf_counter() - began

    return least(lambda: once(2)) - least(lambda: once(1))


def share_of_products(some: Sequence[JointGraph]) -> float:
    """Time of bare products with the shapes of a forward pass, over that of the pass."""
    model = train(METRICS["throughput"], Examples(some[:128], [1.0] * 128), Examples(some[:8], [1.0] * 8), Settings(epochs=1), 1)
    batch = Packed(some[:128], model.encoder).batch()
    shapes: list[tuple[torch.Tensor, torch.Tensor]] = []
    hooks = [
        layer.register_forward_hook(lambda layer, given, _: shapes.append((given[0].detach(), layer.weight.detach())))
        for layer in model.network.modules()
        if isinstance(layer, torch.nn.Linear)
    ]
    model.predict_batch(batch)
    for hook in hooks:
        hook.remove()

    def timed(work: Callable[[], object]) -> float:
        began = time.perf_counter()
        work()
        return time.perf_counter() - began

    with torch.no_grad():
        bare = min(timed(lambda: [torch.mm(x, weight.T) for x, weight in shapes]) for _ in range(20))
        whole = min(timed(lambda: model.network(batch)) for _ in range(20))
    return bare / whole


def candidate_ms(some: Sequence[JointGraph]) -> float:
    """Of nine trained models, as advice asks them."""
    few = Examples(some[:16], [1.0] * 16)
    model = train(METRICS["throughput"], few, few, Settings(epochs=1), 1).trained()

    def once() -> float:
        began = time.perf_counter()
        for _ in range(MODELS):
            model.predict(some[:CANDIDATES])
        return time.perf_counter() - began

    return 1000 * least(once) / CANDIDATES


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    as_json = parser.parse_args().json
    torch.set_num_threads(1)
    seconds, some = traces_s(), graphs(GRAPHS)
    found = {
        "traces_per_cpu_s": round(len(seconds) / sum(seconds), 2),
        "slowest_of_100_s": round(seconds[int(np.ceil(0.99 * len(seconds))) - 1], 2),
        "epoch_in_batches_of_8_over_128": round(epoch_s(some, 8) / epoch_s(some, 128), 2),
        "share_of_bare_products": round(share_of_products(some), 2),
        "ms_per_candidate": round(candidate_ms(some), 2),
    }
    print(json.dumps(found) if as_json else "\n".join(f"{name}: {value}" for name, value in found.items()))


if __name__ == "__main__":
    main()
