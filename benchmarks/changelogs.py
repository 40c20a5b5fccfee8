"""What changelogs cost: a broker's log with compaction, and a local store with cache and tree, over plain twins of lists and dicts; and
runs with stores over the same ones without.

    python -m benchmarks.changelogs [--json]

Ratios of records per second are taken within one run of this program, each side as the least time of some repeats. The load is the windowed
revenue of the thesis, both layouts. Bars: appending and cleaning are 20 times as fast as the twin; a run with stores takes at most twice
as long as without with one value for each key and window, three times with all records retained.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from engine.core.tables import Words
from engine.services.topics import LogSettings, Partition
from engine.simulation.simulation import Simulation
from engine.state.cache import CacheSettings
from engine.state.store import Store, StoreSettings
from tests.support.changelog_load import NS, PER_S, Layout, written
from tests.support.store_load import operations
from tests.support.store_twins import CacheTwin
from tests.support.stored import in_memory, stored
from tests.support.topic_twin import Twin

REPEATS = 3
SECONDS = 20
Batch = tuple[Words, Words, Words, Words, Any]


def least(measure: Callable[[], float]) -> float:
    return min(measure() for _ in range(REPEATS))


def batches(layout: Layout) -> list[Batch]:
    chance = np.random.default_rng(1)
    return [batch for second in range(SECONDS) for batch in written(layout, second, PER_S, 1, chance)]


def log_s(given: list[Batch], settings: LogSettings) -> float:
    """Append all records, and clean the log after each second."""
    log = Partition(settings)
    began = time.perf_counter()
    for n, batch in enumerate(given):
        log.append(*batch)
        if n % 2 and log.is_due:
            log.swap(log.cleaning(int(batch[0][-1])))
    return time.perf_counter() - began


def log_twin_s(given: list[Batch], settings: LogSettings) -> float:
    twin = Twin(settings)
    rows = [[*zip(*(column.tolist() for column in batch), strict=True)] for batch in given]
    began = time.perf_counter()
    for n, batch in enumerate(rows):
        for row in batch:
            twin.append(*row)
        if n % 2 and twin.dirty:
            twin.swap(twin.cleaning(batch[-1][0]))
    return time.perf_counter() - began


def store_s(layout: Layout) -> float:
    """Carry out the operations of a task, with a commit at the end."""
    store = Store(StoreSettings(), Partition(LogSettings()))
    chance = np.random.default_rng(1)
    given = [operations(layout, second, 0, 1, store.keys, chance) for second in range(SECONDS)]
    began = time.perf_counter()
    for rows in given:
        store.carry_out(rows)
    store.commit(SECONDS * NS)
    return time.perf_counter() - began


def store_twin_s(layout: Layout) -> float:
    """The same with a cache of ordered dicts, a list and a dict."""
    keys = Store(StoreSettings(), Partition(LogSettings())).keys
    chance = np.random.default_rng(1)
    given = [operations(layout, second, 0, 1, keys, chance).tolist() for second in range(SECONDS)]
    cache = CacheTwin(CacheSettings())
    content: dict[int, int] = {}
    began = time.perf_counter()
    for rows in given:
        for row in rows:
            cache.carry_out(*row)
    cache.write_out(SECONDS * NS, "commit")
    for _, key, value, _, is_tombstone, _ in cache.left:
        if is_tombstone:
            content.pop(key, None)
        else:
            content[key] = value
    return time.perf_counter() - began


def run_s(layout: Layout, with_stores: bool) -> float:
    """A run of 60 s, without compaction."""
    document = stored(layout, horizon_s=60, per_s=PER_S, commit_s=20, changelog={})
    simulation = Simulation(document if with_stores else in_memory(document))
    simulation.run_until(NS)
    began = time.perf_counter()
    simulation.run_until(60 * NS)
    return time.perf_counter() - began


def ratios() -> dict[str, float]:
    found: dict[str, float] = {}
    settings = LogSettings(segment_ns=NS // 10, dirty_share=0.01)
    layouts: tuple[Layout, Layout] = ("fold", "retain")
    for layout in layouts:
        given = batches(layout)
        found[f"log, {layout}: twin over arrays"] = least(lambda: log_twin_s(given, settings)) / least(lambda: log_s(given, settings))  # noqa: B023
        found[f"store, {layout}: twin over arrays"] = least(lambda: store_twin_s(layout)) / least(lambda: store_s(layout))  # noqa: B023
        found[f"run, {layout}: with stores over without"] = least(lambda: run_s(layout, True)) / least(lambda: run_s(layout, False))  # noqa: B023
    return {name: round(ratio, 2) for name, ratio in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    found = ratios()
    if arguments.json:
        print(json.dumps(found))
    else:
        for name, ratio in found.items():
            print(f"{name:40} {ratio:8.1f}")


if __name__ == "__main__":
    main()
