"""Summaries of many runs by Spark: linear in their number, against plain pandas, and of one new run among those that are known.

    python -m benchmarks.spark [--runs 100 300 1000]

Runs are links to the files of a few real ones. Each size begins with an empty store; the session is warm. Afterwards the files of all runs
but a new one are taken away, so that a second job which reads any of them cannot come to the same rows.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import engine
from engine.operators import OPERATORS
from engine.spec.experiment.spans import Span
from engine.telemetry.histogram import HIGH_NS, LOW_NS
from engine.telemetry.summaries import Of
from webapp.reports.summary_store import Store
from workers.spark.session import SESSION
from workers.spark.summaries import Wanted, summaries

REAL = 8
HORIZON_S, WARMUP_S = 20.0, 5.0


def real_runs(root: Path) -> list[Path]:
    from tests.support.agreement import template

    made = []
    for n in range(REAL):
        document = template(("nexmark_q1", "nexmark_q12")[n % 2], horizon_s=HORIZON_S, warmup_s=WARMUP_S, seed=n)
        made.append(root / f"real{n}")
        engine.run(document, out=made[-1], kinds=OPERATORS)
    return made


def linked(real: Path, to: Path) -> Path:
    shutil.copytree(real, to, copy_function=os.link)
    return to


def by_pandas(folders: list[Path]) -> pd.DataFrame:
    """Percentiles, rates and sums of each run as one writes them in a notebook."""
    rows = []
    for folder in folders:
        live = pd.concat([pd.read_parquet(path) for path in sorted((folder / "live").glob("*.parquet"))])
        frames = pd.json_normalize([json.loads(text) for text in live["json"]])
        latency = pd.concat([pd.read_parquet(path) for path in sorted((folder / "latency").glob("*.parquet"))])
        frames = frames[frames["t_s"] > WARMUP_S]
        counts = latency[latency["frame"].isin(frames["n"]) & (latency["latency"] == "")].groupby("bucket")["count"].sum().sort_index()
        ranks, total = counts.cumsum(), counts.sum()
        row: dict[str, Any] = {"run": folder.name}
        for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("max", 1.0)):
            bucket = ranks[ranks >= np.ceil(share * total)].index[0]
            row[f"{name}_ms"] = (LOW_NS[bucket] + HIGH_NS[bucket]) // 2 / 1e6
        rates = frames[["offered_per_s", "in_per_s", "out_per_s"]].mean()
        parts = frames[[name for name in frames.columns if ".attribution." in name]].sum()
        rows.append({**row, **rates, **parts})
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, nargs="+", default=[100, 300, 1000])
    sizes = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        real = real_runs(root)
        began_s = time.perf_counter()
        summaries(SESSION.get, [Wanted("warm", "1", of(real[0]))], Span(), Store(root / "warm", 1, Span()))
        print(f"session made and warm after {time.perf_counter() - began_s:.1f} s; {SESSION.get().sparkContext.defaultParallelism} cores")
        print(f"{'runs':>6} {'Spark':>9} {'a run':>9} {'pandas':>9} {'a run':>9} {'ratio':>6} {'nothing new':>12} {'one new':>9}")
        for count in sizes:
            size(root / str(count), real, count)
    SESSION.close()


def of(folder: Path) -> Of:
    return Of(folder, round(WARMUP_S * 1e9), round(HORIZON_S * 1e9))


def size(root: Path, real: list[Path], count: int) -> None:
    folders = [linked(real[n % len(real)], root / f"run{n}") for n in range(count)]
    wanted = [Wanted(folder.name, "1", of(folder)) for folder in folders]
    store = Store(root / "store", 1, Span())
    spark_s, first = timed(lambda: summaries(SESSION.get, wanted, Span(), store))
    pandas_s, table = timed(lambda: by_pandas(folders))
    assert first.read == count
    assert np.allclose(table["p99_ms"], [row["p99_ms"] for row in first.rows])
    nothing_s, _ = timed(lambda: summaries(SESSION.get, wanted, Span(), store))
    for folder in folders:
        shutil.rmtree(folder)
    new = Wanted("new", "1", of(linked(real[0], root / "new")))
    one_s, again = timed(lambda: summaries(SESSION.get, [*wanted, new], Span(), store))
    assert again.read == 1
    assert again.rows[:-1] == first.rows
    each = f"{1000 * spark_s / count:>7.2f}ms", f"{1000 * pandas_s / count:>7.2f}ms"
    print(
        f"{count:>6} {spark_s:>8.2f}s {each[0]} {pandas_s:>8.2f}s {each[1]} {pandas_s / spark_s:>6.2f} {nothing_s:>11.2f}s {one_s:>8.2f}s",
        flush=True,
    )


def timed(work: Any) -> tuple[float, Any]:
    began_s = time.perf_counter()
    result = work()
    return time.perf_counter() - began_s, result


if __name__ == "__main__":
    main()
