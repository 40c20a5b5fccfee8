"""Engines' profiles, and what they use of the core, broken one at a time."""

from __future__ import annotations

from .core import Mutation

SPARK = ("tests/engine/profiles/test_spark.py",)
STRUCTURED = ("tests/engine/profiles/test_spark_structured.py",)
BROKER = ("tests/engine/profiles/test_broker.py",)
PARTITIONINGS = ("tests/engine/lowering/test_partitionings.py",)
JOBS, PROFILE, RECEIVER = "engine/profiles/jobs.py", "engine/profiles/spark.py", "engine/operators/block_receiver.py"
DRIVER = "engine/profiles/driver.py"
MICRO_BATCHES = "engine/profiles/micro_batches.py"
LOOP = "engine/core/kernels/event_loop"

MUTATIONS = (
    Mutation(
        "jobs: a stage begins before its tasks have ended", JOBS, "        if self._open:\n", "        if len(self._open) > 1:\n", SPARK
    ),
    Mutation("jobs: the next batch goes on", JOBS, "            hold(world, i)\n            self._news", "            self._news", SPARK),
    Mutation("jobs: side by side", JOBS, "if self._done == len(self.jobs) - 1:", "if True:", SPARK),
    Mutation("jobs: the limit knows no delay", JOBS, "per_s - per_s * late_ns // self._about.batch_ns // INTEGRAL", "per_s", SPARK),
    Mutation("jobs: the first one limits", JOBS, "if self._first_limit[n]:", "if False:", SPARK),
    Mutation("jobs: tasks start at once", JOBS, "now_ns + self._about.task_ns if more", "now_ns if more", SPARK),
    Mutation("jobs: what has ended is waited for", JOBS, "if w.inst[i, L.I_WATERMARK] >= self._mark_ns:", "if False:", SPARK),
    Mutation("spark: one stage", JOBS, "(not edge.partitioning.one_to_one)", "0", SPARK),
    Mutation("spark: nothing is combined", PROFILE, 'if spec.kind != "aggregate" or', "if True or", SPARK),
    Mutation("spark: as many tasks as instances", PROFILE, "if about.blocks is None else each * about.blocks", "", SPARK),
    Mutation("spark: blocks stay on their hosts", PROFILE, "tuple(workers)", "places[part]", SPARK),
    Mutation(
        "spark: blocks divide a sum",
        "engine/spec/experiment/engines/spark.py",
        'elif kind not in (*STATELESS, "sink"):',
        "elif False:",
        ("tests/spec/test_bad_engines.py",),
    ),
    Mutation("receiver: event time stays", RECEIVER, "    msg[slot, M_EVENT] = t\n", "", SPARK),
    Mutation("receiver: late is the next batch", RECEIVER, "min(t, inst[i, I_WATERMARK] + inst[i, I_PERIOD] - 1)", "t", SPARK),
    Mutation(
        "receiver: never ends",
        f"{LOOP}/messages.py",
        "                    inst[i, I_NEWEST_EVENT] = FAR",
        "                    pass",
        SPARK,
    ),
    Mutation("receiver: no thread of its own", "engine/lowering/processors.py", "and own_thread[i]]", "and False]", SPARK),
    Mutation("rescale: all receivers", f"{LOOP}/emission.py", "if partitioning == RESCALE:", "if False:", PARTITIONINGS),
    Mutation("driver: a broker takes no time", DRIVER, "cost = Cost(record_us=driver.broker_us,", "cost = Cost(record_us=0,", BROKER),
    Mutation(
        "driver: a topic keeps what the engine does not take",
        DRIVER,
        "capacity=pulled if bounded or target == receiver_of(spec.id) else APPENDED",
        "capacity=pulled",
        BROKER,
    ),
    Mutation("driver: with a broker the trunk stays the driver's", DRIVER, "sources=(groups[-1],)", "sources=(groups[0],)", BROKER),
    Mutation(
        "micro-batches: as late as its task",
        MICRO_BATCHES,
        "at_ns = next(end_ns for source, end_ns in self._ends if source == i)",
        "at_ns = now_ns",
        STRUCTURED,
    ),
    Mutation("micro-batches: each source as much", MICRO_BATCHES, "max(1, rows * most // waiting)", "most", STRUCTURED),
    Mutation("micro-batches: planned at once", MICRO_BATCHES, "        self._task_ns += self._about.plan_ns\n", "", STRUCTURED),
    Mutation("micro-batches: results before the commit", MICRO_BATCHES, "now_ns + self._about.commit_ns", "now_ns", STRUCTURED),
    Mutation("micro-batches: no lag", MICRO_BATCHES, "(newest_ns - log.lag_ns)", "newest_ns", STRUCTURED),
    Mutation("micro-batches: the watermark of the fastest source", MICRO_BATCHES, "return min(found", "return max(found", STRUCTURED),
    Mutation("micro-batches: only with records", MICRO_BATCHES, "if not risen and not waiting:", "if not waiting:", STRUCTURED),
    Mutation("micro-batches: without state as with it", MICRO_BATCHES, "risen = self._stateful and ", "risen = ", STRUCTURED),
    Mutation(
        "micro-batches: a late one misses its trigger",
        MICRO_BATCHES,
        "max(now_ns + 1, self._trigger_after(job.batch_ns))",
        "self._trigger_after(now_ns)",
        STRUCTURED,
    ),
    Mutation(
        "micro-batches: their end goes unheard",
        f"{LOOP}/messages.py",
        "        host[h, H_RISEN] = t\n        # WEAVE end\n    elif",
        "        # WEAVE end\n    elif",
        STRUCTURED,
    ),
    Mutation(
        "structured: groups at the price of records",
        "engine/profiles/spark_structured.py",
        'cost.model_copy(update={"record_us": 0})',
        "cost",
        STRUCTURED,
    ),
)
