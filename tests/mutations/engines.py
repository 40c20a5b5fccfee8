"""Engines' profiles, and what they use of the core, broken one at a time."""

from __future__ import annotations

from .core import Mutation

SPARK = ("tests/engine/profiles/test_spark.py",)
BROKER = ("tests/engine/profiles/test_broker.py",)
PARTITIONINGS = ("tests/engine/lowering/test_partitionings.py",)
JOBS, PROFILE, RECEIVER = "engine/profiles/jobs.py", "engine/profiles/spark.py", "engine/operators/block_receiver.py"
DRIVER = "engine/profiles/driver.py"
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
    Mutation(
        "jobs: what has ended is waited for", JOBS, "if w.inst[i, L.I_WATERMARK] >= self.jobs[self._done].batch_ns:", "if False:", SPARK
    ),
    Mutation("spark: one stage", PROFILE, "(not edge.partitioning.one_to_one)", "0", SPARK),
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
)
