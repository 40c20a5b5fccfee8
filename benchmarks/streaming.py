"""What the execution on a real Spark costs, as ratios within one run: python -m benchmarks.streaming [--records 400000] [--only NAME ...]

by_hand: a compiled query against the same as one writes it in PySpark, on the same files: records/s in micro-batches. Bar 0.9, aim 1.
watched: with micro-batches noted as they end, against the streams alone, over their whole time. Bar 0.95, aim 0.99.
source: records/s of the source alone, over those of each query. Bar 3, aim 10.
model: records per CPU second of the model, over those of Spark. Bar 5, aim 10.

Queries: Q2 (filter), Q12 by event time (windows), Q3 (join). All are warm, the sides of a ratio run in turns, and medians count. A line of
JSON for each query. The machine must have no other work.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import engine
from benchmarks.predictions import document
from engine.export import AHEAD_NS, micro_batch, write
from engine.export.query import SHIFT_NS
from engine.spec import Experiment
from engine.spec.rules.validation import Context, load
from workers.spark import calibrating
from workers.spark.calibrating import busy_share, busy_time
from workers.spark.session import SESSION
from workers.spark.streaming import BatchLog, drained, program_in, stream

BATCHES, FIRST, PARTITIONS, TURNS = 10, 2, 4, 5
CONTEXT = Context()


# --- the queries by hand ------------------------------------------------------------------------------------------------------------------


def source(spark: Any, directory: Path, name: str, columns: str) -> Any:
    reader = spark.readStream.schema(f"{columns}, _event_ns BIGINT").option("maxFilesPerTrigger", 1)
    return reader.parquet(str(directory / "input" / name))


def q2(spark: Any, directory: Path) -> Any:
    bids = source(spark, directory, "bids", "auction BIGINT, price BIGINT")
    return bids.where("auction % 123 = 0").select("auction", "price")


def q12(spark: Any, directory: Path) -> Any:
    from pyspark.sql import functions as F

    bids = source(spark, directory, "bids", "bidder BIGINT")
    timed = bids.withColumn("at", F.timestamp_micros(F.col("_event_ns") + F.lit(SHIFT_NS))).withWatermark("at", "0 microseconds")
    return timed.groupBy(F.window("at", f"{10**9} microseconds"), "bidder").agg(F.count("*").alias("bids")).select("bidder", "bids")


def q3(spark: Any, directory: Path) -> Any:
    persons = source(spark, directory, "persons", "id BIGINT, name STRING, city STRING, state STRING")
    auctions = source(spark, directory, "auctions", "id BIGINT, seller BIGINT").withColumnRenamed("id", "right_id")
    local = persons.where("state IN ('OR', 'ID', 'CA')").drop("_event_ns")
    return local.join(auctions, local.id == auctions.seller).select("name", "city", "state", "right_id")


BY_HAND: Mapping[str, Callable[[Any, Path], Any]] = {"nexmark_q2": q2, "nexmark_q12": q12, "nexmark_q3": q3}


def experiment(name: str, records: int) -> Experiment:
    """With about so many records."""
    made = document(name)
    if name == "nexmark_q12":
        made["query"]["operators"][1]["params"] |= {"window": {"kind": "tumbling", "size_s": 1, "clock": "event"}, "emit": "on_close"}
        made["workload"]["sources"]["bids"]["watermarks"] = {"kind": "bounded", "lag_ms": 0}
    for of_source in made["workload"]["sources"].values():
        of_source["rate"] = {"kind": "constant", "per_s": records / len(made["workload"]["sources"]) / 10}
    made["workload"] |= {"horizon_s": 10, "warmup_s": 0}
    return drained(load(made, CONTEXT), CONTEXT)


# --- what is measured ---------------------------------------------------------------------------------------------------------------------


def records_per_s(batches: list[Any]) -> float:
    kept = [one for one in sorted(batches, key=lambda one: one["batch"]) if one["records_in"] > 1][FIRST:]
    return 1000 * sum(one["records_in"] for one in kept) / sum(one["took_ms"] for one in kept)


def alone(spark: Any, directory: Path, make: Callable[[Any, Path], Any] | None) -> dict[str, float]:
    """The streams without anybody who looks on. make: None: those of the program."""
    program, session = program_in(directory), spark.newSession()
    for name, value in program.settings().items():
        session.conf.set(name, value)
    records = program.queries(session)["sink"] if make is None else make(session, directory)
    began_s, before = time.monotonic(), busy_time()
    query = program.start("sink", records)
    query.awaitTermination()
    took_s, after = time.monotonic() - began_s, busy_time()
    batches = [micro_batch("sink", json.loads(batch.json), program.END_NS - AHEAD_NS) for batch in query.recentProgress]
    return {"records_per_s": records_per_s(batches), "took_s": took_s, "cpu_s": after[2] - before[2]}


def watched(spark: Any, directory: Path) -> dict[str, float]:
    """As the page of a run has them."""
    began_s = time.monotonic()
    stream(spark, directory, BatchLog(directory / "batches"), lambda: None)
    return {"took_s": time.monotonic() - began_s}


def nothing(spark: Any, directory: Path) -> Any:
    """The first source, all columns, of which no record is written."""
    program = program_in(directory)
    program.queries(spark)
    name = sorted(path.name for path in (directory / "input").iterdir())[0]
    return spark.table(name).where("rand() > 2")


def modelled(of: Experiment) -> float:
    """CPU seconds."""
    simulation = engine.Simulation(of, datasets=CONTEXT.datasets)
    began_s = time.process_time()
    simulation.run_until(simulation.end_ns)
    return time.process_time() - began_s


def measured(spark: Any, name: str, records: int) -> dict[str, Any]:
    of = experiment(name, records)
    sides: dict[str, Callable[[Path], dict[str, float]]] = {
        "compiled": lambda directory: alone(spark, directory, None),
        "by_hand": lambda directory: alone(spark, directory, BY_HAND[name]),
        "watched": lambda directory: watched(spark, directory),
        "source": lambda directory: alone(spark, directory, nothing),
    }
    found: dict[str, list[dict[str, float]]] = {side: [] for side in sides}
    before = busy_time()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        program = Path(temporary) / "query"
        write(of, program, CONTEXT, batches=BATCHES, partitions=PARTITIONS)
        for turn in range(TURNS + 1):
            for side, run in sides.items():
                told = run(program)
                for made in ("output", "checkpoints"):
                    shutil.rmtree(program / made, ignore_errors=True)
                (program / "batches").unlink(missing_ok=True)
                if turn:  # the first is to warm up
                    found[side].append(told)
    modelled(of)
    model_s = statistics.median(modelled(of) for _ in range(3))

    def middle(side: str, what: str) -> float:
        return statistics.median(one[what] for one in found[side])

    return {
        "query": name,
        "records": records,
        "by_hand": round(middle("compiled", "records_per_s") / middle("by_hand", "records_per_s"), 3),
        "watched": round(middle("compiled", "took_s") / middle("watched", "took_s"), 3),
        "source": round(middle("source", "records_per_s") / middle("compiled", "records_per_s"), 2),
        "model": round(middle("compiled", "cpu_s") / model_s, 1),
        "records_per_s": {side: [round(one["records_per_s"]) for one in runs] for side, runs in found.items() if side != "watched"},
        "took_s": {side: [round(one["took_s"], 2) for one in runs] for side, runs in found.items()},
        "model_cpu_s": round(model_s, 2),
        "busy": round(busy_share(before), 3),
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--records", type=int, default=400_000)
    arguments.add_argument("--only", nargs="*", choices=BY_HAND, default=list(BY_HAND))
    given = arguments.parse_args()
    spark = SESSION.get()
    calibrating.warm_up(spark, lambda _: None)
    for name in given.only:
        print(json.dumps(measured(spark, name, given.records)), flush=True)
    SESSION.close()


if __name__ == "__main__":
    main()
