"""What a step of the search of a recovery line takes: python -m benchmarks.line_search [--workers 10 100] [--checkpoints 10]

A step looks at one number that a checkpoint brought: how far its instance had sent or processed on one channel. Compiled code walks along
every channel of CheckMate's Q3, compares what sender and receiver noted at their checkpoints, and writes an edge of the checkpoint graph
wherever they meet. Numbers stand as they came, checkpoint behind checkpoint, so nearly all of them are far from one another.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time

import numpy as np

from engine.checkpointing.recovery_line import SEARCH_STEP_NS
from engine.core.compiler import compiled


@compiled
def build_graph(channels, first, counters, checkpoints, edges):  # type: ignore[no-untyped-def]
    """channels: (n, 4) sender, its place among what leaves the sender, receiver, its place there. first: (instances, checkpoints) where the
    numbers of each begin in `counters`. edges: (m, 2) tail and head. Returns how many numbers were looked at."""
    steps = 0
    found = 0
    for c in range(channels.shape[0]):
        x = 0
        y = 0
        sent = 0
        while x < checkpoints or y < checkpoints:
            up_to = 1 << 62
            if x < checkpoints:
                up_to = counters[first[channels[c, 0], x] + channels[c, 1]]
            processed = 1 << 62
            if y < checkpoints:
                processed = counters[first[channels[c, 2], y] + channels[c, 3]]
            if sent < processed and y < checkpoints:
                edges[found, 0] = channels[c, 0] * checkpoints + x
                edges[found, 1] = channels[c, 2] * checkpoints + y
                found += 1
            if processed < up_to:
                y += 1
            else:
                sent = up_to
                x += 1
            steps += 1
    return steps


def example(workers: int, checkpoints: int):  # type: ignore[no-untyped-def]
    """Tables of Q3: sources 0 and 1, a filter behind the one, the join behind it and the other, the sink."""
    pairs = [(a, 2 * workers + b) for a in range(workers) for b in range(workers)]
    pairs += [(workers + a, 3 * workers + b) for a in range(workers) for b in range(workers)]
    pairs += [(o * workers + k, (o + 1) * workers + k) for o in (2, 3) for k in range(workers)]
    chance = np.random.default_rng(1)
    sizes = np.zeros(5 * workers, np.int64)
    channels = np.zeros((len(pairs), 4), np.int64)
    for c, (a, b) in enumerate(pairs):
        channels[c] = a, sizes[a], b, sizes[b] + 1
        sizes[a] += 1
        sizes[b] += 1
    channels[:, 3] -= 1
    order = chance.permutation(5 * workers * checkpoints)  # in which they arrived
    lengths = sizes[order // checkpoints]
    first = np.zeros(5 * workers * checkpoints, np.int64)
    first[order] = np.cumsum(lengths) - lengths
    first = first.reshape(-1, checkpoints)
    counters = np.zeros(int(lengths.sum()), np.int64)
    for a, at_a, b, at_b in channels.tolist():
        times = np.sort(chance.integers(0, 10_000, checkpoints))
        counters[first[a] + at_a] = times
        counters[first[b] + at_b] = np.sort(np.minimum(chance.integers(0, 10_000, checkpoints), times[-1]))
    return channels, first, counters, checkpoints, np.zeros((2 * len(pairs) * checkpoints, 2), np.int64)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, nargs="+", default=[10, 100])
    parser.add_argument("--checkpoints", type=int, default=10)
    given = parser.parse_args()
    for workers in given.workers:
        tables = example(workers, given.checkpoints)
        build_graph(*tables)  # compiles
        steps_ns = []
        for _ in range(5):
            np.zeros(30_000_000, np.int64).fill(1)  # nothing of it is in the cache
            started = time.perf_counter_ns()
            steps = build_graph(*tables)
            steps_ns.append((time.perf_counter_ns() - started) / steps)
        found = {"workers": workers, "steps": steps, "ns_per_step": round(statistics.median(steps_ns), 1), "price_ns": SEARCH_STEP_NS}
        print(json.dumps(found))


if __name__ == "__main__":
    main()
