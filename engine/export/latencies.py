"""How late the results of a real Spark are, and of its model: from the append of the newest record in a result to the commit of the
micro-batch that has it. Both are counted alike, and a result that is there once the logs have ended does not count."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
from numpy.typing import NDArray
from typing_extensions import TypedDict

Times = NDArray[np.int64]
SHARES = (0.5, 0.95, 0.99)
POINTS_MAX = 300


class LatencyPoint(TypedDict):
    """Results that came in the span before t_s, in the time of the logs; those of the warm-up, too."""

    t_s: float
    p50_ms: float
    p99_ms: float


class ResultLatency(TypedDict):
    """results: that came behind the warm-up and before the end of the logs. Exact quantiles over them; null without any."""

    results: int
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None
    points: list[LatencyPoint]


def latency_of(began_ns: Times, ended_ns: Times, warmup_ns: int, horizon_ns: int) -> ResultLatency:
    """began_ns: when the newest record in each result came to its log. ended_ns: when the result was there."""
    there = ended_ns <= horizon_ns
    late_ms, ended_ns = (ended_ns - began_ns)[there] / 1e6, ended_ns[there]
    counted = late_ms[ended_ns > warmup_ns]
    p50, p95, p99 = np.quantile(counted, SHARES, method="higher").round(1).tolist() if len(counted) else (None, None, None)
    return {"results": len(counted), "p50_ms": p50, "p95_ms": p95, "p99_ms": p99, "points": _points(late_ms, ended_ns, horizon_ns)}


def _points(late_ms: NDArray[np.float64], ended_ns: Times, horizon_ns: int) -> list[LatencyPoint]:
    """By the second, or by as many as leave POINTS_MAX of them."""
    span_s = max(1, -(-horizon_ns // (POINTS_MAX * 10**9)))
    spans = np.maximum(ended_ns - 1, 0) // (span_s * 10**9)
    found: list[LatencyPoint] = []
    for span in np.unique(spans).tolist():
        p50, p99 = np.quantile(late_ms[spans == span], (0.5, 0.99), method="higher").round(1).tolist()
        found.append({"t_s": float((span + 1) * span_s), "p50_ms": p50, "p99_ms": p99})
    return found


def began_and_committed(
    of_model: pa.Table, of_spark: pa.Table, batches: Times, committed_ns: Mapping[int, int], sums: Collection[str] = ()
) -> tuple[Times, Times]:
    """For each result, when its newest record came, which the model knows, and when Spark had committed it.

    of_model: the model's outputs, with `_end_ns` and `_latency_ns`. of_spark: the same records. batches: the micro-batch of each of them.
    committed_ns: when each was committed. sums: as for `engine.export.difference`. Of equal records the first ones belong together.
    """
    names = [*(name for name in of_spark.column_names if name not in sums), *sums]
    began = pa.compute.subtract(of_model["_end_ns"], of_model["_latency_ns"])
    committed = pa.array(np.array([committed_ns[batch] for batch in batches.tolist()], np.int64))
    sides = []
    for table, times in ((of_model, began), (of_spark, committed)):
        keys = {str(n): table[name] for n, name in enumerate(names)} | {"time": times}
        sides.append(pa.table(keys).sort_by([(name, "ascending") for name in keys])["time"].to_numpy())
    return sides[0], sides[1]


def records_by_batch(directory: Path, sink: str, schema: pa.Schema) -> tuple[pa.Table, Times]:
    """The records that the program wrote, with these columns, and the micro-batch that wrote each. Files of a micro-batch that was killed
    are in no log, and left out."""
    output = directory / "output" / sink
    tables, batches = [schema.empty_table()], [np.zeros(0, np.int64)]
    for name, batch in sorted(_files_written(output / "_spark_metadata").items()):
        tables.append(parquet.ParquetFile(output / name).read().select(schema.names).cast(schema))
        batches.append(np.full(tables[-1].num_rows, batch, np.int64))
    return pa.concat_tables(tables), np.concatenate(batches)


def _files_written(log: Path) -> dict[str, int]:
    """Each file and its micro-batch. Spark writes a log for each micro-batch, and now and then one with all files so far."""
    found: dict[str, int] = {}
    for path in sorted(log.glob("[0-9]*"), key=_number):
        for line in path.read_text().splitlines()[1:]:
            found.setdefault(Path(json.loads(line)["path"]).name, _number(path))
    return found


def files_read(checkpoint: Path) -> dict[int, dict[str, int]]:
    """For each stream of a query, in the order in which Spark numbers them, the files that it has taken and the micro-batch of each.
    checkpoint: of a sink. Exact also where Spark reads nothing of a file, and so counts no record."""
    found: dict[int, dict[str, int]] = {}
    for source in (checkpoint / "sources").glob("[0-9]*"):
        of_source = found.setdefault(int(source.name), {})
        for path in source.glob("[0-9]*"):
            for line in path.read_text().splitlines()[1:]:
                entry = json.loads(line)
                of_source[Path(entry["path"]).name] = int(entry["batchId"])
    return found


def _number(path: Path) -> int:
    return int(path.name.removesuffix(".compact"))
