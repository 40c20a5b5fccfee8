"""Percentiles that Spark makes from files against those of the raw samples of the same runs, for spans that cut frames."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine.operators import OPERATORS
from engine.spec.experiment.spans import Span
from engine.telemetry.summaries import PERCENTILES, Of
from webapp.reports.summary_store import FILES_MAX, Store
from workers.spark.summaries import Wanted, summaries

from ...support.agreement import DATASETS, template

pytestmark = [pytest.mark.spark, pytest.mark.slow]

RUNS = 200
SPANS = [(None, None), (0.5, 1.5), (0.31, 0.32), (0.123456789, 1.777), (1.99, 9.0)]


def documents() -> list[dict[str, Any]]:
    """Short runs of four queries, at many rates and seeds, with frames of three lengths; some are overloaded, some have pauses."""
    made = []
    for n in range(RUNS):
        document = template(("nexmark_q1", "nexmark_q2", "nexmark_q12", "nexmark_q3")[n % 4], horizon_s=2.0, seed=n, warmup_s=0.4)
        for source in document["workload"]["sources"].values():
            source["rate"] = {"kind": "constant", "per_s": 500 + 37 * n}
        document["measurement"] = {**document.get("measurement", {}), "frame_ms": (250, 100, 330)[n % 3]}
        made.append(document)
    return made


def sinks_of(document: dict[str, Any]) -> list[str]:
    return [operator["id"] for operator in document["query"]["operators"] if operator["kind"] == "sink"]


def exact_ns(samples: Any, share: float) -> int | None:
    """Nearest rank."""
    return int(samples[max(1, -(-round(share * 1_000_000) * len(samples) // 1_000_000)) - 1]) if len(samples) else None


@pytest.mark.deep
def test_percentiles_are_those_of_the_raw_samples_over_200_runs(spark: Any, tmp_path: Path) -> None:
    wanted, raw = [], []
    for number, document in enumerate(documents()):
        directory = tmp_path / str(number)
        simulation = engine.run(document, out=directory, keep_outputs=True, datasets=DATASETS, kinds=OPERATORS).simulation
        workload = simulation.experiment.workload
        wanted.append(Wanted(str(number), "1", Of(directory, workload.warmup_ns, workload.horizon_ns)))
        tables = [simulation.outputs(sink) for sink in sinks_of(document)]
        raw.append(tuple(np.concatenate([table.column(name).to_numpy() for table in tables]) for name in ("_end_ns", "_latency_ns")))
    worst = {"uncut": 0.0, "cut": 0.0}
    cut_frames = 0
    for from_s, to_s in SPANS:
        found = summaries(
            lambda: spark, wanted, Span(from_s=from_s, to_s=to_s), Store(tmp_path / "store", 1, Span(from_s=from_s, to_s=to_s))
        )
        assert found.read == RUNS
        for row, (end_ns, latency_ns), run in zip(found.rows, raw, wanted, strict=True):
            from_ns = run.of.warmup_ns if from_s is None else round(from_s * 1e9)
            to_ns = 1 << 62 if to_s is None else round(to_s * 1e9)
            samples = np.sort(latency_ns[(end_ns > from_ns) & (end_ns <= to_ns)])
            cut_frames += row["cut_frames"]
            for name, share in PERCENTILES.items():
                exact, value_ms = exact_ns(samples, share), row[f"{name}_ms"]
                if exact is None:
                    continue
                assert row[f"{name}_low_ms"] * 1e6 - 0.5 <= exact <= row[f"{name}_high_ms"] * 1e6 + 0.5, (run.id, from_s, to_s, name)
                error = abs(value_ms * 1e6 - exact) / exact
                kind = "cut" if row["cut_frames"] else "uncut"
                worst[kind] = max(worst[kind], error)
            if not row["cut_frames"]:
                assert row["samples"] == len(samples)
    print(f"\nworst relative error of the value: {worst}; {cut_frames} frames were cut")
    assert worst["uncut"] <= 1 / 128
    assert cut_frames > RUNS


def test_only_new_runs_are_read_and_many_files_become_one(spark: Any, tmp_path: Path) -> None:
    span = Span()
    directory = tmp_path / "run"
    engine.run(template("nexmark_q1", horizon_s=1.0), out=directory, kinds=OPERATORS)
    store = Store(tmp_path / "store", 1, span)
    of = Of(directory, 0, 10**9)
    for n in range(FILES_MAX + 3):
        found = summaries(lambda: spark, [Wanted(str(m), "1", of) for m in range(n + 1)], span, store)
        assert (found.read, len(found.rows)) == (1, n + 1)
    assert len(list(store.directory.iterdir())) < FILES_MAX / 2
    changed = [Wanted(str(m), "2" if m < 2 else "1", of) for m in range(FILES_MAX + 3)]
    assert summaries(lambda: spark, changed, span, store).read == 2
    nothing_new = summaries(pytest.fail, changed, span, store)
    assert nothing_new.read == 0
    assert len({str(row["p99_ms"]) for row in nothing_new.rows}) == 1


def test_runs_without_files_say_so(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "broken" / "live").mkdir(parents=True)
    (tmp_path / "broken" / "live" / "part-00000.parquet").write_bytes(b"no parquet")
    wanted = [Wanted(name, "1", Of(tmp_path / name, 0, 10**9)) for name in ("gone", "broken")]
    gone, broken = summaries(lambda: spark, wanted, Span(), Store(tmp_path / "store", 1, Span())).rows
    assert "are missing" in gone["failure"]
    assert "cannot be read" in broken["failure"]
